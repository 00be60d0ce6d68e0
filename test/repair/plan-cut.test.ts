/** A cut of the log at an offset goes through every file of the shard, in the order of the format page, and says what goes. */
import { expect } from 'chai';
import { NO_LOSS } from '../../src/domain/plan.js';
import type { CutFacts } from '../../src/domain/plan-facts.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { planCut } from '../../src/repair/plan-cut.js';
import { IndexContents } from '../../src/repair/plan-parts.js';
import type { ShardView } from '../../src/repair/shard-view.js';
import { cutFacts, held, indexImage, newestFacts, shardView, stateOf } from '../builders/plan-inputs.js';
import { finding } from '../builders/reports.js';
import { indexName, logName } from '../builders/shards.js';

const SEGMENT = { size: 500, crc32: '0x00000500' };
const OLD = { size: 7, crc32: '0x00000007' };

/** An entry for the offsets `base..=last`, under a segment id of its own. */
function entry(segmentId: bigint, baseOffset: bigint, lastOffset: bigint) {
  const rest = { size: 100n, oldestMicros: 1n, newestMicros: 2n, checksum: 3, position: 0 };
  return { segmentId, baseOffset, lastOffset, key: `node/${segmentId}.segment`, ...rest };
}

function planned(view: ShardView, cut: CutFacts = cutFacts(), localBase = 0n, findings = FINDINGS) {
  const plan = planCut(view, newestFacts({ cut }), cut, localBase, findings, new IndexContents());
  if (!plan.ok) throw new Error(plan.error.why);
  return plan.value;
}

function refusal(view: ShardView, cut: CutFacts = cutFacts(), localBase = 0n) {
  const plan = planCut(view, newestFacts({ cut }), cut, localBase, [], new IndexContents());
  if (plan.ok) throw new Error('it was planned');
  return plan.error;
}

function foundAt(file: string, position: number | null) {
  return finding('RecordChecksum', 'fatal', { file, site: position === null ? {} : { segment: 2n, position } });
}

/** In every file of the shard, and around the cut in the newest segment. */
const FINDINGS = [
  foundAt(logName(1), 400),
  foundAt(logName(2), null),
  foundAt(logName(2), 299),
  foundAt(logName(2), 300),
  foundAt(logName(2), 420),
  foundAt(indexName(1), 24),
  foundAt(indexName(2), 40),
  foundAt('epochs', 28),
  foundAt('offload.manifest', 12),
  foundAt('producers', null),
];

function answer(file: string, position: number) {
  return { kind: 'RecordChecksum', file, position };
}

