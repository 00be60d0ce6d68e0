/**
 * Bytes of a source beside the scan's own window: a range in memory, or a long one piece by piece.
 */

import { type ByteSource, ReadFailure } from '../store/byte-source.js';

const PIECE_BYTES = 256 * 1024;

/** The bytes `[from, to)`, which the caller keeps small. Throws {@link ReadFailure}. */
export function bytesAt(source: ByteSource, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, to - from));
  fill(source, bytes, from);
  return bytes;
}

/** The bytes `[from, to)` in order; each piece is valid until the next is asked for. Throws {@link ReadFailure}. */
export function* pieces(source: ByteSource, from: number, to: number): Generator<Uint8Array, void, undefined> {
  const memory = new Uint8Array(Math.min(PIECE_BYTES, Math.max(0, to - from)));
  for (let at = from; at < to; at += memory.length) {
    const piece = memory.subarray(0, Math.min(memory.length, to - at));
    fill(source, piece, at);
    yield piece;
  }
}

function fill(source: ByteSource, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length; ) {
    const got = source.readAt(target.subarray(done), position + done);
    if (got === 0) throw new ReadFailure('SHRANK', position + done, 'the file ended before the size it had');
    done += got;
  }
}
