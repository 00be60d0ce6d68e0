/**
 * From the paths that an operator names to what is checked: shards, data roots, or one file of either.
 *
 * The walk is lazy, so that a directory is listed shortly before it is read and ten thousand shards cost no memory.
 */

import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { type Identity, identify } from '../format/identify.js';
import { indexFileName, indexIdOf, segmentFileName, segmentIdOf } from '../format/names.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import {
  type Discovered,
  discover,
  type Entry,
  type Listing,
  listDirectory,
  ROOT_FILES,
  SHARD_SIDECARS,
  statPath,
} from '../store/walk.js';

/** One file of a shard that was named by itself. */
export interface SoleFile {
  readonly name: string;
  /** The id that the file is shown under when its name gives none. */
  readonly segment: { readonly id: bigint; readonly sealed: boolean } | null;
}

export type Target =
  | { readonly what: 'shard'; readonly listing: Listing; readonly sole: SoleFile | null }
  | { readonly what: 'root'; readonly listing: Listing }
  /** Directories below the argument that could not be listed, and links and the like that were left alone. */
  | { readonly what: 'passed-over'; readonly path: string; readonly items: readonly PassedOver[] };

export type PassedOver = Exclude<Discovered, { what: 'shard' | 'root' }>;

/** Throws a failure for the first path that does not exist, before anything is read of the others. */
export function requirePaths(paths: readonly string[]): void {
  for (const path of paths) {
    if (statPath(path) === null) fail({ reason: 'usage', message: `${printable(path)}: no such file or directory` });
  }
}

/** Throws a failure when the path does not exist, or nothing of the format is there. */
export function* targetsOf(path: string, options: { includeDeleted: boolean }): Generator<Target> {
  const at = statPath(path);
  if (at === null) fail({ reason: 'usage', message: `${printable(path)}: no such file or directory` });
  if ('code' in at) fail({ reason: 'unreadable', message: `${printable(path)}: ${at.message}` });
  if (at.type !== 'directory') {
    yield soleTarget(path, at.size, at.type === 'file');
    return;
  }
  const passedOver: PassedOver[] = [];
  let found = 0;
  for (const item of discover(path, options)) {
    if (item.what === 'problem' || item.what === 'stranger') passedOver.push(item);
    else {
      found++;
      yield item.what === 'shard' ? { ...item, sole: null } : item;
    }
  }
  const [first] = passedOver;
  if (found === 0 && first?.what === 'problem' && first.path === path) {
    fail({ reason: 'unreadable', message: `${printable(path)}: ${first.problem.message}` });
  }
  if (found === 0 && !passedOver.some(({ what }) => what === 'problem')) {
    fail({ reason: 'usage', message: `${printable(path)}: nothing of a Felix store is here` });
  }
  if (passedOver.length > 0) yield { what: 'passed-over', path, items: passedOver };
}

/** A file by itself: taken for what its name says, else for what its first bytes say. */
function soleTarget(path: string, size: number, isFile: boolean): Target {
  if (!isFile) fail({ reason: 'usage', message: `${printable(path)}: neither a file nor a directory` });
  const slash = path.lastIndexOf('/');
  const directory = slash < 0 ? '.' : path.slice(0, slash) || '/';
  const name = path.slice(slash + 1);
  const parent = listDirectory(directory);
  const entry = parent.entries.find((candidate) => candidate.name === name);
  const own: Entry = { ...blankEntry(name, path, size), ...entry, type: 'file', path, size };
  const identity = identityOf(path, size);
  if (ROOT_FILES.includes(name) || (ROOT_FILES.includes(identity.kind) && segmentIdOf(name) === null)) {
    const named = ROOT_FILES.includes(name) ? name : identity.kind;
    return { what: 'root', listing: { ...parent, path: directory, entries: [{ ...own, name: named }] } };
  }
  const id = segmentIdOf(name) ?? indexIdOf(name) ?? 0n;
  const newest = parent.entries.reduce((max, { name: other }) => bigMax(max, segmentIdOf(other) ?? -1n), -1n);
  const segment = { id, sealed: newest > id };
  const entriesOf = (log: Entry | undefined, index: Entry | undefined) => [log, index].filter((e) => e !== undefined);
  const sibling = (other: string) => parent.entries.find((candidate) => candidate.name === other);
  const shard = (entries: Entry[], asSegment: boolean): Target => ({
    what: 'shard',
    listing: { ...parent, path: directory, entries, problem: null },
    sole: { name, segment: asSegment ? segment : null },
  });
  if (SHARD_SIDECARS.includes(name)) return shard([own], false);
  if (indexIdOf(name) !== null) return shard(entriesOf(sibling(segmentFileName(id)), own), true);
  if (segmentIdOf(name) !== null || identity.kind === 'segment') {
    return shard(entriesOf(own, segmentIdOf(name) === null ? undefined : sibling(indexFileName(id))), true);
  }
  if (SHARD_SIDECARS.includes(identity.kind)) return shard([{ ...own, name: identity.kind }], false);
  fail({ reason: 'usage', message: `${printable(path)}: not part of a Felix store; it is ${identity.description}` });
}

function identityOf(path: string, size: number): Identity {
  try {
    const source = FileSource.open(path);
    try {
      const bytes = new Uint8Array(Math.min(1024, source.size));
      return identify(bytes.subarray(0, source.readAt(bytes, 0)), source.size);
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return { kind: 'unknown', description: `unreadable (${size} bytes)` };
  }
}

function blankEntry(name: string, path: string, size: number): Entry {
  return { name, path, type: 'file', size, inode: 0n, device: 0n, mtimeNs: 0n };
}

function bigMax(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Bytes of segments at and below the paths, for showing progress. Looks at names and sizes alone. */
export function segmentBytes(paths: readonly string[], options: { includeDeleted: boolean }): number {
  let bytes = 0;
  for (const path of paths) {
    for (const target of targetsOf(path, options)) {
      if (target.what !== 'shard') continue;
      for (const { name, size } of target.listing.entries) if (segmentIdOf(name) !== null) bytes += size;
    }
  }
  return bytes;
}
