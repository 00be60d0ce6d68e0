/**
 * A file that is not there: parts of others, one behind the other, as one source.
 */

import type { ByteSource } from './byte-source.js';

export interface SourcePart {
  /** Asked for at every read, so that few files have to stay open. */
  source(): ByteSource;
  readonly start: number;
  readonly end: number;
}

export class ComposedSource implements ByteSource {
  readonly size: number;
  readonly #parts: readonly SourcePart[];
  /** Where each part begins. */
  readonly #begins: readonly number[];

  constructor(parts: readonly SourcePart[]) {
    const begins: number[] = [];
    let size = 0;
    for (const { start, end } of parts) {
      begins.push(size);
      size += end - start;
    }
    this.#parts = parts;
    this.#begins = begins;
    this.size = size;
  }

  readAt(target: Uint8Array, position: number): number {
    let done = 0;
    for (let at = this.#partAt(position); done < target.length && at < this.#parts.length; at++) {
      const { start, end, source } = this.#parts[at]!;
      const from = start + (position + done - this.#begins[at]!);
      const wanted = Math.min(target.length - done, end - from);
      for (let got = 0; got < wanted; ) {
        const read = source().readAt(target.subarray(done, done + wanted - got), from + got);
        if (read === 0) return done;
        got += read;
        done += read;
      }
    }
    return done;
  }

  /** The last part that begins at or in front of a position. */
  #partAt(position: number): number {
    let low = 0;
    let high = this.#begins.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#begins[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}
