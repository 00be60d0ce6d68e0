/**
 * Records as JSON ("felix-fsck.dump-records/1"): a line each, or all in one document.
 *
 * Every line stands alone and parses whatever a payload holds: it is there as base64, and as text besides when it is
 * UTF-8. Lines are written by hand into a buffer; payloads that come in pieces are passed on piece by piece.
 */

import type { BatchPlace, DamageRow, DumpSummary, MissingRow, RecordPlace, RecordView } from '../domain/record-view.js';
import { ByteWriter, dataOf, Excerpt, Literal } from './byte-writer.js';
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
  /** How the mark begins of records that continue the batch of {@link #producer} and {@link #sequence}. */
  readonly #batch = new Excerpt(128);
  #producer: bigint | null = null;
  #sequence: bigint | null = null;

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
    const isKnown = kind === 'continues' && batch.sequence === this.#sequence && batch.producer === this.#producer;
    if (isKnown) out.literal(this.#batch);
    else this.#beginBatch(kind, batch);
    out.decimal(batch.index);
    out.literal(LENGTH);
    out.decimal(batch.length);
    out.byte(BRACE);
    out.literal(BYTES);
  }

  /** What is the same for the records of a batch that continue it is kept at the first of them. */
  #beginBatch(kind: RecordView['kind'], { producer, sequence }: BatchPlace): void {
    const { out } = this;
    const start = out.length;
    out.literal(kind === 'opens' ? OPENS : CONTINUES);
    out.u64(Number(producer >> 32n), Number(producer & 0xffff_ffffn));
    out.literal(SEQUENCE);
    out.u64(Number(sequence >> 32n), Number(sequence & 0xffff_ffffn));
    out.literal(INDEX);
    if (kind === 'opens') return;
    out.keep(start, this.#batch);
    this.#producer = producer;
    this.#sequence = sequence;
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
