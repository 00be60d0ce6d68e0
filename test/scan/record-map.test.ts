import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { concatBytes, writeU16, writeU32 } from '../../src/format/bytes.js';
import { encodeRecord } from '../../src/format/record.js';
import { mapRecords, type RecordMap } from '../../src/scan/record-map.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { generationStart, opens, plain, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { UnreadableSource } from './faulty-source.js';

function mapped(log: Uint8Array | ByteSource, hints: readonly bigint[] = [], windowBytes?: number): RecordMap {
  const source = log instanceof Uint8Array ? new MemorySource(log) : log;
  const walk = mapRecords(source, windowBytes === undefined ? { hints } : { hints, windowBytes });
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}

function turned(log: Uint8Array, ...places: readonly number[]): Uint8Array {
  const copy = log.slice();
  for (const at of places) copy[at]! ^= 1;
  return copy;
}

/** Five records of 48 bytes from offset 10 on, at 32, 80, 128, 176 and 224. */
const FIVE = buildSegment({ records: plainRun(10n, 5, { payloadLength: 20 }) });
const HEADER = { version: 3, baseOffset: 10n, createdAtMicros: FIVE.createdAtMicros, reserved: 0 };
const WHOLE: RecordMap = {
  size: 272,
  header: HEADER,
  headerDamage: null,
  headerBytes: FIVE.log.slice(0, 32),
  otherBuild: false,
  extents: [{ start: 32, end: 272, from: 10n, to: 15n, firstMark: 0, endMark: 1 }],
  markPositions: [32],
  markRecords: [0],
  records: 5,
  damages: [],
  damagesOmitted: 0,
  nextOffset: 15n,
  stopped: null,
};

