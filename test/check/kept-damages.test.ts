import { expect } from 'chai';
import { KeptDamages } from '../../src/check/kept-damages.js';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { buildSegment } from '../builders/segments.js';
import { TEST_NOW_MICROS } from '../corpus/checked.js';

/** A scan of so many damages, one to a byte. */
function ruined(damages: number): RangeScan {
  const steps = scanSegmentFile(new MemorySource(buildSegment({ records: [] }).log), null, {
    nowMicros: TEST_NOW_MICROS,
  });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const scan = step.value.records!;
  for (let position = 0; position < damages; position++) {
    scan.damages.push({
      corruption: {
        kind: position % 2 === 0 ? 'RecordChecksum' : 'RecordHeaderChecksum',
        expected: '0x0',
        found: '0x1',
      },
      position,
      end: position + 1,
      resumedAt: null,
      claimedEnd: null,
      offset: null,
      lost: null,
      recordsBefore: 0,
    });
  }
  return scan;
}

function kept(order: readonly number[], sizes: readonly number[]): RangeScan[] {
  const scans = sizes.map(ruined);
  const all = new KeptDamages();
  for (const id of order) all.add(BigInt(id), scans[id]!);
  all.settle();
  return scans;
}

describe('the damages of a shard', () => {
  const sizes = [4000, 5000, 10, 9000, 9000];

  it('are kept as long as they are not too many', () => {
    const scans = kept([0, 1], sizes.slice(0, 2));
    expect(scans.map(({ damages }) => damages.length)).to.deep.equal([4000, 5000]);
    expect(scans.every(({ omitted }) => omitted.size === 0)).to.equal(true);
  });

  it('are each kept or counted, whichever segment was scanned first', () => {
    const outcomes = [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [3, 0, 4, 2, 1],
    ].map((order) => kept(order, sizes));
    for (const scans of outcomes) {
      expect(scans.map(({ damages }) => damages.length)).to.deep.equal([4000, 5000, 10, 974, 16]);
      for (const [id, { damages, omitted }] of scans.entries()) {
        const counted = [...omitted.values()].reduce((sum, count) => sum + count, 0);
        expect(damages.length + counted).to.equal(sizes[id]);
      }
    }
  });

  it('keep the first ones of a segment, and its last', () => {
    const { damages, omitted } = kept([0, 1, 2, 3, 4], sizes)[4]!;
    expect(damages.map(({ position }) => position)).to.deep.equal([...Array(15).keys(), 8999]);
    expect(omitted.get('RecordChecksum')).to.equal(4492);
    expect(omitted.get('RecordHeaderChecksum')).to.equal(4492);
  });
});
