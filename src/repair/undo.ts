/**
 * Taking a repair back: every file as it was, by its bytes, name, mode, owner and time.
 *
 * Steps are taken back from the last to the first, each one durable before the next, and taking one back twice does
 * nothing. The journal says `undoing` before the first and `undone` after the last, so that an undo cut short is itself
 * only an undo away. When anything differs from what the repair left, nothing is touched.
 */

import type { PlanStep } from '../domain/plan.js';
import { fail } from '../domain/result.js';
import { shellPath } from '../domain/shell-words.js';
import { printable } from '../domain/wording.js';
import { ReadFailure } from '../store/byte-source.js';
import { PinnedFile } from '../store/file-digest.js';
import { shardOfJournal } from '../store/journal-names.js';
import { JOURNAL_FILE, journalsNear, sight } from '../store/journals.js';
import { pathFacts, realPath } from '../store/path-facts.js';
import { joinShown } from '../store/walk.js';
import { isExpected, partWay, refuseFor, removeTemporaries } from './apply.js';
import type { DurableFs } from './durable-fs.js';
import { clearJournal, Journal } from './journal.js';
import type { KeptFile } from './journal-record.js';
import { isState } from './plan-file.js';
import { checkPreconditions, type Surroundings, type Verdict } from './preconditions.js';
import { temporaryOf } from './shard-file.js';
import { NotAsPlanned, removeIfThere, standingOf, stateOf, writeNew } from './steps.js';

export interface UndoRequest {
  readonly fs: DurableFs;
  readonly around: Surroundings;
}

/** What is to be done with a journal that was named. */
export type UndoTask =
  /** Nothing was ever changed; the journal itself can go. */
  | { readonly is: 'not-begun'; readonly path: string }
  | { readonly is: 'undone-already'; readonly changedAt: string | null }
  | { readonly is: 'undo'; readonly journal: Journal; readonly verdict: Verdict };

/** Looks at a journal and at everything that must hold. Throws a failure for what is no journal. */
export async function undoTask(path: string, { fs, around }: UndoRequest): Promise<UndoTask> {
  try {
    const real = realPath(path);
    if (real === null) fail({ reason: 'usage', message: `${printable(path)}: no such directory` });
    const { state, changedAt } = sight(real);
    if (state === 'preparing' && isBegunJournal(real)) return { is: 'not-begun', path: real };
    if (state === 'undone') return { is: 'undone-already', changedAt };
    const journal = await Journal.open(fs, real);
    if (typeof journal === 'string') fail({ reason: 'refused', message: `${printable(path)} ${journal}.` });
    return { is: 'undo', journal, verdict: checkUndo(journal, around) };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    if (failure.code !== 'ENOENT') {
      const message = `${printable(path)}: not a journal that can be read (${printable(failure.message)})`;
      return fail({ reason: 'unreadable', message });
    }
    return fail({ reason: 'usage', message: `${printable(path)}: not a journal of a repair${nearbyText(path)}` });
  }
}

const NAMED_JOURNALS = 5;

/** Where journals are instead, for who names the shard or the directory above it. */
function nearbyText(path: string): string {
  const journals = journalsNear(path).map((journal) => printable(shellPath(journal.path)));
  if (journals.length === 0) return ', and none is in it or beside it';
  const more = journals.length > NAMED_JOURNALS ? `\n  and ${journals.length - NAMED_JOURNALS} more` : '';
  const named = journals.slice(-NAMED_JOURNALS).map((journal) => `\n  felix-fsck undo ${journal}`);
  return `; the newest is the last of these:${named.join('')}${more}`;
}

/** A directory that a repair made for itself and went no further with. */
function isBegunJournal(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return shardOfJournal(name) !== null || pathFacts(joinShown(path, JOURNAL_FILE)) !== null;
}

function checkUndo(journal: Journal, around: Surroundings): Verdict {
  const allowed = journal.state === 'applied' ? (['after'] as const) : (['before', 'after'] as const);
  const verdict = checkPreconditions(journal.plan, around, { allowed, ignoreTimes: true, journal: journal.path });
  const lost = journal.plan.steps.filter((step) => !isKept(journal, step)).map(({ file }) => file);
  const refusals = lost.map((file) => `the journal no longer holds the old ${file} as it was`);
  return { ...verdict, refusals: [...verdict.refusals, ...refusals] };
}

/** The old file is in the journal with the bytes that it had, or back in the shard already. */
function isKept(journal: Journal, { file, before }: PlanStep): boolean {
  if (before === null) return true;
  const kept = stateOf(journal.keptPath(file));
  return isState(kept ?? stateOf(joinShown(journal.plan.shard.path, file)), before);
}

/** Brings everything back. The verdict of the task must hold. */
export function undo({ journal, verdict }: Extract<UndoTask, { is: 'undo' }>, { fs, around }: UndoRequest): void {
  refuseFor(verdict);
  const { plan } = journal;
  const shard = plan.shard.path;
  try {
    if (journal.state !== 'undoing') journal.enter('undoing', around.now());
    removeTemporaries(fs, shard);
    for (const step of plan.steps.toReversed()) {
      const standing = standingOf(shard, step);
      if (standing === 'neither') throw new NotAsPlanned(`${step.file} was changed by somebody else`);
      if (standing === 'after') takeBack(fs, journal, step);
    }
    for (const step of plan.steps) {
      if (standingOf(shard, step) !== 'before')
        throw new NotAsPlanned(`${step.file} was changed again by somebody else`);
      reopen(fs, journal, step);
    }
    fs.setTimes(shard, journal.record.directoryMtimeNs, journal.record.directoryMtimeNs);
    journal.enter('undone', around.now());
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    partWay(failure, journal.path);
  }
}

/** Clears away a journal in which nothing was begun. */
export function clearNotBegun({ path }: Extract<UndoTask, { is: 'not-begun' }>, { fs }: UndoRequest): void {
  try {
    clearJournal(fs, path);
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    fail({ reason: 'unreadable', message: `the shard is as it was; ${printable(path)} could not be cleared away` });
  }
}

function takeBack(fs: DurableFs, journal: Journal, step: PlanStep): void {
  const shard = journal.plan.shard.path;
  const path = joinShown(shard, step.file);
  const kept = journal.keptOf(step.file);
  if (kept === null) fs.unlink(path);
  else if (kept.how === 'link') {
    fs.setMode(journal.keptPath(step.file), kept.mode);
    fs.rename(journal.keptPath(step.file), path);
  } else copyBack(fs, journal, kept, path);
  fs.syncDirectory(shard);
}

function copyBack(fs: DurableFs, journal: Journal, kept: KeptFile, path: string): void {
  const temporary = joinShown(journal.plan.shard.path, temporaryOf(kept.file));
  removeIfThere(fs, temporary);
  const source = PinnedFile.open(journal.keptPath(kept.file));
  try {
    writeNew(fs, temporary, kept, source.pieces(0, source.size), { file: kept.file, state: kept });
  } finally {
    source.close();
  }
  fs.setTimes(temporary, kept.mtimeNs, kept.mtimeNs);
  fs.syncFile(temporary);
  fs.rename(temporary, path);
}

/** A second name that is still in the journal goes; the file keeps the mode it had. */
function reopen(fs: DurableFs, journal: Journal, { file }: PlanStep): void {
  const kept = journal.keptOf(file);
  if (kept === null || kept.how !== 'link') return;
  removeIfThere(fs, journal.keptPath(file));
}
