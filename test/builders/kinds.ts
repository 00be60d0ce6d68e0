/**
 * One way to make each kind of finding come about, from a healthy shard and one damage.
 *
 * The table is a mapped type over all kinds: a kind that nobody knows how to make does not compile.
 */

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { VerifyOptions } from '../../src/check/verify.js';
import type { FindingKind } from '../../src/domain/finding.js';
import { type Ballot, encodeBallot } from '../../src/format/ballot.js';
import { crc32c } from '../../src/format/checksum.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest, type ManifestEntry } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeRunState } from '../../src/format/run-state.js';
import { encodeStorageId } from '../../src/format/storage-id.js';
import { InlineScanner, type Scanner } from '../../src/scan/scanner.js';
import { checked } from '../corpus/checked.js';
import { append, createFile, type Damage, damaged, deleteFile, flipBit, truncate, write } from './damage.js';
import { runInProcess } from './in-process.js';
import { batch, continues, generationStart, plain } from './records.js';
import { buildSegment } from './segments.js';
import {
  buildShard,
  indexName,
  logName,
  SHARD_DIR_NAME,
  type ShardImage,
  threeSegments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  wellIndexed,
  writeShardBelow,
} from './shards.js';
import { cacheShard, offloaded, producersAsOf } from './sidecars.js';

/** A place that is made below `dir`, and how to look at it so that the kind is met. */
export interface Making {
  make(dir: string): void;
  /** Kinds that were found there. */
  look(dir: string): Promise<readonly string[]>;
}

function lookAt(below: string, options: Partial<VerifyOptions> = {}, scannerFor?: (dir: string) => Scanner) {
  return async (dir: string) => {
    const { shards, roots } = await checked(path.join(dir, below), options, scannerFor?.(dir));
    return [...shards, ...roots].flatMap(({ findings }) => findings.map(({ kind }) => kind));
  };
}

function shard(image: ShardImage, ...damages: readonly Damage[]): Making {
  return {
    make: (dir) => writeShardBelow(damaged(image, ...damages), dir),
    look: lookAt(SHARD_DIR_NAME),
  };
}

function segmentOf(records: Parameters<typeof buildSegment>[0]['records'], version = 3): ShardImage {
  return buildShard({ segments: [buildSegment({ version, records })] });
}

function withFiles(files: Readonly<Record<string, Uint8Array>>, image = threeSegments().image): Making {
  return shard(new Map([...image, ...Object.entries(files)]));
}

const u16 = (value: number) => new Uint8Array([value >> 8, value & 255]);
const u32 = (value: number) => new Uint8Array([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);

/** The last four bytes are a checksum over all in front of them. */
function resealed(bytes: Uint8Array, edit: (bytes: Uint8Array) => void): Uint8Array {
  const copy = bytes.slice();
  edit(copy);
  copy.set(u32(crc32(copy.subarray(0, -4))), copy.length - 4);
  return copy;
}

/** The first word of a record is another one, and both checksums agree with it. */
function reworded(file: string, at: number, length: number, word: number): Damage {
  return (image) => {
    const bytes = image.get(file)!.slice();
    bytes.set(u32(word), at);
    bytes.set(u32(crc32(bytes.subarray(at, at + 20))), at + 20);
    const covered = Buffer.concat([bytes.subarray(at, at + 24), bytes.subarray(at + 28, at + length)]);
    bytes.set(u32(crc32(covered)), at + 24);
    return new Map([...image, [file, bytes]]);
  };
}

/** The header says another version, and its checksum agrees. */
function reversioned(file: string, version: number): Damage {
  return (image) => {
    const bytes = image.get(file)!.slice();
    bytes.set(u16(version), 4);
    bytes.set(u32(crc32(bytes.subarray(0, 24))), 24);
    return new Map([...image, [file, bytes]]);
  };
}

function root(files: Readonly<Record<string, Uint8Array>>): Making {
  return {
    make: (dir) => {
      writeShardBelow(threeSegments().image, dir);
      for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(dir, name), bytes);
    },
    look: lookAt('.'),
  };
}

const ID = '7b1d5e0c9a4f42d88e3605c1f2a7b390';
const OTHER_ID = '00000000000000000000000000000001';

function epochs(...entries: readonly (readonly [generation: bigint, startOffset: bigint])[]): Uint8Array {
  return encodeEpochs({ entries: entries.map(([generation, startOffset]) => ({ generation, startOffset })) });
}

function ballot(of: Ballot): Making {
  return shard(v4WithGenerations().image, createFile('ballot', encodeBallot(of)));
}

type Entry = Omit<ManifestEntry, 'position'>;

/** The three segments, and a manifest of them that was changed. */
function manifest(change: (entries: Entry[]) => Entry[]): Making {
  const { image, segments } = threeSegments();
  const entries = change(segments.slice(0, 2).map((segment, id) => offloaded(segment, BigInt(id))));
  return withFiles({ 'offload.manifest': encodeManifest({ entries }) }, image);
}

