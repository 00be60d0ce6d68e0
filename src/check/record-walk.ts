/**
 * Every record of a shard in the order of the log, with the damage between them, shown to a sink.
 *
 * Going on behind damage is the scan's business, and what one segment says of the next is added here: an offset out of
 * order at a seam, how much damage at the end of a segment swallowed, which batch a continuing record belongs to. The walk
 * is a generator that yields after each window; memory depends on nothing that is on the disk.
 */

import type { FindingDetails, FindingKind } from '../domain/finding.js';
import type { BatchPlace, DamageRow, Disclosure, RecordSink } from '../domain/record-view.js';
import { type OffsetRange, U64_MAX } from '../domain/units.js';
import { crc32, crc32Range } from '../format/checksum.js';
import { decodeTag, RECORD_HEADER_LEN } from '../format/record.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage } from '../scan/range-scan.js';
import { type LongPayload, type RecordConsumer, type StreamedRecord, streamRecords } from '../scan/record-stream.js';
import type { ReadProblem } from '../scan/segment-file.js';
import { allZeros } from '../scan/zeros.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { type LogFiles, type LogSegment, openSegment } from './log-files.js';
import { makeFinding } from './make-finding.js';
import { type DecodeAs, decodeLongPayload, decodePayload } from './payloads.js';
import { type RecordConditions, RecordFilter } from './record-filter.js';

export interface RecordQuery extends RecordConditions {
  /** Only the segment of this id. */
  readonly segment: bigint | null;
  /** So many records at most. */
  readonly limit: number | null;
  readonly disclosure: Disclosure;
  readonly decode: DecodeAs | null;
  /** Begin and end reading by index and base offsets; without, everything is read. */
  readonly useIndex: boolean;
  readonly windowBytes?: number;
}

/** A record boundary. */
export interface StartPoint {
  /** Its place in the list of segments. */
  readonly segment: number;
  readonly position: number;
  /** The offset due there; null when only the first intact record can tell. */
  readonly expected: bigint | null;
}

/** A batch as its records go by. The offset due next is kept in halves: a bigint a record would cost more than all else. */
class OpenBatch implements BatchPlace {
  readonly producer: bigint;
  readonly sequence: bigint;
  readonly length: number;
  index = 0;
  #nextHigh: number;
  #nextLow: number;

  constructor({ bytes, at, offsetHigh, offsetLow }: StreamedRecord) {
    const tag = decodeTag(bytes, at + RECORD_HEADER_LEN);
    this.producer = tag.producerId;
    this.sequence = tag.sequence;
    this.length = tag.len;
    this.#nextHigh = offsetHigh;
    this.#nextLow = offsetLow;
    this.#advance();
  }

  /** Takes the next record in; false when it does not belong here. */
  continues({ kind, offsetHigh, offsetLow }: StreamedRecord): boolean {
    if (kind !== 'continues' || this.index + 1 >= this.length) return false;
    if (offsetLow !== this.#nextLow || offsetHigh !== this.#nextHigh) return false;
    this.index++;
    this.#advance();
    return true;
  }

  #advance(): void {
    this.#nextLow = (this.#nextLow + 1) >>> 0;
    if (this.#nextLow === 0) this.#nextHigh++;
  }
}

const NO_BYTES = new Uint8Array();

export class RecordWalk implements RecordConsumer {
  readonly #log: LogFiles;
  readonly #query: RecordQuery;
  readonly #filter: RecordFilter;
  readonly #sink: RecordSink;
  /** Records that match and are passed over before the first one is shown. */
  #skip: number;
  /** Damage in front of the first record shown is not asked for. */
  readonly #isTail: boolean;
  #at = 0;
  #segment!: LogSegment;
  #source: ByteSource | null = null;
  #batch: OpenBatch | null = null;
  /** Nothing more of this segment is asked for. */
  #past = false;
  /** A record is being shown in pieces, and it is shown to its end even when it is the last one asked for. */
  #handing = false;
  /** Records shown. */
  shown = 0;
  damaged = 0;
  unreadable = 0;
  /** As many records as were asked for have been shown. */
  full = false;
  /** What the last segment that was read to its end leads to expect next. */
  nextOffset: bigint | null = null;

