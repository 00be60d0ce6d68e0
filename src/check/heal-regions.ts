/**
 * The places of a shard where records are missing or bytes are no records, and the ranges of offsets that they come to.
 *
 * A range may run over the end of one segment and the beginning of the next; what stands on both sides of it is what a
 * donor is held to.
 */

import type { BitFlip } from '../domain/finding.js';
import type { OffsetRange } from '../domain/units.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Extent } from '../scan/record-map.js';
import type { Slot } from './heal-slots.js';
import type { DonorPart } from './heal-walk.js';

/** What is done about a region. */
export type Cure =
  | { readonly how: 'donors'; readonly parts: readonly DonorPart[] }
  /** The bytes are no records, and none is missing. */
  | { readonly how: 'drop' }
  | { readonly how: 'flip'; readonly flip: BitFlip }
  | { readonly how: 'keep'; readonly why: string; readonly instead: string | null };

/** Bytes between two intact records of a segment, and the offsets between them; either may be none. */
export interface Region extends OffsetRange {
  readonly slot: Slot;
  readonly start: number;
  readonly end: number;
  /** Behind the last intact record of the segment. */
  readonly atEnd: boolean;
  /** The one flipped bit that makes a record of exactly these bytes. */
  flip: BitFlip | null;
  cure: Cure | null;
}

/** The record on one side of a range. */
export type Side =
  | { readonly is: 'record'; readonly slot: Slot; readonly extent: Extent; readonly offset: bigint }
  /** The log begins or ends there. */
  | { readonly is: 'none' }
  /** A segment that cannot be judged lies there. */
  | { readonly is: 'unknown' };

/** Offsets without a gap between them that are missing. */
export interface MissingRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly regions: readonly Region[];
  readonly left: Side;
  readonly right: Side;
}

/** Regions of one slot in the order of positions; `bound` is where the next segment begins, or the log is to end. */
export function regionsOf(slot: Slot, bound: bigint): Region[] {
  const regions: Region[] = [];
  let start = slot.file === null ? 0 : Math.min(SEGMENT_HEADER_LEN, slot.size);
  let from = slot.base;
  const add = (end: number, to: bigint, atEnd: boolean) => {
    if (end > start || to > from) regions.push({ slot, start, end, from, to, atEnd, flip: null, cure: null });
  };
  for (const own of slot.own) {
    add(own.start, own.from, false);
    start = own.end;
    from = own.to;
  }
  add(slot.file === null ? 0 : slot.size, bound > from ? bound : from, true);
  return regions;
}

export function isMissing({ from, to }: OffsetRange): boolean {
  return to > from;
}

/** Bytes that the region has when it is cured. */
export function curedBytes({ cure, start, end }: Region): number {
  if (cure!.how === 'drop') return 0;
  if (cure!.how !== 'donors') return end - start;
  return cure!.parts.reduce((sum, part) => sum + (part.end - part.start), 0);
}

/** A segment of the log in order; null stands for one that cannot be judged. */
export type Place = { readonly slot: Slot; readonly regions: readonly Region[] } | null;

/** The ranges of missing offsets over all segments. */
export function missingRanges(places: readonly Place[]): MissingRange[] {
  const ranges: { from: bigint; to: bigint; regions: Region[]; left: Side; right: Side }[] = [];
  let left: Side = { is: 'none' };
  let open: (typeof ranges)[number] | null = null;
  const meet = (side: Side) => {
    if (open !== null) open.right = side;
    open = null;
    left = side;
  };
  for (const place of places) {
    if (place === null) {
      meet({ is: 'unknown' });
      continue;
    }
    for (const item of inOrder(place)) {
      if ('firstMark' in item) {
        if (open !== null) meet({ is: 'record', slot: place.slot, extent: item, offset: item.from });
        left = { is: 'record', slot: place.slot, extent: item, offset: item.to - 1n };
      } else if (isMissing(item)) {
        if (open === null) {
          open = { from: item.from, to: item.to, regions: [item], left, right: { is: 'none' } };
          ranges.push(open);
        } else {
          open.regions.push(item);
          open.to = item.to;
        }
      }
    }
  }
  return ranges;
}

/** Records and regions of a segment as they lie in it. */
function inOrder({ slot, regions }: NonNullable<Place>): (Extent | Region)[] {
  const items: (Extent | Region)[] = [...slot.own, ...regions];
  return items.sort((a, b) => a.start - b.start || ('firstMark' in b ? -1 : 1));
}
