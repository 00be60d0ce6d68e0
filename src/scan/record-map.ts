/**
 * Where the intact records of a file lie: unbroken runs of them, and places inside the runs to begin a search at.
 *
 * The walk is the scan's own (contract, section 6). A segment header that cannot be believed does not hide the records
 * behind it: the first of them tells the offset, and where that one is damaged too, somebody's hint does, or else the first
 * record of the file that verifies. Memory grows with the number of runs and with one place for each 64 KiB.
 */

import type { Corruption } from '../domain/finding.js';
import { readU32, u64From } from '../format/bytes.js';
import { crc32 } from '../format/checksum.js';
import { decodeSegmentHeader, SEGMENT_HEADER_LEN, type SegmentHeader } from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { firstRecord } from './first-record.js';
import type { Damage, RangeScan } from './range-scan.js';
import type { RecordVisitor } from './record-visitor.js';
import { scanRange } from './segment-scan.js';
import { Window } from './window.js';

/** Intact records whose bytes and offsets follow each other. */
export interface Extent {
  readonly start: number;
  readonly end: number;
  readonly from: bigint;
  readonly to: bigint;
  /** Its places in the map: `[firstMark, endMark)`. */
  readonly firstMark: number;
  readonly endMark: number;
}

/** Damage without the records around it, in the order of positions. */
export type MapDamage = Pick<Damage, 'corruption' | 'position' | 'end' | 'offset' | 'lost' | 'claimedEnd'>;

export interface RecordMap {
  readonly size: number;
  /** Null when it does not decode. */
  readonly header: SegmentHeader | null;
  readonly headerDamage: Corruption | null;
  readonly headerBytes: Uint8Array;
  /** Of another build, by a header that is sound otherwise: its records are not looked at. */
  readonly otherBuild: boolean;
  readonly extents: readonly Extent[];
  /** Places where a record of an extent starts, ascending. */
  readonly markPositions: readonly number[];
  /** How many records of the extent lie in front of that place. */
  readonly markRecords: readonly number[];
  readonly records: number;
  readonly damages: readonly MapDamage[];
  /** Damages beyond those that are kept. */
  readonly damagesOmitted: number;
  /** What the scan expected behind the last record; null when it met none. */
  readonly nextOffset: bigint | null;
  /** Set when reading failed: nothing is known from `position` on. */
  readonly stopped: { readonly code: string; readonly message: string; readonly position: number } | null;
}

export interface MapRequest {
  /** Offsets that the first record may have, likeliest first, for a header that cannot be believed. */
  readonly hints: readonly bigint[];
  readonly windowBytes?: number;
}

const MARK_BYTES = 64 * 1024;
const KEPT_DAMAGES = 50_000;
const NEVER_AHEAD = 1n << 63n;

/** Maps a segment file. Yields the position reached after each window. Never throws for what the bytes say. */
export function* mapRecords(source: ByteSource, request: MapRequest): Generator<number, RecordMap> {
  let headerBytes: Uint8Array;
  try {
    headerBytes = new Uint8Array(new Window(source, 64).view(0, Math.min(SEGMENT_HEADER_LEN, source.size)));
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, message } = failure;
    return unmapped(source, new Uint8Array(), { stopped: { code, message, position: 0 } });
  }
  const decoded = decodeSegmentHeader(headerBytes);
  const header = decoded.ok ? decoded.value : null;
  const headerDamage = decoded.ok ? null : decoded.error;
  if (headerDamage?.kind === 'SegmentVersion' && isOtherBuild(headerBytes)) {
    return unmapped(source, headerBytes, { headerDamage, otherBuild: true });
  }
  const scanned = yield* scanFile(source, header, request);
  const { collector, scan } = scanned;
  return {
    size: source.size,
    header,
    headerDamage,
    headerBytes,
    otherBuild: false,
    extents: collector.extents(),
    markPositions: collector.markPositions,
    markRecords: collector.markRecords,
    records: scan.records,
    damages: collector.damages,
    damagesOmitted: collector.damagesOmitted,
    nextOffset: scan.nextOffset,
    stopped: scan.stopped === null ? null : { ...scan.stopped, position: scan.end },
  };
}

