/**
 * What must hold before a file of a shard is changed. Every reason to refuse is told, not only the first, and nothing here
 * writes.
 *
 * Files are held to the plan byte for byte. Which state each file of a step may be in is the caller's to say: before, for a
 * plan that begins; before or after, for one that is taken up again; after, for one that is undone.
 */

import type { FileState, Plan } from '../domain/plan.js';
import { printable } from '../domain/wording.js';
import { ReadFailure } from '../store/byte-source.js';
import { digestFile, type FileDigest } from '../store/file-digest.js';
import { freeBytes, mayChangeNames, type PathFacts, pathFacts, realPath } from '../store/path-facts.js';
import { type Entry, joinShown, listDirectory } from '../store/walk.js';
import { type SignOptions, signsOfLife } from './liveness.js';
import { isState } from './plan-file.js';
import { concernsBroker } from './shard-file.js';
import type { Standing } from './steps.js';

/** Who runs this, and when. */
export interface Surroundings {
  readonly pid: number;
  readonly uid: number;
  /** Groups of the process, its own among them. */
  readonly groups: readonly number[];
  readonly user: string | null;
  readonly host: string;
  readonly now: () => Date;
  readonly proc?: string;
}

export interface Verdict {
  /** Why not, a sentence each; empty when all holds. */
  readonly refusals: readonly string[];
  /** What the person should know all the same. */
  readonly notes: readonly string[];
  /** Files of the plan that are there, as they were when they were read. */
  readonly facts: ReadonlyMap<string, PathFacts>;
}

export interface Expectation {
  /** States that the file of a step may be in. */
  readonly allowed: readonly Exclude<Standing, 'neither'>[];
  /** Times of files are not held against the shard: they are ours. */
  readonly ignoreTimes: boolean;
  /** Where the journal is or will be; null for beside the shard. */
  readonly journal: string | null;
}

/** Throws {@link ReadFailure} when a file that has to be looked at cannot be read. */
export function checkPreconditions(plan: Plan, around: Surroundings, expected: Expectation): Verdict {
  const refusals = pathRefusals(plan);
  if (refusals.length > 0) return { refusals, notes: [], facts: new Map() };
  const files = checkFiles(plan, expected.allowed);
  const signs = signsOfLife(plan.shard.path, files.facts, signOptions(around, expected.ignoreTimes));
  const owner = ownerSigns(plan, files.facts, around);
  const room = roomSigns(plan, expected);
  return {
    refusals: [...signs.live, ...files.refusals, ...owner.refusals, ...room.refusals],
    notes: [...signs.unknown, ...owner.notes, ...room.notes],
    facts: files.facts,
  };
}

function signOptions({ pid, now, proc }: Surroundings, ignoreTimes: boolean): SignOptions {
  const nowNs = BigInt(now().getTime()) * 1_000_000n;
  return { ownPid: pid, nowNs, ignoreTimes, ...(proc === undefined ? {} : { proc }) };
}

function pathRefusals({ shard }: Plan): string[] {
  const shown = printable(shard.path);
  const real = realPath(shard.path);
  if (real === null) return [`${shown} is not there any more: the shard was moved or removed since the plan was made`];
  if (real !== shard.path) return [`${shown} now leads through a symbolic link, and nothing is changed behind one`];
  return pathFacts(real)?.type === 'directory' ? [] : [`${shown} is not a directory`];
}

function checkFiles(plan: Plan, allowed: Expectation['allowed']): Pick<Verdict, 'refusals' | 'facts'> {
  const refusals: string[] = [];
  const facts = new Map<string, PathFacts>();
  const listing = listDirectory(plan.shard.path);
  if (listing.problem !== null) throw new ReadFailure(listing.problem.code, 0, listing.problem.message);
  const entries = new Map(listing.entries.map((entry) => [entry.name, entry]));
  const steps = new Map(plan.steps.map((step) => [step.file, step]));
  const files = new Map(plan.files.map((file) => [file.file, file]));
  const since = allowed.includes('before') ? 'as when the plan was made' : 'as the repair left it';
  const names = new Set([...files.keys(), ...steps.keys()]);
  for (const name of names) {
    const found = lookAt(plan.shard.path, name, entries.get(name));
    if (typeof found === 'string') {
      refusals.push(found);
      continue;
    }
    if (found !== null) facts.set(name, found.facts);
    const step = steps.get(name);
    const planned = files.get(name) ?? null;
    const wanted = step === undefined ? [planned] : allowed.map((standing) => step[standing]);
    if (!wanted.some((state) => isState(found, state))) refusals.push(`${name} ${difference(found, wanted)} ${since}`);
  }
  for (const { name } of listing.entries) {
    if (concernsBroker(name) && !names.has(name)) refusals.push(`${printable(name)} is new since the plan was made`);
  }
  return { refusals, facts };
}

