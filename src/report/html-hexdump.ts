/**
 * Bytes of a file with every field named, as a table: eight bytes a row, so that a phone shows them whole.
 *
 * Damaged bytes are framed and bold, and fields that touch them have a `!`: nothing is said by colour alone. Bytes appear as
 * hex digits and printable ASCII only.
 */

import type { ByteRange } from '../domain/units.js';
import { bytesOf, grouped } from '../domain/wording.js';
import type { FieldSpan } from '../format/layout.js';
import { fieldValueText, type HexView } from './hexdump.js';
import { clipped, joinedMarkup, type Markup, markup } from './markup.js';

const PER_ROW = 8;
/** More rows than this of the same bytes, without a field or a note in them, become one. */
const SAME_ROWS = 2;
const SHOWN_VALUE = 160;

export function hexdumpTable(view: HexView, title: string): Markup {
  const end = view.base + view.bytes.length;
  if (view.bytes.length === 0) return markup`<p class="muted">No byte to show at ${view.base}.</p>`;
  const first = view.base - (view.base % PER_ROW);
  const rows: Markup[] = [];
  for (let at = first; at < end; at += PER_ROW) {
    const same = sameRows(view, at, first, end);
    if (same > SAME_ROWS) {
      const to = Math.min(end, at + same * PER_ROW);
      rows.push(
        markup`<tr><th scope="row">*</th><td colspan="3">${grouped(same)} more rows of the same bytes, ${at}..${to}</td></tr>`,
      );
      at += (same - 1) * PER_ROW;
    } else rows.push(rowOf(view, at));
  }
  const caption = `Bytes ${view.base}..${end} of ${bytesOf(view.size)}, positions in decimal${view.damaged.length > 0 ? '; damaged bytes are framed' : ''}`;
  return markup`<div class="scroll hex" role="region" aria-label="${title}" tabindex="0"><table><caption>${caption}</caption>
<thead><tr><th scope="col">position</th><th scope="col">bytes</th><th scope="col">text</th><th scope="col">fields that begin here</th></tr></thead>
<tbody class="mono">${rows}</tbody></table></div>`;
}

function rowOf(view: HexView, at: number): Markup {
  const fields = view.fields.filter(({ start }) => inRow(start, at)).map((span) => fieldItem(span, view.damaged));
  const notes = view.notes
    .filter(({ position }) => inRow(position, at))
    .map(({ position, text }) => markup`<li>^ byte ${position}: ${text}</li>`);
  const list = fields.length + notes.length === 0 ? null : markup`<ul>${[...fields, ...notes]}</ul>`;
  return markup`<tr><th scope="row" class="n">${at}</th><td class="b">${cellsOf(view, at)}</td><td class="b">${asciiOf(view, at)}</td><td class="fields">${list}</td></tr>`;
}

function inRow(position: number, at: number): boolean {
  return position >= at && position < at + PER_ROW;
}

function fieldItem(span: FieldSpan, damaged: readonly ByteRange[]): Markup {
  const hurt = damaged.some(({ from, to }) => from < span.end && span.start < to);
  const bits = (span.bits ?? []).map(({ name, value }) => `${name} ${value}`).join(', ');
  const value = clipped(fieldValueText(span), SHOWN_VALUE);
  const text = `${span.name} = ${value}${bits === '' ? '' : ` (${bits})`}`;
  return hurt ? markup`<li class="hurt">! ${text}</li>` : markup`<li>${text}</li>`;
}

/** How many rows from this one on look like the row before it and have nothing to say. */
function sameRows(view: HexView, from: number, first: number, end: number): number {
  if (from === first) return 0;
  const before = plainRow(view, from - PER_ROW);
  let at = from;
  while (at < end && !speaks(view, at) && plainRow(view, at) === before) at += PER_ROW;
  return (at - from) / PER_ROW;
}

function speaks(view: HexView, at: number): boolean {
  return (
    view.fields.some(({ start }) => inRow(start, at)) ||
    view.notes.some(({ position }) => inRow(position, at)) ||
    (view.at !== null && inRow(view.at, at))
  );
}

function plainRow(view: HexView, at: number): string {
  return bytesAt(view, at)
    .map(({ byte, hurt }) => `${byte ?? ''}${hurt}`)
    .join();
}

function bytesAt(view: HexView, at: number): { readonly byte: number | undefined; readonly hurt: boolean }[] {
  return Array.from({ length: PER_ROW }, (_, column) => {
    const position = at + column;
    const byte = position < view.base ? undefined : view.bytes[position - view.base];
    const hurt = byte !== undefined && view.damaged.some(({ from, to }) => from <= position && position < to);
    return { byte, hurt };
  });
}

/** Hex digits, damaged runs framed. */
function cellsOf(view: HexView, at: number): Markup {
  const pieces: Markup[] = [];
  let run = '';
  let inside = false;
  const flush = (): void => {
    if (run !== '') pieces.push(inside ? markup`<mark>${run}</mark>` : markup`${run}`);
    run = '';
  };
  bytesAt(view, at).forEach(({ byte, hurt }, column) => {
    const space = column === 0 ? '' : ' ';
    if (hurt !== inside) {
      if (!hurt || run !== '') {
        flush();
        pieces.push(markup`${space}`);
      }
      flush();
      inside = hurt;
      run = byte === undefined ? '  ' : hexByte(byte);
      return;
    }
    run += space + (byte === undefined ? '  ' : hexByte(byte));
  });
  flush();
  return joinedMarkup(pieces);
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function asciiOf(view: HexView, at: number): string {
  return bytesAt(view, at)
    .map(({ byte }) => (byte === undefined ? ' ' : byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'))
    .join('');
}
