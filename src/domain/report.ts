/**
 * What a check says of a store: the shapes behind `verify --format json` (contract, section 4).
 *
 * The values here are what the check found; the reporters turn them into JSON and tables without adding a fact.
 */

import type { Finding, FindingKind, Severity, Site } from './finding.js';

export interface IndexReport {
  readonly file: string;
  readonly entries: number;
  /** False when a reader would drop the file and rebuild it. */
  readonly usable: boolean;
  /** Entries held against a verified record. */
  readonly checkedEntries: number;
  /** Entries inside damage or in a segment that could not be judged. */
  readonly notJudgedEntries: number;
}

export interface SegmentReport {
  readonly id: bigint;
  readonly file: string;
  readonly version: number | null;
  readonly baseOffset: bigint | null;
  readonly nextOffset: bigint | null;
  readonly createdAtMicros: bigint | null;
  /** Intact records, those out of order included. */
  readonly records: number;
  readonly bytes: number;
  readonly verifiedBytes: number;
  readonly damagedBytes: number;
  readonly unreadBytes: number;
  /** Set when the segment was passed over as unchanged: an earlier run read every byte of it then, and found it clean. */
  readonly skippedSinceMicros: bigint | null;
  readonly firstTimestampMicros: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  readonly index: IndexReport | null;
}

export type Verdict = 'opens' | 'repairs' | 'refuses';

export type RepairAction = 'truncate' | 'delete-segment' | 'delete-blank-first' | 'create-segment' | 'rebuild-index';

export interface PredictedRepair {
  readonly action: RepairAction;
  readonly file: string;
  readonly fromBytes: number;
  readonly toBytes: number;
  /** Records and damaged remains that go, as far as they can be counted. */
  readonly recordsLost: number;
  readonly intactRecordsLost: number;
}

export interface Refusal {
  readonly kind: FindingKind;
  readonly site: Site;
}

export interface FailingRead {
  readonly kind: FindingKind;
  readonly site: Site;
  readonly fromOffset: bigint;
  readonly toOffset: bigint;
}

/** What a broker would do on opening the shard ("What recovery may repair"). */
export interface Prediction {
  readonly verdict: Verdict;
  /** Every reason that alone is enough, the one met first in front. */
  readonly refusals: readonly Refusal[];
  readonly repairs: readonly PredictedRepair[];
  readonly tailOffsetAfter: bigint | null;
  readonly readsThatFail: readonly FailingRead[];
  /** What could not be looked at, so that the verdict rests on the rest. */
  readonly notJudged: readonly string[];
}

/** One small file beside the segments. */
export interface SidecarReport {
  readonly file: string;
  readonly bytes: number;
  readonly state: 'sound' | 'damaged' | 'unreadable';
  /** Decoded facts, for showing. */
  readonly facts: Readonly<Record<string, FactValue>>;
}

export type FactValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly FactValue[]
  | { readonly [k: string]: FactValue };

/** A range of offsets and where its records are. */
export interface CoverageRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly where: 'local' | 'offloaded' | 'both' | 'nowhere';
}

export interface ShardReport {
  readonly path: string;
  readonly name: string;
  readonly key: string | null;
  readonly incarnation: string | null;
  readonly baseOffset: bigint | null;
  /** What a reader of intact records sees as the next offset in the newest segment; null if unknown. */
  readonly tailOffset: bigint | null;
  readonly segments: readonly SegmentReport[];
  readonly sidecars: readonly SidecarReport[];
  /** Where each range of offsets is; null without a manifest. */
  readonly coverage: readonly CoverageRange[] | null;
  readonly findings: readonly Finding[];
  /** Findings of one kind in one file beyond what is kept in memory, as kind and count. */
  readonly omitted: readonly { readonly file: string; readonly kind: FindingKind; readonly count: number }[];
  /** Relations that could not be judged, each in one sentence. */
  readonly notChecked: readonly string[];
  readonly prediction: Prediction;
  /** Bytes of every file read for this shard, the small ones included. */
  readonly bytesRead: number;
}

export interface RootReport {
  readonly path: string;
  readonly findings: readonly Finding[];
  readonly storageId: string | null;
  readonly runState: { readonly state: string; readonly acknowledgesBeforeSync: boolean; readonly id: string } | null;
  readonly registration: bigint | null;
  readonly nodeId: string | null;
  /** Layout found for the two files that the format page only describes in words. */
  readonly layouts: Readonly<Record<string, string>>;
  readonly streams: readonly { readonly name: string; readonly text: string }[];
  readonly deleted: readonly string[];
}

export interface Summary {
  readonly shards: number;
  readonly segments: number;
  readonly records: number;
  readonly bytes: number;
  readonly verifiedBytes: number;
  readonly damagedBytes: number;
  readonly unreadBytes: number;
  /** Of the unread bytes, those of segments that were passed over as unchanged since an earlier run. */
  readonly skippedBytes: number;
  readonly findings: Readonly<Record<Severity, number>>;
  readonly worst: Severity | null;
  readonly exitCode: number;
  readonly elapsedMs: number;
}

export interface VerifyReport {
  readonly partial: boolean;
  readonly shards: readonly ShardReport[];
  readonly roots: readonly RootReport[];
  readonly summary: Summary;
}

/** The settings of the broker whose open is predicted. */
export interface BrokerSettings {
  readonly repairChecksumTail: boolean;
  readonly verifyAllOnOpen: boolean;
  readonly indexSpacing: number;
}

export const DEFAULT_INDEX_SPACING = 4096;
