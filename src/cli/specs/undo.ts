import { PLAN_FORMAT, YES } from './planning.js';
import type { CommandSpec } from './shared.js';

export const UNDO: CommandSpec = {
  name: 'undo',
  args: '<journal>',
  summary: 'bring back the old bytes of a repair',
  description:
    'Brings back every byte, name, mode and modification time that a repair changed, out of its journal. Refuses when anything ' +
    'in the shard differs from what the repair left.',
  options: [YES, PLAN_FORMAT],
  examples: [],
  load: () => import('../undo.js'),
};
