/**
 * Reading an index as a broker loads it: header, then entries, of which some are dropped.
 *
 * The loader keeps an entry when its position is at least 32 and it ascends in both offset and position over the last
 * one kept; a partial last entry is ignored. Entries are streamed: memory does not grow with the index.
 */

import type { Corruption } from '../domain/finding.js';
import { u64From } from '../format/bytes.js';
import { decodeIndexHeader, INDEX_ENTRY_LEN, INDEX_HEADER_LEN, type IndexHeader } from '../format/index.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { ByteSource } from '../store/byte-source.js';
import { Window } from './window.js';

const INDEX_WINDOW_BYTES = 64 * 1024;
const KEPT_DROPPED = 1000;

/** An entry that the loader keeps. */
export interface KeptEntry {
  readonly entry: number;
  readonly offset: bigint;
  readonly position: bigint;
}

export interface DroppedEntry extends KeptEntry {
  readonly why: string;
}

export interface IndexScan {
  readonly bytes: number;
  readonly header: IndexHeader | null;
  readonly headerDamage: Corruption | null;
  /** Whole entries in the file. */
  readonly entries: number;
  readonly kept: number;
  readonly firstKept: KeptEntry | null;
  readonly lastKept: KeptEntry | null;
  readonly dropped: readonly DroppedEntry[];
  readonly droppedOmitted: number;
  /** Bytes of a partial last entry. */
  readonly tornBytes: number;
  /** Kept entries spread evenly over the file, for splitting a scan. */
  readonly marks: readonly KeptEntry[];
}

/**
 * Walks the kept entries of an index from entry number `from` on, without making a bigint for each. `from` must itself be
 * a kept entry, or 0.
 */
export class EntryCursor {
  readonly #window: Window;
  readonly #entries: number;
  #next: number;
  #lastOffsetHigh = -1;
  #lastOffsetLow = 0;
  #lastPositionHigh = -1;
  #lastPositionLow = 0;
  /** The current entry, valid until the next call of {@link advance}. */
  entry = -1;
  offsetHigh = 0;
  offsetLow = 0;
  /** Rounded above 2^53, which is beyond any file. */
  position = Number.POSITIVE_INFINITY;
  #positionHigh = 0;
  #positionLow = 0;

  constructor(source: ByteSource, from = 0) {
    this.#window = new Window(source, INDEX_WINDOW_BYTES);
    this.#entries = entryCount(source.size);
    this.#next = from;
  }

  get offset(): bigint {
    return u64From(this.offsetHigh, this.offsetLow);
  }

  get exactPosition(): bigint {
    return u64From(this.#positionHigh, this.#positionLow);
  }

  /** Goes to the next kept entry; false, with `position` at infinity, behind the last. `onDropped` sees the others. */
  advance(onDropped?: (cursor: EntryCursor, why: string) => void): boolean {
    while (this.#next < this.#entries) {
      const at = INDEX_HEADER_LEN + this.#next * INDEX_ENTRY_LEN;
      this.#window.ensure(at, INDEX_ENTRY_LEN);
      const data = this.#window.data;
      const i = at - this.#window.start;
      this.entry = this.#next++;
      this.offsetHigh = data.getUint32(i);
      this.offsetLow = data.getUint32(i + 4);
      this.#positionHigh = data.getUint32(i + 8);
      this.#positionLow = data.getUint32(i + 12);
      this.position = this.#positionHigh * 0x1_0000_0000 + this.#positionLow;
      const why = this.#whyDropped();
      if (why === null) {
        this.#lastOffsetHigh = this.offsetHigh;
        this.#lastOffsetLow = this.offsetLow;
        this.#lastPositionHigh = this.#positionHigh;
        this.#lastPositionLow = this.#positionLow;
        return true;
      }
      onDropped?.(this, why);
    }
    this.abandon();
    return false;
  }

  /** Goes behind the last entry. */
  abandon(): void {
    this.#next = this.#entries;
    this.position = Number.POSITIVE_INFINITY;
  }

  #whyDropped(): string | null {
    if (this.position < SEGMENT_HEADER_LEN) return 'its position lies in the segment header';
    if (!above(this.offsetHigh, this.offsetLow, this.#lastOffsetHigh, this.#lastOffsetLow)) {
      return 'its offset does not ascend';
    }
    if (!above(this.#positionHigh, this.#positionLow, this.#lastPositionHigh, this.#lastPositionLow)) {
      return 'its position does not ascend';
    }
    return null;
  }
}

function above(high: number, low: number, otherHigh: number, otherLow: number): boolean {
  return high > otherHigh || (high === otherHigh && low > otherLow);
}

function entryCount(size: number): number {
  return Math.max(0, Math.floor((size - INDEX_HEADER_LEN) / INDEX_ENTRY_LEN));
}

/** How many split points are remembered. */
const MARKS = 256;

/** Reads a whole index. Throws `ReadFailure` when it cannot be read. */
export function scanIndex(source: ByteSource): IndexScan {
  const window = new Window(source, 64);
  const header = decodeIndexHeader(window.view(0, Math.min(INDEX_HEADER_LEN, source.size)));
  const none = {
    bytes: source.size,
    entries: entryCount(source.size),
    kept: 0,
    firstKept: null,
    lastKept: null,
    dropped: [],
    droppedOmitted: 0,
    tornBytes: 0,
    marks: [],
  };
  if (!header.ok) return { ...none, header: null, headerDamage: header.error };
  return { ...none, header: header.value, headerDamage: null, ...scanEntries(source) };
}

function scanEntries(source: ByteSource) {
  const dropped: DroppedEntry[] = [];
  const marks: KeptEntry[] = [];
  let droppedOmitted = 0;
  let kept = 0;
  let firstKept: KeptEntry | null = null;
  const entries = entryCount(source.size);
  const markEvery = Math.max(1, Math.ceil(entries / MARKS));
  const cursor = new EntryCursor(source);
  const current = (): KeptEntry => ({ entry: cursor.entry, offset: cursor.offset, position: cursor.exactPosition });
  const onDropped = (_: EntryCursor, why: string) => {
    if (dropped.length < KEPT_DROPPED) dropped.push({ ...current(), why });
    else droppedOmitted++;
  };
  let lastKept: KeptEntry | null = null;
  while (cursor.advance(onDropped)) {
    if (kept === 0) firstKept = current();
    if (cursor.entry === entries - 1) lastKept = current();
    if (kept % markEvery === 0) marks.push(current());
    kept++;
  }
  lastKept ??= lastKeptBefore(source, marks);
  const tornBytes = (source.size - INDEX_HEADER_LEN) % INDEX_ENTRY_LEN;
  return { kept, firstKept, lastKept, dropped, droppedOmitted, tornBytes, marks };
}

/** Finds the last kept entry when the file's last one is dropped: walks again from the last remembered one. */
function lastKeptBefore(source: ByteSource, marks: readonly KeptEntry[]): KeptEntry | null {
  const from = marks.at(-1);
  if (from === undefined) return null;
  const cursor = new EntryCursor(source, from.entry);
  let last = from;
  while (cursor.advance()) last = { entry: cursor.entry, offset: cursor.offset, position: cursor.exactPosition };
  return last;
}
