import { unlinkSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type DumpQuery, dumpLog, noOutcome } from '../../src/check/dump.js';
import { openLog } from '../../src/check/log-files.js';
import { listening, locatedRecord } from '../../src/check/record-listener.js';
import type { DamageRow } from '../../src/domain/record-view.js';
import { listDirectory } from '../../src/store/walk.js';
import { intactRecords } from '../builders/intact-records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import {
  buildShard,
  logName,
  type ShardImage,
  shardOf,
  threeV3SegmentsWithBatches,
  writeShard,
} from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';

const ALL: DumpQuery = {
  from: null,
  to: null,
  sinceMicros: null,
  untilMicros: null,
  kind: null,
  producer: null,
  contains: null,
  segment: null,
  limit: null,
  tail: null,
  disclosure: 'none',
  decode: null,
  useIndex: true,
};

interface Shown {
  readonly offsets: bigint[];
  readonly places: string[];
  readonly damage: DamageRow[];
  readonly unreadable: number;
}

function dumpOf(dir: string, query: Partial<DumpQuery> = {}, meanwhile: () => void = () => {}): Shown {
  const log = openLog(listDirectory(dir), null, null);
  meanwhile();
  const outcome = noOutcome();
  const offsets: bigint[] = [];
  const places: string[] = [];
  const damage: DamageRow[] = [];
  const sink = listening({
    record: (view) => {
      const { offset, segment, position } = locatedRecord(view);
      offsets.push(offset);
      places.push(`${segment}@${position}`);
    },
    damage: (row) => void damage.push(row),
  });
  for (const _ of dumpLog(log, { ...ALL, ...query }, sink, outcome));
  expect(outcome.records).to.equal(offsets.length);
  expect(outcome.damaged + outcome.unreadable).to.equal(damage.length);
  return { offsets, places, damage, unreadable: outcome.unreadable };
}

describe('check/dump', () => {
  const shard = shardOf([
    { parts: [12, { producerId: 1n, sequence: 0n, len: 5 }, 9], indexSpacing: 256 },
    { parts: [20], indexSpacing: 256 },
  ]);

  it('shows of a damaged log what the plain rules call intact, from any offset, with or without the index', async () => {
    await withTempDir((dir) => {
      const file = logName(1);
      const healthy = shard.image.get(file)!;
      const edit = fc.tuple(fc.integer({ min: 32, max: healthy.length - 1 }), fc.integer({ min: 1, max: 255 }));
      const property = fc.property(
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 24, max: 48 }),
        fc.constantFrom(64, 300, 4096),
        (edits, from, windowBytes) => {
          const bytes = healthy.slice();
          for (const [at, by] of edits) bytes[at]! ^= by;
          writeShard(new Map([[file, bytes]]), dir);
          const intact = intactRecords(bytes, 26n).map(({ offset }) => offset);
          const all = dumpOf(dir, { windowBytes });
          expect(all.offsets).to.deep.equal([...Array.from({ length: 26 }, (_, at) => BigInt(at)), ...intact]);
          if (all.damage.some(({ kind }) => kind === 'OffsetOutOfOrder')) return;
          const rest = dumpOf(dir, { from: BigInt(from), windowBytes });
          expect(rest.offsets).to.deep.equal(all.offsets.filter((offset) => offset >= BigInt(from)));
          const lost = (shown: Shown) =>
            shown.damage.flatMap(({ lostOffsets }) => (lostOffsets === null ? ['?'] : [`${lostOffsets.to}`]));
          const after = all.damage.filter(({ lostOffsets }) => lostOffsets === null || lostOffsets.to > BigInt(from));
          expect(lost(rest)).to.deep.equal(lost({ ...all, damage: after }));
        },
      );
      writeShard(shard.image, dir);
      fc.assert(property, { numRuns: 60 });
    });
  });

  it('says that a segment cannot be read, and goes on with the others', async () => {
    await withTempDir((dir) => {
      writeShard(shardOf([{ parts: [3] }, { parts: [3] }, { parts: [3] }]).image, dir);
      const { offsets, damage, unreadable } = dumpOf(dir, {}, () => unlinkSync(path.join(dir, logName(1))));
      expect(offsets).to.deep.equal([0n, 1n, 2n, 6n, 7n, 8n]);
      expect([unreadable, damage.length, damage[0]!.kind]).to.deep.equal([1, 1, 'Unreadable']);
    });
  });

  it('reads all of it where bases do not ascend, so that nothing is passed over', async () => {
    await withTempDir((dir) => {
      const [a, b] = shard.segments as [BuiltSegment, BuiltSegment];
      writeShard(buildShard({ segments: [b, a] }), dir);
      const { offsets, damage } = dumpOf(dir, { from: 5n, to: 30n });
      const expected = [26n, 27n, 28n, 29n, ...Array.from({ length: 21 }, (_, at) => BigInt(at + 5))];
      expect(offsets).to.deep.equal(expected);
      expect(damage.map(({ kind }) => kind)).to.deep.equal(['OffsetOutOfOrder']);
    });
  });

  it('shows all records of two segments that claim the same offsets', async () => {
    await withTempDir((dir) => {
      const [a] = shard.segments as [BuiltSegment];
      const fork = buildSegment({ records: a.records.slice(20) });
      writeShard(buildShard({ segments: [a, fork] }), dir);
      const { offsets, damage } = dumpOf(dir);
      expect(offsets).to.have.lengthOf(a.records.length + fork.records.length);
      expect(damage.map(({ kind, lostOffsets }) => [kind, lostOffsets])).to.deep.equal([['OffsetOutOfOrder', null]]);
    });
  });

  it('finds where a batch was opened, segments in front of where reading begins', async () => {
    const image: ShardImage = threeV3SegmentsWithBatches().image;
    await withTempDir((dir) => {
      writeShard(image, dir);
      expect(dumpOf(dir, { from: 20n, producer: 7n }).offsets).to.deep.equal([20n]);
      expect(dumpOf(dir, { segment: 2n, producer: 7n }).offsets).to.deep.equal([]);
      expect(dumpOf(dir, { producer: 7n, tail: 1 }).offsets).to.deep.equal([20n]);
    });
  });

  it('has nothing to show of a shard without segments', async () => {
    await withTempDir((dir) => {
      writeShard(new Map([['epochs', new Uint8Array(12)]]), dir);
      expect(dumpOf(dir, { from: 3n, tail: 4 })).to.deep.equal({ offsets: [], places: [], damage: [], unreadable: 0 });
    });
  });
});
