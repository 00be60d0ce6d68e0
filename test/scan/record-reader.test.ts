import { expect } from 'chai';
import { writeU32 } from '../../src/format/bytes.js';
import { mapRecords, type RecordMap } from '../../src/scan/record-map.js';
import { RecordReader } from '../../src/scan/record-reader.js';
import { MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { generationStart, opens, plain, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { CountingSource } from './counting-source.js';

const KIB = 1024;
const PIECE = 128 * KIB;

const readerOf = (bytes: Uint8Array) => new RecordReader(new MemorySource(bytes));

function mapOf(log: Uint8Array): RecordMap {
  const walk = mapRecords(new MemorySource(log), { hints: [] });
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}

function expectChanged(work: () => unknown, position: number): void {
  expect(work).to.throw(ReadFailure, 'the file changed while it was read').that.includes({ code: 'CHANGED', position });
}

describe('scan/record-reader', () => {
  it('knows where a record of each kind ends', () => {
    const tag = { producerId: 1n, sequence: 2n, len: 1 };
    const records = [plain(10n), opens(11n, tag), plain(12n, { payloadLength: 0 }), generationStart(13n, 4n)];
    const { log, positions } = buildSegment({ version: 4, records });
    const reader = readerOf(log);
    for (const [i, position] of positions.entries()) {
      expect(reader.endOf(position, 10n + BigInt(i))).to.equal(positions[i + 1] ?? log.length);
    }
  });

  it('notices a header that is not there any more, and a record that ends behind the file', () => {
    const { log, positions } = buildSegment({ records: plainRun(10n, 3) });
    const last = positions[2]!;
    expectChanged(() => readerOf(log).endOf(positions[1]!, 12n), positions[1]!);
    expectChanged(() => readerOf(log).endOf(positions[1]! + 1, 11n), positions[1]! + 1);
    expectChanged(() => readerOf(log.slice(0, -1)).endOf(last, 12n), last);
    expectChanged(() => readerOf(log.slice(0, last + 27)).endOf(last, 12n), last);
    const empty = buildSegment({ records: [plain(10n, { payloadLength: 0 })] }).log;
    expect(readerOf(empty).endOf(32, 10n)).to.equal(60);
    writeU32(empty, 32, 1);
    expectChanged(() => readerOf(empty).endOf(32, 10n), 32);
  });

  it('finds each record of a run, and its end, without reading from its start', () => {
    const { log, positions } = buildSegment({ records: plainRun(10n, 130, { payloadLength: 20 * KIB }) });
    log[positions[70]!]! ^= 1;
    const map = mapOf(log);
    expect(map.extents.map(({ from, to }) => [from, to])).to.deep.equal([
      [10n, 80n],
      [81n, 140n],
    ]);
    for (const extent of map.extents) {
      for (let offset = extent.from; offset < extent.to; offset++) {
        const source = new CountingSource(log);
        expect(new RecordReader(source).positionOf(map, extent, offset)).to.equal(positions[Number(offset) - 10]);
        expect(source.bytesRead, `${offset}`).to.be.at.most(2 * 256 * KIB);
      }
      const nothing = new CountingSource(log);
      expect(new RecordReader(nothing).positionOf(map, extent, extent.to)).to.equal(extent.end);
      expect(nothing.bytesRead).to.equal(0);
    }
  });

  it('gives bytes in pieces, in order, none of them longer than a piece', () => {
    const bytes = seededRandom(1).bytes(3 * PIECE);
    for (const [start, end, lengths] of [
      [5, 5, []],
      [5, 6, [1]],
      [0, PIECE, [PIECE]],
      [7, 7 + PIECE, [PIECE]],
      [7, 8 + PIECE, [PIECE, 1]],
      [1, 3 * PIECE, [PIECE, PIECE, PIECE - 1]],
    ] as const) {
      const pieces = [...readerOf(bytes).pieces(start, end)].map((piece) => piece.length);
      expect(pieces, `${start}..${end}`).to.deep.equal(lengths);
      const parts: Uint8Array[] = [];
      for (const piece of readerOf(bytes).pieces(start, end)) parts.push(new Uint8Array(piece));
      expect(Buffer.concat(parts).equals(bytes.subarray(start, end))).to.equal(true);
    }
  });

  it('tells whether two places hold the same bytes, to the last one', () => {
    const length = 2 * PIECE + 50;
    const bytes = seededRandom(2).bytes(length + 20);
    const shifted = new Uint8Array(length + 30);
    shifted.set(bytes.subarray(10, 10 + length), 17);
    const same = (other: Uint8Array, count = length) => readerOf(bytes).isSame(10, readerOf(other), 17, count);
    expect(same(shifted)).to.equal(true);
    for (const at of [0, 1, PIECE - 1, PIECE, 2 * PIECE - 1, 2 * PIECE, length - 1]) {
      const other = shifted.slice();
      other[17 + at]! ^= 1;
      expect(same(other), `${at}`).to.equal(false);
      expect(same(other, at), `up to ${at}`).to.equal(true);
    }
    shifted[17 + length]! ^= 0xff;
    shifted[16]! ^= 0xff;
    expect(same(shifted)).to.equal(true);
  });

  it('compares two places of one file, even when both do not fit into memory at once', () => {
    const once = seededRandom(3).bytes(200 * KIB);
    const twice = new Uint8Array(900 * KIB);
    twice.set(once, 0);
    twice.set(once, 650 * KIB);
    const reader = readerOf(twice);
    expect(reader.isSame(0, reader, 650 * KIB, once.length)).to.equal(true);
    twice[650 * KIB + 3]! ^= 1;
    const other = readerOf(twice);
    expect(other.isSame(0, other, 650 * KIB, once.length)).to.equal(false);
  });
});
