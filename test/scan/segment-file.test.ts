import { expect } from 'chai';
import { writeU16, writeU32 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { encodeIndex } from '../../src/format/index.js';
import {
  type ResumedScan,
  rangesOf,
  readHead,
  resumeEntry,
  type ScanSettings,
  type SegmentScan,
  scanSegmentFile,
} from '../../src/scan/segment-file.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { plainRun, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { UnreadableSource } from './faulty-source.js';

const NOW = timestampOf(0n) + 86_400_000_000n;
const FAILED = { code: 'EIO', message: 'i/o error, read' };

/** Five records of 48 bytes from offset 10 on, at 32, 80, 128, 176 and 224; entries for the first, third and fifth. */
const FIVE = buildSegment({ records: plainRun(10n, 5, { payloadLength: 20 }), indexSpacing: 96 });
const HEADER = { version: 3, baseOffset: 10n, createdAtMicros: FIVE.createdAtMicros, reserved: 0 };

function turned(bytes: Uint8Array, ...places: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const at of places) copy[at]! ^= 1;
  return copy;
}

const sourceOf = (bytes: Uint8Array | ByteSource) => (bytes instanceof Uint8Array ? new MemorySource(bytes) : bytes);
const headOf = (log: Uint8Array | ByteSource, index: Uint8Array | ByteSource | null = FIVE.index) =>
  readHead(sourceOf(log), index && sourceOf(index));
const indexOf = (...entries: readonly (readonly [offset: bigint, position: number])[]) =>
  encodeIndex(
    10n,
    entries.map(([offset, position]) => ({ offset, position: BigInt(position) })),
  );

function scanned(
  log: Uint8Array | ByteSource,
  index: Uint8Array | ByteSource | null = FIVE.index,
  settings: Partial<ScanSettings> = {},
): SegmentScan {
  const walk = scanSegmentFile(sourceOf(log), index && sourceOf(index), { nowMicros: NOW, ...settings });
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}

describe('the head of a segment', () => {
  const sound = {
    header: HEADER,
    headerDamage: null,
    headerBytes: FIVE.log.slice(0, 32),
    problem: null,
    indexProblem: null,
    indexUsable: true,
  };

  it('is its header and its index, which is of use when both are of one base', () => {
    const { index, ...rest } = headOf(FIVE.log);
    expect(rest).to.deep.equal(sound);
    expect(index).to.deep.include({ entries: 3, kept: 3 });
    expect(headOf(FIVE.log, null)).to.deep.equal({ ...sound, index: null, indexUsable: false });
    expect(headOf(FIVE.log, encodeIndex(11n, []))).to.deep.include({ header: HEADER, indexUsable: false });
    expect(headOf(FIVE.log, turned(FIVE.index, 0))).to.deep.include({ header: HEADER, indexUsable: false });
    expect(headOf(turned(FIVE.log, 0))).to.deep.include({ header: null, indexUsable: false });
    expect(headOf(FIVE.log, new UnreadableSource(FIVE.index, 0, 72))).to.deep.equal({
      ...sound,
      index: null,
      indexProblem: { ...FAILED, position: 0 },
      indexUsable: false,
    });
  });

  it('says what is wrong with the header, and has its bytes', () => {
    const short = FIVE.log.slice(0, 31);
    expect(headOf(short, null)).to.deep.include({
      header: null,
      headerDamage: { kind: 'Truncated', needed: 32, available: 31 },
      headerBytes: short,
      problem: null,
    });
    expect(headOf(turned(FIVE.log, 0)).headerDamage!.kind).to.equal('SegmentMagic');
    const unread = headOf(new UnreadableSource(FIVE.log, 0, 40));
    expect(unread).to.deep.include({
      header: null,
      headerDamage: null,
      headerBytes: new Uint8Array(),
      problem: { ...FAILED, position: 0 },
      indexUsable: false,
    });
  });

  it('passes on what is no failure of a read', () => {
    const broken: ByteSource = {
      size: 500,
      readAt() {
        throw new TypeError('a bug');
      },
    };
    expect(() => headOf(broken, null)).to.throw(TypeError, 'a bug');
    expect(() => headOf(FIVE.log, broken)).to.throw(TypeError, 'a bug');
  });

  it('has the entry that a broker begins at: the last that its index keeps', () => {
    const last = { entry: 2, offset: 14n, position: 224n };
    expect(resumeEntry(headOf(FIVE.log))).to.deep.equal(last);
    expect(resumeEntry(headOf(FIVE.log, null))).to.equal(null);
    expect(resumeEntry(headOf(FIVE.log, encodeIndex(10n, [])))).to.equal(null);
    expect(resumeEntry(headOf(FIVE.log, encodeIndex(11n, [{ offset: 14n, position: 224n }])))).to.equal(null);
  });
});

