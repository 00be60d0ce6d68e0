/**
 * A journal on disk: a directory of mode 0700 with the record, the plan, the old files and, at the end, a receipt.
 *
 * An old file is kept as the very file it was, under a second name, so that bringing it back is a rename and changes neither
 * a byte nor its times. Where that cannot be (another file system, or one without links), its bytes are copied and held to
 * their checksum. The record is replaced durably at each change of state; see `journal-record.ts` for what each one allows.
 */

import type { FileState, Plan, PlanStep } from '../domain/plan.js';
import { invariant } from '../domain/result.js';
import { PinnedFile, readSmallFile } from '../store/file-digest.js';
import { journalName } from '../store/journal-names.js';
import { JOURNAL_FILE, journalsBeside, sight } from '../store/journals.js';
import { isSameFile, type PathFacts, pathFacts, realPath } from '../store/path-facts.js';
import { joinShown, listDirectory } from '../store/walk.js';
import { type DurableFs, WriteFailure } from './durable-fs.js';
import { type JournalRecord, type JournalState, type KeptFile, NEXT_STATES } from './journal-record.js';
import { decodePlan, encodePlan, MAX_PLAN_BYTES, planDigest } from './plan-file.js';
import { isShardFile } from './shard-file.js';
import { NotAsPlanned, removeIfThere, writeNew } from './steps.js';

const PLAN_FILE = 'plan.json';
const RECEIPT_FILE = 'receipt.json';
const OLD_DIRECTORY = 'old';
/** A journal beside the shard has its time in its name; several within a second are told apart by a number. */
const MOST_ATTEMPTS = 1000;

/** Errors of a file system that has no second names, or none across its border. */
const NO_LINKS: readonly string[] = ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

export class Journal {
  /** Absolute path of the directory. */
  readonly path: string;
  readonly plan: Plan;
  readonly #fs: DurableFs;
  #record: JournalRecord;

  private constructor(fs: DurableFs, path: string, plan: Plan, record: JournalRecord) {
    this.#fs = fs;
    this.path = path;
    this.plan = plan;
    this.#record = record;
  }

  get state(): JournalState {
    return this.#record.state;
  }

  get record(): JournalRecord {
    return this.#record;
  }

  /** Makes the directory and the record, in state `preparing`. Nothing of the shard is touched. */
  static create(
    fs: DurableFs,
    path: string,
    plan: Plan,
    begun: Omit<JournalRecord, 'state' | 'plan' | 'kept'>,
  ): Journal {
    if (pathFacts(path) === null) fs.makeDirectory(path, 0o700);
    else fs.setMode(path, 0o700);
    const journal = new Journal(fs, path, plan, { ...begun, state: 'preparing', plan: planDigest(plan), kept: [] });
    journal.#save();
    fs.makeDirectory(joinShown(path, OLD_DIRECTORY), 0o700);
    journal.#put(PLAN_FILE, encodePlan(plan));
    fs.syncDirectory(parentOf(path));
    return journal;
  }

