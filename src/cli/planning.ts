/**
 * What the planning commands share: looking at a shard, showing the plan, writing it to a file, and going on to apply it.
 */

import { predictAfter } from '../check/prediction-after.js';
import { judgeShard, readShard, type ShardReading } from '../check/shard.js';
import type { Plan } from '../domain/plan.js';
import type { ShardChange } from '../domain/plan-facts.js';
import type { BrokerSettings, Prediction, ShardReport } from '../domain/report.js';
import { fail } from '../domain/result.js';
import { shellPath, shellQuoted } from '../domain/shell-words.js';
import { printable } from '../domain/wording.js';
import { DurableFs, WriteFailure } from '../repair/durable-fs.js';
import { planValue } from '../repair/plan-file.js';
import type { PlanFrame, PlanRefusal } from '../repair/plan-parts.js';
import { concernsBroker } from '../repair/shard-file.js';
import { ShardChanged, type ShardView, viewShard } from '../repair/shard-view.js';
import { removeIfThere, writeNew } from '../repair/steps.js';
import { toJsonDocument } from '../report/json.js';
import { renderPlan } from '../report/plan.js';
import { createScanner } from '../scan/pool.js';
import { ReadFailure } from '../store/byte-source.js';
import { pathFacts, realPath } from '../store/path-facts.js';
import { listDirectory } from '../store/walk.js';
import { applyNow } from './applying.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, jobsOf, type Options, settingsOf, shardKeyOf } from './options.js';
import { shardAt } from './shard-at.js';

/** A shard, looked at from all sides. */
export interface Examined {
  readonly reading: ShardReading;
  readonly report: ShardReport;
  readonly view: ShardView;
  readonly settings: BrokerSettings;
  /** What a broker that cuts no more than it must does once a change is made. */
  predictAfter(change: ShardChange): Prediction;
}

/** Null when interrupted. Throws a failure for what is no shard, cannot be read, or changes meanwhile. */
export async function examine(
  context: CommandContext,
  path: string,
  options: Options,
  settings: BrokerSettings,
): Promise<Examined | null> {
  const real = realShard(shardAt(path).path);
  const listing = { ...listDirectory(real), path: real };
  const scanner = createScanner({ jobs: jobsOf(options), signal: context.signal });
  const key = shardKeyOf(options);
  const check = { settings, quick: false, key, replicas: [], nowMicros: context.nowMicros, sole: null };
  try {
    const reading = await readShard(listing, scanner, check);
    const report = await judgeShard(listing, reading, scanner, check);
    if (context.signal.aborted) return null;
    refuseUnread(report);
    const view = viewShard(listing, real, report.key);
    const broker = { ...settings, repairChecksumTail: false };
    return {
      reading,
      report,
      view,
      settings,
      predictAfter: (change) => predictAfter(reading, report.findings, change, broker),
    };
  } catch (failure) {
    return unreadable(failure);
  } finally {
    await scanner.close();
  }
}

/** Turns what could not be read, or changed meanwhile, into a failure; anything else is thrown on. */
export function unreadable(failure: unknown): never {
  if (failure instanceof ShardChanged) {
    fail({ reason: 'refused', message: `nothing is planned: ${failure.message}; it may be in use.` });
  }
  if (failure instanceof ReadFailure) {
    fail({ reason: 'unreadable', message: `nothing is planned: ${printable(failure.message)}. ${ON_UNREADABLE}` });
  }
  throw failure;
}

const ON_UNREADABLE =
  'What cannot be read is not known to be bad, and no repair is offered over it: run as a user who may read it; on I/O ' +
  'errors image the device first, and work on the image.';

