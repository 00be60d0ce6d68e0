/**
 * CRC-32 (IEEE), which the format uses everywhere but in `keys.idx`, and CRC-32C for that one.
 *
 * All checksums of the project go through this file. Short ranges run through a table-driven loop (sixteen bytes a step
 * over 32-bit loads), long ones through zlib's native code: a native call costs about as much as half a kilobyte of the
 * loop. {@link verifyChecksums} holds both, and the independent crc-32 package, to golden values before any verdict.
 */

import * as zlib from 'node:zlib';
import crc32Package from 'crc-32';
import crc32cPackage from 'crc-32/crc32c.js';

/** From this many bytes on the native implementation is the faster one. */
const NATIVE_FROM = 1024;

const TABLE = makeTables();

function makeTables(): Int32Array {
  const table = new Int32Array(20 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    table[byte] = crc;
  }
  for (let slice = 1; slice < 20; slice++) {
    for (let byte = 0; byte < 256; byte++) {
      const previous = table[(slice - 1) * 256 + byte]!;
      table[slice * 256 + byte] = (previous >>> 8) ^ table[previous & 255]!;
    }
  }
  return table;
}

/** Memory that the checksum loop can load 32 bits at a time from; both views cover the same bytes. */
export interface ChecksumBuffer {
  /** Best no `Buffer`: pieces of one cost twice as much to make. */
  readonly plain: Uint8Array;
  readonly data: DataView;
}

/** A zeroed buffer of `length` bytes. */
export function checksumBuffer(length: number): ChecksumBuffer {
  const memory = new ArrayBuffer(length);
  return { plain: new Uint8Array(memory), data: new DataView(memory) };
}

/**
 * CRC-32 of `buffer.plain[start, end)`, continuing from `seed` (the value of the bytes before; 0 at the start).
 * Returns a *signed* 32-bit value, so that no heap number is made in the hot loop; `>>> 0` gives the usual form.
 */
export function crc32Range(buffer: ChecksumBuffer, start: number, end: number, seed: number): number {
  if (end - start >= NATIVE_FROM) return zlib.crc32(buffer.plain.subarray(start, end), seed >>> 0) | 0;
  return crc32Loop(buffer.data, start, end, seed);
}

/** The table-driven loop behind {@link crc32Range}. */
export function crc32Loop(data: DataView, start: number, end: number, seed: number): number {
  const table = TABLE;
  let crc = ~seed;
  let at = start;
  while (end - at >= 16) {
    const a = data.getInt32(at, true) ^ crc;
    const b = data.getInt32(at + 4, true);
    const c = data.getInt32(at + 8, true);
    const d = data.getInt32(at + 12, true);
    crc =
      table[3840 + (a & 255)]! ^
      table[3584 + ((a >>> 8) & 255)]! ^
      table[3328 + ((a >>> 16) & 255)]! ^
      table[3072 + (a >>> 24)]! ^
      table[2816 + (b & 255)]! ^
      table[2560 + ((b >>> 8) & 255)]! ^
      table[2304 + ((b >>> 16) & 255)]! ^
      table[2048 + (b >>> 24)]! ^
      table[1792 + (c & 255)]! ^
      table[1536 + ((c >>> 8) & 255)]! ^
      table[1280 + ((c >>> 16) & 255)]! ^
      table[1024 + (c >>> 24)]! ^
      table[768 + (d & 255)]! ^
      table[512 + ((d >>> 8) & 255)]! ^
      table[256 + ((d >>> 16) & 255)]! ^
      table[d >>> 24]!;
    at += 16;
  }
  while (end - at >= 4) {
    crc = overWord(data.getInt32(at, true) ^ crc, 0);
    at += 4;
  }
  while (at < end) crc = (crc >>> 8) ^ table[(crc ^ data.getUint8(at++)) & 255]!;
  return ~crc;
}

/** CRC-32 of the four bytes at `at`, continuing from `seed`. Signed; the same as {@link crc32Loop} over them. */
export function crc32Word(data: DataView, at: number, seed: number): number {
  return ~overWord(data.getInt32(at, true) ^ ~seed, 0);
}

