import path from 'node:path';
import { expect } from 'chai';
import { diffEpochs } from '../../src/check/diff-epochs.js';
import type { ReplicaDiff } from '../../src/domain/replica-diff.js';
import { FailureError } from '../../src/domain/result.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import type { LogRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { damaged, flipBit, truncate } from '../builders/damage.js';
import { batch, plain, plainRun, type SequencePart, sequence } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  logName,
  SHARD_DIR_NAME,
  type ShardImage,
  threeSegments,
  writeShardBelow,
} from '../builders/shards.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

interface Plan {
  /** Records of each segment. */
  readonly segments: readonly (readonly LogRecord[])[];
  /** Generation and start, or null for no file. */
  readonly epochs?: readonly (readonly [bigint, bigint])[] | null;
  readonly commit?: bigint | null;
  readonly generation?: bigint;
  readonly damage?: (image: ShardImage) => ShardImage;
}

function imageOf(plan: Plan): ShardImage {
  const { epochs = null, commit = null, generation = 1n, damage = (image: ShardImage) => image } = plan;
  const sidecars: Record<string, Uint8Array> = {};
  if (epochs !== null) {
    const entries = epochs.map(([epoch, startOffset]) => ({ generation: epoch, startOffset }));
    sidecars['epochs'] = encodeEpochs({ entries });
  }
  if (commit !== null) sidecars['replica'] = encodeReplica({ generation, commit });
  const segments = plan.segments.map((records) => buildSegment({ version: 4, records }));
  return damage(buildShard({ segments, sidecars }));
}

async function diff(...plans: readonly Plan[]): Promise<ReplicaDiff> {
  return withTempDir(async (dir) => {
    const paths = plans.map((plan, at) => writeShardBelow(imageOf(plan), path.join(dir, `broker-${at}`)));
    const before = hashTree(dir);
    const result = await diffEpochs(paths, async () => true);
    expect(hashTree(dir)).to.deep.equal(before);
    return result!;
  });
}

function run(first: bigint, ...parts: readonly SequencePart[]): readonly LogRecord[] {
  return sequence(first, parts);
}

/** Records written by another leader: other payloads at the same offsets. */
function other(first: bigint, count: number): readonly LogRecord[] {
  return plainRun(first, count, { payloadLength: 33 });
}

const GEN_2 = [
  [1n, 0n],
  [2n, 10n],
] as const;
const GEN_3 = [...GEN_2, [3n, 12n]] as const;
const TWELVE = run(0n, 10, { generation: 2n }, 1);

function pairOf({ pairs }: ReplicaDiff, names = 'AB') {
  return pairs.find(({ a, b }) => a + b === names)!;
}

function cutOf({ cuts }: ReplicaDiff, name: string) {
  return cuts.find(({ replica }) => replica === name)!;
}

