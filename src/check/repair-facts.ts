/**
 * What a planner has to know of a shard beside its report: the end of its newest segment, and the indexes of its segments.
 *
 * Everything is read from the bytes again and held to what the scan found, so that a shard that changes meanwhile is noticed.
 */

import type { CutFacts, IndexImage, NewestFacts } from '../domain/plan-facts.js';
import { crc32, hex32 } from '../format/checksum.js';
import { buildIndex } from '../scan/index-build.js';
import type { Damage } from '../scan/range-scan.js';
import { scanRange } from '../scan/segment-scan.js';
import { allZeros } from '../scan/zeros.js';
import type { ByteSource } from '../store/byte-source.js';
import { ReadFailure } from '../store/byte-source.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** Facts about the newest segment; null when recovery is left with none. Throws `ReadFailure`. */
export function newestFacts(facts: ShardFacts, spacing: number, nowMicros: bigint): NewestFacts | null {
  const newest = facts.segments.find(({ role }) => role === 'newest');
  if (newest === undefined) return null;
  const { id, file, size } = newest;
  const unreadable = unreadableWords(newest);
  const first = newest.scan?.records?.damages[0] ?? null;
  const firstDamage = first === null ? null : { kind: first.corruption.kind, position: first.position };
  const cut = first === null || unreadable !== null ? null : cutFacts(facts, newest, first, spacing, nowMicros);
  return { id, file, size, unreadable, firstDamage, cut };
}

function unreadableWords({ scan, problem }: SegmentFacts): string | null {
  return problem?.message ?? scan?.head.problem?.message ?? scan?.records?.stopped?.message ?? null;
}

function cutFacts(
  facts: ShardFacts,
  newest: SegmentFacts,
  first: Damage,
  spacing: number,
  nowMicros: bigint,
): CutFacts | null {
  const header = newest.scan!.head.header;
  if (header === null) return null;
  const source = facts.open(newest.file);
  try {
    const { position, recordsBefore } = first;
    const nextOffset = header.baseOffset + BigInt(recordsBefore);
    const index = imageOf(source, newest.file, position, spacing);
    if (index === null || index.nextOffset !== nextOffset) throw new ReadFailure('CHANGED', position, 'it changed');
    return {
      position,
      nextOffset,
      recordsKept: recordsBefore,
      kept: { size: position, crc32: checksumOf(source, position) },
      index,
      ...lossBehind(source, position, nextOffset, header.version, nowMicros),
      zeros: allZeros(source, position, source.size),
    };
  } finally {
    source.close();
  }
}

type Loss = Pick<CutFacts, 'intactRecords' | 'records' | 'offsets' | 'fromTimestampMicros' | 'toTimestampMicros'>;

/** Counts what lies behind a position, by a scan of its own. */
function lossBehind(source: ByteSource, start: number, expected: bigint, version: number, nowMicros: bigint): Loss {
  const request = {
    start,
    until: Number.POSITIVE_INFINITY,
    expected,
    version,
    mark: null,
    firstEntry: null,
    nowMicros,
  };
  const scan = drained(scanRange(source, null, request));
  if (scan.stopped !== null) throw new ReadFailure(scan.stopped.code, scan.end, scan.stopped.message);
  const damaged = scan.damages.filter(({ corruption }) => corruption.kind === 'RecordChecksum');
  const known = [scan.firstOffset, scan.lastOffset, ...damaged.map(({ offset }) => offset)].filter((o) => o !== null);
  known.sort((a, b) => (a < b ? -1 : 1));
  return {
    intactRecords: scan.records,
    records: scan.records + damaged.length,
    offsets: known.length === 0 ? null : { from: known[0]!, to: known.at(-1)! + 1n },
    fromTimestampMicros: scan.firstTimestampMicros,
    toTimestampMicros: scan.lastTimestampMicros,
  };
}

function drained<T>(generator: Generator<unknown, T>): T {
  for (;;) {
    const step = generator.next();
    if (step.done) return step.value;
  }
}

/** A segment's index up to its first damage, or its end; null when its header is not readable. */
export interface SegmentIndex extends IndexImage {
  readonly id: bigint;
  /** Position of the first damage, or null when every record is intact. */
  readonly damagedAt: number | null;
}

/** Makes the index of one segment. Throws `ReadFailure`. */
export function segmentIndex(facts: ShardFacts, segment: SegmentFacts, spacing: number): SegmentIndex | null {
  const records = segment.scan?.records ?? null;
  if (segment.scan?.head.header == null || records === null || records.stopped !== null) return null;
  const damagedAt = records.damages[0]?.position ?? null;
  const source = facts.open(segment.file);
  try {
    const image = imageOf(source, segment.file, damagedAt ?? segment.size, spacing);
    if (image === null) throw new ReadFailure('CHANGED', 0, 'it changed');
    return { ...image, id: segment.id, damagedAt };
  } finally {
    source.close();
  }
}

function imageOf(
  source: ByteSource,
  segment: string,
  end: number,
  spacing: number,
): (IndexImage & { readonly nextOffset: bigint }) | null {
  const built = buildIndex(source, end, spacing);
  if (built === null || built.reached !== end) return null;
  const { image: bytes, entries, nextOffset } = built;
  const state = { size: bytes.length, crc32: hex32(crc32(bytes)) };
  return { segment, end, spacing, entries, bytes, state, nextOffset };
}

function checksumOf(source: ByteSource, end: number): string {
  const piece = new Uint8Array(1 << 20);
  let crc = 0;
  for (let at = 0; at < end; ) {
    const got = source.readAt(piece.subarray(0, Math.min(piece.length, end - at)), at);
    if (got === 0) throw new ReadFailure('SHRANK', at, 'the file ended before the size it had');
    crc = crc32(piece.subarray(0, got), crc);
    at += got;
  }
  return hex32(crc);
}
