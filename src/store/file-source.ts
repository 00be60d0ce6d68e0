/**
 * The only reader of file bytes. Files are opened read-only, without blocking on a FIFO, and never created.
 */

import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs';
import { type ByteSource, ReadFailure } from './byte-source.js';
import { awaitTurn, isPaced } from './read-pace.js';

/** A path as the system gives it; bytes when the name is not UTF-8. */
export type RawPath = string | Buffer;

export interface FileFacts {
  readonly size: number;
  readonly inode: bigint;
  readonly device: bigint;
  readonly mtimeNs: bigint;
  readonly mode: number;
}

/** Reads of this size and more are timed, and read ahead of when the device is slow. */
const TIMED_BYTES = 256 * 1024;
/** Slower than this, in bytes a millisecond, is not memory: the next piece is asked for while this one is checked. */
const MEMORY_SPEED = 1_000_000;

/** A regular file; `size` is the judged prefix, the whole file unless told otherwise. Close it when done. */
export class FileSource implements ByteSource {
  readonly size: number;
  readonly #descriptor: number;
  #ahead: Uint8Array | null = null;
  #reading = false;
  #closed = false;

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
    const length = Math.min(target.length, this.size - position);
    const timed = length >= TIMED_BYTES && !isPaced();
    awaitTurn(length);
    const startedAt = timed ? performance.now() : 0;
    try {
      const got = readSync(this.#descriptor, target, 0, length, position);
      if (timed && isSlow(got, performance.now() - startedAt)) this.#readAhead(position + got, length);
      return got;
    } catch (error) {
      throw failureOf(error, position);
    }
  }

  /**
   * Brings the piece behind a slow one into the system's cache while the caller is at work. The bytes themselves are thrown
   * away, and so is any failure: the read that counts will meet it.
   */
  #readAhead(position: number, length: number): void {
    const wanted = Math.min(length, this.size - position);
    if (this.#reading || wanted <= 0) return;
    if (this.#ahead === null || this.#ahead.length < wanted) this.#ahead = new Uint8Array(wanted);
    this.#reading = true;
    read(this.#descriptor, this.#ahead, 0, wanted, position, () => {
      this.#reading = false;
      if (this.#closed) closeSync(this.#descriptor);
    });
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

  /** The descriptor stays open until a read that is under way has come back. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#reading) closeSync(this.#descriptor);
  }
}

function isSlow(bytes: number, milliseconds: number): boolean {
  return bytes < MEMORY_SPEED * milliseconds;
}

function failureOf(error: unknown, position: number): ReadFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return new ReadFailure(code, position, reasonOf(error));
}

/** What the system says, without its code, the call and the path: `permission denied`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /^[A-Z][A-Z0-9_]*: (.+?), [a-z]+(?: '|$)/s.exec(text)?.[1] ?? text;
}