/** A manifest whose first segment is gone from the shard, and an object store beside it. */
function objects(object: (log: Uint8Array) => Uint8Array | null): Making {
  const { image, segments } = threeSegments();
  const entry = offloaded(segments[0]!, 0n);
  const without = damaged(image, deleteFile(logName(0)), deleteFile(indexName(0)));
  return {
    make: (dir) => {
      writeShardBelow(new Map([...without, ['offload.manifest', encodeManifest({ entries: [entry] })]]), dir);
      const bytes = object(segments[0]!.log);
      const at = path.join(dir, 'objects', entry.key);
      mkdirSync(path.dirname(at), { recursive: true });
      if (bytes !== null) writeFileSync(at, bytes);
    },
    look: async (dir) => {
      const manifestFile = path.join(dir, SHARD_DIR_NAME, 'offload.manifest');
      const args = ['decode-manifest', '--format', 'json', '--objects', path.join(dir, 'objects'), manifestFile];
      const { stdout } = await runInProcess(args);
      return [...stdout.matchAll(/"kind": "(\w+)"/g)].map(([, kind]) => kind!);
    },
  };
}

const cache = cacheShard();
const KEYS_HEADER = 35;

/** A key index with an edit, under a checksum that agrees. */
function keysIndex(edit: (bytes: Uint8Array) => void): Making {
  const bytes = cache.image.get('keys.idx')!.slice();
  edit(bytes);
  bytes.set(u32(crc32c(bytes.subarray(0, -4))), bytes.length - 4);
  return shard(new Map([...cache.image, ['keys.idx', bytes]]));
}

/** A scanner during whose first scan something happens. */
function whileScanning(happens: () => void): Scanner {
  const scanner = new InlineScanner(new AbortController().signal);
  let happened = false;
  return {
    scan: (job) => {
      if (!happened) happens();
      happened = true;
      return scanner.scan(job);
    },
    passedBytes: () => scanner.passedBytes(),
    close: () => scanner.close(),
  };
}

const LAST = logName(2);
const three = threeSegments();
const newest = three.segments[2]!;
const start = newest.positions[2]!;
const length = newest.positions[3]! - start;
const batches = threeV3SegmentsWithBatches();
const allBatches = batches.segments.flatMap(({ records }) => records);

