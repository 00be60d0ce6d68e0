/**
 * Whether one flipped bit explains a failed checksum, and which.
 *
 * A claim is made only when, with that bit turned back, the whole record verifies: header checksum, kind, length, the
 * offset that is due, and the checksum over all of it. `header_crc` covers bytes 0..20; `checksum` covers bytes 0..24, then
 * tag and payload. Damage of other kinds has a header that verifies, which no single flip leaves behind. What nobody can
 * know is whether several bits changed by chance to the same effect: every claim states how likely that is.
 */

import type { BitFlip, CorruptionKind } from '../domain/finding.js';
import { readU32, readU64 } from '../format/bytes.js';
import { crc32 } from '../format/checksum.js';
import { type Layout, walkLayout } from '../format/layout.js';
import {
  decodeRecordHeader,
  MAX_RECORD_BYTES,
  RECORD_HEADER_LEN,
  RECORD_LAYOUT,
  RECORD_TAG_LEN,
} from '../format/record.js';
import { decodeSegmentHeader, SEGMENT_HEADER_LAYOUT, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { type ErrorPlace, flippedBit } from './crc-logarithm.js';
import { LongChecksums } from './long-checksum.js';
import { bytesAt, pieces } from './pieces.js';
import { MIN_WINDOW_BYTES, Window } from './window.js';

/** Bytes in front of `header_crc`, of a record and of a segment. */
const RECORD_COVERED = 20;
const SEGMENT_COVERED = 24;
/** How much is read plainly before checksums of long ranges are taken from kept blocks. */
const STREAMED_BYTES = 2 * MAX_RECORD_BYTES;

/**
 * Checksums of ranges of one file. Shared between the damages of a file, it keeps the time linear in the file however many
 * records claim to be long.
 */
export class RangeChecksums {
  readonly #source: ByteSource;
  #streamed = 0;
  #kept: { readonly window: Window; readonly checksums: LongChecksums } | null = null;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** CRC-32 of `[start, end)`, continuing `seed`; unsigned. Throws {@link ReadFailure}. */
  continued(start: number, end: number, seed: number): number {
    this.#streamed += end - start;
    if (this.#streamed > STREAMED_BYTES) {
      this.#kept ??= { window: new Window(this.#source, MIN_WINDOW_BYTES), checksums: new LongChecksums() };
      return this.#kept.checksums.continued(this.#kept.window, start, end, seed | 0) >>> 0;
    }
    let crc = seed;
    for (const piece of pieces(this.#source, start, end)) crc = crc32(piece, crc);
    return crc;
  }
}

/**
 * The flipped bit behind damage of this kind at `position`; null when one bit does not explain it or bytes cannot be read.
 *
 * `size` is how much of the file is judged. `expectedOffset` is the offset due at `position`, null when nobody knows.
 * `endHint` is where the scan found the damage to end: a record whose payload fails must end there, or be followed by
 * what may follow a record, or the bytes are not the ones its length speaks of.
 */
export function recordBitFlip(
  source: ByteSource,
  position: number,
  size: number,
  expectedOffset: bigint | null,
  kind: CorruptionKind,
  endHint: number | null,
  checksums: RangeChecksums = new RangeChecksums(source),
): BitFlip | null {
  if (kind !== 'RecordHeaderChecksum' && kind !== 'RecordChecksum') return null;
  if (position + RECORD_HEADER_LEN > size) return null;
  try {
    const head = bytesAt(source, position, Math.min(size, position + RECORD_HEADER_LEN + RECORD_TAG_LEN));
    return kind === 'RecordHeaderChecksum'
      ? headerFlip(head, position, size, expectedOffset, checksums)
      : checksumFlip(source, head, position, size, endHint, checksums);
  } catch (failure) {
    if (failure instanceof ReadFailure) return null;
    throw failure;
  }
}

function headerFlip(
  head: Uint8Array,
  position: number,
  size: number,
  expectedOffset: bigint | null,
  checksums: RangeChecksums,
): BitFlip | null {
  const turned = turnedBack(head, RECORD_COVERED);
  if (turned === null) return null;
  const header = decodeRecordHeader(turned.bytes);
  if (!header.ok || (expectedOffset !== null && header.value.offset !== expectedOffset)) return null;
  const end = position + header.value.totalLen;
  if (end > size) return null;
  const seed = crc32(turned.bytes.subarray(0, 24));
  if (checksums.continued(position + RECORD_HEADER_LEN, end, seed) !== header.value.checksum) return null;
  return claim(RECORD_LAYOUT, turned.bytes, position, turned.place, RECORD_COVERED);
}

/** The header verified, so that neither it nor `header_crc` holds the flip: it lies in the checksum, tag or payload. */
function checksumFlip(
  source: ByteSource,
  head: Uint8Array,
  position: number,
  size: number,
  endHint: number | null,
  checksums: RangeChecksums,
): BitFlip | null {
  const header = decodeRecordHeader(head);
  if (!header.ok) return null;
  const { totalLen, checksum, offset } = header.value;
  const end = position + totalLen;
  if (end > size) return null;
  const computed = checksums.continued(position + RECORD_HEADER_LEN, end, crc32(head.subarray(0, 24)));
  const body = totalLen - RECORD_HEADER_LEN;
  const error = flippedBit(computed ^ checksum, body);
  if (error === null) return null;
  if (endHint !== end && !mayFollow(source, end, size, offset + 1n)) return null;
  const at = error.at < body ? RECORD_HEADER_LEN + error.at : 24 + (error.at - body);
  return claim(RECORD_LAYOUT, head, position, { at, bit: error.bit }, body);
}

/**
 * True when a record may end at `end`: with the file, in front of a header of the next offset (whole, cut off, or itself
 * with one flipped bit), or in front of zeros.
 */
function mayFollow(source: ByteSource, end: number, size: number, nextOffset: bigint): boolean {
  if (size - end < RECORD_HEADER_LEN) return true;
  const head = bytesAt(source, end, end + RECORD_HEADER_LEN);
  if (head.every((byte) => byte === 0)) return true;
  const verifies = crc32(head.subarray(0, RECORD_COVERED)) === readU32(head, RECORD_COVERED);
  const bytes = verifies ? head : turnedBack(head, RECORD_COVERED)?.bytes;
  return bytes !== undefined && readU64(bytes, 4) === nextOffset;
}

/**
 * The flipped bit behind a segment header that does not decode, whatever the reason given (magic, version and flags are
 * judged before the checksum). `bytes` are the first 32 of the file.
 */
export function segmentHeaderBitFlip(bytes: Uint8Array): BitFlip | null {
  if (bytes.length < SEGMENT_HEADER_LEN) return null;
  const turned = turnedBack(bytes.subarray(0, SEGMENT_HEADER_LEN), SEGMENT_COVERED);
  if (turned === null || !decodeSegmentHeader(turned.bytes).ok) return null;
  return claim(SEGMENT_HEADER_LAYOUT, turned.bytes, 0, turned.place, SEGMENT_COVERED);
}

/** A copy in which the checksum behind the first `covered` bytes verifies with one bit turned back; null when no bit does that. */
function turnedBack(
  bytes: Uint8Array,
  covered: number,
): { readonly bytes: Uint8Array; readonly place: ErrorPlace } | null {
  const computed = crc32(bytes.subarray(0, covered));
  const place = flippedBit(computed ^ readU32(bytes, covered), covered);
  if (place === null) return null;
  const copy = new Uint8Array(bytes);
  copy[place.at]! ^= 1 << place.bit;
  return { bytes: copy, place };
}

function claim(layout: Layout, head: Uint8Array, position: number, { at, bit }: ErrorPlace, covered: number): BitFlip {
  const field = walkLayout(layout, head).find((span) => at < span.end)?.name ?? 'payload';
  return { position: position + at, bit, field, chance: (covered * 8 + 32) / 2 ** 32 };
}
