/**
 * `rebuild-index`: plans indexes as a writer would have made them of the records.
 */

import { segmentIndex } from '../check/repair-facts.js';
import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { indexIdOf, segmentIdOf } from '../format/names.js';
import { type IndexRequest, type MadeIndex, planIndexes, wantedIndexes } from '../repair/plan-index.js';
import { discover, statPath } from '../store/walk.js';
import type { CommandContext } from './context.js';
import { flag, listOf, type Options } from './options.js';
import { deliver, type Examined, examine, frameOf, planningSettings, refusePlan, unreadable } from './planning.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const { shards, segment } = shardsAt(paths[0]!);
  const request = requestOf(options, segment);
  if (shards.length > 1 && typeof options['planOut'] === 'string') {
    fail({
      reason: 'usage',
      message: `${printable(paths[0]!)} holds ${shards.length} shards, and a plan is for one: name it`,
    });
  }
  const codes = new Set<number>();
  for (const shard of shards) {
    // A plan is for one shard, and what is proposed names that.
    const args = shards.length > 1 ? context.args.map((word) => (word === paths[0] ? shard : word)) : context.args;
    const code = await rebuild({ ...context, args }, shard, request, options, shards.length > 1);
    if (context.signal.aborted) return context.signalCode() ?? 130;
    codes.add(code);
  }
  return [33, 30, 31, 20].find((code) => codes.has(code)) ?? 0;
}

/** The shard directories that a path stands for, and the segment when it names one. */
function shardsAt(path: string): { shards: string[]; segment: bigint | null } {
  const at = statPath(path);
  if (at === null) fail({ reason: 'usage', message: `${printable(path)}: no such file or directory` });
  if ('code' in at) fail({ reason: 'unreadable', message: `${printable(path)}: ${at.message}` });
  if (at.type !== 'directory') {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const segment = segmentIdOf(name) ?? indexIdOf(name);
    if (segment === null)
      fail({ reason: 'usage', message: `${printable(path)}: neither a segment nor an index, by its name` });
    return { shards: [slash < 0 ? '.' : path.slice(0, slash) || '/'], segment };
  }
  const shards: string[] = [];
  for (const found of discover(path, { includeDeleted: false })) {
    if (found.what === 'shard') shards.push(found.listing.path);
  }
  if (shards.length === 0) fail({ reason: 'usage', message: `${printable(path)}: there is no shard here` });
  return { shards, segment: null };
}

function requestOf(options: Options, segment: bigint | null): IndexRequest {
  const named = listOf(options, 'segment').map((text) => {
    if (!/^[0-9]{1,20}$/.test(text)) fail({ reason: 'usage', message: `--segment ${printable(text)}: it is a number` });
    return BigInt(text);
  });
  if (segment !== null) named.push(segment);
  if (named.length > 0 && flag(options, 'all')) fail({ reason: 'usage', message: 'either --all or some segments' });
  const segments = named.length > 0 ? [...new Set(named)] : flag(options, 'all') ? 'all' : 'wrong';
  return { segments, partial: flag(options, 'partial') };
}

async function rebuild(
  context: CommandContext,
  path: string,
  request: IndexRequest,
  options: Options,
  amongOthers: boolean,
): Promise<number> {
  const settings = planningSettings(options, false);
  const examined = await examine(context, path, options, settings);
  if (examined === null) return 130;
  const plan = planIndexes({
    ...examined,
    made: madeIndexes(examined, request),
    request,
    frame: frameOf(context, settings),
    predictAfter: (change) => examined.predictAfter(change),
  });
  if (plan.ok) {
    // Among many shards, only those are shown that have something to do.
    return amongOthers && plan.value.steps.length === 0 ? 0 : deliver(context, plan.value, options);
  }
  if (!amongOthers) return refusePlan(plan.error, examined.view.path);
  context.streams.stderr.write(`felix-fsck: ${printable(path)}: nothing is planned: ${plan.error.why}\n`);
  return 31;
}

function madeIndexes({ reading, report, settings }: Examined, request: IndexRequest): Map<bigint, MadeIndex | null> {
  const made = new Map<bigint, MadeIndex | null>();
  try {
    for (const id of wantedIndexes(report, request)) {
      const segment = reading.facts.segments.find((candidate) => candidate.id === id)!;
      made.set(id, segmentIndex(reading.facts, segment, settings.indexSpacing));
    }
  } catch (failure) {
    unreadable(failure);
  }
  return made;
}
