/** Arbitrary details of every kind, with text as hostile as a disk can hold. */
import fc from 'fast-check';
import type { FindingContext } from '../../src/domain/catalogue-row.js';
import type { FindingDetails, FindingKind } from '../../src/domain/finding.js';

/** Escape sequences, line ends, C1, bidi overrides, invisible and unpaired characters, quotes and shell syntax. */
const NASTY = ['\u001b[31m', '\r\n', '\u0000', '\u0085', '\u009b2J', '\u202e', '\u2066', '\u200b', '\u2028', '\ud800'];

export const hostile: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...NASTY,
        '\ufeff',
        '\u00a0',
        '\u3164',
        '\u{e0041}',
        '\t',
        "'",
        '"',
        '`$(reboot)`',
        ';',
        '\\',
        '-',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({ maxLength: 12 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
const bytes = fc.nat(0xffff_ffff);
const hex = fc.nat().map((value) => `0x${value.toString(16).padStart(8, '0')}`);
const range = fc.tuple(u64, u64).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }));
const checksums = { expected: hex, found: hex };
const bitFlip = fc.option(
  fc.record({ position: bytes, bit: fc.nat(7), field: hostile, chance: fc.double({ min: 0, max: 1, noNaN: true }) }),
);
const scan = {
  resumedAt: fc.option(bytes),
  offset: u64,
  intactAfter: fc.nat(1000),
  bitFlip,
};
const entry = { entry: fc.nat(5000), segmentId: u64 };
const batch = fc.record({ producer: u64, sequence: u64, len: fc.nat(), held: fc.nat(), offset: u64 });
const ballot = fc.record({ ballot: u64, accepted: u64, leader: hostile });

export const DETAILS: { readonly [K in FindingKind]: fc.Arbitrary<FindingDetails[K]> } = {
  SegmentMagic: fc.record({ found: hex }),
  SegmentVersion: fc.record({ found: fc.nat(65_535) }),
  SegmentFlags: fc.record({ found: hex }),
  SegmentHeaderChecksum: fc.record({ ...checksums, bitFlip }),
  IndexMagic: fc.record({ found: hex }),
  IndexVersion: fc.record({ found: fc.nat(65_535) }),
  Truncated: fc.record({ ...scan, needed: bytes, available: bytes }),
  RecordHeaderChecksum: fc.record({ ...scan, ...checksums }),
  RecordChecksum: fc.record({ ...scan, ...checksums }),
  RecordFlags: fc.record({ ...scan, found: hex }),
  RecordTooLarge: fc.record({ ...scan, payloadLen: bytes, limit: bytes }),
  OffsetOutOfOrder: fc.record({ ...scan, expected: u64, found: u64, fill: hostile }),
  SidecarMagic: fc.record(checksums),
  SidecarVersion: fc.record({ known: fc.constant(1), found: fc.nat(65_535) }),
  SidecarTruncated: fc.record({ needed: bytes, available: bytes }),
  SidecarTrailingBytes: fc.record({ extra: bytes }),
  SidecarChecksum: fc.record(checksums),
  SidecarField: fc.record({ field: hostile, problem: hostile }),
  RecordKindForVersion: fc.record({ recordKind: hostile, version: fc.nat(4), offset: u64 }),
  GenerationStartPayload: fc.record({ offset: u64, payloadLen: bytes }),
  GenerationStartOrder: fc.record({ offset: u64, generation: u64, previous: u64 }),
  BatchAbandoned: batch,
  BatchIncomplete: batch,
  BatchOrphan: fc.record({ offset: u64, count: fc.nat() }),
  ReservedNotZero: fc.record({ found: hex }),
  AbandonedSegment: fc.record({ why: fc.constantFrom('headerless' as const, 'empty' as const), bytes }),
  BlankFirstSegment: fc.record({ bytes: fc.nat(32) }),
  NoSegments: fc.record({ files: fc.array(hostile, { maxLength: 20 }) }),
  SegmentFileName: fc.record({ id: u64, opened: hostile }),
  StrayFile: fc.record(
    { looksLike: hostile, bytes, offsets: range, records: fc.nat(), note: hostile },
    { requiredKeys: ['looksLike', 'bytes'] },
  ),
  IndexMissing: fc.record({ entriesExpected: fc.nat() }, { requiredKeys: [] }),
  IndexBaseOffset: fc.record({ expected: u64, found: u64 }),
  IndexEntry: fc.record({ entry: fc.nat(), offset: u64, entryPosition: u64, why: hostile, dropped: fc.boolean() }),
  IndexTornEntry: fc.record({ bytes: fc.nat(15) }),
  IndexFlags: fc.record({ found: hex }),
  EpochOrder: fc.record({ entry: fc.nat(512), generation: u64, start: u64, why: hostile }),
  EpochBeyondTail: fc.record({ generation: u64, start: u64, tail: u64 }),
  EpochCount: fc.record({ count: fc.nat(65_535), limit: fc.constant(512) }),
  EpochGenerationStart: fc.record({ generation: u64, recordOffset: u64, epochStart: fc.option(u64) }),
  CommitBeyondTail: fc.record({ commit: u64, tail: u64, missing: u64 }),
  ReplicaBehindEpochs: fc.record({ accepted: u64, newest: u64 }),
  BallotBehind: ballot,
  BallotAhead: ballot,
  GenerationGivenUp: fc.record({ generation: u64 }),
  ManifestOrder: fc.record(entry),
  ManifestOverlap: fc.record({ ...entry, otherEntry: fc.nat(5000), overlap: range }),
  ManifestRange: fc.record({ ...entry, base: u64, last: u64 }),
  ManifestKey: fc.record({ ...entry, key: hostile, why: hostile }),
  ManifestLocal: fc.record({ ...entry, field: hostile, manifest: hostile, local: hostile }),
  ManifestBeyondTail: fc.record({ ...entry, last: u64, tail: u64 }),
  HistoryHole: range,
  ObjectMissing: fc.record({ ...entry, key: hostile }),
  ObjectMismatch: fc.record({ ...entry, key: hostile, field: hostile, manifest: hostile, object: hostile }),
  ProducersStale: fc.record({ asOf: u64, base: u64, tail: u64 }),
  ProducersMismatch: fc.record({ producer: fc.option(u64), why: hostile }),
  KeysStale: fc.record({ coveredThrough: u64, base: u64, tail: u64 }),
  KeysEntry: fc.record({ entry: fc.nat(), why: hostile, count: fc.nat() }),
  KeysLastChecksum: fc.record({ offset: u64, expected: hex, found: fc.option(hex) }),
  UncleanStop: fc.record({ acknowledgesBeforeSync: fc.boolean() }),
  StorageIdMismatch: fc.record({ storageId: hostile, runState: hostile }),
  DirectoryName: fc.record({ expected: fc.option(hostile), found: hostile, why: hostile }),
  TimestampOddity: fc.record({ what: hostile, count: fc.nat(), offset: u64, timestampMicros: u64 }),
  Unreadable: fc.record({ reason: hostile, code: hostile }),
  ChangedWhileReading: fc.record({ change: hostile, judgedBytes: bytes }),
};

