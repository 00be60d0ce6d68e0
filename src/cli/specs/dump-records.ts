import { DELIMITERS, RECORD_KINDS } from '../../domain/record-view.js';
import { COLOR, type CommandSpec, INCLUDE_DELETED, QUIET, SHARD_KEY } from './shared.js';

export const DUMP_RECORDS: CommandSpec = {
  name: 'dump-records',
  args: '<path...>',
  summary: 'show records, by offset, time, kind or producer, going on past damage',
  description:
    'Shows the records of the shards below each path in the order of their logs. Every record is verified before it is ' +
    'shown. Damage is a row of its own, with the bytes it covers and the offsets it cost, and gives exit code 21. ' +
    'Ranges are half-open. Nothing is written.',
  options: [
    {
      flags: '--format <format>',
      description:
        'a table for people, a line of JSON for each row, one JSON document, CSV, payloads alone (generation starts ' +
        'passed over), or payloads as hex',
      choices: ['table', 'ndjson', 'json', 'csv', 'raw', 'hex'],
      default: 'table',
    },
    { flags: '--from <offset>', description: 'from this offset on, found by the index', value: 'offset' },
    { flags: '--to <offset>', description: 'up to, and without, this offset', value: 'offset' },
    { flags: '--since <time>', description: 'records published at or after: an ISO time (UTC), or microseconds' },
    { flags: '--until <time>', description: 'records published before: an ISO time (UTC), or microseconds' },
    { flags: '--kind <kind>', description: 'only records of this kind', choices: RECORD_KINDS },
    { flags: '--producer <id>', description: "only records of this producer's batches", value: 'offset' },
    { flags: '--segment <id>', description: 'only this segment', value: 'offset' },
    { flags: '--grep <text>', description: 'only payloads that contain this text, or bytes given as hex:00ff' },
    { flags: '--limit <n>', description: 'stop after so many records', value: 'count' },
    {
      flags: '--tail <n>',
      description: 'only the last so many of the records that match, of each shard',
      value: 'count',
    },
    {
      flags: '--decode <as>',
      description: 'show what the payloads of a cache or counter shard say; what does not fit is marked, never guessed',
      choices: ['cache', 'counter'],
    },
    { flags: '--no-payload', description: 'leave payloads out' },
    { flags: '--redact', description: 'of payloads, give length and CRC-32 alone: for what is to be shared' },
    {
      flags: '--delimiter <what>',
      description: 'for raw: a newline or a NUL behind each payload, or its length in front as a big-endian u32',
      choices: DELIMITERS,
      default: 'newline',
    },
    { flags: '--no-index', description: 'read every segment from its first record, whatever its index says' },
    QUIET,
    COLOR,
    SHARD_KEY,
    INCLUDE_DELETED,
  ],
  examples: [
    { command: 'felix-fsck dump-records fixtures/healthy --limit 5', shows: 'the oldest five records of a shard' },
    {
      command: 'felix-fsck dump-records fixtures/flipped-bit-in-payload --from 8 --format ndjson',
      shows: 'records from offset 8 on as JSON, and a row for the damaged one',
    },
    {
      command: 'felix-fsck dump-records fixtures/healthy --tail 2 --redact',
      shows: 'the newest two, without what they say',
    },
  ],
  load: () => import('../dump-records.js'),
};
