/**
 * Which single flipped bit a pair of checksums would show, found without going through the bits one by one.
 *
 * CRC-32 is linear, so one flipped bit changes the checksum by a value that depends on its distance from the end alone:
 * the power of x by that distance, modulo the polynomial. The polynomial is primitive, hence every power below 2^32 - 1
 * is another value, and the bit is the discrete logarithm of the difference. Baby steps and giant steps find it: 2^29
 * bits, the longest record, take eight thousand lookups.
 */

import { applyTable, linearTable } from './linear-map.js';

/** CRC-32 (IEEE) with bit 31 standing for x^0. */
const POLYNOMIAL = 0xedb88320 | 0;
const ONE = 0x80000000 | 0;
const BABY_STEPS = 1 << 16;
const SLOT_BITS = 17;
const SLOTS = 1 << SLOT_BITS;

/** A bit, counted in bytes from the first covered one; the four bytes of the stored checksum follow the covered ones. */
export interface ErrorPlace {
  readonly at: number;
  /** 0 is the least significant bit of that byte. */
  readonly bit: number;
}

/**
 * The one bit that, flipped in `covered` bytes or in the big-endian checksum stored of them, gives `difference` (stored
 * xor computed). Null when there is none; never more than one.
 */
export function flippedBit(difference: number, covered: number): ErrorPlace | null {
  const exponent = exponentOf(difference, 32 + covered * 8);
  if (exponent === null) return null;
  if (exponent < 32) {
    const bit = 31 - exponent;
    return { at: covered + 3 - (bit >> 3), bit: bit & 7 };
  }
  const behind = Math.floor((exponent - 32) / 8);
  return { at: covered - 1 - behind, bit: 7 - (exponent % 8) };
}

/** The n below `limit` with x^n = `value`, or null. */
export function exponentOf(value: number, limit: number): number | null {
  const { powers, exponents, backwards } = steps();
  let rest = value | 0;
  if (rest === 0) return null;
  for (let base = 0; base < limit; base += BABY_STEPS) {
    for (let slot = slotOf(rest); powers[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
      if (powers[slot] === rest) {
        const exponent = base + exponents[slot]!;
        return exponent < limit ? exponent : null;
      }
    }
    rest = applyTable(backwards, rest);
  }
  return null;
}

interface Steps {
  /** Open addressing; no power is 0, so 0 is a free slot. */
  readonly powers: Int32Array;
  readonly exponents: Uint16Array;
  /** Division by x^BABY_STEPS. */
  readonly backwards: Int32Array;
}

let made: Steps | null = null;

function steps(): Steps {
  if (made !== null) return made;
  const powers = new Int32Array(SLOTS);
  const exponents = new Uint16Array(SLOTS);
  let power = ONE;
  let divisor = ONE;
  for (let exponent = 0; exponent < BABY_STEPS; exponent++) {
    let slot = slotOf(power);
    while (powers[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    powers[slot] = power;
    exponents[slot] = exponent;
    power = timesX(power);
    divisor = overX(divisor);
  }
  // Bit b stands for x^(31 - b), so that dividing it is multiplying the divisor that often by x.
  const backwards = linearTable((bit) => {
    let value = divisor;
    for (let times = Math.clz32(bit); times > 0; times--) value = timesX(value);
    return value;
  });
  made = { powers, exponents, backwards };
  return made;
}

function slotOf(value: number): number {
  return Math.imul(value, 0x9e3779b1) >>> (32 - SLOT_BITS);
}

function timesX(value: number): number {
  return (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
}

function overX(value: number): number {
  return value < 0 ? ((value ^ POLYNOMIAL) << 1) | 1 : value << 1;
}
