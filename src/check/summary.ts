/**
 * Counting what a run found, and the exit code that follows (contract, section 3).
 */

import { atLeast, type Finding, type Severity, worstSeverity } from '../domain/finding.js';
import type { RootReport, ShardReport, Summary } from '../domain/report.js';

export type FailOn = Severity | 'never';

/** The exit code that findings alone ask for: the first that applies of 22, 21, 30, 20, 0. */
export function exitCodeOf(findings: Iterable<Pick<Finding, 'kind' | 'severity'>>, failOn: FailOn): number {
  let worst: Severity | null = null;
  let unreadable = false;
  for (const { kind, severity } of findings) {
    if (kind === 'Unreadable') unreadable = true;
    else if (worst === null || atLeast(severity, worst)) worst = severity;
  }
  const counts = worst !== null && failOn !== 'never' && atLeast(worst, failOn);
  const code = counts ? { info: 20, warning: 20, error: 21, fatal: 22 }[worst!] : 0;
  return unreadable && code < 21 ? 30 : code;
}

/** Adds up reports one at a time, keeping none of them. */
export class Tally {
  readonly #failOn: FailOn;
  readonly #findings: Record<Severity, number> = { info: 0, warning: 0, error: 0, fatal: 0 };
  readonly #codes = new Set<number>();
  readonly #startedAt = Date.now();
  #worst: Severity | null = null;
  #shards = 0;
  #segments = 0;
  #records = 0;
  #bytes = 0;
  #verifiedBytes = 0;
  #damagedBytes = 0;
  #unreadBytes = 0;
  #skippedBytes = 0;

  constructor(failOn: FailOn) {
    this.#failOn = failOn;
  }

  addShard(report: ShardReport): void {
    this.#shards++;
    this.#segments += report.segments.length;
    for (const segment of report.segments) {
      this.#records += segment.records;
      this.#bytes += segment.bytes;
      this.#verifiedBytes += segment.verifiedBytes;
      this.#damagedBytes += segment.damagedBytes;
      this.#unreadBytes += segment.unreadBytes;
      if (segment.skippedSinceMicros !== null) this.#skippedBytes += segment.unreadBytes;
    }
    this.#addFindings(report.findings);
  }

  addRoot(report: RootReport): void {
    this.#addFindings(report.findings);
  }

  #addFindings(findings: readonly Finding[]): void {
    for (const { severity } of findings) this.#findings[severity]++;
    this.#codes.add(exitCodeOf(findings, this.#failOn));
    const worst = worstSeverity(findings);
    if (worst !== null && (this.#worst === null || atLeast(worst, this.#worst))) this.#worst = worst;
  }

  /** Findings so far, of every severity. */
  findings(): number {
    return Object.values(this.#findings).reduce((sum, count) => sum + count, 0);
  }

  summary(): Summary {
    return {
      shards: this.#shards,
      segments: this.#segments,
      records: this.#records,
      bytes: this.#bytes,
      verifiedBytes: this.#verifiedBytes,
      damagedBytes: this.#damagedBytes,
      unreadBytes: this.#unreadBytes,
      skippedBytes: this.#skippedBytes,
      findings: { ...this.#findings },
      worst: this.#worst,
      exitCode: [22, 21, 30, 20].find((code) => this.#codes.has(code)) ?? 0,
      elapsedMs: Date.now() - this.#startedAt,
    };
  }
}