describe('scan/record-map', () => {
  it('is one run where nothing is damaged, whatever the window and the kinds of record', () => {
    for (const windowBytes of [undefined, 64, 100]) expect(mapped(FIVE.log, [], windowBytes)).to.deep.equal(WHOLE);
    const tag = { producerId: 1n, sequence: 2n, len: 1 };
    const mixed = buildSegment({
      version: 4,
      records: [opens(2n ** 32n - 2n, tag), generationStart(2n ** 32n - 1n, 3n), plain(2n ** 32n)],
    });
    for (const windowBytes of [64, 4096]) {
      const { extents, records } = mapped(mixed.log, [], windowBytes);
      expect(extents).to.deep.equal([
        { start: 32, end: mixed.log.length, from: 2n ** 32n - 2n, to: 2n ** 32n + 1n, firstMark: 0, endMark: 1 },
      ]);
      expect(records).to.equal(3);
    }
  });

  it('is cut into runs by damage and by offsets that do not follow', () => {
    const rot = mapped(turned(FIVE.log, 80, 200));
    expect(rot.extents).to.deep.equal([
      { start: 32, end: 80, from: 10n, to: 11n, firstMark: 0, endMark: 1 },
      { start: 128, end: 176, from: 12n, to: 13n, firstMark: 1, endMark: 2 },
      { start: 224, end: 272, from: 14n, to: 15n, firstMark: 2, endMark: 3 },
    ]);
    expect([rot.markPositions, rot.markRecords, rot.records, rot.nextOffset]).to.deep.equal([
      [32, 128, 224],
      [0, 0, 0],
      3,
      15n,
    ]);
    expect(rot.damages.map(({ corruption, ...damage }) => [corruption.kind, damage])).to.deep.equal([
      ['RecordHeaderChecksum', { position: 80, end: 128, offset: 11n, lost: { from: 11n, to: 12n }, claimedEnd: null }],
      ['RecordChecksum', { position: 176, end: 224, offset: 13n, lost: { from: 13n, to: 14n }, claimedEnd: 224 }],
    ]);
    const { log, positions } = buildSegment({ records: [plain(10n), plain(11n), plain(13n), plain(14n), plain(12n)] });
    const gaps = mapped(log);
    expect(gaps.extents.map(({ start, end, from, to }) => [start, end, from, to])).to.deep.equal([
      [32, positions[2], 10n, 12n],
      [positions[2], positions[4], 13n, 15n],
      [positions[4], log.length, 12n, 13n],
    ]);
    expect(gaps.damages.map(({ corruption }) => corruption.kind)).to.deep.equal([
      'OffsetOutOfOrder',
      'OffsetOutOfOrder',
    ]);
  });

  it('has a place to begin at for each 64 KiB of a run', () => {
    for (const [total, marked] of [
      [32 * 1024, [0, 2, 4, 6]],
      [32 * 1024 - 1, [0, 3, 6]],
      [64 * 1024, [0, 1, 2, 3, 4, 5, 6]],
      [10_000, [0]],
    ] as const) {
      const { log, positions } = buildSegment({ records: plainRun(10n, 7, { payloadLength: total - 28 }) });
      const { extents, markPositions, markRecords } = mapped(log);
      expect(markRecords, `${total}`).to.deep.equal(marked);
      expect(markPositions, `${total}`).to.deep.equal(marked.map((i) => positions[i]));
      expect(extents).to.deep.equal([
        { start: 32, end: log.length, from: 10n, to: 17n, firstMark: 0, endMark: marked.length },
      ]);
    }
    const { log, positions } = buildSegment({ records: plainRun(10n, 5, { payloadLength: 40_000 }) });
    const { extents, markPositions, markRecords } = mapped(turned(log, positions[2]!));
    expect(extents.map(({ firstMark, endMark }) => [firstMark, endMark])).to.deep.equal([
      [0, 1],
      [1, 2],
    ]);
    expect([markPositions, markRecords]).to.deep.equal([
      [32, positions[3]],
      [0, 0],
    ]);
  });

  it('takes the offset of the first record where the header cannot be believed', () => {
    for (const at of [0, 8, 25]) {
      const log = turned(FIVE.log, at);
      const { header, headerDamage, headerBytes, ...rest } = mapped(log);
      expect(header).to.equal(null);
      expect(headerDamage!.kind).to.equal(at === 0 ? 'SegmentMagic' : 'SegmentHeaderChecksum');
      expect(headerBytes).to.deep.equal(log.slice(0, 32));
      expect({ ...WHOLE, header, headerDamage, headerBytes, ...rest }).to.deep.equal({
        ...WHOLE,
        header,
        headerDamage,
        headerBytes,
      });
    }
  });

  it('hands out a header of its own, of which a copy is another', () => {
    const { headerBytes } = mapped(FIVE.log);
    headerBytes.slice().fill(0);
    expect(headerBytes).to.deep.equal(FIVE.log.slice(0, 32));
    expect(headerBytes).to.not.be.instanceOf(Buffer);
  });

  it('takes a hint where the first record is damaged too, the likeliest that leads to a record', () => {
    const log = turned(FIVE.log, 0, 40);
    const from = (hints: readonly bigint[]) => {
      const { extents, damages } = mapped(log, hints);
      return [extents.map((run) => [run.start, run.from, run.to]), damages.map(({ offset }) => offset)];
    };
    expect(from([10n])).to.deep.equal([[[80, 11n, 15n]], [10n]]);
    expect(from([3n, 900n, 11n, 10n])).to.deep.equal([[[80, 11n, 15n]], [11n]]);
    // With none that does, the first record that verifies tells.
    expect(from([900n])).to.deep.equal([[[80, 11n, 15n]], []]);
    expect(from([])).to.deep.equal([[[80, 11n, 15n]], []]);
  });

  it('believes a sound header more than any hint', () => {
    const log = buildSegment({ baseOffset: 500n, records: [] }).log;
    const bad = concatBytes([log, turned(encodeRecord(plain(10n)), 0), encodeRecord(plain(11n))]);
    const { extents, records, nextOffset, damages } = mapped(bad, [10n]);
    expect([extents, records, nextOffset]).to.deep.equal([[], 0, 500n]);
    expect(damages).to.have.length(1);
  });

  it('takes nothing for a record that begins in the header', () => {
    const log = concatBytes([turned(FIVE.log.slice(0, 31), 0), encodeRecord(plain(10n)), encodeRecord(plain(11n))]);
    expect(mapped(log).extents.map(({ start, from }) => [start, from])).to.deep.equal([
      [log.length - encodeRecord(plain(11n)).length, 11n],
    ]);
  });

  it('says so when there is no record at all', () => {
    const noise = concatBytes([turned(FIVE.log.slice(0, 32), 0), new Uint8Array(100).fill(0x5a)]);
    const map = mapped(noise, [1n, 2n]);
    expect(map).to.deep.include({ extents: [], records: 0, nextOffset: null, markPositions: [], stopped: null });
    expect(map.damages.map(({ position, end }) => [position, end])).to.deep.equal([[32, 132]]);
  });

  it('of a file that holds no more than a header has what that says', () => {
    const nothing = {
      ...WHOLE,
      size: 32,
      extents: [],
      markPositions: [],
      markRecords: [],
      records: 0,
      nextOffset: 10n,
    };
    expect(mapped(FIVE.log.slice(0, 32))).to.deep.equal(nothing);
    const short = mapped(FIVE.log.slice(0, 31));
    expect(short).to.deep.equal({
      ...nothing,
      size: 31,
      header: null,
      headerDamage: { kind: 'Truncated', needed: 32, available: 31 },
      headerBytes: FIVE.log.slice(0, 31),
      nextOffset: null,
    });
    expect(mapped(FIVE.log.slice(0, 33)).damages.map(({ position, end }) => [position, end])).to.deep.equal([[32, 33]]);
  });

  it('does not look at the records of another build, by a version that a checksum bears out', () => {
    const log = FIVE.log.slice();
    writeU16(log, 4, 9);
    const rotten = mapped(log);
    expect(rotten).to.deep.include({ otherBuild: false, records: 5, header: null });
    expect(rotten.headerDamage).to.deep.equal({ kind: 'SegmentVersion', found: 9 });
    writeU32(log, 24, crc32(log.subarray(0, 24)));
    expect(mapped(log)).to.deep.equal({
      ...WHOLE,
      header: null,
      headerDamage: { kind: 'SegmentVersion', found: 9 },
      headerBytes: log.slice(0, 32),
      otherBuild: true,
      extents: [],
      markPositions: [],
      markRecords: [],
      records: 0,
      nextOffset: null,
    });
    // Whatever else is wrong with a header, a checksum that holds makes it no other build.
    const magic = turned(FIVE.log, 0);
    writeU32(magic, 24, crc32(magic.subarray(0, 24)));
    expect(mapped(magic)).to.deep.include({ otherBuild: false, records: 5 });
  });

  it('ends where reading does, and says why', () => {
    const failure = { code: 'EIO', message: 'i/o error, read' };
    const { log, positions } = buildSegment({ records: plainRun(10n, 5, { payloadLength: 3000 }) });
    const map = mapped(new UnreadableSource(log, 8192, 12_288), [1n]);
    expect(map.stopped).to.deep.equal({ ...failure, position: positions[2] });
    expect(map.extents).to.deep.equal([{ start: 32, end: positions[2], from: 10n, to: 12n, firstMark: 0, endMark: 1 }]);
    const nothing = mapped(new UnreadableSource(log, 0, 64));
    expect(nothing).to.deep.include({
      size: log.length,
      header: null,
      headerDamage: null,
      records: 0,
      nextOffset: null,
    });
    expect(nothing.headerBytes).to.have.length(0);
    expect(nothing.otherBuild).to.equal(false);
    expect(nothing.stopped).to.deep.equal({ ...failure, position: 0 });
    // Nor is another offset tried where the records cannot be read.
    const late = mapped(new UnreadableSource(turned(log, 0, 40), 4096, log.length), [10n, 11n]);
    expect(late).to.deep.include({ records: 0, extents: [] });
    expect(late.stopped).to.deep.include(failure);
    expect(() =>
      mapped({
        size: 100,
        readAt() {
          throw new TypeError('a bug');
        },
      }),
    ).to.throw(TypeError, 'a bug');
  });

  it('keeps fifty thousand damages, and counts more', () => {
    const record = encodeRecord(plain(10n, { payloadLength: 0 }));
    const log = new Uint8Array(32 + 50_003 * 28);
    log.set(FIVE.log.subarray(0, 32));
    for (let at = 32; at < log.length; at += 28) log.set(record, at);
    const map = mapped(log);
    expect([map.damages.length, map.damagesOmitted, map.records]).to.deep.equal([50_000, 2, 50_003]);
    expect(map.extents).to.have.length(50_003);
  });
});
