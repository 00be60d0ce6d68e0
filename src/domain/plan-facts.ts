/**
 * What planners are told of a shard beside its report: facts about its end, and indexes made of its records.
 *
 * Made by reading, before anything is decided; the planners themselves read nothing.
 */

import type { FindingKind } from './finding.js';
import type { FileState } from './plan.js';
import type { OffsetRange } from './units.js';

/** The index of a segment, as a writer makes it of the bytes up to `end`. */
export interface IndexImage {
  /** The segment's file. */
  readonly segment: string;
  readonly end: number;
  readonly spacing: number;
  readonly entries: number;
  readonly bytes: Uint8Array;
  readonly state: FileState;
}

/** A cut of the newest segment at its first damage. */
export interface CutFacts {
  readonly position: number;
  /** The offset that the log ends at then. */
  readonly nextOffset: bigint;
  /** Intact records in front of it in this segment. */
  readonly recordsKept: number;
  /** The file as it is then. */
  readonly kept: FileState;
  readonly index: IndexImage;
  /** Intact records behind it. */
  readonly intactRecords: number;
  /** Those, and damaged ones whose header tells their offset. */
  readonly records: number;
  /** Offsets of `records`; null when there are none. */
  readonly offsets: OffsetRange | null;
  readonly fromTimestampMicros: bigint | null;
  readonly toTimestampMicros: bigint | null;
  /** Every byte behind it is zero. */
  readonly zeros: boolean;
}

/** The segment that recovery takes for the newest. */
export interface NewestFacts {
  readonly id: bigint;
  readonly file: string;
  readonly size: number;
  /** Why some of it could not be read, or null. */
  readonly unreadable: string | null;
  readonly firstDamage: { readonly kind: FindingKind; readonly position: number } | null;
  /** Null when nothing is damaged, or when it was not read to its end. */
  readonly cut: CutFacts | null;
}

/** What a plan changes, as far as it bears on a broker's open. */
export interface ShardChange {
  /** Segments that go. */
  readonly removed: readonly bigint[];
  /** The newest segment ends there, at its first damage. */
  readonly cut: { readonly segment: bigint; readonly position: number; readonly nextOffset: bigint } | null;
  /** A blank segment that becomes an empty log, and its new header. */
  readonly begun: { readonly segment: bigint; readonly header: Uint8Array } | null;
  /** Segments whose index is a writer's afterwards, with its number of entries. */
  readonly reindexed: readonly { readonly segment: bigint; readonly entries: number }[];
}
