/**
 * A finding as a schema: the same frame for every kind, and for each kind its own fields in `detail`.
 */

import * as z from 'zod';
import type { Finding, FindingDetails, FindingKind } from '../domain/finding.js';
import { byteRange, count, hex16, hex32, type Json, kind, offsetRange, severity, site, u64 } from './schema-values.js';

const optional = z.exactOptional;
const text = z.string();
const flag = z.boolean();
const bitFlip = z
  .looseObject({ position: count, bit: z.int().min(0).max(7), field: text, chance: z.number() })
  .meta({ id: 'bitFlip', description: 'One flipped bit that alone would explain a failed checksum' });
const scan = {
  resumedAt: optional(count.nullable()),
  offset: optional(u64),
  intactAfter: optional(count),
  bitFlip: optional(bitFlip.nullable()),
};
const checksums = { expected: hex32, found: hex32 };
const entry = { entry: count, segmentId: u64 };
const batch = { producer: u64, sequence: u64, len: count, held: count, offset: u64 };
const ballot = { ballot: u64, accepted: u64, leader: text };

/** Segments, records and indexes. */
const LOG_DETAILS = {
  SegmentMagic: z.looseObject({ found: hex32 }),
  SegmentVersion: z.looseObject({ found: count }),
  SegmentFlags: z.looseObject({ found: hex16 }),
  SegmentHeaderChecksum: z.looseObject({ ...checksums, bitFlip: optional(bitFlip.nullable()) }),
  IndexMagic: z.looseObject({ found: hex32 }),
  IndexVersion: z.looseObject({ found: count }),
  Truncated: z.looseObject({ ...scan, needed: count, available: count }),
  RecordHeaderChecksum: z.looseObject({ ...scan, ...checksums }),
  RecordChecksum: z.looseObject({ ...scan, ...checksums }),
  RecordFlags: z.looseObject({ ...scan, found: hex32 }),
  RecordTooLarge: z.looseObject({ ...scan, payloadLen: count, limit: count }),
  OffsetOutOfOrder: z.looseObject({ ...scan, expected: u64, found: u64, fill: optional(text) }),
  RecordKindForVersion: z.looseObject({ recordKind: text, version: count, offset: u64 }),
  GenerationStartPayload: z.looseObject({ offset: u64, payloadLen: count }),
  GenerationStartOrder: z.looseObject({ offset: u64, generation: u64, previous: u64 }),
  BatchAbandoned: z.looseObject(batch),
  BatchIncomplete: z.looseObject(batch),
  BatchOrphan: z.looseObject({ offset: u64, count }),
  ReservedNotZero: z.looseObject({ found: hex32 }),
  IndexFlags: z.looseObject({ found: hex16 }),
  AbandonedSegment: z.looseObject({ why: z.enum(['headerless', 'empty']), bytes: count }),
  BlankFirstSegment: z.looseObject({ bytes: count }),
  NoSegments: z.looseObject({ files: z.array(text) }),
  SegmentFileName: z.looseObject({ id: u64, opened: text }),
  StrayFile: z.looseObject({
    looksLike: text,
    bytes: count,
    offsets: optional(offsetRange),
    records: optional(count),
    note: optional(text),
  }),
  IndexMissing: z.looseObject({ entriesExpected: optional(count) }),
  IndexBaseOffset: z.looseObject({ expected: u64, found: u64 }),
  IndexEntry: z.looseObject({ entry: count, offset: u64, entryPosition: u64, why: text, dropped: flag }),
  IndexTornEntry: z.looseObject({ bytes: count }),
  TimestampOddity: z.looseObject({ what: text, count, offset: u64, timestampMicros: u64 }),
} satisfies Details;

