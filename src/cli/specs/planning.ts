/**
 * Options that the commands share which plan a repair, or carry one out.
 */

import { BROKER, type OptionSpec } from './shared.js';

/** A plan is one object, and so has no lines of its own. */
export const PLAN_FORMAT: OptionSpec = {
  flags: '--format <format>',
  description: 'how to print: a table for people, or one JSON document',
  choices: ['table', 'json'],
  default: 'table',
};
export const PLAN_OUT: OptionSpec = {
  flags: '--plan-out <file>',
  description: 'also write the plan to a file, for apply',
};
export const APPLY: OptionSpec = {
  flags: '--apply',
  description: 'carry the plan out at once, under the same rules as apply',
};
export const YES: OptionSpec = {
  flags: '--yes',
  description: 'do not ask; without a terminal, nothing is done without it',
};
export const JOURNAL: OptionSpec = {
  flags: '--journal <dir>',
  description: 'keep the old bytes in this directory, new or empty (default: one beside the shard)',
};
/** Recovery's own opt-in is not a setting here: what a plan may cut is said with --allow. */
export const PREDICTED: readonly OptionSpec[] = BROKER.filter(({ flags }) => flags !== '--repair-checksum-tail');
