import { COLOR, type CommandSpec, FORMAT, INCLUDE_DELETED, SHARD_KEY } from './shared.js';

export const LOCATE: CommandSpec = {
  name: 'locate',
  args: '<shard> [offset]',
  summary: 'tell where a record is: segment, position, index entry, neighbours',
  description:
    'Finds the record with an offset through the index, every step verified, or the first record published at or after ' +
    '--time by reading from the oldest on. What is not there is told apart: trimmed, offloaded (and in which object by the ' +
    'manifest), in a hole between objects, lost to damage, or past the tail. Nothing is written.',
  options: [
    FORMAT,
    { flags: '--time <time>', description: 'in place of an offset: an ISO time (UTC), or microseconds' },
    COLOR,
    SHARD_KEY,
    INCLUDE_DELETED,
  ],
  examples: [
    { command: 'felix-fsck locate fixtures/healthy 12', shows: 'the place of a record, and how a reader comes to it' },
    {
      command: 'felix-fsck locate fixtures/flipped-bit-in-payload 40 --format json',
      shows: 'that an offset is lost, and to which damage',
    },
    {
      command: 'felix-fsck locate fixtures/healthy --time 2026-01-01T00:00:02Z',
      shows: 'the first record at or after a time',
    },
  ],
  load: () => import('../locate.js'),
};