describe('the ranges of a segment', () => {
  const ranges = (pieces: number, index: Uint8Array | null = FIVE.index, log = FIVE.log) =>
    rangesOf(headOf(log, index), log.length, pieces, { nowMicros: NOW });
  const shared = { version: 3, mark: { position: 224, offset: 14n }, nowMicros: NOW };
  const END = Number.POSITIVE_INFINITY;

  it('are one from the header to the end, or are split at entries', () => {
    const first = { ...shared, start: 32, expected: 10n, firstEntry: 0 };
    const second = { ...shared, start: 128, expected: 12n, firstEntry: 1 };
    const third = { ...shared, start: 224, expected: 14n, firstEntry: 2 };
    expect(ranges(1)).to.deep.equal([{ ...first, until: END }]);
    expect(ranges(2)).to.deep.equal([
      { ...first, until: 224 },
      { ...third, until: END },
    ]);
    expect(ranges(3)).to.deep.equal([
      { ...first, until: 128 },
      { ...second, until: 224 },
      { ...third, until: END },
    ]);
    const all = rangesOf(headOf(FIVE.log), 272, 1, { nowMicros: NOW, windowBytes: 100 });
    expect(all).to.deep.equal([{ ...first, until: END, windowBytes: 100 }]);
  });

  it('begin at the first entry at or behind each part of the file, and never at its end', () => {
    const log = new Uint8Array(1000);
    log.set(FIVE.log);
    const starts = (pieces: number, positions: readonly number[]) =>
      ranges(pieces, indexOf(...positions.map((at, i) => [10n + BigInt(i), at] as const)), log).map(
        ({ start }) => start,
      );
    const hundreds = [32, 100, 200, 300, 400, 500, 600, 700, 800, 900];
    expect(starts(4, hundreds)).to.deep.equal([32, 300, 500, 800]);
    expect(starts(5, hundreds)).to.deep.equal([32, 200, 400, 600, 800]);
    expect(starts(2, [32, 499, 500])).to.deep.equal([32, 500]);
    expect(starts(2, [32, 499, 999, 1000, 1001])).to.deep.equal([32, 999]);
    expect(starts(2, [32, 1000])).to.deep.equal([32]);
    expect(starts(4, [32, 900, 950, 980, 990])).to.deep.equal([32, 900, 950, 980]);
    expect(starts(1, hundreds)).to.deep.equal([32]);
  });

  it('need no index: without one, or with one of another segment, there is one range and nothing to judge', () => {
    const alone = { version: 3, mark: null, nowMicros: NOW, start: 32, expected: 10n, firstEntry: null, until: END };
    expect(ranges(4, null)).to.deep.equal([alone]);
    expect(ranges(4, encodeIndex(11n, [{ offset: 12n, position: 128n }]))).to.deep.equal([alone]);
    expect(ranges(4, null, turned(FIVE.log, 0))).to.deep.equal([{ ...alone, version: 4, expected: null }]);
    expect(ranges(4, FIVE.index, turned(FIVE.log, 0))).to.deep.equal([{ ...alone, version: 4, expected: null }]);
  });

  it('have a mark where a broker begins, unless that lies behind the end', () => {
    const mark = (position: number) => ranges(1, indexOf([10n, 32], [14n, position]))[0]!.mark;
    expect(mark(271)).to.deep.equal({ position: 271, offset: 14n });
    expect(mark(272)).to.deep.equal({ position: 272, offset: 14n });
    expect(mark(273)).to.equal(null);
  });

  it('are none where the records are not to be looked at', () => {
    expect(ranges(1, null, FIVE.log.slice(0, 31))).to.deep.equal([]);
    expect(ranges(1, null, FIVE.log.slice(0, 32))).to.have.length(1);
    const other = FIVE.log.slice();
    writeU16(other, 4, 9);
    writeU32(other, 24, crc32(other.subarray(0, 24)));
    expect(ranges(1, null, other)).to.deep.equal([]);
    const unread = headOf(new UnreadableSource(FIVE.log, 0, 40));
    expect(rangesOf(unread, 272, 1, { nowMicros: NOW })).to.deep.equal([]);
  });
});

