/**
 * Healing one of three replicas, damaged at random, from the other two: what comes out is the undamaged shard again.
 */

import path from 'node:path';
import { expect } from 'chai';
import type { LogRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { healed } from '../builders/healing.js';
import { plannedImage } from '../builders/planned-image.js';
import { type Random, seededRandom } from '../builders/random.js';
import { type SequencePart, sequence } from '../builders/records.js';
import { withMemoryDir } from '../builders/repairs.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, type ShardImage, writeShardBelow } from '../builders/shards.js';

const SPACING = 256;

/** Records of all kinds; the generations ascend. */
function randomRecords(random: Random): LogRecord[] {
  const parts: SequencePart[] = [];
  for (let i = 3 + random.below(6); i > 0; i--) {
    const kind = random.below(6);
    if (kind === 0) parts.push({ producerId: 3n, sequence: BigInt(parts.length), len: 1 + random.below(4) });
    else if (kind === 1) parts.push({ generation: BigInt(parts.length + 1) });
    else parts.push(1 + random.below(14));
  }
  return sequence(BigInt(random.below(3) * 1000), parts);
}

/** The records in segments with boundaries of their own. */
function splitUp(records: readonly LogRecord[], random: Random): BuiltSegment[] {
  const segments: BuiltSegment[] = [];
  for (let at = 0; at < records.length; ) {
    const end = Math.min(records.length, at + 1 + random.below(Math.ceil(records.length / 2)));
    segments.push(buildSegment({ version: 4, records: records.slice(at, end), indexSpacing: SPACING }));
    at = end;
  }
  return segments;
}

interface Damaged {
  readonly image: ShardImage;
  /** Nothing tells where a lost segment began. */
  readonly boundaryLost: boolean;
}

/** Up to 20 records, each hurt in its own way, and now and then a segment as a whole. */
function damage(segments: readonly BuiltSegment[], healthy: ShardImage, random: Random): Damaged {
  const image = new Map(healthy);
  const hurt = 1 + random.below(random.below(4) === 0 ? 20 : 3);
  const logs = segments.map(({ log }) => log);
  // From the back, so that positions in front of a damage stay what they were.
  const places = segments.flatMap(({ positions }, segment) => positions.map((position) => ({ segment, position })));
  const chosen = new Set(Array.from({ length: hurt }, () => random.below(places.length)));
  for (const at of [...chosen].sort((a, b) => b - a)) {
    const { segment, position } = places[at]!;
    logs[segment] = hurtRecord(logs[segment]!, position, random);
  }
  for (const [i, log] of logs.entries()) image.set(logName(i), log);
  let boundaryLost = false;
  if (random.below(3) === 0) {
    const id = random.below(segments.length);
    boundaryLost = hurtSegment(image, id, segments.length, random);
  }
  return { image, boundaryLost };
}

function hurtRecord(log: Uint8Array, position: number, random: Random): Uint8Array {
  const end = Math.min(log.length, position + 28 + random.below(20));
  const at = position + random.below(end - position);
  const copy = log.slice();
  switch (random.below(5)) {
    case 0:
    case 1:
      copy[at]! ^= 1 << random.below(8);
      return copy;
    case 2:
      return copy.fill(0, position, end);
    case 3: {
      const length = 1 + random.below(end - at);
      return Buffer.concat([log.subarray(0, at), log.subarray(at + length)]);
    }
    default:
      return Buffer.concat([log.subarray(0, at), random.bytes(1 + random.below(60)), log.subarray(at)]);
  }
}

/** True when nothing is left that tells where the segment began. */
function hurtSegment(image: Map<string, Uint8Array>, id: number, count: number, random: Random): boolean {
  const log = image.get(logName(id))!;
  const copy = log.slice();
  switch (random.below(5)) {
    case 0:
      image.set(logName(id), copy.fill(0));
      return false;
    case 1:
      image.set(logName(id), copy.fill(0, 0, 32));
      return false;
    case 2:
      copy[random.below(28)]! ^= 1 << random.below(8);
      image.set(logName(id), copy);
      return false;
    case 3:
      image.set(logName(id), log.slice(0, random.below(32)));
      return false;
    default: {
      // A first segment that is gone looks as if retention had removed it.
      if (id === 0) return false;
      image.delete(logName(id));
      const alsoIndex = random.below(3) === 0;
      if (alsoIndex) image.delete(indexName(id));
      return alsoIndex && count > 0;
    }
  }
}

const bytesOf = (image: ShardImage, count: number) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => image.get(logName(i))?.subarray(32) ?? new Uint8Array()));

describe('heal of random damage', function () {
  this.timeout(60_000);

  it('gives back every record and every boundary of the undamaged shard, from two other replicas', async () => {
    let cases = 0;
    let grown = 0;
    for (let seed = 0; seed < 500; seed++) {
      await withMemoryDir(async (dir) => {
        const random = seededRandom(seed);
        const records = randomRecords(random);
        const segments = splitUp(records, random);
        const tail = records.at(-1)!.offset + 1n;
        const sidecars = { replica: encodeReplica({ generation: 9n, commit: tail }) };
        const healthy = buildShard({ segments, sidecars });
        const { image, boundaryLost } = damage(segments, healthy, random);
        const shard = writeShardBelow(image, dir);
        const donors = [1, 2].map((i) =>
          writeShardBelow(buildShard({ segments: splitUp(records, random) }), path.join(dir, `donor-${i}`)),
        );
        const { plan, refused } = await healed(shard, donors, { indexSpacing: SPACING });
        expect(refused, `seed ${seed}`).to.equal(null);
        const after = plannedImage(image, plan!);
        expect(bytesOf(after, segments.length).equals(bytesOf(healthy, segments.length)), `seed ${seed}`).to.equal(
          true,
        );
        expect(plan!.after.verdict, `seed ${seed}`).to.equal('opens');
        expect(plan!.notes, `seed ${seed}`).to.deep.equal([]);
        expect(Buffer.from(after.get('replica')!).equals(healthy.get('replica')!)).to.equal(true);
        if (boundaryLost) return;
        for (const [i, { baseOffset }] of segments.entries()) {
          const log = after.get(logName(i))!;
          expect(new DataView(log.buffer, log.byteOffset).getBigUint64(8), `seed ${seed}`).to.equal(baseOffset);
          expect(Buffer.from(after.get(indexName(i))!).equals(healthy.get(indexName(i))!), `seed ${seed}`).to.equal(
            true,
          );
        }
        cases++;
        if (plan!.steps.some(({ before, after: then }) => before?.size !== then?.size)) grown++;
      });
    }
    expect(cases).to.be.greaterThan(450);
    expect(grown).to.be.greaterThan(100);
  });
});
