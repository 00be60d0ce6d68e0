import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { journalsBeside } from '../../src/store/journals.js';
import {
  append,
  type Damage,
  damaged,
  deleteFile,
  flipBit,
  insert,
  remove,
  truncate,
  write,
  zero,
} from '../builders/damage.js';
import { type HealOptions, healed } from '../builders/healing.js';
import { runInProcess } from '../builders/in-process.js';
import { plannedImage } from '../builders/planned-image.js';
import { seededRandom } from '../builders/random.js';
import { plain, plainRun, sequence } from '../builders/records.js';
import { withMemoryDir } from '../builders/repairs.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  readShard,
  SHARD_DIR_NAME,
  type ShardImage,
  shardOf,
  threeSegments,
  v4WithGenerations,
  writeShard,
  writeShardBelow,
} from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';
import { hashTree, PROJECT_ROOT } from '../builders/trees.js';

/** Offsets 0..8, 8..15, 15..21; and the same records with other boundaries. */
const { image, segments } = threeSegments();
const [first, second, third] = segments as [(typeof segments)[0], (typeof segments)[0], (typeof segments)[0]];
const other = shardOf([{ parts: [3] }, { parts: [14] }, { parts: [4] }]).image;

/** Plans the heal of a shard from donors, and works out what would become of it. */
async function outcome(target: ShardImage, donors: readonly ShardImage[], options: HealOptions = {}) {
  return withMemoryDir(async (dir) => {
    const shard = writeShardBelow(target, path.join(dir, 'target'));
    const paths = donors.map((donor, i) => writeShardBelow(donor, path.join(dir, `donor-${i}`)));
    const { plan, ...rest } = await healed(shard, paths, options);
    return { plan, ...rest, after: plan === null ? null : plannedImage(target, plan) };
  });
}

/** Logs and indexes of both are the same bytes. */
function expectSame(after: ShardImage | null, wanted: ShardImage): void {
  expect([...after!.keys()].sort()).to.deep.equal([...wanted.keys()].sort());
  for (const [name, bytes] of wanted) expect(Buffer.from(after!.get(name)!).equals(bytes), name).to.equal(true);
}

/** One record of the middle segment, by number. */
const rot = (record: number, at = 30): Damage => flipBit(logName(1), second.positions[record]! + at, 2);

