/**
 * What `inspect` says of a path: what it is and what it holds, without judging it as `verify` does.
 *
 * What bytes claim is shown whether it was verified or not: `state` says which, `damage` what was met on the way, and
 * `notVerified` what was not looked at. A null is something that is not known, never something that is not there; what is
 * not there is left out of its list.
 */

import type { FindingKind, Severity } from './finding.js';
import type { FactValue, RootReport } from './report.js';

/** `microseconds` and `milliseconds` are instants since 1970. */
export type FactUnit = 'bytes' | 'records' | 'entries' | 'offset' | 'microseconds' | 'milliseconds';

/** One fact that a file states. */
export interface InspectedFact {
  readonly name: string;
  readonly value: FactValue;
  readonly unit: FactUnit | null;
  readonly meaning: string | null;
  /** Of a value that has parts with names, the units of these. */
  readonly units?: Readonly<Record<string, FactUnit>>;
}

/** `sound`: what the file has to check itself with holds. */
export type InspectedState = 'sound' | 'damaged' | 'unreadable' | 'not verified';

/** Something wrong that was met while looking; `verify` says what it means. */
export interface InspectedDamage {
  readonly kind: FindingKind;
  /** As `verify` gives it with default settings. */
  readonly severity: Severity;
  /** The file it is in, when that is not the thing inspected itself. */
  readonly file: string | null;
  readonly position: number | null;
  readonly message: string;
}

export interface FileInspection {
  readonly type: 'file';
  /** Path as given. */
  readonly path: string;
  readonly identity: { readonly kind: string; readonly description: string };
  /** In bytes. */
  readonly size: number;
  readonly state: InspectedState;
  readonly facts: readonly InspectedFact[];
  readonly damage: readonly InspectedDamage[];
  /** What was not looked at, each in one sentence. */
  readonly notVerified: readonly string[];
}

export interface InspectedSegment {
  readonly id: bigint;
  readonly file: string;
  readonly bytes: number;
  readonly version: number | null;
  readonly baseOffset: bigint | null;
  readonly nextOffset: bigint | null;
  /** Counted only when the whole segment was read. */
  readonly records: number | null;
  readonly createdAtMicros: bigint | null;
  readonly firstTimestampMicros: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  /** From this byte on every record was read and its checksums computed; null when none was. */
  readonly verifiedFrom: number | null;
  readonly index: { readonly file: string; readonly bytes: number; readonly entries: number } | null;
}

export interface InspectedSidecar {
  readonly file: string;
  readonly bytes: number;
  readonly state: InspectedState;
  readonly facts: readonly InspectedFact[];
}

/** Something in a shard's directory that no reader of the format opens. */
export interface InspectedStranger {
  readonly file: string;
  readonly bytes: number;
  readonly description: string;
}

export interface ShardInspection {
  readonly type: 'shard';
  readonly path: string;
  readonly name: string;
  readonly key: string | null;
  readonly incarnation: string | null;
  readonly baseOffset: bigint | null;
  readonly nextOffset: bigint | null;
  readonly firstTimestampMicros: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  /** Of all files of the shard. */
  readonly bytes: number;
  /** Every record was read, not headers, indexes and tails alone. */
  readonly full: boolean;
  readonly segments: readonly InspectedSegment[];
  readonly sidecars: readonly InspectedSidecar[];
  readonly strangers: readonly InspectedStranger[];
  readonly damage: readonly InspectedDamage[];
  readonly notVerified: readonly string[];
}

/** A shard among those of a data root. */
export interface ListedShard {
  readonly path: string;
  readonly name: string;
  readonly key: string | null;
  readonly segments: number;
  readonly bytes: number;
  readonly baseOffset: bigint | null;
  readonly nextOffset: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  readonly damage: number;
}

export interface RootInspection extends Omit<RootReport, 'findings'> {
  readonly type: 'root';
  readonly shards: readonly ListedShard[];
  /** The files of the root that have a layout. */
  readonly sidecars: readonly InspectedSidecar[];
  readonly damage: readonly InspectedDamage[];
  readonly notVerified: readonly string[];
}

export type Inspection = FileInspection | ShardInspection | RootInspection;