  constructor(log: LogFiles, query: RecordQuery, sink: RecordSink, skip = 0) {
    this.#log = log;
    this.#query = query;
    this.#filter = new RecordFilter(query);
    this.#sink = sink;
    this.#skip = skip;
    this.#isTail = skip > 0;
    this.full = query.limit === 0;
  }

  *run(start: StartPoint): Generator<number, void> {
    const { segments } = this.#log;
    let walked: number | null = null;
    for (let at = start.segment; at < segments.length && !this.full; at++) {
      const segment = segments[at]!;
      if (this.#query.segment !== null && segment.id !== this.#query.segment) continue;
      const expected = walked === at - 1 ? this.nextOffset : null;
      if (walked !== at - 1) this.#batch = null;
      this.#enter(at, segment);
      if (this.#liesBehind(segment)) {
        if (expected !== null) this.#seam(segment, expected);
        this.nextOffset = null;
        continue;
      }
      const isFirst = at === start.segment;
      if (isFirst && start.position > SEGMENT_HEADER_LEN) yield* this.#stream(start.position, start.expected);
      else if (this.#begin(segment, expected)) {
        yield* this.#stream(SEGMENT_HEADER_LEN, segment.header?.baseOffset ?? null);
      } else this.nextOffset = null;
      walked = at;
    }
  }

  #enter(at: number, segment: LogSegment): void {
    this.#at = at;
    this.#segment = segment;
    this.#past = false;
    this.#sink.place({ shard: this.#log.subject.label, segment: segment.id });
  }

  /** No offset that is asked for is in the segment, as its header tells. */
  #liesBehind({ header }: LogSegment): boolean {
    const { to, useIndex } = this.#query;
    return useIndex && to !== null && header !== null && header.baseOffset >= to;
  }

