import { expect } from 'chai';
import { predict } from '../../src/check/prediction.js';
import type { SegmentFacts } from '../../src/check/shard-facts.js';
import type { Prediction } from '../../src/domain/report.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { BadDisk, failing, range, refused, repaired, reportOf } from '../builders/checking.js';
import { append, createFile, damaged, deleteFile, flipBit, insert, truncate, zero } from '../builders/damage.js';
import { factsOf, told } from '../builders/facts.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, SHARD_KEY, shardOf, threeSegments } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';

const { image, segments } = threeSegments();
const [first, second, third] = [segments[0]!, segments[1]!, segments[2]!];
const rotIn = (id: number, record: number, shard = segments) =>
  flipBit(logName(id), shard[id]!.positions[record]! + 30, 0);
/** A prediction of nothing that is worth a word. */
const silent = (more: Partial<Prediction>): Prediction => ({
  verdict: 'opens',
  refusals: [],
  repairs: [],
  tailOffsetAfter: null,
  readsThatFail: [],
  notJudged: [],
  ...more,
});
const empty = (baseOffset: bigint) => buildSegment({ baseOffset, records: [] }).log;

describe('the order in which a broker refuses', () => {
  it('of several segments the newest is met first, then the sealed ones as they follow', async () => {
    const report = await reportOf(damaged(image, rotIn(0, 2), rotIn(1, 3), rotIn(2, 4)));
    expect(refused(report)).to.deep.equal([
      `RecordChecksum in 2 at ${third.positions[4]}`,
      `RecordChecksum in 0 at ${first.positions[2]}`,
      `RecordChecksum in 1 at ${second.positions[3]}`,
    ]);
  });

  it('names the first failure of a segment in front of its others', async () => {
    const report = await reportOf(damaged(image, rotIn(1, 5), rotIn(1, 1)));
    expect(refused(report)).to.deep.equal([
      `RecordChecksum in 1 at ${second.positions[1]}`,
      `RecordChecksum in 1 at ${second.positions[5]}`,
    ]);
  });

  it('holds each base against the end before it as it comes to it', async () => {
    const records = (from: bigint, count: number) => Array.from({ length: count }, (_, i) => plain(from + BigInt(i)));
    const gaps = buildShard({
      segments: [0n, 10n, 20n, 30n].map((base) => buildSegment({ records: records(base, 3) })),
    });
    const last = buildSegment({ records: records(20n, 3) });
    const report = await reportOf(damaged(gaps, flipBit(logName(2), last.positions[2]! + 30, 0)));
    expect(refused(report)).to.deep.equal([
      'OffsetOutOfOrder in 1 at 0',
      `RecordChecksum in 2 at ${last.positions[2]}`,
      'OffsetOutOfOrder in 2 at 0',
      'OffsetOutOfOrder in 3 at 0',
    ]);
  });

  it('a torn tail that can be cut does not stop it from meeting what is sealed', async () => {
    const report = await reportOf(damaged(image, truncate(logName(2), third.log.length - 1), rotIn(1, 0)));
    expect(refused(report)).to.deep.equal(['RecordChecksum in 1 at 32']);
    expect(repaired(report)).to.deep.equal([]);
  });

  it('a name that cannot be opened is met first when it would be the newest', async () => {
    const report = await reportOf(damaged(image, createFile('7.log', first.log), rotIn(2, 0)));
    expect(refused(report)).to.deep.equal(['SegmentFileName in 7', 'RecordChecksum in 2 at 32']);
  });

  it('a name that cannot be opened is met in the place of its id otherwise', async () => {
    const renumbered = buildShard({ segments: [first] });
    const sparse = damaged(
      renumbered,
      createFile(logName(5), second.log),
      createFile(logName(6), third.log),
      createFile('+3.log', first.log),
    );
    const broken = damaged(sparse, flipBit(logName(5), 40, 0), flipBit(logName(6), 40, 0));
    expect(refused(await reportOf(sparse))).to.deep.equal(['SegmentFileName in 3']);
    expect(refused(await reportOf(broken)).slice(0, 3)).to.deep.equal([
      'RecordHeaderChecksum in 6 at 32',
      'SegmentFileName in 3',
      'RecordHeaderChecksum in 5 at 32',
    ]);
    const alone = damaged(
      buildShard({ segments: [first] }),
      createFile('7.log', first.log),
      flipBit(logName(0), 40, 0),
    );
    expect(refused(await reportOf(alone))).to.deep.equal(['SegmentFileName in 7', 'RecordHeaderChecksum in 0 at 32']);
  });

  it('a name that cannot be opened is met behind the segments of lower ids, and in front of those of higher ones', () => {
    const names = [4n, 3n, 9n, 8n, 6n, 5n].map((id) => ({ id }));
    const files = new Map([
      [logName(1), damaged(image, rotIn(0, 2)).get(logName(0))!],
      [logName(5), damaged(image, rotIn(1, 3)).get(logName(1))!],
      [logName(6), damaged(image, rotIn(2, 4)).get(logName(2))!],
    ]);
    expect(refused({ prediction: predict(factsOf(files), names, []) })).to.deep.equal([
      'SegmentFileName in 9',
      'SegmentFileName in 8',
      `RecordChecksum in 6 at ${third.positions[4]}`,
      `RecordChecksum in 1 at ${first.positions[2]}`,
      'SegmentFileName in 3',
      'SegmentFileName in 4',
      `RecordChecksum in 5 at ${second.positions[3]}`,
      'SegmentFileName in 5',
      'SegmentFileName in 6',
    ]);
  });

  it('the only segment is met in front of a name of a lower id, as the newest of both', () => {
    const files = new Map([[logName(5), damaged(image, rotIn(0, 2)).get(logName(0))!]]);
    expect(refused({ prediction: predict(factsOf(files), [{ id: 3n }], []) })).to.deep.equal([
      `RecordChecksum in 5 at ${first.positions[2]}`,
      'SegmentFileName in 3',
    ]);
    const blank = new Map([[logName(5), empty(7n)]]);
    expect(refused({ prediction: predict(factsOf(blank), [{ id: 3n }], []) })).to.deep.equal(['SegmentFileName in 3']);
  });

  it('a torn tail in front of an empty newest segment is met in its place, and not when the newest is looked for', () => {
    const torn = damaged(
      image,
      rotIn(0, 2),
      truncate(logName(2), third.log.length - 1),
      createFile(logName(3), empty(20n)),
    );
    expect(refused({ prediction: predict(factsOf(torn), [], []) })).to.deep.equal([
      `RecordChecksum in 0 at ${first.positions[2]}`,
      `Truncated in 2 at ${third.positions[5]}`,
    ]);
  });

  it('an index entry that is off refuses for what the broker meets there, in the words of its own error', async () => {
    const report = await reportOf(damaged(image, flipBit(indexName(0), 24 + 15, 0)));
    expect(told(report)[0]).to.equal(`fatal IndexEntry ${indexName(0)}@24`);
    expect(report.prediction.refusals).to.deep.equal([
      { kind: 'RecordHeaderChecksum', site: { shard: SHARD_KEY, segment: 0n, position: 33 } },
    ]);
  });

  it('a shard of names that cannot be opened alone is refused for the highest of them first', async () => {
    const report = await reportOf(
      new Map([
        ['7.log', first.log],
        ['+2.log', second.log],
        ['+12.log', second.log],
      ]),
    );
    expect(refused(report)).to.deep.equal(['SegmentFileName in 12', 'SegmentFileName in 7', 'SegmentFileName in 2']);
    expect(told(report)).to.include.members(['fatal SegmentFileName 7.log', 'fatal SegmentFileName +2.log']);
  });

  const sidecars = {
    replica: encodeReplica({ generation: 1n, commit: 1n }),
    ballot: encodeBallot({ generation: 1n, leader: 'broker-a' }),
    'offload.manifest': encodeManifest({ entries: [offloaded(first, 0n)] }),
  };

  it('the small files come last: replica, ballot, offload.manifest', async () => {
    const withAll = new Map([...image, ...Object.entries(sidecars)]);
    expect((await reportOf(withAll)).prediction.verdict).to.equal('opens');
    // Each further back in its file than the one that is read after it.
    const broken = damaged(
      withAll,
      flipBit('replica', 9, 0),
      flipBit('ballot', 5, 0),
      flipBit('offload.manifest', 1, 0),
      rotIn(2, 3),
    );
    expect(refused(await reportOf(broken))).to.deep.equal([
      `RecordChecksum in 2 at ${third.positions[3]}`,
      'SidecarChecksum at 24',
      'SidecarVersion at 4',
      'SidecarMagic at 0',
    ]);
  });

  it('what is ignored when it does not decode refuses nothing', async () => {
    const report = await reportOf(
      damaged(image, ...['epochs', 'producers', 'keys.idx'].map((name) => createFile(name, new Uint8Array(5)))),
    );
    expect(report.prediction.verdict).to.equal('opens');
    expect(report.findings.map(({ severity }) => severity)).to.deep.equal(['warning', 'warning', 'warning']);
  });
});

