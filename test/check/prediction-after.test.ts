/**
 * What is foretold of a plan is what the check says of a shard that was changed that way.
 */
import { expect } from 'chai';
import { predictAfter } from '../../src/check/prediction-after.js';
import { judgeShard, readShard } from '../../src/check/shard.js';
import type { ShardChange } from '../../src/domain/plan-facts.js';
import type { BrokerSettings, Prediction } from '../../src/domain/report.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { InlineScanner } from '../../src/scan/scanner.js';
import { listDirectory } from '../../src/store/walk.js';
import { failing, refused, repaired, reportOf } from '../builders/checking.js';
import { append, createFile, damaged, deleteFile, flipBit, truncate, zero } from '../builders/damage.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, type ShardImage, shardOf, threeSegments, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { DEFAULTS } from '../corpus/checked.js';

const NOTHING: ShardChange = { removed: [], cut: null, begun: null, reindexed: [] };

/** What is foretold of a shard with these files, of which `change` is made. */
async function foretold(
  image: ShardImage,
  change: Partial<ShardChange>,
  found: Partial<BrokerSettings> = {},
  after?: Partial<BrokerSettings>,
): Promise<Prediction> {
  return withTempDir(async (dir) => {
    const listing = listDirectory(writeShardBelow(image, dir));
    const scanner = new InlineScanner(new AbortController().signal);
    const options = { ...DEFAULTS, settings: { ...DEFAULTS.settings, ...found }, sole: null };
    const reading = await readShard(listing, scanner, options);
    const { findings } = await judgeShard(listing, reading, scanner, options);
    const settings = after && { ...DEFAULTS.settings, ...after };
    return predictAfter(reading, findings, { ...NOTHING, ...change }, settings);
  });
}

const { image, segments } = threeSegments();
const third = segments[2]!;
const END = third.log.length;
const empty = (baseOffset: bigint) => buildSegment({ baseOffset, records: [] }).log;
const rot = (id: number, position: number) => flipBit(logName(id), position + 30, 0);
const cutAt = (position: number, nextOffset: bigint) => ({ segment: 2n, position, nextOffset });

const { image: indexed, segments: parts } = shardOf([
  { parts: [30], indexSpacing: 256 },
  { parts: [30], indexSpacing: 256 },
  { parts: [2] },
]);
const OFF_BY_ONE = (id: number) => flipBit(indexName(id), parts[id]!.index.length - 1, 0);
const entriesOf = (id: number) => (parts[id]!.index.length - 24) / 16;

interface Row {
  readonly title: string;
  readonly before: ShardImage;
  readonly change: Partial<ShardChange>;
  /** The shard as the change leaves it. */
  readonly after: ShardImage;
  /** The verdict, then what it consists of. */
  readonly says: readonly string[];
  readonly tail: bigint | null;
}

const begun = encodeSegmentHeader({ version: 3, baseOffset: 40n, createdAtMicros: 7n, reserved: 0 });
const blank = new Map([[logName(0), new Uint8Array(32)]]);
const twoRotten = damaged(image, rot(2, third.positions[2]!), rot(2, third.positions[4]!));
const behindRot = damaged(indexed, rot(1, parts[1]!.positions[2]!));

