/** Whether a tail is cut, what goes with it, and what is offered where it is not: told from facts made by hand. */
import { crc32 as zlibCrc32 } from 'node:zlib';
import { expect } from 'chai';
import type { FindingKind, Severity } from '../../src/domain/finding.js';
import { NO_LOSS, type Plan } from '../../src/domain/plan.js';
import type { ShardChange } from '../../src/domain/plan-facts.js';
import type { RepairAction } from '../../src/domain/report.js';
import { encodeManifest } from '../../src/format/manifest.js';
import type { PlanRefusal } from '../../src/repair/plan-parts.js';
import { planTail, type TailInput, type TailRequest } from '../../src/repair/plan-tail.js';
import { cutFacts, FRAME, held, indexImage, newestFacts, shardView, stateOf } from '../builders/plan-inputs.js';
import { finding, prediction, segmentReport, shardReport } from '../builders/reports.js';
import { indexName, logName, SHARD_DIR_NAME, SHARD_KEY } from '../builders/shards.js';

const OLD = { size: 7, crc32: '0x00000007' };
const SEGMENT = { size: 500, crc32: '0x00000500' };
const FILES = { [logName(2)]: SEGMENT, [indexName(2)]: OLD };
const NOT_ASKED: TailRequest = { checksumTail: false, zeroTail: false, cutAt: null, loseIntact: 2 };
const SALVAGE = `felix-fsck salvage /data/${SHARD_DIR_NAME} --to DIR`;
const HEAL = 'felix-fsck heal SHARD --from REPLICA';
const CUT_HERE = 'felix-fsck repair-tail --cut-at 300 SHARD';

/** The damage that the newest segment's facts begin with. */
function damage(severity: Severity, parts: Parameters<typeof finding>[2] = {}) {
  return finding('RecordChecksum', severity, {
    file: logName(2),
    site: { segment: 2n, position: 300 },
    next: 'felix-fsck next SHARD',
    ...parts,
  });
}

function input(parts: Partial<Omit<TailInput, 'request'>> & { readonly request?: Partial<TailRequest> }): TailInput {
  return {
    view: shardView(FILES),
    report: shardReport({ findings: [damage('warning')] }),
    newest: newestFacts(),
    indexes: new Map(),
    frame: FRAME,
    predictAfter: () => prediction(),
    ...parts,
    request: { ...NOT_ASKED, ...parts.request },
  };
}

function planned(parts: Parameters<typeof input>[0]): Plan {
  const plan = planTail(input(parts));
  if (!plan.ok) throw new Error(plan.error.why);
  return plan.value;
}

function refusal(parts: Parameters<typeof input>[0]): PlanRefusal {
  const plan = planTail(input(parts));
  if (plan.ok) throw new Error('it was planned');
  return plan.error;
}

function steps({ steps: all }: Plan): string[] {
  return all.map(({ action, file }) => `${action} ${file}`);
}

const CUT = [`cut ${logName(2)}`, `rebuild-index ${indexName(2)}`];

/** A planner's changes, as they are asked about. */
function asking(...answers: readonly ReturnType<typeof prediction>[]) {
  const asked: ShardChange[] = [];
  const predictAfter = (change: ShardChange) => {
    asked.push(change);
    return answers[asked.length - 1] ?? prediction();
  };
  return { asked, predictAfter };
}

function repair(action: RepairAction, file: string) {
  return { action, file, fromBytes: 1, toBytes: 0, recordsLost: 0, intactRecordsLost: 0 };
}

