import { ALL, COLOR, type CommandSpec, FAIL_ON, FORMAT, QUIET } from './shared.js';

const SHARD = 'fixtures/offload-with-a-hole/acme_default_orders_0-0d3aed4b998d2798';

export const DECODE_MANIFEST: CommandSpec = {
  name: 'decode-manifest',
  args: '<path>',
  summary: 'the offload manifest, held against the shard beside it and the objects',
  description:
    'Lists the entries of an offload.manifest, or of the one in a shard directory, with sizes, offsets, times, checksums ' +
    'and keys; holds them against the local segments; and tells for every offset whether it is local, offloaded, both or ' +
    'nowhere. With --objects, every object is looked for under its key, and checked by size, checksum and content. ' +
    'Without, nothing is said of objects. Exit codes are those of verify, over these findings alone.',
  options: [
    { flags: '--objects <dir>', description: 'a directory laid out by object key: each object is checked' },
    FORMAT,
    ALL,
    QUIET,
    COLOR,
    FAIL_ON,
  ],
  examples: [
    { command: `felix-fsck decode-manifest ${SHARD}`, shows: 'what was offloaded, and the hole in the history' },
    {
      command: `felix-fsck decode-manifest --objects fixtures/offload-with-a-hole/objects ${SHARD}`,
      shows: 'the same with every object checked: one is missing',
    },
  ],
  load: () => import('../decode-manifest.js'),
};