/** What a little-endian word becomes when it and `behind` further bytes of zeros have gone through the register. */
function overWord(word: number, behind: number): number {
  const table = TABLE;
  const base = behind << 8;
  return (
    table[base + 768 + (word & 255)]! ^
    table[base + 512 + ((word >>> 8) & 255)]! ^
    table[base + 256 + ((word >>> 16) & 255)]! ^
    table[base + (word >>> 24)]!
  );
}

/**
 * CRC-32 of the 20 bytes that a record's `header_crc` covers, one header after another. Signed.
 *
 * The checksum is linear, and in a run of records most words are those of the record before: the parts of the length, the
 * high half of the offset and the high half of the time are kept until one of them changes.
 */
export class HeaderChecksums {
  #length = 0;
  #offsetHigh = 0;
  #timeHigh = 0;
  #kept = overWord(-1, 16);

  of(data: DataView, at: number): number {
    const length = data.getInt32(at, true);
    const offsetHigh = data.getInt32(at + 4, true);
    const timeHigh = data.getInt32(at + 12, true);
    if (length !== this.#length || offsetHigh !== this.#offsetHigh || timeHigh !== this.#timeHigh) {
      this.#length = length;
      this.#offsetHigh = offsetHigh;
      this.#timeHigh = timeHigh;
      this.#kept = overWord(~length, 16) ^ overWord(offsetHigh, 12) ^ overWord(timeHigh, 4);
    }
    return ~(this.#kept ^ overWord(data.getInt32(at + 8, true), 8) ^ overWord(data.getInt32(at + 16, true), 0));
  }
}

/** CRC-32 (IEEE) of whole `bytes`, continuing from `seed`. Unsigned. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  // Given no memory at all, zlib answers with its initial value and not with the seed.
  return bytes.length === 0 ? seed : zlib.crc32(bytes, seed);
}

/** CRC-32C (Castagnoli) of whole `bytes`, continuing from `seed`. Unsigned. Used by `keys.idx` alone. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  return crc32cPackage.buf(bytes, seed) >>> 0;
}

/** Checksums as they appear in reports: `0x` and eight hex digits. */
export function hex32(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}

/** Flag words as they appear in reports: `0x` and four hex digits. */
export function hex16(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(4, '0')}`;
}

/**
 * Checks every implementation against golden values, so that a broken checksum can never condemn healthy files.
 * Returns the name of the first that is wrong, or null.
 */
export function verifyChecksums(): string | null {
  const text = '123456789';
  const probe = checksumBuffer(259);
  for (let i = 0; i < probe.plain.length; i++) probe.plain[i] = i < 9 ? text.charCodeAt(i) : (i * 131) & 255;
  if (crc32(probe.plain.subarray(0, 9)) !== 0xcbf43926) return 'zlib crc32';
  if (crc32Loop(probe.data, 0, 9, 0) >>> 0 !== 0xcbf43926) return 'crc32 table';
  if (crc32c(probe.plain.subarray(0, 9)) !== 0xe3069283) return 'crc-32 crc32c';
  for (const [start, end] of [
    [0, 259],
    [3, 77],
    [6, 34],
  ] as const) {
    const view = probe.plain.subarray(start, end);
    const expected = crc32Package.buf(view) >>> 0;
    if (crc32(view) !== expected) return 'zlib crc32';
    if (crc32Loop(probe.data, start, end, 0) >>> 0 !== expected) return 'crc32 table';
  }
  if (crc32Word(probe.data, 4, crc32Loop(probe.data, 0, 4, 0)) !== crc32Loop(probe.data, 0, 8, 0)) return 'crc32 word';
  const headers = new HeaderChecksums();
  for (const at of [100, 150, 200]) {
    if (headers.of(probe.data, at) !== crc32Loop(probe.data, at, at + 20, 0)) return 'crc32 of headers';
  }
  return null;
}
