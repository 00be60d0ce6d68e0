import { COLOR, type CommandSpec, FORMAT } from './shared.js';

const BASE = 'fixtures/flipped-bit-in-length/acme_default_orders_0-0d3aed4b998d2798';

export const HEXDUMP: CommandSpec = {
  name: 'hexdump',
  args: '<file>',
  summary: 'bytes around a place, every field named and decoded, damage marked',
  description:
    'Shows the bytes around a position of a file, or of the record with an offset: each field with its value and meaning, ' +
    'stored checksums beside computed ones, and the damaged bytes in brackets. Payload bytes are shown. The file may be of ' +
    'any size. It judges nothing: the exit code is 0 when the place could be shown.',
  options: [
    { flags: '--at <position>', description: 'a byte position in the file', value: 'position' },
    { flags: '--record <offset>', description: 'the record of a segment with this offset', value: 'offset' },
    {
      flags: '--context <bytes>',
      description: 'bytes in front of and behind what stands there',
      value: 'count',
      default: 32,
    },
    FORMAT,
    COLOR,
  ],
  examples: [
    {
      command: `felix-fsck hexdump --at 86 ${BASE}/00000000000000000001.log`,
      shows: 'the record that covers byte 86',
    },
    {
      command: `felix-fsck hexdump --record 17 ${BASE}/00000000000000000002.log`,
      shows: 'a record by its offset, here a damaged one',
    },
    { command: `felix-fsck hexdump --at 24 ${BASE}/00000000000000000001.index`, shows: 'an index entry' },
  ],
  load: () => import('../hexdump.js'),
};
