import { APPLY, JOURNAL, PLAN_FORMAT, PLAN_OUT, PREDICTED, YES } from './planning.js';
import { COLOR, type CommandSpec, JOBS, SHARD_KEY } from './shared.js';

export const REBUILD_INDEX: CommandSpec = {
  name: 'rebuild-index',
  args: '<path>',
  summary: 'plan new indexes, made from the records',
  description:
    'Plans indexes that are byte for byte what a writer with this spacing makes while it appends. A path is a shard directory, ' +
    'a segment or index in one, or a data root. Nothing is changed without --apply.',
  options: [
    { flags: '--segment <id>', description: 'the index of this segment; may be repeated', value: 'list' },
    { flags: '--all', description: 'every index (default: those that are missing or wrong)' },
    { flags: '--partial', description: 'of a damaged segment, an index up to its first damage' },
    PLAN_OUT,
    APPLY,
    YES,
    JOURNAL,
    PLAN_FORMAT,
    COLOR,
    SHARD_KEY,
    ...PREDICTED,
    JOBS,
  ],
  examples: [
    {
      command: 'felix-fsck rebuild-index fixtures/index-points-elsewhere/acme_default_orders_0-0d3aed4b998d2798',
      shows: 'the cure for an index that makes a broker refuse the shard',
    },
  ],
  load: () => import('../rebuild-index.js'),
};
