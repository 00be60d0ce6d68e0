import { expect } from 'chai';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { TEST_NOW_MICROS } from '../corpus/checked.js';
import { damagedSegment } from './random-segments.js';
import { type ReferenceScan, referenceScan } from './reference-scan.js';

/** Seeds in each test; more of them with FELIX_FSCK_SEEDS. */
const RUNS = Number(process.env['FELIX_FSCK_SEEDS'] ?? 2500);
const WINDOWS: readonly number[] = [64, 65, 100, 4096, 1 << 20];

function scanned(log: Uint8Array, windowBytes: number): RangeScan {
  const steps = scanSegmentFile(new MemorySource(log), null, { nowMicros: TEST_NOW_MICROS, windowBytes });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value.records!;
  }
}

function said(scan: RangeScan): ReferenceScan {
  return {
    damages: scan.damages.map(({ corruption, position, end, resumedAt, lost }) => ({
      kind: corruption.kind,
      position,
      end,
      resumedAt,
      lost: lost === null ? null : [lost.from, lost.to],
    })),
    records: scan.records,
    nextOffset: scan.nextOffset!,
  };
}

describe('the scan against its rules', () => {
  it('says of damaged segments what the rules say, word for word', () => {
    const kinds = new Map<string, number>();
    for (let seed = 0; seed < RUNS; seed++) {
      const { healthy, log } = damagedSegment(seed);
      const expected = referenceScan(log, healthy.baseOffset);
      const windowBytes = WINDOWS[seed % WINDOWS.length]!;
      expect(said(scanned(log, windowBytes)), `seed ${seed}`).to.deep.equal(expected);
      for (const { kind } of expected.damages) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    const met = [
      'OffsetOutOfOrder',
      'RecordChecksum',
      'RecordFlags',
      'RecordHeaderChecksum',
      'RecordTooLarge',
      'Truncated',
    ];
    expect([...kinds.keys()].sort(), 'every kind is put to the test').to.deep.equal(met);
  });

  it('holds to them where records are longer than the window and than what is read at once', () => {
    for (let seed = 0; seed < 80; seed++) {
      const { healthy, log } = damagedSegment(seed, 15_000 + 977 * (seed % 40));
      const expected = referenceScan(log, healthy.baseOffset);
      for (const windowBytes of [64, 4096, 1 << 20]) {
        expect(said(scanned(log, windowBytes)), `seed ${seed}`).to.deep.equal(expected);
      }
    }
  });
});