describe('the plan for a tail', () => {
  it('says of the shard, the run and the broker what was found', () => {
    const before = prediction({ verdict: 'repairs', repairs: [repair('truncate', logName(2))], tailOffsetAfter: 18n });
    const site = { shard: SHARD_KEY, segment: 1n };
    const after = prediction({
      tailOffsetAfter: 18n,
      refusals: [{ kind: 'SegmentMagic', site }],
      readsThatFail: [{ kind: 'RecordChecksum', site, fromOffset: 1n, toOffset: 2n }],
    });
    const report = shardReport({ findings: [damage('warning')], prediction: before });
    const { steps: all, ...rest } = planned({ report, predictAfter: () => after });
    expect(all.map(({ action, file }) => `${action} ${file}`)).to.deep.equal(CUT);
    expect(rest).to.deep.equal({
      schema: 'felix-fsck.plan/1',
      tool: { name: 'felix-fsck', version: '0.1.0' },
      createdAtMicros: 1_780_000_000_000_000n,
      command: 'repair-tail',
      shard: { path: `/data/${SHARD_DIR_NAME}`, name: SHARD_DIR_NAME, key: SHARD_KEY },
      settings: { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 },
      files: [
        { file: logName(2), size: 500, crc32: '0x00000500', mtimeNs: 1n },
        { file: indexName(2), size: 7, crc32: '0x00000007', mtimeNs: 1n },
      ],
      loses: {
        bytes: 200,
        records: 3,
        intactRecords: 2,
        committedRecords: 0,
        offsets: { from: 18n, to: 21n },
        fromTimestampMicros: 1019n,
        toTimestampMicros: 1020n,
        manifestEntries: [],
        epochs: [],
      },
      before: {
        verdict: 'repairs',
        refusals: [],
        repairs: [{ action: 'truncate', file: logName(2) }],
        tailOffset: 18n,
        failingReads: 0,
      },
      after: {
        verdict: 'opens',
        refusals: [{ kind: 'SegmentMagic', segment: 1n, position: null }],
        repairs: [],
        tailOffset: 18n,
        failingReads: 1,
      },
      notes: ['2 intact records follow the damage and go with it; felix-fsck salvage copies them out first.'],
    });
  });

  it('is empty for a newest segment that is whole, is not there, or could not be read to its end', () => {
    for (const newest of [newestFacts({ firstDamage: null, cut: null }), null, newestFacts({ cut: null })]) {
      const plan = planned({ newest });
      expect([plan.steps, plan.loses, plan.notes]).to.deep.equal([[], NO_LOSS, []]);
    }
    expect(planned({ newest: newestFacts({ cut: null }), request: { cutAt: 1 } }).steps).to.deep.equal([]);
  });

  it('notes intact records and generations that go, when there are some', () => {
    const none = cutFacts({ intactRecords: 0 });
    const view = shardView({ ...FILES, epochs: OLD }, { epochs: [{ generation: 9n, startOffset: 18n }] });
    expect(planned({ newest: newestFacts({ cut: none }) }).notes).to.deep.equal([]);
    const [first, second] = planned({ view }).notes;
    expect(first).to.match(/^2 intact records follow/);
    expect(second).to.match(/^Generations .* go from epochs/);
    expect(planned({ view, newest: newestFacts({ cut: none }) }).notes).to.deep.equal([second]);
  });
});

describe('whether a tail is cut', () => {
  it('is said by the finding of that kind in that file at that place, and by no other', () => {
    const others = [
      damage('warning', { file: logName(1) }),
      damage('warning', { site: { segment: 2n, position: 299 } }),
      { ...damage('warning'), kind: 'Truncated' as FindingKind } as ReturnType<typeof damage>,
    ];
    for (const severity of ['info', 'warning', 'error'] as const) {
      expect(steps(planned({ report: shardReport({ findings: [damage(severity)] }) }))).to.deep.equal(CUT);
    }
    for (const findings of [others, [...others, damage('fatal')]]) {
      expect(refusal({ report: shardReport({ findings }) }).why).to.contain(
        'is damaged at byte 300 (RecordChecksum): ',
      );
    }
    expect(steps(planned({ report: shardReport({ findings: [...others, damage('error')] }) }))).to.deep.equal(CUT);
  });

  it('is the operator’s to say where a broker would not, in one of two ways', () => {
    const report = shardReport({ findings: [damage('fatal')] });
    const zeros = newestFacts({ cut: cutFacts({ zeros: true }) });
    expect(steps(planned({ report, request: { cutAt: 300 } }))).to.deep.equal(CUT);
    expect(steps(planned({ report, newest: zeros, request: { zeroTail: true } }))).to.deep.equal(CUT);
    expect(refusal({ report, newest: zeros }).why).to.contain('(RecordChecksum): ');
    expect(refusal({ report, request: { zeroTail: true } }).why).to.contain(
      '(RecordChecksum), and its bytes are not all zero',
    );
  });

  it('is never said for another place than the first damage', () => {
    const before = refusal({ request: { cutAt: 299 } });
    expect(before.why).to.match(/^intact records lie between byte 299 /);
    expect(before.instead).to.deep.equal([CUT_HERE]);
    const behind = refusal({ request: { cutAt: 301 } });
    expect(behind.why).to.match(/ at byte 300 .* byte 301 would leave it$/);
    expect(behind.instead).to.deep.equal([CUT_HERE]);
  });

  it('is answered for a whole segment with what the worst findings propose', () => {
    const nexts = (severity: Severity, next: string | null) => damage(severity, { next });
    const findings = [
      nexts('warning', 'not for a warning'),
      nexts('error', 'felix-fsck first'),
      nexts('fatal', null),
      nexts('fatal', 'felix-fsck repair-tail SHARD'),
      nexts('fatal', 'felix-fsck second'),
      nexts('error', 'felix-fsck first'),
      nexts('error', 'felix-fsck third'),
      nexts('fatal', 'felix-fsck fourth'),
    ];
    const report = shardReport({ findings });
    for (const newest of [newestFacts({ firstDamage: null, cut: null }), null]) {
      const { why, instead } = refusal({ report, newest, request: { cutAt: 300 } });
      expect(why).to.contain('has no damage');
      const first = ['felix-fsck first', 'felix-fsck second', 'felix-fsck third'];
      expect(instead).to.deep.equal([...first, 'felix-fsck verify SHARD']);
    }
  });
});

