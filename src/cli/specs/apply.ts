import { JOURNAL, PLAN_FORMAT, YES } from './planning.js';
import { COLOR, type CommandSpec } from './shared.js';

export const APPLY_PLAN: CommandSpec = {
  name: 'apply',
  args: '<plan>',
  summary: 'carry out a plan, under a journal that undo reads',
  description:
    'Changes a shard as a plan says. Refuses unless every file still holds the bytes that the plan was made for and the shard ' +
    'looks stopped. The old files go to a journal first; afterwards the shard is checked again. With --resume, the argument ' +
    'may also be the journal.',
  options: [YES, JOURNAL, { flags: '--resume', description: 'finish a plan that was cut short' }, PLAN_FORMAT, COLOR],
  examples: [],
  load: () => import('../apply.js'),
};
