import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { SEVERITIES } from '../../src/domain/finding.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { BadDisk, reportOf } from '../builders/checking.js';
import { createFile, damaged, deleteFile, flipBit, truncate, zero } from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  SHARD_DIR_NAME,
  type ShardImage,
  shardOf,
  threeSegments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  writeShard,
  writeShardBelow,
} from '../builders/shards.js';
import { cacheShard, offloaded, producersAsOf } from '../builders/sidecars.js';
import { withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

const { image, segments } = threeSegments();
const third = segments[2]!;
const KEY = { tenant: 'acme', namespace: 'default', stream: 'orders', shard: 0 };

async function under(name: string, options = {}) {
  return withTempDir(async (dir) => (await checked(writeShard(image, `${dir}/${name}`), options)).shards[0]!);
}

describe('the report of a shard', () => {
  it('has the key that its name proves, and else the one that the operator gives', async () => {
    expect(await under(SHARD_DIR_NAME)).to.include({ key: 'acme/default/orders/0', incarnation: null });
    expect(await under('backup')).to.include({ key: null, name: 'backup' });
    const given = await under('backup', { key: KEY });
    expect(given.key).to.equal('acme/default/orders/0');
  });

  it('has the incarnation of its name', async () => {
    const { incarnation, key, findings } = await under(`${SHARD_DIR_NAME}-0006411a0ccf2e40`);
    expect({ incarnation, key, findings }).to.deep.equal({
      incarnation: '0006411a0ccf2e40',
      key: 'acme/default/orders/0',
      findings: [],
    });
  });

  it('is labelled with the key when it is known, and with the directory otherwise', async () => {
    const broken = damaged(image, flipBit(logName(0), 70, 0));
    await withTempDir(async (dir) => {
      for (const [name, label] of [
        [SHARD_DIR_NAME, 'acme/default/orders/0'],
        ['backup', 'backup'],
      ] as const) {
        const { findings, prediction } = (await checked(writeShard(broken, `${dir}/${name}`))).shards[0]!;
        expect(findings[0]!.site.shard).to.equal(label);
        expect(prediction.refusals[0]!.site.shard).to.equal(label);
        expect(findings[0]!.path).to.equal(`${dir}/${name}/${logName(0)}`);
      }
    });
  });

  it('tells segments by id, however large each is', async () => {
    const shard = shardOf([{ parts: [2] }, { parts: [40] }, { parts: [9] }, { parts: [1] }]);
    const report = await reportOf(shard.image);
    expect(
      report.segments.map(({ id, baseOffset, nextOffset, records }) => [id, baseOffset, nextOffset, records]),
    ).to.deep.equal([
      [0n, 0n, 2n, 2],
      [1n, 2n, 42n, 40],
      [2n, 42n, 51n, 9],
      [3n, 51n, 52n, 1],
    ]);
  });

  it('tells the worst first, then by segment and position', async () => {
    const broken = damaged(
      image,
      flipBit(logName(2), third.positions[1]! + 30, 0),
      flipBit(logName(1), 31, 0),
      deleteFile(indexName(0)),
      createFile('zzz', new Uint8Array(4)),
      createFile('epochs', new Uint8Array(4)),
      flipBit(logName(2), third.positions[0]! + 30, 0),
    );
    const { findings } = await reportOf(broken);
    const severities = findings.map(({ severity }) => SEVERITIES.indexOf(severity));
    expect(severities).to.deep.equal(severities.toSorted((a, b) => b - a));
    expect(findings.map(({ site }) => site.position).slice(0, 2)).to.deep.equal([32, third.positions[1]]);
  });

  it('has facts of headers and times as they are stored', async () => {
    const first = segments[0]!;
    expect((await reportOf(image)).segments[0]).to.include({
      version: 3,
      createdAtMicros: first.createdAtMicros,
      firstTimestampMicros: first.records[0]!.timestampMicros,
      lastTimestampMicros: first.records[7]!.timestampMicros,
      bytes: first.log.length,
      verifiedBytes: first.log.length,
    });
  });
});

describe('one file of a shard that is named by itself', () => {
  const sidecars = {
    ...sidecarsOf(v4WithGenerations().image, 'epochs', 'replica', 'ballot'),
    ...sidecarsOf(cacheShard().image, 'keys.idx'),
    'offload.manifest': encodeManifest({ entries: [offloaded(segments[0]!, 0n)] }),
    producers: producersAsOf(threeV3SegmentsWithBatches().segments[0]!.records, 8n),
  };

  function sidecarsOf(from: ShardImage, ...names: readonly string[]): Record<string, Uint8Array> {
    return Object.fromEntries(names.map((name) => [name, from.get(name)!]));
  }

  async function alone(name: string) {
    const files = new Map([...image, ...Object.entries(sidecars)]);
    return withTempDir(async (dir) => (await checked(`${writeShardBelow(files, dir)}/${name}`)).shards[0]!);
  }

  for (const name of Object.keys(sidecars)) {
    it(`${name} is not held against a log that was not looked at`, async () => {
      const report = await alone(name);
      expect(told(report)).to.deep.equal([]);
      expect(report).to.include({ baseOffset: null, tailOffset: null });
      expect(report.notChecked).to.not.deep.equal([]);
      expect(report.prediction).to.deep.equal({
        verdict: 'opens',
        refusals: [],
        repairs: [],
        tailOffsetAfter: null,
        readsThatFail: [],
        notJudged: [`only ${name} was looked at, not the rest of its shard`],
      });
    });
  }

  it('a segment behind which there are others knows its own offsets, and not the end of the log', async () => {
    const sealed = await alone(logName(1));
    expect(sealed).to.include({ baseOffset: 8n, tailOffset: null });
    const newest = await alone(logName(2));
    expect(newest).to.include({ baseOffset: 15n, tailOffset: 21n });
  });
});

describe('the tail of a shard', () => {
  it('is the end of intact records, also of those behind a cut', async () => {
    const torn = await reportOf(damaged(image, truncate(logName(2), third.log.length - 1)));
    expect(torn.tailOffset).to.equal(20n);
    const rot = await reportOf(damaged(image, flipBit(logName(2), third.positions[2]! + 30, 0)));
    expect(rot.tailOffset).to.equal(21n);
    expect(rot.prediction.tailOffsetAfter).to.equal(null);
  });

  it('is the base of an empty newest segment', async () => {
    const empty = buildSegment({ baseOffset: 21n, records: [] });
    const report = await reportOf(
      damaged(image, createFile(logName(3), empty.log), createFile(indexName(3), empty.index)),
    );
    expect(told(report)).to.deep.equal([]);
    expect(report).to.include({ tailOffset: 21n });
  });

  it('is that of the segment which recovery keeps', async () => {
    const report = await reportOf(damaged(image, createFile(logName(3), new Uint8Array(3))));
    expect(report).to.include({ baseOffset: 0n, tailOffset: 21n });
  });

  it('is not known when the newest segment has neither header nor records that can be found', async () => {
    const report = await reportOf(damaged(image, zero(logName(2), 0, third.log.length)));
    expect(report.tailOffset).to.equal(null);
  });

  it('of records under a damaged header is what these say', async () => {
    const report = await reportOf(damaged(image, zero(logName(2), 0, 32)));
    expect(report.tailOffset).to.equal(21n);
    expect(report.prediction).to.include({ verdict: 'refuses', tailOffsetAfter: null });
  });

  it('after recovery is what the commit offset is held against', async () => {
    const replica = (commit: bigint) => createFile('replica', encodeReplica({ generation: 1n, commit }));
    const torn = truncate(logName(2), third.log.length - 1);
    expect(told(await reportOf(damaged(image, replica(21n))))).to.deep.equal([]);
    expect(
      told(await reportOf(damaged(image, torn, replica(20n)))).filter((line) => line.includes('Commit')),
    ).to.deep.equal([]);
    const beyond = await reportOf(damaged(image, torn, replica(21n)));
    expect(told(beyond)[0]).to.match(/^error CommitBeyondTail replica/);
  });
});

describe('the first offset of a shard', () => {
  it('is that of the oldest segment', async () => {
    const report = await reportOf(damaged(image, deleteFile(logName(0)), deleteFile(indexName(0))));
    expect(report.baseOffset).to.equal(8n);
  });

  it('is not known when that one has no readable header', async () => {
    expect((await reportOf(damaged(image, zero(logName(0), 0, 32)))).baseOffset).to.equal(null);
    expect((await reportOf(image, { scanner: new BadDisk(logName(0), 0, 32) })).baseOffset).to.equal(null);
  });
});

describe('a directory without a segment', () => {
  it('that holds files of a shard is an error that names them', async () => {
    const report = await reportOf(
      new Map([
        ['replica', encodeReplica({ generation: 1n, commit: 0n })],
        ['notes', new Uint8Array()],
      ]),
    );
    const finding = report.findings.find(({ kind }) => kind === 'NoSegments');
    expect(finding).to.include({ severity: 'error', file: null });
    expect(finding!.detail).to.deep.equal({ files: ['replica', 'notes'] });
    expect(report).to.include({ tailOffset: null });
  });

  it('whose segments cannot be opened by their names is told for these, not as empty', async () => {
    const report = await reportOf(new Map([['7.log', segments[0]!.log]]));
    expect(told(report)).to.deep.equal(['fatal SegmentFileName 7.log']);
    expect(report.findings[0]!.detail).to.deep.equal({ id: 7n, opened: logName(7) });
  });

  it('whose only segment is a directory by that name is told as unreadable, not as empty', async () => {
    await withTempDir(async (dir) => {
      mkdirSync(`${dir}/${SHARD_DIR_NAME}/${logName(0)}`, { recursive: true });
      const { shards, summary } = await checked(`${dir}/${SHARD_DIR_NAME}`);
      expect(told(shards[0]!)).to.deep.equal([`error Unreadable ${logName(0)}`]);
      expect(summary.exitCode).to.equal(30);
    });
  });
});

describe('names that a broker cannot open', () => {
  it('beyond a thousand are counted', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShard(image, `${dir}/${SHARD_DIR_NAME}`);
      for (let id = 1000; id < 2003; id++) writeFileSync(`${shard}/${id}.log`, '');
      const report = (await checked(shard)).shards[0]!;
      expect(report.findings.length).to.equal(1000);
      expect(report.omitted).to.deep.equal([{ file: '2000.log', kind: 'SegmentFileName', count: 3 }]);
      expect(report.prediction.verdict).to.equal('refuses');
    });
  });
});

