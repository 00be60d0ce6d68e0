/**
 * Replicas of one shard record by record: which offsets each pair holds, and where their records are not the same.
 *
 * The streams are merged by offset, so that segment boundaries play no part. Headers and checksums are compared; nothing
 * of a payload is. Beside the pairs, the records of each replica are counted between given offsets, which are the places
 * where a cut may fall.
 */

import { u64From } from '../format/bytes.js';

/** A stream of records by ascending offset, as the merge sees it. */
export interface RecordCursor {
  readonly offsetHigh: number;
  readonly offsetLow: number;
  readonly position: number;
  readonly recordBytes: number;
  /** A record is at hand. */
  readonly current: boolean;
  next(): boolean;
  /** A word of the header at hand, 0 to 6, signed. */
  word(index: number): number;
  /** The name of the file that holds the record at hand. */
  readonly file: string;
}

/** A record of one side of a difference, as it was met. */
export interface MetRecord {
  readonly file: string;
  readonly position: number;
  readonly recordBytes: number;
  /** The seven words of its header, signed. */
  readonly words: readonly number[];
}

export interface MetDifference {
  readonly offset: bigint;
  readonly a: MetRecord;
  readonly b: MetRecord;
}

/** What became of a pair. */
export class PairTally {
  readonly a: number;
  readonly b: number;
  compared = 0;
  differing = 0;
  notCompared = 0;
  firstCompared: bigint | null = null;
  /** One past the last offset in front of the first difference or the end. */
  identicalTo: bigint | null = null;
  firstDifference: MetDifference | null = null;
  firstNotCompared: bigint | null = null;

  constructor(a: number, b: number) {
    this.a = a;
    this.b = b;
  }
}

/** The records of one replica between two places. */
export interface Stretch {
  records: number;
  bytes: number;
  firstTimestampMicros: bigint | null;
  lastTimestampMicros: bigint | null;
}

const HEADER_WORDS = 7;

export class RecordMerge {
  readonly pairs: PairTally[] = [];
  /** For each replica, the stretches in front of, between and behind the places. */
  readonly stretches: Stretch[][];
  readonly #cursors: readonly RecordCursor[];
  readonly #places: readonly bigint[];
  readonly #begun: boolean[];
  readonly #at: number[];

  /** `places` ascend and differ. */
  constructor(cursors: readonly RecordCursor[], places: readonly bigint[]) {
    this.#cursors = cursors;
    this.#places = places;
    this.#begun = cursors.map(() => false);
    this.#at = cursors.map(() => 0);
    this.stretches = cursors.map(() => Array.from({ length: places.length + 1 }, emptyStretch));
    for (let a = 0; a < cursors.length; a++) {
      for (let b = a + 1; b < cursors.length; b++) this.pairs.push(new PairTally(a, b));
    }
  }

  /** Merges up to `steps` offsets; false when every stream has ended. Reads may throw. */
  advance(steps: number): boolean {
    const cursors = this.#cursors;
    if (this.#begun.every((begun) => !begun)) for (const cursor of cursors) cursor.next();
    for (let step = 0; step < steps; step++) {
      let high = -1;
      let low = 0;
      for (const { current, offsetHigh, offsetLow } of cursors) {
        if (!current) continue;
        if (high < 0 || offsetHigh < high || (offsetHigh === high && offsetLow < low)) {
          high = offsetHigh;
          low = offsetLow;
        }
      }
      if (high < 0) return false;
      this.#compareAt(high, low);
      for (const [at, cursor] of cursors.entries()) {
        if (!cursor.current || cursor.offsetHigh !== high || cursor.offsetLow !== low) continue;
        this.#begun[at] = true;
        this.#count(at, cursor);
        cursor.next();
      }
    }
    return true;
  }

  #compareAt(high: number, low: number): void {
    const cursors = this.#cursors;
    for (const pair of this.pairs) {
      const a = cursors[pair.a]!;
      const b = cursors[pair.b]!;
      const inA = a.current && a.offsetHigh === high && a.offsetLow === low;
      const inB = b.current && b.offsetHigh === high && b.offsetLow === low;
      if (inA && inB) this.#compare(pair, a, b);
      else if (inA || inB) {
        const [other, cursor] = inA ? [pair.b, b] : [pair.a, a];
        // In front of its first record and behind its last one a replica holds nothing that could be compared.
        if (!cursor.current || !this.#begun[other]) continue;
        pair.notCompared++;
        pair.firstNotCompared ??= u64From(high, low);
      }
    }
  }

  #compare(pair: PairTally, a: RecordCursor, b: RecordCursor): void {
    const offset = pair.compared === 0 || pair.firstDifference === null ? u64From(a.offsetHigh, a.offsetLow) : null;
    if (pair.compared === 0) pair.firstCompared = offset;
    pair.compared++;
    for (let index = 0; index < HEADER_WORDS; index++) {
      if (a.word(index) === b.word(index)) continue;
      pair.differing++;
      if (pair.firstDifference === null) {
        pair.firstDifference = { offset: offset!, a: metRecord(a), b: metRecord(b) };
        pair.identicalTo = offset;
      }
      return;
    }
    if (pair.firstDifference === null) pair.identicalTo = offset! + 1n;
  }

  #count(replica: number, cursor: RecordCursor): void {
    const offset = u64From(cursor.offsetHigh, cursor.offsetLow);
    while (this.#at[replica]! < this.#places.length && this.#places[this.#at[replica]!]! <= offset)
      this.#at[replica]!++;
    const stretch = this.stretches[replica]![this.#at[replica]!]!;
    const time = u64From(cursor.word(3) >>> 0, cursor.word(4) >>> 0);
    stretch.records++;
    stretch.bytes += cursor.recordBytes;
    stretch.firstTimestampMicros ??= time;
    stretch.lastTimestampMicros = time;
  }

  /** The records of one replica from a place on. */
  from(replica: number, place: bigint): Stretch {
    const sum = emptyStretch();
    const first = this.#places.findIndex((each) => each >= place) + 1;
    if (first === 0) return sum;
    for (const stretch of this.stretches[replica]!.slice(first)) {
      sum.records += stretch.records;
      sum.bytes += stretch.bytes;
      sum.firstTimestampMicros ??= stretch.firstTimestampMicros;
      sum.lastTimestampMicros = stretch.lastTimestampMicros ?? sum.lastTimestampMicros;
    }
    return sum;
  }
}

function emptyStretch(): Stretch {
  return { records: 0, bytes: 0, firstTimestampMicros: null, lastTimestampMicros: null };
}

function metRecord(cursor: RecordCursor): MetRecord {
  const { file, position, recordBytes } = cursor;
  return { file, position, recordBytes, words: Array.from({ length: HEADER_WORDS }, (_, index) => cursor.word(index)) };
}
