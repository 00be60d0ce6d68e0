/**
 * A directory laid out by object keys, looked at read-only.
 *
 * Keys come from a file that anybody may have written: no key leads out of the directory, neither by its own parts nor by
 * a symbolic link on the way, and what is no regular file is never opened for reading.
 */

import { realpathSync, statSync } from 'node:fs';
import { ReadFailure } from './byte-source.js';
import { FileSource } from './file-source.js';

export type OpenedObject =
  | { readonly is: 'object'; readonly source: FileSource }
  | { readonly is: 'missing' }
  /** A sentence part. */
  | { readonly is: 'refused'; readonly why: string };

const NOT_THERE: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

export class ObjectStore {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Null when there is no such directory. Throws {@link ReadFailure} when it cannot be looked at. */
  static at(directory: string): ObjectStore | null {
    const root = resolved(directory);
    return root !== null && statOf(root).isDirectory() ? new ObjectStore(root) : null;
  }

  /** The object under `key`; close its source. Throws {@link ReadFailure} when it cannot be read. */
  open(key: string): OpenedObject {
    const why = whyUnsafe(key);
    if (why !== null) return { is: 'refused', why };
    const path = resolved(`${this.#root === '/' ? '' : this.#root}/${key}`);
    if (path === null) return { is: 'missing' };
    if (!path.startsWith(this.#root === '/' ? '/' : `${this.#root}/`)) {
      return { is: 'refused', why: 'a symbolic link leads out of the directory' };
    }
    if (!statOf(path).isFile()) return { is: 'refused', why: 'it is not a regular file' };
    return { is: 'object', source: FileSource.open(path) };
  }
}

/** Why a key cannot be a path below a directory; null when it can. */
export function whyUnsafe(key: string): string | null {
  if (key === '') return 'the key is empty';
  if (key.includes('\0')) return 'the key has a NUL in it';
  if (key.startsWith('/')) return 'the key is an absolute path';
  const parts = key.split('/');
  if (parts.includes('..')) return 'the key leads upwards';
  return parts.includes('') || parts.includes('.') ? 'the key has an empty part in it' : null;
}

/** The path with every link followed; null when nothing is there. */
function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (NOT_THERE.includes(code)) return null;
    throw new ReadFailure(code, 0, error instanceof Error ? error.message : String(error));
  }
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    throw new ReadFailure(codeOf(error), 0, error instanceof Error ? error.message : String(error));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
}
