/**
 * `verify`: checks everything below the paths and prints what is wrong, what a broker would do, and what to do next.
 */

import { type FailOn, Tally } from '../check/summary.js';
import { segmentBytes } from '../check/targets.js';
import { verifyPaths } from '../check/verify.js';
import type { Summary } from '../domain/report.js';
import { createScanner } from '../scan/pool.js';
import type { CheckpointRun } from './checkpoint.js';
import type { CommandContext } from './context.js';
import { setFree, tread } from './gently.js';
import { flag, jobsOf, listOf, type Options, settingsOf, shardKeyOf } from './options.js';
import { Progress } from './progress.js';
import { VerifyOutput } from './verify-output.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const jobs = jobsOf(options);
  const pace = tread(options);
  const checkpoint = await checkpointOf(context, paths, options);
  const output = await outputOf(context, options, checkpoint);
  const scanner = createScanner({ jobs, signal: context.signal, pace });
  const tally = new Tally(options['failOn'] as FailOn);
  const progress = new Progress(context.streams.stderr, options['progress'] !== false, {
    passed: () => scanner.passedBytes() + (checkpoint?.passedOver ?? 0),
    total: () => segmentBytes(paths, { includeDeleted: flag(options, 'includeDeleted') }),
    findings: () => tally.findings(),
  });
  try {
    for await (const event of verifyPaths(paths, scanner, checkOptions(context, options, jobs, checkpoint))) {
      if (event.is === 'shard') {
        tally.addShard(event.report);
        await output.shard(event.report);
      } else {
        tally.addRoot(event.report);
        await output.root(event.report);
      }
    }
    progress.stop();
    const exitCode = context.signalCode();
    const summary: Summary = exitCode === null ? tally.summary() : { ...tally.summary(), exitCode };
    await output.end(summary, context.signal.aborted);
    checkpoint?.commit();
    return summary.exitCode;
  } finally {
    setFree();
    progress.stop();
    output.discard();
    checkpoint?.discard();
    await scanner.close();
  }
}

async function checkpointOf(
  context: CommandContext,
  paths: readonly string[],
  options: Options,
): Promise<CheckpointRun | null> {
  if (options['sinceCheckpoint'] === undefined) return null;
  const { CheckpointRun } = await import('./checkpoint.js');
  return CheckpointRun.begin(context, paths, options);
}

async function outputOf(
  context: CommandContext,
  options: Options,
  checkpoint: CheckpointRun | null,
): Promise<VerifyOutput> {
  try {
    return await VerifyOutput.open(context, options);
  } catch (failure) {
    checkpoint?.discard();
    throw failure;
  }
}

function checkOptions(context: CommandContext, options: Options, jobs: number, checkpoint: CheckpointRun | null) {
  return {
    ...(checkpoint === null ? {} : { memory: checkpoint.memory }),
    settings: settingsOf(options),
    quick: flag(options, 'quick'),
    key: shardKeyOf(options),
    replicas: listOf(options, 'replica'),
    nowMicros: context.nowMicros,
    patienceMs: 500,
    includeDeleted: flag(options, 'includeDeleted'),
    // Reports of ruined shards are what memory goes to; the threads share the segments of a few shards as well as of many.
    concurrency: Math.min(jobs, 3),
    signal: context.signal,
  };
}
