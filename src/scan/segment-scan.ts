/**
 * The scan of a segment (contract, section 6): every record verified, going on behind damage to the end.
 *
 * One pass over each window, nothing allocated for a record that is whole. The scan is a generator that yields the
 * position reached after each window, so that its driver can show progress or stop; it does no waiting of its own.
 * A range may begin at any record boundary: `expected` says which offset is due there, null that the first intact record
 * decides. Relations to other files are not its business.
 */

import type { Corruption } from '../domain/finding.js';
import { assertNever } from '../domain/result.js';
import { U64_MAX } from '../domain/units.js';
import { u64From } from '../format/bytes.js';
import { crc32Loop, crc32Range, crc32Word, HeaderChecksums, hex32 } from '../format/checksum.js';
import {
  CONTINUES_BIT,
  LENGTH_MASK,
  MAX_PAYLOAD_BYTES,
  OPENS_BIT,
  RECORD_HEADER_LEN,
  RECORD_TAG_LEN,
  recordKind,
  versionForKind,
} from '../format/record.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { BatchTracker, noBatches } from './batches.js';
import { EntryCursor } from './index-scan.js';
import { LongChecksums } from './long-checksum.js';
import { type Damage, KEPT_DAMAGES, KEPT_NOTES, type OddityKind, type RangeScan } from './range-scan.js';
import type { RecordVisitor } from './record-visitor.js';
import { type Resync, resync } from './resync.js';
import { DEFAULT_WINDOW_BYTES, MIN_WINDOW_BYTES, Window } from './window.js';

export interface RangeRequest {
  /** A record boundary. */
  readonly start: number;
  /** The scan stops at the first record boundary at or behind this position. */
  readonly until: number;
  readonly expected: bigint | null;
  /** The segment's version, for the kinds of record it may hold. */
  readonly version: number;
  /** Where a broker would begin its own scan, and the offset it would expect there. */
  readonly mark: { readonly position: number; readonly offset: bigint } | null;
  /** First entry of the index to hold against the records of this range; null not to look at the index. */
  readonly firstEntry: number | null;
  /** For timestamps that lie far ahead. */
  readonly nowMicros: bigint;
  /** Ends at the first damage, as a broker does, without looking behind it. */
  readonly stopAtDamage?: boolean;
  readonly windowBytes?: number;
  /** Shown every record and every damage in the order of their positions. */
  readonly visitor?: RecordVisitor;
}

const YEAR_2000_MICROS = 946_684_800_000_000n;
const YEAR_MICROS = 31_557_600_000_000n;
/** How far a claim of length may be read in vain before long checksums are taken from kept blocks. */
const VAIN_BYTES = 16 * 1024 * 1024;

/** In place of the high half of the expected offset: the last offset of a u64 was there, and none is next. */
const PAST_LAST = 2 ** 32;

/** Why the walk over a window stopped. */
type Stop = 'window' | 'until' | 'straddles' | 'header' | 'flags' | 'too-large' | 'past-end' | 'checksum';

/** Scans a range of a segment file; `index` is the file beside it, or null. Never throws for what the bytes say. */
export function* scanRange(
  source: ByteSource,
  index: ByteSource | null,
  request: RangeRequest,
): Generator<number, RangeScan> {
  const scanner = new SegmentScanner(source, index, request);
  try {
    yield* scanner.run();
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    scanner.stop(failure);
  }
  return scanner.finish();
}

class SegmentScanner {
  readonly #window: Window;
  readonly #checksums = new LongChecksums();
  readonly #headers = new HeaderChecksums();
  readonly #request: RangeRequest;
  readonly #size: number;
  readonly #result: RangeScan;
  readonly #batches = new BatchTracker();
  readonly #entries: EntryCursor | null;
  readonly #visitor: RecordVisitor | null;
  #markPosition: number;
  /** Timestamps whose high half lies outside these are looked at closely. */
  readonly #timestampLow: number;
  readonly #timestampHigh: number;
  /** Position of the record at hand. */
  #position: number;
  /** The expected offset as two signed halves; meaningless while `#anchored` is false. */
  #expectedHigh = 0;
  #expectedLow = 0;
  #anchored = false;
  #records = 0;
  #firstHigh = 0;
  #firstLow = 0;
  #lastHigh = 0;
  #lastLow = 0;
  #firstTimeHigh = 0;
  #firstTimeLow = 0;
  #lastTimeHigh = 0;
  #lastTimeLow = 0;
  #vainBytes = 0;
  /** The damage at hand, as it is told when nothing behind it can be read. */
  #pending: Damage | null = null;

