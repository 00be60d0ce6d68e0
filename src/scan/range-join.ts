/**
 * Joining the scans of neighbouring ranges into what one scan of both would have found.
 */

import { joinBatches } from './batches.js';
import { KEPT_DAMAGES, KEPT_NOTES, type RangeScan } from './range-scan.js';

/**
 * Appends `next` to `scan`, which is changed. Returns false, with `scan` as it was, when `next` does not begin where and
 * with what `scan` ended: then only a scan in order tells what is there.
 */
export function joinRange(scan: RangeScan, next: RangeScan, nextExpected: bigint | null): boolean {
  if (scan.stopped !== null) return true;
  if (scan.end !== next.start || scan.nextOffset !== nextExpected) return false;
  if (!joinBatches(scan.batches, next.batches)) return false;
  scan.end = next.end;
  scan.nextOffset = next.nextOffset;
  scan.stopped = next.stopped;
  scan.firstOffset ??= next.firstOffset;
  scan.lastOffset = next.lastOffset ?? scan.lastOffset;
  scan.firstTimestampMicros ??= next.firstTimestampMicros;
  scan.lastTimestampMicros = next.lastTimestampMicros ?? scan.lastTimestampMicros;
  scan.damagedBytes += next.damagedBytes;
  scan.afterMark ??= shifted(next.afterMark, scan.records);
  scan.markHolds ||= next.markHolds;
  joinDamages(scan, next);
  scan.records += next.records;
  scan.generationStartsOmitted += keep(scan.generationStarts, next.generationStarts, next.generationStartsOmitted);
  scan.kindViolationsOmitted += keep(scan.kindViolations, next.kindViolations, next.kindViolationsOmitted);
  scan.entryMismatchesOmitted += keep(scan.entryMismatches, next.entryMismatches, next.entryMismatchesOmitted);
  scan.checkedEntries += next.checkedEntries;
  scan.notJudgedEntries += next.notJudgedEntries;
  scan.bytesRead += next.bytesRead;
  for (const oddity of next.oddities) {
    const known = scan.oddities.find(({ what }) => what === oddity.what);
    if (known) known.count += oddity.count;
    else scan.oddities.push(oddity);
  }
  return true;
}

function shifted<T extends { readonly recordsBefore: number }>(damage: T | null, records: number): T | null {
  return damage === null ? null : { ...damage, recordsBefore: damage.recordsBefore + records };
}

function joinDamages(scan: RangeScan, next: RangeScan): void {
  for (const damage of next.damages) {
    if (scan.damages.length < KEPT_DAMAGES) scan.damages.push(shifted(damage, scan.records)!);
    else scan.omitted.set(damage.corruption.kind, (scan.omitted.get(damage.corruption.kind) ?? 0) + 1);
  }
  for (const [kind, count] of next.omitted) scan.omitted.set(kind, (scan.omitted.get(kind) ?? 0) + count);
}

/** Moves what there is room for; returns how many more were left out. */
function keep<T>(list: T[], next: readonly T[], omitted: number): number {
  const room = Math.max(0, KEPT_NOTES - list.length);
  list.push(...next.slice(0, room));
  return omitted + Math.max(0, next.length - room);
}
