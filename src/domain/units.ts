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

export function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function greater(a: bigint, b: bigint): bigint {
  return a < b ? b : a;
}

/** From the first offset of any range to the last; null without a range. */
export function spanOf(ranges: Iterable<OffsetRange>): OffsetRange | null {
  let span: OffsetRange | null = null;
  for (const { from, to } of ranges) {
    span = span === null ? { from, to } : { from: lesser(span.from, from), to: greater(span.to, to) };
  }
  return span;
}