/** Small files, and what they say of each other and of the log. */
const FILE_DETAILS = {
  SidecarMagic: z.looseObject(checksums),
  SidecarVersion: z.looseObject({ known: count, found: count }),
  SidecarTruncated: z.looseObject({ needed: count, available: count }),
  SidecarTrailingBytes: z.looseObject({ extra: count }),
  SidecarChecksum: z.looseObject(checksums),
  SidecarField: z.looseObject({ field: text, problem: text }),
  EpochOrder: z.looseObject({ entry: count, generation: u64, start: u64, why: text }),
  EpochBeyondTail: z.looseObject({ generation: u64, start: u64, tail: u64 }),
  EpochCount: z.looseObject({ count, limit: count }),
  EpochGenerationStart: z.looseObject({ generation: u64, recordOffset: u64, epochStart: u64.nullable() }),
  CommitBeyondTail: z.looseObject({ commit: u64, tail: u64, missing: u64 }),
  ReplicaBehindEpochs: z.looseObject({ accepted: u64, newest: u64 }),
  BallotBehind: z.looseObject(ballot),
  BallotAhead: z.looseObject(ballot),
  GenerationGivenUp: z.looseObject({ generation: u64 }),
  ManifestOrder: z.looseObject(entry),
  ManifestOverlap: z.looseObject({ ...entry, otherEntry: count, overlap: offsetRange }),
  ManifestRange: z.looseObject({ ...entry, base: u64, last: u64 }),
  ManifestKey: z.looseObject({ ...entry, key: text, why: text }),
  ManifestLocal: z.looseObject({ ...entry, field: text, manifest: text, local: text }),
  ManifestBeyondTail: z.looseObject({ ...entry, last: u64, tail: u64 }),
  HistoryHole: offsetRange,
  ObjectMissing: z.looseObject({ ...entry, key: text }),
  ObjectMismatch: z.looseObject({ ...entry, key: text, field: text, manifest: text, object: text }),
  ProducersStale: z.looseObject({ asOf: u64, base: u64, tail: u64 }),
  ProducersMismatch: z.looseObject({ producer: u64.nullable(), why: text }),
  KeysStale: z.looseObject({ coveredThrough: u64, base: u64, tail: u64 }),
  KeysEntry: z.looseObject({ entry: count, why: text, count }),
  KeysLastChecksum: z.looseObject({ offset: u64, expected: hex32, found: hex32.nullable() }),
  UncleanStop: z.looseObject({ acknowledgesBeforeSync: flag }),
  StorageIdMismatch: z.looseObject({ storageId: text, runState: text }),
  DirectoryName: z.looseObject({ expected: text.nullable(), found: text, why: text }),
  Unreadable: z.looseObject({ reason: text, code: text }),
  ChangedWhileReading: z.looseObject({ change: text, judgedBytes: count }),
} satisfies Details;

type Details = { readonly [K in FindingKind]?: z.ZodType<Json<FindingDetails[K]>> };

const DETAILS: { readonly [K in FindingKind]: z.ZodType<Json<FindingDetails[K]>> } = {
  ...LOG_DETAILS,
  ...FILE_DETAILS,
};

/** What findings of every kind have. */
const frame = z
  .looseObject({
    severity,
    site,
    file: text.nullable(),
    path: text,
    lostOffsets: offsetRange.nullable(),
    damagedRange: byteRange.nullable(),
    looksLike: text.nullable(),
    message: text,
    next: text.nullable(),
  })
  .meta({ id: 'findingFrame' }) satisfies z.ZodType<Omit<Json<Finding>, 'kind' | 'detail'>>;

function detailOf(of: FindingKind) {
  return z.looseObject({ kind: z.literal(of), detail: DETAILS[of] });
}

const detail = z
  .discriminatedUnion('kind', (Object.keys(DETAILS) as FindingKind[]).map(detailOf) as [ReturnType<typeof detailOf>])
  .meta({ id: 'findingDetail' });

/** Every kind has its own shape of `detail`; the frame around it is the same. */
export const finding = frame.and(detail).meta({ id: 'finding' });

/** A kind at a place, as a prediction names it. */
export const kindAtSite = { kind, site };
