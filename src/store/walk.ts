/**
 * From a path to the shards and data roots below it, by names alone: nothing here opens a file.
 *
 * Links are followed when they are the argument itself; below that they are named and left alone. Names are kept as the
 * bytes that they are, beside a text for showing. A directory that cannot be listed is reported, and the walk goes on.
 */

import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { indexIdOf, parseShardName, segmentIdOf } from '../format/names.js';
import { type RawPath, reasonOf } from './file-source.js';
import { shardOfJournal } from './journal-names.js';

export type EntryType = 'file' | 'directory' | 'link' | 'fifo' | 'socket' | 'device';

export interface Entry {
  /** For showing; bytes that are not UTF-8 appear as `\xNN`. */
  readonly name: string;
  readonly path: RawPath;
  readonly type: EntryType;
  readonly size: number;
  readonly inode: bigint;
  readonly device: bigint;
  readonly mtimeNs: bigint;
}

export interface WalkProblem {
  readonly code: string;
  readonly message: string;
}

export interface Listing {
  /** As given or found. */
  readonly path: string;
  readonly raw: RawPath;
  /** The directory's own name, also where the path is `.` or a link to it. */
  readonly name: string;
  /** Ascending by the bytes of the names. */
  readonly entries: readonly Entry[];
  /** Why the directory, or the first of the entries that are left out, could not be looked at. */
  readonly problem: WalkProblem | null;
}

export type Discovered =
  | { readonly what: 'shard'; readonly listing: Listing; readonly root: string | null }
  | { readonly what: 'root'; readonly listing: Listing }
  | { readonly what: 'problem'; readonly path: string; readonly root: string | null; readonly problem: WalkProblem }
  | { readonly what: 'stranger'; readonly path: string; readonly root: string | null; readonly entry: Entry };

/** Names of the small files that may lie in a shard's directory. */
export const SHARD_SIDECARS: readonly string[] = [
  'epochs',
  'replica',
  'ballot',
  'producers',
  'offload.manifest',
  'keys.idx',
];
/** Names that only a data root holds. */
export const ROOT_FILES: readonly string[] = ['storage-id', 'run-state', 'registration', 'node-id'];

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A name for showing; its bytes where it is not UTF-8. */
function shownName(raw: Buffer): string {
  try {
    return STRICT_UTF8.decode(raw);
  } catch {
    return Array.from(raw, (byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    ).join('');
  }
}

/** What is at a path, links followed; null when there is nothing. Throws nothing. */
export function statPath(path: RawPath): { type: EntryType; size: number } | WalkProblem | null {
  try {
    const facts = statSync(path);
    return { type: typeOf(facts), size: facts.size };
  } catch (error) {
    const problem = problemOf(error);
    return problem.code === 'ENOENT' || problem.code === 'ENOTDIR' ? null : problem;
  }
}

/** The wanted entries of one directory with their sizes as they are now. Entries that vanish meanwhile are left out. */
export function listDirectory(
  path: string,
  raw: RawPath = path,
  wanted: (name: string) => boolean = () => true,
): Listing {
  const name = ownName(path, raw);
  try {
    const names = readdirSync(raw, { encoding: 'buffer' }).sort(Buffer.compare);
    const entries: Entry[] = [];
    let problem: WalkProblem | null = null;
    for (const rawName of names) {
      if (!wanted(shownName(rawName))) continue;
      const entry = entryOf(raw, rawName);
      if (entry !== null && 'code' in entry) problem ??= entry;
      else if (entry !== null) entries.push(entry);
    }
    return { path, raw, name, entries: indexesFirst(entries), problem };
  } catch (error) {
    return { path, raw, name, entries: [], problem: problemOf(error) };
  }
}

/**
 * Takes the sizes of segments after those of everything else: what an index or a small file says of a log that grows
 * meanwhile is then never ahead of the prefix that is judged.
 */
function indexesFirst(entries: readonly Entry[]): Entry[] {
  return entries.map((entry) => {
    if (entry.type !== 'file' || segmentIdOf(entry.name) === null) return entry;
    try {
      const facts = lstatSync(entry.path, { bigint: true });
      return { ...entry, size: Number(facts.size), mtimeNs: facts.mtimeNs };
    } catch {
      return entry;
    }
  });
}

/** Null for an entry that vanished meanwhile. */
function entryOf(directory: RawPath, rawName: Buffer): Entry | WalkProblem | null {
  const name = shownName(rawName);
  const path = joinRaw(directory, rawName, name);
  try {
    const facts = lstatSync(path, { bigint: true });
    return {
      name,
      path,
      type: typeOf(facts),
      size: Number(facts.size),
      inode: facts.ino,
      device: facts.dev,
      mtimeNs: facts.mtimeNs,
    };
  } catch (error) {
    const problem = problemOf(error);
    return problem.code === 'ENOENT' ? null : problem;
  }
}

function joinRaw(directory: RawPath, rawName: Buffer, name: string): RawPath {
  if (typeof directory === 'string' && Buffer.from(name).equals(rawName)) return joinShown(directory, name);
  const parent = typeof directory === 'string' ? Buffer.from(directory) : directory;
  const separator = parent.at(-1) === 0x2f ? [] : [0x2f];
  return Buffer.concat([parent, Buffer.from(separator), rawName]);
}

/** A path for showing. */
export function joinShown(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The last part of the path; what it leads to, where that is `.`, or where only the latter is the name of a shard. */
function ownName(path: string, raw: RawPath): string {
  const given = baseName(path);
  if (parseShardName(given) !== null) return given;
  try {
    const real = baseName(realpathSync(raw));
    return parseShardName(real) !== null || given === '.' || given === '..' ? real : given;
  } catch {
    return given;
  }
}

function baseName(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1) || path;
}

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

function typeOf(facts: Typed): EntryType {
  if (facts.isFile()) return 'file';
  if (facts.isDirectory()) return 'directory';
  if (facts.isSymbolicLink()) return 'link';
  if (facts.isFIFO()) return 'fifo';
  return facts.isSocket() ? 'socket' : 'device';
}

function problemOf(error: unknown): WalkProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return { code, message: reasonOf(error) };
}

