import { expect } from 'chai';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { type SegmentScan, scanSegmentFile } from '../../src/scan/segment-file.js';
import type { ByteSource } from '../../src/store/byte-source.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { TEST_NOW_MICROS } from '../corpus/checked.js';
import { damagedSegment } from '../properties/random-segments.js';
import { referenceScan } from '../properties/reference-scan.js';
import { MoodySource, UnreadableSource } from './faulty-source.js';

const PAGE = 4096;
/** Kinds that a header alone proves. */
const BY_HEADER = ['RecordHeaderChecksum', 'RecordFlags', 'RecordTooLarge', 'Truncated'];

function scanned(source: ByteSource, windowBytes: number, index: ByteSource | null = null): SegmentScan {
  const steps = scanSegmentFile(source, index, { nowMicros: TEST_NOW_MICROS, windowBytes });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function told(scan: RangeScan) {
  return scan.damages.map(({ corruption, position, end, lost }) => ({
    kind: corruption.kind,
    position,
    end,
    lost: lost === null ? null : [lost.from, lost.to],
  }));
}

describe('a segment of which a part cannot be read', () => {
  it('is told up to the first unreadable page, and not one byte behind it is called damaged', () => {
    let cutShort = 0;
    for (let seed = 0; seed < 400; seed++) {
      const { healthy, log } = damagedSegment(seed, 300 + 37 * (seed % 90));
      const from = PAGE * (1 + (seed % 4));
      if (log.length <= from) continue;
      const windowBytes = [64, 1000, 1 << 20][seed % 3]!;
      const { records } = scanned(new UnreadableSource(log, from, from + PAGE), windowBytes);
      const label = `seed ${seed}`;
      expect(records!.stopped, label).to.include({ code: 'EIO', position: from });
      expect(records!.end, label).to.be.at.most(from);
      const expected = referenceScan(log, healthy.baseOffset).damages;
      const found = told(records!);
      for (const [i, damage] of found.entries()) {
        const { kind, position, end, lost } = expected[i]!;
        expect(damage.end, label).to.be.at.most(from);
        expect(damage, label).to.include({ kind, position });
        // The last one may be the damage behind which the search met the unreadable page.
        if (i < found.length - 1) expect(damage, label).to.deep.equal({ kind, position, end, lost });
      }
      const inTheWay = expected.findIndex(({ kind, end }) => end >= from || !BY_HEADER.includes(kind));
      expect(found.length, label).to.be.at.least(inTheWay < 0 ? expected.length : inTheWay);
      if (found.at(-1)?.end === from) cutShort++;
    }
    expect(cutShort, 'searches that met the unreadable page').to.be.above(3);
  });

  it('has a record that is cut short by it among what is unread, and never among what is verified', () => {
    const { healthy } = damagedSegment(3, 3000);
    const { log, positions } = healthy;
    const straddling = positions.findLast((position) => position < PAGE)!;
    const { records } = scanned(new UnreadableSource(log, PAGE, log.length), 1 << 20);
    expect(records!.end).to.equal(straddling);
    expect(records!.stopped!.position).to.equal(PAGE);
  });

  it('never looks damaged because of a read that fails or falls short now and then', () => {
    for (let seed = 0; seed < 1500; seed++) {
      const { healthy, log } = damagedSegment(seed, seed % 3 === 0 ? 900 : undefined);
      const source = new MoodySource(log, seed, 15);
      const { head, records } = scanned(source, [64, 100, 4096][seed % 3]!);
      if (head.problem !== null) continue;
      const expected = referenceScan(log, healthy.baseOffset).damages;
      const { stopped } = records!;
      for (const [i, { kind, position, end, lost }] of told(records!).entries()) {
        const wanted = expected[i]!;
        const label = `seed ${seed}, damage ${i}`;
        expect({ kind, position }, label).to.deep.equal({ kind: wanted.kind, position: wanted.position });
        if (stopped === null) expect({ end, lost }, label).to.deep.equal({ end: wanted.end, lost: wanted.lost });
      }
      if (stopped === null) expect(records!.damages.length, `seed ${seed}`).to.equal(expected.length);
    }
  });

  it('keeps what was found of its records when the index cannot be read any more', () => {
    const { healthy } = damagedSegment(3, 100);
    const { log, index } = healthy;
    let opened = false;
    const flaky: ByteSource = {
      size: index.length,
      readAt(target, position) {
        if (opened) return new UnreadableSource(index, 0, index.length).readAt(target, position);
        return new MemorySource(index).readAt(target, position);
      },
    };
    const steps = scanSegmentFile(new MemorySource(log), flaky, { nowMicros: TEST_NOW_MICROS, windowBytes: 64 });
    // The first step lies behind the first look at the index, and in front of the second.
    for (let step = steps.next(); ; step = steps.next()) {
      opened = true;
      if (!step.done) continue;
      expect(step.value.records!.stopped).to.equal(null);
      expect(step.value.records!.records).to.equal(healthy.records.length);
      return;
    }
  });
});
