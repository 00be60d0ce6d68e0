/**
 * How many records of the donors fit into so many bytes: where nothing else tells at which offset damage ends, or begins.
 *
 * An answer only proposes a range; whether the records may be taken is decided by what stands around them.
 */

import { type Donor, overlapping } from './heal-donors.js';
import type { ReaderPool } from './reader-pool.js';
import type { StrandExtent } from './strands.js';

export class Lengths {
  readonly #donors: readonly Donor[];
  readonly #pool: ReaderPool;

  constructor(donors: readonly Donor[], pool: ReaderPool) {
    this.#donors = donors;
    this.#pool = pool;
  }

  /** One past the last record that begins in front of `bytes` bytes of records from `offset` on. Throws `ReadFailure`. */
  forward(offset: bigint, bytes: number): bigint {
    let next = offset;
    let passed = 0;
    while (passed < bytes) {
      const held = this.#holding(next);
      if (held === null) return next;
      const { extent, file } = held;
      const reader = this.#pool.readerOf(file);
      let position = reader.positionOf(file.map!, extent, next);
      for (; passed < bytes && next < extent.to; next++) {
        const end = reader.endOf(position, next);
        passed += end - position;
        position = end;
      }
    }
    return next;
  }

  /** The offset from which on records up to `end` take exactly `bytes` bytes; null when there is none. */
  backward(end: bigint, bytes: number): bigint | null {
    let next = end;
    let left = bytes;
    while (left > 0) {
      const held = next === 0n ? null : this.#holding(next - 1n);
      if (held === null) return null;
      const { extent, file } = held;
      const reader = this.#pool.readerOf(file);
      const endPosition = reader.positionOf(file.map!, extent, next);
      const inside = endPosition - extent.start;
      if (inside < left) {
        left -= inside;
        next = extent.from;
        continue;
      }
      let position = extent.start;
      for (let offset = extent.from; offset < next; offset++) {
        if (endPosition - position === left) return offset;
        position = reader.endOf(position, offset);
      }
      return null;
    }
    return next;
  }

  #holding(offset: bigint): StrandExtent | null {
    for (const donor of this.#donors) {
      const [held] = overlapping(donor, offset, offset + 1n);
      if (held !== undefined) return held;
    }
    return null;
  }
}
