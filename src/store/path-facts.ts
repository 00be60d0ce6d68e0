/**
 * What the system says of one path, links not followed, and where a path really leads.
 */

import { accessSync, type BigIntStats, constants, lstatSync, realpathSync, statfsSync } from 'node:fs';
import { ReadFailure } from './byte-source.js';

export interface PathFacts {
  readonly type: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  readonly inode: bigint;
  readonly device: bigint;
  readonly mtimeNs: bigint;
  readonly atimeNs: bigint;
  /** Permission bits alone. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Names that the file has. */
  readonly links: number;
}

/** Null when there is nothing. Throws {@link ReadFailure} when the system does not say. */
export function pathFacts(path: string): PathFacts | null {
  try {
    return factsOf(lstatSync(path, { bigint: true }));
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return null;
    throw failure;
  }
}

/** The same out of what the system gives. */
export function factsOf(stats: BigIntStats): PathFacts {
  return {
    type: stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other',
    size: Number(stats.size),
    inode: stats.ino,
    device: stats.dev,
    mtimeNs: stats.mtimeNs,
    atimeNs: stats.atimeNs,
    mode: Number(stats.mode & 0o7777n),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    links: Number(stats.nlink),
  };
}

/** True when two looks at a path saw the same file with the same size and time. */
export function isSameFile(a: PathFacts | null, b: PathFacts | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.type === b.type && a.device === b.device && a.inode === b.inode && a.size === b.size && a.mtimeNs === b.mtimeNs
  );
}

/** The absolute path without any link in it; null when there is nothing. Throws {@link ReadFailure}. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return null;
    throw failure;
  }
}

/** True when this process may make and remove names in a directory, as far as the system says beforehand. */
export function mayChangeNames(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Bytes that a person who is not root may still write to the file system of `path`. Throws {@link ReadFailure}. */
export function freeBytes(path: string): number {
  try {
    const facts = statfsSync(path);
    return facts.bavail * facts.bsize;
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): ReadFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return new ReadFailure(code, 0, error instanceof Error ? error.message : String(error));
}
