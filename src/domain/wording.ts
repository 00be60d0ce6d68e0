/**
 * Pieces of the sentences that people read: counts with their unit, ranges, and text from disk made fit to print.
 *
 * Everything here is pure. Ranges are half-open, as everywhere; positions and offsets are printed without separators,
 * so that they can be copied into a command, and counts with them.
 */

import { type OffsetRange, offsetCount } from './units.js';

/** A whole number with thousands separators: `4,096`. */
export function grouped(count: number | bigint): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 byte`, `4,096 bytes`; the plural is the noun with an `s` unless given. */
export function counted(count: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${String(count) === '1' ? noun : plural}`;
}

/** `4,096 bytes`. */
export function bytesOf(count: number | bigint): string {
  return counted(count, 'byte');
}

/** `offset 16` for one offset, else the half-open `offsets 16..19`. */
export function offsetsOf(range: OffsetRange): string {
  return offsetCount(range) === 1n ? `offset ${range.from}` : `offsets ${range.from}..${range.to}`;
}

/** What a range of lost offsets costs; a range that is not known is said to be so. */
export function lostWords(lost: OffsetRange | null): string {
  if (lost === null) return 'how many records are lost is not known';
  const count = offsetCount(lost);
  return count === 0n ? 'no record lost' : `${counted(count, 'record')} lost: ${offsetsOf(lost)}`;
}

/** `about 1 in 4,300,000`: a small chance for people. */
export function chanceWords(chance: number): string {
  if (!(chance > 0)) return 'next to none';
  const oneIn = Number((1 / Math.min(1, chance)).toPrecision(2));
  return `about 1 in ${oneIn < 1e15 ? grouped(Math.round(oneIn)) : oneIn.toExponential(1)}`;
}

/** What most text is made of; the test for everything else costs a start more than all the rest of a small report. */
const PLAIN = /^[ -~]*$/;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/**
 * Text from disk, fit for one line of a terminal: control characters become `\xNN`, and format, bidi, invisible,
 * unassigned and lone surrogate characters `\u{…}`. Text that went through it once passes unchanged.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0x9f ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** The first few of some names, printable, and whether there are more. */
export function someOf(names: readonly string[], most = 5): string {
  const few = names.slice(0, most).map(printable).join(', ');
  return names.length > most ? `${few} and ${names.length - most} more` : few;
}

/** Text from disk in quotes, printable, and cut after `limit` characters with its full length named. */
export function quoted(text: string, limit = 120): string {
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  if (characters.length <= limit && text.length <= 2 * limit + 2) return `"${printable(text)}"`;
  return `"${printable(characters.slice(0, limit).join(''))}…" (${grouped(text.length)} characters)`;
}

/** One sentence out of its clauses; those that are null are left out, and nothing unprintable passes. */
export function sentenceOf(...clauses: readonly (string | null)[]): string {
  return `${printable(clauses.filter((clause) => clause !== null).join('; '))}.`;
}

/** Prose written over several lines of source, as one line: every run of blanks becomes one space. */
export function prose(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: strings }, ...values)
    .replace(/\s+/g, ' ')
    .trim();
}
