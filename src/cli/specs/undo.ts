import { PLAN_FORMAT, YES } from './planning.js';
import type { CommandSpec } from './shared.js';

const SHARD = 'fixtures/index-points-elsewhere/acme_default_orders_0-0d3aed4b998d2798';

export const UNDO: CommandSpec = {
  name: 'undo',
  args: '<journal>',
  summary: 'bring back the old bytes of a repair',
  description:
    'Brings back every byte, name, mode and modification time that a repair changed, out of its journal. Refuses when anything ' +
    'in the shard differs from what the repair left.',
  options: [YES, PLAN_FORMAT],
  examples: [
    {
      command: `felix-fsck rebuild-index ${SHARD} --apply --yes --journal journal && felix-fsck undo journal --yes`,
      shows: 'a repair, and the shard as it was before it',
    },
  ],
  load: () => import('../undo.js'),
};
