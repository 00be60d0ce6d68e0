/**
 * Where the records of each offset are: in a local segment, in the object store by the manifest, in both, or nowhere.
 *
 * Local is what lies in the segments of the log and is not lost to damage. What the object store holds is the manifest's
 * word alone: no object is looked at.
 */

import type { CoverageRange } from '../domain/report.js';
import type { OffsetRange } from '../domain/units.js';
import type { ManifestEntry } from '../format/manifest.js';
import { baseOf, endOf, logSegments } from './log.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** Every offset from the oldest known one to the end, in order, neighbours merged; null without a manifest to go by. */
export function coverage(facts: ShardFacts): CoverageRange[] | null {
  const manifest = facts.sidecars.manifest?.reading?.value;
  if (manifest == null) return null;
  return overlay(localRanges(facts), offloadedRanges(manifest.entries));
}

/** Tells the key of the object that holds an offset by the manifest, or null. */
export function objectKeys(facts: ShardFacts): (offset: bigint) => string | null {
  const entries = byBase(facts.sidecars.manifest?.reading?.value?.entries ?? []);
  return (offset) => {
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (entries[middle]!.baseOffset <= offset) low = middle + 1;
      else high = middle;
    }
    const entry = entries[low - 1];
    return entry !== undefined && offset <= entry.lastOffset ? entry.key : null;
  };
}

/** Offsets in local segments, ascending and merged. */
function localRanges(facts: ShardFacts): OffsetRange[] {
  return merged(logSegments(facts).flatMap(rangesIn));
}

/** Offsets in the object store by the manifest, ascending and merged. */
export function offloadedRanges(entries: readonly ManifestEntry[]): OffsetRange[] {
  const result: { from: bigint; to: bigint }[] = [];
  for (const { baseOffset, lastOffset } of byBase(entries)) addRange(result, baseOffset, lastOffset + 1n);
  return result;
}

function rangesIn(segment: SegmentFacts): OffsetRange[] {
  const end = endOf(segment);
  let from = baseOf(segment);
  if (from === null || end === null) return [];
  const ranges: OffsetRange[] = [];
  for (const { lost } of segment.scan?.records?.damages ?? []) {
    if (lost === null || lost.to <= from) continue;
    ranges.push({ from, to: lost.from });
    from = lost.to;
  }
  ranges.push({ from, to: end });
  return ranges;
}

function merged(ranges: readonly OffsetRange[]): OffsetRange[] {
  const result: { from: bigint; to: bigint }[] = [];
  const sorted = ranges.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  for (const { from, to } of sorted) addRange(result, from, to);
  return result;
}

/** Adds a range that begins where the last one does or behind it. */
function addRange(ranges: { from: bigint; to: bigint }[], from: bigint, to: bigint): void {
  if (to <= from) return;
  const last = ranges.at(-1);
  if (last === undefined || from > last.to) ranges.push({ from, to });
  else if (to > last.to) last.to = to;
}

function byBase(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return entries.toSorted((a, b) => (a.baseOffset < b.baseOffset ? -1 : a.baseOffset > b.baseOffset ? 1 : 0));
}

function overlay(local: readonly OffsetRange[], offloaded: readonly OffsetRange[]): CoverageRange[] {
  const borders = [...local, ...offloaded]
    .flatMap(({ from, to }) => [from, to])
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const result: CoverageRange[] = [];
  const cursors = { local: 0, offloaded: 0 };
  for (const [i, from] of borders.entries()) {
    const to = borders[i + 1];
    if (to === undefined || to === from) continue;
    while (cursors.local < local.length && local[cursors.local]!.to <= from) cursors.local++;
    while (cursors.offloaded < offloaded.length && offloaded[cursors.offloaded]!.to <= from) cursors.offloaded++;
    const isLocal = holds(local[cursors.local], from);
    const isOffloaded = holds(offloaded[cursors.offloaded], from);
    const where = isLocal ? (isOffloaded ? 'both' : 'local') : isOffloaded ? 'offloaded' : 'nowhere';
    const last = result.at(-1);
    if (last?.where === where) result[result.length - 1] = { ...last, to };
    else result.push({ from, to, where });
  }
  return result;
}

function holds(range: OffsetRange | undefined, offset: bigint): boolean {
  return range !== undefined && range.from <= offset;
}
