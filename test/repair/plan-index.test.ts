/** Which indexes are made anew, and when none is: told from facts made by hand. */
import { expect } from 'chai';
import { NO_LOSS } from '../../src/domain/plan.js';
import type { ShardChange } from '../../src/domain/plan-facts.js';
import type { Verdict } from '../../src/domain/report.js';
import { type IndexInput, type MadeIndex, planIndexes, wantedIndexes } from '../../src/repair/plan-index.js';
import { FRAME, held, indexImage, shardView } from '../builders/plan-inputs.js';
import { finding, prediction, segmentReport, shardReport } from '../builders/reports.js';
import { indexName, logName, SHARD_KEY } from '../builders/shards.js';

const HEAL = 'felix-fsck heal SHARD --from REPLICA';
const OLD = { size: 7, crc32: '0x00000007' };

function made(id: number, damagedAt: number | null = null): [bigint, MadeIndex] {
  return [BigInt(id), { ...indexImage(id, 400), id: BigInt(id), damagedAt }];
}

function plan(parts: Partial<IndexInput>) {
  return planIndexes({
    view: shardView({}),
    report: shardReport(),
    made: new Map(),
    request: { segments: 'wrong', partial: false },
    frame: FRAME,
    predictAfter: () => prediction(),
    ...parts,
  });
}

function planned(parts: Partial<IndexInput>) {
  const outcome = plan(parts);
  if (!outcome.ok) throw new Error(outcome.error.why);
  return outcome.value;
}

function refusal(parts: Partial<IndexInput>) {
  const outcome = plan(parts);
  if (outcome.ok) throw new Error('it was planned');
  return outcome.error;
}

describe('the indexes to make', () => {
  const index = { file: '', checkedEntries: 0, notJudgedEntries: 0 };
  const usable = { ...index, entries: 0, usable: true };
  const about = (kind: 'IndexMagic' | 'AbandonedSegment' | 'BlankFirstSegment', file: string, segment: bigint) =>
    finding(kind, 'warning', { file, site: { segment } });
  const report = shardReport({
    segments: [
      segmentReport(0n),
      segmentReport(1n),
      segmentReport(2n),
      segmentReport(3n),
      segmentReport(4n, { index: usable }),
      segmentReport(5n, { index: usable, records: 0 }),
      segmentReport(6n, { index: { ...usable, usable: false } }),
      segmentReport(7n, { index: null }),
      segmentReport(8n, { index: usable, records: 1 }),
    ],
    findings: [
      about('IndexMagic', logName(0), 0n),
      about('IndexMagic', indexName(1), 1n),
      about('IndexMagic', indexName(2), 2n),
      about('AbandonedSegment', logName(2), 2n),
      about('BlankFirstSegment', logName(3), 3n),
    ],
  });
  const wanted = (segments: 'wrong' | 'all' | bigint[]) => wantedIndexes(report, { segments, partial: false });

  it('are those that something is found in, or that are empty over records, unless others are asked for', () => {
    expect(wanted('wrong')).to.deep.equal([1n, 4n, 8n]);
    expect(wanted('all')).to.deep.equal([0n, 1n, 4n, 5n, 6n, 7n, 8n]);
    expect(wanted([8n, 0n])).to.deep.equal([0n, 8n]);
  });

  it('are never those of a segment that recovery deletes, or of none', () => {
    expect(wanted([2n, 3n, 4n, 9n])).to.deep.equal([4n]);
  });
});