describe('an empty newest segment', () => {
  const shard = shardOf([{ parts: [30], indexSpacing: 256 }]);
  const only = shard.segments[0]!;

  it('has the segment before it scanned whole, so that damage in front of its last index entry is met', async () => {
    const broken = damaged(
      shard.image,
      createFile(logName(1), empty(30n)),
      flipBit(logName(0), only.positions[2]! + 30, 0),
    );
    for (const quick of [false, true]) {
      const report = await reportOf(broken, { quick });
      expect(refused(report)).to.deep.equal([`RecordChecksum in 0 at ${only.positions[2]}`]);
      expect(told(report)[0]).to.equal(`fatal RecordChecksum ${logName(0)}@${only.positions[2]}`);
    }
  });

  it('is not what a segment with a record is: behind that one, only the last entry on is read', async () => {
    const next = buildSegment({ records: [plain(30n)] });
    const broken = damaged(
      shard.image,
      createFile(logName(1), next.log),
      flipBit(logName(0), only.positions[2]! + 30, 0),
    );
    const report = await reportOf(broken);
    expect(report.prediction.verdict).to.equal('opens');
    expect(failing(report)).to.deep.equal([`RecordChecksum in 0 at ${only.positions[2]}, 2..3`]);
  });

  it('lets only the one before it be scanned', async () => {
    const two = shardOf([{ parts: [30], indexSpacing: 256 }, { parts: [3] }]);
    const broken = damaged(
      two.image,
      createFile(logName(2), empty(33n)),
      flipBit(logName(0), two.segments[0]!.positions[2]! + 30, 0),
    );
    expect((await reportOf(broken)).prediction.verdict).to.equal('opens');
  });
});

