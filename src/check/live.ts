/**
 * Shards that somebody may be writing to while they are read.
 *
 * Sizes are taken once and only that prefix is judged. When something worse than info is found and the directory has
 * changed meanwhile, the shard is looked at again. What a quiet directory shows is true of it; of one that never comes to
 * rest, only what two looks in a row show in files that did not change is told as damage, and the rest as a change.
 */

import type { Finding } from '../domain/finding.js';
import type { ShardReport } from '../domain/report.js';
import { segmentIdOf } from '../format/names.js';
import type { Scanner } from '../scan/scanner.js';
import { type Entry, type Listing, listDirectory } from '../store/walk.js';
import { makeFinding } from './make-finding.js';
import { checkShard, type ShardCheckOptions } from './shard.js';

const LOOKS = 5;

/** Checks a shard, and looks again while it changes. */
export async function checkLiveShard(
  listing: Listing,
  scanner: Scanner,
  options: ShardCheckOptions,
): Promise<ShardReport> {
  let before = listing;
  let previous: ShardReport | null = null;
  for (let look = 1; ; look++) {
    const report = await checkShard(before, scanner, options);
    if (options.sole !== null) return report;
    if (!report.findings.some(isDamage)) return withChanges(report, changedSegments(before));
    const { after, changes } = await listWhenMoved(before, options);
    if (changes.length === 0) return report;
    if (look === LOOKS) return settled(report, previous, changes);
    previous = report;
    before = after;
  }
}

function isDamage({ severity }: Finding): boolean {
  return severity !== 'info';
}

/** A directory written to so lately may still be at work, though nothing has changed since it was listed. */
const RECENT_NS = 2_000_000_000n;
const POLL_MS = 50;

/** Lists again; of a directory at work, only once it has moved or the patience for that is spent. */
async function listWhenMoved(
  before: Listing,
  { patienceMs = 0, nowMicros }: ShardCheckOptions,
): Promise<{ after: Listing; changes: Change[] }> {
  const recent = before.entries.some(({ mtimeNs }) => mtimeNs > nowMicros * 1000n - RECENT_NS);
  const giveUpAt = performance.now() + (recent ? patienceMs : 0);
  for (;;) {
    const after = listDirectory(before.path, before.raw);
    const changes = changesBetween(before, after);
    if (changes.length > 0 || performance.now() >= giveUpAt) return { after, changes };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface Change {
  readonly name: string;
  readonly change: 'grew' | 'shrank' | 'vanished' | 'appeared' | 'was replaced' | 'was written to';
  readonly judgedBytes: number;
}

function changesBetween(before: Listing, after: Listing): Change[] {
  const changes: Change[] = [];
  const now = new Map(after.entries.map((entry) => [entry.name, entry]));
  for (const entry of before.entries) {
    const change = changeOf(entry, now.get(entry.name));
    if (change !== null) changes.push({ name: entry.name, change, judgedBytes: entry.size });
    now.delete(entry.name);
  }
  for (const name of now.keys()) changes.push({ name, change: 'appeared', judgedBytes: 0 });
  return changes;
}

function changeOf(entry: Entry, now: Entry | undefined): Change['change'] | null {
  if (now === undefined) return 'vanished';
  if (now.inode !== entry.inode || now.type !== entry.type) return 'was replaced';
  if (now.size !== entry.size) return now.size > entry.size ? 'grew' : 'shrank';
  return now.mtimeNs === entry.mtimeNs ? null : 'was written to';
}

/** What became of the newest segment, which is the one that grows. */
function changedSegments(before: Listing): Change[] {
  const newest = before.entries.findLast(({ name, type }) => type === 'file' && segmentIdOf(name) !== null);
  if (newest === undefined) return [];
  const after = listDirectory(before.path, before.raw, (name) => name === newest.name);
  return changesBetween({ ...before, entries: [newest] }, after);
}

function withChanges(report: ShardReport, changes: readonly Change[]): ShardReport {
  if (changes.length === 0) return report;
  const known = new Set(report.findings.filter(({ kind }) => kind === 'ChangedWhileReading').map(({ file }) => file));
  const found = changes
    .filter(({ name }) => !known.has(name))
    .map(({ name, change, judgedBytes }) =>
      makeFinding(
        { label: report.key ?? report.name, path: report.path },
        { kind: 'ChangedWhileReading', severity: 'info', file: name, detail: { change, judgedBytes } },
      ),
    );
  return { ...report, findings: [...report.findings, ...found] };
}

/** Of a directory that does not come to rest: what both looks show in files that nobody touched. */
function settled(report: ShardReport, previous: ShardReport | null, changes: readonly Change[]): ShardReport {
  const touched = new Set(changes.map(({ name }) => name));
  const seen = new Set(previous?.findings.map(identityOf));
  const stands = (finding: Finding) =>
    !isDamage(finding) || (seen.has(identityOf(finding)) && finding.file !== null && !touched.has(finding.file));
  const findings = report.findings.filter(stands);
  const refusals = report.prediction.refusals.filter(({ kind, site }) =>
    findings.some((finding) => finding.kind === kind && finding.site.position === site.position),
  );
  const moving = 'the directory changed during every look, so the newest records and what follows from them';
  const verdict = refusals.length > 0 ? 'refuses' : 'opens';
  const prediction = { ...report.prediction, verdict, refusals, repairs: [] } as const;
  return withChanges(
    { ...report, findings, prediction: { ...prediction, notJudged: [...prediction.notJudged, moving] } },
    changes,
  );
}

function identityOf({ kind, file, site }: Finding): string {
  return `${kind} ${file} ${site.segment} ${site.position}`;
}
