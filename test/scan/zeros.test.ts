import { expect } from 'chai';
import { bytesAt, pieces } from '../../src/scan/pieces.js';
import { allZeros, isZero, startOfZeros } from '../../src/scan/zeros.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { FilledSource } from './counting-source.js';

const PIECE = 256 * 1024;
const STEP = 16 * 1024;

/** Gives no more than so many bytes at a time, and none from `end` on. */
function meagre(bytes: Uint8Array, most: number, end = bytes.length): ByteSource {
  const inner = new MemorySource(bytes.subarray(0, end));
  return { size: bytes.length, readAt: (target, position) => inner.readAt(target.subarray(0, most), position) };
}

describe('scan/zeros', () => {
  it('are all zeros only when every byte is', () => {
    const size = 2 * PIECE + 100;
    expect(allZeros(new FilledSource(size, 0), 0, size)).to.equal(true);
    for (const at of [0, 1, PIECE - 1, PIECE, 2 * PIECE - 1, 2 * PIECE, size - 1]) {
      const source = new FilledSource(size, 0, [[at, Uint8Array.of(1)]]);
      expect(allZeros(source, 0, size), `${at}`).to.equal(false);
      expect(allZeros(source, at, at + 1), `${at} alone`).to.equal(false);
      expect(allZeros(source, 0, at), `in front of ${at}`).to.equal(true);
      expect(allZeros(source, at + 1, size), `behind ${at}`).to.equal(true);
    }
    expect(allZeros(new FilledSource(9, 1), 4, 4)).to.equal(true);
    expect(allZeros(new FilledSource(9, 1), 4, 3)).to.equal(true);
  });

  it('are told of bytes in memory of any length', () => {
    for (const length of [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1]) {
      const bytes = new Uint8Array(length);
      expect(isZero(bytes), `${length}`).to.equal(true);
      for (const at of [0, PIECE - 1, PIECE, length - 1]) {
        if (at < 0 || at >= length) continue;
        bytes[at] = 0x80;
        expect(isZero(bytes), `${at} of ${length}`).to.equal(false);
        bytes[at] = 0;
      }
    }
  });

  it('begin behind the last byte that is none', () => {
    const size = 3 * STEP + 10;
    for (const at of [0, 1, 9, 10, STEP, 2 * STEP + 9, 2 * STEP + 10, size - 2, size - 1]) {
      const source = new FilledSource(size, 0, [[at, Uint8Array.of(1)]]);
      expect(startOfZeros(source, 0, size), `${at}`).to.equal(at + 1);
      expect(startOfZeros(source, at, size), `from ${at}`).to.equal(at + 1);
      expect(startOfZeros(source, at + 1, size), `from ${at + 1}`).to.equal(at + 1);
      expect(startOfZeros(source, 0, at), `up to ${at}`).to.equal(0);
    }
    // What lies in front of the range is not looked at.
    const before = new FilledSource(size, 0, [[4, Uint8Array.of(1)]]);
    const inFront = new FilledSource(size, 0, [[size - 20, Uint8Array.of(1)]]);
    expect(startOfZeros(inFront, size - 10, size)).to.equal(size - 10);
    for (const from of [5, 6, STEP]) expect(startOfZeros(before, from, size), `from ${from}`).to.equal(from);
    expect(startOfZeros(new FilledSource(size, 1), 5, size)).to.equal(size);
    expect(startOfZeros(new FilledSource(size, 1), 5, 5)).to.equal(5);
  });
});

describe('scan/pieces', () => {
  const bytes = seededRandom(5).bytes(2 * PIECE + 77);

  it('are the bytes of a range in order, none longer than a piece', () => {
    for (const [from, to, lengths] of [
      [3, 3, []],
      [3, 2, []],
      [3, 4, [1]],
      [5, 5 + PIECE, [PIECE]],
      [5, 6 + PIECE, [PIECE, 1]],
      [0, bytes.length, [PIECE, PIECE, 77]],
    ] as const) {
      for (const most of [1 << 30, 100_000]) {
        const parts: Uint8Array[] = [];
        for (const piece of pieces(meagre(bytes, most), from, to)) parts.push(new Uint8Array(piece));
        expect(parts.map(({ length }) => length)).to.deep.equal(lengths);
        expect(Buffer.concat(parts).equals(bytes.subarray(from, Math.max(from, to)))).to.equal(true);
      }
    }
  });

  it('are one where they are few', () => {
    for (const most of [1 << 30, 7]) {
      expect(bytesAt(meagre(bytes, most), 10, 60)).to.deep.equal(bytes.slice(10, 60));
    }
    expect(bytesAt(meagre(bytes, 7), 10, 10)).to.have.length(0);
    expect(bytesAt(meagre(bytes, 7), 10, 9)).to.have.length(0);
  });

  it('fail where the file has become shorter', () => {
    const shrunk = () => meagre(bytes, 7, 50);
    expect(bytesAt(shrunk(), 10, 50)).to.have.length(40);
    for (const read of [() => bytesAt(shrunk(), 10, 51), () => [...pieces(shrunk(), 10, 51)]]) {
      expect(read)
        .to.throw(ReadFailure, 'the file ended before the size it had')
        .that.includes({ code: 'SHRANK', position: 50 });
    }
  });
});
