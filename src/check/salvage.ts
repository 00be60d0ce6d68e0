/**
 * A salvage from the sources to its report: reads, merges into a sink, and says what came of it.
 */

import type { MergedRun, RunSink, SalvageReport, SalvageSummary } from '../domain/salvage.js';
import { offsetCount } from '../domain/units.js';
import { drive } from '../scan/scanner.js';
import { ReaderPool } from './reader-pool.js';
import { type MergeOutcome, mergeRecords } from './record-merge.js';
import { type Losses, lossesOf } from './salvage-losses.js';
import { type SalvageInput, sourceReports } from './salvage-sources.js';

/** Hands every intact record to the sink; null when told to stop. Throws `ReadFailure` when a source has changed. */
export async function mergeSources(
  { strands }: SalvageInput,
  sink: RunSink,
  goOn: (bytes: number) => Promise<boolean> | boolean,
): Promise<MergeOutcome | null> {
  const pool = new ReaderPool();
  try {
    return await drive(mergeRecords(strands, pool, sink), goOn);
  } finally {
    pool.close();
  }
}

/** What the writer knows of each run. */
export type WrittenRuns = ReadonlyMap<number, Pick<SalvageReport['runs'][number], 'directory' | 'segments' | 'ndjson'>>;

export function salvageReport(
  shard: SalvageReport['shard'],
  createdAtMicros: bigint,
  input: SalvageInput,
  merged: MergeOutcome,
  written: WrittenRuns,
): SalvageReport {
  const losses = lossesOf(input.strands, input.sidecars, merged);
  const pathOf = (strand: number) => input.strands[strand]!.path;
  const reportOf = ({ run, from, to, records, fork, strands }: MergedRun) => {
    const { directory, segments, ndjson } = written.get(run)!;
    return { directory, from, to, records, fork, sources: strands.map(pathOf), segments, ndjson };
  };
  const forks = merged.forks.map(({ from, to, parties }) => ({
    from,
    to,
    parties: parties.map((party) => party.map(pathOf)),
  }));
  return {
    shard,
    createdAtMicros,
    sources: sourceReports(input),
    runs: merged.runs.map(reportOf),
    lost: losses.lost,
    unread: losses.unread,
    uncertain: losses.uncertain,
    forks,
    summary: summaryOf(merged, losses),
  };
}

function summaryOf({ runs, records, bytes, forks }: MergeOutcome, losses: Losses): SalvageSummary {
  const lostRecords = losses.lost.reduce((sum, range) => sum + offsetCount(range), 0n);
  const worse = lostRecords > 0n || forks.length > 0 || losses.uncertain.length > 0;
  const exitCode = worse ? 21 : losses.anyUnread ? 30 : 0;
  return { runs: runs.length, records, bytes, lostRecords, forks: forks.length, exitCode };
}
