/** A source that notes what was read of it, and one that is large without memory behind it. */

import type { ByteSource } from '../../src/store/byte-source.js';
import { MemorySource } from '../../src/store/byte-source.js';

export class CountingSource implements ByteSource {
  readonly size: number;
  readonly #inner: ByteSource;
  bytesRead = 0;
  /** The most that was asked for at once. */
  largestRead = 0;

  constructor(inner: ByteSource | Uint8Array) {
    this.#inner = inner instanceof Uint8Array ? new MemorySource(inner) : inner;
    this.size = this.#inner.size;
  }

  readAt(target: Uint8Array, position: number): number {
    this.largestRead = Math.max(this.largestRead, target.length);
    const got = this.#inner.readAt(target, position);
    this.bytesRead += got;
    return got;
  }
}

/** `size` bytes of which each is `fill`, but for the parts given by position. */
export class FilledSource implements ByteSource {
  readonly size: number;
  readonly #fill: number;
  readonly #parts: readonly (readonly [position: number, bytes: Uint8Array])[];

  constructor(size: number, fill: number, parts: readonly (readonly [position: number, bytes: Uint8Array])[] = []) {
    this.size = size;
    this.#fill = fill;
    this.#parts = parts;
  }

  readAt(target: Uint8Array, position: number): number {
    const length = Math.max(0, Math.min(target.length, this.size - position));
    target.fill(this.#fill, 0, length);
    for (const [at, bytes] of this.#parts) {
      for (let i = Math.max(0, position - at); i < bytes.length && at + i < position + length; i++) {
        target[at + i - position] = bytes[i]!;
      }
    }
    return length;
  }
}
