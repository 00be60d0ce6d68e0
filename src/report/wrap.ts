/**
 * Text fitted to a width: wrapped, never cut.
 *
 * Widths are columns of a terminal: wide characters take two, combining marks none. Texts come in plain, already made
 * printable; colour is put on afterwards, by line or by column. A word longer than a line is broken where it has to be.
 */

import { stripVTControlCharacters } from 'node:util';

const NO_WIDTH = /^(?:\p{Mn}|\p{Me}|\p{Cf}|[\ufe00-\ufe0f])$/u;
const WIDE = new RegExp(
  '^[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\u33ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua000-\\ua4cf\\ua960-\\ua97c' +
    '\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{1b000}-\\u{1b2ff}' +
    '\\u{1f200}-\\u{1f2ff}\\u{20000}-\\u{3fffd}\\p{Emoji_Presentation}]$',
  'u',
);

/** Columns that one character takes. */
function characterWidth(character: string): number {
  if (character <= '~') return 1;
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that a text takes on a terminal; escape sequences of colours take none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += characterWidth(character);
  return width;
}

export interface WrapOptions {
  /** What the first line begins with; it counts as columns. */
  readonly first?: string;
  /** What every further line begins with. */
  readonly rest?: string;
  /** What ends a line that goes on in the next one; a shell's backslash for commands. */
  readonly joint?: string;
}

/**
 * Breaks a text into lines of at most `width` columns, at spaces; a word that is longer than a line is broken within.
 * At least eight columns are used for text, whatever the width and the indent say.
 */
export function wrap(text: string, width: number, options: WrapOptions = {}): string[] {
  return wrapWords(text.split(/ +/), width, options);
}

/** A word of a shell: quoted parts hold it together. */
const SHELL_WORD = /(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"])+/g;

const JOINT = ' \\';

/** Breaks a shell command into lines that still can be pasted as a whole; for a long word the indent shrinks. */
export function wrapCommand(command: string, width: number, options: WrapOptions = {}): string[] {
  const words = command.match(SHELL_WORD) ?? [command];
  const longest = words.reduce((most, word) => Math.max(most, displayWidth(word)), 0);
  const { rest: wanted = '' } = options;
  const rest = [wanted, wanted.slice(0, 8), wanted.slice(0, 2)].find(
    (indent) => indent.length + longest + JOINT.length <= width,
  );
  return wrapWords(words, width, { ...options, rest: rest ?? '', joint: JOINT });
}

const LEAST = 8;

function wrapWords(words: readonly string[], width: number, options: WrapOptions): string[] {
  const { first = '', rest = '', joint = '' } = options;
  const lines: string[] = [];
  const room = (start: string) => Math.max(LEAST, width - displayWidth(start)) - joint.length;
  let start = first;
  let line = '';
  const flush = (end: string, next: string) => {
    lines.push((start + line).trimEnd() + end);
    start = next;
    line = '';
  };
  for (const word of words) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= room(start)) {
      line = joined;
      continue;
    }
    if (line !== '') flush(joint, rest);
    // Within a word of a shell, a backslash joins only what begins at the left edge, and nothing within quotes.
    const within = joint === '' ? rest : '';
    const broken = joint === '' ? breakWord : breakShellWord;
    const pieces = broken(word, room(start), room(within));
    for (const piece of pieces.slice(0, -1)) {
      line = piece;
      flush(joint.trim(), within);
    }
    line = pieces.at(-1) ?? '';
  }
  if (line !== '' || lines.length === 0) flush('', rest);
  return lines;
}

/** Pieces of at most so many columns; behind a slash where that does not make them much shorter. */
function breakWord(word: string, firstRoom: number, restRoom: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  let room = firstRoom;
  for (const character of word) {
    const columns = characterWidth(character);
    if (width + columns > room && piece !== '') {
      const slash = piece.lastIndexOf('/') + 1;
      const cut = slash > piece.length / 2 && slash < piece.length ? slash : piece.length;
      pieces.push(piece.slice(0, cut));
      piece = piece.slice(cut);
      width = displayWidth(piece);
      room = restRoom;
    }
    piece += character;
    width += columns;
  }
  pieces.push(piece);
  return pieces;
}

/** What no break may part: a character, or an escape; with the quote that it stands in. */
interface Atom {
  readonly text: string;
  readonly quote: string;
}

const SHELL_PART = /\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^'"]/gsu;
const ESCAPES = /\\x[0-9a-f]{2}|\\.|./gsu;

/** The same of a shell's word: a quote that a break falls into is closed in front of it and opened again behind it. */
function breakShellWord(word: string, firstRoom: number, restRoom: number): string[] {
  const pieces: string[] = [];
  let piece: Atom[] = [];
  let room = firstRoom;
  for (const atom of atomsOf(word)) {
    if (piece.length > 0 && displayWidth(spelled([...piece, atom])) > room) {
      const slash = piece.findLastIndex(({ text }) => text === '/') + 1;
      const cut = slash > piece.length / 2 ? slash : piece.length;
      pieces.push(spelled(piece.slice(0, cut)));
      piece = piece.slice(cut);
      room = restRoom;
    }
    piece.push(atom);
  }
  pieces.push(spelled(piece));
  return pieces;
}

function atomsOf(word: string): Atom[] {
  return Array.from(word.matchAll(SHELL_PART), ([part]) => {
    const [quote = ''] = /^\$?['"]/.exec(part) ?? [];
    const inner = quote === '' ? part : part.slice(quote.length, -1);
    const texts = inner.match(quote === "'" ? /./gsu : ESCAPES) ?? [''];
    return texts.map((text) => ({ text, quote }));
  }).flat();
}

function spelled(atoms: readonly Atom[]): string {
  let text = '';
  let open = '';
  for (const atom of atoms) {
    if (atom.quote !== open) text += open.slice(-1) + atom.quote;
    open = atom.quote;
    text += atom.text;
  }
  return text + open.slice(-1);
}

/**
 * Two texts on one line, the second one at the right edge; when both do not fit, the second goes on lines of its own
 * behind `rest`.
 */
export function opposite(left: string, right: string, width: number, options: WrapOptions = {}): string[] {
  if (right === '') return wrap(left, width, options);
  const line = `${options.first ?? ''}${left}`;
  const gap = width - displayWidth(line) - displayWidth(right);
  if (gap >= 2) return [`${line}${' '.repeat(gap)}${right}`];
  return [
    ...wrap(left, width, options),
    ...wrap(right, width, { first: options.rest ?? '', rest: options.rest ?? '' }),
  ];
}