describe('what a broker meets from the last entry on', () => {
  const resumed = (log: Uint8Array | ByteSource, index: Uint8Array | null = FIVE.index): ResumedScan | null => {
    const outcomes = [undefined, 64].map((windowBytes) =>
      scanned(log, index, windowBytes === undefined ? {} : { windowBytes }),
    );
    expect(outcomes[1]!.resumed).to.deep.equal(outcomes[0]!.resumed);
    return outcomes[0]!.resumed;
  };
  const kindOf = (answer: ResumedScan | null) =>
    answer && { ...answer, failure: answer.failure && [answer.failure.corruption.kind, answer.failure.position] };

  it('is nothing where it has no entry to begin at', () => {
    expect(resumed(FIVE.log, null)).to.equal(null);
    expect(resumed(FIVE.log, encodeIndex(10n, []))).to.equal(null);
  });

  it('is what the whole scan met behind that entry, where the entry holds', () => {
    const sound = { position: 224, nextOffset: 15n, failure: null, stopped: false };
    expect(resumed(FIVE.log)).to.deep.equal(sound);
    expect(resumed(turned(FIVE.log, 90, 190))).to.deep.equal(sound);
    const early = indexOf([10n, 32], [12n, 128]);
    expect(kindOf(resumed(turned(FIVE.log, 90, 190), early))).to.deep.equal({
      position: 128,
      nextOffset: 15n,
      failure: ['RecordHeaderChecksum', 176],
      stopped: false,
    });
    expect(kindOf(resumed(FIVE.log.slice(0, 230)))).to.deep.equal({
      position: 224,
      nextOffset: 14n,
      failure: ['Truncated', 224],
      stopped: false,
    });
    expect(resumed(FIVE.log, indexOf([10n, 32], [15n, 272]))).to.deep.equal({ ...sound, position: 272 });
  });

  it('is a failure where the entry does not hold', () => {
    expect(resumed(FIVE.log, indexOf([10n, 32], [13n, 128]))).to.deep.include({
      position: 128,
      nextOffset: 13n,
      stopped: false,
    });
    expect(kindOf(resumed(FIVE.log, indexOf([10n, 32], [13n, 128])))!.failure).to.deep.equal(['OffsetOutOfOrder', 128]);
    expect(kindOf(resumed(FIVE.log, indexOf([10n, 32], [12n, 129])))).to.deep.equal({
      position: 129,
      nextOffset: 12n,
      failure: ['RecordHeaderChecksum', 129],
      stopped: false,
    });
    expect(resumed(FIVE.log, indexOf([10n, 32], [15n, 273]))).to.deep.equal({
      position: 273,
      nextOffset: 15n,
      failure: { corruption: { kind: 'Truncated', needed: 272, available: 273 }, position: 273 },
      stopped: false,
    });
  });

  it('counts from the entry where the whole scan did not come by it', () => {
    // The first record claims all of the file, and its checksum fails.
    const claiming = (log: Uint8Array) => {
      const copy = log.slice();
      writeU32(copy, 32, 272 - 32 - 28);
      writeU32(copy, 52, crc32(copy.subarray(32, 52)));
      return copy;
    };
    const index = indexOf([10n, 32], [12n, 128]);
    const sound = { position: 128, nextOffset: 15n, failure: null, stopped: false };
    expect(resumed(claiming(FIVE.log), index)).to.deep.equal(sound);
    expect(kindOf(resumed(claiming(turned(FIVE.log, 190)), index))).to.deep.equal({
      ...sound,
      nextOffset: 13n,
      failure: ['RecordHeaderChecksum', 176],
    });
    expect(kindOf(resumed(claiming(turned(FIVE.log, 240)), index))).to.deep.equal({
      ...sound,
      nextOffset: 14n,
      failure: ['RecordHeaderChecksum', 224],
    });
  });

  it('is told to have been cut short where reading failed', () => {
    const long = buildSegment({ records: plainRun(10n, 5, { payloadLength: 3000 }), indexSpacing: 1 });
    const [, second, third] = long.positions;
    const bad = new UnreadableSource(long.log, 8192, long.log.length);
    const at = (offset: bigint, position: number, nextOffset: bigint) => {
      const { resumed: answer } = scanned(bad, indexOf([10n, 32], [offset, position]));
      expect(answer).to.deep.equal({ position, nextOffset, failure: null, stopped: true });
    };
    at(11n, second!, 12n);
    at(12n, third!, 12n);
    at(13n, long.positions[3]!, 13n);
    // A broker that fails reads no further.
    const off = scanned(bad, indexOf([10n, 32], [11n, second! + 1])).resumed;
    expect(kindOf(off)).to.deep.equal({
      position: second! + 1,
      nextOffset: 11n,
      failure: ['RecordHeaderChecksum', second! + 1],
      stopped: false,
    });
  });
});

