/**
 * Records as JSON ("felix-fsck.dump-records/1"): a line each, or all in one document.
 *
 * Every line stands alone and parses whatever a payload holds: it is there as base64, and as text besides when it is
 * UTF-8. Lines are written by hand into a buffer; payloads that come in pieces are passed on piece by piece.
 */

import type { DamageRow, DumpSummary, MissingRow, RecordPlace, RecordView } from '../domain/record-view.js';
import { ByteWriter, dataOf, Literal } from './byte-writer.js';
import { type ToolIdentity, toJson } from './json.js';
import type { RecordReport } from './record-report.js';

const DUMP_SCHEMA = 'felix-fsck.dump-records/1';

const OFFSET = new Literal(',"offset":"');
const TIMESTAMP = new Literal('","timestampMicros":"');
const PLAIN = new Literal('","kind":"plain","batch":null,"bytes":');
const KIND = new Literal('","kind":"');
const OPENS = new Literal('","kind":"opens","batch":{"producer":"');
const CONTINUES = new Literal('","kind":"continues","batch":{"producer":"');
const SEQUENCE = new Literal('","sequence":"');
const INDEX = new Literal('","index":');
const LENGTH = new Literal(',"length":');
const BYTES = new Literal(',"bytes":');
const CHECKSUM = new Literal(',"checksum":"0x');
const PAYLOAD_CRC = new Literal('","payloadCrc":"0x');
const PAYLOAD = new Literal('","payload":"');
const TEXT = new Literal('","text":');
const QUOTE = 0x22;
const BRACE = 0x7d;
/** All of a line but shard, payload and what is written with `text`. */
const LINE_BYTES = 512;

export class RecordJson implements RecordReport {
  readonly out = new ByteWriter();
  readonly #tool: ToolIdentity;
  readonly #document: boolean;
  #rows = 0;
  #front = new Literal('');
  #long: LongText | null = null;
  #shard = '';
  readonly #producer = new Halves();
  readonly #sequence = new Halves();

  /** One document, or else a line for each row. */
  constructor(tool: ToolIdentity, document: boolean) {
    this.#tool = tool;
    this.#document = document;
  }