describe('what a broker repairs', () => {
  it('a torn tail: cuts where the last whole record ends', async () => {
    const report = await reportOf(damaged(image, truncate(logName(2), third.log.length - 1)));
    expect(repaired(report)).to.deep.equal([
      `truncate ${logName(2)} ${third.log.length - 1} -> ${third.positions[5]}, loses 0, 0 intact`,
    ]);
    expect(report.prediction.verdict).to.equal('repairs');
    expect(report.prediction.tailOffsetAfter).to.equal(20n);
    expect(report.tailOffset).to.equal(20n);
  });

  it('counts the intact records behind a cut, and the rotten ones beside them', async () => {
    const half = buildSegment({ records: [plain(17n, { payloadLength: 4000 })] }).log.subarray(32, 92);
    const broken = damaged(image, rotIn(2, 4), insert(logName(2), third.positions[2]!, half));
    const report = await reportOf(broken);
    expect(repaired(report)).to.deep.equal([
      `truncate ${logName(2)} ${third.log.length + 60} -> ${third.positions[2]}, loses 4, 3 intact`,
    ]);
    expect(report.prediction.tailOffsetAfter).to.equal(17n);
    expect(report.tailOffset).to.equal(21n);
  });

  it('counts the rotten records behind a cut that are not told one by one', () => {
    const facts = factsOf(damaged(image, rotIn(2, 4), append(logName(2), new Uint8Array(3))));
    const newest = facts.segments[2]!;
    const scan = newest.scan!;
    const [rot, torn] = scan.records!.damages;
    const damages = [{ ...torn!, recordsBefore: 4 }, rot!];
    const omitted = new Map([
      ['RecordChecksum', 5],
      ['RecordFlags', 3],
    ] as const);
    const cut = { ...newest, scan: { ...scan, records: { ...scan.records!, damages, omitted } } };
    const prediction = predict({ ...facts, segments: [...facts.segments.slice(0, 2), cut] }, [], []);
    expect(repaired({ prediction })).to.deep.equal([
      `truncate ${logName(2)} ${third.log.length + 3} -> ${third.log.length}, loses 7, 1 intact`,
    ]);
  });

  it('a rotten last record with the opt-in: cuts it, and loses it', async () => {
    const report = await reportOf(damaged(image, rotIn(2, 5)), { repairChecksumTail: true });
    expect(repaired(report)).to.deep.equal([
      `truncate ${logName(2)} ${third.log.length} -> ${third.positions[5]}, loses 1, 0 intact`,
    ]);
    expect(report.findings[0]!.severity).to.equal('error');
  });

  it('a last record out of order with the opt-in: cuts it, and loses an intact record', async () => {
    const stranger = buildSegment({ records: [plain(44n)] }).log.subarray(32);
    const report = await reportOf(damaged(image, append(logName(2), stranger)), { repairChecksumTail: true });
    expect(repaired(report)).to.deep.equal([
      `truncate ${logName(2)} ${third.log.length + stranger.length} -> ${third.log.length}, loses 1, 1 intact`,
    ]);
    expect(report.prediction.tailOffsetAfter).to.equal(21n);
    expect(report.findings[0]!.severity).to.equal('error');
  });

  it('the first record torn: the segment is cut to its header', async () => {
    const one = shardOf([{ parts: [1] }]);
    const report = await reportOf(damaged(one.image, truncate(logName(0), 40)));
    expect(repaired(report)).to.deep.equal([`truncate ${logName(0)} 40 -> 32, loses 0, 0 intact`]);
    expect(report.prediction.tailOffsetAfter).to.equal(0n);
  });

  it('segments left behind by rollovers: deletes the newest first', async () => {
    const report = await reportOf(
      damaged(image, createFile(logName(3), empty(99n)), createFile(logName(4), new Uint8Array(31))),
    );
    expect(repaired(report)).to.deep.equal([
      `delete-segment ${logName(4)} 31 -> 0, loses 0, 0 intact`,
      `delete-segment ${logName(3)} 32 -> 0, loses 0, 0 intact`,
    ]);
    expect(report.prediction.tailOffsetAfter).to.equal(21n);
  });

  it('deletes first, and cuts the one that is then the newest', async () => {
    const report = await reportOf(
      damaged(image, createFile(logName(3), new Uint8Array(0)), truncate(logName(2), third.log.length - 2)),
    );
    expect(repaired(report)).to.deep.equal([
      `delete-segment ${logName(3)} 0 -> 0, loses 0, 0 intact`,
      `truncate ${logName(2)} ${third.log.length - 2} -> ${third.positions[5]}, loses 0, 0 intact`,
    ]);
  });

  it('a blank first segment: deletes it, and begins the log anew', async () => {
    const report = await reportOf(new Map([[logName(0), new Uint8Array(32)]]));
    expect(repaired(report)).to.deep.equal([
      `delete-blank-first ${logName(0)} 32 -> 0, loses 0, 0 intact`,
      `create-segment ${logName(0)} 0 -> 32, loses 0, 0 intact`,
    ]);
    expect(report.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: 0n });
  });

  it('no segment: begins a log at 0', async () => {
    const report = await reportOf(new Map([['epochs', new Uint8Array(0)]]));
    expect(repaired(report)).to.deep.equal([`create-segment ${logName(0)} 0 -> 32, loses 0, 0 intact`]);
    expect(report.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: 0n });
    expect(told(report)).to.include('error NoSegments -');
    expect(report.baseOffset).to.equal(0n);
    expect(report.tailOffset).to.equal(null);
  });

  it('indexes of sealed segments that do not load are rebuilt, which is no repair of the log', async () => {
    const report = await reportOf(
      damaged(image, deleteFile(indexName(0)), truncate(indexName(1), 24), truncate(indexName(2), 3)),
    );
    expect(repaired(report).map((line) => line.split(' ').slice(0, 2))).to.deep.equal([
      ['rebuild-index', indexName(0)],
      ['rebuild-index', indexName(1)],
    ]);
    expect(report.prediction.verdict).to.equal('opens');
  });

  it('nothing, when it refuses', async () => {
    const report = await reportOf(damaged(image, deleteFile(indexName(0)), rotIn(1, 1), truncate(logName(2), 40)));
    expect(report.prediction).to.deep.include({ repairs: [], readsThatFail: [], tailOffsetAfter: null });
  });
});

