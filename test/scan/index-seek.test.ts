import { expect } from 'chai';
import { encodeIndex, type IndexEntry } from '../../src/format/index.js';
import { type SeekFiles, seekOffset, seekPosition } from '../../src/scan/index-seek.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { sequence } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { CountingSource } from './counting-source.js';
import { UnreadableSource } from './faulty-source.js';

const FIRST = 1000n;
const segment = buildSegment({ records: sequence(FIRST, [400]), indexSpacing: 256 });
/** Entries as the builder wrote them, read back by hand. */
const entries: IndexEntry[] = Array.from({ length: (segment.index.length - 24) / 16 }, (_, i) => {
  const view = new DataView(segment.index.buffer, segment.index.byteOffset + 24 + 16 * i, 16);
  return { offset: view.getBigUint64(0), position: view.getBigUint64(8) };
});

function files(index: Uint8Array | null, log = segment.log): SeekFiles {
  return {
    source: new MemorySource(log),
    index: index === null ? null : new MemorySource(index),
    baseOffset: FIRST,
  };
}

function withEntry(at: number, entry: Partial<IndexEntry>): Uint8Array {
  return encodeIndex(
    FIRST,
    entries.map((each, i) => (i === at ? { ...each, ...entry } : each)),
  );
}

const START = { position: 32, expected: FIRST };