describe('heal', () => {
  describe('with donors that hold what is lost', () => {
    const cases: readonly [string, readonly Damage[]][] = [
      ['a rotten record', [rot(3)]],
      ['the first and the last record of a segment', [rot(0), rot(6)]],
      ['records on both sides of a boundary', [rot(0), flipBit(logName(0), first.positions[7]! + 4, 0)]],
      ['a run of zeros over several records', [zero(logName(1), second.positions[1]! + 5, 150)]],
      ['bytes taken out', [remove(logName(1), second.positions[2]! + 9, 40)]],
      ['a segment that is gone, with its index', [deleteFile(logName(1)), deleteFile(indexName(1))]],
      ['the newest segment, cut off in its last record', [truncate(logName(2), third.positions[5]! + 11)]],
      ['a header of zeros', [zero(logName(1), 0, 32), flipBit(logName(1), 40, 1)]],
      ['a first segment of zeros without an index', [zero(logName(0), 0, first.log.length), deleteFile(indexName(0))]],
      ['the first records of the log', [zero(logName(0), 32, 200)]],
    ];
    for (const [what, damages] of cases) {
      it(`makes good ${what}`, async () => {
        const { after, plan } = await outcome(damaged(image, ...damages), [other]);
        const expected = new Map(image);
        // The time of creation that a lost header held is known to nobody.
        if (/header|gone|zeros without/.test(what)) {
          for (const name of [logName(0), logName(1)]) {
            expected.set(name, Buffer.concat([after!.get(name)!.subarray(0, 32), expected.get(name)!.subarray(32)]));
          }
        }
        expectSame(after, expected);
        expect(plan!.after.verdict).to.equal('opens');
      });
    }

    it('gives a rebuilt header the base that the chain demands, and keeps what its checksum bears out', async () => {
      for (const at of [1, 5, 7, 12]) {
        const { after } = await outcome(damaged(image, flipBit(logName(1), at, 4)), [other]);
        expectSame(after, image);
      }
    });

    it('fills the log up to the commit offset, and no further', async () => {
      const sidecars = { replica: encodeReplica({ generation: 1n, commit: 19n }) };
      const cut = damaged(threeSegments({ sidecars }).image, truncate(logName(2), third.positions[2]!));
      const { after, plan } = await outcome(cut, [other]);
      expect(plan!.after.tailOffset).to.equal(19n);
      expect(after!.get(logName(2))!.length).to.equal(third.positions[4]);
    });

    it('begins a segment of a higher version where a record asks for one', async () => {
      const sidecars = { replica: encodeReplica({ generation: 2n, commit: 9n }) };
      const records = sequence(0n, [6, { generation: 2n }, 2]);
      const donor = buildShard({ segments: [buildSegment({ version: 4, records })] });
      const { after } = await outcome(shardOf([{ parts: [4] }], { sidecars }).image, [donor]);
      const view = (name: string) => new DataView(Uint8Array.from(after!.get(name)!).buffer);
      expect(view(logName(0)).getUint16(4)).to.equal(3);
      expect(view(logName(1)).getUint16(4)).to.equal(4);
      expect(view(logName(1)).getBigUint64(8)).to.equal(6n);
    });

    it('takes different records from different donors', async () => {
      const target = damaged(image, rot(2), flipBit(logName(2), third.positions[2]! + 30, 0));
      const donors = [damaged(other, deleteFile(logName(2))), damaged(other, zero(logName(1), 32, 300))];
      const { refused, after } = await outcome(target, donors);
      expect(refused).to.equal(null);
      expectSame(after, image);
    });

    it('lays a shard without any segment out as the donor is', async () => {
      const sidecars = { replica: encodeReplica({ generation: 1n, commit: 21n }) };
      const { after, plan } = await outcome(new Map(Object.entries(sidecars)), [other]);
      const logs = (files: ShardImage) => [...files.keys()].filter((name) => name.endsWith('.log')).sort();
      expect(logs(after!)).to.deep.equal(logs(other));
      expect(plan!.after.tailOffset).to.equal(21n);
    });

    it('leaves every small file as it is', async () => {
      const { image: files } = v4WithGenerations();
      const donor = v4WithGenerations().image;
      const { after, plan } = await outcome(damaged(files, flipBit(logName(1), 100, 0)), [donor]);
      expectSame(after, files);
      expect(plan!.steps.map(({ file }) => file)).to.deep.equal([logName(1)]);
    });
  });

  describe('refuses', () => {
    const rotten = damaged(image, rot(3));
    /** The donor with another payload at one offset, and sound. */
    const differing = (offset: number) => {
      const records = plainRun(0n, 21).map((record, i) =>
        i === offset ? plain(record.offset, { payloadLength: 90 }) : record,
      );
      return buildShard({ segments: [buildSegment({ records })] });
    };

    it('donors that disagree, and names them', async () => {
      const { refused } = await outcome(rotten, [other, differing(11)]);
      expect(refused).to.match(/donors disagree on offset 11: .*donor-0.* and .*donor-1/);
    });

    it('a donor whose neighbours are not those of the shard', async () => {
      for (const offset of [10, 12]) {
        const { refused } = await outcome(rotten, [differing(offset)]);
        expect(refused).to.match(
          new RegExp(`donor-0.*: its record at offset ${offset}, beside the range, is not the shard's`),
        );
      }
      expect((await outcome(rotten, [differing(9)])).refused).to.equal(null);
    });

    it('a donor that does not hold both neighbours', async () => {
      const without = buildShard({ segments: [buildSegment({ baseOffset: 11n, records: plainRun(11n, 10) })] });
      const { refused } = await outcome(rotten, [without]);
      expect(refused).to.match(/does not hold offset 10, beside the range, so that nothing ties it to the shard/);
    });

    it('a donor whose history names another generation for the range', async () => {
      const epochs = (...starts: [bigint, bigint][]) =>
        encodeEpochs({ entries: starts.map(([generation, startOffset]) => ({ generation, startOffset })) });
      const mine = new Map([...rotten, ['epochs', epochs([1n, 0n], [2n, 9n])]]);
      const theirs = (bytes: Uint8Array) => new Map([...other, ['epochs', bytes]]);
      const { refused } = await outcome(mine, [theirs(epochs([1n, 0n], [3n, 9n]))]);
      expect(refused).to.match(/its epochs name another generation for offset 11/);
      for (const bytes of [
        epochs([1n, 0n], [2n, 9n]),
        epochs([1n, 0n], [2n, 9n], [3n, 12n]),
        epochs(),
        new Uint8Array(4),
      ]) {
        expect((await outcome(mine, [theirs(bytes)])).refused).to.equal(null);
      }
    });

    it('to cut what no donor has records for, and says what does', async () => {
      for (const [byte, command] of [
        [0, 'felix-fsck repair-tail --allow zero-tail SHARD'],
        [7, 'felix-fsck repair-tail SHARD'],
      ] as const) {
        const target = damaged(image, append(logName(2), new Uint8Array(99).fill(byte)));
        const { refused, instead } = await outcome(target, [other]);
        expect(refused).to.match(/no donor holds offset 21.*repair-tail/);
        expect(instead).to.include(command);
      }
    });

    it('segments whose records contradict each other', async () => {
      const records = plainRun(12n, 9, { payloadLength: 70 });
      const overlapping = new Map([...image, [logName(2), buildSegment({ records }).log]]);
      const { refused } = await outcome(overlapping, [other]);
      expect(refused).to.match(/left as it is: its records and those of the next segment overlap/);
    });

    it('a segment of another build', async () => {
      const foreign = buildSegment({ version: 7, baseOffset: 8n, records: second.records });
      const { refused } = await outcome(new Map([...image, [logName(1), foreign.log]]), [other]);
      expect(refused).to.match(/another build/);
    });

    it('what is no donor: nothing there, no segment, the shard itself', () =>
      withMemoryDir(async (dir) => {
        const shard = writeShardBelow(rotten, dir);
        writeFileSync(path.join(dir, 'text'), 'no segment');
        mkdirSync(path.join(dir, 'empty'));
        for (const donor of ['no-such', 'text', 'empty', SHARD_DIR_NAME]) {
          const { code, stderr } = await runInProcess(['heal', shard, '--from', path.join(dir, donor)]);
          expect(code, stderr).to.equal(2);
        }
        expect((await runInProcess(['heal', shard])).code).to.equal(2);
      }));
  });

  it('heals what can be healed in place, and says of the rest why not', async () => {
    const gap = shardOf([{ parts: [21] }]);
    const positions = gap.segments[0]!.positions;
    const donor = damaged(gap.image, flipBit(logName(0), positions[13]! + 30, 0));
    const target = damaged(image, rot(2), rot(5), flipBit(logName(2), third.positions[1]! + 30, 0));
    const { after, plan } = await outcome(target, [donor]);
    expect(plan!.notes).to.have.length(1);
    expect(plan!.notes[0]).to.match(
      /offset 13: not healed: no donor may give|offset 13: not healed: no donor holds offset 13/,
    );
    expectSame(after, damaged(image, rot(5)));
  });

  it('moves nothing in a segment that keeps some damage, because its index must hold', async () => {
    const gap = shardOf([{ parts: [21] }]);
    const donor = damaged(gap.image, flipBit(logName(0), gap.segments[0]!.positions[13]! + 30, 0));
    const target = damaged(image, rot(5), remove(logName(1), second.positions[2]! + 9, 7));
    const { refused } = await outcome(target, [donor]);
    expect(refused).to.match(/other damage in the same segment cannot be healed, and this would move it/);
  });

  describe('meets intact records in the wrong place and', () => {
    const blockOf = (segment: typeof second, from: number, to: number) =>
      segment.log.subarray(segment.positions[from], segment.positions[to] ?? segment.log.length);
    const at = second.positions[3]!;

    it('lets them go when they are where they belong, too', async () => {
      const cases = [
        // Records of the segment before, written over three of this one.
        write(logName(1), at, blockOf(first, 1, 4)),
        // Records of the segment behind.
        write(logName(1), at, blockOf(third, 0, 3)),
        // Records of this one, a second time.
        insert(logName(1), at, blockOf(second, 1, 3)),
        insert(logName(1), at, blockOf(second, 4, 6)),
      ];
      for (const damage of cases) {
        const { after, refused } = await outcome(damaged(image, damage), [other]);
        expect(refused).to.equal(null);
        expectSame(after, image);
      }
    });

    it('leaves them when nobody else has them', async () => {
      for (const stranger of [plain(500n), plain(3n, { payloadLength: 5 })]) {
        const { refused } = await outcome(damaged(image, insert(logName(1), at, encodeRecord(stranger))), [other]);
        expect(refused).to.match(new RegExp(`an intact record of offset ${stranger.offset} lies in the damaged bytes`));
      }
    });
  });

  it('finds where a lost first segment began by the lengths of its records, in donors of many segments', async () => {
    const donor = shardOf([2, 2, 2, 2, 2, 2, 2, 2, 2, 3].map((parts) => ({ parts: [parts] }))).image;
    const lost = damaged(image, zero(logName(0), 0, first.log.length), deleteFile(indexName(0)));
    const { after } = await outcome(lost, [donor]);
    expect(Buffer.from(after!.get(logName(0))!.subarray(32)).equals(first.log.subarray(32))).to.equal(true);
    const { refused } = await outcome(damaged(lost, append(logName(0), new Uint8Array(1))), [donor]);
    expect(refused).to.match(/nothing tells the offset that it begins at/);
  });

  describe('from objects', () => {
    const entries = segments.map((segment, i) => offloaded(segment, BigInt(i)));
    const lost = damaged(image, deleteFile(logName(1)), deleteFile(indexName(1)));
    const withObject = async (target: ShardImage, bytes: Uint8Array, asDirectory: boolean) =>
      withMemoryDir(async (dir) => {
        const shard = writeShardBelow(target, path.join(dir, 'target'));
        const objects = path.join(dir, 'objects', 'broker-a', SHARD_DIR_NAME);
        writeShard(new Map([['00000000000000000008-00000000000000000001.segment', bytes]]), objects);
        const donor = asDirectory ? path.join(dir, 'objects') : path.join(objects, readdirSync(objects)[0]!);
        const { plan, refused } = await healed(shard, [donor]);
        return { refused, after: plan === null ? null : plannedImage(target, plan) };
      });

    it('takes one that the manifest names without its neighbours', async () => {
      const target = new Map([...lost, ['offload.manifest', encodeManifest({ entries })]]);
      for (const asDirectory of [true, false]) {
        const { after } = await withObject(target, second.log, asDirectory);
        expectSame(after, new Map([...image, ['offload.manifest', encodeManifest({ entries })]]));
      }
    });

    it('does not take one that nothing ties to the shard', async () => {
      expect((await withObject(lost, second.log, false)).refused).to.match(/nothing ties it to the shard/);
      const target = new Map([...lost, ['offload.manifest', encodeManifest({ entries })]]);
      const changed = buildSegment({ baseOffset: 8n, records: plainRun(8n, 7, { payloadLength: 20 }) });
      expect((await withObject(target, changed.log, false)).refused).to.match(/nothing ties it to the shard/);
    });

    it('takes several as one history', () =>
      withMemoryDir(async (dir) => {
        const shard = writeShardBelow(lost, path.join(dir, 'target'));
        const objects = path.join(dir, 'objects');
        writeShard(new Map(segments.map(({ log }, i) => [`${i}.segment`, log])), objects);
        const files = readdirSync(objects).map((name) => path.join(objects, name));
        for (const donors of [[objects], files]) expect((await healed(shard, donors)).refused).to.equal(null);
      }));
  });

  it('finds the replica below a data root, and passes over other shards', () =>
    withMemoryDir(async (dir) => {
      const shard = writeShardBelow(damaged(image, rot(3)), path.join(dir, 'target'));
      const root = path.join(dir, 'broker-b');
      writeShardBelow(other, root);
      const records = plainRun(0n, 21, { payloadLength: 99 });
      const foreign = buildShard({ segments: [buildSegment({ records })] });
      const name = 'acme_default_orders_1-0d3aee4b998d294b';
      writeShardBelow(foreign, root, name);
      writeShard(new Map([['0.segment', foreign.get(logName(0))!]]), path.join(root, 'objects', name));
      expect((await healed(shard, [root])).refused).to.equal(null);
      const { code } = await runInProcess(['heal', shard, '--from', path.join(root, name)]);
      expect(code).to.equal(2);
    }));

  it('says which offsets nobody has', async () => {
    const sidecars = { replica: encodeReplica({ generation: 1n, commit: 25n }) };
    const { refused } = await outcome(threeSegments({ sidecars }).image, [other]);
    expect(refused).to.match(/offsets 21\.\.25: not healed: the commit offset/);
  });

  it('takes records out of a salvage', () =>
    withMemoryDir(async (dir) => {
      const donor = writeShardBelow(damaged(other, flipBit(logName(1), 60, 0)), path.join(dir, 'donor'));
      const saved = path.join(dir, 'saved');
      expect((await runInProcess(['salvage', donor, '--to', saved])).code).to.equal(21);
      const target = damaged(image, rot(3), flipBit(logName(2), third.positions[2]! + 30, 0));
      const shard = writeShardBelow(target, path.join(dir, 'target'));
      const { plan } = await healed(shard, [saved]);
      expectSame(plannedImage(target, plan!), image);
    }));

  describe('with --accept-bit-flip', () => {
    const accept = { acceptBitFlip: true };

    it('turns back one flipped bit of a record, wherever it lies, and tells the chance', async () => {
      const start = second.positions[3]!;
      const length = second.positions[4]! - start;
      for (let bit = 0; bit < 8 * length; bit += 7) {
        const target = damaged(image, flipBit(logName(1), start + (bit >> 3), bit & 7));
        const { after, plan } = await outcome(target, [], accept);
        expectSame(after, image);
        expect(plan!.notes.join()).to.match(
          /offset 11: bit \d of byte \d+ \([a-z_.]+\) is turned back; the chance .* about 1 in/,
        );
      }
    });

    it('turns back one of a segment header, and of the last record of the log', async () => {
      for (const damage of [
        flipBit(logName(0), 3, 1),
        flipBit(logName(1), 13, 0),
        flipBit(logName(2), third.positions[5]! + 7, 2),
      ]) {
        const { after, plan } = await outcome(damaged(image, damage), [], accept);
        expectSame(after, image);
        expect(plan!.after.tailOffset).to.equal(21n);
      }
    });

    it('turns back nothing that two bits would be needed for', async () => {
      const { refused } = await outcome(damaged(image, rot(3), rot(3, 33)), [], accept);
      expect(refused).to.match(/no donor was named/);
    });

    it('asks the donors first', async () => {
      const { after, plan } = await outcome(damaged(image, rot(3)), [other], accept);
      expect(plan!.notes).to.deep.equal([]);
      expectSame(after, image);
    });

    it('turns no bit back that was not asked for', async () => {
      const without = buildShard({ segments: [buildSegment({ baseOffset: 30n, records: plainRun(30n, 2) })] });
      expect((await outcome(damaged(image, rot(3)), [without])).refused).to.not.equal(null);
    });
  });

  it('is applied, leaves a shard that verifies clean, and is undone to the very tree', async () => {
    const random = seededRandom(4);
    for (let round = 0; round < 12; round++) {
      const record = random.below(7);
      const damages: readonly Damage[] = [
        [rot(record)],
        [remove(logName(1), second.positions[record]! + 3, 20)],
        [deleteFile(logName(1)), ...(round % 2 === 0 ? [deleteFile(indexName(1))] : [])],
        [write(logName(2), 0, random.bytes(32)), zero(logName(0), 60, 70)],
      ][round % 4]!;
      await withMemoryDir(async (dir) => {
        const shard = writeShardBelow(damaged(image, ...damages), path.join(dir, 'target'));
        const donor = writeShardBelow(other, path.join(dir, 'donor'));
        for (const name of readdirSync(shard)) utimesSync(path.join(shard, name), 1_700_000_000, 1_700_000_000);
        utimesSync(shard, 1_700_000_000, 1_700_000_000);
        const before = hashTree(shard, { directoryTimes: false });
        const donorBefore = hashTree(donor);
        const dry = await runInProcess(['heal', shard, '--from', donor]);
        expect(dry.code, dry.stderr).to.equal(20);
        expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
        const file = path.join(dir, 'plan.json');
        await runInProcess(['heal', shard, '--from', donor, '--plan-out', file]);
        const done = await runInProcess(['apply', file, '--yes']);
        expect(done.code, done.stderr).to.equal(0);
        expect((await runInProcess(['verify', shard])).code).to.equal(0);
        expect((await runInProcess(['heal', shard, '--from', donor])).code).to.equal(0);
        const [journal] = journalsBeside(shard);
        const back = await runInProcess(['undo', journal!.path, '--yes']);
        expect(back.code, back.stderr).to.equal(0);
        expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
        expect(hashTree(donor)).to.deep.equal(donorBefore);
      });
    }
  });

  it('is refused by apply when a donor has changed meanwhile, and the shard stays as it is', () =>
    withMemoryDir(async (dir) => {
      const shard = writeShardBelow(damaged(image, rot(3)), path.join(dir, 'target'));
      const donor = writeShardBelow(other, path.join(dir, 'donor'));
      for (const name of readdirSync(shard)) utimesSync(path.join(shard, name), 1_700_000_000, 1_700_000_000);
      const before = hashTree(shard, { directoryTimes: false });
      const file = path.join(dir, 'plan.json');
      await runInProcess(['heal', shard, '--from', donor, '--plan-out', file]);
      writeShard(damaged(other, zero(logName(1), 32, 800)), donor);
      const { code, stderr } = await runInProcess(['apply', file, '--yes']);
      expect(code, stderr).to.be.oneOf([31, 33]);
      if (code === 33) {
        const [journal] = journalsBeside(shard);
        await runInProcess(['undo', journal!.path, '--yes']);
      }
      expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
    }));
});