function realShard(path: string): string {
  try {
    return realPath(path) ?? fail({ reason: 'usage', message: `${printable(path)}: no such file or directory` });
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(failure.message)}` });
  }
}

function refuseUnread({ findings }: ShardReport): void {
  for (const { kind, file, message } of findings) {
    if (file !== null && !concernsBroker(file)) continue;
    if (kind === 'ChangedWhileReading') {
      fail({ reason: 'refused', message: `nothing is planned: the shard changes while it is read. ${message}` });
    }
    if (kind === 'Unreadable') {
      fail({ reason: 'unreadable', message: `nothing is planned: ${message} ${ON_UNREADABLE}` });
    }
  }
}

/** What every plan says of the run that made it. */
export function frameOf(
  context: Pick<CommandContext, 'tool' | 'nowMicros'>,
  settings: BrokerSettings,
): Omit<PlanFrame, 'before' | 'after' | 'command' | 'notes'> {
  return { tool: context.tool, createdAtMicros: context.nowMicros, settings };
}

/** Stops with the reason why there is no plan, and what could help instead. */
export function refusePlan({ why, instead }: PlanRefusal, shard: string): never {
  const commands = new Set(instead.map((command) => command.replace(/\bSHARD\b/, shellPath(shard))));
  const lines = Array.from(commands, (command) => `\n  Instead: ${command}`);
  fail({ reason: 'refused', message: `nothing is planned: ${why}${lines.join('')}` });
}

/** Shows a plan, keeps it in a file when asked to, and carries it out when asked to. Returns the exit code. */
export async function deliver(context: CommandContext, plan: Plan, options: Options): Promise<number> {
  const out = options['planOut'];
  if (typeof out === 'string') writePlan(plan, out);
  const applies = flag(options, 'apply');
  if (formatOf(options) === 'table') {
    const how = applies || plan.steps.length === 0 ? [] : howToApply(context.args, plan, options);
    await context.out.write(renderPlan(plan, context.style(colorOf(options)), how));
  } else if (!applies) await context.out.write(toJsonDocument(planValue(plan)));
  if (plan.steps.length === 0) return 0;
  return applies ? applyNow(context, plan, options) : 20;
}

/** What is to be typed next, as it stands: the same command again with a file for the plan, where there is none yet, and `apply`. */
function howToApply([command = '', ...rest]: readonly string[], plan: Plan, options: Options): string[] {
  const { planOut, journal } = options;
  const file = typeof planOut === 'string' ? planOut : fileFor(plan);
  const kept = typeof journal === 'string' ? ` --journal ${shellPath(journal)}` : '';
  const apply = `felix-fsck apply ${shellPath(file)}${kept}`;
  if (typeof planOut === 'string') return [apply];
  return [['felix-fsck', command, '--plan-out', file, ...rest.map(shellQuoted)].join(' '), apply];
}

/** In the directory that the command was typed in, unless that is the shard itself. */
function fileFor({ shard }: Plan): string {
  return realPath('.') === shard.path ? '../plan.json' : 'plan.json';
}

/** Writes the plan to a file, whole or not at all; never into the shard. */
function writePlan(plan: Plan, path: string): void {
  const slash = path.lastIndexOf('/');
  const directory = realPath(slash < 0 ? '.' : path.slice(0, slash) || '/');
  if (directory === null) fail({ reason: 'usage', message: `${printable(path)}: no such directory` });
  if (`${directory}/`.startsWith(`${plan.shard.path}/`)) {
    fail({ reason: 'usage', message: 'a plan is not written into the shard that it is for' });
  }
  const fs = new DurableFs();
  const target = `${directory === '/' ? '' : directory}/${path.slice(slash + 1)}`;
  if (pathFacts(target)?.type === 'directory') fail({ reason: 'usage', message: `${printable(path)}: is a directory` });
  const { uid, gid } = pathFacts(directory)!;
  const text = new TextEncoder().encode(toJsonDocument(planValue(plan)));
  try {
    removeIfThere(fs, `${target}.tmp`);
    writeNew(
      fs,
      `${target}.tmp`,
      { mode: 0o600, uid: process.geteuid?.() ?? uid, gid: process.getegid?.() ?? gid },
      [text],
      null,
    );
    fs.rename(`${target}.tmp`, target);
    fs.syncDirectory(directory);
  } catch (failure) {
    if (!(failure instanceof WriteFailure)) throw failure;
    fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(failure.message)}` });
  }
}

/** The settings of a planning command; recovery's opt-in is asked for by `--allow` alone. */
export function planningSettings(options: Options, repairChecksumTail: boolean): BrokerSettings {
  return { ...settingsOf(options), repairChecksumTail };
}
