/**
 * Carrying out a plan from the command line: the last questions, the work, a check of what came of it, and the receipt.
 */

import { hostname, userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { checkShard } from '../check/shard.js';
import type { Plan } from '../domain/plan.js';
import type { ShardReport } from '../domain/report.js';
import { fail } from '../domain/result.js';
import { shellPath } from '../domain/shell-words.js';
import { printable } from '../domain/wording.js';
import { type ApplyRequest, applyPlan, checkApply, isExpected, refuseFor } from '../repair/apply.js';
import { DurableFs } from '../repair/durable-fs.js';
import type { Journal } from '../repair/journal.js';
import type { Surroundings } from '../repair/preconditions.js';
import { type Receipt, receiptOf } from '../repair/receipt.js';
import type { IndexMaker } from '../repair/steps.js';
import { toJsonDocument } from '../report/json.js';
import { renderPlan } from '../report/plan.js';
import { renderReceipt } from '../report/receipt.js';
import { buildIndex } from '../scan/index-build.js';
import { createScanner } from '../scan/pool.js';
import { realPath } from '../store/path-facts.js';
import { joinShown, listDirectory } from '../store/walk.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, type Options } from './options.js';

export const makeIndex: IndexMaker = (segment, end, spacing) => {
  const built = buildIndex(segment, Math.min(end, segment.size), spacing);
  return built === null ? new Uint8Array() : built.image;
};

/** Who runs this, where and when. */
export function surroundings(): Surroundings {
  const uid = process.geteuid?.() ?? 0;
  const groups = [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])];
  return { pid: process.pid, uid, groups, user: userName(), host: hostname(), now: () => new Date() };
}

function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

export function applyRequest(context: CommandContext, options: Options): ApplyRequest {
  const journal = options['journal'];
  return {
    fs: new DurableFs(),
    makeIndex,
    around: surroundings(),
    tool: context.tool,
    journal: typeof journal === 'string' ? absolute(journal) : null,
  };
}

/** The path of something that may not be there yet, without a link in front of its last name. */
function absolute(path: string): string {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  const slash = trimmed.lastIndexOf('/');
  const name = trimmed.slice(slash + 1);
  const directory = realPath(slash < 0 ? '.' : trimmed.slice(0, slash) || '/');
  if (directory === null) fail({ reason: 'usage', message: `${printable(path)}: its directory is not there` });
  if (['', '.', '..'].includes(name))
    fail({ reason: 'usage', message: `${printable(path)}: name a directory of its own` });
  return joinShown(directory, name);
}

/** Carries out a plan that was shown, once somebody said so. Returns the exit code. */
export async function applyNow(context: CommandContext, plan: Plan, options: Options): Promise<number> {
  const request = applyRequest(context, options);
  const verdict = checkApply(plan, request);
  sayNotes(context, verdict.notes);
  refuseFor(verdict);
  await confirm(context, plan.shard.name, flag(options, 'yes'), 'To change this shard');
  return finish(context, applyPlan(plan, request), options);
}

/** Shows the plan of a command that did not just make it. */
export async function showPlan(context: CommandContext, plan: Plan, options: Options): Promise<void> {
  if (formatOf(options) === 'table') {
    await context.out.write(renderPlan(plan, context.style(colorOf(options)), []));
  }
}

export function sayNotes(context: CommandContext, notes: readonly string[]): void {
  for (const note of notes) context.streams.stderr.write(`felix-fsck: note: ${printable(note)}.\n`);
}

/** Goes on only when `--yes` was given, or a person at a terminal types the shard's name. */
export async function confirm(context: CommandContext, name: string, yes: boolean, purpose: string): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = context.streams;
  const seen = (stdin as { isTTY?: boolean }).isTTY === true && (stderr as { isTTY?: boolean }).isTTY === true;
  if (!seen)
    fail({ reason: 'refused', message: 'nothing was changed: there is nobody to ask here; --yes says so beforehand.' });
  const question = `${purpose}, type its name (${printable(name)}): `;
  const answer = await answerTo(question, stdin, stderr, context.signal);
  if (answer.trim() !== name) fail({ reason: 'refused', message: 'nothing was changed: the name was not typed.' });
}

/** What was typed; nothing when the input ended or the run was interrupted. */
async function answerTo(question: string, input: Readable, output: Writable, signal: AbortSignal): Promise<string> {
  const asking = createInterface({ input, output, terminal: false });
  const answer = new Promise<string>((resolve) => {
    asking.once('close', () => resolve(''));
    asking.question(question, resolve);
    signal.addEventListener('abort', () => asking.close(), { once: true });
  });
  try {
    return await answer;
  } finally {
    asking.close();
  }
}

/** Checks the shard again, prints the receipt and keeps it in the journal. */
export async function finish(context: CommandContext, journal: Journal, options: Options): Promise<number> {
  const { plan } = journal;
  const report = await checkAgain(context, plan);
  const receipt = receiptOf(journal, report.prediction);
  keepReceipt(context, journal, receipt);
  const undo = `felix-fsck undo ${shellPath(journal.path)}`;
  await context.out.write(
    formatOf(options) === 'table'
      ? renderReceipt(receipt, context.style(colorOf(options)), undo)
      : toJsonDocument(receipt),
  );
  if (!receipt.asPlanned) {
    const message =
      `every step was done, but the shard is not as the plan said: a broker ${report.prediction.verdict}, and the plan said ` +
      `${plan.after.verdict}. ${undo} brings the old bytes back.`;
    fail({ reason: 'part-way', message, journal: journal.path });
  }
  return 0;
}

async function checkAgain(context: CommandContext, plan: Plan): Promise<ShardReport> {
  // A signal stops nothing here: the receipt belongs to what was done.
  const scanner = createScanner({ jobs: 1, signal: new AbortController().signal });
  const settings = { ...plan.settings, repairChecksumTail: false };
  const check = { settings, quick: false, key: null, replicas: [], nowMicros: context.nowMicros, sole: null };
  try {
    return await checkShard(listDirectory(plan.shard.path), scanner, check);
  } finally {
    await scanner.close();
  }
}

/** The receipt is not needed to undo: that it could not be kept is no reason to call the repair a failure. */
function keepReceipt(context: CommandContext, journal: Journal, receipt: Receipt): void {
  try {
    journal.writeReceipt(toJsonDocument(receipt));
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    sayNotes(context, [`the receipt could not be kept in the journal (${failure.message})`]);
  }
}
