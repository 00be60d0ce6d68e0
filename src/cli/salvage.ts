/**
 * `salvage`: copies every intact record of a shard, or of several replicas of it, out into new shards.
 */

import { mergeSources, salvageReport } from '../check/salvage.js';
import {
  expectedBytes,
  readSources,
  type SalvageInput,
  type SourceShard,
  shardIdentity,
  sourceBytes,
  sourceShards,
} from '../check/salvage-sources.js';
import { fail } from '../domain/result.js';
import type { SalvageReport } from '../domain/salvage.js';
import { printable } from '../domain/wording.js';
import { DurableFs, WriteFailure } from '../repair/durable-fs.js';
import {
  bindTarget,
  checkRoom,
  checkTarget,
  completeTarget,
  resumeWords,
  type Target,
} from '../repair/salvage-target.js';
import { type SalvageSettings, SalvageWriter } from '../repair/salvage-writer.js';
import { renderSalvage, renderSalvageJson } from '../report/salvage.js';
import { ReadFailure } from '../store/byte-source.js';
import { pathFacts } from '../store/path-facts.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, type Options } from './options.js';
import { Pace } from './pace.js';
import { Progress } from './progress.js';
import { RecordLines } from './record-lines.js';

/** Beside the records: indexes, headers, reports, and what a file system rounds up. */
const SLACK_BYTES = 4 * 1024 * 1024;

export interface SalvageJob {
  readonly shards: readonly SourceShard[];
  readonly target: Target;
  readonly settings: Omit<SalvageSettings, 'createdAtMicros'>;
  readonly ndjson: boolean;
}

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const to = options['to'];
  if (typeof to !== 'string') fail({ reason: 'usage', message: '--to DIR is needed: where the records are copied to' });
  const job = salvageJob(paths, to, options);
  const pace = new Pace(context.signal);
  const progress = new Progress(context.streams.stderr, options['progress'] !== false, {
    passed: () => pace.passed,
    total: () => 2 * sourceBytes(job.shards),
    findings: () => 0,
  });
  try {
    const report = await salvage(context, job, pace);
    progress.stop();
    if (report === null) {
      const words = resumeWords(paths, to);
      if (pathFacts(job.target.path) !== null) context.streams.stderr.write(`felix-fsck: to go on: ${words}\n`);
      return context.signalCode() ?? 130;
    }
    const isTable = formatOf(options) === 'table';
    const style = context.style(colorOf(options));
    await context.out.write(isTable ? renderSalvage(report, to, style) : renderSalvageJson(report, context.tool));
    return report.summary.exitCode;
  } catch (failure) {
    return unfinished(failure, resumeWords(paths, to));
  } finally {
    progress.stop();
  }
}

/** Throws a failure when the shards or the target are none for it. */
export function salvageJob(paths: readonly string[], to: string, options: Options): SalvageJob {
  const segmentBytes = options['segmentBytes'] as number;
  const indexSpacing = options['indexSpacing'] as number;
  if (segmentBytes < 64) fail({ reason: 'usage', message: '--segment-bytes is at least 64' });
  if (indexSpacing < 1) fail({ reason: 'usage', message: '--index-spacing is at least 1 byte' });
  const shards = sourceShards(paths);
  const modes = modesOf(shards[0]!);
  const sources = shards.map(({ real }) => real);
  const target = checkTarget({ path: to, sources, resume: flag(options, 'resume'), mode: modes.directoryMode });
  const { name } = shardIdentity(shards);
  const settings = { target: target.path, shardName: name, segmentBytes, indexSpacing, ...modes };
  return { shards, target, settings, ndjson: flag(options, 'ndjson') };
}

/** Copies are as private as what they are copies of, and no less open to the one who made them. */
function modesOf({ real, listing }: SourceShard): { directoryMode: number; fileMode: number } {
  const segment = listing.entries.find(({ name, type }) => type === 'file' && name.endsWith('.log'));
  const own = segment === undefined ? null : pathFacts(`${real}/${segment.name}`);
  return {
    directoryMode: ((pathFacts(real)?.mode ?? 0) & 0o777) | 0o700,
    fileMode: ((own?.mode ?? 0) & 0o666) | 0o600,
  };
}

type Occasion = Pick<CommandContext, 'tool' | 'nowMicros'>;

/** Null when interrupted. Throws `WriteFailure` and `ReadFailure`. */
export async function salvage(
  context: Occasion,
  job: SalvageJob,
  pace: Pace,
  fs: DurableFs = new DurableFs(),
): Promise<SalvageReport | null> {
  const { shards, target, settings, ndjson } = job;
  const goOn = (bytes: number) => pace.goOn(bytes);
  const input = await readSources(shards, { hashed: true, goOn });
  if (input === null) return null;
  if (!target.begun) checkRoom(target, roomFor(input, ndjson));
  const { nowMicros } = context;
  const bound = bindingOf(context, job, input);
  const createdAtMicros = bindTarget(fs, target, bound, { mode: settings.directoryMode, nowMicros });
  const text = ndjson ? new RecordLines(context.tool, shardIdentity(shards)) : null;
  const writer = new SalvageWriter(fs, { ...settings, createdAtMicros }, text);
  try {
    const merged = await mergeSources(input, writer, goOn);
    if (merged === null) return null;
    const report = salvageReport(shardIdentity(shards), createdAtMicros, input, merged, writer.written);
    completeTarget(fs, target, renderSalvageJson(report, context.tool));
    return report;
  } finally {
    writer.abandon();
  }
}

/** Payloads come as base64 and as text, where they are text. */
function roomFor({ strands }: SalvageInput, ndjson: boolean): number {
  const bytes = expectedBytes(strands);
  return (ndjson ? 4 * bytes : bytes) + Math.ceil(bytes / 64) + SLACK_BYTES;
}

function bindingOf(context: Occasion, { shards, settings, ndjson }: SalvageJob, { strands }: SalvageInput) {
  const { segmentBytes, indexSpacing, shardName } = settings;
  const files = strands.flatMap((strand) => strand.files);
  const realOf = (path: string) => {
    const shard = shards.find(({ listing }) => path.startsWith(`${listing.path}/`));
    return shard === undefined ? path : shard.real + path.slice(shard.listing.path.length);
  };
  return {
    tool: { name: context.tool.name, version: context.tool.version },
    settings: { shardName, segmentBytes, indexSpacing, ndjson },
    sources: files.map(({ path, entry }) => ({ path: realOf(path), bytes: entry.size, mtimeNs: entry.mtimeNs })),
  };
}

function unfinished(failure: unknown, resume: string): never {
  if (failure instanceof WriteFailure) {
    const what = `${failure.call.kind.replaceAll('-', ' ')} of ${failure.call.path} failed (${failure.message})`;
    fail({ reason: 'unreadable', message: `not finished: ${printable(what)}. To go on: ${resume}` });
  }
  if (failure instanceof ReadFailure) {
    fail({
      reason: 'unreadable',
      message: `not finished: ${printable(failure.message)}. Nothing of the source was touched.`,
    });
  }
  throw failure;
}