describe('a segment and its index, looked at whole', () => {
  it('has its head, its size, its records and what a broker meets', () => {
    const scan = scanned(FIVE.log);
    expect(scan.head).to.deep.equal(headOf(FIVE.log));
    expect(scan.size).to.equal(272);
    expect(scan.records).to.deep.include({ records: 5, nextOffset: 15n, checkedEntries: 3, markHolds: true });
    const none = scanned(FIVE.log.slice(0, 20), null);
    expect(none).to.deep.equal({ head: headOf(FIVE.log.slice(0, 20), null), size: 20, records: null, resumed: null });
  });

  it('is not looked at whole by a quick look, unless a broker would fail', () => {
    const quick = (log: Uint8Array | ByteSource, index: Uint8Array | null = FIVE.index) =>
      scanned(log, index, { quick: true });
    const sound = { position: 224, nextOffset: 15n, failure: null, stopped: false };
    expect(quick(FIVE.log)).to.deep.equal({ head: headOf(FIVE.log), size: 272, records: null, resumed: sound });
    expect(quick(turned(FIVE.log, 90))).to.deep.include({ records: null, resumed: sound });
    const failing = quick(turned(FIVE.log, 240));
    expect(failing.resumed).to.deep.include({ position: 224, nextOffset: 14n });
    expect(failing.records).to.deep.include({ records: 4 });
    expect(quick(FIVE.log, null)).to.deep.include({ resumed: null }).and.to.have.nested.property('records.records', 5);
    expect(scanned(FIVE.log, FIVE.index, { quick: false }).records).to.not.equal(null);
    const long = buildSegment({ records: plainRun(10n, 3, { payloadLength: 5000 }), indexSpacing: 1 });
    const stopped = quick(new UnreadableSource(long.log, 12_288, long.log.length), long.index);
    expect(stopped.resumed).to.deep.include({ stopped: true });
    expect(stopped.records).to.deep.include({ records: 2 });
  });
});
