import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Finding } from '../../src/domain/finding.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { MemorySource } from '../../src/store/byte-source.js';
import {
  indexName,
  logName,
  type PresetShard,
  type SegmentParts,
  SHARD_DIR_NAME,
  shardOf,
  writeShard,
} from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked, TEST_NOW_MICROS } from '../corpus/checked.js';

const BATCH = { producerId: 7n, sequence: 0n, len: 2 };

/** The four kinds of segment, small enough to flip every bit of each. */
const PLANS: readonly SegmentParts[] = [
  { version: 2, parts: [3], indexSpacing: 1 },
  { version: 3, parts: [1, BATCH], indexSpacing: 1 },
  { version: 4, parts: [{ generation: 3n }, 1, BATCH], indexSpacing: 1 },
  { version: 4, parts: [2, { generation: 5n }], indexSpacing: 1 },
];

/** One shard of each length, its segments of different versions. */
const SHARDS: readonly PresetShard[] = [1, 2, 3, 4].map((count) => shardOf(PLANS.slice(4 - count)));

interface Expected {
  readonly kind: string;
  readonly position: number;
}

/** What a flipped bit of a segment file must be told as, by the fields of the format page. */
function ofSegment(log: Uint8Array, positions: readonly number[], at: number, bit: number): Expected {
  if (at < 32) return ofHeader(log, at, bit);
  const position = positions.findLast((start) => start <= at)!;
  return { kind: at - position < 24 ? 'RecordHeaderChecksum' : 'RecordChecksum', position };
}

function ofHeader(log: Uint8Array, at: number, bit: number): Expected {
  const version = new DataView(log.buffer).getUint16(4) ^ (at === 5 ? 1 << bit : at === 4 ? 256 << bit : 0);
  if (at < 4) return { kind: 'SegmentMagic', position: 0 };
  // A version that is known is only given away by the checksum.
  if (at < 6) return { kind: version >= 2 && version <= 4 ? 'SegmentHeaderChecksum' : 'SegmentVersion', position: 0 };
  if (at < 8) return { kind: 'SegmentFlags', position: 0 };
  return at < 28 ? { kind: 'SegmentHeaderChecksum', position: 0 } : { kind: 'ReservedNotZero', position: 28 };
}

/** Of an index; null where no reader and no rule looks: another version that is read, and the reserved words. */
function ofIndex(index: Uint8Array, at: number, bit: number): Expected | null {
  if (at < 4) return { kind: 'IndexMagic', position: 0 };
  const version = new DataView(index.buffer).getUint16(4) ^ (at === 5 ? 1 << bit : at === 4 ? 256 << bit : 0);
  if (at < 6) return version >= 2 && version <= 4 ? null : { kind: 'IndexVersion', position: 0 };
  if (at < 8) return { kind: 'IndexFlags', position: 6 };
  if (at < 16) return { kind: 'IndexBaseOffset', position: 8 };
  return at < 24 ? null : { kind: 'IndexEntry', position: 24 + 16 * Math.floor((at - 24) / 16) };
}

async function findingsIn(dir: string, file: string): Promise<readonly Finding[]> {
  const { shards } = await checked(dir);
  return shards[0]!.findings.filter((finding) => finding.file === file);
}

/** Flips one bit of each byte of a file in turn, another one from byte to byte, and hands over what is said of the file. */
async function eachByte(
  shard: PresetShard,
  file: string,
  firstBit: number,
  judge: (at: number, bit: number, findings: readonly Finding[]) => void,
): Promise<void> {
  await withTempDir(async (parent) => {
    const dir = path.join(parent, SHARD_DIR_NAME);
    mkdirSync(dir);
    writeShard(shard.image, dir);
    const bytes = shard.image.get(file)!;
    for (let at = 0; at < bytes.length; at++) {
      const bit = (at + firstBit) % 8;
      const copy = bytes.slice();
      copy[at]! ^= 1 << bit;
      writeFileSync(path.join(dir, file), copy);
      judge(at, bit, await findingsIn(dir, file));
    }
  });
}

/** What a scan says first of a segment. */
function firstDamage(log: Uint8Array): Expected | null {
  const steps = scanSegmentFile(new MemorySource(log), null, { nowMicros: TEST_NOW_MICROS });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { head, records } = step.value;
  if (head.headerDamage !== null) return { kind: head.headerDamage.kind, position: 0 };
  const [first] = records!.damages;
  if (first !== undefined) return { kind: first.corruption.kind, position: first.position };
  return head.header!.reserved === 0 ? null : { kind: 'ReservedNotZero', position: 28 };
}

describe('every flipped bit', () => {
  it('of a segment of any version is told by its kind and place', () => {
    for (const { log, positions } of SHARDS[3]!.segments) {
      expect(firstDamage(log)).to.equal(null);
      for (let at = 0; at < log.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const copy = log.slice();
          copy[at]! ^= 1 << bit;
          expect(firstDamage(copy), `byte ${at}, bit ${bit}`).to.deep.equal(ofSegment(log, positions, at, bit));
        }
      }
    }
  });

  for (const [i, shard] of SHARDS.entries()) {
    const count = i + 1;
    for (const [id, segment] of shard.segments.entries()) {
      it(`is found in segment ${id} of ${count}, wherever it lies`, async () => {
        await eachByte(shard, logName(id), id + count, (at, bit, findings) => {
          const label = `byte ${at}, bit ${bit}`;
          const { kind, position } = ofSegment(segment.log, segment.positions, at, bit);
          const [first] = findings;
          expect(first, label).to.include({ kind });
          expect(first!.site, label).to.include({ segment: BigInt(id), position });
        });
      });
    }
  }

  it('of an index is told, but for the words that nobody reads', async () => {
    const shard = SHARDS[3]!;
    for (const [id, segment] of shard.segments.entries()) {
      await eachByte(shard, indexName(id), id, (at, bit, findings) => {
        const expected = ofIndex(segment.index, at, bit);
        const told = findings.map((finding) => ({ kind: finding.kind, position: finding.site.position }));
        const label = `index ${id}, byte ${at}, bit ${bit}`;
        if (expected === null) expect(told, label).to.deep.equal([]);
        else expect(told, label).to.deep.include(expected);
      });
    }
  });
});
