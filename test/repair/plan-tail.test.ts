/** What may be cut off a log, and what never is. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { feedOf } from '../../src/format/bytes.js';
import { decodeEpochs, encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { append, createFile, damaged, deleteFile, flipBit, truncate, write } from '../builders/damage.js';
import { plainRun } from '../builders/records.js';
import { type Planning, planning, withMemoryDir } from '../builders/repairs.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, type ShardImage, threeSegments, writeShardBelow } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';

const { image: whole, segments } = threeSegments();
/** Offsets 15..21 in six records. */
const newest = segments[2]!;
const torn = damaged(whole, truncate(logName(2), newest.log.length - 9));
/** The fourth of six records is damaged in its payload. */
const rotten = damaged(whole, flipBit(logName(2), newest.positions[3]! + 30, 0));

async function tail(image: ShardImage, ...options: readonly string[]): Promise<Planning> {
  return withMemoryDir((dir) => planning('repair-tail', ...options, writeShardBelow(image, dir)));
}

async function refused(image: ShardImage, ...options: readonly string[]): Promise<string> {
  const { code, plan, stderr } = await tail(image, ...options);
  expect([code, plan]).to.deep.equal([31, null]);
  return stderr;
}

async function plannedFor(image: ShardImage, ...options: readonly string[]): Promise<Plan> {
  const { code, plan, stderr } = await tail(image, ...options);
  expect(code, stderr).to.equal(20);
  return plan!;
}

function steps(plan: Plan): string[] {
  return plan.steps.map(({ action, file }) => `${action} ${file}`);
}

function heldBytes({ steps: all }: Plan, file: string): Uint8Array {
  const [part] = all.find((step) => step.file === file)!.content;
  return new Uint8Array(Buffer.from((part as { base64: string }).base64, 'base64'));
}

describe('the tail of a sound shard', () => {
  it('is left alone, with exit code 0 and an empty plan', async () => {
    const { code, plan } = await tail(whole);
    expect([code, plan?.steps]).to.deep.equal([0, []]);
  });

  it('is never cut at any place that somebody names', async () => {
    expect(await refused(whole, '--cut-at', String(newest.positions[5]))).to.contain(
      'intact records are never cut off',
    );
  });
});

describe('an unfinished record at the end', () => {
  it('is cut as recovery does, and no record is lost', async () => {
    const plan = await plannedFor(torn);
    expect(steps(plan)).to.deep.equal([`cut ${logName(2)}`]);
    const [cut] = plan.steps;
    expect(cut!.after!.size).to.equal(newest.positions[5]);
    expect(cut!.ranges).to.deep.equal([{ from: newest.positions[5], to: newest.log.length - 9 }]);
    expect(cut!.answers).to.deep.equal([{ kind: 'Truncated', file: logName(2), position: newest.positions[5] }]);
    expect(plan.loses).to.deep.include({ records: 0, intactRecords: 0, offsets: null });
    expect(plan.after).to.deep.include({ verdict: 'opens', tailOffset: 20n, repairs: [] });
  });

  it('takes the derived files with it, and generations that began where the log then ends', async () => {
    const entries = [
      { generation: 1n, startOffset: 0n },
      { generation: 2n, startOffset: 19n },
      { generation: 3n, startOffset: 20n },
    ];
    const image = new Map([
      ...torn,
      ['epochs', encodeEpochs({ entries })],
      ['producers', new Uint8Array(3)],
      ['keys.idx', new Uint8Array(3)],
    ] as const);
    const plan = await plannedFor(image);
    expect(steps(plan)).to.deep.equal([`cut ${logName(2)}`, 'delete producers', 'delete keys.idx', 'rewrite epochs']);
    expect(decodeEpochs(feedOf(heldBytes(plan, 'epochs'))).value!.entries).to.deep.equal(entries.slice(0, 2));
  });

  it('leaves a damaged epochs file as it is', async () => {
    const image = new Map([...torn, ['epochs', new Uint8Array(5)]] as const);
    expect(steps(await plannedFor(image))).to.deep.equal([`cut ${logName(2)}`]);
  });

  it('is not cut under the commit offset, which names what would go', async () => {
    const image = new Map([...torn, ['replica', encodeReplica({ generation: 1n, commit: 21n })]] as const);
    for (const options of [
      [],
      ['--lose-intact', '9'],
      ['--cut-at', String(newest.positions[5]), '--lose-intact', '9'],
    ]) {
      expect(await refused(image, ...options))
        .to.contain('BelowCommit')
        .and.contain('committed offset 20 (1 record) would go');
    }
    const at = new Map([...torn, ['replica', encodeReplica({ generation: 1n, commit: 20n })]] as const);
    expect(steps(await plannedFor(at))).to.deep.equal([`cut ${logName(2)}`]);
  });
});

