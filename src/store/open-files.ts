/**
 * Which processes hold files open, as far as the system lets this one see (`/proc` of Linux).
 *
 * A process that may not be looked into is counted as unknown, never as holding nothing.
 */

import { readdirSync, readlinkSync, statSync } from 'node:fs';
import type { PathFacts } from './path-facts.js';

export interface Holder {
  readonly pid: number;
  /** The program's path or name, when it may be seen. */
  readonly program: string | null;
  /** The first of the files that it was found to hold. */
  readonly file: string;
}

export interface OpenFiles {
  readonly holders: readonly Holder[];
  /** Processes that could not be looked into; null where the system has no way to ask. */
  readonly unknown: number | null;
}

/** Looks for other processes than `ownPid` that hold one of `files` open, told apart by device and inode. */
export function holdersOf(files: ReadonlyMap<string, PathFacts>, ownPid: number, proc = '/proc'): OpenFiles {
  const byIdentity = new Map(Array.from(files, ([name, { device, inode }]) => [`${device}:${inode}`, name]));
  const pids = listed(proc)?.filter((name) => /^[0-9]+$/.test(name)) ?? [];
  if (pids.length === 0) return { holders: [], unknown: null };
  const holders: Holder[] = [];
  let unknown = 0;
  for (const pid of pids) {
    if (Number(pid) === ownPid) continue;
    const held = heldBy(`${proc}/${pid}/fd`, byIdentity);
    if (held === 'unknown') unknown++;
    else if (held !== null) holders.push({ pid: Number(pid), program: programOf(`${proc}/${pid}`), file: held });
  }
  return { holders, unknown };
}

function heldBy(directory: string, files: ReadonlyMap<string, string>): string | 'unknown' | null {
  let descriptors: string[];
  try {
    descriptors = readdirSync(directory);
  } catch (error) {
    return hasGone(error) ? null : 'unknown';
  }
  for (const descriptor of descriptors) {
    try {
      const facts = statSync(`${directory}/${descriptor}`, { bigint: true });
      const file = files.get(`${facts.dev}:${facts.ino}`);
      if (file !== undefined) return file;
    } catch (error) {
      if (!hasGone(error)) return 'unknown';
    }
  }
  return null;
}

/** A process or a descriptor that ended while it was looked at. */
function hasGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}

function programOf(directory: string): string | null {
  try {
    return readlinkSync(`${directory}/exe`);
  } catch {
    return null;
  }
}

function listed(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    return null;
  }
}
