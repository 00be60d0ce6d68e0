/** What is remembered of a clean segment, and what a later run makes of it without reading the records. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { RememberedRecords, RememberedSegment } from '../../src/domain/checkpoint.js';
import { concatBytes } from '../../src/format/bytes.js';
import { encodeIndex } from '../../src/format/index.js';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { headerText, recalledScan, rememberable } from '../../src/scan/remembered.js';
import { type SegmentScan, scanSegmentFile } from '../../src/scan/segment-file.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { continues, generationStart, opens, plain, plainRun, sequence, timestampOf } from '../builders/records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import { withTempDir } from '../builders/trees.js';

const SETTINGS = { nowMicros: timestampOf(0n) + 86_400_000_000n };
const TAG = { producerId: 5n, sequence: 6n, len: 3 };
const DAMAGE = {
  corruption: { kind: 'RecordChecksum', expected: '0x0', found: '0x1' },
  position: 80,
  end: 80,
} as const;

function scanned(log: Uint8Array, index: Uint8Array | null): SegmentScan {
  const walk = scanSegmentFile(new MemorySource(log), index && new MemorySource(index), SETTINGS);
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}

/** A generation, zero times, a lone continuing record, an abandoned batch and one that stays open. */
const RICH = buildSegment({
  version: 4,
  indexSpacing: 100,
  records: [
    generationStart(10n, 9n),
    plain(11n, { timestampMicros: 0n }),
    plain(12n, { timestampMicros: 0n }),
    continues(13n),
    opens(14n, TAG),
    plain(15n),
    opens(16n, TAG),
    continues(17n),
  ],
});