  start(): void {
    if (!this.#document) return;
    const head = toJson({ schema: DUMP_SCHEMA, tool: { name: this.#tool.name, version: this.#tool.version } });
    this.out.text(`${head.slice(0, -1)},"rows":[`);
  }

  place({ shard, segment }: RecordPlace): void {
    this.#shard = shard;
    const front = `{"type":"record","shard":${toJson(shard)},"segment":"${segment}","position":`;
    this.#front = new Literal(
      front.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
  }

  record(view: RecordView): void {
    this.#fields(view);
    const { out } = this;
    if (view.disclosure === 'whole') {
      const { bytes, data, payloadStart, payloadEnd } = view;
      out.literal(PAYLOAD);
      out.base64(bytes, data, payloadStart, payloadEnd);
      out.ensure(LINE_BYTES);
      out.literal(TEXT);
      out.jsonText(bytes, data, payloadStart, payloadEnd);
    } else {
      if (view.payloadCrc !== null) {
        out.literal(PAYLOAD_CRC);
        out.hex32(view.payloadCrc);
      }
      out.byte(QUOTE);
    }
    this.#close();
  }

  /** Everything in front of the payload, up to the quote behind the checksum. */
  #fields(view: RecordView): void {
    const { out } = this;
    this.#open();
    out.ensure(this.#front.length + LINE_BYTES);
    out.literal(this.#front);
    out.decimal(view.position);
    out.literal(OFFSET);
    out.u64(view.offsetHigh, view.offsetLow);
    out.literal(TIMESTAMP);
    out.u64(view.timestampHigh, view.timestampLow);
    this.#mark(view);
    out.decimal(view.payloadBytes);
    if (view.decoded !== null) {
      out.text(`,"decoded":${toJson(view.decoded)}`);
      out.ensure(LINE_BYTES);
    }
    out.literal(CHECKSUM);
    out.hex32(view.checksum);
  }

  /** The kind, and what the marks of the record say, up to its bytes. */
  #mark(view: RecordView): void {
    const { out } = this;
    const { kind, batch } = view;
    if (kind === 'plain') {
      out.literal(PLAIN);
      return;
    }
    if (batch === null) {
      out.literal(KIND);
      out.text(markJson(view));
      out.ensure(LINE_BYTES);
      out.literal(BYTES);
      return;
    }
    out.literal(kind === 'opens' ? OPENS : CONTINUES);
    this.#producer.take(batch.producer).write(out);
    out.literal(SEQUENCE);
    this.#sequence.take(batch.sequence).write(out);
    out.literal(INDEX);
    out.decimal(batch.index);
    out.literal(LENGTH);
    out.decimal(batch.length);
    out.byte(BRACE);
    out.literal(BYTES);
  }

  begin(view: RecordView): number {
    this.#fields(view);
    this.out.literal(PAYLOAD);
    this.#long = new LongText();
    return Number.POSITIVE_INFINITY;
  }

  piece(bytes: Uint8Array): void {
    const long = this.#long!;
    if (!long.isText) {
      this.out.base64(bytes, dataOf(bytes), 0, bytes.length);
      long.check(bytes);
    } else this.out.text(long.escaped(bytes));
  }

  again(): boolean {
    const long = this.#long!;
    if (long.isText || !long.isUtf8()) return false;
    long.isText = true;
    this.out.text('","text":"');
    return true;
  }

  end(complete: boolean): void {
    const isText = this.#long?.isText === true;
    this.#long = null;
    this.out.text(isText ? '"' : '","text":null');
    if (!complete) this.out.text(',"incomplete":true');
    this.#close();
  }

  damage(row: DamageRow): void {
    this.#row({
      type: 'damage',
      shard: this.#shard,
      segment: row.segment,
      kind: row.kind,
      file: row.file,
      path: row.path,
      position: row.position,
      damagedRange: row.damagedRange,
      lostOffsets: row.lostOffsets,
      detail: row.detail,
      message: row.message,
    });
  }

  missing(row: MissingRow): void {
    const { from, to, where, objects, objectCount, message } = row;
    this.#row({ type: 'missing', offsets: { from, to }, where, objects, objectCount, message });
  }

  finish(summary: DumpSummary, partial: boolean): void {
    const { shards, records, damaged, unreadable, missing, exitCode } = summary;
    const counts = { shards, records, damaged, unreadable, missing, exitCode };
    if (this.#document)
      this.out.text(`${this.#rows > 0 ? '\n' : ''}],"partial":${partial},"summary":${toJson(counts)}}\n`);
    else {
      const tool = { name: this.#tool.name, version: this.#tool.version };
      this.out.text(`${toJson({ type: 'summary', schema: DUMP_SCHEMA, tool, partial, ...counts })}\n`);
    }
  }

  #row(row: object): void {
    this.#open();
    this.out.text(toJson(row).slice(0, -1));
    this.#close();
  }

  #open(): void {
    if (this.#document) this.out.text(this.#rows > 0 ? ',\n' : '\n');
    this.#rows++;
  }

  #close(): void {
    this.out.ensure(2);
    this.out.byte(BRACE);
    if (!this.#document) this.out.byte(0x0a);
  }
}

/** The kind of a record that is in no batch that is known. */
function markJson({ kind, generation }: RecordView): string {
  const start = kind === 'generation-start' ? `,"generation":${generation === null ? 'null' : `"${generation}"`}` : '';
  return `${kind}","batch":null${start}`;
}

/** A u64 that stays the same for many records, in the halves that a writer takes. */
class Halves {
  #value = 0n;
  #high = 0;
  #low = 0;

  take(value: bigint): this {
    if (value === this.#value) return this;
    this.#value = value;
    this.#high = Number(value >> 32n);
    this.#low = Number(value & 0xffff_ffffn);
    return this;
  }

  write(out: ByteWriter): void {
    out.u64(this.#high, this.#low);
  }
}

/** A payload in pieces: whether all of it is UTF-8, and the same as text for JSON. */
class LongText {
  /** The pieces come for the second time. */
  isText = false;
  readonly #checker = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #valid = true;

  check(bytes: Uint8Array): void {
    if (!this.#valid) return;
    try {
      this.#checker.decode(bytes, { stream: true });
    } catch {
      this.#valid = false;
    }
  }

  isUtf8(): boolean {
    if (!this.#valid) return false;
    try {
      this.#checker.decode();
      return true;
    } catch {
      return false;
    }
  }

  escaped(bytes: Uint8Array): string {
    return toJson(this.#decoder.decode(bytes, { stream: true })).slice(1, -1);
  }
}