describe('a cut through every file of a shard', () => {
  const epochs = [15n, 17n, 18n, 30n].map((startOffset, at) => ({ generation: BigInt(at + 1), startOffset }));
  const entries = [entry(0n, 0n, 7n), entry(1n, 8n, 17n), entry(7n, 18n, 18n), entry(8n, 19n, 25n)];
  const view = shardView(
    {
      [logName(2)]: SEGMENT,
      [indexName(2)]: OLD,
      epochs: OLD,
      'offload.manifest': OLD,
      producers: OLD,
      'keys.idx': OLD,
      replica: OLD,
    },
    { epochs, manifest: { entries, reserved: 5 }, commit: 18n },
  );
  const ranges = [{ from: 0, to: 7 }];

  it('drops entries at or past it, cuts, removes what is derived, keeps generations before it, and makes the index', () => {
    const manifest = encodeManifest({ entries: entries.slice(0, 2), reserved: 5 });
    const kept = encodeEpochs({ entries: epochs.slice(0, 2) });
    const steps = planned(view).steps.map(({ why: _, ...step }) => step);
    expect(steps).to.deep.equal([
      {
        action: 'rewrite',
        file: 'offload.manifest',
        before: OLD,
        after: stateOf(manifest),
        content: held(manifest),
        ranges,
        answers: [answer('offload.manifest', 12)],
      },
      {
        action: 'cut',
        file: logName(2),
        before: SEGMENT,
        after: { size: 300, crc32: '0x00000300' },
        content: [{ from: 'itself', start: 0, end: 300 }],
        ranges: [{ from: 300, to: 500 }],
        answers: [answer(logName(2), 300), answer(logName(2), 420)],
      },
      { action: 'delete', file: 'producers', before: OLD, after: null, content: [], ranges, answers: [] },
      { action: 'delete', file: 'keys.idx', before: OLD, after: null, content: [], ranges, answers: [] },
      {
        action: 'rewrite',
        file: 'epochs',
        before: OLD,
        after: stateOf(kept),
        content: held(kept),
        ranges,
        answers: [answer('epochs', 28)],
      },
      {
        action: 'rebuild-index',
        file: indexName(2),
        before: OLD,
        after: indexImage(2, 300).state,
        content: held(indexImage(2, 300).bytes),
        ranges,
        answers: [answer(indexName(2), 40)],
      },
    ]);
  });

  it('says in each step how much goes, and up to where', () => {
    const whys = planned(view).steps.map(({ why }) => why);
    expect(whys[0]).to.match(/^2 entries /);
    expect(whys[1]).to.match(/^200 bytes, .*offset 18$/);
    expect(whys[4]).to.contain('offset 18');
    expect(whys[5]).to.match(/1 entry$/);
  });

  it('loses the records behind it, those that only the objects have, the entries and the generations', () => {
    expect(planned(view).loses).to.deep.equal({
      bytes: 200,
      records: 3 + 5,
      intactRecords: 2 + 5,
      committedRecords: 0,
      offsets: { from: 18n, to: 26n },
      fromTimestampMicros: 1019n,
      toTimestampMicros: 1020n,
      manifestEntries: [
        { segmentId: 7n, baseOffset: 18n, lastOffset: 18n, key: 'node/7.segment' },
        { segmentId: 8n, baseOffset: 19n, lastOffset: 25n, key: 'node/8.segment' },
      ],
      epochs: epochs.slice(2),
    });
  });
});

describe('a cut of a log with no other file', () => {
  const none = { intactRecords: 0, records: 0, offsets: null, fromTimestampMicros: null, toTimestampMicros: null };

  it('cuts, makes the index that is missing, and loses bytes alone', () => {
    const { steps, loses } = planned(shardView({ [logName(2)]: SEGMENT }), cutFacts(none));
    expect(steps.map(({ action, file, before, ranges }) => ({ action, file, before, ranges }))).to.deep.equal([
      { action: 'cut', file: logName(2), before: SEGMENT, ranges: [{ from: 300, to: 500 }] },
      { action: 'rebuild-index', file: indexName(2), before: null, ranges: [] },
    ]);
    expect(loses).to.deep.equal({ ...NO_LOSS, bytes: 200 });
  });

  it('leaves the index alone that is a writer’s already', () => {
    const { steps } = planned(shardView({ [logName(2)]: SEGMENT, [indexName(2)]: indexImage(2, 300).state }));
    expect(steps.map(({ file }) => file)).to.deep.equal([logName(2)]);
  });
});

describe('epochs and a manifest that end in front of the cut', () => {
  it('stay as they are', () => {
    const view = shardView(
      { [logName(2)]: SEGMENT, [indexName(2)]: indexImage(2, 300).state, epochs: OLD, 'offload.manifest': OLD },
      {
        epochs: [{ generation: 1n, startOffset: 17n }],
        manifest: { entries: [entry(0n, 0n, 17n)], reserved: 0 },
      },
    );
    const { steps, loses } = planned(view);
    expect(steps.map(({ file }) => file)).to.deep.equal([logName(2)]);
    expect(loses).to.deep.include({ manifestEntries: [], epochs: [] });
  });
});

