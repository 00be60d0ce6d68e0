import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { concatBytes } from '../../src/format/bytes.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { renderVerifyJson } from '../../src/report/json.js';
import { type Random, seededRandom } from '../builders/random.js';
import {
  indexName,
  logName,
  SHARD_DIR_NAME,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
} from '../builders/shards.js';
import { cacheShard, offloaded, producersAsOf } from '../builders/sidecars.js';
import { withTempDir } from '../builders/trees.js';
import { type Checked, checked } from '../corpus/checked.js';

const TOOL = { name: 'felix-fsck', version: '0' };
const ROOT_NAMES = [
  'storage-id',
  'run-state',
  'registration',
  'node-id',
  '.streams/acme_default_orders-5c1b0e2fd3a4b7c8',
];

/** Healthy content for every name of the format in a shard's directory. */
function healthyFiles(): Map<string, Uint8Array> {
  const generations = v4WithGenerations();
  const batches = threeV3SegmentsWithBatches();
  const files = new Map(generations.image);
  files.set(
    'producers',
    producersAsOf(
      batches.segments.flatMap(({ records }) => records),
      17n,
    ),
  );
  files.set('keys.idx', cacheShard().image.get('keys.idx')!);
  const entries = generations.segments
    .slice(0, 2)
    .map((segment, id) => ({ ...offloaded(segment, BigInt(id)), position: 0 }));
  files.set('offload.manifest', encodeManifest({ entries }));
  return files;
}

function junk(random: Random): Uint8Array {
  const length = random.below(3) === 0 ? random.below(5) : random.below(700);
  switch (random.below(5)) {
    case 0:
      return new Uint8Array(length);
    case 1:
      return new Uint8Array(length).fill(0xff);
    case 2:
      return new TextEncoder().encode('{"not": "a segment"}\n'.repeat(1 + (length % 20)));
    default:
      return random.bytes(length);
  }
}

/** A magic and a version that are right, and nothing else. */
function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  const at = random.below(copy.length || 1);
  const length = Math.min(random.below(12), copy.length - at);
  switch (random.below(6)) {
    case 0:
      return copy.slice(0, at);
    case 1:
      return concatBytes([copy, junk(random)]);
    case 2:
      return copy.fill(random.below(2) * 255, at, at + length);
    case 3:
      return concatBytes([copy.subarray(0, at), junk(random), copy.subarray(at)]);
    case 4:
      return concatBytes([copy.subarray(0, Math.min(8, copy.length)), random.bytes(random.below(200))]);
    default:
      copy.set(random.bytes(length), at);
      return copy;
  }
}

/** Everything that was read can be said, in JSON that parses, with every byte accounted for. */
function expectSayable({ shards, roots, summary }: Checked, label: string): void {
  const text = renderVerifyJson({ partial: false, shards, roots, summary }, TOOL);
  expect(() => JSON.parse(text) as unknown, label).not.to.throw();
  for (const { bytes, verifiedBytes, damagedBytes, unreadBytes } of shards.flatMap(({ segments }) => segments)) {
    expect(verifiedBytes + damagedBytes + unreadBytes, label).to.equal(bytes);
    expect(Math.min(verifiedBytes, damagedBytes, unreadBytes), label).to.be.at.least(0);
  }
}

describe('no bytes under any name of the format', () => {
  const healthy = healthyFiles();
  const names = [...healthy.keys(), logName(7), indexName(7), '7.log', 'epochs.tmp'];

  it('stop the check when they are made up', async () => {
    await withTempDir(async (parent) => {
      for (let seed = 0; seed < 120; seed++) {
        const random = seededRandom(seed);
        const dir = path.join(parent, String(seed), SHARD_DIR_NAME);
        mkdirSync(path.join(parent, String(seed), '.streams'), { recursive: true });
        mkdirSync(dir);
        for (const name of names) if (random.below(2) === 0) writeFileSync(path.join(dir, name), junk(random));
        for (const name of ROOT_NAMES) writeFileSync(path.join(parent, String(seed), name), junk(random));
        writeFileSync(path.join(dir, 'epochs'), junk(random));
        const settings = { repairChecksumTail: seed % 2 === 0, verifyAllOnOpen: seed % 3 === 0, indexSpacing: 1 };
        const result = await checked(path.join(parent, String(seed)), { settings, quick: seed % 5 === 0 });
        expectSayable(result, `seed ${seed}`);
      }
    });
  });

  it('stop it when healthy ones were changed', async () => {
    await withTempDir(async (parent) => {
      for (let seed = 0; seed < 250; seed++) {
        const random = seededRandom(seed + 77);
        const dir = path.join(parent, String(seed));
        mkdirSync(dir);
        const changed = new Set([...healthy.keys()].filter(() => random.below(4) === 0));
        for (const [name, bytes] of healthy) {
          if (random.below(20) > 0)
            writeFileSync(path.join(dir, name), changed.has(name) ? mutated(bytes, random) : bytes);
        }
        writeFileSync(path.join(dir, 'epochs'), mutated(healthy.get('epochs')!, random));
        const result = await checked(dir, { quick: seed % 5 === 0 });
        expectSayable(result, `seed ${seed}`);
      }
    });
  });
});