  /** Shows what is wrong with the beginning of a segment; false when its records are not to be read. */
  #begin(segment: LogSegment, expected: bigint | null): boolean {
    const { headerDamage, problem, size } = segment;
    if (problem !== null) {
      this.#unreadable(problem);
      return false;
    }
    if (headerDamage !== null) {
      const { kind, ...detail } = headerDamage;
      const isOther = kind === 'SegmentVersion' || size < SEGMENT_HEADER_LEN;
      const range = { from: 0, to: isOther ? size : SEGMENT_HEADER_LEN };
      this.#row({ kind, detail, position: 0, damagedRange: range, lostOffsets: null });
      return !isOther;
    }
    if (expected !== null) this.#seam(segment, expected);
    return true;
  }

  /** Shows offsets out of order between two segments. */
  #seam({ header }: LogSegment, expected: bigint): void {
    const found = header!.baseOffset;
    if (found === expected || this.#endsInDamage) return;
    this.#batch = null;
    const lostOffsets = found > expected ? { from: expected, to: found } : null;
    if (!this.#concerns(lostOffsets, found)) return;
    this.#row({ kind: 'OffsetOutOfOrder', detail: { expected, found }, position: 0, damagedRange: null, lostOffsets });
  }

  /** Damage at the end of the segment in front accounts for the offsets that are missing at the seam. */
  #endsInDamage = false;

  *#stream(start: number, expected: bigint | null): Generator<number, void> {
    const segment = this.#segment;
    this.#endsInDamage = false;
    try {
      const opened = openSegment(segment, false);
      this.#source = opened.source;
      try {
        const request = {
          start,
          expected,
          version: segment.header?.version ?? 4,
          ...(this.#query.windowBytes === undefined ? {} : { windowBytes: this.#query.windowBytes }),
        };
        const scan = streamRecords(opened.source, request, this);
        for (;;) {
          const step = scan.next();
          if (step.done) {
            this.nextOffset = step.value.nextOffset;
            const { stopped, end } = step.value;
            if (stopped !== null) this.#unreadable({ ...stopped, position: end });
            return;
          }
          if ((this.full || this.#past) && !this.#handing) {
            this.nextOffset = null;
            return;
          }
          yield step.value;
        }
      } finally {
        this.#source = null;
        opened.close();
      }
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      this.nextOffset = null;
      this.#unreadable(failure);
    }
  }

  record(record: StreamedRecord): void {
    if (this.#passesOver(record) || !this.#filter.contains(record) || !this.#counts()) return;
    this.#prepare(record);
    if (this.#query.decode !== null) {
      const { bytes, payloadStart, payloadEnd } = record;
      record.decoded = decodePayload(record, bytes.subarray(payloadStart, payloadEnd), this.#query);
    }
    if (record.disclosure !== 'whole') {
      if (record.disclosure === 'digest') {
        const { bytes: plain, data, payloadStart, payloadEnd } = record;
        record.payloadCrc = crc32Range({ plain, data }, payloadStart, payloadEnd, 0) >>> 0;
      }
      withhold(record);
    }
    this.#sink.record(record);
  }

  *longRecord(record: StreamedRecord, payload: LongPayload): Generator<number, void> {
    if (this.#passesOver(record)) return;
    const at = record.position;
    const search = this.#filter.search();
    if (search !== null) {
      let found = false;
      for (const piece of payload.pieces()) {
        found = search.isIn(piece);
        if (found) break;
        yield at;
      }
      if (!found) return;
    }
    if (!this.#counts()) return;
    this.#handing = true;
    try {
      yield* this.#handOver(record, payload);
    } finally {
      this.#handing = false;
    }
  }

  *#handOver(record: StreamedRecord, payload: LongPayload): Generator<number, void> {
    const at = record.position;
    this.#prepare(record);
    if (this.#query.decode !== null) record.decoded = decodeLongPayload(record, payload, this.#query);
    if (record.disclosure !== 'whole') {
      if (record.disclosure === 'digest') {
        let crc = 0;
        for (const piece of payload.pieces()) {
          crc = crc32(piece, crc);
          yield at;
        }
        record.payloadCrc = crc;
      }
      withhold(record);
      this.#sink.record(record);
      return;
    }
    yield* this.#inPieces(record, payload);
  }

  *#inPieces(record: StreamedRecord, payload: LongPayload): Generator<number, void> {
    const wanted = this.#sink.begin(record);
    let complete = false;
    try {
      do {
        for (const piece of payload.pieces(wanted)) {
          this.#sink.piece(piece);
          yield record.position;
        }
      } while (this.#sink.again());
      complete = true;
    } finally {
      // Also when nobody asks for the rest: a record that has begun is always ended.
      this.#sink.end(complete);
    }
  }

  /** Follows batches, and tells whether the record is none of those asked for, its content aside. */
  #passesOver(record: StreamedRecord): boolean {
    if (this.full || this.#past) return true;
    record.batch = record.kind === 'plain' && this.#batch === null ? null : this.#follow(record);
    if (this.#filter.admits(record)) return false;
    if (this.#query.useIndex && this.#filter.isPast(record)) this.#past = true;
    return true;
  }

  /** The batch that the record belongs to ("Producer marks"); null when that is not known, or there is none. */
  #follow(record: StreamedRecord): BatchPlace | null {
    if (record.kind === 'opens') this.#batch = new OpenBatch(record);
    else if (this.#batch?.continues(record) !== true) this.#batch = null;
    return this.#batch;
  }

  /** True when the record that matches is one to show. */
  #counts(): boolean {
    if (this.#skip > 0) {
      this.#skip--;
      return false;
    }
    this.shown++;
    this.full = this.shown === this.#query.limit;
    return true;
  }

  #prepare(record: StreamedRecord): void {
    record.segment = this.#segment.id;
    record.disclosure = this.#query.disclosure;
    record.payloadCrc = null;
    record.decoded = null;
    record.takeGeneration();
  }

  damage(damage: Damage): void {
    if (this.full || this.#past) return;
    this.#batch = null;
    const { corruption, position, end, resumedAt, offset } = damage;
    const atEnd = end === this.#segment.size && end > position;
    const looksLike = this.#isZero(position, end) ? 'zeros' : null;
    const lost = damage.lost ?? (atEnd ? this.#lostAtEnd(offset, looksLike === 'zeros') : null);
    this.#endsInDamage = atEnd && damage.lost === null;
    if (!this.#concerns(lost, offset)) return;
    const { kind, ...fields } = corruption;
    const detail = { ...fields, resumedAt, ...(offset === null ? {} : { offset }) };
    const damagedRange = end > position ? { from: position, to: end } : null;
    this.#row({ kind, detail, position, damagedRange, lostOffsets: lost, resumedAt, offset, looksLike });
  }

  /** Unwritten space is told from bytes that are wrong. */
  #isZero(from: number, to: number): boolean {
    try {
      return this.#source !== null && to > from && allZeros(this.#source, from, to);
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      return false;
    }
  }

  /** What damage at a segment's end cost: up to the next segment, and nothing where space was never written. */
  #lostAtEnd(expected: bigint | null, unwritten: boolean): OffsetRange | null {
    if (expected === null) return null;
    const next = this.#log.segments[this.#at + 1];
    if (next === undefined) return unwritten ? { from: expected, to: expected } : null;
    const base = next.header?.baseOffset ?? null;
    return base !== null && base > expected ? { from: expected, to: base } : null;
  }

  /** Whether damage may have cost records of the range asked for; what is not known counts as may. */
  #concerns(lost: OffsetRange | null, offset: bigint | null): boolean {
    const from = this.#query.from ?? 0n;
    const to = this.#query.to ?? U64_MAX + 1n;
    if (lost !== null && lost.to > lost.from) return lost.from < to && lost.to > from;
    if (offset === null) return true;
    return offset < to && (lost === null || offset >= from);
  }

  #unreadable({ code, message, position }: ReadProblem): void {
    const range = { from: Math.min(position, this.#segment.size), to: this.#segment.size };
    const detail = { reason: message, code };
    this.unreadable++;
    this.#show({ kind: 'Unreadable', detail, position, damagedRange: range, lostOffsets: null });
  }

  #row(draft: DamageDraft): void {
    if (this.#isTail && this.shown === 0) return;
    this.damaged++;
    this.#show(draft);
  }

  #show(draft: DamageDraft): void {
    this.#sink.damage(damageRow(this.#log, this.#segment, draft));
  }
}

interface DamageDraft extends Pick<DamageRow, 'kind' | 'detail' | 'position' | 'damagedRange' | 'lostOffsets'> {
  readonly resumedAt?: number | null;
  readonly offset?: bigint | null;
  readonly looksLike?: string | null;
}

function damageRow(log: LogFiles, segment: LogSegment, draft: DamageDraft): DamageRow {
  const { kind, position, damagedRange, lostOffsets } = draft;
  const finding = makeFinding(log.subject, {
    kind,
    severity: 'error',
    file: segment.file,
    segment: segment.id,
    position,
    // The caller made the detail for this very kind, which the union cannot express.
    detail: draft.detail as FindingDetails[FindingKind],
    lostOffsets,
    damagedRange,
    looksLike: draft.looksLike ?? null,
    context: { newest: segment === log.segments.at(-1) },
  });
  return {
    kind,
    segment: segment.id,
    file: segment.file,
    path: finding.path,
    position,
    damagedRange,
    resumedAt: draft.resumedAt ?? null,
    offset: draft.offset ?? null,
    lostOffsets,
    detail: draft.detail,
    message: finding.message,
  };
}

/** Takes the payload out of what is shown. */
function withhold(record: StreamedRecord): void {
  record.bytes = NO_BYTES;
  record.payloadStart = 0;
  record.payloadEnd = 0;
}