describe('more damage than is kept', () => {
  it('is counted by kind, and no byte is left out', async () => {
    const records = 10_050;
    const big = shardOf([{ parts: [records] }]);
    const log = big.segments[0]!.log.slice();
    for (const position of big.segments[0]!.positions) log[position + 28]! ^= 1;
    const report = await reportOf(buildShard({ segments: [{ ...big.segments[0]!, log }] }), {
      repairChecksumTail: true,
    });
    const kept = report.findings.filter(({ kind }) => kind === 'RecordChecksum').length;
    const omitted = report.omitted.find(({ kind }) => kind === 'RecordChecksum')!.count;
    expect(kept + omitted).to.equal(records);
    expect(report.segments[0]).to.include({ damagedBytes: log.length - 32, verifiedBytes: 32, records: 0 });
  });
});

describe('the likeness of damage', () => {
  it('is told of each damaged segment, whatever the order in which they are looked at', async () => {
    const text = new TextEncoder().encode('GET /index.html HTTP/1.1\r\nHost: broker\r\n\r\n'.repeat(3));
    const broken = damaged(
      image,
      zero(logName(0), segments[0]!.positions[2]!, 60),
      flipBit(logName(1), segments[1]!.positions[2]! + 3, 4),
      createFile(logName(2), Uint8Array.from([...third.log, ...text])),
    );
    const { findings } = await reportOf(broken);
    expect(findings.map(({ site, looksLike }) => [site.segment, looksLike])).to.deep.equal([
      [0n, 'zeros'],
      [1n, 'bit-flip'],
      [2n, 'text'],
    ]);
  });
});
