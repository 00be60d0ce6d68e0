/**
 * Bytes put into a checksummed range, or one taken out, held against trying every place with another CRC-32.
 */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { concatBytes } from '../../src/format/bytes.js';
import { insertionPoints, missingByte } from '../../src/scan/crc-splice.js';
import { seededRandom } from '../builders/random.js';

const SEEDS = [0, 1, 0xffff_ffff, 0x8000_0000, 0x1234_5678];

function without(bytes: Uint8Array, at: number, count: number): Uint8Array {
  return concatBytes([bytes.subarray(0, at), bytes.subarray(at + count)]);
}

function withByte(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  return concatBytes([bytes.subarray(0, at), Uint8Array.of(byte), bytes.subarray(at)]);
}

/** Every index from which taking `extra` bytes leaves a range that verifies, by trying each. */
function tried(bytes: Uint8Array, extra: number, seed: number, stored: number): number[] {
  return Array.from({ length: bytes.length - extra + 1 }, (_, at) => at).filter(
    (at) => crc32(without(bytes, at, extra), seed) === stored,
  );
}

describe('scan/crc-splice', () => {
  it('names every place from which bytes can be taken so that the rest verifies', () => {
    const random = seededRandom(31);
    for (const seed of SEEDS) {
      for (const [length, extra] of [
        [0, 0],
        [1, 1],
        [5, 5],
        [20, 1],
        [20, 7],
        [3, 2],
        [60, 59],
      ] as const) {
        const bytes = random.bytes(length);
        for (let at = 0; at <= length - extra; at++) {
          const stored = crc32(without(bytes, at, extra), seed);
          expect(tried(bytes, extra, seed, stored)).to.include(at);
          expect(insertionPoints(bytes, extra, seed, stored)).to.deep.equal(tried(bytes, extra, seed, stored));
          expect(insertionPoints(bytes, extra, seed, stored ^ 1)).to.deep.equal([]);
        }
      }
    }
  });

  it('names them in order where the same bytes on either side leave more than one', () => {
    const bytes = Uint8Array.of(9, 4, 4, 4, 4, 8);
    const stored = crc32(Uint8Array.of(9, 4, 4, 8));
    expect(insertionPoints(bytes, 2, 0, stored)).to.deep.equal([1, 2, 3]);
    const cycle = Uint8Array.of(1, 2, 1, 2, 1, 2);
    expect(insertionPoints(cycle, 2, 0, crc32(Uint8Array.of(1, 2, 1, 2)))).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('names the last place where a byte is missing, whichever byte that is', () => {
    const random = seededRandom(32);
    for (const seed of SEEDS) {
      for (const length of [0, 1, 2, 9]) {
        const bytes = random.bytes(length);
        for (let at = 0; at <= length; at++) {
          for (let byte = 0; byte < 256; byte += 5) {
            const stored = crc32(withByte(bytes, at, byte), seed);
            // A byte equal to its neighbours may be missing on either side of them.
            let last = at;
            while (last < length && bytes[last] === byte) last++;
            expect(missingByte(bytes, seed, stored)).to.equal(last);
          }
        }
      }
    }
  });

  it('claims no missing byte where two are missing, one is too many, or none', () => {
    const bytes = seededRandom(33).bytes(12);
    for (const other of [bytes, bytes.subarray(1), concatBytes([Uint8Array.of(1), bytes, Uint8Array.of(2)])]) {
      expect(missingByte(bytes, 5, crc32(other, 5))).to.equal(null);
    }
    for (let bit = 0; bit < 32; bit++) {
      expect(missingByte(bytes, 0, (crc32(withByte(bytes, 3, 70)) ^ (1 << bit)) >>> 0)).to.equal(null);
    }
  });
});
