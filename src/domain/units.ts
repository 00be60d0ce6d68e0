/**
 * The units that every layer speaks.
 *
 * An *offset* is logical, a u64, always a bigint. A *position* is a byte place in a file, a number. Ranges are half-open.
 */

export interface OffsetRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** How many offsets a range holds; never negative. */
export function offsetCount(range: OffsetRange): bigint {
  return range.to > range.from ? range.to - range.from : 0n;
}

/** Bytes in a range; never negative. */
export function byteCount(range: ByteRange): number {
  return Math.max(0, range.to - range.from);
}
