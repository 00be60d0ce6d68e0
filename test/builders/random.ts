/**
 * A small seeded generator (mulberry32), so that every run of the tests and of the fixtures' builder makes the same bytes.
 */

export interface Random {
  /** An unsigned 32-bit value. */
  next(): number;
  /** A value in `[0, limit)`. */
  below(limit: number): number;
  bytes(length: number): Uint8Array;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    next,
    below: (limit) => next() % limit,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  };
}