describe('a tail that a broker does not cut', () => {
  it('is offered to others first, then what the finding proposes, and the cut last', () => {
    const { why, instead } = refusal({ report: shardReport({ findings: [damage('fatal')] }) });
    expect(why).to.match(/nothing is planned\. 2 intact records follow it\.$/);
    expect(instead).to.deep.equal([HEAL, SALVAGE, 'felix-fsck next SHARD', CUT_HERE]);
  });

  it('is offered to have its bit turned back when one explains it', () => {
    const bitFlip = { position: 330, bit: 1, field: 'payload', chance: 1e-6 };
    const flipped = damage('fatal', { detail: { bitFlip }, next: null } as object);
    const { instead } = refusal({ report: shardReport({ findings: [flipped] }) });
    expect(instead).to.deep.equal([HEAL, 'felix-fsck heal SHARD --accept-bit-flip', SALVAGE, CUT_HERE]);
    const unexplained = damage('fatal', { detail: { bitFlip: null }, next: null } as object);
    expect(refusal({ report: shardReport({ findings: [unexplained] }) }).instead).to.deep.equal([
      HEAL,
      SALVAGE,
      CUT_HERE,
    ]);
    expect(refusal({ report: shardReport({ findings: [] }) }).instead).to.deep.equal([HEAL, SALVAGE, CUT_HERE]);
  });

  it('is offered as a tail of zeros when it is one', () => {
    const newest = newestFacts({ cut: cutFacts({ zeros: true, intactRecords: 0 }) });
    const { why, instead } = refusal({ newest, report: shardReport({ findings: [damage('fatal')] }) });
    expect(why).to.match(/nothing is planned\. Every byte from there on is zero\.$/);
    const allow = 'felix-fsck repair-tail --allow zero-tail SHARD';
    expect(instead).to.deep.equal([allow, 'felix-fsck next SHARD', CUT_HERE]);
  });
});

describe('intact records behind the damage', () => {
  it('go only when at least their number is given', () => {
    const { why, instead } = refusal({ request: { loseIntact: 1 } });
    expect(why).to.match(/^2 intact records \(offsets 18\.\.21\) .* --lose-intact 2\.$/);
    expect(instead).to.deep.equal([HEAL, SALVAGE]);
    expect(steps(planned({ request: { loseIntact: 2 } }))).to.deep.equal(CUT);
    expect(steps(planned({ request: { loseIntact: 3 } }))).to.deep.equal(CUT);
  });

  it('are counted in objects from the oldest local offset on, which is 0 when it is not known', () => {
    const entry = { segmentId: 1n, baseOffset: 4n, lastOffset: 19n, size: 1n, oldestMicros: 1n, newestMicros: 1n };
    const entries = [{ ...entry, checksum: 0, key: 'k', position: 12 }];
    const view = shardView({ ...FILES, 'offload.manifest': OLD }, { manifest: { entries, reserved: 0 } });
    const findings = [damage('warning')];
    const lost = (baseOffset: bigint | null) =>
      planned({ view, report: shardReport({ findings, baseOffset }), request: { loseIntact: 99 } }).loses.intactRecords;
    expect([lost(10n), lost(null)]).to.deep.equal([2 + 6, 2]);
  });

  it('are not cut off under the commit offset, whatever number is given', () => {
    expect(refusal({ view: shardView(FILES, { commit: 19n }), request: { loseIntact: 9 } }).why).to.match(
      /^BelowCommit/,
    );
  });
});

