import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { LongChecksums } from '../../src/scan/long-checksum.js';
import { Window } from '../../src/scan/window.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { CountingSource, FilledSource } from './counting-source.js';
import { UnreadableSource } from './faulty-source.js';

const MIB = 1024 * 1024;
const BLOCK = 4096;
const SHORT = 16 * 1024;

describe('scan/long-checksum', () => {
  const bytes = seededRandom(9).bytes(40 * BLOCK + 123);
  const expected = (start: number, end: number, seed = 0) => crc32(bytes.subarray(start, end), seed) | 0;
  const windowOf = (source: ByteSource | Uint8Array, size = 64) =>
    new Window(source instanceof Uint8Array ? new MemorySource(source) : source, size);

  it('is the checksum of any range, whatever was asked before', () => {
    const checksums = new LongChecksums();
    const window = windowOf(bytes);
    const random = seededRandom(3);
    const places = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK - 1, 17 * BLOCK, bytes.length - 1];
    for (let i = 0; i < 400; i++) {
      const start = i % 3 === 0 ? places[random.below(places.length)]! : random.below(bytes.length);
      const lengths = [0, 1, SHORT - 1, SHORT, SHORT + 1, 4 * BLOCK, 5 * BLOCK, random.below(bytes.length)];
      const end = Math.min(bytes.length, start + lengths[random.below(lengths.length)]!);
      const seed = i % 2 === 0 ? 0 : random.below(2 ** 31) * 2 + 1;
      const label = `${start}..${end} from ${seed}`;
      expect(checksums.continued(window, start, end, seed | 0), label).to.equal(
        start === end ? seed | 0 : expected(start, end, seed),
      );
    }
  });

  it('is taken from the window where the whole range is there, and never moves it', () => {
    const source = new CountingSource(bytes);
    const window = windowOf(source, 1000);
    window.load(500);
    const before = source.bytesRead;
    const checksums = new LongChecksums();
    for (const [start, end] of [
      [500, 1500],
      [500, 501],
      [600, 900],
      [1499, 1500],
      [700, 700],
    ] as const) {
      expect(checksums.continued(window, start, end, 7)).to.equal(start === end ? 7 : expected(start, end, 7));
    }
    expect(source.bytesRead).to.equal(before);
    for (const [start, end] of [
      [499, 1500],
      [500, 1501],
      [499, 1501],
      [100, 30_000],
    ] as const) {
      expect(checksums.continued(window, start, end, 0), `${start}..${end}`).to.equal(expected(start, end));
      expect([window.start, window.end]).to.deep.equal([500, 1500]);
    }
    expect(window.bytesRead).to.equal(source.bytesRead);
  });

  it('reads a block once, however many ranges it is in', () => {
    const source = new CountingSource(bytes);
    const window = windowOf(source);
    const checksums = new LongChecksums();
    for (let start = 0; start < 20 * BLOCK; start += BLOCK / 2) {
      expect(checksums.continued(window, start, bytes.length, 0)).to.equal(expected(start, bytes.length));
    }
    // Each range has two partial blocks of its own.
    expect(source.bytesRead).to.be.below(bytes.length + 40 * 2 * BLOCK);
    const again = new CountingSource(bytes);
    const other = new LongChecksums();
    const at = windowOf(again);
    for (let i = 0; i < 20; i++) expect(other.continued(at, 9, bytes.length, 0)).to.equal(expected(9, bytes.length));
    expect(again.bytesRead).to.be.below(bytes.length + 20 * 2 * BLOCK);
  });

  it('holds for ranges longer than what is kept, and for those far in front of it', () => {
    const part = seededRandom(4).bytes(MIB);
    const size = 200 * MIB;
    const source = new FilledSource(size, 0, [
      [3 * MIB + 5, part.subarray(0, 5000)],
      [170 * MIB + 7, part.subarray(0, 3000)],
    ]);
    /** Of the file's bytes, straight through. */
    const straight = (start: number, end: number) => {
      let crc = 0;
      const piece = new Uint8Array(MIB);
      for (let at = start; at < end; ) {
        const target = piece.subarray(0, Math.min(MIB, end - at));
        source.readAt(target, at);
        crc = crc32(target, crc);
        at += target.length;
      }
      return crc | 0;
    };
    const checksums = new LongChecksums();
    const window = windowOf(source);
    for (const [start, end] of [
      [3 * MIB + 1, 60 * MIB + 9],
      [150 * MIB, 172 * MIB + 1],
      [3 * MIB + 100, 5 * MIB],
      [3 * MIB - 7, 30 * MIB + 1],
    ] as const) {
      expect(checksums.continued(window, start, end, 0), `${start}..${end}`).to.equal(straight(start, end));
    }
  });

  it('knows no block any more that another one has taken the place of', () => {
    // What is kept is a power of two of blocks: those of the longest record, and as many again.
    const kept = 65_536;
    const part = seededRandom(6).bytes(20 * BLOCK);
    const source = new FilledSource((kept + 200) * BLOCK, 0, [[90 * BLOCK, part]]);
    const window = windowOf(source);
    const checksums = new LongChecksums();
    for (let block = 0; block < kept + 100; block += 10_000) {
      checksums.continued(window, block * BLOCK, Math.min(block + 10_000, kept + 100) * BLOCK, 0);
    }
    const wanted = crc32(part.subarray(10 * BLOCK, 18 * BLOCK)) | 0;
    expect(checksums.continued(window, 100 * BLOCK, 108 * BLOCK, 0)).to.equal(wanted);
  });

  it('fails where a byte cannot be read, and holds again for others', () => {
    const checksums = new LongChecksums();
    const bad = new UnreadableSource(bytes, 8 * BLOCK, 9 * BLOCK);
    const window = windowOf(bad);
    expect(() => checksums.continued(window, 100, 20 * BLOCK, 0))
      .to.throw(ReadFailure)
      .that.includes({ code: 'EIO', position: 8 * BLOCK });
    expect(checksums.continued(window, 100, 8 * BLOCK, 0)).to.equal(expected(100, 8 * BLOCK));
    expect(checksums.continued(window, 9 * BLOCK + 1, 30 * BLOCK, 0)).to.equal(expected(9 * BLOCK + 1, 30 * BLOCK));
    const shrunk = windowOf({
      size: bytes.length,
      readAt: (target, at) => new MemorySource(bytes.subarray(0, 3 * BLOCK + 5)).readAt(target, at),
    });
    expect(() => new LongChecksums().continued(shrunk, 100, 20 * BLOCK, 0))
      .to.throw(ReadFailure, 'the file ended before the size it had')
      .that.includes({ code: 'SHRANK', position: 3 * BLOCK + 5 });
  });
});