/** What a file holds, or why it is not looked at. */
function lookAt(shard: string, name: string, entry: Entry | undefined): FileDigest | string | null {
  if (entry === undefined) return null;
  if (entry.type === 'link') return `${name} is a symbolic link, and nothing is changed through one`;
  return entry.type === 'file' ? digestFile(joinShown(shard, name)) : `${name} is not a regular file`;
}

/** Stands in front of "as when the plan was made". */
function difference(found: FileDigest | null, wanted: readonly (FileState | null)[]): string {
  const sizes = wanted.filter((state) => state !== null).map(({ size }) => size);
  if (found === null) return 'is gone, and not there';
  if (sizes.length === 0) return 'is there, and not away';
  if (!sizes.includes(found.size)) return `has ${found.size} bytes, and not ${sizes.join(' or ')}`;
  return 'does not hold the same bytes';
}

/** New files get the owner of the old; who cannot give that away must not begin. */
function ownerSigns(
  plan: Plan,
  facts: ReadonlyMap<string, PathFacts>,
  { uid, groups, user }: Surroundings,
): { refusals: string[]; notes: string[] } {
  const owners = plan.steps.map(({ file }) => facts.get(file)).filter((known) => known !== undefined);
  const refusals: string[] = [];
  if (!mayChangeNames(plan.shard.path))
    refusals.push(`${printable(plan.shard.path)} may not be written to by this user`);
  const others = owners.filter((owner) => owner.uid !== uid);
  const [other] = others;
  if (other === undefined) {
    const foreign = uid === 0 ? undefined : owners.find(({ gid }) => !groups.includes(gid));
    if (foreign !== undefined) refusals.push(`the files' group ${foreign.gid} could not be kept by this user`);
    return { refusals, notes: [] };
  }
  if (uid !== 0) {
    refusals.push(`the files belong to user ${other.uid}, and only that user or root can keep it so; this is ${uid}`);
    return { refusals, notes: [] };
  }
  const who = `${user ?? 'this user'} (${uid})`;
  return { refusals, notes: [`run as ${who}, while the files belong to user ${other.uid}; they stay that user's`] };
}

/** For the record, the plan and directories; file systems round up. */
const SLACK_BYTES = 1024 * 1024;

function roomSigns(plan: Plan, { journal, allowed }: Expectation): { refusals: string[]; notes: string[] } {
  if (allowed.includes('after')) return { refusals: [], notes: [] };
  const shard = plan.shard.path;
  const parts = plan.steps.flatMap(({ content }) => content);
  const held = parts.reduce((sum, part) => sum + (part.from === 'plan' ? part.base64.length : 0), 0);
  const old = plan.steps.reduce((sum, { before }) => sum + (before?.size ?? 0), 0);
  const anew = plan.steps.reduce((sum, { after }) => sum + (after?.size ?? 0), 0);
  const home = nearestThere(journal ?? parentOf(shard));
  const apart = pathFacts(home)?.device !== pathFacts(shard)?.device;
  const needs = apart
    ? [
        { path: shard, bytes: anew + SLACK_BYTES },
        { path: home, bytes: old + held + SLACK_BYTES },
      ]
    : [{ path: shard, bytes: anew + held + SLACK_BYTES }];
  return {
    refusals: needs
      .filter(({ path, bytes }) => freeBytes(path) < bytes)
      .map(({ path, bytes }) => `${bytes} free bytes are needed where ${printable(path)} is, and there are fewer`),
    notes: apart ? [APART] : [],
  };
}

const APART =
  'the journal is on another file system: old files are copied there, and undo brings their modification times back to the microsecond';

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** The directory itself, or the nearest one above it that is there: the root always is. */
function nearestThere(path: string): string {
  let directory = path;
  while (pathFacts(directory) === null) directory = parentOf(directory);
  return directory;
}