describe('reads that fail behind an open', () => {
  const shard = shardOf([{ parts: [40], indexSpacing: 256 }, { parts: [2] }]);
  const sealed = shard.segments[0]!;

  it('are those that cross damage which the open does not meet, in the order of the log', async () => {
    const report = await reportOf(
      damaged(
        shard.image,
        flipBit(logName(0), sealed.positions[4]! + 30, 0),
        zero(logName(0), sealed.positions[10]!, sealed.positions[12]! - sealed.positions[10]!),
      ),
    );
    expect(report.prediction.verdict).to.equal('opens');
    expect(failing(report)).to.deep.equal([
      `RecordChecksum in 0 at ${sealed.positions[4]}, 4..5`,
      `RecordHeaderChecksum in 0 at ${sealed.positions[10]}, 10..12`,
    ]);
  });

  it('hold the offsets that are lost, else that of the record, and at least one', () => {
    const facts = factsOf(damaged(shard.image, flipBit(logName(0), sealed.positions[4]! + 30, 0)));
    const [segment, newest] = facts.segments as [SegmentFacts, SegmentFacts];
    const [rot] = segment.scan!.records!.damages;
    const damages = [
      { ...rot!, offset: 4n, lost: { from: 5n, to: 9n } },
      { ...rot!, offset: 10n, lost: { from: 11n, to: 11n } },
      { ...rot!, offset: 12n, lost: null },
    ];
    const records = { ...segment.scan!.records!, damages };
    const changed = { ...segment, scan: { ...segment.scan!, records } };
    const prediction = predict({ ...facts, segments: [changed, newest] }, [], []);
    const at = `RecordChecksum in 0 at ${sealed.positions[4]}`;
    expect(failing({ prediction })).to.deep.equal([`${at}, 5..9`, `${at}, 11..12`, `${at}, 12..13`]);
    expect(prediction.readsThatFail[0]!.site.shard).to.equal(SHARD_KEY);
  });

  it('hold at least one offset, also where bytes lie between records and none is lost', async () => {
    const junk = new Uint8Array(30).fill(0xee);
    const entryFree = damaged(shard.image, insert(logName(0), sealed.positions[1]!, junk), deleteFile(indexName(0)));
    const report = await reportOf(entryFree);
    expect(report.prediction.verdict).to.equal('refuses');
    expect(range(report.findings[0]!.lostOffsets)).to.equal('1..1');
  });
});

