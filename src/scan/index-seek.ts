/**
 * Where to begin reading a segment to meet an offset or a position soon, by its index.
 *
 * An index is never trusted: an entry is used only when a whole intact record with its offset starts where it points. One
 * that does not hold is passed over for the ones in front of it, and when several in a row do not, reading begins at the
 * first record. Only a few entries are read, whatever the size of the index.
 */

import { decodeIndexEntry, decodeIndexHeader, INDEX_ENTRY_LEN, INDEX_HEADER_LEN } from '../format/index.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { LongChecksums } from './long-checksum.js';
import { recordAt } from './record-at.js';
import { Window } from './window.js';

export interface SeekEntry {
  /** Number in the index, from 0. */
  readonly entry: number;
  readonly offset: bigint;
  readonly position: bigint;
}

export interface RefusedEntry extends SeekEntry {
  readonly why: string;
}

export interface Seek {
  /** A record boundary. */
  readonly position: number;
  /** The offset due there; null when only the first intact record can tell. */
  readonly expected: bigint | null;
  /** The entry that led there; null when reading begins at the first record. */
  readonly entry: SeekEntry | null;
  /** Entries that were looked at and do not hold, in the order of looking. */
  readonly refused: readonly RefusedEntry[];
  /** Why the index as a whole was of no use, in a sentence part; null when it was of use. */
  readonly unusable: string | null;
}

export interface SeekFiles {
  readonly source: ByteSource;
  readonly index: ByteSource | null;
  /** The segment's, from its header; null when that cannot be read. */
  readonly baseOffset: bigint | null;
}

/** So many entries in a row may fail before the index is given up. */
const TRIES = 8;
const RECORD_WINDOW_BYTES = 16 * 1024;
const INDEX_WINDOW_BYTES = 4 * 1024;

/**
 * A place at or in front of the record with `offset`, and never inside a batch whose opening record lies in the same
 * segment. Reads of the segment throw `ReadFailure`; an index that cannot be read is of no use, and no more.
 */
export function seekOffset(files: SeekFiles, offset: bigint): Seek {
  return seek(files, (entry) => entry.offset <= offset);
}

/** The same for a byte position of the segment file. */
export function seekPosition(files: SeekFiles, position: number): Seek {
  return seek(files, (entry) => entry.position <= BigInt(position));
}

function seek(files: SeekFiles, isBefore: (entry: SeekEntry) => boolean): Seek {
  const { index, baseOffset } = files;
  if (index === null) return fromStart(files, 'there is no index');
  if (baseOffset === null) return fromStart(files, 'the segment header cannot be read');
  const entries = new EntryReader(index, baseOffset);
  if (entries.unusable !== null) return fromStart(files, entries.unusable);
  const window = new Window(files.source, RECORD_WINDOW_BYTES);
  const checksums = new LongChecksums();
  const refused: RefusedEntry[] = [];
  for (let at = lastBefore(entries, isBefore); at >= 0 && refused.length < TRIES; at--) {
    const entry = entries.at(at);
    if (entry === null) return fromStart(files, entries.unusable, refused);
    const why = isBefore(entry) ? whyNot(entry, window, checksums) : 'it is not in order';
    if (why === null)
      return { position: Number(entry.position), expected: entry.offset, entry, refused, unusable: null };
    if (why !== INSIDE_BATCH) refused.push({ ...entry, why });
  }
  return fromStart(files, refused.length < TRIES ? null : 'too many of its entries do not hold', refused);
}

function fromStart(files: SeekFiles, unusable: string | null, refused: readonly RefusedEntry[] = []): Seek {
  return { position: SEGMENT_HEADER_LEN, expected: files.baseOffset, entry: null, refused, unusable };
}

const INSIDE_BATCH = 'it points into a batch';

/** Null for the start of an intact record with the entry's offset. */
function whyNot(entry: SeekEntry, window: Window, checksums: LongChecksums): string | null {
  if (entry.position < SEGMENT_HEADER_LEN) return 'its position lies in the segment header';
  if (entry.position >= BigInt(window.size)) return 'it points past the end';
  const record = recordAt(window, checksums, Number(entry.position));
  if (record === null) return 'no intact record starts there';
  if (record.offset !== entry.offset) return `the record there has offset ${record.offset}`;
  return record.kind === 'continues' ? INSIDE_BATCH : null;
}

/** Number of the last entry in front of the place sought, taking the entries to ascend; -1 when there is none. */
function lastBefore(entries: EntryReader, isBefore: (entry: SeekEntry) => boolean): number {
  let [low, high] = [0, entries.count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = entries.at(middle);
    if (entry !== null && isBefore(entry)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Single entries of an index, whatever their order. */
class EntryReader {
  readonly count: number;
  readonly #window: Window;
  /** Why the index cannot be used, in a sentence part. */
  unusable: string | null = null;

  constructor(index: ByteSource, baseOffset: bigint) {
    this.#window = new Window(index, INDEX_WINDOW_BYTES);
    this.count = Math.max(0, Math.floor((index.size - INDEX_HEADER_LEN) / INDEX_ENTRY_LEN));
    const bytes = this.#view(0, Math.min(INDEX_HEADER_LEN, index.size));
    if (bytes === null) return;
    const header = decodeIndexHeader(bytes);
    if (!header.ok) this.unusable = 'the header of the index does not decode';
    else if (header.value.baseOffset !== baseOffset) {
      this.unusable = `the index is of a segment that begins at offset ${header.value.baseOffset}`;
    } else if (this.count === 0) this.unusable = 'the index has no entry';
  }

  /** Null when it cannot be read, which makes the index unusable. */
  at(entry: number): SeekEntry | null {
    const bytes = this.#view(INDEX_HEADER_LEN + entry * INDEX_ENTRY_LEN, INDEX_ENTRY_LEN);
    return bytes === null ? null : { entry, ...decodeIndexEntry(bytes, 0) };
  }

  #view(position: number, length: number): Uint8Array | null {
    try {
      return this.#window.view(position, length);
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      this.unusable = `the index cannot be read (${failure.code})`;
      return null;
    }
  }
}
