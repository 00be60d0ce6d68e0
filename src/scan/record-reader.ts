/**
 * Reading records that are known to be intact, by position or by offset, and telling whether two are the same bytes.
 *
 * The caller took the places from a {@link RecordMap}; nothing is verified again, but a header that is not there any more
 * is noticed. One window is all the memory, whatever a record's length.
 */

import { readU32, readU64 } from '../format/bytes.js';
import { LENGTH_MASK, OPENS_BIT, RECORD_HEADER_LEN, RECORD_TAG_LEN } from '../format/record.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import type { Extent, RecordMap } from './record-map.js';
import { Window } from './window.js';

const WINDOW_BYTES = 256 * 1024;
/** Records are compared and copied in pieces of this size. */
const PIECE_BYTES = 128 * 1024;

export class RecordReader {
  readonly #window: Window;

  constructor(source: ByteSource) {
    this.#window = new Window(source, WINDOW_BYTES);
  }

  /** Bytes that are valid until the next call; `length` is at most that of a piece. Throws {@link ReadFailure}. */
  view(position: number, length: number): Uint8Array {
    return this.#window.view(position, length);
  }

  /** Where the record at `position` ends; its offset must be the one given. Throws {@link ReadFailure}. */
  endOf(position: number, offset: bigint): number {
    const window = this.#window;
    if (position + RECORD_HEADER_LEN > window.size) throw changed(position);
    const header = window.view(position, RECORD_HEADER_LEN);
    if (readU64(header, 4) !== offset) throw changed(position);
    const word = readU32(header, 0);
    const end = position + RECORD_HEADER_LEN + ((word & OPENS_BIT) === 0 ? 0 : RECORD_TAG_LEN) + (word & LENGTH_MASK);
    if (end > window.size) throw changed(position);
    return end;
  }

  /** Where the record of `offset` starts, or the extent ends. Throws {@link ReadFailure}. */
  positionOf(map: RecordMap, extent: Extent, offset: bigint): number {
    if (offset === extent.to) return extent.end;
    const wanted = Number(offset - extent.from);
    let mark = extent.firstMark;
    for (let low = mark, high = extent.endMark - 1; low <= high; ) {
      const middle = (low + high) >> 1;
      if (map.markRecords[middle]! <= wanted) {
        mark = middle;
        low = middle + 1;
      } else high = middle - 1;
    }
    let position = map.markPositions[mark]!;
    for (let at = map.markRecords[mark]!; at < wanted; at++) position = this.endOf(position, extent.from + BigInt(at));
    return position;
  }

  /** The bytes `[start, end)`, each piece valid until the next. Throws {@link ReadFailure}. */
  *pieces(start: number, end: number): Generator<Uint8Array, void> {
    for (let at = start; at < end; ) {
      const piece = this.view(at, Math.min(PIECE_BYTES, end - at));
      yield piece;
      at += piece.length;
    }
  }

  /** True when `length` bytes here are those at a place of another reader, or of this one. */
  isSame(position: number, other: RecordReader, otherPosition: number, length: number): boolean {
    for (let done = 0; done < length; ) {
      const part = Math.min(PIECE_BYTES, length - done);
      const own = this.view(position + done, part);
      // The next view is of the same memory.
      const kept = other === this ? own.slice() : own;
      if (Buffer.compare(kept, other.view(otherPosition + done, part)) !== 0) return false;
      done += part;
    }
    return true;
  }
}

function changed(position: number): ReadFailure {
  return new ReadFailure('CHANGED', position, 'the file changed while it was read');
}
