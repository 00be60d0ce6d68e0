/**
 * What a scan of a range of a segment found, and how two neighbouring ranges make one.
 *
 * Everything here is plain data that can cross a thread boundary. Lists are bounded; what goes beyond is counted, never
 * dropped in silence.
 */

import type { Corruption, CorruptionKind } from '../domain/finding.js';
import type { OffsetRange } from '../domain/units.js';
import type { RecordKind } from '../format/record.js';
import type { BatchSummary } from './batches.js';

/** Damage met by the scan, in the order of positions. */
export interface Damage {
  readonly corruption: Corruption;
  readonly position: number;
  /** End of the damaged bytes; equal to `position` when the record itself is intact (an offset out of order). */
  readonly end: number;
  /** Where the next intact record is looked for; null when nothing intact follows in the file. */
  readonly resumedAt: number | null;
  /** Where the record would end by its own length, when its header verified. */
  readonly claimedEnd: number | null;
  /** The offset that the record has by a verified header, else the one expected there; null if unknown. */
  readonly offset: bigint | null;
  readonly lost: OffsetRange | null;
  /** Intact records in front of it in this file. */
  readonly recordsBefore: number;
}

export interface GenerationStart {
  readonly offset: bigint;
  readonly position: number;
  readonly payloadLen: number;
  /** Null when the payload is not 8 bytes. */
  readonly generation: bigint | null;
}

export interface KindViolation {
  readonly offset: bigint;
  readonly position: number;
  readonly recordKind: RecordKind;
}

export type OddityKind = 'zero' | 'milliseconds' | 'before 2000' | 'over a year ahead';

export interface TimestampOddities {
  readonly what: OddityKind;
  count: number;
  readonly offset: bigint;
  readonly position: number;
  readonly timestampMicros: bigint;
}

/** An index entry that is not the start of the record it names. */
export interface EntryMismatch {
  /** Number of the entry in the index, from 0. */
  readonly entry: number;
  readonly offset: bigint;
  readonly position: bigint;
  readonly why: string;
}

export interface RangeScan {
  readonly start: number;
  /** Where the scan stood when it stopped: a record boundary, the end of damage, or the end of the file. */
  end: number;
  /** What the scan expected next; null while not one record fixed it. */
  nextOffset: bigint | null;
  /** Set when a read failed, at or behind `end`: what lies behind `end` is unread. */
  stopped: { readonly code: string; readonly message: string; readonly position: number } | null;
  records: number;
  damagedBytes: number;
  firstOffset: bigint | null;
  lastOffset: bigint | null;
  firstTimestampMicros: bigint | null;
  lastTimestampMicros: bigint | null;
  readonly damages: Damage[];
  /** Damages by kind beyond the ones kept. */
  readonly omitted: Map<CorruptionKind, number>;
  /** The first damage at or behind the mark, which the list above may not reach. */
  afterMark: Damage | null;
  /** The mark was met as the start of an intact record with its offset, or as the end of the file. */
  markHolds: boolean;
  readonly generationStarts: GenerationStart[];
  generationStartsOmitted: number;
  readonly kindViolations: KindViolation[];
  kindViolationsOmitted: number;
  readonly oddities: TimestampOddities[];
  batches: BatchSummary;
  readonly entryMismatches: EntryMismatch[];
  entryMismatchesOmitted: number;
  checkedEntries: number;
  notJudgedEntries: number;
  /** Bytes taken from the file. */
  bytesRead: number;
}

/** How many damages of a file are kept whole; more are counted by kind. */
export const KEPT_DAMAGES = 10_000;
export const KEPT_NOTES = 10_000;
