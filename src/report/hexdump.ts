/**
 * Bytes of a file with every field named, from the layouts that decode them ("felix-fsck.hexdump/1").
 *
 * Positions are decimal, as in every finding, and count in the file. Damaged bytes stand in brackets and fields that touch
 * them have a `!`; the row asked for has a `>`. No byte reaches the terminal but as hex digits or printable ASCII.
 */

import type { ByteRange } from '../domain/units.js';
import { bytesOf, grouped, quoted } from '../domain/wording.js';
import type { FieldSpan } from '../format/layout.js';
import { microsText } from './instants.js';
import { type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf, rangeText } from './page.js';
import type { Style } from './style.js';
import { opposite, wrap } from './wrap.js';

const HEXDUMP_SCHEMA = 'felix-fsck.hexdump/1';

export interface HexNote {
  /** Position in the file. */
  readonly position: number;
  readonly text: string;
}

/** A piece of a file. All positions count in the file, those of the fields too. */
export interface HexView {
  readonly path: string;
  /** Size of the whole file. */
  readonly size: number;
  /** Position of the first byte. */
  readonly base: number;
  readonly bytes: Uint8Array;
  /** The position asked for. */
  readonly at: number | null;
  /** In the order of their start. */
  readonly fields: readonly FieldSpan[];
  readonly damaged: readonly ByteRange[];
  readonly notes: readonly HexNote[];
}

/** More rows than this of the same bytes, without a field or a note in them, become a line. */
const SAME_ROWS = 3;

export function renderHexdumpJson(view: HexView, tool: ToolIdentity): string {
  return toJsonDocument(hexdumpJson(view, tool));
}

export function renderHexdumpLine(view: HexView, tool: ToolIdentity): string {
  return toJsonLine({ type: 'hexdump', ...hexdumpJson(view, tool) });
}

function hexdumpJson(view: HexView, tool: ToolIdentity): object {
  return {
    schema: HEXDUMP_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    path: view.path,
    size: view.size,
    at: view.at,
    from: view.base,
    to: view.base + view.bytes.length,
    hex: Array.from(view.bytes, hexByte).join(''),
    fields: view.fields.map(({ name, start, end, type, value, meaning, partial, covers, bits }) => ({
      name,
      from: start,
      to: end,
      type,
      value,
      meaning,
      partial,
      ...(covers === undefined ? {} : { covers }),
      ...(bits === undefined ? {} : { bits }),
    })),
    damaged: view.damaged.map(({ from, to }) => ({ from, to })),
    notes: view.notes.map(({ position, text }) => ({ position, text })),
  };
}

/** Text for people: a title, then rows of bytes, each with the fields and notes that begin in it. */
export function renderHexdump(view: HexView, style: Style): string {
  const page = pageOf(style);
  const end = view.base + view.bytes.length;
  const title = opposite(page.show(view.path), bytesOf(view.size), page.width, { rest: '  ' });
  const lines = [...title, ...wrap(shownText(view, end), page.width)];
  const grid = gridOf(view, page);
  const spans = fieldsByRow(view, grid);
  const notes = notesByRow(view, grid);
  lines.push(...outsideLines(view, grid, page));
  const rows = Math.ceil((end - grid.start) / grid.perRow);
  for (let row = 0; row < rows; row++) {
    const same = sameRows(view, grid, row, rows, (at) => !spans.has(at) && !notes.has(at));
    if (same > SAME_ROWS) {
      const from = grid.start + row * grid.perRow;
      const text = `${grouped(same)} more rows of the same bytes, ${from}..${Math.min(end, from + same * grid.perRow)}`;
      lines.push(...wrap(text, page.width, { first: ' * ', rest: '   ' }));
      row += same - 1;
      continue;
    }
    lines.push(rowLine(view, grid, row, page));
    for (const span of spans.get(row) ?? []) lines.push(...fieldLines(span, view, grid, page));
    for (const note of notes.get(row) ?? []) lines.push(...noteLines(note, grid, page));
  }
  return joined(lines);
}

function shownText(view: HexView, end: number): string {
  const marks = view.damaged.length > 0 ? '; damaged bytes in [ ]' : '';
  if (view.bytes.length === 0) return `No byte to show at ${view.base}`;
  return `Bytes ${view.base}..${end}, positions decimal${marks}`;
}

interface Grid {
  /** Position of the first row's first column; it may lie in front of the first byte. */
  readonly start: number;
  readonly perRow: number;
  readonly digits: number;
  readonly isDamaged: (position: number) => boolean;
}

function gridOf(view: HexView, page: Page): Grid {
  const digits = Math.max(6, String(view.base + view.bytes.length).length);
  const fits = (perRow: number) => 1 + digits + 1 + 3 * perRow + 1 + 1 + perRow <= page.width;
  const perRow = [16, 8].find(fits) ?? 4;
  const damaged = view.damaged.filter(({ from, to }) => from < view.base + view.bytes.length && view.base < to);
  return {
    start: view.base - (view.base % perRow),
    perRow,
    digits,
    isDamaged: (position) => damaged.some(({ from, to }) => from <= position && position < to),
  };
}

function fieldsByRow(view: HexView, grid: Grid): Map<number, FieldSpan[]> {
  const end = view.base + view.bytes.length;
  const shown = view.fields.filter((span) => span.start < end && (span.end > view.base || span.start >= view.base));
  return byRow(shown, (span) => Math.max(span.start, view.base), grid);
}