describe('half a record with intact ones behind it', () => {
  const middle = newest.positions[2]!;
  const half = new Map([
    ...whole,
    [
      logName(2),
      Buffer.concat([
        newest.log.subarray(0, middle),
        Buffer.alloc(0),
        bigHalf(),
        newest.log.subarray(newest.positions[3]!),
      ]),
    ],
  ] as const);

  /** A record that says 1,000 bytes and has 40 of them. */
  function bigHalf(): Uint8Array {
    return buildSegment({ records: plainRun(17n, 1, { payloadLength: 1000 }) }).log.subarray(32, 32 + 68);
  }

  it('is not cut without their number, and salvage is offered first', async () => {
    const said = await refused(half);
    expect(said).to.contain('3 intact records (offsets 18..21) would go with the cut');
    expect(said.indexOf('felix-fsck salvage')).to.be.within(0, said.indexOf('--lose-intact'));
    expect(await refused(half, '--lose-intact', '2')).to.contain('--lose-intact 3');
  });

  it('is cut when their number is given, and the plan says what goes', async () => {
    const plan = await plannedFor(half, '--lose-intact', '3');
    expect(plan.loses).to.deep.include({ records: 3, intactRecords: 3, offsets: { from: 18n, to: 21n } });
    expect(plan.loses.fromTimestampMicros).to.equal(newest.records[3]!.timestampMicros);
    expect(plan.loses.toTimestampMicros).to.equal(newest.records[5]!.timestampMicros);
    expect(plan.notes.join()).to.contain('felix-fsck salvage copies them out first');
  });
});

describe('zeros behind the last record', () => {
  const zeros = damaged(whole, append(logName(2), new Uint8Array(4096)));

  it('are not cut unless it is allowed', async () => {
    expect(await refused(zeros))
      .to.contain('Every byte from there on is zero')
      .and.contain('--allow zero-tail');
    const plan = await plannedFor(zeros, '--allow', 'zero-tail');
    expect(plan.steps.map(({ after }) => after?.size)).to.deep.equal([newest.log.length]);
    expect(plan.after).to.deep.include({ verdict: 'opens', tailOffset: 21n });
  });

  it('are no zero tail when one byte is not zero, wherever it is', async () => {
    for (const at of [0, 2000, 4095]) {
      const one = damaged(zeros, write(logName(2), newest.log.length + at, Uint8Array.of(1)));
      expect(await refused(one, '--allow', 'zero-tail'), `byte ${at}`).to.contain('its bytes are not all zero');
    }
  });

  it('go together with a headerless segment behind them', async () => {
    const image = damaged(zeros, createFile(logName(3), new Uint8Array(7)));
    expect(steps(await plannedFor(image, '--allow', 'zero-tail'))).to.deep.equal([
      `delete ${logName(3)}`,
      `cut ${logName(2)}`,
    ]);
  });
});

describe('a damaged last record', () => {
  const last = damaged(whole, flipBit(logName(2), newest.positions[5]! + 30, 1));

  it('is cut only as repair_checksum_tail would, when that is allowed', async () => {
    expect(await refused(last))
      .to.contain('RecordChecksum')
      .and.contain('--allow checksum-tail');
    const plan = await plannedFor(last, '--allow', 'checksum-tail');
    expect(plan.loses).to.deep.include({ records: 1, intactRecords: 0, offsets: { from: 20n, to: 21n } });
  });
});

describe('damage in the middle of the newest segment', () => {
  const at = newest.positions[3]!;

  it('is cut only where it begins, with the number of intact records behind it', async () => {
    expect(await refused(rotten, '--allow', 'checksum-tail')).to.contain(`--cut-at ${at}`);
    expect(await refused(rotten, '--cut-at', String(at))).to.contain('2 intact records');
    const plan = await plannedFor(rotten, '--cut-at', String(at), '--lose-intact', '2');
    expect(plan.loses).to.deep.include({ records: 3, intactRecords: 2, offsets: { from: 18n, to: 21n } });
    expect(plan.after.tailOffset).to.equal(18n);
  });

  it('is not cut in front of it nor behind', async () => {
    expect(await refused(rotten, '--cut-at', String(at - 1), '--lose-intact', '9')).to.contain(
      'intact records lie between',
    );
    expect(await refused(rotten, '--cut-at', String(at + 1), '--lose-intact', '9')).to.contain('would leave it');
  });
});