describe('what the verdict does not know', () => {
  it('names the files that could not be read, each once', async () => {
    const report = await reportOf(image, { scanner: new BadDisk(logName(1), 0, 32) });
    expect(report.prediction).to.deep.equal(
      silent({ tailOffsetAfter: 21n, notJudged: [`${logName(1)} could not be read`] }),
    );
  });

  it('makes no index anew of a segment whose header could not be read', async () => {
    const files = damaged(image, deleteFile(indexName(1)));
    const report = await reportOf(files, { scanner: new BadDisk(logName(1), 0, 32) });
    expect(repaired(report)).to.deep.equal([]);
  });

  it('refuses and repairs nothing for a segment of which not one byte could be read', () => {
    const facts = factsOf(image);
    const problem = { code: 'EACCES', message: 'permission denied', position: 0 };
    const unread = (id: number) => ({
      ...facts,
      segments: facts.segments.map((segment, at) => (at === id ? { ...segment, scan: null, problem } : segment)),
    });
    for (const id of [0, 1]) {
      expect(predict(unread(id), [], [])).to.deep.equal(silent({ tailOffsetAfter: 21n }));
    }
    expect(predict(unread(2), [], [])).to.deep.equal(silent({ tailOffsetAfter: null }));
  });

  it('says that a run was interrupted before it came to every segment', () => {
    const facts = factsOf(image);
    const problem = { code: 'INTERRUPTED', message: 'the run was interrupted', position: 0 };
    const segments = facts.segments.map((segment, at) => (at === 1 ? { ...segment, scan: null, problem } : segment));
    expect(predict({ ...facts, segments }, [], []).notJudged).to.deep.equal(['the run was interrupted']);
  });

  it('knows no more of a shard than the one file that was looked at', () => {
    const only = (name: string) => `only ${name} was looked at, not the rest of its shard`;
    const small = factsOf(new Map([['epochs', new Uint8Array(0)]]));
    expect(predict(small, [], [], { name: 'epochs', segment: null })).to.deep.equal(
      silent({ tailOffsetAfter: null, notJudged: [only('epochs')] }),
    );
    const torn = factsOf(damaged(buildShard({ segments: [first] }), truncate(logName(0), first.log.length - 1)));
    const segment = predict(torn, [], [], { name: logName(0), segment: { id: 0n, sealed: false } });
    expect(segment).to.include({ verdict: 'repairs', tailOffsetAfter: 7n });
    expect(segment.notJudged).to.deep.equal([only(logName(0))]);
  });

  it('does not know the tail when the newest segment could not be read to its end', async () => {
    const long = shardOf([{ parts: [200] }]);
    const report = await reportOf(long.image, { scanner: new BadDisk(logName(0), 4096, 8192), windowBytes: 1024 });
    expect(report.prediction.tailOffsetAfter).to.equal(null);
    expect(report.tailOffset).to.equal(null);
    expect(report.prediction.notJudged).to.deep.equal([`${logName(0)} could not be read`]);
  });

  it('names the small files that decide an open and could not be read', () => {
    const facts = factsOf(new Map([...image, ['replica', new Uint8Array(28)]]));
    const problem = { code: 'EIO', message: 'input/output error', position: 0 };
    const replica = { ...facts.sidecars.replica!, reading: null, problem };
    const prediction = predict({ ...facts, sidecars: { ...facts.sidecars, replica } }, [], []);
    expect(prediction.notJudged).to.deep.equal(['replica could not be read']);
  });
});

