/**
 * The checksums against published values, and every implementation against a bit-by-bit one written here from the
 * definition of the polynomials.
 */
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';
import { expect } from 'chai';
import crc32Package from 'crc-32';
import crc32cPackage from 'crc-32/crc32c.js';
import {
  checksumBuffer,
  crc32,
  crc32c,
  crc32Loop,
  crc32Range,
  HeaderChecksums,
  hex16,
  hex32,
  verifyChecksums,
} from '../../src/format/checksum.js';
import { seededRandom } from '../builders/random.js';

const IEEE = 0xedb88320;
const CASTAGNOLI = 0x82f63b78;

/** One bit at a time, with the reflected polynomial. Unsigned. */
function reference(bytes: Uint8Array, polynomial: number, seed = 0): number {
  let crc = ~seed;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  }
  return ~crc >>> 0;
}

/** Puts another implementation in the place of zlib's own. */
function putZlib(crc: (bytes: Uint8Array, seed?: number) => number): void {
  (zlib as { crc32: unknown }).crc32 = crc;
  syncBuiltinESMExports();
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('checksum', () => {
  it('gives the published CRC-32 values', () => {
    expect(crc32(ascii('123456789'))).to.equal(0xcbf43926);
    expect(crc32(new Uint8Array(0))).to.equal(0);
    expect(crc32(ascii('a'))).to.equal(0xe8b7be43);
    expect(crc32(ascii('The quick brown fox jumps over the lazy dog'))).to.equal(0x414fa339);
    expect(crc32(new Uint8Array(32))).to.equal(0x190a55ad);
  });

  it('gives the CRC-32C values of RFC 3720, B.4', () => {
    expect(crc32c(ascii('123456789'))).to.equal(0xe3069283);
    expect(crc32c(new Uint8Array(32))).to.equal(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).to.equal(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).to.equal(0x46dd794e);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i))).to.equal(0x113fdb5c);
  });

  it('is the same by loop, by zlib and by the crc-32 package at every alignment and length up to 200, for any seed', () => {
    const random = seededRandom(1);
    const buffer = checksumBuffer(220);
    buffer.plain.set(random.bytes(220));
    for (const seed of [0, 0xffffffff, 0x80000000, 0x7fffffff, random.next()]) {
      for (let start = 0; start < 18; start++) {
        for (let length = 0; length <= 200; length++) {
          const end = start + length;
          const view = buffer.plain.subarray(start, end);
          const loop = crc32Loop(buffer.data, start, end, seed) >>> 0;
          const range = crc32Range(buffer, start, end, seed) >>> 0;
          const zlib = crc32(view, seed);
          const packaged = crc32Package.buf(view, seed) >>> 0;
          if (loop !== packaged || zlib !== packaged || range !== packaged) {
            expect.fail(`${start}..${end}, seed ${hex32(seed)}: ${[loop, range, zlib, packaged].map(hex32).join(' ')}`);
          }
        }
      }
    }
  });

  it('is what the polynomials say, bit by bit', () => {
    const random = seededRandom(2);
    for (const length of [0, 1, 3, 4, 5, 15, 16, 17, 28, 63, 64, 65, 1000, 1023, 1024, 1025, 5000]) {
      const buffer = checksumBuffer(length);
      buffer.plain.set(random.bytes(length));
      const bytes = buffer.plain.subarray(0, length);
      const seed = random.next();
      const expected = reference(bytes, IEEE, seed);
      expect(crc32(bytes, seed), `zlib, ${length}`).to.equal(expected);
      expect(crc32Loop(buffer.data, 0, length, seed) >>> 0, `loop, ${length}`).to.equal(expected);
      expect(crc32Range(buffer, 0, length, seed) >>> 0, `range, ${length}`).to.equal(expected);
      expect(crc32c(bytes, seed), `CRC-32C, ${length}`).to.equal(reference(bytes, CASTAGNOLI, seed));
    }
  });

  it('goes on from the checksum of the bytes before, wherever they are cut', () => {
    const bytes = seededRandom(3).bytes(97);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).to.equal(crc32(bytes));
      expect(crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)))).to.equal(crc32c(bytes));
    }
  });

  it('of record headers in a row is that of each by itself', () => {
    const headers = new HeaderChecksums();
    const random = seededRandom(11);
    const { plain: bytes, data } = checksumBuffer(20);
    for (let round = 0; round < 500; round++) {
      // Mostly one byte changes, as in a log; sometimes all of them do.
      if (round % 50 === 0) bytes.set(random.bytes(20));
      bytes[random.below(20)] = random.below(256);
      expect(headers.of(data, 0) >>> 0).to.equal(crc32Package.buf(bytes) >>> 0);
    }
  });

  it('of a first header is its own, also when the words that may stay the same are zeros', () => {
    for (const at of [8, 16]) {
      const { plain: bytes, data } = checksumBuffer(20);
      bytes[at] = 1;
      expect(new HeaderChecksums().of(data, 0) >>> 0).to.equal(reference(bytes, IEEE));
    }
  });

  it('is shown with all its digits and without a sign', () => {
    expect(hex32(0)).to.equal('0x00000000');
    expect(hex32(-1)).to.equal('0xffffffff');
    expect(hex32(0x464c5347)).to.equal('0x464c5347');
    expect(hex16(1)).to.equal('0x0001');
    expect(hex16(0xffff)).to.equal('0xffff');
  });

  it('finds every implementation sound on this machine', () => {
    expect(verifyChecksums()).to.equal(null);
  });

  it('names the implementation that gives another value, for the published text or for longer ones', () => {
    const { crc32: honest } = zlib;
    const { buf: packaged } = crc32cPackage;
    const { getInt32, getUint8 } = DataView.prototype;
    const lies: Readonly<Record<string, () => void>> = {
      'zlib crc32 of 9 bytes': () => putZlib((bytes, seed) => (honest(bytes, seed) ^ Number(bytes.length === 9)) >>> 0),
      'zlib crc32 of more': () => putZlib((bytes, seed) => (honest(bytes, seed) ^ Number(bytes.length > 9)) >>> 0),
      'crc-32 crc32c': () => {
        crc32cPackage.buf = (bytes, seed) => packaged(bytes, seed) ^ 1;
      },
      'crc32 table of 9 bytes': () => {
        DataView.prototype.getUint8 = function (at) {
          return getUint8.call(this, at) ^ Number(at === 8);
        };
      },
      'crc32 table of more': () => {
        DataView.prototype.getInt32 = function (at, little) {
          return getInt32.call(this, at, little) ^ Number(at === 20);
        };
      },
    };
    for (const [name, lie] of Object.entries(lies)) {
      try {
        lie();
        expect(verifyChecksums()).to.equal(name.replace(/ of .*/, ''));
      } finally {
        putZlib(honest);
        crc32cPackage.buf = packaged;
        Object.assign(DataView.prototype, { getInt32, getUint8 });
      }
    }
    expect(verifyChecksums()).to.equal(null);
  });
});