describe('what is remembered of a segment', () => {
  it('is what it gives to the rest of a check', () => {
    const [start, zero] = RICH.positions;
    const open = { producer: 5n, sequence: 6n, len: 3 };
    const [lone, abandoned, left] = [3, 4, 6].map((i) => RICH.positions[i]!) as [number, number, number];
    expect(rememberable(scanned(RICH.log, RICH.index))).to.deep.equal({
      records: 8,
      nextOffset: 18n,
      firstOffset: 10n,
      lastOffset: 17n,
      firstTimestampMicros: timestampOf(10n),
      lastTimestampMicros: timestampOf(17n),
      markHolds: true,
      checkedEntries: (RICH.index.length - 24) / 16,
      generationStarts: [{ offset: 10n, position: start, payloadLen: 8, generation: 9n }],
      zeroTimestamps: { offset: 11n, position: zero, count: 2 },
      batches: {
        leading: null,
        first: 'record',
        events: [
          { event: 'orphan', run: { offset: 13n, position: lone, count: 1 }, order: lone },
          { event: 'abandoned', batch: { ...open, offset: 14n, position: abandoned, held: 1 }, order: abandoned },
        ],
        open: { ...open, offset: 16n, position: left, held: 2 },
        orphan: null,
      },
    });
    const { log } = buildSegment({ records: [continues(10n), continues(11n)] });
    expect(rememberable(scanned(log, null))).to.deep.include({
      markHolds: false,
      zeroTimestamps: null,
      batches: { leading: { offset: 10n, position: 32, count: 2 }, first: null, events: [], open: null, orphan: null },
    });
  });

  it('is nothing unless its header, its index and every record are as a writer leaves them', () => {
    const clean = scanned(RICH.log, RICH.index);
    const records = clean.records!;
    const { batches } = records;
    const [event] = batches.events;
    const with200 = { ...records, batches: { ...batches, events: Array(200).fill(event) } };
    const note = { offset: 1n, position: 40 };
    const start = { ...note, payloadLen: 8, generation: 1n };
    const of = (changed: Partial<RangeScan>): SegmentScan => ({ ...clean, records: { ...records, ...changed } });
    const ofHead = (changed: Partial<SegmentScan['head']>): SegmentScan => ({
      ...clean,
      head: { ...clean.head, ...changed },
    });
    const ofIndex = (changed: object) => ofHead({ index: { ...clean.head.index!, ...changed } });
    const problem = { code: 'EIO', message: 'i/o error, read', position: 500 };
    const damage = { ...DAMAGE, resumedAt: null, claimedEnd: null, offset: null, lost: null, recordsBefore: 0 };
    const violation = { ...note, recordKind: 'opens' } as const;
    const mismatch = { entry: 0, offset: 1n, position: 1n, why: '' };
    const odd = (what: 'zero' | 'before 2000') => ({ what, count: 1, ...note, timestampMicros: 1n });
    for (const [what, scan, kept] of [
      ['a clean one', clean, true],
      ['records unseen', { ...clean, records: null }, false],
      ['no header', ofHead({ header: null }), false],
      ['a reserved word', ofHead({ header: { ...clean.head.header!, reserved: 1 } }), false],
      ['an unread header', ofHead({ problem }), false],
      ['an unread index', ofHead({ index: null, indexProblem: problem }), false],
      ['no index', ofHead({ index: null, indexUsable: false }), true],
      ['an index of no use', ofHead({ indexUsable: false }), false],
      ['a dropped entry', ofIndex({ dropped: [{ entry: 1, offset: 1n, position: 1n, why: '' }] }), false],
      ['dropped entries uncounted', ofIndex({ droppedOmitted: 1 }), false],
      ['a torn index', ofIndex({ tornBytes: 1 }), false],
      ['an unread end', of({ stopped: problem }), false],
      ['another end', of({ end: records.end - 1 }), false],
      ['damage', of({ damages: [damage] }), false],
      ['damage beyond the list', of({ omitted: new Map([['RecordChecksum', 1]]) }), false],
      ['damaged bytes', of({ damagedBytes: 1 }), false],
      ['one damage of one byte', of({ damages: [damage], damagedBytes: 1 }), false],
      ['one damage and one more', of({ damages: [damage], omitted: new Map([['RecordChecksum', 1]]) }), false],
      ['a kind that may not be', of({ kindViolations: [violation] }), false],
      ['one of those and one more', of({ kindViolations: [violation], kindViolationsOmitted: 1 }), false],
      ['more of those', of({ kindViolationsOmitted: 1 }), false],
      ['a wrong entry', of({ entryMismatches: [mismatch] }), false],
      ['one of those and one more', of({ entryMismatches: [mismatch], entryMismatchesOmitted: 1 }), false],
      ['one of those and one not judged', of({ entryMismatches: [mismatch], notJudgedEntries: 1 }), false],
      ['more of those', of({ entryMismatchesOmitted: 1 }), false],
      ['an entry not judged', of({ notJudgedEntries: 1 }), false],
      ['200 generations', of({ generationStarts: Array(200).fill(start) }), true],
      ['201 generations', of({ generationStarts: Array(201).fill(start) }), false],
      ['generations beyond the list', of({ generationStartsOmitted: 1 }), false],
      ['times of zero', of({ oddities: [odd('zero')] }), true],
      ['other odd times', of({ oddities: [odd('zero'), odd('before 2000')] }), false],
      ['200 events', of(with200), true],
      ['201 events', of({ batches: { ...batches, events: Array(201).fill(event) } }), false],
      ['events beyond the list', of({ batches: { ...batches, omitted: 1 } }), false],
      ['a batch cut by damage', of({ batches: { ...batches, unknown: true } }), false],
      ['damage in front', of({ batches: { ...batches, first: 'damage' } }), false],
      ['a last entry that does not hold', of({ markHolds: false }), false],
      ['no scan from it', { ...clean, resumed: null }, false],
      ['a scan from it that fails', { ...clean, resumed: { ...clean.resumed!, failure: DAMAGE } }, false],
    ] as const) {
      expect(rememberable(scan as SegmentScan) !== null, what).to.equal(kept);
    }
  });
});

