/**
 * Keeps the damages of a whole shard within bounds, as a scan does those of one file: a shard of many ruined segments must
 * not become memory. What goes is counted by kind.
 *
 * The outcome does not depend on which segment is scanned first: the newest ones give way.
 */

import type { RangeScan } from '../scan/range-scan.js';

/** How many damages, and how many faults of indexes, a shard keeps. */
const KEPT_OF_A_SHARD = 10_000;
/** So many every segment keeps, the first ones and its last. */
const KEPT_OF_EACH = 16;

export class KeptDamages {
  readonly #scans = new Map<bigint, RangeScan>();
  /** Damages and faults since the last look at the whole. */
  #fresh = 0;

  /** Takes the scan of a segment in; what it found, or what newer segments did, may give way. */
  add(id: bigint, scan: RangeScan): void {
    this.#scans.set(id, scan);
    this.#fresh += scan.damages.length + scan.entryMismatches.length;
    if (this.#fresh > KEPT_OF_A_SHARD) this.settle();
  }

  /** To be called when all scans are in. */
  settle(): void {
    this.#fresh = 0;
    const scans = [...this.#scans].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scan]) => scan);
    giveWay(scans, ({ damages }) => damages.length, cutDamages);
    giveWay(scans, ({ entryMismatches }) => entryMismatches.length, cutMismatches);
  }
}

function giveWay(
  scans: readonly RangeScan[],
  countOf: (scan: RangeScan) => number,
  cut: (scan: RangeScan, keep: number) => void,
): void {
  let surplus = scans.reduce((sum, scan) => sum + countOf(scan), 0) - KEPT_OF_A_SHARD;
  for (const scan of scans.toReversed()) {
    if (surplus <= 0) return;
    const count = countOf(scan);
    const keep = Math.min(count, Math.max(KEPT_OF_EACH, count - surplus));
    if (keep < count) cut(scan, keep);
    surplus -= count - keep;
  }
}

function cutDamages({ damages, omitted }: RangeScan, keep: number): void {
  for (const { corruption } of damages.splice(keep - 1, damages.length - keep)) {
    omitted.set(corruption.kind, (omitted.get(corruption.kind) ?? 0) + 1);
  }
}

function cutMismatches(scan: RangeScan, keep: number): void {
  scan.entryMismatchesOmitted += scan.entryMismatches.splice(keep - 1, scan.entryMismatches.length - keep).length;
}