describe('segments that recovery deletes', () => {
  const abandoned = (id: bigint) =>
    finding('AbandonedSegment', 'warning', { file: logName(id), site: { segment: id, position: 0 } });

  it('go with the indexes that they have, each step answering its own finding', () => {
    const { asked, predictAfter } = asking();
    const plan = planned({
      view: shardView({ [logName(3)]: OLD, [logName(4)]: SEGMENT, [indexName(4)]: OLD }),
      report: shardReport({ findings: [abandoned(3n), damage('warning'), abandoned(4n)] }),
      newest: null,
      predictAfter,
    });
    const gone = (file: string, before: typeof OLD, answered: number) => ({
      action: 'delete',
      file,
      before,
      after: null,
      content: [],
      ranges: [{ from: 0, to: before.size }],
      answers: [{ kind: 'AbandonedSegment', file: logName(answered), position: 0 }],
    });
    expect(plan.steps.map(({ why: _, ...step }) => step)).to.deep.equal([
      gone(logName(3), OLD, 3),
      gone(logName(4), SEGMENT, 4),
      gone(indexName(4), OLD, 4),
    ]);
    expect(plan.steps[2]!.why).to.contain(logName(4));
    const change = { removed: [3n, 4n], begun: null, cut: null, reindexed: [] };
    expect(asked).to.deep.equal([change, change]);
  });
});

describe('a blank first segment', () => {
  const blank = finding('BlankFirstSegment', 'warning', { file: logName(0), site: { segment: 0n, position: 0 } });
  /** Format page, "Segment header": base 0, created when the plan was, and its own checksum. */
  const header = Buffer.alloc(32);
  header.write('FLSG\0\u0003', 0, 'latin1');
  header.writeBigUInt64BE(1_780_000_000_000_000n, 16);
  header.writeUInt32BE(zlibCrc32(header.subarray(0, 24)), 24);
  const index = Buffer.alloc(24);
  index.write('FLSI\0\u0003', 0, 'latin1');

  it('becomes an empty log at offset 0, with the index of one', () => {
    const { asked, predictAfter } = asking();
    const report = shardReport({ segments: [segmentReport(0n)], findings: [damage('warning'), blank] });
    const { steps: all } = planned({ view: shardView({ [logName(0)]: OLD }), report, newest: null, predictAfter });
    expect(all.map(({ why: _, ...step }) => step)).to.deep.equal([
      {
        action: 'rewrite',
        file: logName(0),
        before: OLD,
        after: stateOf(header),
        content: held(header),
        ranges: [{ from: 0, to: 7 }],
        answers: [{ kind: 'BlankFirstSegment', file: logName(0), position: 0 }],
      },
      {
        action: 'rebuild-index',
        file: indexName(0),
        before: null,
        after: stateOf(index),
        content: held(index),
        ranges: [],
        answers: [],
      },
    ]);
    const begun = { segment: 0n, header: new Uint8Array(header) };
    const change = { removed: [], begun, cut: null, reindexed: [] };
    expect(asked).to.deep.equal([change, change]);
  });

  it('keeps an index that is one of an empty log already', () => {
    const view = shardView({ [logName(0)]: OLD, [indexName(0)]: stateOf(index) });
    expect(steps(planned({ view, report: shardReport({ findings: [blank] }), newest: null }))).to.deep.equal([
      `rewrite ${logName(0)}`,
    ]);
  });
});

describe('indexes that a broker would make again', () => {
  const images = [0, 1, 2].map((id): [string, ReturnType<typeof indexImage>] => [logName(id), indexImage(id, 400)]);

  it('are made where the records are known, and the broker is asked again with them', () => {
    const repairs = [
      repair('rebuild-index', indexName(0)),
      repair('rebuild-index', indexName(1)),
      repair('truncate', logName(2)),
      repair('rebuild-index', indexName(7)),
    ];
    const { asked, predictAfter } = asking(prediction({ verdict: 'repairs', repairs }));
    const wrong = [
      finding('IndexMissing', 'warning', { file: indexName(0), site: { segment: 0n } }),
      finding('IndexMagic', 'warning', { file: indexName(1), site: { segment: 1n, position: 0 } }),
    ];
    const plan = planned({
      view: shardView({ [indexName(0)]: indexImage(0, 400).state, [indexName(1)]: OLD }),
      report: shardReport({ findings: [...wrong, damage('warning')] }),
      newest: null,
      indexes: new Map(images),
      predictAfter,
    });
    expect(plan.steps.map(({ why: _, ...step }) => step)).to.deep.equal([
      {
        action: 'rebuild-index',
        file: indexName(1),
        before: OLD,
        after: indexImage(1, 400).state,
        content: held(indexImage(1, 400).bytes),
        ranges: [{ from: 0, to: 7 }],
        answers: [{ kind: 'IndexMagic', file: indexName(1), position: 0 }],
      },
    ]);
    const change = { removed: [], begun: null, cut: null, reindexed: [] };
    expect(asked).to.deep.equal([change, { ...change, reindexed: [{ segment: 1n, entries: 1 }] }]);
  });
});

