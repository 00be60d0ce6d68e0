/** Sources that fail: always in the same pages, or now and then. */

import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';

/** Refuses every read that touches `[from, to)`. */
export class UnreadableSource implements ByteSource {
  readonly size: number;
  readonly #inner: MemorySource;
  readonly #from: number;
  readonly #to: number;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#inner = new MemorySource(bytes);
    this.#from = from;
    this.#to = to;
    this.size = bytes.length;
  }

  readAt(target: Uint8Array, position: number): number {
    const end = Math.min(position + target.length, this.size);
    if (position < this.#to && end > this.#from) throw new ReadFailure('EIO', position, 'i/o error, read');
    return this.#inner.readAt(target, position);
  }
}

/** Refuses `percent` of the reads, whatever they ask for, and gives some of the others in part. */
export class MoodySource implements ByteSource {
  readonly size: number;
  readonly #inner: MemorySource;
  readonly #random;
  readonly #percent: number;

  constructor(bytes: Uint8Array, seed: number, percent: number) {
    this.#inner = new MemorySource(bytes);
    this.#random = seededRandom(seed);
    this.#percent = percent;
    this.size = bytes.length;
  }

  readAt(target: Uint8Array, position: number): number {
    const mood = this.#random.below(100);
    if (mood < this.#percent) throw new ReadFailure('EIO', position, 'i/o error, read');
    const part = mood > 80 && target.length > 1 ? target.subarray(0, 1 + this.#random.below(target.length)) : target;
    return this.#inner.readAt(part, position);
  }
}
