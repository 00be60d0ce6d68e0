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
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function makeTables(): Int32Array {
  const table = new Int32Array(16 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    table[byte] = crc;
  }
  for (let slice = 1; slice < 16; slice++) {
    for (let byte = 0; byte < 256; byte++) {
      const previous = table[(slice - 1) * 256 + byte]!;
      table[slice * 256 + byte] = (previous >>> 8) ^ table[previous & 255]!;
    }
  }
  return table;
}

/**
 * A buffer with the two views that the checksum loop needs. `words` covers the same memory in 32-bit steps; the buffer's
 * start must be 4-byte aligned.
 */
export interface ChecksumBuffer {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

/** Allocates a buffer of `length` bytes, rounded up to whole words, that the loop can load 32 bits at a time. */
export function checksumBuffer(length: number): ChecksumBuffer {
  const memory = new ArrayBuffer((length + 3) & ~3);
  return { bytes: new Uint8Array(memory), words: new Int32Array(memory) };
}

/**
 * CRC-32 of `buffer.bytes[start, end)`, continuing from `seed` (the value of the bytes before; 0 at the start).
 * Returns a *signed* 32-bit value, so that no heap number is made in the hot loop; `>>> 0` gives the usual form.
 */
export function crc32Range(buffer: ChecksumBuffer, start: number, end: number, seed: number): number {
  if (end - start >= NATIVE_FROM) return zlib.crc32(buffer.bytes.subarray(start, end), seed >>> 0) | 0;
  return crc32Loop(buffer.bytes, buffer.words, start, end, seed);
}

/** The table-driven loop behind {@link crc32Range}; `words` must alias `bytes` from its first byte on. */
export function crc32Loop(bytes: Uint8Array, words: Int32Array, start: number, end: number, seed: number): number {
  const table = TABLE;
  let crc = ~seed;
  let at = start;
  if (LITTLE_ENDIAN) {
    while (at < end && (at & 3) !== 0) crc = (crc >>> 8) ^ table[(crc ^ bytes[at++]!) & 255]!;
    let word = at >>> 2;
    const lastWord = word + (((end - at) >>> 4) << 2);
    while (word < lastWord) {
      const a = words[word]! ^ crc;
      const b = words[word + 1]!;
      const c = words[word + 2]!;
      const d = words[word + 3]!;
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
      word += 4;
    }
    at = Math.max(at, word << 2);
    if (end - at >= 4) {
      const a = words[at >>> 2]! ^ crc;
      crc =
        table[768 + (a & 255)]! ^ table[512 + ((a >>> 8) & 255)]! ^ table[256 + ((a >>> 16) & 255)]! ^ table[a >>> 24]!;
      at += 4;
      if (end - at >= 4) {
        const b = words[at >>> 2]! ^ crc;
        crc =
          table[768 + (b & 255)]! ^
          table[512 + ((b >>> 8) & 255)]! ^
          table[256 + ((b >>> 16) & 255)]! ^
          table[b >>> 24]!;
        at += 4;
        if (end - at >= 4) {
          const c = words[at >>> 2]! ^ crc;
          crc =
            table[768 + (c & 255)]! ^
            table[512 + ((c >>> 8) & 255)]! ^
            table[256 + ((c >>> 16) & 255)]! ^
            table[c >>> 24]!;
          at += 4;
        }
      }
    }
  }
  while (at < end) crc = (crc >>> 8) ^ table[(crc ^ bytes[at++]!) & 255]!;
  return ~crc;
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
  const probe = checksumBuffer(2051);
  for (let i = 0; i < probe.bytes.length; i++) probe.bytes[i] = i < 9 ? text.charCodeAt(i) : (i * 131) & 255;
  if (crc32(probe.bytes.subarray(0, 9)) !== 0xcbf43926) return 'zlib crc32';
  if (crc32Loop(probe.bytes, probe.words, 0, 9, 0) >>> 0 !== 0xcbf43926) return 'crc32 table';
  if (crc32c(probe.bytes.subarray(0, 9)) !== 0xe3069283) return 'crc-32 crc32c';
  for (const [start, end] of [
    [0, 2051],
    [1, 1030],
    [3, 77],
    [6, 34],
  ] as const) {
    const view = probe.bytes.subarray(start, end);
    const expected = crc32Package.buf(view) >>> 0;
    if (crc32(view) !== expected) return 'zlib crc32';
    if (crc32Loop(probe.bytes, probe.words, start, end, 0) >>> 0 !== expected) return 'crc32 table';
  }
  return null;
}
