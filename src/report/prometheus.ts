/**
 * The report of `verify` as metrics for Prometheus' textfile collector (text exposition format).
 *
 * All metrics are gauges: each run replaces the file. Values are as of `felix_fsck_run_timestamp_seconds`; u64 values are
 * written in full, and a reader that keeps floats rounds those above 2^53. The number of series is bounded: at most 18 and one for
 * each severity and kind found for each of at most {@link LISTED_SHARDS} shards, worst first; those beyond are counted in
 * the totals only. Names from disk have control characters made visible and backslashes doubled, so that no two become one.
 */

import { type Finding, SEVERITIES, type Severity, worstSeverity } from '../domain/finding.js';
import type { RootReport, SegmentReport, ShardReport, Verdict } from '../domain/report.js';
import { printable } from '../domain/wording.js';
import type { ToolIdentity, VerifyWriter } from './json.js';
import { lossesOf } from './losses.js';
import { type RunReport, WorstShards } from './worst-shards.js';

/** More shards than this are counted in the totals only. */
export const LISTED_SHARDS = 1000;
const LISTED_ROOTS = 100;
const VERDICTS: readonly Verdict[] = ['opens', 'repairs', 'refuses'];

export interface PrometheusOptions {
  readonly tool: ToolIdentity;
  /** When the run was made. */
  readonly checkedAtMicros: bigint;
}

type Labels = Readonly<Record<string, string>>;
type Value = number | bigint;
type Sample = readonly [labels: Labels, value: Value];

/** All at the end: of each metric, its samples stand together. */
export function verifyPrometheusWriter(options: PrometheusOptions): VerifyWriter {
  const worst = new WorstShards();
  const roots: RootReport[] = [];
  return {
    shard(report) {
      worst.add(report);
      return '';
    },
    root(report) {
      roots.push(report);
      return '';
    },
    end: (summary, partial) => renderPrometheus(worst.report(roots, summary, partial), options),
  };
}

/** Ends with a newline, as the format demands. */
export function renderPrometheus(report: RunReport, options: PrometheusOptions): string {
  const named = labelled(report.shards.slice(0, LISTED_SHARDS));
  return [...runMetrics(report, options), ...verdictMetrics(named), ...contentMetrics(named), rootMetric(report)].join(
    '',
  );
}