/** Fields of the same thing that lie outside of the bytes shown. */
function outsideLines(view: HexView, grid: Grid, page: Page): string[] {
  const end = view.base + view.bytes.length;
  const outside = view.fields.filter((span) => span.start >= end || (span.end <= view.base && span.start < view.base));
  if (outside.length === 0) return [];
  const title = wrap('Fields outside of these bytes:', page.width);
  return [...title, ...outside.flatMap((span) => fieldLines(span, view, grid, page)), 'The bytes:'];
}

function notesByRow(view: HexView, grid: Grid): Map<number, HexNote[]> {
  const last = Math.max(view.base, view.base + view.bytes.length - 1);
  return byRow(view.notes, ({ position }) => Math.min(Math.max(position, view.base), last), grid);
}

function byRow<T>(items: readonly T[], positionOf: (item: T) => number, grid: Grid): Map<number, T[]> {
  const rows = new Map<number, T[]>();
  for (const item of items) {
    const row = Math.floor((positionOf(item) - grid.start) / grid.perRow);
    const list = rows.get(row);
    if (list === undefined) rows.set(row, [item]);
    else list.push(item);
  }
  return rows;
}

/** How many rows from this one on look like the row before it and have nothing to say. */
function sameRows(view: HexView, grid: Grid, row: number, rows: number, isBare: (row: number) => boolean): number {
  if (row === 0) return 0;
  const before = cellsOf(view, grid, row - 1);
  let at = row;
  while (at < rows && isBare(at) && !hasAsked(view, grid, at) && cellsOf(view, grid, at) === before) at += 1;
  return at - row;
}

function hasAsked(view: HexView, grid: Grid, row: number): boolean {
  return view.at !== null && Math.floor((view.at - grid.start) / grid.perRow) === row;
}

/** The hex digits of a row, with damaged bytes in brackets. */
function cellsOf(view: HexView, grid: Grid, row: number): string {
  const first = grid.start + row * grid.perRow;
  let text = '';
  let inside = false;
  for (let column = 0; column < grid.perRow; column++) {
    const byte = view.bytes[first + column - view.base];
    const hurt = byte !== undefined && grid.isDamaged(first + column);
    text += hurt === inside ? ' ' : hurt ? '[' : ']';
    text += byte === undefined ? '  ' : hexByte(byte);
    inside = hurt;
  }
  return text + (inside ? ']' : ' ');
}

function rowLine(view: HexView, grid: Grid, row: number, page: Page): string {
  const first = grid.start + row * grid.perRow;
  const cells = cellsOf(view, grid, row);
  const mark = hasAsked(view, grid, row) ? '>' : ' ';
  let ascii = '';
  for (let column = 0; column < grid.perRow; column++) {
    const byte = view.bytes[first + column - view.base];
    ascii += byte === undefined ? ' ' : byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.';
  }
  const position = page.paint.faint(String(first).padStart(grid.digits));
  const painted = cells.replace(/\[[^\]]*\]/g, (hurt) => page.paint.error(hurt));
  return `${mark}${position} ${painted} ${ascii}`.trimEnd();
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function fieldLines(span: FieldSpan, view: HexView, grid: Grid, page: Page): string[] {
  const hurt = view.damaged.some(({ from, to }) => from < span.end && span.start < to);
  const indent = ' '.repeat(indentOf(grid, page));
  const head = `${rangeText({ from: span.start, to: span.end })} ${page.show(span.name)}`;
  const bits = (span.bits ?? []).map(({ name, value }) => `${page.show(name)} ${value}`);
  const text = [
    `${head} = ${fieldValueText(span)}`,
    ...(bits.length === 0 ? [] : [`(${bits.join(', ')})`]),
    `- ${page.show(span.meaning)}${coversText(span, page)}`,
  ].join(' ');
  const lines = wrap(page.show(text), page.width, { first: `${indent}${hurt ? '! ' : '  '}`, rest: `${indent}    ` });
  return hurt ? lines.map((line) => page.paint.error(line)) : lines;
}

function coversText({ covers, meaning }: FieldSpan, page: Page): string {
  return covers === undefined || meaning.includes(covers) ? '' : `, over ${page.show(covers)}`;
}

/** Fields and notes begin below the hex digits, or further left when there is little room. */
function indentOf(grid: Grid, page: Page): number {
  return page.width < 60 ? 2 : grid.digits;
}

export function fieldValueText(span: FieldSpan): string {
  const length = span.end - span.start;
  if (span.partial) return `cut off by the end of the bytes after ${bytesOf(length)}`;
  if (span.type === 'bytes') return bytesOf(length);
  if (span.type === 'utf8')
    return typeof span.value === 'string' ? quoted(span.value) : `${bytesOf(length)}, not UTF-8`;
  if (span.value === null) return 'not known';
  const number = String(span.value);
  if (typeof span.value === 'bigint' && /micros$/.test(span.name)) {
    const instant = microsText(span.value);
    return instant.startsWith(number) ? instant : `${number}, ${instant}`;
  }
  return number;
}

function noteLines(note: HexNote, grid: Grid, page: Page): string[] {
  const indent = ' '.repeat(indentOf(grid, page));
  const lines = wrap(`byte ${note.position}: ${page.show(note.text)}`, page.width, {
    first: `${indent}^ `,
    rest: `${indent}    `,
  });
  return lines.map((line) => page.paint.warning(line));
}
