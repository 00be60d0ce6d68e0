/**
 * `apply`: carries out a plan, or finishes one that was cut short.
 */

import type { Plan } from '../domain/plan.js';
import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { checkResume, refuseFor, resumePlan, unfinishedJournalOf } from '../repair/apply.js';
import { clearJournal, Journal } from '../repair/journal.js';
import { decodePlan, MAX_PLAN_BYTES } from '../repair/plan-file.js';
import { ReadFailure } from '../store/byte-source.js';
import { readSmallFile } from '../store/file-digest.js';
import { sight } from '../store/journals.js';
import { pathFacts, realPath } from '../store/path-facts.js';
import { applyNow, applyRequest, confirm, finish, sayNotes, showPlan } from './applying.js';
import type { CommandContext } from './context.js';
import { flag, type Options } from './options.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const path = paths[0]!;
  if (flag(options, 'resume')) return resume(context, path, options);
  const plan = await readPlan(path);
  await showPlan(context, plan, options);
  if (plan.steps.length === 0) return 0;
  return applyNow(context, plan, options);
}

/** Finishes the plan in a journal, or the unfinished journal of a plan. */
async function resume(context: CommandContext, path: string, options: Options): Promise<number> {
  const request = applyRequest(context, options);
  const journal = await unfinished(path, request.journal, request.fs);
  const { plan, state } = journal;
  if (state === 'preparing') {
    clearJournal(request.fs, journal.path);
    return applyNow(context, plan, options);
  }
  if (state !== 'applying') {
    fail({
      reason: 'refused',
      message: `nothing was changed: ${printable(journal.path)} is ${state}, and not to be finished.`,
    });
  }
  const verdict = checkResume(journal, request);
  sayNotes(context, verdict.notes);
  refuseFor(verdict);
  await confirm(context, plan.shard.name, flag(options, 'yes'), 'To finish changing this shard');
  return finish(context, resumePlan(journal, request), options);
}

async function unfinished(
  path: string,
  named: string | null,
  fs: Parameters<typeof Journal.open>[0],
): Promise<Journal> {
  const at = named ?? (isDirectory(path) ? path : null);
  if (at !== null) return openJournal(at, fs);
  const plan = await readPlan(path);
  const journal = await unfinishedJournalOf(plan, fs);
  if (journal !== null) return journal;
  return fail({
    reason: 'refused',
    message: `nothing was changed: no unfinished journal of this plan lies beside ${printable(plan.shard.path)}.`,
  });
}

async function openJournal(path: string, fs: Parameters<typeof Journal.open>[0]): Promise<Journal> {
  try {
    const real = realPath(path) ?? fail({ reason: 'usage', message: `${printable(path)}: no such directory` });
    const journal = await Journal.open(fs, real);
    if (typeof journal !== 'string') return journal;
    const { state } = sight(real);
    return fail({ reason: 'refused', message: `${printable(path)} (${state}) ${journal}.` });
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(failure.message)}` });
  }
}

function isDirectory(path: string): boolean {
  const real = realPath(path);
  return real !== null && pathFacts(real)?.type === 'directory';
}

async function readPlan(path: string): Promise<Plan> {
  if (isDirectory(path)) {
    const message = 'a directory: name the file of a plan, or a journal to finish with --resume';
    fail({ reason: 'usage', message: `${printable(path)}: ${message}` });
  }
  try {
    const real = realPath(path) ?? fail({ reason: 'usage', message: `${printable(path)}: no such file` });
    const plan = await decodePlan(readSmallFile(real, MAX_PLAN_BYTES));
    if (plan.ok) return plan.value;
    return fail({ reason: 'refused', message: `nothing was changed: ${printable(path)} ${plan.error}.` });
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(failure.message)}` });
  }
}
