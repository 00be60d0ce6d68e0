import { BROKER, type CommandSpec, JOBS, SHARD_KEY } from './shared.js';

export const EVIDENCE: CommandSpec = {
  name: 'evidence',
  args: '<shard>',
  summary: 'gather what support needs to judge a damage, payloads left out',
  description:
    'Writes one archive: the reports of verify and inspect, the headers of segments and indexes, the small files, the ' +
    'records around each damage, and the size, time and SHA-256 of every file. Payloads, keys of caches and bytes that ' +
    'may be either are left out. The shard is only read, and a file that is already there is never overwritten.',
  options: [
    { flags: '--to <file>', description: 'the archive to write: .tar.gz, .tgz or .tar' },
    {
      flags: '--with-payloads',
      description: 'also the keys of caches, and payloads and damaged bytes around each damage, up to a few kilobytes',
    },
    SHARD_KEY,
    ...BROKER,
    JOBS,
  ],
  examples: [
    {
      command: 'felix-fsck evidence fixtures/flipped-bit-in-length --to evidence.tar.gz',
      shows: 'a bundle that can be mailed',
    },
  ],
  load: () => import('../evidence.js'),
};