  /** Takes a journal from disk; the error is a sentence without a subject. Throws `ReadFailure`. */
  static async open(fs: DurableFs, path: string): Promise<Journal | string> {
    const text = new TextDecoder().decode(readSmallFile(joinShown(path, JOURNAL_FILE), MAX_PLAN_BYTES));
    const { JOURNAL } = await import('./plan-schema.js');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'holds a record that is not JSON';
    }
    const record = JOURNAL.safeParse(value);
    if (!record.success) return 'holds a record that this build does not take';
    const plan = await decodePlan(readSmallFile(joinShown(path, PLAN_FILE), MAX_PLAN_BYTES));
    if (!plan.ok) return `holds a plan that ${plan.error}`;
    if (planDigest(plan.value) !== record.data.plan) return 'holds another plan than its record says';
    if (plan.value.shard.path !== record.data.shard) return 'holds a plan for another shard than its record says';
    return new Journal(fs, path, plan.value, record.data);
  }

  /** Where the old file of a step is kept. */
  keptPath(file: string): string {
    return joinShown(joinShown(this.path, OLD_DIRECTORY), file);
  }

  keptOf(file: string): KeptFile | null {
    return this.#record.kept.find((kept) => kept.file === file) ?? null;
  }

  /** Keeps the old file of a step, and syncs it. `facts` are those of the file whose bytes were checked. */
  keep(shard: string, step: PlanStep, facts: PathFacts): void {
    const { file, before } = step;
    invariant(before !== null && this.state === 'preparing', 'an old file is kept before anything is changed');
    const source = joinShown(shard, file);
    const how = this.#linkOld(source, this.keptPath(file)) ? 'link' : 'copy';
    if (how === 'copy') this.#copyOld(source, file, before);
    const looked = pathFacts(how === 'link' ? this.keptPath(file) : source);
    if (!isSameFile(looked, facts)) throw new NotAsPlanned(`${file} changed while it was kept`);
    const { mode, uid, gid, mtimeNs } = facts;
    const kept: KeptFile = { file, ...before, how, mode, uid, gid, mtimeNs };
    this.#record = { ...this.#record, kept: [...this.#record.kept, kept] };
  }

  #linkOld(source: string, kept: string): boolean {
    try {
      this.#fs.link(source, kept);
    } catch (failure) {
      if (failure instanceof WriteFailure && NO_LINKS.includes(failure.code)) return false;
      throw failure;
    }
    this.#fs.syncFile(kept);
    return true;
  }

  #copyOld(source: string, file: string, before: FileState): void {
    const old = PinnedFile.open(source);
    try {
      const own = pathFacts(this.path)!;
      const ownership = { mode: 0o600, uid: own.uid, gid: own.gid };
      writeNew(this.#fs, this.keptPath(file), ownership, old.pieces(0, old.size), { file, state: before });
    } finally {
      old.close();
    }
  }

  /** Changes the state, durably. What the old state had to make durable is so before the record is. */
  enter(state: JournalState, at: Date): void {
    invariant(NEXT_STATES[this.state].includes(state), `a journal goes from ${this.state} to ${state}`);
    this.#fs.syncDirectory(joinShown(this.path, OLD_DIRECTORY));
    this.#record = { ...this.#record, state, changedAt: at.toISOString() };
    this.#save();
  }

  /** Makes a kept file readable by its owner alone, once the shard no longer has it under its own name. */
  closeOff(file: string): void {
    const facts = pathFacts(this.keptPath(file));
    if (facts !== null && facts.mode !== 0o600) this.#fs.setMode(this.keptPath(file), 0o600);
  }

  /** Writes the receipt beside the record. */
  writeReceipt(text: string): void {
    this.#put(RECEIPT_FILE, new TextEncoder().encode(text));
  }

  #save(): void {
    const text = JSON.stringify(this.#record, (_, item) => (typeof item === 'bigint' ? item.toString() : item), 2);
    this.#put(JOURNAL_FILE, new TextEncoder().encode(`${text}\n`));
  }

  #put(name: string, bytes: Uint8Array): void {
    const own = pathFacts(this.path)!;
    const path = joinShown(this.path, name);
    removeIfThere(this.#fs, `${path}.tmp`);
    writeNew(this.#fs, `${path}.tmp`, { mode: 0o600, uid: own.uid, gid: own.gid }, [bytes], null);
    this.#fs.rename(`${path}.tmp`, path);
    this.#fs.syncDirectory(this.path);
  }
}

/**
 * Takes away a journal in which nothing was begun, whole or not. The caller knows that its state is `preparing`. Names that
 * are not ours are left, and the directory with them.
 */
export function clearJournal(fs: DurableFs, path: string): void {
  // Links first: one that leads nowhere would speak of a journal that nobody can read.
  for (const link of linksTo(path)) {
    fs.unlink(link);
    fs.syncDirectory(parentOf(link));
  }
  const old = joinShown(path, OLD_DIRECTORY);
  for (const { name } of listDirectory(old).entries) if (isShardFile(name)) fs.unlink(joinShown(old, name));
  for (const name of [PLAN_FILE, JOURNAL_FILE]) {
    removeIfThere(fs, joinShown(path, `${name}.tmp`));
    removeIfThere(fs, joinShown(path, name));
  }
  if (pathFacts(old) !== null) fs.removeDirectory(old);
  if (listDirectory(path).entries.length === 0) fs.removeDirectory(path);
  fs.syncDirectory(parentOf(path));
}

/** Names beside the shard that lead to a journal elsewhere. */
function linksTo(path: string): string[] {
  const { shard } = sight(path);
  const beside = shard === null ? [] : journalsBeside(shard).map((sighting) => sighting.path);
  return beside.filter((name) => pathFacts(name)?.type === 'link' && realPath(name) === path);
}

/** A free name for a journal beside the shard. */
export function freeJournalPath(shard: string, at: Date): string {
  const name = shard.slice(shard.lastIndexOf('/') + 1);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const path = joinShown(parentOf(shard), journalName(name, at, attempt));
    if (pathFacts(path) === null) return path;
  }
  throw new Error('broken assumption: a second has room for a thousand journals');
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
