/**
 * Runs the check in this process, as `verify` does, for tests that look at many shards.
 */

import { Tally } from '../../src/check/summary.js';
import { type VerifyOptions, verifyPaths } from '../../src/check/verify.js';
import type { RootReport, ShardReport, Summary } from '../../src/domain/report.js';
import { InlineScanner, type Scanner } from '../../src/scan/scanner.js';

export interface Checked {
  readonly shards: ShardReport[];
  readonly roots: RootReport[];
  readonly summary: Summary;
}

/** 2026-06-01, so that no test depends on the day it runs. */
export const TEST_NOW_MICROS = 1_780_272_000_000_000n;

export const DEFAULTS: VerifyOptions = {
  settings: { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 },
  quick: false,
  key: null,
  replicas: [],
  nowMicros: TEST_NOW_MICROS,
  patienceMs: 0,
  includeDeleted: false,
  concurrency: 1,
};

export async function checked(
  path: string,
  options: Partial<VerifyOptions> = {},
  scanner: Scanner = new InlineScanner(new AbortController().signal),
): Promise<Checked> {
  const tally = new Tally('warning');
  const shards: ShardReport[] = [];
  const roots: RootReport[] = [];
  for await (const event of verifyPaths([path], scanner, { ...DEFAULTS, ...options })) {
    if (event.is === 'shard') {
      shards.push(event.report);
      tally.addShard(event.report);
    } else if (event.is === 'root') {
      roots.push(event.report);
      tally.addRoot(event.report);
    }
  }
  return { shards, roots, summary: tally.summary() };
}
