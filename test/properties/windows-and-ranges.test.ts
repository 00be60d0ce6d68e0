import path from 'node:path';
import { expect } from 'chai';
import { concatBytes, writeU64 } from '../../src/format/bytes.js';
import { toJson } from '../../src/report/json.js';
import { joinRange } from '../../src/scan/range-join.js';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { rangesOf, readHead, scanSegmentFile } from '../../src/scan/segment-file.js';
import { type RangeRequest, scanRange } from '../../src/scan/segment-scan.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { type Random, seededRandom } from '../builders/random.js';
import { buildShard, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked, TEST_NOW_MICROS } from '../corpus/checked.js';
import { CountingSource } from '../scan/counting-source.js';
import { damagedSegment } from './random-segments.js';

const WINDOWS: readonly number[] = [64, 65, 100, 4096, 1 << 20];

/** An index of which some entries lie. */
function lyingIndex(index: Uint8Array, random: Random): Uint8Array {
  const copy = index.slice();
  const entries = (copy.length - 24) / 16;
  for (let lies = random.below(4); lies > 0 && entries > 0; lies--) {
    const at = 24 + 16 * random.below(entries) + 8 * random.below(2);
    const view = new DataView(copy.buffer);
    const value = view.getBigUint64(at);
    const near = BigInt.asUintN(64, value + BigInt(random.below(121)) - 60n);
    const choices = [near, near, 0n, 31n, 2n ** 53n + 1n, 2n ** 64n - 1n, value + 2n ** 32n];
    writeU64(copy, at, BigInt.asUintN(64, choices[random.below(choices.length)]!));
  }
  if (random.below(8) === 0) return concatBytes([copy, random.bytes(random.below(40))]);
  return random.below(8) === 0 ? copy.slice(0, copy.length - random.below(copy.length)) : copy;
}

function finished<T>(steps: Generator<number, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** All that a scan found, without how much it read to find it. */
function found<T extends { bytesRead: number }>(scan: T | null): unknown {
  return scan === null ? null : { ...scan, bytesRead: 0 };
}

describe('the size of the window', () => {
  it('never changes what is found in a segment', () => {
    for (let seed = 0; seed < 700; seed++) {
      const random = seededRandom(seed ^ 0x5eed);
      const { healthy, log } = damagedSegment(seed);
      const index = lyingIndex(healthy.index, random);
      const outcomes = WINDOWS.map((windowBytes) => {
        const settings = { nowMicros: TEST_NOW_MICROS, windowBytes };
        const scan = finished(scanSegmentFile(new MemorySource(log), new MemorySource(index), settings));
        return { ...scan, records: found(scan.records) };
      });
      for (const outcome of outcomes) expect(outcome, `seed ${seed}`).to.deep.equal(outcomes[0]);
    }
  });

  it('never changes the report of a shard', async () => {
    await withTempDir(async (parent) => {
      for (let seed = 0; seed < 40; seed++) {
        const random = seededRandom(seed);
        const segments = [seed, seed + 1000, seed + 2000].map((each) => {
          const { healthy, log } = damagedSegment(each);
          return { ...healthy, log, index: lyingIndex(healthy.index, random) };
        });
        const sidecars = { epochs: random.bytes(random.below(60)), 'keys.idx': random.bytes(random.below(90)) };
        const dir = writeShardBelow(buildShard({ segments, sidecars }), path.join(parent, String(seed)));
        const reports: string[] = [];
        for (const windowBytes of WINDOWS) reports.push(toJson((await checked(dir, { windowBytes })).shards));
        for (const report of reports) expect(report, `seed ${seed}`).to.equal(reports[0]);
      }
    });
  });

  it('and lying lengths never make a scan read more than a few times the file', () => {
    for (let seed = 0; seed < 300; seed++) {
      const { healthy, log } = damagedSegment(seed, seed % 4 === 0 ? 9000 : undefined);
      const source = new CountingSource(log);
      finished(scanSegmentFile(source, new MemorySource(healthy.index), { nowMicros: TEST_NOW_MICROS }));
      expect(source.largestRead, `seed ${seed}`).to.be.at.most(1 << 20);
      expect(source.bytesRead, `seed ${seed}`).to.be.at.most(40 * log.length + 4096);
    }
  });
});

/** The ranges as one, or null when they do not join; also how many there were. */
function joinedRanges(log: Uint8Array, index: Uint8Array, requests: readonly RangeRequest[]): RangeScan | null {
  let whole: RangeScan | null = null;
  for (const request of requests) {
    const scan = finished(scanRange(new MemorySource(log), new MemorySource(index), request));
    if (whole === null) whole = scan;
    else {
      const before = toJson(whole);
      if (!joinRange(whole, scan, request.expected)) {
        expect(toJson(whole), 'a range that does not join changes nothing').to.equal(before);
        return null;
      }
    }
  }
  return whole;
}

describe('a segment scanned in ranges', () => {
  it('gives what one scan gives, or says that the ranges do not join', () => {
    const joins = { held: 0, refused: 0 };
    for (let seed = 0; seed < 4000; seed++) {
      const random = seededRandom(seed ^ 0xabcdef);
      const { healthy, log } = damagedSegment(seed);
      const index = seed % 2 === 0 ? healthy.index : lyingIndex(healthy.index, random);
      const head = readHead(new MemorySource(log), new MemorySource(index));
      const settings = { nowMicros: TEST_NOW_MICROS, windowBytes: WINDOWS[seed % WINDOWS.length]! };
      const requests = rangesOf(head, log.length, 2 + random.below(6), settings);
      if (requests.length < 2) continue;
      const [whole] = rangesOf(head, log.length, 1, settings);
      const serial = finished(scanRange(new MemorySource(log), new MemorySource(index), whole!));
      const joined = joinedRanges(log, index, requests);
      joins[joined === null ? 'refused' : 'held']++;
      if (joined !== null) expect(found(joined), `seed ${seed}`).to.deep.equal(found(serial));
    }
    expect(joins.held, 'segments put together').to.be.above(300);
    expect(joins.refused, 'segments that do not join').to.be.above(300);
  });
});