describe('the way out that verify names', () => {
  const fixtures = path.join(PROJECT_ROOT, 'fixtures');
  /** Fixtures of the same records, of which one heals the other. */
  const healing: readonly [broken: string, replica: string][] = [
    ['missing-segment', 'zero-tail'],
    ['half-record-then-good-ones', 'zero-tail'],
    ['flipped-bit-in-length', 'zero-tail'],
    ['flipped-bit-in-payload', 'index-points-elsewhere'],
  ];
  const words = (command: string) => command.split(' ').slice(1);

  for (const [broken, replica] of healing) {
    it(`heals ${broken} from a replica`, () =>
      withMemoryDir(async (dir) => {
        cpSync(path.join(fixtures, broken), path.join(dir, 'a'), { recursive: true });
        cpSync(path.join(fixtures, replica), path.join(dir, 'b'), { recursive: true });
        const [shard, donor] = ['a', 'b'].map((name) => path.join(dir, name, SHARD_DIR_NAME)) as [string, string];
        const report = await runInProcess(['verify', shard, '--replica', donor, '--format', 'json']);
        const [found] = (JSON.parse(report.stdout) as { shards: { findings: { next: string | null }[] }[] }).shards;
        const next = found!.findings.find((finding) => finding.next?.startsWith('felix-fsck heal'))?.next;
        expect(next).to.be.a('string');
        const { code, stderr } = await runInProcess(words(next!));
        expect(code, stderr).to.equal(20);
        const { plan } = await healed(shard, [donor]);
        const after = writeShard(plannedImage(readShard(shard), plan!), path.join(dir, 'after'));
        expect((await runInProcess(['verify', after])).code).to.equal(0);
      }));
  }

  it('is a command that does its work, on every fixture', () =>
    withMemoryDir(async (dir) => {
      cpSync(fixtures, path.join(dir, 'fixtures'), { recursive: true });
      const report = await runInProcess(['verify', path.join(dir, 'fixtures'), '--format', 'json']);
      const { shards } = JSON.parse(report.stdout) as { shards: { findings: { next: string | null }[] }[] };
      const commands = new Set(
        shards.flatMap(({ findings }) => findings.flatMap(({ next }) => (next === null ? [] : [next]))),
      );
      expect([...commands].some((command) => command.includes(' salvage '))).to.equal(true);
      let number = 0;
      for (const command of commands) {
        const given = words(command).map((word) => (word === 'DIR' ? path.join(dir, `out-${number++}`) : word));
        const { code, stderr } = await runInProcess(given);
        expect([0, 20, 21, 22], `${command}: ${stderr}`).to.include(code);
      }
    }));

  it('brings a segment back from the object that the manifest names', () =>
    withMemoryDir(async (dir) => {
      const objects = path.join(dir, 'objects');
      const entries = segments.map((segment, i) => offloaded(segment, BigInt(i)));
      const files = new Map([...damaged(image, rot(3)), ['offload.manifest', encodeManifest({ entries })]]);
      const shard = writeShardBelow(files, path.join(dir, 'target'));
      const object = path.join(objects, entries[1]!.key);
      mkdirSync(path.dirname(object), { recursive: true });
      writeFileSync(object, second.log);
      const report = await runInProcess(['verify', shard, '--format', 'json']);
      const [found] = (JSON.parse(report.stdout) as { shards: { findings: { next: string | null }[] }[] }).shards;
      const next = found!.findings.find((finding) => finding.next?.startsWith('felix-fsck heal'))!.next!;
      expect(next).to.contain(entries[1]!.key);
      const { code, stderr } = await runInProcess(words(next).map((word) => word.replace(/^OBJECTS/, objects)));
      expect(code, stderr).to.equal(20);
      expect(readFileSync(object).equals(second.log)).to.equal(true);
    }));
});
