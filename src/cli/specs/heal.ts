import { APPLY, JOURNAL, PLAN_FORMAT, PLAN_OUT, PREDICTED, YES } from './planning.js';
import { COLOR, type CommandSpec, JOBS, NO_PROGRESS, SHARD_KEY } from './shared.js';

export const HEAL: CommandSpec = {
  name: 'heal',
  args: '<shard>',
  summary: 'plan replacing damaged ranges with verified bytes from replicas or offloaded objects',
  description:
    'Plans to make a shard whole with the records of other replicas, of a salvage, or of offloaded objects: exactly the ' +
    'offsets that are lost, and only when every record verifies, all donors agree, the records on both sides are the same in ' +
    'donor and shard, and the generation histories do not contradict each other. Missing segments and lost headers are made ' +
    'anew. Small files stay as they are. Nothing is changed without --apply.',
  options: [
    {
      flags: '--from <path...>',
      description: 'donors: directories of replicas or of a salvage, objects as files, or directories of objects',
      value: 'list',
    },
    {
      flags: '--accept-bit-flip',
      description:
        'where no donor helps, turn back a single flipped bit that explains the damage; the chance of error is told',
    },
    PLAN_OUT,
    APPLY,
    YES,
    JOURNAL,
    PLAN_FORMAT,
    COLOR,
    SHARD_KEY,
    ...PREDICTED,
    JOBS,
    NO_PROGRESS,
  ],
  examples: [
    {
      command:
        'felix-fsck heal fixtures/missing-segment/acme_default_orders_0-0d3aed4b998d2798 --from fixtures/zero-tail/acme_default_orders_0-0d3aed4b998d2798',
      shows: 'a missing segment made anew from another replica',
    },
    {
      command:
        'felix-fsck heal --accept-bit-flip fixtures/flipped-bit-in-length/acme_default_orders_0-0d3aed4b998d2798',
      shows: 'a flipped bit turned back, and how likely that is wrong',
    },
  ],
  load: () => import('../heal.js'),
};
