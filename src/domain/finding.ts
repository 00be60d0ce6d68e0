/**
 * A finding: something true of the data, with a kind, a severity and a site.
 *
 * The kinds that mirror Felix's `CorruptionKind` keep its spelling and its fields ("Compatibility and corruption
 * behaviour"), so that one search crosses both code bases. Checksums, magics and flags are hex text as they are printed;
 * u64 values are bigint and become decimal strings in JSON.
 */

import type { SidecarDamage } from './sidecar.js';
import type { ByteRange, OffsetRange } from './units.js';

export const SEVERITIES = ['info', 'warning', 'error', 'fatal'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Where damage is. Parts that are unknown are left out; each caller adds what it knows. */
export interface Site {
  /** The shard's key when it is known, else the directory's name. */
  readonly shard?: string;
  readonly segment?: bigint;
  readonly position?: number;
}

/** A flipped bit that alone would explain a failed checksum. */
export interface BitFlip {
  /** Byte position in the file. */
  readonly position: number;
  /** 0 is the least significant bit of that byte. */
  readonly bit: number;
  /** Name of the field in the layout table. */
  readonly field: string;
  /** Chance that random damage of this length would look the same. */
  readonly chance: number;
}

/** What a scan adds to the kind's own fields when it goes on behind the damage. */
export interface ScanContext {
  /** Position of the first intact record behind the damage; null when nothing intact follows in this file. */
  readonly resumedAt?: number | null;
  /** The offset that the damaged record has or should have had. */
  readonly offset?: bigint;
  /** Intact records behind the damage in this file. */
  readonly intactAfter?: number;
  readonly bitFlip?: BitFlip | null;
}

type Of<K extends SidecarDamage['kind']> = Omit<Extract<SidecarDamage, { kind: K }>, 'kind' | 'position'>;

/** The fields of each kind, beside its site. */
export interface FindingDetails {
  SegmentMagic: { readonly found: string };
  SegmentVersion: { readonly found: number };
  SegmentFlags: { readonly found: string };
  SegmentHeaderChecksum: { readonly expected: string; readonly found: string; readonly bitFlip?: BitFlip | null };
  IndexMagic: { readonly found: string };
  IndexVersion: { readonly found: number };
  Truncated: ScanContext & { readonly needed: number; readonly available: number };
  RecordHeaderChecksum: ScanContext & { readonly expected: string; readonly found: string };
  RecordChecksum: ScanContext & { readonly expected: string; readonly found: string };
  RecordFlags: ScanContext & { readonly found: string };
  RecordTooLarge: ScanContext & { readonly payloadLen: number; readonly limit: number };
  OffsetOutOfOrder: ScanContext & { readonly expected: bigint; readonly found: bigint; readonly fill?: string };

  SidecarMagic: Of<'SidecarMagic'>;
  SidecarVersion: Of<'SidecarVersion'>;
  SidecarTruncated: Of<'SidecarTruncated'>;
  SidecarTrailingBytes: Of<'SidecarTrailingBytes'>;
  SidecarChecksum: Of<'SidecarChecksum'>;
  SidecarField: Of<'SidecarField'>;

  RecordKindForVersion: { readonly recordKind: string; readonly version: number; readonly offset: bigint };
  GenerationStartPayload: { readonly offset: bigint; readonly payloadLen: number };
  GenerationStartOrder: { readonly offset: bigint; readonly generation: bigint; readonly previous: bigint };
  BatchAbandoned: BatchDetail;
  BatchIncomplete: BatchDetail;
  BatchOrphan: { readonly offset: bigint; readonly count: number };
  ReservedNotZero: { readonly found: string };
  IndexFlags: { readonly found: string };
  AbandonedSegment: { readonly why: 'headerless' | 'empty'; readonly bytes: number };
  BlankFirstSegment: { readonly bytes: number };
  NoSegments: { readonly files: readonly string[] };
  SegmentFileName: { readonly id: bigint; readonly opened: string };
  StrayFile: {
    readonly looksLike: string;
    readonly bytes: number;
    readonly offsets?: { readonly from: bigint; readonly to: bigint };
    readonly records?: number;
    readonly note?: string;
    /** Set for the journal of a repair beside the shard: where it is, how far the repair came, and when. */
    readonly journal?: { readonly path: string; readonly state: string; readonly changedAt: string | null };
  };
  IndexMissing: { readonly entriesExpected?: number };
  IndexBaseOffset: { readonly expected: bigint; readonly found: bigint };
  IndexEntry: {
    readonly entry: number;
    readonly offset: bigint;
    readonly entryPosition: bigint;
    readonly why: string;
    readonly dropped: boolean;
  };
  IndexTornEntry: { readonly bytes: number };
  EpochOrder: { readonly entry: number; readonly generation: bigint; readonly start: bigint; readonly why: string };
  EpochBeyondTail: { readonly generation: bigint; readonly start: bigint; readonly tail: bigint };
  EpochCount: { readonly count: number; readonly limit: number };
  EpochGenerationStart: {
    readonly generation: bigint;
    readonly recordOffset: bigint;
    readonly epochStart: bigint | null;
  };
  CommitBeyondTail: { readonly commit: bigint; readonly tail: bigint; readonly missing: bigint };
  ReplicaBehindEpochs: { readonly accepted: bigint; readonly newest: bigint };
  BallotBehind: BallotDetail;
  BallotAhead: BallotDetail;
  GenerationGivenUp: { readonly generation: bigint };
  ManifestOrder: EntryDetail;
  ManifestOverlap: EntryDetail & { readonly otherEntry: number; readonly overlap: OffsetRange };
  ManifestRange: EntryDetail & { readonly base: bigint; readonly last: bigint };
  ManifestKey: EntryDetail & { readonly key: string; readonly why: string };
  ManifestLocal: EntryDetail & { readonly field: string; readonly manifest: string; readonly local: string };
  ManifestBeyondTail: EntryDetail & { readonly last: bigint; readonly tail: bigint };
  HistoryHole: OffsetRange;
  ObjectMissing: EntryDetail & { readonly key: string };
  ObjectMismatch: EntryDetail & {
    readonly key: string;
    readonly field: string;
    readonly manifest: string;
    readonly object: string;
  };
  ProducersStale: { readonly asOf: bigint; readonly base: bigint; readonly tail: bigint };
  ProducersMismatch: { readonly producer: bigint | null; readonly why: string };
  KeysStale: { readonly coveredThrough: bigint; readonly base: bigint; readonly tail: bigint };
  KeysEntry: { readonly entry: number; readonly why: string; readonly count: number };
  KeysLastChecksum: { readonly offset: bigint; readonly expected: string; readonly found: string | null };
  UncleanStop: { readonly acknowledgesBeforeSync: boolean };
  StorageIdMismatch: { readonly storageId: string; readonly runState: string };
  DirectoryName: { readonly expected: string | null; readonly found: string; readonly why: string };
  TimestampOddity: {
    readonly what: string;
    readonly count: number;
    readonly offset: bigint;
    readonly timestampMicros: bigint;
  };
  Unreadable: { readonly reason: string; readonly code: string };
  ChangedWhileReading: { readonly change: string; readonly judgedBytes: number };
}

interface BatchDetail {
  readonly producer: bigint;
  readonly sequence: bigint;
  readonly len: number;
  readonly held: number;
  readonly offset: bigint;
}

interface BallotDetail {
  readonly ballot: bigint;
  readonly accepted: bigint;
  readonly leader: string;
}

interface EntryDetail {
  readonly entry: number;
  readonly segmentId: bigint;
}

export type FindingKind = keyof FindingDetails;

/** The kinds that a decoder of records and segments may give, mirroring Felix's `CorruptionKind`. */
export type CorruptionKind =
  | 'SegmentMagic'
  | 'SegmentVersion'
  | 'SegmentFlags'
  | 'SegmentHeaderChecksum'
  | 'IndexMagic'
  | 'IndexVersion'
  | 'Truncated'
  | 'RecordHeaderChecksum'
  | 'RecordChecksum'
  | 'RecordFlags'
  | 'RecordTooLarge'
  | 'OffsetOutOfOrder';

/** A corruption as a decoder states it: the kind and its own fields, without a place. */
export type Corruption = { [K in CorruptionKind]: { readonly kind: K } & FindingDetails[K] }[CorruptionKind];

interface FindingOf<K extends FindingKind> {
  readonly kind: K;
  readonly severity: Severity;
  readonly site: Site;
  /** The file's name as it is shown; null when the finding is about a directory. */
  readonly file: string | null;
  /** Path as given or found. */
  readonly path: string;
  readonly detail: FindingDetails[K];
  readonly lostOffsets: OffsetRange | null;
  readonly damagedRange: ByteRange | null;
  readonly looksLike: string | null;
  /** One sentence. */
  readonly message: string;
  /** The command to run next, or null. */
  readonly next: string | null;
}

/** Any finding; narrow by `kind` to reach the fields of `detail`. */
export type Finding = { [K in FindingKind]: FindingOf<K> }[FindingKind];

/** The worst severity among findings, or null when there are none. */
export function worstSeverity(findings: Iterable<{ readonly severity: Severity }>): Severity | null {
  let worst = -1;
  for (const finding of findings) worst = Math.max(worst, SEVERITIES.indexOf(finding.severity));
  return SEVERITIES[worst] ?? null;
}

/** True when `severity` is at or above `limit`. */
export function atLeast(severity: Severity, limit: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(limit);
}
