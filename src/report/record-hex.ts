/**
 * Records as a line about each and the bytes of its payload below: positions in the payload, hex digits, ASCII.
 */

import type { DamageRow, DumpSummary, MissingRow, RecordPlace, RecordView } from '../domain/record-view.js';
import { bytesOf } from '../domain/wording.js';
import { ByteWriter } from './byte-writer.js';
import { joined, type Page, pageOf } from './page.js';
import type { RecordReport } from './record-report.js';
import { crcText, damageText, decodedText, kindText, offsetText, timeText, totalText } from './record-text.js';
import type { Style } from './style.js';
import { wrap } from './wrap.js';

const PER_ROW = 16;
/** Indent, position, three columns a byte, and its ASCII. */
const ROW_BYTES = 2 + 8 + 2 + 3 * PER_ROW + 2 + PER_ROW + 2;
const SPACE = 0x20;
const BAR = 0x7c;
const DOT = 0x2e;

export class RecordHex implements RecordReport {
  readonly out = new ByteWriter();
  readonly #page: Page;
  readonly #quiet: boolean;
  #place: RecordPlace | null = null;
  #at = 0;

  constructor(style: Style, quiet: boolean) {
    this.#page = pageOf(style);
    this.#quiet = quiet;
  }

  start(): void {}

  place(place: RecordPlace): void {
    this.#place = place;
  }

  record(view: RecordView): void {
    this.begin(view);
    this.#rows(view.bytes, view.payloadStart, view.payloadEnd);
  }

  begin(view: RecordView): number {
    const page = this.#page;
    const parts = [
      `offset ${offsetText(view)}`,
      timeText(view),
      kindText(view),
      bytesOf(view.payloadBytes),
      `segment ${view.segment} position ${view.position}`,
    ];
    if (view.disclosure === 'digest' && view.payloadCrc !== null) parts.push(crcText(view.payloadCrc));
    if (view.decoded !== null) parts.push(decodedText(view.decoded, page));
    const shard = page.show(this.#place?.shard ?? '');
    const lines = wrap(`${shard}: ${parts.join(', ')}`, page.width, { rest: '  ' });
    this.out.text(joined(lines.map((line) => page.paint.strong(line))));
    this.#at = 0;
    return view.payloadBytes;
  }

  piece(bytes: Uint8Array): void {
    this.#rows(bytes, 0, bytes.length);
  }

  again(): boolean {
    return false;
  }

  end(complete: boolean): void {
    if (!complete) this.out.text('  (a read failed here)\n');
  }

  damage(row: DamageRow): void {
    const lines = wrap(damageText(row, this.#page), this.#page.width, { first: '! ', rest: '  ' });
    this.out.text(joined(lines.map((line) => this.#page.paint.error(line))));
  }

  missing(row: MissingRow): void {
    const lines = wrap(this.#page.show(row.message), this.#page.width, { first: '- ', rest: '  ' });
    this.out.text(joined(lines.map((line) => this.#page.paint.warning(line))));
  }

  finish({ records, damaged, unreadable }: DumpSummary, partial: boolean): void {
    if (!this.#quiet) this.out.text(`${totalText(records, damaged, unreadable, partial)}\n`);
  }

  #rows(bytes: Uint8Array, start: number, end: number): void {
    const { out } = this;
    for (let at = start; at < end; at += PER_ROW) {
      const stop = Math.min(end, at + PER_ROW);
      out.ensure(ROW_BYTES);
      spaces(out, 2);
      out.hex32(this.#at);
      spaces(out, 2);
      for (let i = at; i < at + PER_ROW; i++) {
        if (i < stop) out.hexByte(bytes[i]!);
        else spaces(out, 2);
        spaces(out, 1);
      }
      spaces(out, 1);
      out.byte(BAR);
      for (let i = at; i < stop; i++) out.byte(bytes[i]! >= SPACE && bytes[i]! < 0x7f ? bytes[i]! : DOT);
      out.byte(BAR);
      out.byte(0x0a);
      this.#at += stop - at;
    }
  }
}

function spaces(out: ByteWriter, count: number): void {
  for (let i = 0; i < count; i++) out.byte(SPACE);
}
