/**
 * What work in this process asks of the system: which files it syncs, and which it leaves open.
 *
 * The functions of `node:fs` are stood in for while the work runs, in every module that imports them by name.
 */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface SystemCalls {
  /** Paths of files and directories, each time that the system was asked to make them durable. */
  readonly synced: readonly string[];
  /** Paths that were opened and not closed. */
  readonly leftOpen: readonly string[];
  /** What the work threw; null when it ended well. */
  readonly thrown: unknown;
}

/** Runs work that does not wait for anything. */
export function systemCallsOf(work: () => unknown): SystemCalls {
  const { openSync, closeSync, fsyncSync } = fs;
  const open = new Map<number, string>();
  const synced: string[] = [];
  let thrown: unknown = null;
  fs.openSync = (path, ...more) => {
    const descriptor = openSync(path, ...more);
    open.set(descriptor, String(path));
    return descriptor;
  };
  fs.closeSync = (descriptor) => {
    closeSync(descriptor);
    open.delete(descriptor);
  };
  fs.fsyncSync = (descriptor) => {
    fsyncSync(descriptor);
    synced.push(open.get(descriptor) ?? `descriptor ${descriptor}`);
  };
  syncBuiltinESMExports();
  try {
    work();
  } catch (error) {
    thrown = error;
  } finally {
    Object.assign(fs, { openSync, closeSync, fsyncSync });
    syncBuiltinESMExports();
  }
  return { synced, leftOpen: [...open.values()], thrown };
}