describe('what a cut cannot help with', () => {
  it('damage in a sealed segment that keeps the shard shut, even when the tail is torn too', async () => {
    const image = damaged(torn, flipBit(logName(1), 40, 0));
    expect(await refused(image))
      .to.contain('in segment 1 at byte 32')
      .and.contain('only ever cuts the newest segment');
  });

  it('a missing segment, and a name that a broker cannot open', async () => {
    expect(await refused(damaged(whole, deleteFile(logName(1))))).to.contain('OffsetOutOfOrder in segment 2');
    expect(await refused(damaged(torn, createFile('9.log', new Uint8Array(3))))).to.contain('SegmentFileName');
  });

  it('a damaged replica file, which alone says what is committed', async () => {
    const image = new Map([...torn, ['replica', new Uint8Array(28)]] as const);
    expect(await refused(image)).to.contain('SidecarMagic');
  });

  it('a shard without a segment', async () => {
    const image = new Map([['replica', encodeReplica({ generation: 1n, commit: 5n })]] as const);
    expect(await refused(image)).to.contain('the shard has no segment');
  });

  it('what cannot be read: no cut is offered, with exit code 30', () =>
    withMemoryDir(async (dir) => {
      const shard = writeShardBelow(torn, dir);
      mkdirSync(path.join(shard, logName(3)));
      const { code, plan, stderr } = await planning('repair-tail', shard);
      expect([code, plan]).to.deep.equal([30, null]);
      expect(stderr).to.contain('no repair is offered over it').and.contain('image the device');
    }));
});

describe('an offload manifest', () => {
  const object = buildSegment({ records: plainRun(20n, 5) });
  const entries = [offloaded(segments[0]!, 0n), offloaded(object, 7n)];

  it('loses the entries at or past the cut before any segment is touched, and they count as intact', async () => {
    const image = new Map([...torn, ['offload.manifest', encodeManifest({ entries })]] as const);
    expect(await refused(image)).to.contain('5 intact records (offsets 20..25)');
    const plan = await plannedFor(image, '--lose-intact', '5');
    expect(steps(plan)).to.deep.equal(['rewrite offload.manifest', `cut ${logName(2)}`]);
    expect(heldBytes(plan, 'offload.manifest')).to.deep.equal(encodeManifest({ entries: entries.slice(0, 1) }));
    expect(plan.loses.manifestEntries.map(({ segmentId }) => segmentId)).to.deep.equal([7n]);
  });

  it('never loses the only way to committed records', async () => {
    const early = { ...entries[1]!, baseOffset: 3n };
    const image = new Map([
      ...damaged(torn, deleteFile(logName(0)), deleteFile(indexName(0))),
      ['offload.manifest', encodeManifest({ entries: [early] })],
      ['replica', encodeReplica({ generation: 1n, commit: 8n })],
    ] as const);
    expect(await refused(image, '--lose-intact', '99')).to.contain('BelowCommit');
  });
});

describe('segments that recovery deletes', () => {
  it('go with their indexes, the newest first as recovery finds them, and nothing else does', async () => {
    const empty = buildSegment({ baseOffset: 400n, records: [] });
    const image = damaged(whole, createFile(logName(3), empty.log), createFile(indexName(3), empty.index));
    const plan = await plannedFor(image);
    expect(steps(plan)).to.deep.equal([`delete ${logName(3)}`, `delete ${indexName(3)}`]);
    expect(plan.loses).to.deep.include({ bytes: 0, records: 0 });
  });

  it('a blank first segment begins anew as an empty log, unless something is committed', async () => {
    const image = new Map([[logName(0), new Uint8Array(20)]] as const);
    expect(steps(await plannedFor(image))).to.deep.equal([`rewrite ${logName(0)}`, `rebuild-index ${indexName(0)}`]);
    const committed = new Map([...image, ['replica', encodeReplica({ generation: 1n, commit: 1n })]] as const);
    expect(await refused(committed)).to.contain('in segment 0');
  });
});
