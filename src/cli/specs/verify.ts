import {
  ALL,
  BROKER,
  COLOR,
  type CommandSpec,
  FAIL_ON,
  FORMAT,
  INCLUDE_DELETED,
  JOBS,
  NO_PROGRESS,
  QUIET,
  SHARD_KEY,
} from './shared.js';

export const VERIFY: CommandSpec = {
  name: 'verify',
  args: '<path...>',
  summary: 'check everything: records, indexes, small files, and what they say of each other',
  description:
    'Reads every byte of the shards below each path and reports every damage with its place, what is lost, and what a ' +
    'broker would do on opening. Nothing is written. A path is a file, a shard directory or a data root. Ranges begin ' +
    'with their first number and end before their second: offsets 8..15 are 8 to 14.',
  options: [
    {
      ...FORMAT,
      description: `${FORMAT.description}; or metrics for a textfile collector`,
      choices: [...(FORMAT.choices ?? []), 'prometheus'],
    },
    { flags: '--output <file>', description: 'write there and not to standard output; replaced whole, at the end' },
    {
      flags: '--report <file.html>',
      description: 'also write a page for people without the tool: it shows bytes around the damage, payloads included',
    },
    { flags: '--quick', description: 'check only what a broker checks at open' },
    {
      flags: '--since-checkpoint <file>',
      description:
        'pass over sealed segments that an earlier run found clean and that have not changed since, and remember in ' +
        'that file what this run found clean; it is made when it is not there',
    },
    {
      flags: '--recheck-after <days>',
      description: 'with --since-checkpoint: read a segment again that was last read longer ago; 0 reads everything',
      value: 'count',
      default: 30,
    },
    ALL,
    QUIET,
    COLOR,
    SHARD_KEY,
    ...BROKER,
    {
      flags: '--replica <dir>',
      description: 'a replica of the shard, named in the way out that is proposed; may be repeated',
      value: 'list',
    },
    INCLUDE_DELETED,
    JOBS,
    {
      flags: '--io-limit <MB/s>',
      description: 'read no faster than that, all threads together, on a machine that serves',
      value: 'count',
    },
    { flags: '--nice', description: 'leave the processor to others: the lowest priority that the system has' },
    FAIL_ON,
    NO_PROGRESS,
  ],
  examples: [
    { command: 'felix-fsck verify fixtures/zero-tail', shows: 'a shard that a broker refuses to open, and why' },
    { command: 'felix-fsck verify --format json fixtures/healthy', shows: 'the same as JSON' },
    {
      command: 'felix-fsck verify --repair-checksum-tail fixtures/flipped-bit-in-payload',
      shows: 'what a broker with that setting would do',
    },
    {
      command: 'felix-fsck verify --format prometheus fixtures/data-root-with-one-bad-shard',
      shows: 'metrics of each shard, for a textfile collector',
    },
  ],
  load: () => import('../verify.js'),
};