describe('check/diff-epochs', () => {
  it('identical replicas have the same history: nobody cuts, exit 0', async () => {
    const plan = { segments: [TWELVE], epochs: GEN_2, commit: 11n };
    const same = await diff(plan, plan);
    expect(pairOf(same)).to.deep.include({ relation: 'identical', agreedTo: 12n, behind: null, notes: [] });
    expect(pairOf(same).records).to.deep.include({
      compared: 12,
      differing: 0,
      identical: { from: 0n, to: 12n },
      firstDifference: null,
    });
    expect(same.cuts.map(({ verdict }) => verdict)).to.deep.equal(['nothing']);
    expect(same.exitCode).to.equal(0);
  });

  it('one that is behind is sent what it lacks: exit 0', async () => {
    const behind = await diff(
      { segments: [TWELVE, run(12n, { generation: 3n }, 4)], epochs: GEN_3, commit: 14n },
      { segments: [TWELVE], epochs: GEN_2, commit: 11n },
    );
    expect(pairOf(behind)).to.deep.include({ relation: 'behind', behind: 'B', agreedTo: 12n });
    expect(behind.leader).to.equal('A');
    expect(cutOf(behind, 'B').verdict).to.equal('nothing');
    expect(cutOf(behind, 'B').why).to.include('offsets 12..17');
    expect(behind.exitCode).to.equal(0);
  });

  it('segment boundaries play no part', async () => {
    const all = run(0n, 10, { generation: 2n }, 9);
    const split = (...at: readonly number[]) =>
      [0, ...at].map((from, piece) => all.slice(from, [...at, all.length][piece]));
    const same = await diff(
      { segments: split(7, 13), epochs: GEN_2 },
      { segments: split(2, 4, 15), epochs: GEN_2 },
      { segments: split(), epochs: GEN_2 },
    );
    expect(same.pairs.map(({ relation, records }) => [relation, records.compared])).to.deep.equal([
      ['identical', 20],
      ['identical', 20],
      ['identical', 20],
    ]);
    expect(same.exitCode).to.equal(0);
  });

  it('what an older generation left above the commit offset is cut, with what that loses', async () => {
    const apart = await diff(
      { segments: [TWELVE, other(12n, 4)], epochs: GEN_2, commit: 12n },
      { segments: [TWELVE, run(12n, { generation: 3n }, 5)], epochs: GEN_3, commit: 16n },
    );
    expect(pairOf(apart)).to.deep.include({ relation: 'diverged', agreedTo: 12n });
    expect(pairOf(apart).shared).to.deep.include({ generation: 2n });
    expect([pairOf(apart).shared?.a.end, pairOf(apart).shared?.b.end]).to.deep.equal([16n, 12n]);
    expect(pairOf(apart).records.firstDifference).to.deep.include({ offset: 12n });
    const lost = other(12n, 4);
    expect(cutOf(apart, 'A')).to.deep.include({
      leader: 'B',
      verdict: 'cut',
      cut: { from: 12n, to: 16n },
      records: 4,
      bytes: 4 * (28 + 33),
      firstTimestampMicros: lost[0]!.timestampMicros,
      lastTimestampMicros: lost[3]!.timestampMicros,
      underOwnCommit: null,
      underLeaderCommit: { from: 12n, to: 16n },
    });
    expect(apart.exitCode).to.equal(21);
  });

  it('a cut under its own commit offset is refused, with what a majority had acknowledged', async () => {
    const refused = await diff(
      { segments: [TWELVE, other(12n, 4)], epochs: GEN_2, commit: 14n },
      { segments: [TWELVE, run(12n, { generation: 3n }, 5)], epochs: GEN_3, commit: 12n },
    );
    expect(cutOf(refused, 'A')).to.deep.include({
      verdict: 'refused',
      cut: { from: 12n, to: 16n },
      underOwnCommit: { from: 12n, to: 14n },
    });
    expect(cutOf(refused, 'A').why).to.include('BelowCommit').and.to.include('offsets 12..14');
    expect(refused.exitCode).to.equal(21);
  });

  it('a commit offset at the cut itself does not stop it, one past it does', async () => {
    const at = async (commit: bigint) =>
      cutOf(
        await diff(
          { segments: [TWELVE, other(12n, 4)], epochs: GEN_2, commit },
          { segments: [TWELVE, run(12n, { generation: 3n })], epochs: GEN_3, commit: 0n },
        ),
        'A',
      ).verdict;
    expect([await at(12n), await at(13n)]).to.deep.equal(['cut', 'refused']);
  });

  it('records left over where the newer generation has written nothing yet are still to be cut', async () => {
    const apart = await diff(
      { segments: [TWELVE, other(12n, 2)], epochs: GEN_2, commit: 10n },
      { segments: [TWELVE], epochs: GEN_3, commit: 10n },
    );
    expect(pairOf(apart)).to.deep.include({ relation: 'diverged', agreedTo: 12n });
    expect(cutOf(apart, 'A')).to.deep.include({ verdict: 'cut', cut: { from: 12n, to: 14n }, records: 2 });
  });

  it('generations that the cut removes from the history are told', async () => {
    const apart = await diff(
      {
        segments: [run(0n, 10), other(10n, 6)],
        epochs: [
          [1n, 0n],
          [2n, 10n],
          [4n, 13n],
        ],
        commit: 4n,
      },
      {
        segments: [run(0n, 8, { generation: 5n }, 3)],
        epochs: [
          [1n, 0n],
          [5n, 8n],
        ],
        commit: 4n,
      },
    );
    expect(pairOf(apart).shared?.generation).to.equal(1n);
    expect(cutOf(apart, 'A')).to.deep.include({ cut: { from: 8n, to: 16n }, generations: [2n, 4n], records: 8 });
  });

  it('one generation with two contents is said to be impossible: shown, and nobody cuts', async () => {
    const forked = await diff(
      { segments: [TWELVE.slice(0, 11), [plain(11n, { payload: Uint8Array.of(1, 2, 3) })]], epochs: GEN_2, commit: 5n },
      { segments: [TWELVE.slice(0, 11), [plain(11n, { payload: Uint8Array.of(1, 9, 3) })]], epochs: GEN_2, commit: 5n },
    );
    expect(pairOf(forked)).to.deep.include({ relation: 'forked', agreedTo: 12n });
    expect(pairOf(forked).records.firstDifference).to.deep.include({ offset: 11n, what: ['payload'], payloadByte: 1 });
    expect(pairOf(forked).notes.join()).to.include('nobody cuts');
    expect(forked.cuts.map(({ verdict, cut }) => [verdict, cut])).to.deep.equal([['undecided', null]]);
    expect(forked.exitCode).to.equal(21);
  });

  it('without a history on one side the records alone are compared, and said so', async () => {
    const first = { segments: [TWELVE], epochs: GEN_2, commit: 11n };
    const same = await diff(first, { segments: [TWELVE], epochs: null });
    expect(pairOf(same)).to.deep.include({ relation: 'identical', agreedTo: null, shared: null });
    expect(pairOf(same).notes).to.deep.equal(['B has no generation history: compared by records alone.']);
    expect([same.exitCode, cutOf(same, 'B').verdict]).to.deep.equal([0, 'undecided']);
    const apart = await diff(first, { segments: [TWELVE.slice(0, 11), other(11n, 3)], epochs: null });
    expect(pairOf(apart)).to.deep.include({ relation: 'diverged' });
    expect(pairOf(apart).records.firstDifference?.offset).to.equal(11n);
    expect([apart.exitCode, cutOf(apart, 'B').verdict]).to.deep.equal([21, 'undecided']);
    const neither = await diff({ ...first, epochs: null }, { ...first, epochs: null });
    expect([neither.leader, neither.cuts]).to.deep.equal([null, []]);
  });

  it('a damaged history reads as none, and is a warning where the records are the same', async () => {
    const same = await diff(
      { segments: [TWELVE], epochs: GEN_2, damage: (image) => damaged(image, flipBit('epochs', 20, 0)) },
      { segments: [TWELVE], epochs: GEN_2 },
    );
    expect(same.replicas[0]?.history).to.deep.equal({ state: 'damaged', generations: [] });
    expect(pairOf(same).notes.join()).to.include('A has a damaged generation history');
    expect(same.exitCode).to.equal(20);
  });

  it('a history that contradicts itself is not gone by', async () => {
    const wrong = await diff(
      {
        segments: [TWELVE],
        epochs: [
          [2n, 0n],
          [1n, 10n],
        ],
      },
      { segments: [TWELVE], epochs: GEN_2 },
    );
    expect(wrong.replicas[0]?.history.state).to.equal('contradictory');
    expect([wrong.leader, wrong.exitCode]).to.deep.equal(['B', 21]);
  });

  it('one generation that starts at two offsets makes one of the histories wrong', async () => {
    const wrong = await diff(
      { segments: [TWELVE], epochs: GEN_2 },
      {
        segments: [TWELVE],
        epochs: [
          [1n, 0n],
          [2n, 9n],
        ],
      },
    );
    expect(pairOf(wrong).startsDiffer).to.deep.equal([{ generation: 2n, a: 10n, b: 9n }]);
    expect([pairOf(wrong).relation, wrong.cuts[0]?.verdict, wrong.exitCode]).to.deep.equal([
      'diverged',
      'undecided',
      21,
    ]);
  });

  it('a damaged replica file leaves the commit offset unknown, and no cut is decided', async () => {
    const unknown = await diff(
      {
        segments: [TWELVE, other(12n, 4)],
        epochs: GEN_2,
        commit: 12n,
        damage: (image) => damaged(image, flipBit('replica', 23, 0)),
      },
      { segments: [TWELVE, run(12n, { generation: 3n })], epochs: GEN_3 },
    );
    expect(unknown.replicas[0]?.accepted).to.deep.equal({ state: 'damaged', generation: null, commit: null });
    expect(cutOf(unknown, 'A').verdict).to.equal('undecided');
    expect(cutOf(unknown, 'A').why).to.include('commit offset is not known');
  });

  it('of three replicas the two that agree are told apart from the third', async () => {
    const three = await diff(
      { segments: [TWELVE, other(12n, 4)], epochs: GEN_2, commit: 12n },
      { segments: [TWELVE, run(12n, { generation: 3n }, 5)], epochs: GEN_3, commit: 16n },
      { segments: [TWELVE, run(12n, { generation: 3n }, 2)], epochs: GEN_3, commit: 14n },
    );
    expect(three.pairs.map(({ a, b, relation }) => [a + b, relation])).to.deep.equal([
      ['AB', 'diverged'],
      ['AC', 'diverged'],
      ['BC', 'behind'],
    ]);
    expect(three.leader).to.equal('B');
    expect(three.cuts.map(({ replica, verdict }) => [replica, verdict])).to.deep.equal([
      ['A', 'cut'],
      ['C', 'nothing'],
    ]);
  });

  it('damaged records are not compared, and no sameness is claimed for them', async () => {
    const { positions } = buildSegment({ version: 4, records: TWELVE });
    const hurt = await diff(
      { segments: [TWELVE], epochs: GEN_2 },
      {
        segments: [TWELVE],
        epochs: GEN_2,
        damage: (image) => damaged(image, flipBit(logName(0), positions[4]! + 30, 0)),
      },
    );
    expect(pairOf(hurt).records).to.deep.include({ compared: 11, differing: 0, notCompared: 1, firstNotCompared: 4n });
    expect(hurt.replicas[1]?.damage).to.deep.equal([
      { kind: 'RecordChecksum', file: logName(0), position: positions[4], lost: { from: 4n, to: 5n } },
    ]);
    expect([pairOf(hurt).relation, hurt.exitCode]).to.deep.equal(['identical', 21]);
    const torn = await diff(
      { segments: [TWELVE], epochs: GEN_2 },
      {
        segments: [TWELVE],
        epochs: GEN_2,
        damage: (image) => damaged(image, truncate(logName(0), positions[11]! + 9)),
      },
    );
    expect(pairOf(torn)).to.deep.include({ relation: 'behind', behind: 'B' });
    expect(torn.replicas[1]?.tail).to.equal(11n);
  });

  it('logs that begin elsewhere are compared where both hold records', async () => {
    const later = await diff({ segments: [TWELVE], epochs: GEN_2 }, { segments: [TWELVE.slice(5)], epochs: GEN_2 });
    expect(pairOf(later).records).to.deep.include({ compared: 7, identical: { from: 5n, to: 12n }, notCompared: 0 });
    expect(later.exitCode).to.equal(0);
    const apart = await diff({ segments: [run(0n, 3)] }, { segments: [run(8n, 3)] });
    expect(pairOf(apart).relation).to.equal('not comparable');
    expect(apart.exitCode).to.equal(21);
  });

  it('an empty replica is behind, not diverged', async () => {
    const empty = await diff({ segments: [TWELVE], epochs: GEN_2 }, { segments: [[]] });
    expect(pairOf(empty)).to.deep.include({ relation: 'behind', behind: 'B' });
    expect(empty.replicas[1]).to.deep.include({ base: 0n, tail: 0n, records: 0 });
  });

  it('what differs in a record is named: kind, time, length, tag, payload', async () => {
    const of = async (one: readonly LogRecord[], two: readonly LogRecord[]) => {
      const { firstDifference } = pairOf(await diff({ segments: [one] }, { segments: [two] })).records;
      return firstDifference?.what;
    };
    const tag = { producerId: 1n, sequence: 2n, len: 1 };
    expect(await of([plain(0n)], [plain(0n, { timestampMicros: 5n })])).to.deep.equal(['timestamp']);
    expect(await of(batch(0n, tag), batch(0n, { ...tag, producerId: 9n }))).to.deep.equal(['tag']);
    expect(await of([plain(0n)], batch(0n, tag))).to.deep.equal(['kind']);
    const long = (last: number) => {
      const payload = new Uint8Array(700_000).fill(1);
      payload[650_000] = last;
      return [plain(0n, { payload })];
    };
    const { firstDifference } = pairOf(await diff({ segments: [long(2)] }, { segments: [long(3)] })).records;
    expect(firstDifference).to.deep.include({ what: ['payload'], payloadByte: 650_000 });
  });

  it('a newest generation of which the newest log lacks committed records is not to be led by', async () => {
    const lacking = await diff(
      { segments: [TWELVE, other(12n, 4)], epochs: GEN_2, commit: 11n },
      { segments: [TWELVE, run(12n, { generation: 3n })], epochs: GEN_3, commit: 20n },
    );
    expect(cutOf(lacking, 'A').why).to.include('B lacks offsets 13..20').and.to.include('should not lead');
  });

  it('the ballot and the accepted generation stand beside each replica', async () => {
    const withBallot = (leader: string) => (image: ShardImage) =>
      new Map([...image, ['ballot', encodeBallot({ generation: 3n, leader })] as const]);
    const seen = await diff(
      { segments: [TWELVE], epochs: GEN_2, commit: 4n, generation: 3n, damage: withBallot('broker-b') },
      { segments: [TWELVE], epochs: GEN_2, damage: withBallot('') },
    );
    expect(seen.replicas.map(({ ballot }) => ballot.leader)).to.deep.equal(['broker-b', '']);
    expect(seen.replicas.map(({ accepted }) => accepted)).to.deep.equal([
      { state: 'sound', generation: 3n, commit: 4n },
      { state: 'missing', generation: null, commit: null },
    ]);
  });

  it('many records in many windows are merged in order', async () => {
    const records = plainRun(0n, 9000, { payloadLength: 40 });
    const changed = records.map((record, at) => (at === 8500 ? plain(8500n, { payloadLength: 39 }) : record));
    const far = await diff({ segments: [records.slice(0, 100), records.slice(100)] }, { segments: [changed] });
    expect(pairOf(far).records).to.deep.include({ compared: 9000, differing: 1, identical: { from: 0n, to: 8500n } });
  });

  it('the shipped replicas part where broker a wrote on alone', async () => {
    const paths = ['a', 'b', 'c'].map((broker) =>
      path.join(PROJECT_ROOT, 'fixtures/diverged-replicas', `broker-${broker}`, SHARD_DIR_NAME),
    );
    const shipped = (await diffEpochs(paths, async () => true))!;
    expect(cutOf(shipped, 'A')).to.deep.include({ verdict: 'cut', cut: { from: 12n, to: 16n }, records: 4 });
    expect(shipped.exitCode).to.equal(21);
  });

  it('says what cannot be compared: one path, no shard, another shard', async () => {
    const failure = async (...paths: readonly string[]) => {
      try {
        await diffEpochs(paths, async () => true);
      } catch (error) {
        if (error instanceof FailureError) return `${error.failure.reason}: ${error.message}`;
        throw error;
      }
      return 'none';
    };
    await withTempDir(async (dir) => {
      const one = writeShardBelow(threeSegments().image, dir);
      const two = writeShardBelow(threeSegments().image, dir, 'acme_default_orders_1-0d3aee4b998d294b');
      expect(await failure(one)).to.include('two replicas');
      expect(await failure(one, dir)).to.include('not the directory of a shard');
      expect(await failure(one, `${dir}/nothing`)).to.match(/^usage: .*no such directory/);
      expect(await failure(one, two)).to.include('is not a replica of');
      expect(await failure(one, path.join(one, logName(0)))).to.include('not the directory of a shard');
    });
  });
});
