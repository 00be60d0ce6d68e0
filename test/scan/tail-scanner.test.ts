/** The look at the end of a segment, from the last entry of its index that holds. */
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { writeU16, writeU32 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { encodeIndex } from '../../src/format/index.js';
import { encodeRecord } from '../../src/format/record.js';
import type { SegmentAnswer } from '../../src/scan/scanner.js';
import type { SegmentScan } from '../../src/scan/segment-file.js';
import { TailScanner } from '../../src/scan/tail-scanner.js';
import { plain, plainRun, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { withTempDir } from '../builders/trees.js';

const MIB = 1024 * 1024;
const NOW = timestampOf(0n) + 86_400_000_000n;
/** Twelve records of 48 bytes from offset 10 on, at 32, 80, …, 560, with an entry for each. */
const TWELVE = buildSegment({ records: plainRun(10n, 12, { payloadLength: 20 }), indexSpacing: 1 });
const SIZE = 608;
const at = (record: number) => 32 + 48 * record;

function turned(bytes: Uint8Array, ...places: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const place of places) copy[place]! ^= 1;
  return copy;
}

const indexOf = (...entries: readonly (readonly [offset: bigint, position: number])[]) =>
  encodeIndex(
    10n,
    entries.map(([offset, position]) => ({ offset, position: BigInt(position) })),
  );

/** What is said of a segment with these bytes, whatever the window, and the bytes that count as passed. */
async function looked(log: Uint8Array, index: Uint8Array | null = TWELVE.index) {
  return withTempDir(async (dir) => {
    const [logPath, indexPath] = [path.join(dir, 'a.log'), path.join(dir, 'a.index')];
    writeFileSync(logPath, log);
    if (index !== null) writeFileSync(indexPath, index);
    const answers: SegmentAnswer[] = [];
    let passed = 0;
    for (const windowBytes of [undefined, 64]) {
      const scanner = new TailScanner(new AbortController().signal);
      answers.push(
        await scanner.scan({
          path: logPath,
          size: log.length,
          index: index && { path: indexPath, size: index.length },
          settings: windowBytes === undefined ? { nowMicros: NOW } : { nowMicros: NOW, windowBytes },
        }),
      );
      passed = scanner.passedBytes();
      await scanner.close();
    }
    const [scan, other] = answers.map((answer) => {
      if (answer.is !== 'scanned') throw new Error(answer.is);
      const { records } = answer.scan;
      return { ...answer.scan, records: records && { ...records, bytesRead: 0 } };
    }) as [SegmentScan, SegmentScan];
    expect(other).to.deep.equal(scan);
    return { scan, records: scan.records!, passed };
  });
}

const places = ({ records }: { records: NonNullable<SegmentScan['records']> }) =>
  records.damages.map(({ corruption, position, recordsBefore }) => [corruption.kind, position, recordsBefore]);

describe('scan/tail-scanner', () => {
  it('reads from the last entry, and takes the rest from offsets and the first record', async () => {
    const { scan, records, passed } = await looked(TWELVE.log);
    expect(records).to.deep.include({
      start: at(11),
      end: SIZE,
      records: 12,
      nextOffset: 22n,
      firstOffset: 10n,
      lastOffset: 21n,
      firstTimestampMicros: timestampOf(10n),
      lastTimestampMicros: timestampOf(21n),
      damages: [],
      markHolds: true,
      checkedEntries: 1,
      entryMismatches: [],
    });
    expect(scan.size).to.equal(SIZE);
    expect(scan.head.header!.baseOffset).to.equal(10n);
    expect(scan.resumed).to.deep.equal({ position: at(11), nextOffset: 22n, failure: null, stopped: false });
    expect(passed).to.be.within(1, SIZE);
  });

  it('does not meet damage in the middle, and tells that at the end with the records in front of it', async () => {
    const early = indexOf([10n, 32], [15n, at(5)]);
    const middle = await looked(turned(TWELVE.log, at(3)), early);
    expect(middle.records).to.deep.include({ start: at(5), records: 12, damages: [] });
    const end = await looked(turned(TWELVE.log, at(7) + 40, at(9)), early);
    expect(places(end)).to.deep.equal([
      ['RecordChecksum', at(7), 7],
      ['RecordHeaderChecksum', at(9), 8],
    ]);
    expect(end.records.records).to.equal(10);
    expect(end.scan.resumed).to.deep.include({ position: at(5), nextOffset: 22n, stopped: false });
    expect(end.scan.resumed!.failure).to.deep.include({ position: at(7) });
  });

  it('tells damage of the first record with that of the end, and believes nothing of it', async () => {
    const end = await looked(turned(TWELVE.log, 40, at(9)), indexOf([10n, 32], [15n, at(5)]));
    expect(places(end)).to.deep.equal([
      ['RecordHeaderChecksum', 32, 0],
      ['RecordHeaderChecksum', at(9), 9],
    ]);
    expect(end.records).to.deep.include({ firstOffset: null, firstTimestampMicros: null, lastOffset: 21n });
    const body = await looked(turned(TWELVE.log, 70), indexOf([10n, 32], [15n, at(5)]));
    expect(places(body)).to.deep.equal([['RecordChecksum', 32, 0]]);
    expect(body.records).to.deep.include({ firstOffset: null, firstTimestampMicros: null, records: 12 });
    // An entry of another offset does not tell what the first record is.
    const order = buildSegment({ baseOffset: 10n, records: [plain(11n), ...plainRun(12n, 5)] });
    const { records } = await looked(order.log, indexOf([13n, order.positions[2]!]));
    expect(records.damages.map(({ corruption }) => corruption)).to.deep.equal([
      { kind: 'OffsetOutOfOrder', expected: 10n, found: 11n },
    ]);
    expect(records).to.deep.include({ firstOffset: null, records: 7 });
    const first = await looked(order.log, indexOf([11n, 32]));
    expect(first.records).to.deep.include({ start: 32, records: 6, firstOffset: 11n });
    expect(places(first)).to.deep.equal([['OffsetOutOfOrder', 32, 0]]);
  });

  it('passes over entries that do not hold for the ones in front of them', async () => {
    const lies = [
      [19n, at(8)],
      [20n, at(9) + 1],
      [25n, SIZE],
      [26n, SIZE + 50],
    ] as const;
    const { scan, records } = await looked(TWELVE.log, indexOf([10n, 32], [12n, at(2)], [15n, at(5)], ...lies));
    expect(records.start).to.equal(at(5));
    expect(records.damages).to.deep.equal([]);
    expect(records.entryMismatches.map(({ entry, why }) => [entry, why])).to.deep.equal([
      [3, 'the record there has offset 18'],
      [4, 'no record starts there'],
      [5, 'it points past the end'],
      [6, 'it points past the end'],
    ]);
    expect(records.checkedEntries).to.equal(5);
    expect(scan.resumed).to.deep.include({ position: SIZE + 50, nextOffset: 26n });
    // A damaged record is no place to begin at, nor is one whose entry has another offset.
    expect((await looked(turned(TWELVE.log, at(11) + 40))).records.start).to.equal(at(10));
  });

  it('tries eight entries, and then begins at the first record', async () => {
    const bad = (count: number) => turned(TWELVE.log, ...Array.from({ length: count }, (_, i) => at(11 - i) + 40));
    expect((await looked(bad(7))).records.start).to.equal(at(4));
    const start = await looked(bad(8));
    expect(start.records).to.deep.include({
      start: 32,
      records: 4,
      checkedEntries: 4,
      notJudgedEntries: 8,
      firstOffset: 10n,
    });
    expect(places(start)).to.have.length(8);
  });

  it('begins at the last whole record, however short the torn one behind it is', async () => {
    for (const left of [1, 27, 28, 40]) {
      const { records, scan } = await looked(TWELVE.log.slice(0, at(11) + left), indexOf([10n, 32], [20n, at(10)]));
      expect(records, `${left} bytes`).to.deep.include({ start: at(10), records: 11, nextOffset: 21n });
      expect(places({ records })).to.deep.equal([['Truncated', at(11), 11]]);
      expect(scan.resumed).to.deep.include({ position: at(10), nextOffset: 21n });
    }
  });

  it('begins at the first record where there is no entry behind it', async () => {
    const whole = { start: 32, records: 12, firstOffset: 10n, nextOffset: 22n, damages: [] };
    for (const [index, checkedEntries] of [
      [null, 0],
      [encodeIndex(10n, []), 0],
      [indexOf([10n, 32]), 1],
      [encodeIndex(11n, [{ offset: 15n, position: BigInt(at(5)) }]), 0],
      [turned(TWELVE.index, 0), 0],
    ] as const) {
      expect((await looked(TWELVE.log, index)).records).to.deep.include({ ...whole, checkedEntries });
    }
    const headless = await looked(turned(TWELVE.log, 0));
    expect(headless.records).to.deep.include({ ...whole, checkedEntries: 0 });
  });

  it('notes no kind of record that the version may hold', async () => {
    const marked = buildSegment({ version: 2, records: [...plainRun(10n, 3), { ...plain(13n), kind: 'continues' }] });
    const { records } = await looked(marked.log, indexOf([10n, 32], [12n, marked.positions[2]!]));
    expect(records.kindViolations.map(({ offset }) => offset)).to.deep.equal([13n]);
    const headless = turned(marked.log, 0);
    expect((await looked(headless, null)).records.kindViolations).to.deep.equal([]);
  });

  it('says nothing of records behind the header of another build, or without a header', async () => {
    const other = TWELVE.log.slice();
    writeU16(other, 4, 9);
    writeU32(other, 24, crc32(other.subarray(0, 24)));
    expect(await looked(other)).to.have.property('records', null);
    const short = (await looked(TWELVE.log.slice(0, 31), null)).scan;
    expect(short).to.deep.include({ size: 31, records: null, resumed: null });
    expect((await looked(TWELVE.log.slice(0, 32), null)).records).to.deep.include({ records: 0, nextOffset: 10n });
  });

  it('says nothing of records where the header cannot be read', () =>
    withTempDir(async (dir) => {
      const log = path.join(dir, 'a.log');
      writeFileSync(log, new Uint8Array());
      const scanner = new TailScanner(new AbortController().signal);
      const answer = await scanner.scan({ path: log, size: 100, index: null, settings: { nowMicros: NOW } });
      expect(answer).to.have.nested.property('scan.head.problem.code', 'SHRANK');
      expect(answer).to.have.nested.property('scan.records', null);
    }));

  it('reads the tail of a segment, however large that is', () =>
    withTempDir(async (dir) => {
      const [log, index] = [path.join(dir, 'a.log'), path.join(dir, 'a.index')];
      const last = encodeRecord(plain(15n));
      const start = 700 * MIB;
      const descriptor = openSync(log, 'w');
      writeSync(descriptor, TWELVE.log.subarray(0, at(1)));
      writeSync(descriptor, last, 0, last.length, start);
      closeSync(descriptor);
      const bytes = indexOf([10n, 32], [15n, start]);
      writeFileSync(index, bytes);
      const scanner = new TailScanner(new AbortController().signal);
      const answer = await scanner.scan({
        path: log,
        size: start + last.length,
        index: { path: index, size: bytes.length },
        settings: { nowMicros: NOW },
      });
      if (answer.is !== 'scanned') throw new Error(answer.is);
      expect(answer.scan.records).to.deep.include({
        start,
        records: 6,
        firstOffset: 10n,
        lastOffset: 15n,
        damages: [],
      });
    }));

  it('says nothing of records where the way from the start is too long', () =>
    withTempDir(async (dir) => {
      const log = path.join(dir, 'a.log');
      const size = 32 + 512 * MIB + 1;
      const descriptor = openSync(log, 'w');
      writeSync(descriptor, TWELVE.log);
      ftruncateSync(descriptor, size);
      closeSync(descriptor);
      const scanner = new TailScanner(new AbortController().signal);
      const answer = await scanner.scan({ path: log, size, index: null, settings: { nowMicros: NOW } });
      expect(answer).to.have.nested.property('scan.records', null);
      expect(answer).to.have.nested.property('scan.size', size);
      expect(scanner.passedBytes()).to.equal(0);
    }));

  it('is interrupted by its signal, before and between windows, and says what cannot be opened', () =>
    withTempDir(async (dir) => {
      const log = path.join(dir, 'a.log');
      writeFileSync(log, TWELVE.log);
      const job = { path: log, size: SIZE, index: null, settings: { nowMicros: NOW, windowBytes: 64 } };
      for (const name of [log, path.join(dir, 'b.log')]) {
        const answer = await new TailScanner(AbortSignal.abort()).scan({ ...job, path: name });
        expect(answer).to.deep.equal({ is: 'interrupted' });
      }
      const controller = new AbortController();
      const answer = new TailScanner(controller.signal).scan(job);
      setImmediate(() => setImmediate(() => controller.abort()));
      expect(await answer).to.deep.equal({ is: 'interrupted' });
      const gone = await new TailScanner(new AbortController().signal).scan({ ...job, path: path.join(dir, 'b.log') });
      expect(gone).to.deep.equal({
        is: 'unreadable',
        problem: { code: 'ENOENT', message: 'no such file or directory', position: 0 },
      });
    }));
});
