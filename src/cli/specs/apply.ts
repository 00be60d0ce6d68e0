import { JOURNAL, PLAN_FORMAT, YES } from './planning.js';
import { COLOR, type CommandSpec } from './shared.js';

const SHARD = 'fixtures/torn-tail/acme_default_orders_0-0d3aed4b998d2798';

export const APPLY_PLAN: CommandSpec = {
  name: 'apply',
  args: '<plan>',
  summary: 'carry out a plan, under a journal that undo reads',
  description:
    'Changes a shard as a plan says. Refuses unless every file still holds the bytes that the plan was made for and the shard ' +
    'looks stopped. The old files go to a journal first; afterwards the shard is checked again. With --resume, the argument ' +
    'may also be the journal.',
  options: [YES, JOURNAL, { flags: '--resume', description: 'finish a plan that was cut short' }, PLAN_FORMAT, COLOR],
  examples: [
    {
      command: `felix-fsck repair-tail ${SHARD} --plan-out plan.json; felix-fsck apply plan.json --yes`,
      shows: 'the cut that recovery would make, planned, and carried out without a question',
    },
  ],
  load: () => import('../apply.js'),
};
