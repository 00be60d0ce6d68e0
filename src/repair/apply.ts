/**
 * Carrying out a plan, and taking one up again that was cut short.
 *
 * In order: everything that must hold is checked; the old files are kept in a journal and made durable; then each step is
 * done and made durable, first to last; then every file is looked at again. What a plan says is all that is known here.
 * Before the journal says `applying`, nothing of the shard is touched, and a failure takes the journal away again; from then
 * on a failure leaves everything as it is and names the journal.
 */

import type { Plan, PlanStep } from '../domain/plan.js';
import { fail, invariant } from '../domain/result.js';
import { shellPath } from '../domain/shell-words.js';
import { printable } from '../domain/wording.js';
import { ReadFailure } from '../store/byte-source.js';
import { isUnfinished, type JournalSighting, journalsBeside, sight } from '../store/journals.js';
import { pathFacts, realPath } from '../store/path-facts.js';
import { joinShown, listDirectory } from '../store/walk.js';
import { type DurableFs, WriteFailure } from './durable-fs.js';
import { clearJournal, freeJournalPath, Journal, parentOf } from './journal.js';
import { JOURNAL_SCHEMA } from './journal-record.js';
import { planDigest } from './plan-file.js';
import { checkPreconditions, type Surroundings, type Verdict } from './preconditions.js';
import { fileOfTemporary } from './shard-file.js';
import { doStep, type IndexMaker, NotAsPlanned, type Ownership, type StepTools, standingOf } from './steps.js';

export interface ApplyRequest {
  readonly fs: DurableFs;
  readonly makeIndex: IndexMaker;
  readonly around: Surroundings;
  readonly tool: { readonly name: string; readonly version: string };
  /** A directory that is not there or is empty; null for one beside the shard. */
  readonly journal: string | null;
}

/** Everything that must hold before the plan may begin. Throws a failure when a file cannot be read. */
export function checkApply(plan: Plan, request: ApplyRequest): Verdict {
  return unreadableAsFailure(() => {
    const expected = { allowed: ['before'], ignoreTimes: false, journal: request.journal } as const;
    const verdict = checkPreconditions(plan, request.around, expected);
    const refusals = [...unfinishedRefusals(plan, null), ...journalRefusals(plan, request.journal)];
    return { ...verdict, refusals: [...refusals, ...verdict.refusals] };
  });
}

/** Carries out a plan; returns its journal, in state `applied`. Throws a failure otherwise. */
export function applyPlan(plan: Plan, request: ApplyRequest): Journal {
  const verdict = checkApply(plan, request);
  refuseFor(verdict);
  const journal = prepare(plan, verdict, request);
  return carryOut(journal, request);
}

/** Everything that must hold before a plan may be taken up again. */
export function checkResume(journal: Journal, request: ApplyRequest): Verdict {
  return unreadableAsFailure(() => {
    const expected = { allowed: ['before', 'after'], ignoreTimes: true, journal: journal.path } as const;
    const verdict = checkPreconditions(journal.plan, request.around, expected);
    return { ...verdict, refusals: [...unfinishedRefusals(journal.plan, journal.path), ...verdict.refusals] };
  });
}

/** Takes up a plan whose journal says `applying`, and finishes it. */
export function resumePlan(journal: Journal, request: ApplyRequest): Journal {
  invariant(journal.state === 'applying', 'only a plan that was begun is taken up again');
  refuseFor(checkResume(journal, request));
  return carryOut(journal, request);
}

/** The unfinished journal of a plan, beside the shard; null when there is none. */
export async function unfinishedJournalOf(plan: Plan, fs: DurableFs): Promise<Journal | null> {
  for (const { path, state } of journalsBeside(plan.shard.path)) {
    if (state !== 'applying') continue;
    const journal = await Journal.open(fs, realPath(path) ?? path);
    if (typeof journal !== 'string' && journal.record.plan === planDigest(plan)) return journal;
  }
  return null;
}

/** Other repairs that were begun and not finished; `own` is the journal of this one, or null before there is one. */
function unfinishedRefusals({ shard }: Plan, own: string | null): string[] {
  return unfinishedBeside(shard.path, own).map(
    ({ path, state }) => `an earlier repair of this shard was not finished: ${wayOut(path, state)}`,
  );
}

function unfinishedBeside(shard: string, own: string | null): JournalSighting[] {
  const isOwn = (path: string) => own !== null && realPath(path) === realPath(own);
  return journalsBeside(shard).filter((sighting) => isUnfinished(sighting) && !isOwn(sighting.path));
}

/** What an unfinished journal asks for, in a sentence's end. */
function wayOut(journal: string, state: string): string {
  const path = shellPath(journal);
  if (state === 'applying')
    return `felix-fsck apply --resume ${path} finishes it, felix-fsck undo ${path} takes it back`;
  if (state === 'undoing') return `felix-fsck undo ${path} goes on taking it back`;
  if (state === 'applied') return `felix-fsck undo ${path} takes it back`;
  return `its journal ${path} cannot be read, so that nobody knows how far it came`;
}

function journalRefusals(plan: Plan, journal: string | null): string[] {
  if (journal === null) return [];
  const facts = pathFacts(journal);
  const inside = `${journal}/`.startsWith(`${plan.shard.path}/`);
  if (inside) return ['the journal may not lie in the shard'];
  if (facts === null)
    return pathFacts(parentOf(journal)) === null ? [`${printable(parentOf(journal))} is not there`] : [];
  if (facts.type !== 'directory') return [`${printable(journal)} is not a directory`];
  return listDirectory(journal).entries.length === 0 ? [] : [`${printable(journal)} is not empty`];
}

