/**
 * What `diff-epochs` says of replicas of one shard: their generation histories side by side, where their records differ,
 * and who would have to cut what.
 *
 * Replicas are called by letters, in the order in which they were given.
 */

import type { FindingKind } from './finding.js';
import type { OffsetRange } from './units.js';

/** How a small file stands: `contradictory` decodes, and its entries do not ascend. */
export type HistoryState = 'sound' | 'missing' | 'damaged' | 'unreadable' | 'contradictory';

export interface Generation {
  readonly generation: bigint;
  readonly start: bigint;
  /** Where the next one starts, or the tail; null when that is not known. */
  readonly end: bigint | null;
}

/** Damage in a replica's log, or a segment that could not be read. */
export interface ReplicaDamage {
  readonly kind: FindingKind;
  readonly file: string;
  readonly position: number;
  readonly lost: OffsetRange | null;
}

export interface ReplicaSummary {
  readonly name: string;
  readonly path: string;
  /** First offset of the log; null when it cannot be told. */
  readonly base: bigint | null;
  /** One past the last intact record. */
  readonly tail: bigint | null;
  /** Intact records. */
  readonly records: number;
  readonly history: { readonly state: HistoryState; readonly generations: readonly Generation[] };
  /** What `replica` says; missing reads as nothing accepted and nothing committed. */
  readonly accepted: {
    readonly state: HistoryState;
    readonly generation: bigint | null;
    readonly commit: bigint | null;
  };
  /** What `ballot` says; an empty leader is a generation given up. */
  readonly ballot: { readonly state: HistoryState; readonly generation: bigint | null; readonly leader: string | null };
  /** The first ones, and how many there are. */
  readonly damage: readonly ReplicaDamage[];
  readonly damageCount: number;
}

/** One side of a record that differs. */
export interface DifferingRecord {
  readonly file: string;
  readonly position: number;
  readonly kind: string;
  readonly timestampMicros: bigint;
  readonly payloadBytes: number;
  readonly checksum: string;
}

export interface RecordDifference {
  readonly offset: bigint;
  /** What is not the same: `kind`, `timestamp`, `payload length`, `payload`, `tag`. */
  readonly what: readonly string[];
  /** The first byte of the payload that differs, from its start; null when that was not looked for, or none does. */
  readonly payloadByte: number | null;
  readonly a: DifferingRecord;
  readonly b: DifferingRecord;
}

export interface RecordComparison {
  /** Offsets that both hold, compared by header and checksums. */
  readonly compared: number;
  readonly differing: number;
  /** From the first offset compared on, every record is the same up to here; null when none was compared. */
  readonly identical: OffsetRange | null;
  readonly firstDifference: RecordDifference | null;
  /** Offsets between the ends of both logs that one of them does not hold, for damage or a gap. */
  readonly notCompared: number;
  readonly firstNotCompared: bigint | null;
}

export type Relation =
  | 'identical'
  /** The same as far as the shorter one goes. */
  | 'behind'
  | 'diverged'
  /** Records differ where both histories say that the same generation wrote them: no rule allows for it. */
  | 'forked'
  /** No offset that both hold, and no generation. */
  | 'not comparable';

export interface PairDiff {
  readonly a: string;
  readonly b: string;
  readonly relation: Relation;
  /** The replica that holds less, when one is behind. */
  readonly behind: string | null;
  /** The newest generation that both hold, with its range on each; null without one. */
  readonly shared: { readonly generation: bigint; readonly a: Generation; readonly b: Generation } | null;
  /** How far they are known to agree by their histories; null when these cannot tell. */
  readonly agreedTo: bigint | null;
  /** Generations that both hold and that do not start at the same offset. */
  readonly startsDiffer: readonly { readonly generation: bigint; readonly a: bigint; readonly b: bigint }[];
  readonly records: RecordComparison;
  /** What else has to be known of this pair, each in a sentence. */
  readonly notes: readonly string[];
}

/** What a replica would have to do to follow the one with the newest generation. */
export interface CutVerdict {
  readonly replica: string;
  /** The replica that it would follow. */
  readonly leader: string;
  readonly verdict: /** Nothing to cut: it holds nothing that the other one does not. */
    | 'nothing'
    | 'cut'
    /** A broker would not make this cut. */
    | 'refused'
    /** The rules say nothing: no history to go by, or one that contradicts the records. */
    | 'undecided';
  /** Offsets that go, from the cut to the tail. */
  readonly cut: OffsetRange | null;
  /** Intact records among them. */
  readonly records: number;
  /** Of those records, header, tag and payload. */
  readonly bytes: number;
  readonly firstTimestampMicros: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  /** Generations that leave its history. */
  readonly generations: readonly bigint[];
  /** Offsets to cut under its own commit offset. */
  readonly underOwnCommit: OffsetRange | null;
  /** Offsets to cut that the other one knows to be committed, with its own records. */
  readonly underLeaderCommit: OffsetRange | null;
  readonly why: string;
}

export interface ReplicaDiff {
  /** Label of the shard: its key when known. */
  readonly shard: string;
  readonly replicas: readonly ReplicaSummary[];
  readonly pairs: readonly PairDiff[];
  /** The replica with the newest generation, and the longest log among those; null when no history tells. */
  readonly leader: string | null;
  /** One for each other replica. */
  readonly cuts: readonly CutVerdict[];
  readonly exitCode: number;
}
