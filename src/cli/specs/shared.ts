/**
 * The shape of a command's entry in the table, and the options that several commands share.
 */

import type { CommandModule } from '../context.js';

export interface OptionSpec {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string | number | boolean;
  /** How the value is read; text when left out. */
  readonly value?: 'count' | 'offset' | 'position' | 'list';
}

export interface ExampleSpec {
  readonly command: string;
  readonly shows: string;
}

export interface CommandSpec {
  readonly name: string;
  /** As commander spells arguments. */
  readonly args: string;
  readonly summary: string;
  readonly description: string;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly ExampleSpec[];
  /** Words that the first argument may be, for a shell to offer; left out where it is a path. */
  words?(): Promise<readonly string[]>;
  load(): Promise<CommandModule>;
}

export const FORMAT: OptionSpec = {
  flags: '--format <format>',
  description: 'how to print: a table for people, one JSON document, or a line of JSON for each item',
  choices: ['table', 'json', 'ndjson'],
  default: 'table',
};
export const COLOR: OptionSpec = {
  flags: '--color <when>',
  description: 'colours: on a terminal only, always, or never (NO_COLOR is obeyed)',
  choices: ['auto', 'always', 'never'],
  default: 'auto',
};
export const QUIET: OptionSpec = { flags: '-q, --quiet', description: 'print only what is a warning or worse' };
export const SHARD_KEY: OptionSpec = {
  flags: '--shard-key <t/n/s/i>',
  description: 'the exact key, tenant/namespace/stream/shard: the hash in the directory name is checked against it',
};
export const INCLUDE_DELETED: OptionSpec = {
  flags: '--include-deleted',
  description: 'also the shards of deleted streams, in .deleted/',
};
export const BROKER: readonly OptionSpec[] = [
  {
    flags: '--repair-checksum-tail',
    description: 'predict a broker with FELIX_DURABLE_REPAIR_CHECKSUM_TAIL set',
  },
  {
    flags: '--verify-all-on-open',
    description: 'predict a broker with FELIX_DURABLE_VERIFY_ALL_ON_OPEN set',
  },
  {
    flags: '--index-spacing <bytes>',
    description: "the broker's index_spacing_bytes",
    value: 'count',
    default: 4096,
  },
];
export const JOBS: OptionSpec = {
  flags: '--jobs <n>',
  description: 'threads that check at the same time (default: one for each core)',
  value: 'count',
};
export const FAIL_ON: OptionSpec = {
  flags: '--fail-on <severity>',
  description: 'the least severity that gives a non-zero exit code',
  choices: ['info', 'warning', 'error', 'fatal', 'never'],
  default: 'warning',
};
export const NO_PROGRESS: OptionSpec = { flags: '--no-progress', description: 'no progress on the terminal' };
export const ALL: OptionSpec = { flags: '--all', description: 'fold nothing: every finding and every healthy shard' };
