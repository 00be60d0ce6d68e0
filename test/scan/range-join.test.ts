import { expect } from 'chai';
import { joinRange } from '../../src/scan/range-join.js';
import type { Damage, RangeScan } from '../../src/scan/range-scan.js';
import { rangeScan } from '../builders/range-scans.js';

const damage = (position: number, recordsBefore: number, kind: 'RecordChecksum' | 'OffsetOutOfOrder'): Damage => ({
  corruption:
    kind === 'RecordChecksum'
      ? { kind, expected: '0x00000001', found: '0x00000002' }
      : { kind, expected: 1n, found: 2n },
  position,
  end: position + 10,
  resumedAt: null,
  claimedEnd: null,
  offset: null,
  lost: null,
  recordsBefore,
});
const start = (position: number) => ({ offset: 1n, position, payloadLen: 8, generation: 3n });
const violation = (position: number) => ({ offset: 1n, position, recordKind: 'opens' }) as const;
const mismatch = (entry: number) => ({ entry, offset: 1n, position: 2n, why: 'no record starts there' });
const SEEN = { ...rangeScan().batches, first: 'record' } as const;
const OPEN = { producer: 1n, sequence: 2n, len: 2, offset: 3n, position: 40, held: 1 };

/** Two neighbours: the first ends at 500, where offset 20 is due. */
function inFront(): RangeScan {
  return rangeScan({
    end: 500,
    nextOffset: 20n,
    records: 7,
    damagedBytes: 10,
    firstOffset: 10n,
    lastOffset: 19n,
    firstTimestampMicros: 100n,
    lastTimestampMicros: 190n,
    damages: [damage(100, 3, 'RecordChecksum')],
    omitted: new Map([['RecordChecksum', 2]]),
    generationStarts: [start(60)],
    generationStartsOmitted: 1,
    kindViolations: [violation(60)],
    kindViolationsOmitted: 2,
    oddities: [{ what: 'zero', count: 2, offset: 11n, position: 70, timestampMicros: 0n }],
    batches: { ...SEEN },
    entryMismatches: [mismatch(1)],
    entryMismatchesOmitted: 3,
    checkedEntries: 4,
    notJudgedEntries: 5,
    bytesRead: 600,
  });
}

function behind(found: Partial<RangeScan> = {}): RangeScan {
  return rangeScan({
    start: 500,
    end: 900,
    nextOffset: 31n,
    records: 11,
    damagedBytes: 20,
    firstOffset: 20n,
    lastOffset: 30n,
    firstTimestampMicros: 200n,
    lastTimestampMicros: 300n,
    damages: [damage(600, 4, 'OffsetOutOfOrder')],
    omitted: new Map([
      ['RecordChecksum', 5],
      ['Truncated', 1],
    ]),
    afterMark: damage(700, 6, 'RecordChecksum'),
    markHolds: true,
    generationStarts: [start(560)],
    generationStartsOmitted: 10,
    kindViolations: [violation(560)],
    kindViolationsOmitted: 20,
    oddities: [
      { what: 'milliseconds', count: 1, offset: 21n, position: 520, timestampMicros: 5n },
      { what: 'zero', count: 3, offset: 22n, position: 530, timestampMicros: 0n },
    ],
    batches: { ...SEEN },
    entryMismatches: [mismatch(9)],
    entryMismatchesOmitted: 30,
    checkedEntries: 40,
    notJudgedEntries: 50,
    bytesRead: 700,
    ...found,
  });
}