describe('records of a dropped entry', () => {
  /** The local log holds offsets 10..21, and the cut leaves 10..18 of them. */
  const cases = [
    { what: 'all in the log as well', base: 10n, last: 20n, lost: 0, from: 18n, to: 21n },
    { what: 'below the log too', base: 4n, last: 20n, lost: 6, from: 4n, to: 21n },
    { what: 'past the log too', base: 15n, last: 24n, lost: 4, from: 18n, to: 25n },
    { what: 'on both sides of the log', base: 9n, last: 21n, lost: 2, from: 9n, to: 22n },
    { what: 'right behind the log', base: 21n, last: 22n, lost: 2, from: 18n, to: 23n },
    { what: 'far behind the log', base: 30n, last: 30n, lost: 1, from: 18n, to: 31n },
  ];
  for (const { what, base, last, lost, from, to } of cases) {
    it(`that are ${what} count as lost where no segment has them: ${base}..${last + 1n}`, () => {
      const view = shardView(
        { [logName(2)]: SEGMENT },
        { manifest: { entries: [entry(3n, base, last)], reserved: 0 } },
      );
      const { records, intactRecords, offsets } = planned(view, cutFacts(), 10n).loses;
      expect({ records, intactRecords, offsets }).to.deep.equal({
        records: 3 + lost,
        intactRecords: 2 + lost,
        offsets: { from, to },
      });
    });
  }

  it('count as lost past the cut when what is behind it shows no offset', () => {
    const view = shardView({ [logName(2)]: SEGMENT }, { manifest: { entries: [entry(3n, 15n, 20n)], reserved: 0 } });
    const none = { intactRecords: 0, records: 0, offsets: null };
    expect(planned(view, cutFacts(none), 10n).loses).to.deep.include({
      records: 3,
      intactRecords: 3,
      offsets: { from: 18n, to: 21n },
    });
  });

  it('are in the log up to the cut, whatever offsets the damage behind it shows', () => {
    const view = shardView(
      { [logName(2)]: SEGMENT },
      { manifest: { entries: [entry(3n, 10n, 17n), entry(4n, 16n, 18n)], reserved: 0 }, commit: 18n },
    );
    const { loses } = planned(view, cutFacts({ offsets: { from: 3n, to: 6n } }), 10n);
    expect(loses).to.deep.include({ records: 4, intactRecords: 3, offsets: { from: 3n, to: 19n } });
  });
});

describe('a cut under the commit offset', () => {
  const instead = ['felix-fsck heal SHARD --from REPLICA', 'felix-fsck salvage SHARD --to DIR'];

  it('is refused, and one at it is not', () => {
    const { why, instead: offered } = refusal(shardView({ [logName(2)]: SEGMENT }, { commit: 20n }));
    expect(why).to.match(/^BelowCommit: .* offset 18\b.* below 20: .* offsets 18\.\.20 \(2 records\)/);
    expect(offered).to.deep.equal(instead);
    expect(refusal(shardView({ [logName(2)]: SEGMENT }, { commit: 19n })).why).to.contain('offset 18 (1 record)');
    expect(planned(shardView({ [logName(2)]: SEGMENT }, { commit: 18n })).steps).to.have.lengthOf(2);
  });

  it('is refused at the first offset that goes, also when an object behind the log goes with it', () => {
    const manifest = { entries: [entry(3n, 30n, 40n)], reserved: 0 };
    const { why } = refusal(shardView({ [logName(2)]: SEGMENT }, { manifest, commit: 19n }));
    expect(why).to.contain('committed offset 18 (1 record)');
  });

  it('is refused also when the committed records are in a dropped object alone', () => {
    const manifest = { entries: [entry(3n, 4n, 20n)], reserved: 0 };
    const { why, instead: offered } = refusal(
      shardView({ [logName(2)]: SEGMENT }, { manifest, commit: 5n }),
      cutFacts(),
      10n,
    );
    expect(why).to.contain('committed offset 4 (1 record)');
    expect(offered).to.deep.equal(instead);
    const at = shardView({ [logName(2)]: SEGMENT }, { manifest, commit: 4n });
    expect(planned(at, cutFacts(), 10n).steps.map(({ action }) => action)).to.deep.equal([
      'rewrite',
      'cut',
      'rebuild-index',
    ]);
  });

  it('is not what it is when records behind the damage show offsets that the log still holds', () => {
    const cut = cutFacts({ offsets: { from: 3n, to: 6n } });
    expect(planned(shardView({ [logName(2)]: SEGMENT }, { commit: 18n }), cut).loses.offsets).to.deep.equal(
      cut.offsets,
    );
  });
});
