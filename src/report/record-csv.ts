/**
 * Records as CSV (RFC 4180, but for line feeds alone): a line of titles, then a line for each row, payloads as base64.
 *
 * Damage and missing ranges are rows of their own type, so that nobody takes what is left for all there was. No field
 * holds a control character.
 */

import type { DamageRow, DumpSummary, MissingRow, RecordPlace, RecordView } from '../domain/record-view.js';
import { printable } from '../domain/wording.js';
import { ByteWriter, dataOf, Literal } from './byte-writer.js';
import type { RecordReport } from './record-report.js';

const TITLES = [
  'type',
  'shard',
  'segment',
  'position',
  'offset',
  'timestamp_micros',
  'kind',
  'producer',
  'sequence',
  'batch_index',
  'batch_length',
  'generation',
  'bytes',
  'checksum',
  'payload_crc',
  'payload_base64',
  'end_position',
  'lost_from',
  'lost_to',
  'message',
] as const;
type Title = (typeof TITLES)[number];
type Row = { readonly [K in Title]?: string | number | bigint | null };

const BEHIND = ','.repeat(TITLES.length - TITLES.indexOf('payload_base64') - 1);
const COMMA = 0x2c;
const CHECKSUM = new Literal(',0x');
const HEX = new Literal('0x');
/** Of a record without a mark: its kind, and nothing up to the generation. */
const PLAIN = 'plain,,,,,';
/** All of a line but what is written with `text`, and the payload. */
const LINE_BYTES = 256;

export class RecordCsv implements RecordReport {
  readonly out = new ByteWriter();
  #shard = '';
  /** The fields of a record that are the same for all of a segment. */
  #front = '';

  start(): void {
    this.out.text(`${TITLES.join(',')}\n`);
  }

  place({ shard, segment }: RecordPlace): void {
    this.#shard = shard;
    this.#front = `record,${field(shard)},${segment},`;
  }

  record(view: RecordView): void {
    this.begin(view);
    this.out.base64(view.bytes, view.data, view.payloadStart, view.payloadEnd);
    this.end();
  }

  /** Everything in front of the payload, in the order of the titles. */
  begin(view: RecordView): number {
    const { out } = this;
    out.ensure(LINE_BYTES);
    out.text(this.#front);
    out.decimal(view.position);
    out.byte(COMMA);
    out.u64(view.offsetHigh, view.offsetLow);
    out.byte(COMMA);
    out.u64(view.timestampHigh, view.timestampLow);
    out.byte(COMMA);
    out.text(view.kind === 'plain' ? PLAIN : markFields(view));
    out.ensure(LINE_BYTES);
    out.byte(COMMA);
    out.decimal(view.payloadBytes);
    out.literal(CHECKSUM);
    out.hex32(view.checksum);
    out.byte(COMMA);
    if (view.payloadCrc !== null) {
      out.literal(HEX);
      out.hex32(view.payloadCrc);
    }
    out.byte(COMMA);
    return view.payloadBytes;
  }

  piece(bytes: Uint8Array): void {
    this.out.base64(bytes, dataOf(bytes), 0, bytes.length);
  }

  again(): boolean {
    return false;
  }

  end(complete = true): void {
    this.out.text(`${BEHIND}${complete ? '' : 'incomplete: a read failed'}\n`);
  }

  damage(row: DamageRow): void {
    this.#line({
      type: 'damage',
      shard: this.#shard,
      segment: row.segment,
      position: row.position,
      offset: row.offset,
      kind: row.kind,
      end_position: row.damagedRange?.to ?? null,
      lost_from: row.lostOffsets?.from ?? null,
      lost_to: row.lostOffsets?.to ?? null,
      message: row.message,
    });
  }

  missing(row: MissingRow): void {
    this.#line({ type: 'missing', kind: row.where, lost_from: row.from, lost_to: row.to, message: row.message });
  }

  finish(_summary: DumpSummary, _partial: boolean): void {}

  #line(row: Row): void {
    this.out.text(`${TITLES.map((title) => field(row[title])).join(',')}\n`);
  }
}

function field(value: string | number | bigint | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = printable(value);
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function markFields({ kind, batch, generation }: RecordView): string {
  const place = batch === null ? ',,,' : `${batch.producer},${batch.sequence},${batch.index},${batch.length}`;
  return `${kind},${place},${generation ?? ''}`;
}
