/**
 * The records of a segment, one after another, with views of their payloads.
 *
 * The walk is the scan's own (contract, section 6), so that a reader of records goes on behind damage exactly where a
 * verification does. Nothing is copied: a record is valid while it is being shown. One that is longer than the window
 * gives its payload in pieces, read again from the file once the whole of it has verified; memory stays that of the window
 * and of one piece, whatever a record's length.
 */

import type { BatchPlace, DecodedPayload, Disclosure, RecordView } from '../domain/record-view.js';
import {
  CONTINUES_BIT,
  GENERATION_START_BIT,
  OPENS_BIT,
  RECORD_HEADER_LEN,
  RECORD_TAG_LEN,
  type RecordKind,
} from '../format/record.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import type { Damage, RangeScan } from './range-scan.js';
import type { RecordVisitor } from './record-visitor.js';
import { scanRange } from './segment-scan.js';
import type { Window } from './window.js';

/** Small enough to stay in a processor's cache beside what is made of it. */
const STREAM_WINDOW_BYTES = 64 * 1024;
/** A multiple of three, so that base64 of the pieces is that of the whole. */
export const PIECE_BYTES = 192 * 1024;

/** Nobody asks here what is odd about a time, and looking closely would cost more than the record. */
const NEVER_AHEAD = 1n << 63n;

export interface StreamRequest {
  /** A record boundary. */
  readonly start: number;
  /** The offset due there; null that the first intact record decides. */
  readonly expected: bigint | null;
  readonly version: number;
  readonly windowBytes?: number;
}

export interface RecordConsumer {
  /** An intact record with its payload. */
  record(record: StreamedRecord): void;
  /** An intact record longer than the window. Yields as often as it likes. */
  longRecord(record: StreamedRecord, payload: LongPayload): Generator<number, void>;
  damage(damage: Damage): void;
}

/** The record at hand. One object for all of them: keep nothing of it. What the stream does not know is its reader's to fill in. */
export class StreamedRecord implements RecordView {
  segment = 0n;
  batch: BatchPlace | null = null;
  generation: bigint | null = null;
  disclosure: Disclosure = 'whole';
  payloadCrc: number | null = null;
  decoded: DecodedPayload | null = null;
  position = 0;
  recordBytes = 0;
  offsetHigh = 0;
  offsetLow = 0;
  timestampHigh = 0;
  timestampLow = 0;
  kind: RecordKind = 'plain';
  checksum = 0;
  payloadBytes = 0;
  bytes: Uint8Array = new Uint8Array();
  data: DataView = new DataView(new ArrayBuffer(0));
  /** Where the header begins in `bytes`; the tag of an opening record lies behind its 28 bytes. */
  at = 0;
  /** The payload in `bytes`; empty for a long record. */
  payloadStart = 0;
  payloadEnd = 0;

  take(bytes: Uint8Array, data: DataView, at: number, kindBits: number, position: number, total: number): void {
    const head = kindBits === OPENS_BIT >>> 29 ? RECORD_HEADER_LEN + RECORD_TAG_LEN : RECORD_HEADER_LEN;
    this.position = position;
    this.recordBytes = total;
    this.offsetHigh = data.getUint32(at + 4);
    this.offsetLow = data.getUint32(at + 8);
    this.timestampHigh = data.getUint32(at + 12);
    this.timestampLow = data.getUint32(at + 16);
    this.kind = kindBits === 0 ? 'plain' : kindOf(kindBits);
    this.checksum = data.getUint32(at + 24);
    this.payloadBytes = total - head;
    this.bytes = bytes;
    this.data = data;
    this.at = at;
    this.payloadStart = at + head;
    this.payloadEnd = at + total;
  }

  /** Fills in the generation that the record starts; null when it starts none. */
  takeGeneration(): void {
    const { kind, payloadBytes, data, payloadStart } = this;
    this.generation = kind === 'generation-start' && payloadBytes === 8 ? data.getBigUint64(payloadStart) : null;
  }

  /** The payload comes in pieces. */
  takeLong(head: DataView, position: number, total: number): void {
    this.take(new Uint8Array(head.buffer), head, 0, head.getInt32(0) >>> 29, position, total);
    this.payloadEnd = this.payloadStart;
  }
}

function kindOf(kindBits: number): RecordKind {
  if (kindBits === OPENS_BIT >>> 29) return 'opens';
  if (kindBits === CONTINUES_BIT >>> 29) return 'continues';
  return kindBits === GENERATION_START_BIT >>> 29 ? 'generation-start' : 'plain';
}

/** A payload that is read piece by piece. Reads throw `ReadFailure`. */
export class LongPayload {
  readonly length: number;
  readonly #source: ByteSource;
  readonly #position: number;
  readonly #piece: Uint8Array;

  constructor(source: ByteSource, position: number, length: number, piece: Uint8Array) {
    this.#source = source;
    this.#position = position;
    this.length = length;
    this.#piece = piece;
  }

  /** The first `limit` bytes; each piece is valid until the next one, and full but for the last. */
  *pieces(limit = this.length): Generator<Uint8Array, void> {
    const end = Math.min(limit, this.length);
    for (let done = 0; done < end; ) {
      const piece = this.#piece.subarray(0, Math.min(this.#piece.length, end - done));
      this.#fill(piece, this.#position + done);
      done += piece.length;
      yield piece;
    }
  }

  #fill(target: Uint8Array, position: number): void {
    for (let done = 0; done < target.length; ) {
      const got = this.#source.readAt(target.subarray(done), position + done);
      if (got === 0) throw new ReadFailure('SHRANK', position + done, 'the file ended before the size it had');
      done += got;
    }
  }
}

/** Shows every record and every damage from a boundary to the end of the file. Yields the position after each window. */
export function* streamRecords(
  source: ByteSource,
  request: StreamRequest,
  consumer: RecordConsumer,
): Generator<number, RangeScan> {
  const shown = new Shown(consumer);
  const scan = scanRange(source, null, {
    start: request.start,
    until: Number.POSITIVE_INFINITY,
    expected: request.expected,
    version: request.version,
    mark: null,
    firstEntry: null,
    nowMicros: NEVER_AHEAD,
    windowBytes: request.windowBytes ?? STREAM_WINDOW_BYTES,
    visitor: shown,
  });
  let piece: Uint8Array | null = null;
  for (;;) {
    const step = scan.next();
    const { long } = shown;
    if (long !== null) {
      shown.long = null;
      piece ??= new Uint8Array(PIECE_BYTES);
      const record = shown.current;
      record.takeLong(long.head, long.position, long.end - long.position);
      const payload = new LongPayload(source, long.end - record.payloadBytes, record.payloadBytes, piece);
      yield* consumer.longRecord(record, payload);
    }
    if (step.done) return step.value;
    yield step.value;
  }
}

class Shown implements RecordVisitor {
  readonly current = new StreamedRecord();
  readonly #consumer: RecordConsumer;
  /** A long record that the consumer has not seen yet. */
  long: { readonly head: DataView; readonly position: number; readonly end: number } | null = null;

  constructor(consumer: RecordConsumer) {
    this.#consumer = consumer;
  }

  record(window: Window, at: number, kind: number, end: number): void {
    this.current.take(window.plain, window.data, at, kind, window.start + at, end - at);
    this.#consumer.record(this.current);
  }

  longRecord(head: DataView, position: number, end: number): void {
    this.long = { head, position, end };
  }

  damage(damage: Damage): void {
    this.#consumer.damage(damage);
  }
}
