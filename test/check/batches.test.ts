import { expect } from 'chai';
import { checkBatches } from '../../src/check/batches.js';
import type { LogRecord } from '../../src/format/record.js';
import { damaged, flipBit, truncate } from '../builders/damage.js';
import { factsOf, SUBJECT, told, withoutFiles } from '../builders/facts.js';
import { batch, continues, generationStart, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, type ShardImage, threeV3SegmentsWithBatches } from '../builders/shards.js';

const judged = (image: ShardImage, quick = false) => checkBatches(factsOf(image, { quick }), SUBJECT);

/** Segments of these numbers of records each, in order. */
function split(records: readonly LogRecord[], ...counts: readonly number[]) {
  const segments = [];
  let at = 0;
  for (const count of counts) {
    const part = records.slice(at, at + count);
    at += count;
    const baseOffset = part[0]?.offset ?? (records[at - 1]?.offset ?? -1n) + 1n;
    segments.push(buildSegment({ version: 4, baseOffset, records: part }));
  }
  return { image: buildShard({ segments }), segments };
}

const tag = (len: number, sequence = 0n) => ({ producerId: 7n, sequence, len });

describe('checkBatches', () => {
  it('whole batches say nothing, across segments too', () => {
    expect(judged(threeV3SegmentsWithBatches().image)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
    const records = batch(0n, tag(6));
    for (const counts of [[6], [1, 5], [3, 3], [5, 1], [2, 2, 2], [3, 0, 3]]) {
      expect(told(judged(split(records, ...counts).image))).to.deep.equal([]);
    }
  });

  it('BatchAbandoned: any other record cuts a batch off, in this segment or the next', () => {
    const begun = batch(0n, tag(4), 2);
    const others = [plainRun(2n, 2), batch(2n, tag(2, 1n)), [generationStart(2n, 3n)]];
    for (const other of others) {
      for (const counts of [[9], [1, 9], [2, 9], [2, 0, 9]]) {
        const { findings } = judged(split([...begun, ...other], ...counts).image);
        expect(told({ findings })).to.deep.equal([`info BatchAbandoned ${logName(0)}@32`]);
        expect(findings[0]?.detail).to.deep.equal({ producer: 7n, sequence: 0n, len: 4, held: 2, offset: 0n });
        expect(findings[0]?.site.segment).to.equal(0n);
      }
    }
  });

  it('BatchIncomplete: still open at the tail, told where the batch was opened', () => {
    const records = [...plainRun(0n, 2), ...batch(2n, tag(4), 3)];
    for (const counts of [[9], [2, 9], [3, 9], [3, 1, 9], [3, 2, 0]]) {
      const { image, segments } = split(records, ...counts);
      const { findings } = judged(image);
      const holder = segments.findIndex((segment) => segment.records.some(({ offset }) => offset === 2n));
      const position = segments[holder]!.positions[segments[holder]!.records.findIndex(({ offset }) => offset === 2n)];
      expect(told({ findings })).to.deep.equal([`info BatchIncomplete ${logName(holder)}@${position}`]);
      expect(findings[0]?.detail).to.deep.equal({ producer: 7n, sequence: 0n, len: 4, held: 3, offset: 2n });
    }
  });

  it('BatchOrphan: nothing to continue, at the start of a log, behind another record, and behind a whole batch', () => {
    const orphans = (records: readonly LogRecord[], ...counts: readonly number[]) => {
      const { findings } = judged(split(records, ...counts).image);
      return findings.map(({ kind, detail, file, site }) => ({ kind, file, position: site.position, ...detail }));
    };
    const run = [0n, 1n, 2n].map((offset) => continues(offset));
    for (const counts of [[9], [1, 9], [1, 1, 9]]) {
      expect(orphans(run, ...counts)).to.deep.equal([
        { kind: 'BatchOrphan', file: logName(0), position: 32, offset: 0n, count: 3 },
      ]);
    }
    const behindPlain = [...plainRun(0n, 1), continues(1n), continues(2n), ...plainRun(3n, 1)];
    for (const counts of [[9], [2, 9]])
      expect(orphans(behindPlain, ...counts))
        .to.deep.include.members([])
        .and.lengthOf(1);
    expect(orphans(behindPlain, 1, 9)).to.deep.equal([
      { kind: 'BatchOrphan', file: logName(1), position: 32, offset: 1n, count: 2 },
    ]);
  });

  it('BatchOrphan: what goes on behind the last record of a batch begins exactly there, whatever the segments', () => {
    const records = [...batch(0n, tag(3)), continues(3n), continues(4n), ...plainRun(5n, 1)];
    for (const counts of [[9], [1, 9], [2, 9], [3, 9]]) {
      const { image, segments } = split(records, ...counts);
      const { findings } = judged(image);
      const holder = segments.findIndex((segment) => segment.records.some(({ offset }) => offset === 3n));
      const position = segments[holder]!.positions[segments[holder]!.records.findIndex(({ offset }) => offset === 3n)];
      expect(told({ findings })).to.deep.equal([`info BatchOrphan ${logName(holder)}@${position}`]);
      expect(findings[0]?.detail).to.deep.equal({ offset: 3n, count: 2 });
    }
  });

  it('BatchOrphan: a log that begins inside a batch says so', () => {
    const { image } = split(batch(0n, tag(6)), 2, 4);
    const { findings } = judged(withoutFiles(image, logName(0), indexName(0)));
    expect(told({ findings })).to.deep.equal([`info BatchOrphan ${logName(1)}@32`]);
    expect(findings[0]?.detail).to.deep.equal({ offset: 2n, count: 4 });
  });

  it('damage, a missing segment and an unread one make it unknown what is open', () => {
    const { image, segments } = split([...batch(0n, tag(9)), ...plainRun(9n, 2)], 3, 3, 5);
    expect(told(judged(image))).to.deep.equal([]);
    expect(told(judged(damaged(image, flipBit(logName(1), segments[1]!.positions[1]! + 30, 1))))).to.deep.equal([]);
    expect(told(judged(withoutFiles(image, logName(1), indexName(1))))).to.deep.equal([]);
    const short = judged(damaged(image, truncate(logName(1), 9)));
    expect(told(short)).to.deep.equal([]);
    expect(short.notChecked).to.have.lengthOf(1);
    const quick = judged(image, true);
    expect(told(quick)).to.deep.equal([]);
    expect(quick.notChecked).to.have.lengthOf(1);
  });

  it('an orphan run in front of a gap is told before it', () => {
    const { image } = split([...plainRun(0n, 1), continues(1n), ...plainRun(2n, 4)], 2, 2, 2);
    const { findings } = judged(withoutFiles(image, logName(1), indexName(1)));
    expect(findings.map(({ kind, file }) => [kind, file])).to.deep.equal([['BatchOrphan', logName(0)]]);
  });
});