/** True for a directory that holds a segment, an index or a small file of a shard. */
export function isShard(listing: Listing): boolean {
  return listing.entries.some(
    ({ name, type }) =>
      segmentIdOf(name) !== null || indexIdOf(name) !== null || (type === 'file' && SHARD_SIDECARS.includes(name)),
  );
}

function isRoot(listing: Listing): boolean {
  return listing.entries.some(
    ({ name, type }) =>
      (type === 'file' && ROOT_FILES.includes(name)) ||
      (type === 'directory' && (name === '.streams' || name === '.deleted')),
  );
}

export interface DiscoverOptions {
  readonly includeDeleted: boolean;
}

/** Everything of the format at or below a directory, parents in front of children, in a stable order. */
export function* discover(path: string, options: DiscoverOptions): Generator<Discovered> {
  const stack: { path: string; raw: RawPath; root: string | null }[] = [{ path, raw: path, root: null }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const listing = listDirectory(next.path, next.raw);
    if (listing.problem !== null) {
      yield { what: 'problem', path: next.path, root: next.root, problem: listing.problem };
    }
    let { root } = next;
    const shard = isShard(listing);
    if (isRoot(listing)) {
      root = next.path;
      yield { what: 'root', listing };
    }
    if (shard) yield { what: 'shard', listing, root };
    const below: typeof stack = [];
    for (const entry of listing.entries) {
      if (entry.type === 'directory') {
        if (!entered(entry.name, options)) continue;
        below.push({ path: joinShown(next.path, entry.name), raw: entry.path, root });
      } else if (!shard && entry.type !== 'file' && shardOfJournal(entry.name) === null) {
        yield { what: 'stranger', path: joinShown(next.path, entry.name), root, entry };
      }
    }
    stack.push(...below.reverse());
  }
}

/** A broker never reads a dotted directory as a shard; deleted streams wait in one. */
function entered(name: string, options: DiscoverOptions): boolean {
  return !name.startsWith('.') || (options.includeDeleted && name === '.deleted');
}