describe('a plan for indexes', () => {
  it('makes each that is not as a writer would have it, and asks the broker about just those', () => {
    const asked: ShardChange[] = [];
    const findings = [
      finding('IndexMissing', 'warning', { file: indexName(0), site: { segment: 0n } }),
      finding('IndexEntry', 'error', { file: indexName(2), site: { segment: 2n, position: 24 } }),
    ];
    const { steps, loses, notes, command, before, after } = planned({
      view: shardView({ [indexName(1)]: indexImage(1, 400).state, [indexName(2)]: OLD }),
      report: shardReport({ findings, prediction: prediction({ verdict: 'repairs' }) }),
      made: new Map([made(0), made(1), made(2)]),
      predictAfter: (change) => {
        asked.push(change);
        return prediction();
      },
    });
    const step = (id: number) => ({
      action: 'rebuild-index',
      file: indexName(id),
      after: indexImage(id, 400).state,
      content: held(indexImage(id, 400).bytes),
    });
    expect(steps.map(({ why: _, ...rest }) => rest)).to.deep.equal([
      { ...step(0), before: null, ranges: [], answers: [{ kind: 'IndexMissing', file: indexName(0), position: null }] },
      {
        ...step(2),
        before: OLD,
        ranges: [{ from: 0, to: 7 }],
        answers: [{ kind: 'IndexEntry', file: indexName(2), position: 24 }],
      },
    ]);
    expect(steps[0]!.why).to.match(/up to byte 400: 1 entry$/);
    expect([command, loses, notes]).to.deep.equal(['rebuild-index', NO_LOSS, []]);
    expect([before.verdict, after.verdict]).to.deep.equal(['repairs', 'opens']);
    const reindexed = [0n, 2n].map((segment) => ({ segment, entries: 1 }));
    expect(asked).to.deep.equal([{ removed: [], cut: null, begun: null, reindexed }]);
  });

  it('ends an index at the first damage only when that is asked for, and notes it', () => {
    const request = { segments: 'all', partial: true } as const;
    const { steps, notes } = planned({ made: new Map([made(0), made(1, 400)]), request });
    expect(steps.map(({ file }) => file)).to.deep.equal([indexName(0), indexName(1)]);
    expect(notes).to.deep.equal(['The index of segment 1 ends at its first damage, byte 400.']);
  });
});

describe('no index is made', () => {
  it('of a segment that is not there', () => {
    const request = { segments: [0n, 5n, 6n], partial: false };
    const { why, instead } = refusal({ made: new Map([made(0)]), request });
    expect(why).to.contain('no segment 5, 6 that');
    expect(instead).to.deep.equal([]);
    expect(planned({ made: new Map([made(0)]), request: { segments: [0n], partial: false } }).steps).to.have.lengthOf(
      1,
    );
  });

  it('over damage; those of the sound segments are offered, three at most', () => {
    const damaged = new Map([made(0), made(1, 86), made(2, 400), made(3), made(4), made(5)]);
    const { why, instead } = refusal({ made: damaged });
    expect(why).to.match(/^segment 1 is damaged at byte 86; segment 2 is damaged at byte 400\. /);
    expect(instead).to.deep.equal([
      'felix-fsck rebuild-index --partial SHARD',
      'felix-fsck rebuild-index --segment 0 SHARD',
      'felix-fsck rebuild-index --segment 3 SHARD',
      'felix-fsck rebuild-index --segment 4 SHARD',
      HEAL,
    ]);
  });

  it('of a segment whose header cannot be read, not even in part', () => {
    for (const partial of [false, true]) {
      const { why, instead } = refusal({ made: new Map([[2n, null], made(3)]), request: { segments: 'all', partial } });
      expect(why).to.match(/^the header of segment 2 cannot be read/);
      expect(instead).to.deep.equal(['felix-fsck rebuild-index --segment 3 SHARD', HEAL]);
    }
  });

  it('that would shut a shard that opens, and one that is shut already may stay so', () => {
    const site = { shard: SHARD_KEY, segment: 1n, position: 86 };
    const outcome = (before: Verdict, after: Verdict, refusalSite: object = site) =>
      plan({
        made: new Map([made(0)]),
        report: shardReport({ prediction: prediction({ verdict: before }) }),
        predictAfter: () => prediction({ verdict: after, refusals: [{ kind: 'RecordChecksum', site: refusalSite }] }),
      });
    for (const before of ['opens', 'repairs'] as const) {
      const refused = outcome(before, 'refuses');
      expect(refused).to.have.nested.property('error.why').that.contains('RecordChecksum in segment 1, which');
      expect(refused).to.have.nested.property('error.instead').that.deep.equals([HEAL]);
      expect(outcome(before, 'repairs').ok).to.equal(true);
    }
    expect(outcome('opens', 'refuses', {}))
      .to.have.nested.property('error.why')
      .that.contains('RecordChecksum, which');
    expect(outcome('refuses', 'refuses').ok).to.equal(true);
  });
});
