/**
 * The files beside the segments that follow from the records: manifest entries, producer snapshots, key indexes.
 *
 * Each is worked out here from the records and the format page, so that what the tool works out has something to be held
 * to. The plain ones (`epochs`, `replica`, `ballot` …) come straight from their encoders.
 */

import { crc32 } from 'node:zlib';
import { encodeCacheRecord } from '../../src/format/cache-record.js';
import { encodeCompositeKey, encodeKeysIndex } from '../../src/format/keys-index.js';
import type { ManifestEntry } from '../../src/format/manifest.js';
import { encodeProducers, type OpenBatch, type ProducerBatch } from '../../src/format/producers.js';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import { plain, timestampOf } from './records.js';
import { type BuiltSegment, buildSegment } from './segments.js';
import { buildShard, type PresetShard, SHARD_DIR_NAME } from './shards.js';

/** What a broker notes of a segment once its copy is in the object store. The key is the object's path there. */
export function offloaded(
  segment: BuiltSegment,
  segmentId: bigint,
  { nodeId = 'broker-a', shard = SHARD_DIR_NAME }: { readonly nodeId?: string; readonly shard?: string } = {},
): Omit<ManifestEntry, 'position'> {
  const digits = (value: bigint) => value.toString().padStart(20, '0');
  return {
    segmentId,
    baseOffset: segment.baseOffset,
    lastOffset: segment.nextOffset - 1n,
    size: BigInt(segment.log.length),
    oldestMicros: segment.records[0]?.timestampMicros ?? 0n,
    newestMicros: segment.records.at(-1)?.timestampMicros ?? 0n,
    checksum: crc32(segment.log),
    key: `${nodeId}/${shard}/${digits(segment.baseOffset)}-${digits(segmentId)}.segment`,
  };
}

/** The `producers` file as a broker saves it when a segment begins at `asOf`. */
export function producersAsOf(records: readonly LogRecord[], asOf: bigint): Uint8Array {
  const windows = new Map<bigint, { lastSequence: bigint; batches: ProducerBatch[] }>();
  let open = null as OpenBatch | null;
  for (const { kind, offset, tag } of records) {
    if (offset >= asOf) break;
    if (kind === 'opens' && tag !== null) open = { ...tag, first: offset, held: 1 };
    else if (kind === 'continues' && open !== null) open = { ...open, held: open.held + 1 };
    else open = null;
    if (open === null || open.held < open.len) continue;
    const { producerId, sequence, first, len } = open;
    const window = windows.get(producerId);
    const before = window !== undefined && window.lastSequence + 1n === sequence ? window.batches : [];
    windows.set(producerId, { lastSequence: sequence, batches: [...before, { first, len }].slice(-64) });
    open = null;
  }
  const producers = [...windows].map(([id, window]) => ({ id, ...window }));
  producers.sort((a, b) => (a.id < b.id ? -1 : 1));
  return encodeProducers({ asOf, open, producers });
}

/** A cache shard of one segment, with the key index that a compaction pass over all of it leaves. */
export function cacheShard(): PresetShard {
  const text = new TextEncoder();
  const puts = ['user/1', 'user/2', 'cart/9', 'user/1', 'zoë'].map((key, at) => ({ key, value: `value ${at}` }));
  const records = puts.map(({ key, value }, at) =>
    plain(BigInt(at), {
      payload: encodeCacheRecord({ op: 'put', expiresAtMillis: 0n, key, value: text.encode(value) }),
    }),
  );
  const newest = new Map(records.map((record, at) => [puts[at]!.key, record]));
  const entries = [...newest].map(([key, record]) => ({
    key: encodeCompositeKey({ kind: 0, key: text.encode(key), slot: null, field: null }),
    offset: record.offset,
    version: record.offset + 1n,
    expiresAtMillis: 0n,
    bytes: record.payload.length,
  }));
  entries.sort((a, b) => Buffer.compare(a.key, b.key));
  const segment = buildSegment({ records, createdAtMicros: timestampOf(0n) - 1000n });
  const last = encodeRecord(records.at(-1)!);
  const keysIndex = encodeKeysIndex({
    coveredThrough: segment.nextOffset,
    logBytes: BigInt(records.reduce((sum, { payload }) => sum + payload.length, 0)),
    lastChecksum: new DataView(last.buffer).getUint32(24),
    entries,
  });
  return {
    image: buildShard({ segments: [segment], sidecars: { 'keys.idx': keysIndex } }),
    segments: [segment],
    tail: segment.nextOffset,
  };
}
