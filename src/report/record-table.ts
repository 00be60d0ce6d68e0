/**
 * Records as a table for people, drawn in blocks as they come.
 *
 * How wide a column must be is known of one block at a time: columns only ever grow. Of a payload the beginning is shown,
 * in what the line has left.
 */

import type { DamageRow, Disclosure, DumpSummary, MissingRow, RecordPlace, RecordView } from '../domain/record-view.js';
import { ByteWriter } from './byte-writer.js';
import { joined, type Page, pageOf } from './page.js';
import type { RecordReport } from './record-report.js';
import {
  crcText,
  damageText,
  decodedText,
  kindText,
  offsetText,
  previewBytes,
  previewText,
  timeText,
  totalText,
} from './record-text.js';
import type { Style } from './style.js';
import { displayWidth, wrap } from './wrap.js';

const BLOCK_ROWS = 200;
const GAP = '  ';
/** A preview has at least so many columns, even when the line becomes longer than the terminal. */
const LEAST_PREVIEW = 16;

const TITLES = ['offset', 'time', 'kind', 'bytes', 'position'] as const;
const RIGHT = new Set(['offset', 'bytes', 'position']);

interface Cells {
  readonly cells: readonly string[];
  /** What stands in the last column, once its width is known. */
  readonly last: (columns: number) => string;
}

export class RecordTable implements RecordReport {
  readonly out = new ByteWriter();
  readonly #page: Page;
  readonly #disclosure: Disclosure;
  readonly #quiet: boolean;
  readonly #widths: number[] = TITLES.map((title) => title.length);
  #block: Cells[] = [];
  /** The titles that were drawn stand above the columns as they are. */
  #titled = false;
  #place: RecordPlace | null = null;
  #announced: RecordPlace | null = null;
  #long: { readonly cells: readonly string[]; readonly all: boolean; front: Uint8Array } | null = null;

  constructor(style: Style, disclosure: Disclosure, quiet: boolean) {
    this.#page = pageOf(style);
    this.#disclosure = disclosure;
    this.#quiet = quiet;
  }

  start(): void {}

  place(place: RecordPlace): void {
    this.#place = place;
  }

  record(view: RecordView): void {
    const page = this.#page;
    const cells = cellsOf(view);
    if (view.decoded !== null) {
      const text = decodedText(view.decoded, page);
      this.#add({ cells, last: () => text });
    } else if (view.disclosure === 'digest') {
      const text = crcText(view.payloadCrc ?? 0);
      this.#add({ cells, last: () => text });
    } else if (view.disclosure === 'none' || view.generation !== null) this.#add({ cells, last: () => '' });
    else {
      const end = Math.min(view.payloadEnd, view.payloadStart + previewBytes(page.width));
      this.#addPreview(cells, view.bytes.slice(view.payloadStart, end), end === view.payloadEnd);
    }
  }

  begin(view: RecordView): number {
    if (view.decoded !== null) {
      this.record(view);
      return 0;
    }
    const wanted = previewBytes(this.#page.width);
    this.#long = { cells: cellsOf(view), all: view.payloadBytes <= wanted, front: new Uint8Array() };
    return wanted;
  }

  piece(bytes: Uint8Array): void {
    this.#long!.front = bytes.slice();
  }

  again(): boolean {
    return false;
  }

  end(): void {
    if (this.#long !== null) this.#addPreview(this.#long.cells, this.#long.front, this.#long.all);
    this.#long = null;
  }

  damage(row: DamageRow): void {
    this.#announce();
    this.#draw();
    const lines = wrap(damageText(row, this.#page), this.#page.width, { first: '! ', rest: '  ' });
    this.out.text(joined(lines.map((line) => this.#page.paint.error(line))));
  }

  missing(row: MissingRow): void {
    this.#draw();
    const lines = wrap(this.#page.show(row.message), this.#page.width, { first: '- ', rest: '  ' });
    this.out.text(joined(lines.map((line) => this.#page.paint.warning(line))));
  }

  finish({ records, damaged, unreadable }: DumpSummary, partial: boolean): void {
    this.#draw();
    if (!this.#quiet) this.out.text(`${totalText(records, damaged, unreadable, partial)}\n`);
  }

  #addPreview(cells: readonly string[], front: Uint8Array, isAll: boolean): void {
    this.#add({ cells, last: (columns) => previewText(front, isAll, columns, this.#page) });
  }

  #add(row: Cells): void {
    this.#announce();
    this.#block.push(row);
    if (this.#block.length >= BLOCK_ROWS) this.#draw();
  }

  /** A line in front of the first row of a segment. */
  #announce(): void {
    if (this.#place === this.#announced || this.#place === null) return;
    this.#draw();
    this.#announced = this.#place;
    const { shard, segment } = this.#place;
    this.out.text(joined([this.#page.paint.strong(`${this.#page.show(shard)}, segment ${segment}`)]));
  }

  #draw(): void {
    const block = this.#block;
    if (block.length === 0) return;
    this.#block = [];
    const widths = this.#widths;
    for (const { cells } of block) {
      for (let i = 0; i < widths.length; i++) {
        const width = displayWidth(cells[i]!);
        if (width <= widths[i]!) continue;
        widths[i] = width;
        this.#titled = false;
      }
    }
    const used = widths.reduce((sum, width) => sum + width + GAP.length, 0);
    const columns = Math.max(LEAST_PREVIEW, this.#page.width - used);
    const lines = block.map(({ cells, last }) => this.#line(cells, last(columns)));
    if (!this.#titled) {
      this.#titled = true;
      const lastTitle = this.#disclosure === 'none' ? '' : 'payload';
      lines.unshift(this.#page.paint.faint(this.#line(TITLES, lastTitle)));
    }
    this.out.text(joined(lines));
  }

  #line(cells: readonly string[], last: string): string {
    const padded = cells.map((cell, i) => {
      const padding = ' '.repeat(Math.max(0, this.#widths[i]! - displayWidth(cell)));
      return RIGHT.has(TITLES[i]!) ? padding + cell : cell + padding;
    });
    return [...padded, last].join(GAP).trimEnd();
  }
}

function cellsOf(view: RecordView): string[] {
  return [offsetText(view), timeText(view), kindText(view), String(view.payloadBytes), String(view.position)];
}
