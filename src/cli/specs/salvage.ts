import { COLOR, type CommandSpec, NO_PROGRESS } from './shared.js';

export const SALVAGE: CommandSpec = {
  name: 'salvage',
  args: '<shard...>',
  summary: 'copy every intact record out into a new directory; the source is never touched',
  description:
    'Copies the intact records of every segment, also of segments under another name, into new shards: one for each ' +
    'unbroken run of offsets, with indexes, ready to be opened by a broker. Several replicas of a shard may be given: what ' +
    'verifies in any of them is saved once. Where they hold different records, every history is kept. salvage.json names ' +
    'what was saved, from where, and what is lost. Exit code 0: all that is known to have existed; 21: records are lost, or ' +
    'histories differ; 30: something could not be read.',
  options: [
    { flags: '--to <dir>', description: 'where to: a directory that is empty or not there yet' },
    { flags: '--resume', description: 'go on with a salvage into that directory that was interrupted' },
    { flags: '--ndjson', description: 'also write the records of each run as NDJSON, payloads included' },
    {
      flags: '--segment-bytes <bytes>',
      description: 'roll to a new segment at this size',
      value: 'count',
      default: 268435456,
    },
    {
      flags: '--index-spacing <bytes>',
      description: "the broker's index_spacing_bytes",
      value: 'count',
      default: 4096,
    },
    {
      flags: '--format <format>',
      description: 'how to print: a table for people, or the document that salvage.json holds',
      choices: ['table', 'json'],
      default: 'table',
    },
    COLOR,
    NO_PROGRESS,
  ],
  examples: [
    {
      command: 'felix-fsck salvage fixtures/half-record-then-good-ones --to /tmp/saved',
      shows: 'the records around a damaged place, as two shards',
    },
    {
      command:
        'felix-fsck salvage fixtures/diverged-replicas/broker-a fixtures/diverged-replicas/broker-b --to /tmp/both',
      shows: 'two replicas that went different ways: a run for each history',
    },
  ],
  load: () => import('../salvage.js'),
};