describe('the steps for a tail', () => {
  it('take entries of the manifest first, then what recovery deletes, then the tail, then indexes', () => {
    const entry = { segmentId: 9n, baseOffset: 20n, lastOffset: 20n, size: 1n, oldestMicros: 1n, newestMicros: 1n };
    const entries = [{ ...entry, checksum: 0, key: 'k', position: 12 }];
    const { asked, predictAfter } = asking(prediction({ repairs: [repair('rebuild-index', indexName(1))] }));
    const site = { segment: 3n, position: 0 };
    const findings = [damage('warning'), finding('AbandonedSegment', 'warning', { file: logName(3), site })];
    const plan = planned({
      view: shardView(
        { ...FILES, [logName(3)]: OLD, [indexName(1)]: OLD, 'offload.manifest': OLD },
        { manifest: { entries, reserved: 0 } },
      ),
      report: shardReport({ findings }),
      indexes: new Map([[logName(1), indexImage(1, 400)]]),
      predictAfter,
    });
    expect(steps(plan)).to.deep.equal([
      'rewrite offload.manifest',
      `delete ${logName(3)}`,
      `cut ${logName(2)}`,
      `rebuild-index ${indexName(2)}`,
      `rebuild-index ${indexName(1)}`,
    ]);
    expect(plan.steps[0]!.after).to.deep.equal(stateOf(encodeManifest({ entries: [], reserved: 0 })));
    const cut = { segment: 2n, position: 300, nextOffset: 18n };
    expect(asked[0]).to.deep.equal({ removed: [3n], begun: null, cut, reindexed: [] });
  });
});

describe('a shard that stays shut', () => {
  const refusing = (...sites: { segment?: bigint; position?: number }[]) =>
    prediction({ verdict: 'refuses', refusals: sites.map((site) => ({ kind: 'SegmentMagic' as FindingKind, site })) });

  it('is not cut, with up to three reasons named and the rest counted', () => {
    const sites = [{}, { segment: 1n }, { segment: 1n, position: 0 }, { position: 5 }, {}];
    const why = (count: number) => refusal({ predictAfter: () => refusing(...sites.slice(0, count)) }).why;
    expect(why(1)).to.match(/open the shard: SegmentMagic\. This/);
    const three = 'SegmentMagic; SegmentMagic in segment 1; SegmentMagic in segment 1 at byte 0';
    expect(why(3)).to.contain(`: ${three}. This`);
    expect(why(4)).to.contain(`: ${three}; and 1 more. This`);
    expect(why(5)).to.contain(`: ${three}; and 2 more. This`);
    expect(refusal({ predictAfter: () => refusing({ position: 5 }) }).why).to.contain(': SegmentMagic at byte 5. This');
  });

  it('is offered what its fatal findings propose, and a salvage', () => {
    const findings = [
      damage('warning'),
      damage('error', { file: logName(0), next: 'felix-fsck for an error' }),
      damage('fatal', { file: logName(1), next: 'felix-fsck for the worst' }),
    ];
    const { instead } = refusal({ report: shardReport({ findings }), predictAfter: () => refusing({}) });
    expect(instead).to.deep.equal(['felix-fsck for the worst', SALVAGE]);
  });

  it('has nothing to cut when it has no segment', () => {
    const findings = [
      finding('NoSegments', 'error', { next: null }),
      finding('NoSegments', 'error', { next: 'felix-fsck salvage it' }),
      damage('fatal'),
    ];
    const { why, instead } = refusal({ report: shardReport({ segments: [], findings }) });
    expect(why).to.match(/^the shard has no segment/);
    expect(instead).to.deep.equal(['felix-fsck salvage it']);
  });
});
