/**
 * Reading a small file of known origin at once.
 */

import { readFileSync } from 'node:fs';

/** The bytes of a file; null when they cannot be read. Not for files of a store, whose sizes are anybody's. */
export function readWholeFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