/** One metric with all its samples; nothing at all when there is none. */
function metric(name: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(([labels, value]) => `felix_fsck_${name}${labelText(labels)} ${value}\n`);
  return `# HELP felix_fsck_${name} ${help}\n# TYPE felix_fsck_${name} gauge\n${lines.join('')}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Backslash, quote and newline, as the format asks. */
function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

/** A name from disk, fit for a terminal; two names never become one. */
function shownName(name: string): string {
  return printable(name.replaceAll('\\', '\\\\'));
}

function runMetrics({ summary, partial, counts }: RunReport, { tool, checkedAtMicros }: PrometheusOptions) {
  const one = (value: Value): Sample[] => [[{}, value]];
  const { verifiedBytes, damagedBytes, unreadBytes, skippedBytes } = summary;
  return [
    metric('info', 'The tool that wrote these metrics.', [[{ version: shownName(tool.version) }, 1]]),
    metric('run_timestamp_seconds', 'When the run began, in seconds since 1970.', one(secondsOf(checkedAtMicros))),
    metric('run_duration_seconds', 'How long the run took.', one(summary.elapsedMs / 1000)),
    metric(
      'run_exit_code',
      'Exit code: 0 nothing to do, 20 warnings, 21 errors, 22 a broker refuses, 30 something could not be read.',
      one(summary.exitCode),
    ),
    metric('run_partial', '1 when the run was interrupted and the rest is not known.', one(partial ? 1 : 0)),
    metric(
      'shards',
      'Shards checked, by what a broker would do on opening them.',
      VERDICTS.map((verdict) => [{ verdict }, counts.verdicts[verdict]]),
    ),
    metric(
      'shards_unlisted',
      `Shards past the first ${LISTED_SHARDS}, which are in the totals and have no series of their own.`,
      one(Math.max(0, counts.shards - LISTED_SHARDS)),
    ),
    metric(
      'findings',
      'Findings of the whole run.',
      SEVERITIES.map((severity) => [{ severity }, summary.findings[severity]]),
    ),
    metric('segments', 'Segments checked.', one(summary.segments)),
    metric('records', 'Intact records met.', one(summary.records)),
    metric('bytes', 'Bytes of all segments: verified + damaged + unread + skipped is their size.', [
      [{ state: 'verified' }, verifiedBytes],
      [{ state: 'damaged' }, damagedBytes],
      [{ state: 'unread' }, unreadBytes - skippedBytes],
      [{ state: 'skipped' }, skippedBytes],
    ]),
  ];
}

/** Microseconds as decimal seconds, exactly. */
function secondsOf(micros: bigint): number {
  return Number(micros / 1_000_000n) + Number(micros % 1_000_000n) / 1e6;
}

interface Named {
  readonly shard: ShardReport;
  readonly labels: Labels;
}

/** One sample a shard, where there is a value. */
function each(named: readonly Named[], of: (shard: ShardReport) => Value | null): Sample[] {
  return named.flatMap(({ labels, shard }) => {
    const value = of(shard);
    return value === null ? [] : [[labels, value] as const];
  });
}

function verdictMetrics(named: readonly Named[]): string[] {
  const verdicts = named.flatMap(({ labels, shard }) =>
    VERDICTS.map((verdict) => [{ ...labels, verdict }, shard.prediction.verdict === verdict ? 1 : 0] as const),
  );
  const kinds = named.flatMap(({ labels, shard }) =>
    byKind(shard.findings).map(([more, count]) => [{ ...labels, ...more }, count] as const),
  );
  return [
    metric(
      'shard_opens',
      '1 when a broker opens the shard, with or without a repair; 0 when it refuses.',
      each(named, ({ prediction }) => (prediction.verdict === 'refuses' ? 0 : 1)),
    ),
    metric('shard_verdict', '1 for what a broker would do on opening the shard, 0 for the rest.', verdicts),
    metric('shard_worst_severity', '0 no finding, 1 info, 2 warning, 3 error, 4 fatal.', each(named, worstNumber)),
    metric('shard_findings', 'Findings, by severity and kind; kinds that were not found have no series.', kinds),
    metric(
      'shard_intact_records_cut_at_open',
      'Intact records that a broker would cut off on opening the shard.',
      each(named, ({ prediction }) => prediction.repairs.reduce((total, cut) => total + cut.intactRecordsLost, 0)),
    ),
    metric(
      'shard_failing_reads',
      'Ranges of offsets that a read fails on.',
      each(named, ({ prediction }) => prediction.readsThatFail.length),
    ),
    metric(
      'shard_not_checked',
      'Relations that could not be judged.',
      each(named, ({ notChecked }) => notChecked.length),
    ),
  ];
}

function contentMetrics(named: readonly Named[]): string[] {
  const sum = (shard: ShardReport, of: (segment: SegmentReport) => number) =>
    shard.segments.reduce((total, segment) => total + of(segment), 0);
  const bytes = named.flatMap(({ labels, shard }) => [
    [{ ...labels, state: 'verified' }, sum(shard, ({ verifiedBytes }) => verifiedBytes)] as const,
    [{ ...labels, state: 'damaged' }, sum(shard, ({ damagedBytes }) => damagedBytes)] as const,
    [{ ...labels, state: 'unread' }, sum(shard, (segment) => unreadOf(segment, false))] as const,
    [{ ...labels, state: 'skipped' }, sum(shard, (segment) => unreadOf(segment, true))] as const,
  ]);
  return [
    metric('shard_bytes', 'Bytes of the segments: verified + damaged + unread + skipped is their size.', bytes),
    metric(
      'shard_segments',
      'Segments of the shard.',
      each(named, ({ segments }) => segments.length),
    ),
    metric(
      'shard_records',
      'Intact records met.',
      each(named, (shard) => sum(shard, ({ records }) => records)),
    ),
    metric(
      'shard_lost_offsets',
      'Offsets known to be lost.',
      each(named, ({ findings }) => lossesOf(findings).count),
    ),
    metric(
      'shard_losses_unknown',
      'Findings of which it is not known how many records they cost.',
      each(named, ({ findings }) => lossesOf(findings).unknown),
    ),
    metric(
      'shard_base_offset',
      'First offset of the log, where it is known.',
      each(named, ({ baseOffset }) => baseOffset),
    ),
    metric(
      'shard_tail_offset',
      'Next offset of the log, where it is known.',
      each(named, ({ tailOffset }) => tailOffset),
    ),
  ];
}

/** Unread bytes, of segments that were passed over as unchanged since an earlier run or of the others. */
function unreadOf({ unreadBytes, skippedSinceMicros }: SegmentReport, skipped: boolean): number {
  return (skippedSinceMicros !== null) === skipped ? unreadBytes : 0;
}

/** Labels that name a shard and no other, a directory given twice included. */
function labelled(shards: readonly ShardReport[]): Named[] {
  const taken = new Map<string, number>();
  return shards.map((shard) => {
    const name = shownName(shard.key ?? shard.name);
    const path = shownName(shard.path);
    const times = (taken.get(path) ?? 0) + 1;
    taken.set(path, times);
    return { labels: { shard: name, path: times === 1 ? path : `${path} \\(${times})` }, shard };
  });
}

function worstNumber(shard: ShardReport): number {
  const worst = worstSeverity(shard.findings);
  return worst === null ? 0 : SEVERITIES.indexOf(worst) + 1;
}

/** Worst first, then by kind. */
function byKind(findings: readonly Finding[]): Sample[] {
  const counts = new Map<string, { readonly severity: Severity; readonly kind: string; count: number }>();
  for (const { severity, kind } of findings) {
    const key = `${9 - SEVERITIES.indexOf(severity)} ${kind}`;
    const entry = counts.get(key) ?? { severity, kind, count: 0 };
    entry.count += 1;
    counts.set(key, entry);
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { severity, kind, count }]) => [{ severity, kind }, count]);
}

/** One path may have several reports: their findings are added up. */
function rootMetric({ roots }: RunReport): string {
  const byPath = new Map<string, Finding[]>();
  for (const { path, findings } of roots) byPath.set(path, [...(byPath.get(path) ?? []), ...findings]);
  const samples = [...byPath].slice(0, LISTED_ROOTS).flatMap(([path, findings]): Sample[] => {
    return byKind(findings).map(([labels, count]) => [{ path: shownName(path), ...labels }, count]);
  });
  return metric('root_findings', 'Findings of data roots and other directories above shards.', samples);
}
