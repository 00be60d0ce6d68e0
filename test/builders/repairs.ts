/**
 * Plans and repairs in this process: a plan comes out of the command line as an operator gets it, and is carried out with a file
 * system that a test can count, fail or stop.
 */

import { accessSync, constants, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { makeIndex } from '../../src/cli/applying.js';
import type { Plan } from '../../src/domain/plan.js';
import { type ApplyRequest, applyPlan } from '../../src/repair/apply.js';
import { DurableFs, type FsCall, type FsHook } from '../../src/repair/durable-fs.js';
import { Journal } from '../../src/repair/journal.js';
import { decodePlan } from '../../src/repair/plan-file.js';
import type { Surroundings } from '../../src/repair/preconditions.js';
import { clearNotBegun, undo, undoTask } from '../../src/repair/undo.js';
import { journalsBeside } from '../../src/store/journals.js';
import { tornEverywhere } from './broken-shards.js';
import { runInProcess } from './in-process.js';
import { writeShardBelow } from './shards.js';

/** A minute ahead, so that files written by the test itself are not taken to be in use. */
export function later(proc = '/nowhere'): Surroundings {
  const { uid, gid } = { uid: process.geteuid!(), gid: process.getegid!() };
  const groups = [gid, ...process.getgroups!()];
  return {
    pid: process.pid,
    uid,
    groups,
    user: 'tester',
    host: 'here',
    now: () => new Date(Date.now() + 60_000),
    proc,
  };
}

export function requestWith(hook: FsHook = () => {}, more: Partial<ApplyRequest> = {}): ApplyRequest {
  const tool = { name: 'felix-fsck', version: '0.0.0' };
  return { fs: new DurableFs(hook), makeIndex, around: later(), tool, journal: null, ...more };
}

/** What a planning command says. */
export interface Planning {
  readonly code: number;
  /** Null when none was made. */
  readonly plan: Plan | null;
  readonly stderr: string;
}

/** Runs `repair-tail` or `rebuild-index` with its arguments. */
export async function planning(...args: readonly string[]): Promise<Planning> {
  const { code, stdout, stderr } = await runInProcess([...args, '--jobs', '1', '--format', 'json']);
  if (stdout === '') return { code, plan: null, stderr };
  const decoded = await decodePlan(new TextEncoder().encode(stdout));
  if (!decoded.ok) throw new Error(`the plan ${decoded.error}`);
  return { code, plan: decoded.value, stderr };
}

/** The plan, which has to have steps. */
export async function planFor(...args: readonly string[]): Promise<Plan> {
  const { code, plan, stderr } = await planning(...args);
  expect(code, stderr).to.equal(20);
  return plan!;
}

/** Carries a plan out; returns the journal's path. */
export function applied(plan: Plan, request: ApplyRequest = requestWith()): string {
  return applyPlan(plan, request).path;
}

/** Takes a repair back. */
export async function undone(journal: string, hook: FsHook = () => {}): Promise<string> {
  const request = { fs: new DurableFs(hook), around: later() };
  const task = await undoTask(journal, request);
  if (task.is === 'undo') undo(task, request);
  if (task.is === 'not-begun') clearNotBegun(task, request);
  return task.is;
}

export async function openJournal(path: string, fs = new DurableFs()): Promise<Journal> {
  const journal = await Journal.open(fs, path);
  if (typeof journal === 'string') throw new Error(`the journal ${journal}`);
  return journal;
}

/** Thrown in place of a call at which the process dies; nothing of ours may catch it. */
export class Killed extends Error {}

/** Ends everything at the call with this number, and every call after it, as a kill does. */
export function killedAt(number: number): FsHook {
  let calls = 0;
  return () => {
    if (calls++ >= number) throw new Killed();
  };
}

/** Makes the one call with this number fail as the system would. */
export function failingAt(number: number, code: string): FsHook {
  let calls = 0;
  return (call) => {
    if (calls++ !== number) return;
    throw Object.assign(new Error(`${code}: injected, ${call.kind}`), { code });
  };
}

/** Keeps the calls in `list`. */
export function recordingTo(list: FsCall[]): FsHook {
  return (call) => void list.push(call);
}

/** A directory in memory where there is such a place, and else on disk: repairs sync at every step. */
export function memoryDir(): string {
  let home = tmpdir();
  try {
    accessSync('/dev/shm', constants.W_OK);
    home = '/dev/shm';
  } catch {
    // The disk does as well, and slower.
  }
  return realpathSync(mkdtempSync(path.join(home, 'felix-fsck-repair-')));
}

export async function withMemoryDir<T>(work: (dir: string) => T | Promise<T>): Promise<T> {
  const dir = memoryDir();
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface Prepared {
  readonly dir: string;
  readonly shard: string;
  readonly plan: Plan;
}

/** A broken shard on disk and the plan for it. */
export function prepared(work: (made: Prepared) => void | Promise<void>, broken = tornEverywhere()): Promise<void> {
  return withMemoryDir(async (dir) => {
    const shard = writeShardBelow(broken.image, dir);
    await work({ dir, shard, plan: await planFor(...broken.command, shard) });
  });
}

/** Carries out about half of the steps of a plan and dies; returns the journal's path. `hook` is told first. */
export function halfApplied({ plan, shard }: Prepared, hook: FsHook = () => {}): string {
  const { file } = plan.steps[plan.steps.length >> 1]!;
  const changes = [path.join(shard, file), path.join(shard, `.felix-fsck.${file}.tmp`)];
  const dying: FsHook = (call) => {
    hook(call);
    if (changes.includes(call.path)) throw new Killed();
  };
  expect(() => applied(plan, requestWith(dying))).to.throw(Killed);
  const [sighting] = journalsBeside(shard);
  expect(sighting!.state).to.equal('applying');
  return sighting!.path;
}
