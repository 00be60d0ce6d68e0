/**
 * Whether two generation histories say the same of a range of offsets ("epochs: the generation history").
 */

import { greater, type OffsetRange } from '../domain/units.js';
import type { EpochEntry } from '../format/epochs.js';

/**
 * The first offset of the range whose generation the two disagree on; null when they agree, or when one of them says
 * nothing of the range.
 */
export function contradictionOver(
  a: readonly EpochEntry[] | null,
  b: readonly EpochEntry[] | null,
  { from, to }: OffsetRange,
): bigint | null {
  const [firstA, firstB] = [a?.[0]?.startOffset, b?.[0]?.startOffset];
  if (firstA === undefined || firstB === undefined) return null;
  const known = [firstA, firstB, from].reduce(greater);
  const starts = [...a!, ...b!].map(({ startOffset }) => startOffset).filter((start) => start > known && start < to);
  for (const offset of [known, ...starts].sort((x, y) => (x < y ? -1 : 1))) {
    if (offset < to && generationAt(a!, offset) !== generationAt(b!, offset)) return offset;
  }
  return null;
}

/** The generation that wrote an offset; null below the first entry. */
function generationAt(entries: readonly EpochEntry[], offset: bigint): bigint | null {
  return entries.findLast(({ startOffset }) => startOffset <= offset)?.generation ?? null;
}
