import { APPLY, JOURNAL, PLAN_FORMAT, PLAN_OUT, PREDICTED, YES } from './planning.js';
import { COLOR, type CommandSpec, JOBS, SHARD_KEY } from './shared.js';

export const REPAIR_TAIL: CommandSpec = {
  name: 'repair-tail',
  args: '<shard>',
  summary: 'plan the cut that recovery would make, or, asked to, one that it would not',
  description:
    'Plans what a broker with default settings does to the end of a log when it opens the shard: cutting off an unfinished ' +
    'record, deleting empty segments behind the newest. Nothing is changed without --apply. Only the newest segment is ever ' +
    'cut, at its first damage, and never under the commit offset.',
  options: [
    {
      flags: '--allow <what>',
      description:
        'also plan: checksum-tail, the cut that repair_checksum_tail makes; zero-tail, a cut of nothing but zeros. May be repeated',
      value: 'list',
    },
    {
      flags: '--cut-at <position>',
      description: 'plan a cut of whatever lies from the first damage of the newest segment on; names its byte',
      value: 'position',
    },
    { flags: '--lose-intact <n>', description: 'how many intact records the cut may take with it', value: 'count' },
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
      command: 'felix-fsck repair-tail fixtures/torn-tail/acme_default_orders_0-0d3aed4b998d2798',
      shows: 'what a broker would cut, and what is lost with it',
    },
    {
      command:
        'felix-fsck repair-tail --allow zero-tail fixtures/zero-tail/acme_default_orders_0-0d3aed4b998d2798 --format json',
      shows: 'a plan for a tail of zeros, which no broker cuts by itself',
    },
  ],
  load: () => import('../repair-tail.js'),
};