  constructor(source: ByteSource, index: ByteSource | null, request: RangeRequest) {
    this.#window = new Window(source, request.windowBytes ?? DEFAULT_WINDOW_BYTES);
    this.#request = request;
    this.#size = source.size;
    this.#position = request.start;
    this.#markPosition = request.mark?.position ?? Number.POSITIVE_INFINITY;
    this.#timestampLow = Number(YEAR_2000_MICROS >> 32n) + 1;
    this.#timestampHigh = Number((request.nowMicros + YEAR_MICROS) >> 32n) - 1;
    if (request.expected !== null) this.#expect(request.expected);
    this.#entries = index !== null && request.firstEntry !== null ? new EntryCursor(index, request.firstEntry) : null;
    this.#visitor = request.visitor ?? null;
    this.#result = emptyResult(request.start);
  }

  *run(): Generator<number, void> {
    const { until } = this.#request;
    if (this.#entries !== null) nextEntry(this.#entries);
    while (this.#position < this.#size && !this.#finished()) {
      const stop = this.#walk();
      if (stop === 'until') return;
      if (stop === 'window') {
        yield this.#position;
        const left = this.#size - this.#position;
        // What is left behind the end of the range is its neighbour's to judge, too little for a header as it may be.
        if (left === 0 || this.#position >= until) return;
        this.#window.ensure(this.#position, Math.min(RECORD_HEADER_LEN, left));
        if (left < RECORD_HEADER_LEN) {
          this.#truncated(RECORD_HEADER_LEN, left);
          return;
        }
      } else if (stop === 'straddles') {
        if (!(yield* this.#longRecord())) return;
      } else if (!(yield* this.#damaged(stop))) return;
    }
  }

  #finished(): boolean {
    return this.#request.stopAtDamage === true && this.#result.damages.length > 0;
  }

  /** Damage in front of the failure is told; a record that could not be read to its end is unread from its start. */
  stop(failure: ReadFailure): void {
    const position = Math.min(Math.max(failure.position, this.#position), this.#size);
    this.#result.stopped = { code: failure.code, message: failure.message, position };
    if (this.#pending === null) return;
    const end = Math.min(this.#pending.end, position);
    this.#report({ ...this.#pending, end });
    this.#position = end;
  }

  /**
   * Walks whole records inside the window. The hot path: for a plain record in order nothing is allocated and no field is
   * touched; what it leaves behind is settled at the end, and in front of any record that asks for more.
   */
  #walk(): Stop {
    const { data, start: base, length } = this.#window;
    const headers = this.#headers;
    const visitor = this.#visitor;
    const untilAt = this.#request.until - base;
    const timeLow = this.#timestampLow;
    const timeHigh = this.#timestampHigh;
    let at = this.#position - base;
    if (at < 0) return 'window';
    let lastAt = -1;
    let count = 0;
    let expectedLow = this.#expectedLow;
    let expectedHigh = this.#expectedHigh;
    let watchAt = this.#watch() - base;
    let stop: Stop = 'window';
    while (length - at >= RECORD_HEADER_LEN) {
      if (at >= untilAt) {
        stop = 'until';
        break;
      }
      const headerCrc = headers.of(data, at);
      const lengthWord = data.getInt32(at);
      const payloadLen = lengthWord & LENGTH_MASK;
      const kind = lengthWord >>> 29;
      const end = at + (kind === 4 ? RECORD_HEADER_LEN + RECORD_TAG_LEN : RECORD_HEADER_LEN) + payloadLen;
      if (headerCrc !== data.getInt32(at + 20) || end > length || payloadLen > MAX_PAYLOAD_BYTES || !isKind(kind)) {
        stop = this.#whyStopped(headerCrc, at, kind, payloadLen, end);
        break;
      }
      const seed = crc32Word(data, at + 20, headerCrc);
      if (crc32Range(this.#window, at + RECORD_HEADER_LEN, end, seed) !== data.getInt32(at + 24)) {
        stop = 'checksum';
        break;
      }
      const time = data.getInt32(at + 12);
      const inOrder = data.getInt32(at + 8) === expectedLow && data.getInt32(at + 4) === expectedHigh;
      if (inOrder && kind === 0 && at < watchAt && time >= timeLow && time <= timeHigh) {
        lastAt = at;
        count++;
        expectedLow = (expectedLow + 1) | 0;
        if (expectedLow === 0) expectedHigh = highAfter(expectedHigh);
      } else {
        this.#settle(lastAt, count);
        count = 0;
        this.#position = base + at;
        this.#accept(data, at, kind, end - at);
        expectedLow = this.#expectedLow;
        expectedHigh = this.#expectedHigh;
        watchAt = this.#watch() - base;
      }
      if (visitor !== null) visitor.record(this.#window, at, kind, end);
      at = end;
    }
    this.#settle(lastAt, count);
    this.#position = base + at;
    return stop;
  }

  /** The first position at which a plain record in order asks for more than being counted. */
  #watch(): number {
    // Attentive for as long as there was no record, so that the first one is taken with care.
    if (this.#batches.attentive) return -1;
    return Math.min(this.#markPosition, this.#entries?.position ?? Number.POSITIVE_INFINITY);
  }

  /** Takes into account `count` plain records in order, the last of them at `lastAt` of the window. */
  #settle(lastAt: number, count: number): void {
    if (count === 0) return;
    const { data } = this.#window;
    this.#records += count;
    this.#lastHigh = data.getInt32(lastAt + 4);
    this.#lastLow = data.getInt32(lastAt + 8);
    this.#lastTimeHigh = data.getInt32(lastAt + 12);
    this.#lastTimeLow = data.getInt32(lastAt + 16);
    this.#expectedLow = (this.#lastLow + 1) | 0;
    this.#expectedHigh = this.#expectedLow === 0 ? highAfter(this.#lastHigh) : this.#lastHigh;
  }

  /** The first check, in a broker's order, that the record at `at` of the window does not pass. */
  #whyStopped(headerCrc: number, at: number, kind: number, payloadLen: number, end: number): Stop {
    if (headerCrc !== this.#window.data.getInt32(at + 20)) return 'header';
    if (!isKind(kind)) return 'flags';
    if (payloadLen > MAX_PAYLOAD_BYTES) return 'too-large';
    return this.#window.start + end > this.#size ? 'past-end' : 'straddles';
  }

  /** Takes an intact record of `total` bytes whose header, and tag if it has one, lie at `at` of `data`. */
  #accept(data: DataView, at: number, kind: number, total: number): void {
    const high = data.getInt32(at + 4);
    const low = data.getInt32(at + 8);
    if (low !== this.#expectedLow || high !== this.#expectedHigh || !this.#anchored) this.#outOfOrder(high, low, total);
    if (this.#position >= this.#markPosition) this.#meetMark(high, low);
    if (this.#entries !== null && this.#position >= this.#entries.position) this.#meetEntries(high, low);
    const timeHigh = data.getInt32(at + 12);
    const timeLow = data.getInt32(at + 16);
    if (timeHigh < this.#timestampLow || timeHigh > this.#timestampHigh) {
      this.#oddTime(u64Of(timeHigh, timeLow), u64Of(high, low));
    }
    if (kind !== 0) this.#marked(data, at, kind, total);
    else if (this.#batches.attentive) this.#batches.plain();
    if (this.#records === 0) {
      this.#firstHigh = high;
      this.#firstLow = low;
      this.#firstTimeHigh = timeHigh;
      this.#firstTimeLow = timeLow;
    }
    this.#lastHigh = high;
    this.#lastLow = low;
    this.#lastTimeHigh = timeHigh;
    this.#lastTimeLow = timeLow;
    this.#records++;
    this.#expectedLow = (low + 1) | 0;
    this.#expectedHigh = this.#expectedLow === 0 ? highAfter(high) : high;
  }

  /** Checks a record that ends behind the window, streaming its payload. False ends the scan. */
  *#longRecord(): Generator<number, boolean> {
    const window = this.#window;
    const position = this.#position;
    if (position !== window.start && window.end - position < MIN_WINDOW_BYTES) {
      yield position;
      window.load(position);
      return true;
    }
    const from = position - window.start;
    const head = new DataView(window.bytes.buffer.slice(from, from + MIN_WINDOW_BYTES));
    const kind = head.getInt32(0) >>> 29;
    const end = position + RECORD_HEADER_LEN + (kind === 4 ? RECORD_TAG_LEN : 0) + (head.getInt32(0) & LENGTH_MASK);
    if (this.#visitor !== null && from > 0 && end - position <= window.bytes.length) {
      yield position;
      window.load(position);
      return true;
    }
    let crc = crc32Loop(window.data, from, from + 24, 0);
    let at = position + RECORD_HEADER_LEN;
    if (this.#vainBytes > VAIN_BYTES) {
      crc = this.#checksums.continued(window, at, end, crc);
      at = end;
    }
    while (at < end) {
      if (at >= window.end) {
        yield at;
        window.load(at);
      }
      const pieceEnd = Math.min(end, window.end);
      crc = crc32Range(window, at - window.start, pieceEnd - window.start, crc);
      at = pieceEnd;
    }
    if (crc !== head.getInt32(24)) {
      this.#vainBytes += end - position;
      return yield* this.#damaged('checksum');
    }
    this.#accept(head, 0, kind, end - position);
    this.#position = end;
    if (this.#visitor !== null) {
      this.#visitor.longRecord(head, position, end);
      yield end;
    }
    return true;
  }

  /** Names the damage at hand and finds where to go on. False ends the scan. */
  *#damaged(stop: 'header' | 'flags' | 'too-large' | 'past-end' | 'checksum'): Generator<number, boolean> {
    const position = this.#position;
    this.#window.ensure(position, RECORD_HEADER_LEN);
    const claim = claimAt(this.#window, position);
    switch (stop) {
      case 'header':
        return yield* this.#resume({ kind: 'RecordHeaderChecksum', ...claim.headerCrcs }, null, null);
      case 'flags': {
        const found = hex32(claim.lengthWord & ~LENGTH_MASK);
        return yield* this.#resume({ kind: 'RecordFlags', found }, null, claim.offset);
      }
      case 'too-large': {
        const { payloadLen } = claim;
        const corruption = { kind: 'RecordTooLarge', payloadLen, limit: MAX_PAYLOAD_BYTES } as const;
        return yield* this.#resume(corruption, position + RECORD_HEADER_LEN + payloadLen, claim.offset);
      }
      case 'past-end': {
        const needed = claim.end - position;
        return yield* this.#resume(
          { kind: 'Truncated', needed, available: this.#size - position },
          claim.end,
          claim.offset,
        );
      }
      case 'checksum':
        return yield* this.#checksumFailed(claim);
      default:
        return assertNever(stop);
    }
  }

  /** Behind damage whose end is unknown: goes on at the next intact record of the file, or ends the scan. */
  *#resume(corruption: Corruption, claimedEnd: number | null, offset: bigint | null): Generator<number, boolean> {
    const position = this.#position;
    const expected = this.#expected();
    const damage: Damage = {
      corruption,
      position,
      end: this.#size,
      resumedAt: null,
      claimedEnd,
      offset: offset ?? expected,
      lost: null,
      recordsBefore: this.#records,
    };
    this.#pending = damage;
    const alone = expected === null || this.#request.stopAtDamage === true;
    const next = alone ? null : yield* this.#resync(this.#size, expected);
    this.#pending = null;
    if (next === null || expected === null) {
      this.#report(damage);
      this.#position = this.#size;
      return false;
    }
    const lost = { from: expected, to: next.offset };
    this.#report({ ...damage, end: next.position, resumedAt: next.position, lost });
    this.#position = next.position;
    this.#expect(next.offset);
    return true;
  }

  /** The header verified and the record did not: its end is known when what follows bears it out. */
  *#checksumFailed(claim: Claim): Generator<number, boolean> {
    const position = this.#position;
    const corruption = { kind: 'RecordChecksum', ...this.#recordCrcs(claim) } as const;
    const expected = this.#expected() ?? claim.offset;
    const ascends = claim.offset >= expected;
    const damage: Damage = {
      corruption,
      position,
      end: claim.end,
      resumedAt: null,
      claimedEnd: claim.end,
      offset: claim.offset,
      lost: { from: ascends ? expected : claim.offset, to: claim.offset + 1n },
      recordsBefore: this.#records,
    };
    this.#pending = damage;
    const isEnd = claim.end === this.#size;
    const follows = isEnd || this.#request.stopAtDamage === true || this.#headerFollows(claim.end, claim.offset + 1n);
    const inside = follows ? null : yield* this.#resync(claim.end, expected);
    this.#pending = null;
    if (inside === null) this.#report({ ...damage, resumedAt: follows && !isEnd ? claim.end : null });
    else {
      const { position: end, offset } = inside;
      this.#report({ ...damage, end, resumedAt: end, lost: { from: expected, to: offset } });
    }
    this.#position = inside?.position ?? claim.end;
    this.#expect(inside !== null ? inside.offset : claim.offset + 1n);
    return true;
  }

  *#resync(until: number, expected: bigint): Generator<number, Resync | null> {
    const found = yield* resync(this.#window, this.#checksums, this.#position, until, expected);
    if (found === null || found.failure === null) return found;
    if (this.#pending !== null) this.#pending = { ...this.#pending, end: found.position };
    throw found.failure;
  }

  /** Checksums stored and computed of the record at hand, for the report. */
  #recordCrcs(claim: Claim): { expected: string; found: string } {
    const window = this.#window;
    const from = this.#position - window.start;
    const seed = crc32Loop(window.data, from, from + 24, 0);
    const computed = this.#checksums.continued(window, this.#position + RECORD_HEADER_LEN, claim.end, seed);
    return { expected: hex32(claim.checksum), found: hex32(computed) };
  }

  /** True when a header verifies at `position` and holds `offset`. */
  #headerFollows(position: number, offset: bigint): boolean {
    if (position + RECORD_HEADER_LEN > this.#size) return false;
    const window = this.#window;
    window.ensure(position, RECORD_HEADER_LEN);
    const { headerCrcs, offset: found } = claimAt(window, position);
    return headerCrcs.expected === headerCrcs.found && found === offset;
  }

  #truncated(needed: number, available: number): void {
    const expected = this.#expected();
    this.#report({
      corruption: { kind: 'Truncated', needed, available },
      position: this.#position,
      end: this.#size,
      resumedAt: null,
      claimedEnd: null,
      offset: expected,
      lost: null,
      recordsBefore: this.#records,
    });
    this.#position = this.#size;
  }

  #outOfOrder(high: number, low: number, total: number): void {
    const found = u64Of(high, low);
    const expected = this.#expected();
    if (expected === null) {
      this.#expect(found);
      return;
    }
    this.#report({
      corruption: { kind: 'OffsetOutOfOrder', expected, found },
      position: this.#position,
      end: this.#position,
      resumedAt: this.#position,
      claimedEnd: this.#position + total,
      offset: found,
      lost: found > expected ? { from: expected, to: found } : null,
      recordsBefore: this.#records,
    });
  }

  #report(damage: Damage): void {
    this.#visitor?.damage(damage);
    const { damages, omitted } = this.#result;
    if (damages.length < KEPT_DAMAGES) damages.push(damage);
    else omitted.set(damage.corruption.kind, (omitted.get(damage.corruption.kind) ?? 0) + 1);
    if (this.#result.afterMark === null && damage.position >= (this.#request.mark?.position ?? Infinity)) {
      this.#result.afterMark = damage;
    }
    this.#result.damagedBytes += damage.end - damage.position;
    this.#batches.damage();
    this.#passEntries(damage.position, damage.end);
  }

  /** Judges the entries in front of damage, and passes over those inside it. */
  #passEntries(from: number, to: number): void {
    const entries = this.#entries;
    if (entries === null) return;
    while (entries.position < from) this.#mismatch('no record starts there');
    while (entries.position < to) {
      this.#result.notJudgedEntries++;
      nextEntry(entries);
    }
  }

  #meetEntries(high: number, low: number): void {
    const entries = this.#entries!;
    while (entries.position <= this.#position) {
      if (entries.position < this.#position) this.#mismatch('no record starts there');
      else if ((entries.offsetHigh | 0) !== high || (entries.offsetLow | 0) !== low) {
        this.#mismatch(`the record there has offset ${u64Of(high, low)}`);
      } else {
        this.#result.checkedEntries++;
        nextEntry(entries);
      }
    }
  }

  #mismatch(why: string): void {
    const entries = this.#entries!;
    const { entryMismatches } = this.#result;
    this.#result.checkedEntries++;
    if (entryMismatches.length < KEPT_NOTES) {
      entryMismatches.push({ entry: entries.entry, offset: entries.offset, position: entries.exactPosition, why });
    } else this.#result.entryMismatchesOmitted++;
    nextEntry(entries);
  }

  #meetMark(high: number, low: number): void {
    const mark = this.#request.mark!;
    this.#result.markHolds = this.#position === mark.position && u64Of(high, low) === mark.offset;
    this.#markPosition = Number.POSITIVE_INFINITY;
  }

  #marked(data: DataView, at: number, kind: number, total: number): void {
    const offset = u64Of(data.getInt32(at + 4), data.getInt32(at + 8));
    const position = this.#position;
    const name = recordKind(data.getInt32(at))!;
    const result = this.#result;
    if (this.#request.version < versionForKind(name)) {
      if (result.kindViolations.length < KEPT_NOTES) result.kindViolations.push({ offset, position, recordKind: name });
      else result.kindViolationsOmitted++;
    }
    if (kind === OPENS_BIT >>> 29) {
      this.#batches.opens({
        producer: data.getBigUint64(at + 28),
        sequence: data.getBigUint64(at + 36),
        len: data.getUint32(at + 44),
        offset,
        position,
        held: 1,
      });
    } else if (kind === CONTINUES_BIT >>> 29) {
      this.#batches.continues(offset, position);
    } else {
      this.#batches.plain();
      const payloadLen = total - RECORD_HEADER_LEN;
      const generation = payloadLen === 8 ? data.getBigUint64(at + RECORD_HEADER_LEN) : null;
      if (result.generationStarts.length < KEPT_NOTES) {
        result.generationStarts.push({ offset, position, payloadLen, generation });
      } else result.generationStartsOmitted++;
    }
  }

  #oddTime(timestampMicros: bigint, offset: bigint): void {
    const what = oddity(timestampMicros, this.#request.nowMicros);
    if (what === null) return;
    const known = this.#result.oddities.find((oddity) => oddity.what === what);
    if (known) known.count++;
    else this.#result.oddities.push({ what, count: 1, offset, position: this.#position, timestampMicros });
  }

  #expected(): bigint | null {
    if (!this.#anchored) return null;
    return this.#expectedHigh === PAST_LAST ? U64_MAX + 1n : u64Of(this.#expectedHigh, this.#expectedLow);
  }

  #expect(offset: bigint): void {
    this.#expectedHigh = offset > U64_MAX ? PAST_LAST : Number(offset >> 32n) | 0;
    this.#expectedLow = Number(offset & 0xffffffffn) | 0;
    this.#anchored = true;
  }

  finish(): RangeScan {
    const result = this.#result;
    const atEnd = this.#position >= this.#size;
    if (this.#entries !== null) {
      const judged = result.stopped ? this.#position : atEnd ? Number.POSITIVE_INFINITY : this.#request.until;
      while (this.#entries.position < judged) {
        this.#mismatch(this.#entries.position >= this.#size ? 'it points past the end' : 'no record starts there');
      }
      if (result.stopped) this.#passEntries(0, Number.POSITIVE_INFINITY);
    }
    const mark = this.#request.mark;
    if (mark !== null && atEnd && mark.position === this.#size && !result.stopped) {
      result.markHolds = mark.offset === this.#expected();
    }
    result.end = this.#position;
    result.nextOffset = this.#expected();
    result.records = this.#records;
    result.bytesRead = this.#window.bytesRead;
    result.batches = this.#batches.summary;
    if (this.#records > 0) {
      result.firstOffset = u64Of(this.#firstHigh, this.#firstLow);
      result.lastOffset = u64Of(this.#lastHigh, this.#lastLow);
      result.firstTimestampMicros = u64Of(this.#firstTimeHigh, this.#firstTimeLow);
      result.lastTimestampMicros = u64Of(this.#lastTimeHigh, this.#lastTimeLow);
    }
    return result;
  }
}

/** True when at most one of the three kind bits is set. */
function isKind(bits: number): boolean {
  return bits < 3 || bits === 4;
}

/** What the 28 bytes at a position say, none of it verified. */
interface Claim {
  readonly headerCrcs: { readonly expected: string; readonly found: string };
  readonly lengthWord: number;
  readonly payloadLen: number;
  readonly offset: bigint;
  readonly checksum: number;
  readonly end: number;
}

function claimAt(window: Window, position: number): Claim {
  const { data } = window;
  const at = position - window.start;
  const lengthWord = data.getInt32(at);
  const payloadLen = lengthWord & LENGTH_MASK;
  return {
    headerCrcs: { expected: hex32(data.getInt32(at + 20)), found: hex32(crc32Loop(data, at, at + 20, 0)) },
    lengthWord,
    payloadLen,
    offset: data.getBigUint64(at + 4),
    checksum: data.getInt32(at + 24),
    end: position + RECORD_HEADER_LEN + (lengthWord & OPENS_BIT ? RECORD_TAG_LEN : 0) + payloadLen,
  };
}

/** An index that cannot be read any more takes nothing from the segment: its other entries are not judged. */
function nextEntry(entries: EntryCursor): void {
  try {
    entries.advance();
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    entries.abandon();
  }
}

/** The high half behind `high`; behind the last one, a value that no signed half equals. */
function highAfter(high: number): number {
  return high === -1 ? PAST_LAST : (high + 1) | 0;
}

function u64Of(high: number, low: number): bigint {
  return u64From(high >>> 0, low >>> 0);
}

/** What is odd about a timestamp, or null. */
function oddity(micros: bigint, nowMicros: bigint): OddityKind | null {
  if (micros === 0n) return 'zero';
  if (micros > nowMicros + YEAR_MICROS) return 'over a year ahead';
  if (micros >= YEAR_2000_MICROS) return null;
  const asMillis = micros * 1000n;
  return asMillis >= YEAR_2000_MICROS && asMillis <= nowMicros + YEAR_MICROS ? 'milliseconds' : 'before 2000';
}

function emptyResult(start: number): RangeScan {
  return {
    start,
    end: start,
    nextOffset: null,
    stopped: null,
    records: 0,
    damagedBytes: 0,
    firstOffset: null,
    lastOffset: null,
    firstTimestampMicros: null,
    lastTimestampMicros: null,
    damages: [],
    omitted: new Map(),
    afterMark: null,
    markHolds: false,
    generationStarts: [],
    generationStartsOmitted: 0,
    kindViolations: [],
    kindViolationsOmitted: 0,
    oddities: [],
    batches: noBatches(),
    entryMismatches: [],
    entryMismatchesOmitted: 0,
    checkedEntries: 0,
    notJudgedEntries: 0,
    bytesRead: 0,
  };
}
