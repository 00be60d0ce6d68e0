/**
 * Finding the next intact record behind damage (contract, section 6: resync).
 *
 * The first q > p where a complete record verifies and its offset lies in expected … expected + floor((q − p) / 28). The
 * high half of that offset is known, so that most places are passed over by a native search; runs of zeros are skipped a
 * word at a time, since no header of zeros verifies. The time is linear in the bytes crossed.
 */

import { U64_MAX } from '../domain/units.js';
import { u64From } from '../format/bytes.js';
import { crc32Loop } from '../format/checksum.js';
import { LENGTH_MASK, MAX_PAYLOAD_BYTES, OPENS_BIT, RECORD_HEADER_LEN, RECORD_TAG_LEN } from '../format/record.js';
import { ReadFailure } from '../store/byte-source.js';
import type { LongChecksums } from './long-checksum.js';
import type { Window } from './window.js';

export interface Resync {
  readonly position: number;
  readonly offset: bigint;
  /** Set when the header verifies and the rest cannot be read: nobody knows whether the record is intact. */
  readonly failure: ReadFailure | null;
}

/**
 * Searches `(from, until)` for the record; null when there is none. Yields the position reached after each window. Leaves
 * the window anywhere. Throws {@link ReadFailure} when the search cannot go on.
 */
export function* resync(
  window: Window,
  checksums: LongChecksums,
  from: number,
  until: number,
  expected: bigint,
): Generator<number, Resync | null> {
  if (expected > U64_MAX) return null;
  const lastStart = Math.min(until - 1, window.size - RECORD_HEADER_LEN);
  const high = Number(expected >> 32n);
  const farthest = expected + BigInt(Math.floor((Math.max(from, lastStart) - from) / RECORD_HEADER_LEN));
  // Where the range of offsets crosses a multiple of 2^32 the high half is not one value, and every place is looked at.
  const needle = farthest >> 32n === BigInt(high) ? highHalf(high) : null;
  let at = from + 1;
  while (at <= lastStart) {
    window.ensure(at, RECORD_HEADER_LEN);
    const places = Math.min(lastStart, window.end - RECORD_HEADER_LEN);
    const found = candidate(window, at, places, needle);
    if (found === null) {
      at = places + 1;
      yield at;
      continue;
    }
    const record = verify(window, checksums, found, from, expected);
    if (record !== null) return record;
    at = found + 1;
  }
  return null;
}

function highHalf(high: number): Buffer {
  const needle = Buffer.alloc(4);
  needle.writeUInt32BE(high);
  return needle;
}

/** The first position in `[at, places]` of this window where a header verifies; null if there is none. */
function candidate(window: Window, at: number, places: number, needle: Buffer | null): number | null {
  const { bytes, words, data, start } = window;
  const last = places - start;
  let i = at - start;
  while (i <= last) {
    if (needle !== null) {
      const found = bytes.indexOf(needle, i + 4);
      if (found < 0 || found - 4 > last) return null;
      i = found - 4;
    }
    if (bytes[i] === 0) {
      const zeros = zeroRun(bytes, words, i, window.length);
      if (zeros >= RECORD_HEADER_LEN) {
        i += zeros - RECORD_HEADER_LEN + 1;
        continue;
      }
    }
    if (headerVerifies(window, data, i)) return start + i;
    i++;
  }
  return null;
}

/** Zero bytes from `bytes[i]` on, as far as the window goes. */
function zeroRun(bytes: Uint8Array, words: Int32Array, i: number, length: number): number {
  let at = i;
  while (at < length && (at & 3) !== 0) {
    if (bytes[at] !== 0) return at - i;
    at++;
  }
  let word = at >> 2;
  const lastWord = length >> 2;
  while (word + 4 <= lastWord && (words[word]! | words[word + 1]! | words[word + 2]! | words[word + 3]!) === 0)
    word += 4;
  at = Math.max(at, word << 2);
  while (at < length && bytes[at] === 0) at++;
  return at - i;
}

/** Cheap tests first: length and kind bits, then the header's checksum. */
function headerVerifies(window: Window, data: DataView, i: number): boolean {
  const lengthWord = data.getInt32(i);
  const kind = lengthWord >>> 29;
  if (kind === 3 || kind > 4) return false;
  if ((lengthWord & LENGTH_MASK) > MAX_PAYLOAD_BYTES) return false;
  return crc32Loop(window.data, i, i + 20, 0) === data.getInt32(i + 20);
}

function verify(
  window: Window,
  checksums: LongChecksums,
  position: number,
  from: number,
  expected: bigint,
): Resync | null {
  const { data } = window;
  const i = position - window.start;
  const offset = u64From(data.getUint32(i + 4), data.getUint32(i + 8));
  if (offset < expected || offset > expected + BigInt(Math.floor((position - from) / RECORD_HEADER_LEN))) return null;
  const lengthWord = data.getInt32(i);
  const end =
    position + RECORD_HEADER_LEN + ((lengthWord & OPENS_BIT) !== 0 ? RECORD_TAG_LEN : 0) + (lengthWord & LENGTH_MASK);
  if (end > window.size) return null;
  const stored = data.getInt32(i + 24);
  const seed = crc32Loop(window.data, i, i + 24, 0);
  try {
    const computed = checksums.continued(window, position + RECORD_HEADER_LEN, end, seed);
    return computed === stored ? { position, offset, failure: null } : null;
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return { position, offset, failure };
  }
}
