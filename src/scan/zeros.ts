/**
 * Claims about zeros. What may be cut off a log hangs on them, so that they hold for every byte and not for a sample.
 */

import type { ByteSource } from '../store/byte-source.js';
import { bytesAt, pieces } from './pieces.js';

const ZEROS = Buffer.alloc(256 * 1024);
const STEP_BYTES = 16 * 1024;

/** True when every byte of `[from, to)` is zero, also when there is none. Throws `ReadFailure`. */
export function allZeros(source: ByteSource, from: number, to: number): boolean {
  for (const piece of pieces(source, from, to)) {
    if (!isZero(piece)) return false;
  }
  return true;
}

/** The first position in `[from, to]` from which all bytes up to `to` are zero. Throws `ReadFailure`. */
export function startOfZeros(source: ByteSource, from: number, to: number): number {
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - STEP_BYTES);
    const piece = bytesAt(source, start, end);
    const last = piece.findLastIndex((byte) => byte !== 0);
    if (last >= 0) return start + last + 1;
    end = start;
  }
  return from;
}

export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length);
    if (Buffer.compare(part, ZEROS.subarray(0, part.length)) !== 0) return false;
  }
  return true;
}
