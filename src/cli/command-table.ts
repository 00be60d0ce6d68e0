/**
 * The commands and their options, as data: the parser, `--help`, the man pages and shell completion all read this table.
 * A command's module is loaded only when it is called.
 */

import type { CommandModule } from './context.js';

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
  load(): Promise<CommandModule>;
}

const FORMAT: OptionSpec = {
  flags: '--format <format>',
  description: 'how to print: a table for people, one JSON document, or a line of JSON for each item',
  choices: ['table', 'json', 'ndjson'],
  default: 'table',
};
const COLOR: OptionSpec = {
  flags: '--color <when>',
  description: 'colours: on a terminal only, always, or never (NO_COLOR is obeyed)',
  choices: ['auto', 'always', 'never'],
  default: 'auto',
};
const QUIET: OptionSpec = { flags: '-q, --quiet', description: 'print only what is a warning or worse' };
const SHARD_KEY: OptionSpec = {
  flags: '--shard-key <t/n/s/i>',
  description: 'the exact key, tenant/namespace/stream/shard: the hash in the directory name is checked against it',
};
const INCLUDE_DELETED: OptionSpec = {
  flags: '--include-deleted',
  description: 'also the shards of deleted streams, in .deleted/',
};
const BROKER: readonly OptionSpec[] = [
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
const JOBS: OptionSpec = {
  flags: '--jobs <n>',
  description: 'threads that check at the same time (default: one for each core)',
  value: 'count',
};
const FAIL_ON: OptionSpec = {
  flags: '--fail-on <severity>',
  description: 'the least severity that gives a non-zero exit code',
  choices: ['info', 'warning', 'error', 'fatal', 'never'],
  default: 'warning',
};
const NO_PROGRESS: OptionSpec = { flags: '--no-progress', description: 'no progress on the terminal' };
const ALL: OptionSpec = { flags: '--all', description: 'fold nothing: every finding and every healthy shard' };

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'verify',
    args: '<path...>',
    summary: 'check everything: records, indexes, small files, and what they say of each other',
    description:
      'Reads every byte of the shards below each path and reports every damage with its place, what is lost, and what a ' +
      'broker would do on opening. Nothing is written. A path is a file, a shard directory or a data root.',
    options: [
      FORMAT,
      { flags: '--quick', description: 'check only what a broker checks at open' },
      ALL,
      QUIET,
      COLOR,
      SHARD_KEY,
      ...BROKER,
      {
        flags: '--replica <dir>',
        description: 'a replica of the shard, named in the way out that is proposed; may be repeated',
        value: 'list',
      },
      INCLUDE_DELETED,
      JOBS,
      FAIL_ON,
      NO_PROGRESS,
    ],
    examples: [
      { command: 'felix-fsck verify fixtures/zero-tail', shows: 'a shard that a broker refuses to open, and why' },
      { command: 'felix-fsck verify --format json fixtures/healthy', shows: 'the same as JSON' },
      {
        command: 'felix-fsck verify --repair-checksum-tail fixtures/flipped-bit-in-payload',
        shows: 'what a broker with that setting would do',
      },
    ],
    load: () => import('./verify.js'),
  },
];
