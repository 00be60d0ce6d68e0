/**
 * A sliding window over a source: the only memory that a scan needs, whatever the file's size or a record's length.
 */

import { invariant } from '../domain/result.js';
import type { ByteFeed } from '../format/bytes.js';
import { type ChecksumBuffer, checksumBuffer } from '../format/checksum.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';

/** What was read is still in the processor's second cache when its checksum is taken. */
export const DEFAULT_WINDOW_BYTES = 1 << 18;
/** Large enough for a record's header and tag. */
export const MIN_WINDOW_BYTES = 64;

/** After a failed read the window is filled page by page, as devices fail, so that the first unreadable one is known. */
const PAGE_BYTES = 4096;

export class Window implements ChecksumBuffer, ByteFeed {
  readonly source: ByteSource;
  readonly size: number;
  readonly bytes: Buffer;
  /** The same bytes, as the checksum wants them, and as they are handed out: of a Buffer, `slice` would be no copy. */
  readonly plain: Uint8Array;
  readonly words: Int32Array;
  readonly data: DataView;
  /** File position of `bytes[0]`. */
  start = 0;
  /** Valid bytes in `bytes`. */
  length = 0;
  /** Bytes taken from the source so far. */
  bytesRead = 0;

  constructor(source: ByteSource, capacity: number = DEFAULT_WINDOW_BYTES) {
    invariant(capacity >= MIN_WINDOW_BYTES, 'a window holds a record header and its tag');
    const wanted = Math.min(capacity, Math.max(MIN_WINDOW_BYTES, source.size));
    const buffer = checksumBuffer((wanted + 3) & ~3);
    this.source = source;
    this.size = source.size;
    this.bytes = Buffer.from(buffer.data.buffer);
    this.plain = buffer.plain;
    this.words = new Int32Array(buffer.data.buffer);
    this.data = buffer.data;
  }

  /** First position behind the window. */
  get end(): number {
    return this.start + this.length;
  }

  /**
   * Moves the window so that it begins at `position` and is as full as the file allows. Throws {@link ReadFailure} when
   * not one byte at `position` can be read; when the failure lies further on, the window ends in front of it.
   */
  load(position: number): void {
    this.start = position;
    this.length = 0;
    const wanted = Math.min(this.bytes.length, this.size - position);
    let inPages = false;
    while (this.length < wanted) {
      const pageEnd = (Math.floor(this.end / PAGE_BYTES) + 1) * PAGE_BYTES;
      const got = this.#read(inPages ? Math.min(wanted, pageEnd - position) : wanted, inPages);
      if (got === 0 && this.length > 0 && inPages) return;
      this.length += got;
      this.bytesRead += got;
      inPages ||= got === 0;
    }
  }

  /** Makes `length` bytes at `position` available at index `position - start`. `length` is at most the capacity. */
  ensure(position: number, length: number): void {
    if (position >= this.start && position + length <= this.end) return;
    this.load(position);
    const short = this.end;
    if (position + length <= short) return;
    this.load(short);
    // What could not be read a moment ago now can: once more, and then it counts as unreadable.
    this.load(position);
    if (position + length > this.end) throw new ReadFailure('EIO', this.end, 'reads succeed and fail by turns');
  }

  view(position: number, length: number): Uint8Array {
    invariant(position >= 0 && length >= 0 && position + length <= this.size, 'a view lies inside its file');
    if (position >= this.start && position + length <= this.end) {
      return this.plain.subarray(position - this.start, position - this.start + length);
    }
    if (length <= this.bytes.length) {
      this.ensure(position, length);
      return this.plain.subarray(0, length);
    }
    const large = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const got = this.source.readAt(large.subarray(done), position + done);
      if (got === 0) throw new ReadFailure('SHRANK', position + done, 'the file ended before the size it had');
      done += got;
    }
    this.bytesRead += length;
    return large;
  }

  /** Bytes read at the window's end up to `wanted` in all; 0 when there was a failure that need not be final. */
  #read(wanted: number, last: boolean): number {
    try {
      const got = this.source.readAt(this.bytes.subarray(this.length, wanted), this.end);
      if (got === 0) throw new ReadFailure('SHRANK', this.end, 'the file ended before the size it had');
      return got;
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      if (!last || this.length > 0) return 0;
      throw new ReadFailure(failure.code, this.end, failure.message);
    }
  }
}