const ROWS: readonly Row[] = [
  {
    title: 'nothing changes',
    before: twoRotten,
    change: {},
    after: twoRotten,
    tail: null,
    says: ['refuses', `RecordChecksum in 2 at ${third.positions[2]}`, `RecordChecksum in 2 at ${third.positions[4]}`],
  },
  {
    title: 'a tail of zeros goes',
    before: damaged(image, append(logName(2), new Uint8Array(4096))),
    change: { cut: cutAt(END, 21n) },
    after: image,
    says: ['opens'],
    tail: 21n,
  },
  {
    title: 'the newest is cut at the first of two damages',
    before: twoRotten,
    change: { cut: cutAt(third.positions[2]!, 17n) },
    after: damaged(image, truncate(logName(2), third.positions[2]!)),
    says: ['opens'],
    tail: 17n,
  },
  {
    title: 'the newest is cut, and a sealed one is damaged where the open meets it',
    before: damaged(twoRotten, rot(1, 32), rot(1, segments[1]!.positions[6]!)),
    change: { cut: cutAt(third.positions[2]!, 17n) },
    after: damaged(image, truncate(logName(2), third.positions[2]!), rot(1, 32), rot(1, segments[1]!.positions[6]!)),
    says: ['refuses', 'RecordChecksum in 1 at 32', `RecordChecksum in 1 at ${segments[1]!.positions[6]}`],
    tail: null,
  },
  {
    title: 'the newest is cut to its header',
    before: damaged(image, zero(logName(2), 32, END - 32)),
    change: { cut: cutAt(32, 15n) },
    after: damaged(image, truncate(logName(2), 32)),
    says: ['opens'],
    tail: 15n,
  },
  {
    title: 'the newest keeps a record, and damage in front of the last index entry before it is not met',
    before: damaged(behindRot, rot(2, parts[2]!.positions[1]!)),
    change: { cut: cutAt(parts[2]!.positions[1]!, 61n) },
    after: damaged(behindRot, truncate(logName(2), parts[2]!.positions[1]!)),
    says: ['opens', `RecordChecksum in 1 at ${parts[1]!.positions[2]}, 32..33`],
    tail: 61n,
  },
  {
    title: 'the newest is cut to its header, so that the one before it is read whole, and its damage is met',
    before: damaged(behindRot, rot(2, 32)),
    change: { cut: cutAt(32, 60n) },
    after: damaged(behindRot, truncate(logName(2), 32)),
    says: ['refuses', `RecordChecksum in 1 at ${parts[1]!.positions[2]}`],
    tail: null,
  },
  {
    title: 'left behind segments are removed, and a torn tail before them stays',
    before: damaged(
      image,
      truncate(logName(2), END - 1),
      createFile(logName(3), empty(99n)),
      createFile(logName(4), new Uint8Array(9)),
    ),
    change: { removed: [3n, 4n] },
    after: damaged(image, truncate(logName(2), END - 1)),
    says: ['repairs', `truncate ${logName(2)} ${END - 1} -> ${third.positions[5]}, loses 0, 0 intact`],
    tail: 20n,
  },
  {
    title: 'one of two left behind is removed',
    before: damaged(image, createFile(logName(3), empty(99n)), createFile(logName(4), new Uint8Array(9))),
    change: { removed: [4n] },
    after: damaged(image, createFile(logName(3), empty(99n))),
    says: ['repairs', `delete-segment ${logName(3)} 32 -> 0, loses 0, 0 intact`],
    tail: 21n,
  },
  {
    title: 'a blank first segment is begun anew',
    before: blank,
    change: { begun: { segment: 0n, header: begun } },
    after: new Map([[logName(0), begun]]),
    says: ['opens'],
    tail: 40n,
  },
  {
    title: 'indexes whose last entry is off are made anew',
    before: damaged(indexed, OFF_BY_ONE(0), OFF_BY_ONE(1)),
    change: {
      reindexed: [
        { segment: 0n, entries: entriesOf(0) },
        { segment: 1n, entries: entriesOf(1) },
      ],
    },
    after: indexed,
    says: ['opens'],
    tail: 62n,
  },
  {
    title: 'one of two indexes that are not there is made',
    before: damaged(indexed, deleteFile(indexName(0)), deleteFile(indexName(1))),
    change: { reindexed: [{ segment: 1n, entries: entriesOf(1) }] },
    after: damaged(indexed, deleteFile(indexName(0))),
    says: ['opens', `rebuild-index ${indexName(0)} 0 -> 0, loses 0, 0 intact`],
    tail: 62n,
  },
  {
    title: 'an index is made of a segment that holds no record',
    before: damaged(
      image,
      createFile(logName(3), empty(21n)),
      createFile(logName(4), buildSegment({ records: [plain(21n)] }).log),
    ),
    change: { reindexed: [{ segment: 3n, entries: 0 }] },
    after: damaged(
      image,
      createFile(logName(3), empty(21n)),
      createFile(indexName(3), buildSegment({ baseOffset: 21n, records: [] }).index),
      createFile(logName(4), buildSegment({ records: [plain(21n)] }).log),
    ),
    says: ['opens', `rebuild-index ${indexName(3)} 24 -> 24, loses 0, 0 intact`],
    tail: 22n,
  },
  {
    title: 'a name that cannot be opened is still there',
    before: damaged(twoRotten, createFile('7.log', third.log)),
    change: { cut: cutAt(third.positions[2]!, 17n) },
    after: damaged(image, truncate(logName(2), third.positions[2]!), createFile('7.log', third.log)),
    says: ['refuses', 'SegmentFileName in 7'],
    tail: null,
  },
  {
    title: 'replica does not decode, which no cut changes',
    before: damaged(
      twoRotten,
      createFile('replica', encodeReplica({ generation: 1n, commit: 2n })),
      flipBit('replica', 9, 0),
    ),
    change: { cut: cutAt(third.positions[2]!, 17n) },
    after: damaged(
      image,
      truncate(logName(2), third.positions[2]!),
      createFile('replica', encodeReplica({ generation: 1n, commit: 2n })),
      flipBit('replica', 9, 0),
    ),
    says: ['refuses', 'SidecarChecksum at 24'],
    tail: null,
  },
];

describe('what a broker does once a plan is carried out', () => {
  for (const { title, before, change, after, says, tail } of ROWS) {
    it(`is foretold: ${title}`, async () => {
      const prediction = await foretold(before, change);
      const of = { prediction };
      expect([prediction.verdict, ...refused(of), ...repaired(of), ...failing(of)]).to.deep.equal(says);
      expect(prediction.tailOffsetAfter).to.equal(tail);
      expect(prediction).to.deep.equal((await reportOf(after)).prediction);
    });
  }

  it('is told for the settings that it will run with, those of now when none are named', async () => {
    const files = damaged(image, rot(2, third.positions[5]!));
    const optedIn = { repairChecksumTail: true };
    expect((await foretold(files, {}, optedIn)).verdict).to.equal('repairs');
    const byDefault = await foretold(files, {}, optedIn, { repairChecksumTail: false });
    expect(byDefault).to.deep.equal((await reportOf(files)).prediction);
    expect(byDefault.verdict).to.equal('refuses');
  });

  it('errs on the side of refusing where a cut empties a segment that does not begin where the one before it ends', async () => {
    const gap = damaged(image, createFile(logName(2), buildSegment({ records: [plain(18n)] }).log), rot(2, 32));
    const prediction = await foretold(gap, { cut: cutAt(32, 18n) });
    expect(refused({ prediction })).to.deep.equal(['OffsetOutOfOrder in 2 at 0']);
  });
});
