/**
 * `verify`: checks everything below the paths and prints what is wrong, what a broker would do, and what to do next.
 */

import { type FailOn, Tally } from '../check/summary.js';
import { segmentBytes } from '../check/targets.js';
import { verifyPaths } from '../check/verify.js';
import type { Summary } from '../domain/report.js';
import { type VerifyWriter, verifyJsonWriter, verifyLineWriter } from '../report/json.js';
import { verifyTableWriter } from '../report/table.js';
import { createScanner } from '../scan/pool.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, jobsOf, listOf, type Options, settingsOf, shardKeyOf } from './options.js';
import { Progress } from './progress.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const jobs = jobsOf(options);
  const scanner = createScanner({ jobs, signal: context.signal });
  const tally = new Tally(options['failOn'] as FailOn);
  const writer = writerFor(context, options);
  const progress = new Progress(context.streams.stderr, options['progress'] !== false, {
    passed: () => scanner.passedBytes(),
    total: () => segmentBytes(paths, { includeDeleted: flag(options, 'includeDeleted') }),
    findings: () => tally.findings(),
  });
  try {
    for await (const event of verifyPaths(paths, scanner, checkOptions(context, options, jobs))) {
      if (event.is === 'shard') tally.addShard(event.report);
      else tally.addRoot(event.report);
      await context.out.write(event.is === 'shard' ? writer.shard(event.report) : writer.root(event.report));
    }
  } finally {
    progress.stop();
    await scanner.close();
  }
  const partial = context.signal.aborted;
  const exitCode = context.signalCode();
  const summary: Summary = exitCode === null ? tally.summary() : { ...tally.summary(), exitCode };
  await context.out.write(writer.end(summary, partial));
  return summary.exitCode;
}

function writerFor(context: CommandContext, options: Options): VerifyWriter {
  switch (formatOf(options)) {
    case 'json':
      return verifyJsonWriter(context.tool);
    case 'ndjson':
      return verifyLineWriter(context.tool);
    case 'table':
      return verifyTableWriter(context.style(colorOf(options)), {
        all: flag(options, 'all'),
        quiet: flag(options, 'quiet'),
        settings: settingsOf(options),
      });
  }
}

function checkOptions(context: CommandContext, options: Options, jobs: number) {
  return {
    settings: settingsOf(options),
    quick: flag(options, 'quick'),
    key: shardKeyOf(options),
    replicas: listOf(options, 'replica'),
    nowMicros: context.nowMicros,
    patienceMs: 500,
    includeDeleted: flag(options, 'includeDeleted'),
    concurrency: jobs === 1 ? 1 : 4 * jobs,
    signal: context.signal,
  };
}