describe('offsets at the end of what a u64 holds', () => {
  const MAX = 2n ** 64n - 1n;

  it('a last offset of 2^64 - 1 is whole, and nothing is rounded', async () => {
    const shard = shardOf([{ parts: [3] }, { parts: [1] }], { first: MAX - 3n });
    const report = await reportOf(shard.image);
    expect(told(report)).to.deep.equal([]);
    expect(report.baseOffset).to.equal(MAX - 3n);
    expect(report.segments[1]).to.include({ baseOffset: MAX, nextOffset: MAX + 1n, records: 1 });
    expect(report.tailOffset).to.equal(MAX + 1n);
  });

  it('a record behind the last offset is out of order, and not lost', async () => {
    const shard = shardOf([{ parts: [1] }], { first: MAX });
    const more = buildSegment({ records: [plain(0n)] }).log.subarray(32);
    const report = await reportOf(damaged(shard.image, append(logName(0), more)));
    expect(report.findings.map(({ kind, lostOffsets }) => [kind, lostOffsets])).to.deep.equal([
      ['OffsetOutOfOrder', null],
    ]);
    expect(report.findings[0]!.detail).to.include({ found: 0n });
  });

  it('a rotten record of the last offset loses that one', async () => {
    const shard = shardOf([{ parts: [2] }], { first: MAX - 1n });
    const at = shard.segments[0]!.positions[1]!;
    const report = await reportOf(damaged(shard.image, flipBit(logName(0), at + 30, 0)));
    expect(range(report.findings[0]!.lostOffsets)).to.equal(`${MAX}..${MAX + 1n}`);
    expect(report.findings[0]!.detail).to.include({ offset: MAX });
  });

  it('a torn record of the last offset is cut, and the next offset is it again', async () => {
    const shard = shardOf([{ parts: [2] }], { first: MAX - 1n });
    const report = await reportOf(damaged(shard.image, truncate(logName(0), shard.segments[0]!.log.length - 1)));
    expect(report.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: MAX });
  });

  it('a gap between segments there is counted exactly', async () => {
    const shard = buildShard({
      segments: [buildSegment({ records: [plain(MAX - 9n)] }), buildSegment({ records: [plain(MAX)] })],
    });
    const report = await reportOf(shard);
    expect(range(report.findings[0]!.lostOffsets)).to.equal(`${MAX - 8n}..${MAX}`);
  });

  it('a segment of the largest id there is stands behind the others', async () => {
    const [a, b] = shardOf([{ parts: [2] }, { parts: [2] }]).segments;
    const shard = new Map([
      [logName(MAX), b!.log],
      [indexName(MAX), b!.index],
      [logName(0), a!.log],
      [indexName(0), a!.index],
    ]);
    const report = await reportOf(shard);
    expect(told(report)).to.deep.equal([]);
    expect(report.segments.map(({ id }) => id)).to.deep.equal([0n, MAX]);
  });
});
