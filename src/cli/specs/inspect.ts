import { ALL, COLOR, type CommandSpec, FAIL_ON, FORMAT, INCLUDE_DELETED } from './shared.js';

export const INSPECT: CommandSpec = {
  name: 'inspect',
  args: '<path...>',
  summary: 'what is it? headers, facts, sizes and times of a file, a shard or a data root',
  description:
    'Tells what a path is and what it holds: any file of the format, a shard directory, or a data root. Only headers, ' +
    'indexes and tails of segments are read, and every small file; what was not verified is said. Damage that is met on ' +
    'the way is named, and gives the exit code that verify gives for it; for a verdict run verify.',
  options: [
    FORMAT,
    { flags: '--full', description: 'read every record, and tell more of long lists' },
    ALL,
    COLOR,
    INCLUDE_DELETED,
    FAIL_ON,
  ],
  examples: [
    {
      command: 'felix-fsck inspect fixtures/healthy/acme_default_orders_0-0d3aed4b998d2798',
      shows: 'a shard: segments, time range, and every small file with its fields',
    },
    { command: 'felix-fsck inspect fixtures/data-root-with-one-bad-shard', shows: 'a data root and its shards' },
    {
      command: 'felix-fsck inspect fixtures/damaged-replica-file/acme_default_orders_0-0d3aed4b998d2798/replica',
      shows: 'a damaged file, decoded as far as it goes',
    },
  ],
  load: () => import('../inspect.js'),
};