describe('scan/index-seek', () => {
  it('begins at the greatest entry at or under the offset', () => {
    expect(entries.length).to.be.above(20);
    for (let offset = FIRST; offset < FIRST + 400n; offset += 7n) {
      const best = entries.findLast((entry) => entry.offset <= offset)!;
      const seek = seekOffset(files(segment.index), offset);
      expect([seek.position, seek.expected]).to.deep.equal([Number(best.position), best.offset]);
      expect(seek.entry).to.deep.equal({ entry: entries.indexOf(best), ...best });
      expect([seek.refused, seek.unusable]).to.deep.equal([[], null]);
    }
    const inFront = seekOffset(files(segment.index), FIRST - 1n);
    expect(inFront).to.deep.include({ ...START, entry: null, refused: [], unusable: null });
  });

  it('begins at the greatest entry at or under a position', () => {
    const last = entries.at(-1)!;
    expect(seekPosition(files(segment.index), segment.log.length).position).to.equal(Number(last.position));
    expect(seekPosition(files(segment.index), Number(last.position) - 1).entry?.offset).to.equal(
      entries.at(-2)!.offset,
    );
  });

  it('passes over an entry that points off a boundary, at another record, past the end or into the header', () => {
    const at = 12;
    const { offset, position } = entries[at]!;
    for (const [lie, why] of [
      [{ position: position + 1n }, 'no intact record starts there'],
      [{ position: entries[at + 1]!.position - 1n }, 'no intact record starts there'],
      [{ offset: offset + 1n }, `the record there has offset ${offset}`],
      [{ position: 2n ** 63n }, 'it points past the end'],
      [{ position: 2n ** 53n + 1n }, 'it points past the end'],
      [{ position: 3n }, 'its position lies in the segment header'],
    ] as const) {
      const seek = seekOffset(files(withEntry(at, lie)), offset + 1n);
      expect(seek.entry?.entry, why).to.equal(at - 1);
      expect(seek.refused.map((entry) => [entry.entry, entry.why])).to.deep.equal([[at, why]]);
    }
  });

  it('passes over an entry whose record is damaged', () => {
    const at = 12;
    const log = segment.log.slice();
    log[Number(entries[at]!.position) + 30]! ^= 1;
    const seek = seekOffset(files(segment.index, log), entries[at]!.offset);
    expect([seek.entry?.entry, seek.refused.length]).to.deep.equal([at - 1, 1]);
  });

  it('begins at the first record when entries in a row do not hold, or the index is of no use', () => {
    const shifted = encodeIndex(
      FIRST,
      entries.map(({ offset, position }) => ({ offset, position: position + 2n })),
    );
    const seek = seekOffset(files(shifted), FIRST + 399n);
    expect(seek).to.deep.include({ ...START, entry: null, unusable: 'too many of its entries do not hold' });
    for (const [index, why] of [
      [null, 'there is no index'],
      [new Uint8Array(), 'the header of the index does not decode'],
      [encodeIndex(7n, entries), 'the index is of a segment that begins at offset 7'],
      [encodeIndex(FIRST, []), 'the index has no entry'],
      [segment.index.slice(0, 30), 'the index has no entry'],
    ] as const) {
      expect(seekOffset(files(index), FIRST + 399n)).to.deep.include({ ...START, entry: null, unusable: why });
    }
    const unreadable = { ...files(null), index: new UnreadableSource(segment.index, 0, segment.index.length) };
    expect(seekOffset(unreadable, FIRST + 9n).unusable).to.equal('the index cannot be read (EIO)');
  });

  it('holds for entries in any order: what it begins at is a record at or under the offset', () => {
    const reversed = encodeIndex(FIRST, entries.toReversed());
    const shuffled = encodeIndex(FIRST, [...entries.slice(9), ...entries.slice(0, 9)]);
    for (const index of [reversed, shuffled]) {
      for (let offset = FIRST; offset < FIRST + 400n; offset += 13n) {
        const seek = seekOffset(files(index), offset);
        const at = segment.positions.indexOf(seek.position);
        expect(at).to.be.at.least(0);
        expect(FIRST + BigInt(at)).to.equal(seek.expected);
        expect(seek.expected! <= offset).to.equal(true);
      }
    }
  });

  it('never begins inside a batch whose opening record is in the segment', () => {
    const batch = { producerId: 7n, sequence: 0n, len: 150 };
    const { index, log } = buildSegment({ records: sequence(FIRST, [100, batch, 20]), indexSpacing: 256 });
    const seek = seekOffset(files(index, log), FIRST + 200n);
    expect(seek.expected! <= FIRST + 100n).to.equal(true);
    expect(seek.expected! > FIRST + 80n).to.equal(true);
    expect(seek.refused).to.deep.equal([]);
  });

  it('goes back over seven entries that do not hold, and gives up at eight', () => {
    const lies = (count: number) =>
      encodeIndex(
        FIRST,
        entries.map(({ offset, position }, i) => ({
          offset,
          position: i >= 5 && i < 5 + count ? position + 1n : position,
        })),
      );
    const seven = seekOffset(files(lies(7)), entries[11]!.offset);
    expect(seven).to.deep.include({
      position: Number(entries[4]!.position),
      expected: entries[4]!.offset,
      unusable: null,
    });
    const why = 'no intact record starts there';
    const refused = (numbers: readonly number[]) =>
      numbers.map((entry) => ({ entry, offset: entries[entry]!.offset, position: entries[entry]!.position + 1n, why }));
    expect(seven.refused).to.deep.equal(refused([11, 10, 9, 8, 7, 6, 5]));
    expect(seekOffset(files(lies(8)), entries[12]!.offset)).to.deep.equal({
      ...START,
      entry: null,
      refused: refused([12, 11, 10, 9, 8, 7, 6, 5]),
      unusable: 'too many of its entries do not hold',
    });
    const few = encodeIndex(
      FIRST,
      entries.slice(0, 3).map(({ offset, position }) => ({ offset, position: position + 1n })),
    );
    expect(seekOffset(files(few), FIRST + 399n)).to.deep.equal({
      ...START,
      entry: null,
      refused: refused([2, 1, 0]),
      unusable: null,
    });
  });

  it('passes over an entry behind the place sought when it comes by one', () => {
    const [first, second, third] = entries as [IndexEntry, IndexEntry, IndexEntry];
    const bad = (entry: IndexEntry) => ({ ...entry, position: entry.position + 1n });
    const index = encodeIndex(FIRST, [first, { ...second, offset: FIRST + 900n }, bad(second), bad(third)]);
    const seek = seekOffset(files(index), third.offset);
    expect(seek.position).to.equal(32);
    expect(seek.entry).to.deep.equal({ entry: 0, ...first });
    expect(seek.refused.map(({ entry, why }) => [entry, why])).to.deep.equal([
      [3, 'no intact record starts there'],
      [2, 'no intact record starts there'],
      [1, 'it is not in order'],
    ]);
  });

  it('takes an entry exactly at the offset or position, and one at the end of the file to point past it', () => {
    const at = entries[12]!;
    expect(seekOffset(files(segment.index), at.offset).entry?.entry).to.equal(12);
    expect(seekOffset(files(segment.index), at.offset - 1n).entry?.entry).to.equal(11);
    expect(seekPosition(files(segment.index), Number(at.position)).entry?.entry).to.equal(12);
    expect(seekPosition(files(segment.index), 32).entry?.entry).to.equal(0);
    expect(seekPosition(files(segment.index), 31)).to.deep.equal({
      ...START,
      entry: null,
      refused: [],
      unusable: null,
    });
    for (const [position, why] of [
      [segment.log.length, 'it points past the end'],
      [segment.log.length - 1, 'no intact record starts there'],
      [31, 'its position lies in the segment header'],
      [33, 'no intact record starts there'],
    ] as const) {
      const seek = seekOffset(files(withEntry(12, { position: BigInt(position) })), at.offset);
      expect(seek.refused[0]?.why).to.equal(why);
    }
  });

  it('has no offset to expect without a segment header', () => {
    const unknown = { ...files(segment.index), baseOffset: null };
    expect(seekOffset(unknown, FIRST + 9n)).to.deep.equal({
      position: 32,
      expected: null,
      entry: null,
      refused: [],
      unusable: 'the segment header cannot be read',
    });
  });

  it('gives the index up where a part of it cannot be read, and passes on what is no failure of a read', () => {
    const fourPages = Array.from({ length: 1022 }, (_, i) => ({
      offset: FIRST + BigInt(i),
      position: 33n + BigInt(i),
    }));
    const index = new UnreadableSource(encodeIndex(FIRST, fourPages), 4096, 8192);
    const seek = seekOffset({ ...files(null), index }, FIRST + 511n);
    expect(seek).to.deep.equal({
      ...START,
      entry: null,
      refused: [{ entry: 511, ...fourPages[511]!, why: 'no intact record starts there' }],
      unusable: 'the index cannot be read (EIO)',
    });
    // The search takes what it cannot read for what lies behind the place sought.
    const real = fourPages.map(({ offset, position }, i) => ({
      offset,
      position: i < 300 ? BigInt(segment.positions[i]!) : position,
    }));
    const half = new UnreadableSource(encodeIndex(FIRST, real), 4096, 24 + 16 * 1022);
    const found = seekOffset({ ...files(null), index: half }, FIRST + 399n);
    expect(found).to.deep.include({ expected: FIRST + 253n, refused: [], unusable: null });
    const broken = {
      size: 500,
      readAt() {
        throw new TypeError('a bug');
      },
    };
    expect(() => seekOffset({ ...files(null), index: broken }, FIRST)).to.throw(TypeError, 'a bug');
  });

  it('reads a few pages of a large index', () => {
    const many = Array.from({ length: 50_000 }, (_, i) => ({ offset: FIRST + BigInt(i), position: 32n + BigInt(i) }));
    many[399] = { offset: FIRST + 399n, position: BigInt(segment.positions[399]!) };
    const index = new CountingSource(new MemorySource(encodeIndex(FIRST, many)));
    const seek = seekOffset({ ...files(null), index }, FIRST + 399n);
    expect(seek.expected).to.equal(FIRST + 399n);
    expect(index.bytesRead).to.be.below(25 * 4096);
  });
});
