/**
 * Healthy shards: in memory as an image, file name to bytes, and on disk.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeReplica } from '../../src/format/replica.js';
import { type SequencePart, sequence } from './records.js';
import { type BuiltSegment, buildSegment, type SegmentPlan } from './segments.js';

/** The files of a shard's directory. */
export type ShardImage = ReadonlyMap<string, Uint8Array>;

/** acme/default/orders/0. */
export const SHARD_DIR_NAME = 'acme_default_orders_0-0d3aed4b998d2798';
export const SHARD_KEY = 'acme/default/orders/0';

/** `logName(2)` is `00000000000000000002.log`. */
export function logName(id: bigint | number): string {
  return `${id.toString().padStart(20, '0')}.log`;
}

export function indexName(id: bigint | number): string {
  return `${id.toString().padStart(20, '0')}.index`;
}

export interface ShardPlan {
  readonly segments: readonly BuiltSegment[];
  /** Of the first segment; the others follow one by one. 0 when left out. */
  readonly firstId?: bigint;
  readonly sidecars?: Readonly<Record<string, Uint8Array>>;
}

export function buildShard({ segments, firstId = 0n, sidecars = {} }: ShardPlan): ShardImage {
  const image = new Map<string, Uint8Array>();
  segments.forEach((segment, at) => {
    const id = firstId + BigInt(at);
    image.set(logName(id), segment.log);
    image.set(indexName(id), segment.index);
  });
  for (const [name, bytes] of Object.entries(sidecars)) image.set(name, bytes);
  return image;
}

/** Writes the image into `dir`, which is made when it is not there, and returns `dir`. */
export function writeShard(image: ShardImage, dir: string): string {
  mkdirSync(dir, { recursive: true });
  for (const [name, bytes] of image) writeFileSync(path.join(dir, name), bytes);
  return dir;
}

/** Writes the image as a shard below `parent`, under its right name, and returns the shard's path. */
export function writeShardBelow(image: ShardImage, parent: string, name = SHARD_DIR_NAME): string {
  return writeShard(image, path.join(parent, name));
}

/** The regular files of a directory. */
export function readShard(dir: string): ShardImage {
  const names = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(names.map(({ name }) => [name, new Uint8Array(readFileSync(path.join(dir, name)))] as const));
}

/** An image and the segments it was made of, for their positions and offsets. */
export interface PresetShard {
  readonly image: ShardImage;
  readonly segments: readonly BuiltSegment[];
  /** One past the newest record. */
  readonly tail: bigint;
}

export type SegmentParts = { readonly parts: readonly SequencePart[] } & Omit<SegmentPlan, 'records' | 'baseOffset'>;

/** Segments whose offsets follow each other, from `first` on, as segment 0, 1, 2 … */
export function shardOf(
  plans: readonly SegmentParts[],
  { first = 0n, firstId = 0n, sidecars = {} }: ShardOptions = {},
): PresetShard {
  const segments: BuiltSegment[] = [];
  let next = first;
  for (const { parts, ...plan } of plans) {
    const segment = buildSegment({ ...plan, baseOffset: next, records: sequence(next, parts) });
    segments.push(segment);
    next = segment.nextOffset;
  }
  return { image: buildShard({ segments, firstId, sidecars }), segments, tail: next };
}

export interface ShardOptions {
  readonly first?: bigint;
  readonly firstId?: bigint;
  readonly sidecars?: Readonly<Record<string, Uint8Array>>;
}

/** Three v3 segments of plain records: offsets 0..8, 8..15, 15..21. */
export function threeSegments(options: ShardOptions = {}): PresetShard {
  return shardOf([{ parts: [8] }, { parts: [7] }, { parts: [6] }], options);
}

/** The same records and offsets in v2 segments. */
export function threeV2Segments(options: ShardOptions = {}): PresetShard {
  return shardOf(
    [
      { version: 2, parts: [8] },
      { version: 2, parts: [7] },
      { version: 2, parts: [6] },
    ],
    options,
  );
}

/** Batches of two producers, whole ones, among plain records; the last batch of segment 1 ends in segment 2. */
export function threeV3SegmentsWithBatches(): PresetShard {
  const straddling = sequence(17n, [{ producerId: 7n, sequence: 2n, len: 4 }]);
  const first = buildSegment({
    records: sequence(0n, [2, { producerId: 7n, sequence: 0n, len: 3 }, { producerId: 9n, sequence: 40n, len: 1 }, 2]),
  });
  const second = buildSegment({
    records: [...sequence(8n, [3, { producerId: 7n, sequence: 1n, len: 5 }, 1]), ...straddling.slice(0, 2)],
  });
  const third = buildSegment({
    records: [...straddling.slice(2), ...sequence(21n, [{ producerId: 9n, sequence: 41n, len: 2 }, 2])],
  });
  const segments = [first, second, third];
  return { image: buildShard({ segments }), segments, tail: third.nextOffset };
}

/**
 * A v3 segment of generation 1, then two v4 segments: generation 2 starts at offset 6, generation 4 at 14. `epochs`,
 * `replica` and `ballot` agree with the records, and all but the last two are committed.
 */
export function v4WithGenerations(): PresetShard {
  const plans: readonly SegmentParts[] = [
    { version: 3, parts: [6] },
    { version: 4, parts: [{ generation: 2n }, 4] },
    { version: 4, parts: [3, { generation: 4n }, 5] },
  ];
  return shardOf(plans, {
    sidecars: {
      epochs: encodeEpochs({
        entries: [
          { generation: 1n, startOffset: 0n },
          { generation: 2n, startOffset: 6n },
          { generation: 4n, startOffset: 14n },
        ],
      }),
      replica: encodeReplica({ generation: 4n, commit: 18n }),
      ballot: encodeBallot({ generation: 4n, leader: 'broker-b' }),
    },
  });
}

/** Plain records enough for many index entries: `count` of them in each of two segments, with the given spacing. */
export function wellIndexed(count = 60, indexSpacing = 256): PresetShard {
  return shardOf([
    { parts: [count], indexSpacing },
    { parts: [count], indexSpacing },
  ]);
}