describe('a remembered segment', () => {
  const knownBy = (scan: SegmentScan): RememberedSegment => ({
    verifiedAtMicros: 0n,
    log: { device: 1n, inode: 2n, size: scan.size, mtimeNs: 3n },
    index: null,
    header: headerText(scan.head),
    records: rememberable(scan)!,
    sums: [],
  });
  const known = ({ log, index }: BuiltSegment) => knownBy(scanned(log, index));
  const withRecords = (remembered: RememberedSegment, records: Partial<RememberedRecords>): RememberedSegment => ({
    ...remembered,
    records: { ...remembered.records, ...records },
  });
  /** What is recalled of a segment with these files. */
  const recalled = (log: Uint8Array, index: Uint8Array | null, remembered: RememberedSegment) =>
    withTempDir(async (dir) => {
      const [logPath, indexPath] = [path.join(dir, 'a.log'), path.join(dir, 'a.index')];
      writeFileSync(logPath, log);
      if (index !== null) writeFileSync(indexPath, index);
      const job = {
        path: logPath,
        size: log.length,
        index: index && { path: indexPath, size: index.length },
        settings: SETTINGS,
      };
      return recalledScan(job, remembered);
    });

  it('is what a whole look at it would give', async () => {
    const batched = buildSegment({ records: sequence(10n, [{ ...TAG, len: 2 }, 3]) });
    for (const segment of [RICH, batched, buildSegment({ records: plainRun(10n, 5) }), buildSegment({ records: [] })]) {
      const scan = scanned(segment.log, segment.index);
      const again = await recalled(segment.log, segment.index, known(segment));
      expect(again).to.deep.equal({ ...scan, records: { ...scan.records, bytesRead: 0 } });
    }
    const { log } = buildSegment({ records: [continues(10n), plain(11n), continues(12n), continues(13n)] });
    const alone = scanned(log, null);
    const again = await recalled(log, null, knownBy(alone));
    expect(again).to.deep.equal({ ...alone, records: { ...alone.records, bytesRead: 0 } });
  });

  it('has memory of its own, so that what is remembered stays as it was', async () => {
    const remembered = known(RICH);
    const as = structuredClone(remembered);
    const { records } = (await recalled(RICH.log, RICH.index, remembered))!;
    records!.generationStarts.length = 0;
    records!.batches.open!.held = 99;
    records!.batches.events.length = 0;
    expect(remembered).to.deep.equal(as);
    const orphan = { offset: 1n, position: 40, count: 1 };
    const leading = { offset: 2n, position: 50, count: 1 };
    const batches = { ...remembered.records.batches, orphan, leading };
    const other = (await recalled(RICH.log, RICH.index, withRecords(remembered, { batches })))!;
    expect(other.records!.batches).to.deep.include({ orphan, leading, omitted: 0, unknown: false });
    other.records!.batches.orphan!.count = 7;
    other.records!.batches.leading!.count = 7;
    for (const event of other.records!.batches.events) {
      if (event.event === 'orphan') event.run.count = 7;
      else event.batch.held = 7;
    }
    expect([orphan.count, leading.count]).to.deep.equal([1, 1]);
    expect(remembered).to.deep.equal(as);
  });

  it('is read anew when its header or its index is not what it was, or cannot be read', async () => {
    const remembered = known(RICH);
    const created = RICH.log.slice();
    const other = buildSegment({ ...RICH, createdAtMicros: RICH.createdAtMicros + 1n });
    created.set(other.log.subarray(0, 32));
    expect(await recalled(created, RICH.index, remembered)).to.equal(null);
    expect(await recalled(RICH.log, concatBytes([RICH.index, new Uint8Array(5)]), remembered)).to.equal(null);
    expect(await recalled(RICH.log, encodeIndex(3n, []), remembered)).to.equal(null);
    const broken = RICH.log.slice();
    broken[0]! ^= 1;
    expect(await recalled(broken, RICH.index, remembered)).to.equal(null);
    const unmarked = withRecords(remembered, { markHolds: false });
    expect(await recalled(RICH.log, RICH.index, unmarked)).to.equal(null);
    const past = encodeIndex(10n, [{ offset: 18n, position: BigInt(RICH.log.length + 1) }]);
    expect(await recalled(RICH.log, past, unmarked)).to.equal(null);
    expect(await recalled(RICH.log, null, unmarked)).to.not.equal(null);
    // What a broker meets behind the last entry would have to be read, without a next offset.
    expect(await recalled(RICH.log, RICH.index, withRecords(remembered, { nextOffset: null }))).to.equal(null);
    const gone = await recalledScan({ path: '/nowhere/a.log', size: 100, index: null, settings: SETTINGS }, remembered);
    expect(gone).to.equal(null);
  });
});
