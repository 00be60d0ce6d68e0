/**
 * The only reader of file bytes. Files are opened read-only, without blocking on a FIFO, and never created.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type ByteSource, ReadFailure } from './byte-source.js';

/** A path as the system gives it; bytes when the name is not UTF-8. */
export type RawPath = string | Buffer;

export interface FileFacts {
  readonly size: number;
  readonly inode: bigint;
  readonly device: bigint;
  readonly mtimeNs: bigint;
  readonly mode: number;
}

/** A regular file; `size` is the judged prefix, the whole file unless told otherwise. Close it when done. */
export class FileSource implements ByteSource {
  readonly size: number;
  readonly #descriptor: number;

  private constructor(descriptor: number, size: number) {
    this.#descriptor = descriptor;
    this.size = size;
  }

  /** Throws {@link ReadFailure} when the path cannot be opened or is no regular file. */
  static open(path: RawPath, size?: number): FileSource {
    let descriptor: number;
    try {
      descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch (error) {
      throw failureOf(error, 0);
    }
    try {
      const facts = fstatSync(descriptor);
      if (!facts.isFile()) throw new ReadFailure('ENOTFILE', 0, 'not a regular file');
      return new FileSource(descriptor, size ?? facts.size);
    } catch (error) {
      closeSync(descriptor);
      throw error instanceof ReadFailure ? error : failureOf(error, 0);
    }
  }

  readAt(target: Uint8Array, position: number): number {
    if (position >= this.size) return 0;
    try {
      return readSync(this.#descriptor, target, 0, Math.min(target.length, this.size - position), position);
    } catch (error) {
      throw failureOf(error, position);
    }
  }

  /** What the system says of the file now. */
  facts(): FileFacts {
    const facts = fstatSync(this.#descriptor, { bigint: true });
    return {
      size: Number(facts.size),
      inode: facts.ino,
      device: facts.dev,
      mtimeNs: facts.mtimeNs,
      mode: Number(facts.mode),
    };
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function failureOf(error: unknown, position: number): ReadFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return new ReadFailure(code, position, error instanceof Error ? error.message : String(error));
}
