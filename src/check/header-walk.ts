/**
 * From record to record by headers alone ("Record": the next position is derivable without decoding the payload).
 *
 * Each header is verified before its length is used, and the offset must be the one due. Payloads behind the window are
 * passed over unread; nothing is allocated for a record that nobody asks about.
 */

import { u64From } from '../format/bytes.js';
import { crc32Loop, crc32Range } from '../format/checksum.js';
import {
  decodeTag,
  LENGTH_MASK,
  MAX_PAYLOAD_BYTES,
  OPENS_BIT,
  RECORD_HEADER_LEN,
  RECORD_TAG_LEN,
  type RecordTag,
  recordKind,
} from '../format/record.js';
import { MIN_WINDOW_BYTES, Window } from '../scan/window.js';
import type { ByteSource } from '../store/byte-source.js';

const WALK_WINDOW_BYTES = 64 * 1024;

export class HeaderWalk {
  readonly #window: Window;
  #dueHigh: number;
  #dueLow: number;
  #lengthWord = 0;
  /** The stored checksum of the record at hand. */
  checksum = 0;
  /** Where the record at hand begins; meaningless before the first one. */
  position = -1;
  /** Where the next record begins. */
  end: number;
  /** Why the walk ended in front of the end of the file; null while it has not. */
  failure: string | null = null;

  /** Begins at a record boundary where the record with `offset` is due. Reads throw `ReadFailure`. */
  constructor(source: ByteSource, start: number, offset: bigint) {
    this.#window = new Window(source, WALK_WINDOW_BYTES);
    this.end = start;
    this.#dueHigh = Number(offset >> 32n) | 0;
    this.#dueLow = Number(offset & 0xffff_ffffn) | 0;
  }

  /** Steps to the next record; false at the end of the file or at a header that does not hold. */
  next(): boolean {
    if (this.failure !== null) return false;
    const window = this.#window;
    const at = this.end;
    const left = window.size - at;
    if (left <= 0) return false;
    if (left < RECORD_HEADER_LEN) return this.#fail('the file ends inside a record header');
    window.ensure(at, Math.min(MIN_WINDOW_BYTES, left));
    const { data } = window;
    const i = at - window.start;
    if (crc32Loop(window.data, i, i + 20, 0) !== data.getInt32(i + 20)) {
      return this.#fail('a record header does not match its checksum');
    }
    const lengthWord = data.getInt32(i);
    const payloadLen = lengthWord & LENGTH_MASK;
    if (recordKind(lengthWord) === null) return this.#fail('a record has impossible flags');
    if (payloadLen > MAX_PAYLOAD_BYTES) return this.#fail('a record is over the limit of length');
    const end = at + RECORD_HEADER_LEN + ((lengthWord & OPENS_BIT) === 0 ? 0 : RECORD_TAG_LEN) + payloadLen;
    if (end > window.size) return this.#fail('the file ends inside a record');
    if (data.getInt32(i + 4) !== this.#dueHigh || data.getInt32(i + 8) !== this.#dueLow) {
      return this.#fail('an offset is out of order');
    }
    this.#lengthWord = lengthWord;
    this.checksum = data.getUint32(i + 24);
    this.position = at;
    this.end = end;
    this.#dueLow = (this.#dueLow + 1) | 0;
    if (this.#dueLow === 0) this.#dueHigh = (this.#dueHigh + 1) | 0;
    return true;
  }

  /** The top three bits of the record at hand. */
  get kindBits(): number {
    return this.#lengthWord >>> 29;
  }

  /** The tag of the record at hand, which must open a batch. Not verified: only the whole record's checksum covers it. */
  tag(): RecordTag {
    this.#window.ensure(this.position, RECORD_HEADER_LEN + RECORD_TAG_LEN);
    return decodeTag(this.#window.bytes, this.position - this.#window.start + RECORD_HEADER_LEN);
  }

  /** The offset due behind the record at hand. */
  get nextOffset(): bigint {
    return u64From(this.#dueHigh >>> 0, this.#dueLow >>> 0);
  }

  /** Reads the record at hand whole, and tells whether it matches its checksum. */
  verifies(): boolean {
    const window = this.#window;
    window.ensure(this.position, RECORD_HEADER_LEN);
    const from = this.position - window.start;
    let crc = crc32Loop(window.data, from, from + 24, 0);
    for (let at = this.position + RECORD_HEADER_LEN; at < this.end; ) {
      window.ensure(at, 1);
      const pieceEnd = Math.min(this.end, window.end);
      crc = crc32Range(window, at - window.start, pieceEnd - window.start, crc);
      at = pieceEnd;
    }
    return crc >>> 0 === this.checksum;
  }

  #fail(why: string): false {
    this.failure = why;
    return false;
  }
}