export const MAKINGS: { readonly [K in FindingKind]: Making } = {
  SegmentMagic: shard(three.image, flipBit(logName(0), 0, 0)),
  SegmentVersion: shard(three.image, reversioned(logName(0), 9)),
  SegmentFlags: shard(three.image, flipBit(logName(0), 7, 0)),
  SegmentHeaderChecksum: shard(three.image, flipBit(logName(0), 15, 0)),
  ReservedNotZero: shard(three.image, flipBit(logName(0), 31, 0)),
  AbandonedSegment: shard(three.image, createFile(logName(3), new Uint8Array(10))),
  BlankFirstSegment: withFiles({ [logName(0)]: new Uint8Array(32) }, new Map()),
  NoSegments: withFiles({ replica: encodeReplica({ generation: 1n, commit: 0n }) }, new Map()),
  SegmentFileName: shard(three.image, createFile('7.log', newest.log)),
  StrayFile: shard(three.image, createFile('notes.txt', new TextEncoder().encode('moved by hand'))),

  Truncated: shard(three.image, truncate(LAST, newest.log.length - 9)),
  RecordHeaderChecksum: shard(three.image, append(LAST, new Uint8Array(4096))),
  RecordChecksum: shard(three.image, flipBit(LAST, start + 30, 0)),
  RecordFlags: shard(three.image, reworded(LAST, start, length, (0xc0000000 + length - 28) >>> 0)),
  RecordTooLarge: shard(three.image, reworded(LAST, start, length, 0x1fffffff)),
  OffsetOutOfOrder: shard(three.image, deleteFile(logName(1)), deleteFile(indexName(1))),
  RecordKindForVersion: shard(segmentOf([generationStart(0n, 1n)], 4), reversioned(logName(0), 3)),
  GenerationStartPayload: shard(segmentOf([generationStart(0n, 1n, { payload: new Uint8Array(3) })], 4)),
  GenerationStartOrder: shard(segmentOf([generationStart(0n, 4n), generationStart(1n, 2n)], 4)),
  BatchAbandoned: shard(segmentOf([...batch(0n, { producerId: 7n, sequence: 0n, len: 3 }, 2), plain(2n)])),
  BatchIncomplete: shard(segmentOf(batch(0n, { producerId: 7n, sequence: 0n, len: 3 }, 2))),
  BatchOrphan: shard(segmentOf([continues(0n), plain(1n)])),
  TimestampOddity: shard(segmentOf([plain(0n, { timestampMicros: 0n })])),

  IndexMagic: shard(three.image, flipBit(indexName(0), 0, 0)),
  IndexVersion: shard(three.image, write(indexName(0), 4, u16(9))),
  IndexFlags: shard(three.image, flipBit(indexName(0), 7, 0)),
  IndexMissing: shard(three.image, deleteFile(indexName(0))),
  IndexBaseOffset: shard(three.image, flipBit(indexName(0), 15, 0)),
  IndexEntry: shard(wellIndexed().image, flipBit(indexName(0), 24 + 16 + 15, 1)),
  IndexTornEntry: shard(three.image, append(indexName(0), new Uint8Array(5))),

  SidecarMagic: shard(v4WithGenerations().image, flipBit('replica', 0, 0)),
  SidecarVersion: shard(v4WithGenerations().image, flipBit('replica', 5, 2)),
  SidecarTruncated: shard(v4WithGenerations().image, truncate('replica', 20)),
  SidecarTrailingBytes: shard(v4WithGenerations().image, append('replica', new Uint8Array(3))),
  SidecarChecksum: shard(v4WithGenerations().image, flipBit('replica', 23, 4)),
  SidecarField: withFiles({
    ballot: resealed(encodeBallot({ generation: 1n, leader: 'ab' }), (bytes) => bytes.set([0xff], 16)),
  }),

  EpochOrder: withFiles({ epochs: epochs([2n, 0n], [1n, 5n]) }),
  EpochBeyondTail: withFiles({ epochs: epochs([1n, 0n], [2n, 900n]) }),
  EpochCount: withFiles({
    epochs: epochs(...Array.from({ length: 513 }, (_, at) => [BigInt(at + 1), BigInt(Math.floor(at / 30))] as const)),
  }),
  EpochGenerationStart: shard(v4WithGenerations().image, createFile('epochs', epochs([1n, 0n], [2n, 7n], [4n, 14n]))),
  CommitBeyondTail: withFiles({ replica: encodeReplica({ generation: 1n, commit: 900n }) }),
  ReplicaBehindEpochs: withFiles({
    epochs: epochs([1n, 0n], [4n, 5n]),
    replica: encodeReplica({ generation: 2n, commit: 3n }),
  }),
  BallotBehind: ballot({ generation: 2n, leader: 'broker-b' }),
  BallotAhead: ballot({ generation: 9n, leader: 'broker-b' }),
  GenerationGivenUp: ballot({ generation: 4n, leader: '' }),

  ManifestOrder: manifest((entries) => entries.toReversed()),
  ManifestOverlap: manifest(([first, second]) => [first!, { ...second!, baseOffset: 6n }]),
  ManifestRange: manifest(([first]) => [{ ...first!, baseOffset: 5n, lastOffset: 2n }]),
  ManifestKey: manifest(([first]) => [{ ...first!, key: 'broker-a/elsewhere/0-0.segment' }]),
  ManifestLocal: manifest(([first]) => [{ ...first!, checksum: 1 }]),
  ManifestBeyondTail: manifest(([first]) => [{ ...first!, segmentId: 9n, baseOffset: 800n, lastOffset: 900n }]),
  HistoryHole: (() => {
    const late = threeSegments({ first: 10n, firstId: 2n });
    const early = threeSegments().segments[0]!;
    return withFiles({ 'offload.manifest': encodeManifest({ entries: [offloaded(early, 0n)] }) }, late.image);
  })(),
  ObjectMissing: objects(() => null),
  ObjectMismatch: objects((log) => log.slice(0, -1)),

  ProducersStale: withFiles({ producers: producersAsOf([], 900n) }),
  ProducersMismatch: withFiles({ producers: producersAsOf(allBatches.slice(0, 3), 17n) }, batches.image),
  KeysStale: shard(cache.image, truncate(logName(0), cache.segments[0]!.positions.at(-1)!)),
  KeysEntry: keysIndex((bytes) =>
    bytes.set([0xff], KEYS_HEADER + 4 + new DataView(bytes.buffer).getUint32(KEYS_HEADER)),
  ),
  KeysLastChecksum: keysIndex((bytes) => bytes.set(u32(1), 31)),

  UncleanStop: root({ 'run-state': encodeRunState({ state: 'running', acknowledgesBeforeSync: true, id: ID }) }),
  StorageIdMismatch: root({
    'storage-id': encodeStorageId({ id: OTHER_ID, layout: 'padded' }),
    'run-state': encodeRunState({ state: 'stopped', acknowledgesBeforeSync: false, id: ID }),
  }),
  DirectoryName: {
    ...shard(three.image),
    look: lookAt(SHARD_DIR_NAME, { key: { tenant: 'acme', namespace: 'default', stream: 'orders', shard: 1 } }),
  },
  Unreadable: {
    ...shard(three.image),
    make: (dir) => mkdirSync(path.join(writeShardBelow(three.image, dir), logName(3))),
  },
  ChangedWhileReading: {
    ...shard(three.image),
    look: lookAt(SHARD_DIR_NAME, {}, (dir) =>
      whileScanning(() => appendFileSync(path.join(dir, SHARD_DIR_NAME, LAST), 'more')),
    ),
  },
};
