/**
 * Salvage of shards damaged at random, held to a plain reading of the same bytes.
 */

import path from 'node:path';
import { expect } from 'chai';
import { checkShard } from '../../src/check/shard.js';
import { Pace } from '../../src/cli/pace.js';
import { salvage, salvageJob } from '../../src/cli/salvage.js';
import { InlineScanner } from '../../src/scan/scanner.js';
import { listDirectory } from '../../src/store/walk.js';
import { type IntactRecord, intactRecords, recordKey } from '../builders/intact-records.js';
import { type Random, seededRandom } from '../builders/random.js';
import type { SequencePart } from '../builders/records.js';
import { withMemoryDir } from '../builders/repairs.js';
import { logName, readShard, type ShardImage, shardOf, writeShardBelow } from '../builders/shards.js';
import { hashTree } from '../builders/trees.js';
import { UnsyncedFs } from '../builders/unsynced-fs.js';
import { damagedSegment } from './random-segments.js';

/** Kinds of findings that speak of what records say, and not of whether they are whole and in order. */
const OF_CONTENT = /^(Batch|GenerationStart|TimestampOddity)/;

/** Salvages the shards, and holds the output to the records that are known to be intact. */
async function salvaged(shard: string, dir: string, known: readonly IntactRecord[], segmentBytes = 1 << 20) {
  const to = path.join(dir, 'saved');
  const before = hashTree(shard);
  const job = salvageJob([shard], to, { segmentBytes, indexSpacing: 4096 });
  const pace = new Pace(new AbortController().signal);
  const report = await salvage({ tool: { name: 'test', version: '0' }, nowMicros: 0n }, job, pace, new UnsyncedFs());
  expect(hashTree(shard)).to.deep.equal(before);
  const found: string[] = [];
  for (const { directory, from, to: end, records } of report!.runs) {
    const own = recordsIn(readShard(path.join(to, directory)));
    found.push(...own.map(recordKey));
    expect(own[0]?.offset).to.equal(from);
    expect(own.length).to.equal(records);
    expect(from + BigInt(own.length)).to.equal(end);
    await expectClean(path.join(to, directory));
  }
  expect(found.toSorted()).to.deep.equal([...new Set(known.map(recordKey))].sort());
  expect(report!.summary.records).to.equal(found.length);
  return report!;
}

/** Records of a healthy shard, by its segments in order. */
function recordsIn(image: ShardImage): IntactRecord[] {
  const logs = [...image.keys()].filter((name) => name.endsWith('.log')).sort();
  return logs.flatMap((name) => intactRecords(image.get(name)!, baseOf(image.get(name)!)));
}

function baseOf(log: Uint8Array): bigint {
  return new DataView(log.buffer, log.byteOffset).getBigUint64(8);
}

async function expectClean(shard: string): Promise<void> {
  const scanner = new InlineScanner(new AbortController().signal);
  const settings = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 };
  const check = { settings, quick: false, key: null, replicas: [], nowMicros: 0n, sole: null };
  const { prediction, findings } = await checkShard(listDirectory(shard), scanner, check);
  expect(prediction.verdict).to.equal('opens');
  expect(findings.filter(({ kind }) => !OF_CONTENT.test(kind))).to.deep.equal([]);
}

/** Records of all kinds in one to four segments. */
function randomShard(random: Random) {
  const parts = (): SequencePart[] =>
    Array.from({ length: 1 + random.below(4) }, () => {
      const kind = random.below(6);
      if (kind === 0) return { producerId: 3n, sequence: BigInt(random.below(9)), len: 1 + random.below(4) };
      if (kind === 1) return { generation: BigInt(1 + random.below(9)) };
      return 1 + random.below(8);
    });
  const plans = Array.from({ length: 1 + random.below(4) }, () => ({ version: 4, parts: parts(), indexSpacing: 200 }));
  return shardOf(plans, { first: BigInt(random.below(3) * 1000) });
}

/** One damage to one segment: rot, zeros, bytes taken out or put in, a cut, a lost header, a lost file. */
function damage(image: Map<string, Uint8Array>, name: string, random: Random): void {
  const log = image.get(name);
  if (log === undefined || log.length <= 32) return;
  const at = 32 + random.below(log.length - 32);
  const length = 1 + random.below(Math.min(120, log.length - at));
  const copy = log.slice();
  switch (random.below(9)) {
    case 0:
    case 1:
      copy[at]! ^= 1 << random.below(8);
      break;
    case 2:
      copy.fill(0, at, at + length);
      break;
    case 3:
      copy.set(random.bytes(length), at);
      break;
    case 4:
      image.set(name, Buffer.concat([log.subarray(0, at), log.subarray(at + length)]));
      return;
    case 5:
      image.set(name, Buffer.concat([log.subarray(0, at), random.bytes(length), log.subarray(at)]));
      return;
    case 6:
      image.set(name, log.slice(0, at));
      return;
    case 7:
      copy.set(random.bytes(32), 0);
      copy[0] = 0;
      break;
    default:
      image.delete(name);
      image.delete(name.replace('.log', '.index'));
      return;
  }
  image.set(name, copy);
}

describe('salvage of random damage', function () {
  this.timeout(60_000);

  it('saves every intact record exactly once, in runs that verify clean', async () => {
    let forks = 0;
    for (let seed = 0; seed < 350; seed++) {
      await withMemoryDir(async (dir) => {
        const random = seededRandom(seed);
        const { image, segments } = randomShard(random);
        const hurt = new Map(image);
        const damages = random.below(5);
        for (let i = 0; i < damages; i++) damage(hurt, logName(random.below(segments.length)), random);
        hurt.set('replica', new Uint8Array(3));
        const shard = writeShardBelow(hurt, dir);
        const known = segments.flatMap(({ baseOffset }, i) => {
          const log = hurt.get(logName(i));
          return log === undefined ? [] : intactRecords(log, baseOffset);
        });
        const report = await salvaged(shard, dir, known, 64 + random.below(900));
        forks += report.forks.length;
      });
    }
    expect(forks).to.equal(0);
  });

  it('saves them too when headers lie, offsets repeat and histories contradict each other', async () => {
    let forks = 0;
    for (let seed = 0; seed < 150; seed++) {
      await withMemoryDir(async (dir) => {
        const hurt = Array.from({ length: 1 + (seed % 3) }, (_, i) => damagedSegment(1000 * i + seed));
        const image = new Map(hurt.map(({ log }, i) => [logName(i), log] as const));
        const shard = writeShardBelow(image, dir);
        const known = hurt.flatMap(({ log, healthy }) => intactRecords(log, healthy.baseOffset));
        const report = await salvaged(shard, dir, known);
        forks += report.forks.length;
        if (report.forks.length > 0) expect(report.summary.exitCode).to.equal(21);
      });
    }
    expect(forks).to.be.greaterThan(3);
  });
});
