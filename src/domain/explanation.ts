/**
 * What a person may ask to have explained: a kind of finding, an exit code, or a line that names one of them.
 *
 * The question is text from anywhere, the broker's log included. What it is about is told by its words alone; nothing on
 * a disk is looked at.
 */

import { type BrokerLine, parseBrokerLine } from './broker-phrases.js';
import { CATALOGUE } from './catalogue.js';
import { CATALOGUE_GROUPS } from './catalogue-groups.js';
import type { CatalogueRow } from './catalogue-row.js';
import { closestNames, plainName } from './closest-names.js';
import { EXIT_CODES, type ExitCode } from './exit-codes.js';
import type { FindingKind } from './finding.js';
import { shellJoined, shellQuoted } from './shell-words.js';

export type Question =
  /** `line` is there when a line of the broker's log was given. */
  | { readonly about: 'kind'; readonly kind: FindingKind; readonly line: BrokerLine | null }
  | { readonly about: 'exit-code'; readonly code: ExitCode }
  | { readonly about: 'unknown'; readonly suggestions: readonly string[] };

/** All kinds, as people are shown them. */
export const KINDS: readonly FindingKind[] = CATALOGUE_GROUPS.flatMap(({ kinds }) => kinds);

/** All short questions that have an answer. */
export const ANSWERED: readonly string[] = [...KINDS, ...EXIT_CODES.map(({ code }) => String(code))];

const KINDS_BY_PLAIN_NAME = new Map(KINDS.map((kind) => [plainName(kind), kind]));

/** Text is looked through for names up to this many characters. */
const LONGEST_TEXT = 65_536;

/** What a question is about: an exact name first, then a phrase of the broker, then a name anywhere in the text. */
export function questionIn(text: string): Question {
  const asked = text.trim().slice(0, LONGEST_TEXT);
  const kind = KINDS_BY_PLAIN_NAME.get(plainName(asked.slice(0, 100)));
  if (kind !== undefined) return { about: 'kind', kind, line: null };
  const code = EXIT_CODES.find((each) => String(each.code) === asked || each.name === asked.toLowerCase());
  if (code !== undefined) return { about: 'exit-code', code };
  const line = parseBrokerLine(asked);
  if (line !== null) return { about: 'kind', kind: line.kind, line };
  return namedIn(asked) ?? { about: 'unknown', suggestions: closestNames(asked, KINDS) };
}

/** A kind or `exit 22` within a longer text, as the tool's own reports have them. */
function namedIn(text: string): Question | null {
  const words = new Set(text.split(/[^A-Za-z0-9]+/));
  const kind = KINDS.find((each) => words.has(each));
  if (kind !== undefined) return { about: 'kind', kind, line: null };
  const number = /\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]{1,3}(\d{1,3})\b/i.exec(text)?.[1];
  const code = EXIT_CODES.find((each) => String(each.code) === number);
  return code === undefined ? null : { about: 'exit-code', code };
}

/** The row of a kind, for texts that are the same for every finding of it. */
export function rowOf(kind: FindingKind): CatalogueRow<never> {
  return CATALOGUE[kind];
}

export function groupOf(kind: FindingKind): string {
  return CATALOGUE_GROUPS.find(({ kinds }) => kinds.includes(kind))?.title ?? '';
}

/** What is known of the place that a question is about; null for what the operator has to fill in. */
export interface Place {
  /** The shard's directory, as one word of a shell. */
  readonly shard: string | null;
  /** A name below it. */
  readonly file: string | null;
  readonly position: number | null;
}

/** A command of the catalogue with what is known filled in. */
export function filledIn(command: string, place: Place): string {
  const { file, position } = place;
  const shard = place.shard ?? 'SHARD';
  const words = command.split(' ');
  return words
    .map((word, at) => {
      if (word === 'POSITION' && position !== null) return String(position);
      if (word === 'FILE' && file !== null && words[at - 1] !== '--to') return shellJoined(shard, file);
      if (word === 'SHARD') return shard;
      return word.startsWith('SHARD/') ? shellJoined(shard, word.slice('SHARD/'.length)) : shellQuoted(word);
    })
    .join(' ');
}

/** What to look at first: the shard as a whole, then the bytes, when the place is known. */
export function firstLooks(place: Place): readonly string[] {
  return [
    filledIn('felix-fsck verify SHARD', place),
    ...(place.file === null || place.position === null
      ? []
      : [filledIn('felix-fsck hexdump FILE --at POSITION', place)]),
  ];
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  SHARD: 'the directory of the shard',
  REPLICA: 'the directory of the same shard from another broker',
  OBJECTS: 'a copy of the object store, or one object',
  DIR: 'a directory',
  FILE: 'a file',
  POSITION: 'the byte position that the finding names',
};

/** The words in these commands that stand for the operator's own, with what they stand for. */
export function placeholdersIn(commands: readonly string[]): readonly (readonly [name: string, meaning: string])[] {
  const words = new Set(commands.flatMap((command) => command.split(/[ /]/)));
  return Object.entries(PLACEHOLDERS).filter(([name]) => words.has(name));
}
