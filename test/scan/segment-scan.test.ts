/** What the scan of a range says, whole: every field of its answer, for records, damage and indexes laid out by hand. */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { bytesOfHex, concatBytes, writeU32, writeU64 } from '../../src/format/bytes.js';
import { encodeIndex } from '../../src/format/index.js';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import type { Damage, RangeScan } from '../../src/scan/range-scan.js';
import { type RangeRequest, scanRange } from '../../src/scan/segment-scan.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { rangeScan } from '../builders/range-scans.js';
import { continues, generationStart, opens, plain, plainRun, sequence, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { CountingSource, FilledSource } from './counting-source.js';
import { UnreadableSource } from './faulty-source.js';

const MIB = 1024 * 1024;
const SECOND = 1_000_000n;
const YEAR_2000 = BigInt(Date.UTC(2000, 0, 1)) * 1000n;
const NOW = BigInt(Date.UTC(2026, 5, 1)) * 1000n;
/** 365.25 days. */
const YEAR = 31_557_600n * SECOND;
const WINDOWS: readonly number[] = [64, 100, 4096, MIB];

const NOTHING = rangeScan();
const RECORDS_SEEN = { ...NOTHING.batches, first: 'record' } as const;

type Asked = Partial<RangeRequest>;

const sourceOf = (bytes: Uint8Array | ByteSource) => (bytes instanceof Uint8Array ? new MemorySource(bytes) : bytes);

function scanned(log: Uint8Array | ByteSource, asked: Asked = {}, index: Uint8Array | ByteSource | null = null) {
  const walk = scanRange(sourceOf(log), index && sourceOf(index), {
    start: 32,
    until: Number.POSITIVE_INFINITY,
    expected: 10n,
    version: 4,
    mark: null,
    firstEntry: index === null ? null : 0,
    nowMicros: NOW,
    ...asked,
  });
  for (;;) {
    const step = walk.next();
    if (step.done) return { ...step.value, bytesRead: 0 };
  }
}

/** A segment of these bytes behind 32 of a header, which the scan of a range does not look at. */
const behindHeader = (...parts: readonly Uint8Array[]) => concatBytes([new Uint8Array(32), ...parts]);
const logOf = (records: readonly LogRecord[]) => behindHeader(...records.map(encodeRecord));
const indexOf = (...entries: readonly (readonly [offset: bigint, position: number])[]) =>
  encodeIndex(
    10n,
    entries.map(([offset, position]) => ({ offset, position: BigInt(position) })),
  );

const hex = (value: number) => `0x${value.toString(16).padStart(8, '0')}`;
const dataOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** A copy with bits of one byte turned. */
function turned(log: Uint8Array, at: number, bits = 1): Uint8Array {
  const copy = log.slice();
  copy[at]! ^= bits;
  return copy;
}

/** A copy with another length word, or offset, under a header checksum that holds. */
function claiming(log: Uint8Array, at: number, { word, offset }: { word?: number; offset?: bigint }): Uint8Array {
  const copy = log.slice();
  if (word !== undefined) writeU32(copy, at, word);
  if (offset !== undefined) writeU64(copy, at + 4, offset);
  writeU32(copy, at + 20, crc32(copy.subarray(at, at + 20)));
  return copy;
}

/** The checksums of the record `[at, end)`, as stored and as they are. */
const recordCrcs = (log: Uint8Array, at: number, end: number) => ({
  expected: hex(dataOf(log).getUint32(at + 24)),
  found: hex(crc32(log.subarray(at + 28, end), crc32(log.subarray(at, at + 24)))),
});

/** Five records of 48 bytes from offset 10 on, at 32, 80, 128, 176 and 224. */
const FIVE = logOf(plainRun(10n, 5, { payloadLength: 20 }));
const SIZE = 272;
const ALL = {
  ...NOTHING,
  end: SIZE,
  nextOffset: 15n,
  records: 5,
  firstOffset: 10n,
  lastOffset: 14n,
  firstTimestampMicros: timestampOf(10n),
  lastTimestampMicros: timestampOf(14n),
  batches: RECORDS_SEEN,
};

/** Holds the answer with each of the windows to the one expected. */
function expectScan(log: Uint8Array, expected: RangeScan, asked: Asked = {}, index: Uint8Array | null = null): void {
  for (const windowBytes of WINDOWS) {
    expect(scanned(log, { windowBytes, ...asked }, index), `window ${windowBytes}`).to.deep.equal(expected);
  }
}

describe('scan/segment-scan', () => {
  it('counts whole records, and tells the first and the last of them, marks and generations', () => {
    const records = sequence(10n, [2, { producerId: 7n, sequence: 3n, len: 2 }, { generation: 9n }, 1]);
    const { log, index, positions } = buildSegment({ records, version: 4, indexSpacing: 1 });
    const mark = { position: positions[3]!, offset: 13n };
    const expected = {
      ...NOTHING,
      end: log.length,
      nextOffset: 16n,
      records: 6,
      firstOffset: 10n,
      lastOffset: 15n,
      firstTimestampMicros: timestampOf(10n),
      lastTimestampMicros: timestampOf(15n),
      markHolds: true,
      generationStarts: [{ offset: 14n, position: positions[4]!, payloadLen: 8, generation: 9n }],
      batches: RECORDS_SEEN,
      checkedEntries: 6,
    };
    expectScan(log, expected, { mark }, index);
    expectScan(log, expected, { mark, expected: null }, index);
    expectScan(log, { ...expected, markHolds: false, checkedEntries: 0 });
    expectScan(log, { ...expected, markHolds: false, checkedEntries: 0 }, { firstEntry: 0 });
  });

  it('tells offsets and times of 64 bits, whatever their halves are, in each place of a run', () => {
    const times = [YEAR_2000, NOW, 1n << 50n, (1n << 50n) - 1n, 0x0005_8000_8000_0000n, 0x0005_7fff_ffff_ffffn];
    for (const base of [0n, 2n ** 31n - 2n, 2n ** 32n - 3n, 2n ** 63n - 3n, 2n ** 64n - 7n]) {
      for (let count = 1; count <= times.length; count++) {
        for (const last of [plain, (at: bigint, options: object) => generationStart(at, 1n, options)]) {
          const records = times.slice(0, count).map((timestampMicros, i) => {
            return (i === count - 1 ? last : plain)(base + BigInt(i), { timestampMicros });
          });
          expect(scanned(logOf(records), { expected: base }), `${count} from ${base}`).to.deep.include({
            damages: [],
            records: count,
            nextOffset: base + BigInt(count),
            firstOffset: base,
            lastOffset: base + BigInt(count - 1),
            firstTimestampMicros: times[0],
            lastTimestampMicros: times[count - 1],
          });
        }
      }
    }
  });

  it('knows that nothing follows the last offset of a u64, and that 0 does not', () => {
    const last = 2n ** 64n - 1n;
    for (const before of [0, 1, 2]) {
      const run = plainRun(last - BigInt(before), before + 1);
      for (const next of [0n, last]) {
        const scan = scanned(logOf([...run, plain(next)]), { expected: last - BigInt(before) });
        expect(scan.damages.map(({ corruption }) => corruption)).to.deep.equal([
          { kind: 'OffsetOutOfOrder', expected: 2n ** 64n, found: next },
        ]);
      }
      const alone = scanned(logOf(run), { expected: last - BigInt(before) });
      expect(alone).to.deep.include({ damages: [], nextOffset: 2n ** 64n, lastOffset: last });
    }
    expect(scanned(behindHeader(), { expected: 2n ** 64n }).nextOffset).to.equal(2n ** 64n);
    expect(scanned(behindHeader(), { expected: 2n ** 64n - 1n }).nextOffset).to.equal(2n ** 64n - 1n);
  });

  it('begins at any record, with the offset due there or with that of the first intact one', () => {
    const rest = { ...ALL, start: 128, records: 3, firstOffset: 12n, firstTimestampMicros: timestampOf(12n) };
    expectScan(FIVE, rest, { start: 128, expected: 12n });
    expectScan(FIVE, rest, { start: 128, expected: null });
    expectScan(FIVE, { ...NOTHING, start: SIZE, end: SIZE }, { start: SIZE, expected: null });
  });

  it('stops at the first boundary at or behind its end, and judges the entries in front of that', () => {
    const until = (position: number, records: number, end: number) => ({
      ...ALL,
      end,
      records,
      nextOffset: 10n + BigInt(records),
      lastOffset: 9n + BigInt(records),
      lastTimestampMicros: timestampOf(9n + BigInt(records)),
      position,
    });
    for (const { position, ...expected } of [
      until(33, 1, 80),
      until(127, 2, 128),
      until(128, 2, 128),
      until(129, 3, 176),
      until(224, 4, 224),
      until(225, 5, SIZE),
    ]) {
      expectScan(FIVE, expected, { until: position });
    }
    expectScan(FIVE, { ...NOTHING, nextOffset: 10n }, { until: 32 });
    // A torn record behind the end of a range is for the scan of the next one.
    const { position: _, ...four } = until(224, 4, 224);
    for (const left of [1, 27, 28]) expectScan(FIVE.slice(0, 224 + left), four, { until: 224 });
    const index = indexOf([10n, 32], [11n, 100], [12n, 149], [13n, 150], [14n, 224]);
    const judged = scanned(FIVE, { until: 150 }, index);
    expect(judged).to.deep.include({ end: 176, checkedEntries: 3, notJudgedEntries: 0 });
    expect(judged.entryMismatches).to.deep.equal([
      { entry: 1, offset: 11n, position: 100n, why: 'no record starts there' },
      { entry: 2, offset: 12n, position: 149n, why: 'no record starts there' },
    ]);
  });

  it('ends with what is left when that is too short for a header', () => {
    for (const left of [1, 27]) {
      const log = FIVE.slice(0, 224 + left);
      const damage: Damage = {
        corruption: { kind: 'Truncated', needed: 28, available: left },
        position: 224,
        end: 224 + left,
        resumedAt: null,
        claimedEnd: null,
        offset: 14n,
        lost: null,
        recordsBefore: 4,
      };
      expectScan(log, {
        ...ALL,
        end: log.length,
        nextOffset: 14n,
        records: 4,
        lastOffset: 13n,
        lastTimestampMicros: timestampOf(13n),
        damagedBytes: left,
        damages: [damage],
        batches: { ...NOTHING.batches, first: 'record', unknown: true },
      });
      expect(scanned(log.slice(0, 32 + left), { expected: null }).damages[0]).to.deep.include({ offset: null });
    }
  });
});

/** Damage to the second of the five records, `[80, 128)`. */
const SECOND_RECORD = { position: 80, end: 128, resumedAt: 128, claimedEnd: 128, offset: 11n, recordsBefore: 1 };
const LOST_SECOND = { from: 11n, to: 12n };

/** The answer when the second of the five records is lost and the others are not. */
function withoutSecond(damage: Damage): RangeScan {
  return { ...ALL, records: 4, damagedBytes: damage.end - damage.position, damages: [damage], batches: RECORDS_SEEN };
}

describe('damage, as a scan tells it', () => {
  it('a header that does not verify: nothing of it is believed, and the next intact record ends it', () => {
    for (const at of [80, 85, 95, 100, 103]) {
      const log = turned(FIVE, at);
      const corruption = {
        kind: 'RecordHeaderChecksum',
        expected: hex(dataOf(log).getUint32(100)),
        found: hex(crc32(log.subarray(80, 100))),
      } as const;
      expectScan(log, withoutSecond({ ...SECOND_RECORD, claimedEnd: null, corruption, lost: LOST_SECOND }));
    }
  });

  it('more than one kind bit, with the bits', () => {
    for (const bits of [3, 5, 6, 7]) {
      const log = claiming(FIVE, 80, { word: bits * 2 ** 29 + 20 });
      const corruption = { kind: 'RecordFlags', found: hex(bits * 2 ** 29) } as const;
      expectScan(log, withoutSecond({ ...SECOND_RECORD, claimedEnd: null, corruption, lost: LOST_SECOND }));
    }
  });

  it('a payload over the limit, with the end that it claims', () => {
    for (const bits of [0, 2 ** 30]) {
      for (const payloadLen of [64 * MIB + 1, 2 ** 29 - 1]) {
        const log = claiming(FIVE, 80, { word: bits + payloadLen });
        const corruption = { kind: 'RecordTooLarge', payloadLen, limit: 64 * MIB } as const;
        const damage = { ...SECOND_RECORD, claimedEnd: 108 + payloadLen, corruption, lost: LOST_SECOND };
        expectScan(log, withoutSecond(damage));
      }
    }
  });

  it('a record that ends behind the file: the header says how much of it is missing', () => {
    for (const [word, needed] of [
      [SIZE - 80 - 28 + 1, SIZE - 80 + 1],
      [64 * MIB, 64 * MIB + 28],
      [2 ** 31 + 1000, 1048],
      [2 ** 31 + SIZE - 80 - 28, SIZE - 80 + 20],
    ] as const) {
      const log = claiming(FIVE, 80, { word });
      const corruption = { kind: 'Truncated', needed, available: SIZE - 80 } as const;
      expectScan(log, withoutSecond({ ...SECOND_RECORD, claimedEnd: 80 + needed, corruption, lost: LOST_SECOND }));
    }
    const [damage] = scanned(FIVE.slice(0, SIZE - 1)).damages;
    expect(damage).to.deep.equal({
      corruption: { kind: 'Truncated', needed: 48, available: 47 },
      position: 224,
      end: SIZE - 1,
      resumedAt: null,
      claimedEnd: SIZE,
      offset: 14n,
      lost: null,
      recordsBefore: 4,
    });
  });

  it('a record whose checksum fails ends where the next header bears it out', () => {
    for (const at of [104, 108, 127]) {
      const log = turned(FIVE, at);
      const corruption = { kind: 'RecordChecksum', ...recordCrcs(log, 80, 128) } as const;
      expectScan(log, withoutSecond({ ...SECOND_RECORD, corruption, lost: LOST_SECOND }));
    }
    // Borne out by a header, and by nothing more: that record's own checksum fails, too.
    const both = (at: number) =>
      scanned(turned(turned(FIVE, 127), at)).damages.map(({ position, end, resumedAt }) => [position, end, resumedAt]);
    expect(both(175)).to.deep.equal([
      [80, 128, 128],
      [128, 176, 176],
    ]);
    // A header with the offset that follows bears nothing out when it does not verify.
    expect(both(141)).to.deep.equal([
      [80, 128, null],
      [128, 176, 176],
    ]);
  });

  it('a record whose checksum fails is borne out by the shortest record, and by the end of the file', () => {
    const log = turned(logOf([...plainRun(10n, 2, { payloadLength: 20 }), plain(12n, { payloadLength: 0 })]), 127);
    expect(scanned(log).damages[0]).to.deep.include({ end: 128, resumedAt: 128 });
    const cut = scanned(log.slice(0, -1)).damages;
    expect(cut.map(({ end, resumedAt }) => [end, resumedAt])).to.deep.equal([
      [128, null],
      [155, null],
    ]);
    expect(scanned(turned(FIVE, SIZE - 1))).to.deep.include({ end: SIZE, nextOffset: 15n, records: 4 });
    expect(scanned(turned(FIVE, SIZE - 1)).damages[0]).to.deep.include({
      position: 224,
      end: SIZE,
      resumedAt: null,
      lost: { from: 14n, to: 15n },
    });
  });

  it('a record whose checksum fails and whose claim nothing bears out hides none that lies inside the claim', () => {
    const log = claiming(FIVE, 80, { word: 20 + 48 });
    const corruption = { kind: 'RecordChecksum', ...recordCrcs(log, 80, 176) } as const;
    expectScan(log, withoutSecond({ ...SECOND_RECORD, claimedEnd: 176, corruption, lost: LOST_SECOND }));
    const third = scanned(claiming(turned(FIVE, 141), 80, { word: 20 + 2 * 48 }));
    expect(third).to.deep.include({ records: 3, nextOffset: 15n, damagedBytes: 96 });
    expect(third.damages).to.have.length(1);
    expect(third.damages[0]).to.deep.include({
      end: 176,
      resumedAt: 176,
      claimedEnd: 224,
      lost: { from: 11n, to: 13n },
    });
  });

  it('a claim that ends where the file does is borne out by that, whatever lies inside', () => {
    const scan = scanned(claiming(FIVE, 80, { word: SIZE - 80 - 28 }));
    expect(scan).to.deep.include({ records: 1, end: SIZE, nextOffset: 12n, damagedBytes: SIZE - 80 });
    expect(scan.damages).to.have.length(1);
    expect(scan.damages[0]).to.deep.include({ end: SIZE, resumedAt: null, claimedEnd: SIZE, lost: LOST_SECOND });
  });

  it('a record whose checksum fails loses what lies between the offset due and its own', () => {
    for (const [offset, lost, next] of [
      [11n, { from: 11n, to: 12n }, null],
      [14n, { from: 11n, to: 15n }, 15n],
      [10n, { from: 10n, to: 11n }, 11n],
      [3n, { from: 3n, to: 4n }, 4n],
    ] as const) {
      const damages = scanned(claiming(turned(FIVE, 127), 80, { offset })).damages;
      const resumedAt = next === null ? 128 : null;
      expect(damages[0]).to.deep.include({ position: 80, end: 128, claimedEnd: 128, resumedAt, offset, lost });
      const order = damages.slice(1).map(({ corruption }) => corruption);
      const wanted = next === null ? [] : [{ kind: 'OffsetOutOfOrder', expected: next, found: 12n }];
      expect(order, `offset ${offset}`).to.deep.equal(wanted);
    }
  });

  it('an offset out of order is damage without bytes: the record counts, and what is skipped is lost', () => {
    const [a, ahead, b] = [plain(10n), plain(13n), plain(14n)].map(encodeRecord) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const at = 32 + a.length;
    const log = behindHeader(a, ahead, b);
    const base: Damage = {
      corruption: { kind: 'OffsetOutOfOrder', expected: 11n, found: 13n },
      position: at,
      end: at,
      resumedAt: at,
      claimedEnd: at + ahead.length,
      offset: 13n,
      lost: { from: 11n, to: 13n },
      recordsBefore: 1,
    };
    const expected = { ...ALL, end: log.length, records: 3, damages: [base] };
    expectScan(log, expected);
    const back = behindHeader(a, a, encodeRecord(plain(11n)));
    const twice: Damage = {
      ...base,
      corruption: { kind: 'OffsetOutOfOrder', expected: 11n, found: 10n },
      claimedEnd: at + a.length,
      offset: 10n,
      lost: null,
    };
    expectScan(back, {
      ...expected,
      end: back.length,
      nextOffset: 12n,
      lastOffset: 11n,
      lastTimestampMicros: timestampOf(11n),
      damages: [twice],
    });
  });

  it('an offset that differs in one half alone is out of order', () => {
    for (const found of [11n + (1n << 32n), 11n + (1n << 31n), 11n + (1n << 63n), 12n, 0n]) {
      const log = logOf([plain(10n), plain(found), plain(found + 1n)]);
      expect(scanned(log).damages.map(({ corruption }) => corruption)).to.deep.equal([
        { kind: 'OffsetOutOfOrder', expected: 11n, found },
      ]);
    }
  });

  it('goes to the end of the file when no offset is due yet, or nothing intact follows', () => {
    const first = scanned(turned(FIVE, 40), { expected: null });
    expect(first).to.deep.include({ end: SIZE, nextOffset: null, records: 0, damagedBytes: SIZE - 32 });
    expect(first.damages).to.have.length(1);
    expect(first.damages[0]).to.deep.include({ position: 32, end: SIZE, resumedAt: null, offset: null, lost: null });
    const body = scanned(turned(FIVE, 79), { expected: null });
    expect(body).to.deep.include({ records: 4, nextOffset: 15n, damagedBytes: 48 });
    expect(body.damages[0]).to.deep.include({ end: 80, resumedAt: 80, offset: 10n, lost: { from: 10n, to: 11n } });
    const last = scanned(turned(FIVE, 230));
    expect(last).to.deep.include({ end: SIZE, nextOffset: 14n, records: 4, damagedBytes: 48 });
    expect(last.damages[0]).to.deep.include({ position: 224, end: SIZE, resumedAt: null, offset: 14n, lost: null });
  });

  it('ends a scan that stops at damage, without a look behind it', () => {
    const header = scanned(turned(FIVE, 90), { stopAtDamage: true });
    expect(header).to.deep.include({ end: SIZE, records: 1, nextOffset: 11n });
    expect(header.damages).to.have.length(1);
    expect(header.damages[0]).to.deep.include({ position: 80, end: SIZE, resumedAt: null, offset: 11n, lost: null });
    const body = scanned(claiming(FIVE, 80, { word: 20 + 48 }), { stopAtDamage: true });
    expect(body.damages).to.have.length(1);
    expect(body).to.deep.include({ end: 176, nextOffset: 12n, records: 1 });
    const rest = scanned(turned(FIVE, 127), { stopAtDamage: true });
    expect(rest).to.deep.include({ end: 128, nextOffset: 12n, records: 1, damagedBytes: 48 });
    expect(scanned(FIVE, { stopAtDamage: true })).to.deep.equal(ALL);
  });

  it('is kept to the ten thousandth; more is counted by kind', () => {
    const record = encodeRecord(plain(10n, { payloadLength: 0 }));
    const log = behindHeader(...Array.from({ length: 10_003 }, () => record), new Uint8Array(5));
    const scan = scanned(log, { mark: { position: log.length - 5, offset: 11n } });
    expect(scan.damages).to.have.length(10_000);
    expect([...scan.omitted]).to.deep.equal([
      ['OffsetOutOfOrder', 2],
      ['Truncated', 1],
    ]);
    expect(scan.damages[9999]!.recordsBefore).to.equal(10_000);
    expect(scan.afterMark).to.deep.include({ position: log.length - 5, recordsBefore: 10_003 });
    expect(scan.records).to.equal(10_003);
  });
});

describe('the mark of a scan', () => {
  const at = (position: number, offset: bigint) => ({ mark: { position, offset } });

  it('holds where an intact record starts that has its offset, and at the end of the file', () => {
    for (const [position, offset, holds] of [
      [32, 10n, true],
      [128, 12n, true],
      [128, 13n, false],
      [128, 12n + (1n << 32n), false],
      [129, 13n, false],
      [127, 12n, false],
      [SIZE, 15n, true],
      [SIZE, 14n, false],
      [SIZE + 1, 15n, false],
    ] as const) {
      expectScan(FIVE, { ...ALL, markHolds: holds }, at(position, offset));
    }
    expect(scanned(FIVE, { ...at(128, 12n), until: 128 }).markHolds).to.equal(false);
    expect(scanned(FIVE, { ...at(SIZE, 14n), until: 224 }).markHolds).to.equal(false);
    expect(scanned(turned(FIVE, 130), at(128, 12n)).markHolds).to.equal(false);
  });

  it('has the first damage at or behind it', () => {
    const log = turned(turned(FIVE, 90), 190);
    const [first, second] = scanned(log).damages;
    for (const [position, damage] of [
      [32, first],
      [80, first],
      [81, second],
      [176, second],
      [177, null],
    ] as const) {
      expect(scanned(log, at(position, 10n)).afterMark, `mark at ${position}`).to.deep.equal(damage);
    }
    expect(scanned(log).afterMark).to.equal(null);
  });
});

describe('the entries of an index, as a scan judges them', () => {
  const judged = (log: Uint8Array, index: Uint8Array, asked: Asked = {}) => {
    const [first, ...others] = WINDOWS.map((windowBytes) => {
      const scan = scanned(log, { windowBytes, ...asked }, index);
      return {
        wrong: scan.entryMismatches.map(({ entry, offset, position, why }) => [entry, offset, Number(position), why]),
        checked: scan.checkedEntries,
        notJudged: scan.notJudgedEntries,
      };
    });
    for (const other of others) expect(other).to.deep.equal(first);
    return first;
  };
  const NO_RECORD = 'no record starts there';

  it('each must be the start of the record that it names', () => {
    const index = indexOf([10n, 32], [12n, 80], [13n, 127], [14n, 129], [15n, 224]);
    expect(judged(FIVE, index)).to.deep.equal({
      wrong: [
        [1, 12n, 80, 'the record there has offset 11'],
        [2, 13n, 127, NO_RECORD],
        [3, 14n, 129, NO_RECORD],
        [4, 15n, 224, 'the record there has offset 14'],
      ],
      checked: 5,
      notJudged: 0,
    });
    const high = logOf([plain((7n << 32n) + 1n), plain((7n << 32n) + 2n)]);
    const at = 32 + encodeRecord(plain((7n << 32n) + 1n)).length;
    expect(
      judged(high, indexOf([(6n << 32n) + 1n, 32], [(7n << 32n) + 2n, at]), { expected: null })?.wrong,
    ).to.deep.equal([[0, (6n << 32n) + 1n, 32, `the record there has offset ${(7n << 32n) + 1n}`]]);
  });

  it('those at or behind the end of the file point past it', () => {
    const index = indexOf([10n, 32], [11n, SIZE - 1], [12n, SIZE], [13n, SIZE + 1]);
    expect(judged(FIVE, index)).to.deep.equal({
      wrong: [
        [1, 11n, SIZE - 1, NO_RECORD],
        [2, 12n, SIZE, 'it points past the end'],
        [3, 13n, SIZE + 1, 'it points past the end'],
      ],
      checked: 4,
      notJudged: 0,
    });
  });

  it('those inside damage are not judged, and those in front of it are', () => {
    const index = indexOf([9n, 79], [10n, 80], [11n, 81], [12n, 127], [13n, 128], [14n, 176]);
    expect(judged(turned(FIVE, 90), index)).to.deep.equal({
      wrong: [
        [0, 9n, 79, NO_RECORD],
        [4, 13n, 128, 'the record there has offset 12'],
        [5, 14n, 176, 'the record there has offset 13'],
      ],
      checked: 3,
      notJudged: 3,
    });
  });

  it('are judged from the first one asked for on', () => {
    const index = indexOf([10n, 32], [11n, 80], [12n, 130], [14n, 224]);
    expect(judged(FIVE, index, { start: 80, expected: 11n, firstEntry: 1 })).to.deep.equal({
      wrong: [[2, 12n, 130, NO_RECORD]],
      checked: 3,
      notJudged: 0,
    });
    expect(judged(FIVE, index, { firstEntry: null })).to.deep.equal({ wrong: [], checked: 0, notJudged: 0 });
  });

  it('are told to the ten thousandth that is wrong; more are counted', () => {
    const index = indexOf(...Array.from({ length: 10_003 }, (_, i) => [BigInt(i), 33 + i] as const));
    const scan = scanned(logOf([plain(10n, { payloadLength: 20_000 })]), {}, index);
    expect(scan.entryMismatches).to.have.length(10_000);
    expect([scan.entryMismatchesOmitted, scan.checkedEntries]).to.deep.equal([3, 10_003]);
  });
});

describe('marks and times, as a scan notes them', () => {
  it('a kind of record that the version of the segment may not hold', () => {
    const records = [
      plain(10n),
      opens(11n, { producerId: 1n, sequence: 2n, len: 2 }),
      continues(12n),
      generationStart(13n, 4n),
    ];
    const { log, positions } = buildSegment({ records });
    const note = (i: number, recordKind: string) => ({ offset: 10n + BigInt(i), position: positions[i], recordKind });
    const early = [note(1, 'opens'), note(2, 'continues')];
    expect(scanned(log, { version: 2 }).kindViolations).to.deep.equal([...early, note(3, 'generation-start')]);
    expect(scanned(log, { version: 3 }).kindViolations).to.deep.equal([note(3, 'generation-start')]);
    expect(scanned(log, { version: 4 }).kindViolations).to.deep.equal([]);
  });

  it('a generation start of eight bytes tells its generation, and one of another length does not', () => {
    const payloads = [new Uint8Array(7), new Uint8Array([0, 0, 0, 1, 0, 0, 0, 2]), new Uint8Array(9), new Uint8Array()];
    const records = payloads.map((payload, i) => generationStart(10n + BigInt(i), 0n, { payload }));
    const { log, positions } = buildSegment({ records, version: 4 });
    for (const windowBytes of WINDOWS) {
      expect(scanned(log, { windowBytes }).generationStarts).to.deep.equal([
        { offset: 10n, position: positions[0], payloadLen: 7, generation: null },
        { offset: 11n, position: positions[1], payloadLen: 8, generation: (1n << 32n) + 2n },
        { offset: 12n, position: positions[2], payloadLen: 9, generation: null },
        { offset: 13n, position: positions[3], payloadLen: 0, generation: null },
      ]);
    }
  });

  it('are kept to the ten thousandth; more are counted', () => {
    const scan = scanned(logOf(Array.from({ length: 10_003 }, (_, i) => generationStart(10n + BigInt(i), 1n))), {
      version: 3,
    });
    expect([scan.generationStarts.length, scan.generationStartsOmitted]).to.deep.equal([10_000, 3]);
    expect([scan.kindViolations.length, scan.kindViolationsOmitted]).to.deep.equal([10_000, 3]);
  });

  it('a batch is opened by its tag, goes on record by record, and any other record abandons it', () => {
    const tag = { producerId: 2n ** 40n + 1n, sequence: 2n ** 41n + 2n, len: 3 };
    const open = { producer: tag.producerId, sequence: tag.sequence, len: 3, offset: 10n, position: 32, held: 1 };
    const behind = (...records: readonly LogRecord[]) => scanned(logOf([opens(10n, tag), ...records])).batches;
    const abandoned = { event: 'abandoned', batch: open, order: 32 };
    expect(behind()).to.deep.equal({ ...RECORDS_SEEN, open });
    expect(behind(continues(11n))).to.deep.equal({ ...RECORDS_SEEN, open: { ...open, held: 2 } });
    expect(behind(continues(11n), continues(12n))).to.deep.equal(RECORDS_SEEN);
    expect(behind(plain(11n), plain(12n))).to.deep.equal({ ...RECORDS_SEEN, events: [abandoned] });
    expect(behind(generationStart(11n, 4n))).to.deep.equal({ ...RECORDS_SEEN, events: [abandoned] });
    const empty = { payloadLength: 0 };
    const lone = scanned(
      logOf([
        opens(10n, tag, empty),
        continues(11n, empty),
        continues(12n, empty),
        continues(13n, empty),
        continues(14n, empty),
      ]),
    ).batches;
    expect(lone).to.deep.equal({ ...RECORDS_SEEN, orphan: { offset: 13n, position: 32 + 48 + 2 * 28, count: 2 } });
  });

  it('times that cannot be right, each sort with the first of them', () => {
    const sorts: readonly (readonly [micros: bigint, what: string | null])[] = [
      [0n, 'zero'],
      [1n, 'before 2000'],
      [YEAR_2000 / 1000n - 1n, 'before 2000'],
      [YEAR_2000 / 1000n, 'milliseconds'],
      [NOW / 1000n, 'milliseconds'],
      [(NOW + YEAR) / 1000n, 'milliseconds'],
      [(NOW + YEAR) / 1000n + 1n, 'before 2000'],
      [YEAR_2000 - 1n, 'before 2000'],
      [YEAR_2000, null],
      [NOW, null],
      [NOW + YEAR, null],
      [NOW + YEAR + 1n, 'over a year ahead'],
      [2n ** 63n, 'over a year ahead'],
      [2n ** 64n - 1n, 'over a year ahead'],
    ];
    const first = plain(10n);
    for (const [timestampMicros, what] of sorts) {
      const odd = plain(11n, { timestampMicros });
      const position = 32 + encodeRecord(first).length;
      const wanted = what === null ? [] : [{ what, count: 2, offset: 11n, position, timestampMicros }];
      const log = logOf([first, odd, plain(12n, { timestampMicros }), plain(13n)]);
      expect(scanned(log).oddities, `${timestampMicros}`).to.deep.equal(wanted);
    }
    const mixed = [0n, 1n, NOW / 1000n, 0n, 2n ** 63n, 1n, 0n];
    const counts = scanned(
      logOf(mixed.map((timestampMicros, i) => plain(10n + BigInt(i), { timestampMicros }))),
    ).oddities;
    expect(counts.map(({ what, count, offset }) => [what, count, offset])).to.deep.equal([
      ['zero', 3, 10n],
      ['before 2000', 2, 11n],
      ['milliseconds', 1, 12n],
      ['over a year ahead', 1, 14n],
    ]);
  });
});

describe('a scan that is shown to a visitor', () => {
  function shown(log: Uint8Array, windowBytes: number, asked: Asked = {}) {
    const seen: unknown[] = [];
    const scan = scanned(log, {
      windowBytes,
      visitor: {
        record: ({ start, data }, at, kind, end) =>
          void seen.push(['record', start + at, start + end, kind, data.getBigUint64(at + 4)]),
        longRecord: (head, position, end) =>
          void seen.push(['long', position, end, head.getUint32(0) >>> 29, head.getBigUint64(4)]),
        damage: ({ position, corruption }) => void seen.push([corruption.kind, position]),
      },
      ...asked,
    });
    return { seen, scan };
  }

  it('shows each record and each damage in the order of their positions', () => {
    const records = [plain(10n), generationStart(11n, 3n), plain(12n), plain(13n), plain(16n)];
    const { log, positions } = buildSegment({ records, version: 4 });
    const at = (i: number) => [positions[i], positions[i + 1] ?? log.length];
    for (const windowBytes of [100, 4096]) {
      expect(shown(turned(log, positions[2]! + 13), windowBytes).seen).to.deep.equal([
        ['record', ...at(0), 0, 10n],
        ['record', ...at(1), 1, 11n],
        ['RecordHeaderChecksum', positions[2]],
        ['record', ...at(3), 0, 13n],
        ['OffsetOutOfOrder', positions[4]],
        ['record', ...at(4), 0, 16n],
      ]);
    }
  });

  it('shows a record whole when the window can hold it, and in parts when it is longer by a byte', () => {
    for (const [length, how] of [
      [1023, 'record'],
      [1024, 'record'],
      [1025, 'long'],
      [5000, 'long'],
    ] as const) {
      const records = [plain(10n), plain(11n, { payloadLength: length - 28 }), plain(12n)];
      const { log, positions } = buildSegment({ records });
      const { seen, scan } = shown(log, 1024);
      expect(seen, `${length} bytes`).to.deep.equal([
        ['record', 32, positions[1], 0, 10n],
        [how, positions[1], positions[2], 0, 11n],
        ['record', positions[2], log.length, 0, 12n],
      ]);
      expect(scan).to.deep.include({ records: 3, damages: [], nextOffset: 13n });
    }
  });

  it('shows a long record that opens a batch with its tag', () => {
    const tag = { producerId: 5n, sequence: 6n, len: 7 };
    const log = logOf([plain(10n), opens(11n, tag, { payloadLength: 3000 })]);
    const { seen, scan } = shown(log, 64);
    expect(seen).to.have.length(2);
    expect(seen[1]).to.deep.equal(['long', log.length - 3048, log.length, 4, 11n]);
    expect(scan.batches.open).to.deep.include({ producer: 5n, sequence: 6n, len: 7 });
  });
});

describe('a scan of what cannot be read', () => {
  const FAILED = { code: 'EIO', message: 'i/o error, read' };
  const noise = (length: number) => bytesOfHex('5a'.repeat(length));

  it('ends damage where reading ended, and judges no entry behind', () => {
    const log = behindHeader(...plainRun(10n, 2, { payloadLength: 20 }).map(encodeRecord), noise(9000));
    const index = indexOf([10n, 32], [11n, 81], [12n, 200], [13n, 4095], [14n, 4096], [15n, 9000]);
    const scan = scanned(new UnreadableSource(log, 4096, 8192), { windowBytes: 1000 }, index);
    expect(scan).to.deep.include({
      stopped: { ...FAILED, position: 4096 },
      end: 4096,
      nextOffset: 12n,
      records: 2,
      damagedBytes: 4096 - 128,
      checkedEntries: 2,
      notJudgedEntries: 4,
    });
    expect(scan.damages).to.have.length(1);
    expect(scan.damages[0]).to.deep.include({ position: 128, end: 4096, resumedAt: null, lost: null });
    expect(scan.entryMismatches.map(({ entry }) => entry)).to.deep.equal([1]);
  });

  it('goes on without the entries of an index that cannot be read', () => {
    const index = indexOf([10n, 32], [11n, 81]);
    const scan = scanned(FIVE, {}, new UnreadableSource(index, 0, index.length));
    expect(scan).to.deep.equal(ALL);
  });

  it('holds no mark at the end of a file that was not read to it', () => {
    const log = logOf(plainRun(10n, 3, { payloadLength: 4000 }));
    const mark = { position: log.length, offset: 13n };
    expect(scanned(log, { mark }).markHolds).to.equal(true);
    const scan = scanned(new UnreadableSource(log, 8192, 9000), { mark });
    expect(scan).to.deep.include({
      markHolds: false,
      records: 2,
      end: 32 + 2 * 4028,
      stopped: { ...FAILED, position: 8192 },
    });
  });

  it('ends damage in front of a record that nobody knows to be intact', () => {
    const record = encodeRecord(plain(11n, { payloadLength: 20_000 }));
    const log = behindHeader(encodeRecord(plain(10n)), noise(60), record);
    const from = log.length - record.length;
    const scan = scanned(new UnreadableSource(log, 12_288, 16_384), { windowBytes: 4096 });
    expect(scan).to.deep.include({ end: from, records: 1, stopped: { ...FAILED, position: 12_288 } });
    expect(scan.damages[0]).to.deep.include({ position: from - 60, end: from, resumedAt: null, lost: null });
  });

  it('has a failed checksum end where its own record does, when what follows cannot be read', () => {
    const second = 32 + encodeRecord(plain(10n)).length;
    const end = 4096;
    const records = [plain(10n), plain(11n, { payloadLength: end - second - 28 }), plain(12n)];
    const log = turned(logOf(records), 4000);
    const scan = scanned(new UnreadableSource(log, end, log.length));
    expect(scan.damages).to.have.length(1);
    expect(scan.damages[0]).to.deep.include({ position: second, end, resumedAt: null, lost: { from: 11n, to: 12n } });
    expect(scan).to.deep.include({ end, records: 1, damagedBytes: end - second });
  });

  it('stops in front of a record of which the header can be read and the rest cannot', () => {
    const tag = { producerId: 5n, sequence: 6n, len: 7 };
    for (const readable of [28, 29, 48, 63, 64, 100]) {
      const first = plain(10n, { payloadLength: 4096 - 32 - 28 - readable });
      const log = logOf([first, opens(11n, tag, { payloadLength: 200 })]);
      const expected = { end: 4096 - readable, records: 1, damages: [], stopped: { ...FAILED, position: 4096 } };
      const visitor = { record() {}, longRecord() {}, damage() {} };
      const source = () => new UnreadableSource(log, 4096, log.length);
      for (const windowBytes of WINDOWS) {
        expect(scanned(source(), { windowBytes }), `${readable}`).to.deep.include(expected);
        expect(scanned(source(), { windowBytes, visitor }), `${readable}, shown`).to.deep.include(expected);
      }
    }
  });

  it('passes on what is no failure of a read', () => {
    const broken: ByteSource = {
      size: 500,
      readAt() {
        throw new TypeError('a bug');
      },
    };
    expect(() => scanned(broken)).to.throw(TypeError, 'a bug');
    expect(() => scanned(FIVE, {}, broken)).to.throw(TypeError, 'a bug');
  });
});

describe('claims of length that do not hold', () => {
  it('are read in full a few times, and then no more, and cost no record between and behind them', () => {
    const size = 5 * MIB;
    const parts: (readonly [position: number, bytes: Uint8Array])[] = [];
    const liars: number[] = [];
    let position = 32;
    for (let offset = 10n; offset < 50n; offset += 2n) {
      const record = encodeRecord(plain(offset, { payloadLength: offset === 40n ? 200_000 : 8 }));
      const liar = claiming(encodeRecord(plain(offset + 1n, { payloadLength: 0 })), 0, {
        word: size - position - record.length - 28 - 1,
      });
      parts.push([position, record], [position + record.length, liar]);
      liars.push(position + record.length);
      position += record.length + 28;
    }
    const source = new CountingSource(new FilledSource(size, 0, parts));
    const scan = scanned(source, { windowBytes: 64 * 1024 });
    expect(scan.damages.map(({ corruption, position }) => [corruption.kind, position])).to.deep.equal(
      // The last claim leaves one byte, and no record lies in front of its end.
      [...liars.map((liar) => ['RecordChecksum', liar]), ['Truncated', size - 1]],
    );
    expect(scan).to.deep.include({ records: 20, lastOffset: 48n });
    expect(source.bytesRead).to.be.below(8 * size);
  });
});