export const contexts: fc.Arbitrary<FindingContext> = fc.record({
  likeness: fc.option(hostile, { nil: null }),
  severity: fc.constantFrom('info' as const, 'warning' as const, 'error' as const, 'fatal' as const),
  site: fc.record({ shard: hostile, segment: u64, position: bytes }, { requiredKeys: [] }),
  file: fc.option(fc.oneof(hostile, fc.constantFrom('epochs', 'replica', '00000000000000000002.index'))),
  lostOffsets: fc.option(range),
  damagedRange: fc.option(fc.tuple(bytes, bytes).map(([from, length]) => ({ from, to: from + length }))),
  looksLike: fc.option(fc.oneof(hostile, fc.constantFrom('zeros', 'text', 'bit-flip', 'torn-write', 'segment-header'))),
  newest: fc.boolean(),
  cutAtOpen: fc.boolean(),
  cutWithOptIn: fc.boolean(),
  intactAfter: fc.nat(3),
  objectKey: fc.option(hostile),
  replicas: fc.array(hostile, { maxLength: 3 }),
  shardPath: fc.constantFrom('shard', "'a shard'", 'data/shard/'),
});

/** Damage in the newest segment at position 426 of a shard named `shard`, with nothing else known. */
export function contextOf(known: Partial<FindingContext> = {}): FindingContext {
  return {
    severity: 'fatal',
    site: { shard: 'acme/default/orders/0', segment: 2n, position: 426 },
    file: '00000000000000000002.log',
    lostOffsets: null,
    damagedRange: null,
    looksLike: null,
    newest: true,
    cutAtOpen: false,
    cutWithOptIn: false,
    intactAfter: 0,
    objectKey: null,
    replicas: [],
    shardPath: 'shard',
    ...known,
  };
}
