/**
 * Reading a file that is about to be changed: never through a link, in pieces, and with its checksum.
 *
 * {@link PinnedFile} is opened once and stays the same file whatever happens to the name, so that what is checked and what
 * is kept are the same bytes.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { crc32, hex32 } from '../format/checksum.js';
import { type ByteSource, ReadFailure } from './byte-source.js';
import { factsOf, type PathFacts } from './path-facts.js';

const PIECE_BYTES = 1 << 20;

export class PinnedFile implements ByteSource {
  readonly size: number;
  readonly facts: PathFacts;
  readonly #descriptor: number;

  private constructor(descriptor: number, facts: PathFacts) {
    this.#descriptor = descriptor;
    this.facts = facts;
    this.size = facts.size;
  }

  /** Throws {@link ReadFailure} when the path is a link, no regular file, or cannot be opened. Close it when done. */
  static open(path: string): PinnedFile {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
    const descriptor = attempt(0, () => openSync(path, flags));
    try {
      const facts = attempt(0, () => factsOf(fstatSync(descriptor, { bigint: true })));
      if (facts.type !== 'file') throw new ReadFailure('ENOTFILE', 0, 'not a regular file');
      return new PinnedFile(descriptor, facts);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  readAt(target: Uint8Array, position: number): number {
    const length = Math.min(target.length, this.size - position);
    return length <= 0 ? 0 : attempt(position, () => readSync(this.#descriptor, target, 0, length, position));
  }

  /** The bytes `[start, end)` in pieces; each one is valid until the next. Throws {@link ReadFailure}. */
  *pieces(start: number, end: number): Generator<Uint8Array> {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, Math.max(0, end - start)));
    for (let at = start; at < end; ) {
      const got = this.readAt(piece.subarray(0, Math.min(piece.length, end - at)), at);
      if (got === 0) throw new ReadFailure('SHRANK', at, 'the file ended before the size it had');
      yield piece.subarray(0, got);
      at += got;
    }
  }

  /** CRC-32 of `[start, end)`, as `0x` and eight digits. Throws {@link ReadFailure}. */
  crc32(start = 0, end = this.size): string {
    let crc = 0;
    for (const piece of this.pieces(start, end)) crc = crc32(piece, crc);
    return hex32(crc);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

export interface FileDigest {
  readonly size: number;
  /** Of all bytes, as `0x` and eight digits. */
  readonly crc32: string;
  /** Of the file that was read, as it was when it was opened. */
  readonly facts: PathFacts;
}

/** Reads a regular file to its end, links not followed. Throws {@link ReadFailure}. */
export function digestFile(path: string): FileDigest {
  const file = PinnedFile.open(path);
  try {
    return { size: file.size, crc32: file.crc32(), facts: file.facts };
  } finally {
    file.close();
  }
}

/** All bytes of a file of at most `limit` bytes, links not followed. Throws {@link ReadFailure}. */
export function readSmallFile(path: string, limit: number): Uint8Array {
  const file = PinnedFile.open(path);
  try {
    if (file.size > limit) throw new ReadFailure('EFBIG', 0, `it has ${file.size} bytes, over ${limit}`);
    const bytes = new Uint8Array(file.size);
    let at = 0;
    for (const piece of file.pieces(0, file.size)) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  } finally {
    file.close();
  }
}

function attempt<T>(position: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
    throw new ReadFailure(code, position, error instanceof Error ? error.message : String(error));
  }
}