describe('scan/range-join', () => {
  it('makes of two neighbours what one scan of both would have found', () => {
    const scan = inFront();
    expect(joinRange(scan, behind(), 20n)).to.equal(true);
    expect(scan).to.deep.equal(
      rangeScan({
        end: 900,
        nextOffset: 31n,
        records: 18,
        damagedBytes: 30,
        firstOffset: 10n,
        lastOffset: 30n,
        firstTimestampMicros: 100n,
        lastTimestampMicros: 300n,
        damages: [damage(100, 3, 'RecordChecksum'), damage(600, 11, 'OffsetOutOfOrder')],
        omitted: new Map([
          ['RecordChecksum', 7],
          ['Truncated', 1],
        ]),
        afterMark: damage(700, 13, 'RecordChecksum'),
        markHolds: true,
        generationStarts: [start(60), start(560)],
        generationStartsOmitted: 11,
        kindViolations: [violation(60), violation(560)],
        kindViolationsOmitted: 22,
        oddities: [
          { what: 'zero', count: 5, offset: 11n, position: 70, timestampMicros: 0n },
          { what: 'milliseconds', count: 1, offset: 21n, position: 520, timestampMicros: 5n },
        ],
        batches: { ...SEEN },
        entryMismatches: [mismatch(1), mismatch(9)],
        entryMismatchesOmitted: 33,
        checkedEntries: 44,
        notJudgedEntries: 55,
        bytesRead: 1300,
      }),
    );
  });

  it('keeps what the first one has, and takes from the second what the first has not', () => {
    const marked = { ...inFront(), afterMark: damage(100, 3, 'RecordChecksum'), markHolds: true };
    joinRange(marked, behind({ markHolds: false, lastOffset: null, lastTimestampMicros: null }), 20n);
    expect(marked).to.deep.include({
      afterMark: damage(100, 3, 'RecordChecksum'),
      markHolds: true,
      lastOffset: 19n,
      lastTimestampMicros: 190n,
    });
    const empty = rangeScan({ end: 500, nextOffset: 20n });
    joinRange(empty, behind({ afterMark: null }), 20n);
    expect(empty).to.deep.include({
      firstOffset: 20n,
      lastOffset: 30n,
      firstTimestampMicros: 200n,
      lastTimestampMicros: 300n,
      afterMark: null,
      records: 11,
    });
  });

  it('refuses one that begins elsewhere, with another offset, or beyond the batch that it continues', () => {
    const beyond = { ...SEEN, leading: { offset: 20n, position: 500, count: 2 } };
    for (const [first, next, expected] of [
      [inFront(), behind({ start: 501 }), 20n],
      [inFront(), behind({ start: 499 }), 20n],
      [inFront(), behind(), 21n],
      [inFront(), behind(), null],
      [{ ...inFront(), batches: { ...SEEN, open: { ...OPEN } } }, behind({ batches: beyond }), 20n],
    ] as const) {
      const as = structuredClone(first);
      expect(joinRange(first, next, expected)).to.equal(false);
      expect(first).to.deep.equal(as);
    }
  });

  it('adds nothing behind a range that could not be read to its end', () => {
    const stopped = { ...inFront(), stopped: { code: 'EIO', message: 'i/o error, read', position: 500 } };
    const as = structuredClone(stopped);
    expect(joinRange(stopped, behind(), 20n)).to.equal(true);
    expect(joinRange(stopped, behind({ start: 7 }), 1n)).to.equal(true);
    expect(stopped).to.deep.equal(as);
    const next = inFront();
    joinRange(next, behind({ stopped: stopped.stopped }), 20n);
    expect(next.stopped).to.deep.equal(stopped.stopped);
  });

  it('keeps ten thousand of each list, and counts what was left out', () => {
    const many = <T>(count: number, of: (i: number) => T) => Array.from({ length: count }, (_, i) => of(i));
    for (const room of [0, 1, 2, 3]) {
      const full = 10_000 - room;
      const scan = rangeScan({
        end: 500,
        nextOffset: 20n,
        records: 7,
        damages: many(full, (i) => damage(i, i, 'RecordChecksum')),
        generationStarts: many(full, start),
        kindViolations: many(full, violation),
        entryMismatches: many(full, mismatch),
      });
      const next = behind({
        damages: [1, 2].map((i) => damage(600 + i, i, 'RecordChecksum')),
        omitted: new Map([['RecordChecksum', 1]]),
        generationStarts: [start(601), start(602)],
        generationStartsOmitted: 10,
        kindViolations: [violation(601), violation(602)],
        kindViolationsOmitted: 20,
        entryMismatches: [mismatch(601), mismatch(602)],
        entryMismatchesOmitted: 30,
      });
      joinRange(scan, next, 20n);
      const taken = Math.min(2, room);
      const added = [601, 602].slice(0, taken);
      const label = `room for ${room}`;
      expect(scan.damages.slice(full), label).to.deep.equal(
        [1, 2].slice(0, taken).map((i) => damage(600 + i, 7 + i, 'RecordChecksum')),
      );
      expect(scan.omitted.get('RecordChecksum'), label).to.equal(1 + 2 - taken);
      expect(scan.generationStarts.slice(full), label).to.deep.equal(added.map(start));
      expect(scan.generationStartsOmitted, label).to.equal(10 + 2 - taken);
      expect(scan.kindViolations.slice(full), label).to.deep.equal(added.map(violation));
      expect(scan.kindViolationsOmitted, label).to.equal(20 + 2 - taken);
      expect(scan.entryMismatches.slice(full), label).to.deep.equal(added.map(mismatch));
      expect(scan.entryMismatchesOmitted, label).to.equal(30 + 2 - taken);
    }
  });
});
