/**
 * A source that takes the SHA-256 of the whole file while somebody reads it in whatever order.
 *
 * What was read ahead of the bytes hashed so far is read again for the hash, so that a reader that goes forward pays for
 * nothing but the hash itself.
 */

import { createHash } from 'node:crypto';
import { type ByteSource, ReadFailure } from './byte-source.js';

const PIECE_BYTES = 1 << 20;

export class HashedSource implements ByteSource {
  readonly size: number;
  readonly #source: ByteSource;
  readonly #hash = createHash('sha256');
  #hashed = 0;

  constructor(source: ByteSource) {
    this.#source = source;
    this.size = source.size;
  }

  readAt(target: Uint8Array, position: number): number {
    const got = this.#source.readAt(target, position);
    if (position <= this.#hashed && position + got > this.#hashed) {
      this.#hash.update(target.subarray(this.#hashed - position, got));
      this.#hashed = position + got;
    }
    return got;
  }

  /** Lower-case hex digits, once. Reads what nobody has read. Throws {@link ReadFailure}. */
  sha256(): string {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, this.size - this.#hashed));
    while (this.#hashed < this.size) {
      const got = this.readAt(piece, this.#hashed);
      if (got === 0) throw new ReadFailure('SHRANK', this.#hashed, 'the file ended before the size it had');
    }
    return this.#hash.digest('hex');
  }
}
