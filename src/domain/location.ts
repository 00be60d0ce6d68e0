/**
 * Where a record is, or why it is nowhere: what `locate` says of an offset or a time.
 */

import type { BatchPlace, DamageRow, RecordKindName } from './record-view.js';

export interface LocatedRecord {
  readonly segment: bigint;
  readonly file: string;
  /** Of its bytes in the file, half-open. */
  readonly position: number;
  readonly end: number;
  readonly offset: bigint;
  readonly timestampMicros: bigint;
  readonly kind: RecordKindName;
  readonly batch: BatchPlace | null;
  readonly payloadBytes: number;
  readonly checksum: number;
}

export interface UsedEntry {
  /** Number in the index, from 0. */
  readonly entry: number;
  readonly offset: bigint;
  readonly position: bigint;
}

/** How a reader comes to the record from the index of its segment. */
export interface IndexUse {
  readonly file: string | null;
  /** Null when it begins at the first record of the segment. */
  readonly entry: UsedEntry | null;
  /** Entries that a reader would have begun at, and that do not hold. */
  readonly refused: readonly (UsedEntry & { readonly why: string })[];
  /** Why the index is of no use, in a sentence part. */
  readonly unusable: string | null;
  /** Where reading begins. */
  readonly position: number;
  /** Bytes from there to the record. */
  readonly steppedOver: number;
}

export interface HoldingObject {
  readonly key: string;
  readonly segmentId: bigint;
  readonly baseOffset: bigint;
  /** Inclusive. */
  readonly lastOffset: bigint;
}

export type LocationState =
  | 'here'
  /** Inside damage, or between two segments. */
  | 'lost'
  /** Where it would be cannot be read. */
  | 'unreadable'
  | 'trimmed'
  /** In no segment and in no object, though objects hold older offsets. */
  | 'hole'
  /** In the object store by the manifest. */
  | 'offloaded'
  | 'past-tail'
  /** Nothing that is there tells what became of it. */
  | 'unknown';

/** What was seen of timestamps on the way to a time. */
export interface TimeWalk {
  readonly records: number;
  /** The first record that is earlier than the one in front of it; null while timestamps ascend. */
  readonly descent: {
    readonly offset: bigint;
    readonly timestampMicros: bigint;
    readonly previousMicros: bigint;
  } | null;
  /** The latest timestamp met. */
  readonly latestMicros: bigint | null;
}

export interface Location {
  readonly path: string;
  readonly name: string;
  readonly shard: string;
  readonly asked: { readonly offset: bigint } | { readonly timeMicros: bigint };
  readonly state: LocationState;
  /** One; more where segments overlap. */
  readonly records: readonly LocatedRecord[];
  readonly index: IndexUse | null;
  readonly before: LocatedRecord | null;
  readonly after: LocatedRecord | null;
  readonly damage: DamageRow | null;
  readonly object: HoldingObject | null;
  /** What the local log holds, half-open; a null is not known. */
  readonly baseOffset: bigint | null;
  readonly tailOffset: bigint | null;
  /** Of a search by time. */
  readonly time: TimeWalk | null;
  readonly message: string;
  readonly notes: readonly string[];
  /** 0, 21 or 30. */
  readonly exitCode: number;
}