export function refuseFor({ refusals }: Pick<Verdict, 'refusals'>): void {
  if (refusals.length > 0) fail({ reason: 'refused', message: `nothing was changed: ${refusals.join('; ')}.` });
}

/** Makes the journal and keeps every old file in it; on failure takes it away again. */
function prepare(plan: Plan, verdict: Verdict, request: ApplyRequest): Journal {
  const { fs, around, tool } = request;
  const shard = plan.shard.path;
  const at = around.now();
  const beside = freeJournalPath(shard, at);
  const path = request.journal ?? beside;
  try {
    const begun = {
      schema: JOURNAL_SCHEMA,
      shard,
      tool,
      who: { uid: around.uid, user: around.user, host: around.host },
      startedAt: at.toISOString(),
      changedAt: at.toISOString(),
      directoryMtimeNs: pathFacts(shard)!.mtimeNs,
    } as const;
    const journal = Journal.create(fs, path, plan, begun);
    if (path !== beside) {
      fs.symlink(path, beside);
      fs.syncDirectory(parentOf(beside));
    }
    for (const step of plan.steps) if (step.before !== null) journal.keep(shard, step, verdict.facts.get(step.file)!);
    journal.enter('applying', around.now());
    // Of two that began meanwhile, the one that entered later at least sees the other; the shard is untouched still.
    const [rival] = unfinishedBeside(shard, path);
    if (rival === undefined) return journal;
    for (const state of ['undoing', 'undone'] as const) journal.enter(state, around.now());
    throw new NotAsPlanned(`another repair of the shard has begun (${rival.path})`);
  } catch (failure) {
    return notBegun(failure, fs, path);
  }
}

/** Nothing of the shard was changed; what was prepared is taken away as far as that can be done. */
function notBegun(failure: unknown, fs: DurableFs, path: string): never {
  if (!isExpected(failure)) throw failure;
  let left = '';
  try {
    const isThere = pathFacts(path) !== null;
    const { state } = sight(path);
    if (isThere && state !== 'preparing' && state !== 'undone') return partWay(failure, path);
    if (isThere) clearJournal(fs, path);
  } catch (second) {
    if (!isExpected(second)) throw second;
    left = ` What is left in ${shellPath(path)} is of no use; felix-fsck undo ${shellPath(path)} clears it away.`;
  }
  const reason = failure instanceof NotAsPlanned ? 'refused' : 'unreadable';
  return fail({ reason, message: `nothing was changed: ${whatFailed(failure)}.${left}` });
}

/** Does what is left of a plan whose old files are all kept. */
function carryOut(journal: Journal, { fs, makeIndex, around }: ApplyRequest): Journal {
  const { plan } = journal;
  const tools: StepTools = { fs, shard: plan.shard.path, makeIndex };
  try {
    removeTemporaries(fs, plan.shard.path);
    for (const step of plan.steps) {
      const standing = standingOf(plan.shard.path, step);
      if (standing === 'neither') throw new NotAsPlanned(`${step.file} was changed by somebody else`);
      if (standing === 'before') doStep(tools, step, ownershipFor(journal, step));
      journal.closeOff(step.file);
    }
    for (const step of plan.steps) {
      if (standingOf(plan.shard.path, step) !== 'after')
        throw new NotAsPlanned(`${step.file} was changed again by somebody else`);
    }
    journal.enter('applied', around.now());
    return journal;
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    return partWay(failure, journal.path);
  }
}

export function removeTemporaries(fs: DurableFs, shard: string): void {
  for (const { name } of listDirectory(shard).entries) {
    if (fileOfTemporary(name) !== null) fs.unlink(joinShown(shard, name));
  }
}

/** The owner and mode of the old file; for a file that is new, of a segment beside it. */
function ownershipFor(journal: Journal, step: PlanStep): Ownership {
  const kept = journal.keptOf(step.file);
  if (kept !== null) return kept;
  const shard = journal.plan.shard.path;
  const segment = step.file.replace('index', 'log');
  const likes = [segment, ...journal.plan.files.map(({ file }) => file)];
  for (const name of likes) {
    const known = journal.keptOf(name) ?? pathFacts(joinShown(shard, name));
    if (known !== null) return known;
  }
  const { mode, uid, gid } = pathFacts(shard)!;
  return { mode: mode & 0o666, uid, gid };
}

/** A failure of the system or of a source, as opposed to a fault of ours. */
export function isExpected(failure: unknown): failure is WriteFailure | ReadFailure | NotAsPlanned {
  return failure instanceof WriteFailure || failure instanceof ReadFailure || failure instanceof NotAsPlanned;
}

function whatFailed(failure: WriteFailure | ReadFailure | NotAsPlanned): string {
  if (failure instanceof WriteFailure) {
    return printable(`${failure.call.kind.replaceAll('-', ' ')} of ${failure.call.path} failed (${failure.message})`);
  }
  return printable(failure.message);
}

/** The shard may be half-way: says so, and names the way out. Only the last word of an undo may fail with all files back. */
export function partWay(failure: WriteFailure | ReadFailure | NotAsPlanned, journal: string): never {
  const { state } = sight(journal);
  const then =
    state === 'undone'
      ? 'Every file is as it was before the repair'
      : `The journal keeps every old byte: ${wayOut(journal, state)}`;
  fail({ reason: 'part-way', message: `stopped part-way: ${whatFailed(failure)}. ${then}.`, journal });
}

function unreadableAsFailure<T>(work: () => T): T {
  try {
    return work();
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    return fail({ reason: 'unreadable', message: `nothing was changed: ${whatFailed(failure)}.` });
  }
}
