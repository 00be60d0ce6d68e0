/**
 * Where bytes were put into a checksummed range, or one was taken out: proved by the checksum, in time linear in the range.
 *
 * A checksum can be run forwards from the front and backwards from the stored value. Where both meet, leaving the bytes in
 * between out, the rest verifies. Of more than one missing byte nothing can be proved: with four of them any checksum fits.
 */

const POLYNOMIAL = 0xedb88320;
const TABLE = new Int32Array(256);
/** The index into the table by the top byte of its entry, which is another one for each. */
const BY_TOP = new Uint8Array(256);

for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  TABLE[byte] = value;
  BY_TOP[value >>> 24] = byte;
}

/**
 * Every index i at which taking `extra` bytes out of `bytes` leaves a range whose checksum, continuing `seed`, is `stored`.
 * With random bytes, an index shows up by chance once in 2^32.
 */
export function insertionPoints(bytes: Uint8Array, extra: number, seed: number, stored: number): number[] {
  const kept = bytes.length - extra;
  const forwards = registers(bytes.subarray(0, kept), seed);
  const points: number[] = [];
  let register = ~stored;
  for (let at = kept; ; at--) {
    if (register === forwards[at]) points.push(at);
    if (at === 0) break;
    register = before(register, bytes[at - 1 + extra]!);
  }
  return points.reverse();
}

/**
 * An index i at which one byte, whichever, put into `bytes` gives a range whose checksum, continuing `seed`, is `stored`;
 * null if there is none. With random bytes, an index shows up by chance once in 2^24.
 */
export function missingByte(bytes: Uint8Array, seed: number, stored: number): number | null {
  const forwards = registers(bytes, seed);
  let register = ~stored;
  for (let at = bytes.length; ; at--) {
    if (((forwards[at]! >>> 8) ^ TABLE[BY_TOP[register >>> 24]!]!) === register) return at;
    if (at === 0) return null;
    register = before(register, bytes[at - 1]!);
  }
}

/** The register in front of every byte, and behind the last. */
function registers(bytes: Uint8Array, seed: number): Int32Array {
  const all = new Int32Array(bytes.length + 1);
  let register = ~seed;
  all[0] = register;
  for (let at = 0; at < bytes.length; at++) {
    register = (register >>> 8) ^ TABLE[(register ^ bytes[at]!) & 255]!;
    all[at + 1] = register;
  }
  return all;
}

/** The register that `byte` turned into `after`. */
function before(after: number, byte: number): number {
  const index = BY_TOP[after >>> 24]!;
  return ((after ^ TABLE[index]!) << 8) | (index ^ byte);
}
