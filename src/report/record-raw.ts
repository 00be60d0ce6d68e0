/**
 * Payloads alone, byte for byte, with something between them. Not for a terminal.
 *
 * Generation starts belong to the replication protocol and are passed over unless they alone were asked for. Damage and
 * missing ranges have no place among payloads: they are handed on as sentences.
 */

import type { DamageRow, Delimiter, DumpSummary, MissingRow, RecordView } from '../domain/record-view.js';
import { printable } from '../domain/wording.js';
import { ByteWriter } from './byte-writer.js';
import type { RecordReport } from './record-report.js';

export class RecordRaw implements RecordReport {
  readonly out = new ByteWriter();
  readonly #delimiter: Delimiter;
  readonly #generationStarts: boolean;
  readonly #say: (sentence: string) => void;
  #passedOver = false;

  constructor(delimiter: Delimiter, generationStarts: boolean, say: (sentence: string) => void) {
    this.#delimiter = delimiter;
    this.#generationStarts = generationStarts;
    this.#say = say;
  }

  start(): void {}

  place(): void {}

  record(view: RecordView): void {
    if (this.begin(view) === 0 && this.#passedOver) return;
    this.out.raw(view.bytes.subarray(view.payloadStart, view.payloadEnd));
    this.end();
  }

  begin(view: RecordView): number {
    this.#passedOver = view.kind === 'generation-start' && !this.#generationStarts;
    if (this.#passedOver) return 0;
    if (this.#delimiter === 'length') {
      this.out.ensure(4);
      for (let shift = 24; shift >= 0; shift -= 8) this.out.byte((view.payloadBytes >>> shift) & 255);
    }
    return view.payloadBytes;
  }

  piece(bytes: Uint8Array): void {
    this.out.raw(bytes);
  }

  again(): boolean {
    return false;
  }

  end(): void {
    if (this.#passedOver || this.#delimiter === 'length') return;
    this.out.ensure(1);
    this.out.byte(this.#delimiter === 'nul' ? 0 : 0x0a);
  }

  damage(row: DamageRow): void {
    this.#say(printable(`${row.file}: ${row.kind}: ${row.message}`));
  }

  missing(row: MissingRow): void {
    this.#say(printable(row.message));
  }

  finish(_summary: DumpSummary, _partial: boolean): void {}
}