/** The header's checksum holds, so that the version was written so and is not damage. */
function isOtherBuild(headerBytes: Uint8Array): boolean {
  return crc32(headerBytes.subarray(0, 24)) === readU32(headerBytes, 24);
}

function unmapped(source: ByteSource, headerBytes: Uint8Array, known: Partial<RecordMap>): RecordMap {
  return {
    size: source.size,
    header: null,
    headerDamage: null,
    headerBytes,
    otherBuild: false,
    extents: [],
    markPositions: [],
    markRecords: [],
    records: 0,
    damages: [],
    damagesOmitted: 0,
    nextOffset: null,
    stopped: null,
    ...known,
  };
}

interface Scanned {
  readonly collector: Collector;
  readonly scan: RangeScan;
}

function* scanFile(
  source: ByteSource,
  header: SegmentHeader | null,
  { hints, windowBytes }: MapRequest,
): Generator<number, Scanned> {
  const attempt = function* (start: number, expected: bigint | null): Generator<number, Scanned> {
    const collector = new Collector();
    const scan = yield* scanRange(source, null, {
      start,
      until: Number.POSITIVE_INFINITY,
      expected,
      version: header?.version ?? 4,
      mark: null,
      firstEntry: null,
      nowMicros: NEVER_AHEAD,
      visitor: collector,
      ...(windowBytes === undefined ? {} : { windowBytes }),
    });
    return { collector, scan };
  };
  const first = yield* attempt(SEGMENT_HEADER_LEN, header?.baseOffset ?? null);
  if (header !== null || isAnswer(first)) return first;
  for (const hint of new Set(hints)) {
    const hinted = yield* attempt(SEGMENT_HEADER_LEN, hint);
    if (isAnswer(hinted)) return hinted;
  }
  const position = yield* firstRecord(source, SEGMENT_HEADER_LEN + 1);
  return position === null ? first : yield* attempt(position, null);
}

function isAnswer({ scan }: Scanned): boolean {
  return scan.records > 0 || scan.stopped !== null;
}

/** Puts records together into extents while the scan passes them. */
class Collector implements RecordVisitor {
  readonly markPositions: number[] = [];
  readonly markRecords: number[] = [];
  readonly damages: MapDamage[] = [];
  damagesOmitted = 0;
  readonly #extents: Extent[] = [];
  #start = 0;
  #end = 0;
  #fromHigh = 0;
  #fromLow = 0;
  #count = 0;
  #firstMark = 0;
  #due = 0;

  record(window: Window, at: number, _kind: number, end: number): void {
    const { data, start } = window;
    this.#take(start + at, start + end, data.getInt32(at + 4), data.getInt32(at + 8));
  }

  longRecord(head: DataView, position: number, end: number): void {
    this.#take(position, end, head.getInt32(4), head.getInt32(8));
  }

  damage({ corruption, position, end, offset, lost, claimedEnd }: Damage): void {
    this.#finish();
    if (this.damages.length < KEPT_DAMAGES) this.damages.push({ corruption, position, end, offset, lost, claimedEnd });
    else this.damagesOmitted++;
  }

  /** A record in front of which there was no damage follows the one before it, in its bytes and in its offset. */
  #take(position: number, end: number, high: number, low: number): void {
    if (this.#count === 0) {
      this.#start = position;
      this.#fromHigh = high;
      this.#fromLow = low;
      this.#firstMark = this.markPositions.length;
      this.#mark(position);
    } else if (position >= this.#due) this.#mark(position);
    this.#count++;
    this.#end = end;
  }

  #mark(position: number): void {
    this.markPositions.push(position);
    this.markRecords.push(this.#count);
    this.#due = position + MARK_BYTES;
  }

  #finish(): void {
    if (this.#count === 0) return;
    const from = u64From(this.#fromHigh >>> 0, this.#fromLow >>> 0);
    this.#extents.push({
      start: this.#start,
      end: this.#end,
      from,
      to: from + BigInt(this.#count),
      firstMark: this.#firstMark,
      endMark: this.markPositions.length,
    });
    this.#count = 0;
  }

  extents(): readonly Extent[] {
    this.#finish();
    return this.#extents;
  }
}
