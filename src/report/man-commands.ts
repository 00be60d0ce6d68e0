/**
 * Manual pages of the tool and of each of its commands, from the table of commands and the exit codes.
 */

import { EXIT_CODES } from '../domain/exit-codes.js';
import { type DescribedCommand, type DescribedOption, flagsOf } from './described-command.js';
import type { Block, ManPage, Term } from './roff.js';

const TOOL = 'felix-fsck';

function manNameOf(command: string): string {
  return `${TOOL}-${command}`;
}

export function toolPage(commands: readonly DescribedCommand[]): ManPage {
  return {
    name: TOOL,
    section: 1,
    purpose: 'check and repair the durable log of the Felix broker, offline',
    sections: [
      {
        title: 'Synopsis',
        blocks: [
          { is: 'text', text: `\`${TOOL}\` COMMAND [OPTION...] [ARGUMENT...]` },
          { is: 'text', text: `\`${TOOL} help\` [COMMAND]` },
        ],
      },
      { title: 'Description', blocks: DESCRIPTION },
      {
        title: 'Commands',
        blocks: [
          {
            is: 'terms',
            terms: commands.map(({ name, args, summary }) => ({
              term: `\`${name}\` ${args}`.trim(),
              text: `${sentence(summary)} See \`${manNameOf(name)}\`(1).`,
            })),
          },
        ],
      },
      { title: 'Paths', blocks: PATHS },
      { title: 'Output', blocks: OUTPUT },
      { title: 'Exit status', blocks: exitStatus() },
      { title: 'Environment', blocks: [{ is: 'terms', terms: ENVIRONMENT }] },
      { title: 'Examples', blocks: examplesOf(commands.slice(0, 3).flatMap(({ examples }) => examples.slice(0, 1))) },
      {
        title: 'See also',
        blocks: [{ is: 'text', text: seeAlso(commands.map(({ name }) => `${manNameOf(name)}(1)`)) }],
      },
    ],
  };
}

export function commandPage(command: DescribedCommand): ManPage {
  const { name, args, summary, description, options, examples } = command;
  const flags: Term[] = [...options.map(optionTerm), { term: '`-h`, `--help`', text: 'Display help, with examples.' }];
  return {
    name: manNameOf(name),
    section: 1,
    purpose: summary,
    sections: [
      { title: 'Synopsis', blocks: [{ is: 'text', text: `\`${TOOL} ${name}\` [OPTION...] ${args}`.trim() }] },
      { title: 'Description', blocks: [{ is: 'text', text: description }] },
      { title: 'Options', blocks: [{ is: 'terms', terms: flags }] },
      { title: 'Exit status', blocks: exitStatus() },
      { title: 'Examples', blocks: examplesOf(examples) },
      { title: 'See also', blocks: [{ is: 'text', text: seeAlso([`${TOOL}(1)`]) }] },
    ],
  };
}

function optionTerm(option: DescribedOption): Term {
  const { short, long, value, optional } = flagsOf(option.flags);
  const follows = value === null ? '' : optional ? ` [${value.toUpperCase()}]` : ` ${value.toUpperCase()}`;
  const details = [
    option.choices === undefined ? null : `One of ${option.choices.join(', ')}.`,
    option.default === undefined || option.default === false ? null : `Default: ${String(option.default)}.`,
  ].filter((text) => text !== null);
  return {
    term: `${short === null ? '' : `\`${short}\`, `}\`${long}\`${follows}`,
    text: [sentence(option.description), ...details].join(' '),
  };
}

function exitStatus(): Block[] {
  return [
    {
      is: 'terms',
      terms: EXIT_CODES.map(({ code, when, whatNext }) => ({ term: `\`${code}\``, text: `${when} ${whatNext}` })),
    },
  ];
}

function examplesOf(examples: DescribedCommand['examples']): Block[] {
  return examples.flatMap(({ command, shows }): Block[] => [
    { is: 'text', text: `${sentence(shows).slice(0, -1)}:` },
    { is: 'lines', lines: [command] },
  ]);
}

function seeAlso(first: readonly string[]): string {
  const pages = [...first, 'felix-storage(5)', 'felix-fsck-findings(7)', 'felix-fsck-runbook(7)'];
  return pages.map((page) => page.replace(/^(.*)(\(\d\))$/, '`$1`$2')).join(', ');
}

/** With a capital and a full stop. */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

const DESCRIPTION: readonly Block[] = [
  {
    is: 'text',
    text:
      '`felix-fsck` reads the segments, indexes and small files in which a Felix broker keeps its shards, and says what is ' +
      'damaged, where and why, what a broker would do on opening the shard, what would be lost, and what to run next. It ' +
      'works on a stopped broker’s directory, on a copy, on a volume snapshot, and on a read-only mount.',
  },
  {
    is: 'text',
    text:
      'Looking never writes: only `apply`, `undo`, and commands that are given `--apply` or a path to write to change ' +
      'anything. A repair is a plan first, which shows every step and every loss; it is bound to the bytes that it was ' +
      'made from, keeps a copy of what it replaces, and can be undone.',
  },
];

const PATHS: readonly Block[] = [
  {
    is: 'text',
    text:
      'A path is a file of the format, the directory of a shard (it holds a segment, an index or a known small file), or a ' +
      'data root: any directory above shards. Below a root all shards are found, those in `caches/`, `counters/`, ' +
      '`groups/` and `dead-letters/` included, but not those in `.deleted/` and `.streams/`. A symbolic link is followed ' +
      'when it is the argument itself; below that it is named and not followed.',
  },
];

const OUTPUT: readonly Block[] = [
  {
    is: 'text',
    text:
      'Results go to standard output, progress and notes to standard error; progress appears only on a terminal. ' +
      '`--format table` is for people, `json` gives one document, `ndjson` a line for each item with a summary as the ' +
      'last one. In JSON, offsets, ids, generations, sequences and timestamps are decimal strings, since they have 64 ' +
      'bits; byte positions, sizes and counts are numbers. `felix-fsck schema` prints the JSON Schema of every output. ' +
      'Fields may be added; a removed or changed field raises the number in `schema`.',
  },
];

const ENVIRONMENT: readonly Term[] = [
  { term: '`NO_COLOR`', text: 'When set and not empty, and `--color` is auto: no colours.' },
  {
    term: '`CLICOLOR_FORCE`, `CLICOLOR`, `TERM`',
    text:
      'When `--color` is auto: `CLICOLOR_FORCE` set to anything but 0 gives colours off a terminal too; `CLICOLOR=0` and ' +
      '`TERM=dumb` give none.',
  },
  { term: '`COLUMNS`', text: 'The width of tables where the terminal does not tell it; 80 otherwise.' },
  {
    term: '`LC_ALL`, `LC_CTYPE`, `LANG`',
    text: 'The first one that is set decides: with a locale that is not UTF-8, everything but ASCII is escaped.',
  },
];
