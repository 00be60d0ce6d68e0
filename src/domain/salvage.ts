/**
 * A salvage as data: the runs of records that come out, where they came from, and what is not among them.
 *
 * A run is an unbroken row of offsets of one history; where two sources hold different records at one offset, each history
 * is a run of its own. The report is what `salvage.json` holds.
 */

import type { RecordKindName } from './record-view.js';
import type { OffsetRange } from './units.js';

export const SALVAGE_SCHEMA = 'felix-fsck.salvage/1';

/** A run that begins. */
export interface RunStart {
  /** From 0, in the order in which they begin. */
  readonly run: number;
  readonly from: bigint;
  /** It holds another history than a run that has these offsets too. */
  readonly fork: boolean;
}

/** An intact record on its way out; valid until the call that hands it over returns. */
export interface SalvagedRecord {
  readonly offset: bigint;
  readonly timestampMicros: bigint;
  readonly kind: RecordKindName;
  /** Header, tag and payload. */
  readonly length: number;
  /** All bytes in order, as often as asked for; each piece is valid until the next. */
  pieces(): Iterable<Uint8Array>;
}

/** Is given the records run by run, each run's in the order of their offsets. Several runs may be open at once. */
export interface RunSink {
  open(run: RunStart): void;
  record(run: number, record: SalvagedRecord): void;
  close(run: number): void;
}

/** A run when all of it has been handed over. */
export interface MergedRun extends RunStart {
  readonly to: bigint;
  readonly records: number;
  /** Strands that the records came from, by number. */
  readonly strands: readonly number[];
}

/** Offsets at which sources hold different records. */
export interface Fork extends OffsetRange {
  /** Strands that hold the same, by number. */
  readonly parties: readonly (readonly number[])[];
}

export interface SavedFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface SavedSegment extends SavedFile {
  readonly version: number;
  readonly baseOffset: bigint;
  readonly nextOffset: bigint;
  readonly records: number;
  readonly index: SavedFile;
}

export interface SavedRun {
  /** Below the target. */
  readonly directory: string;
  readonly from: bigint;
  readonly to: bigint;
  readonly records: number;
  readonly fork: boolean;
  /** Paths of the strands that it came from. */
  readonly sources: readonly string[];
  readonly segments: readonly SavedSegment[];
  /** The same records as NDJSON, when asked for. */
  readonly ndjson: SavedFile | null;
}

export interface SalvageSource {
  readonly path: string;
  readonly kind: 'segment' | 'stray';
  readonly bytes: number;
  readonly mtimeNs: bigint;
  /** Null when it could not be read to its end. */
  readonly sha256: string | null;
  readonly records: number;
  readonly offsets: OffsetRange | null;
  /** Bytes that hold no intact record. */
  readonly damagedBytes: number;
  readonly unreadBytes: number;
  /** What keeps it from being read, or null. */
  readonly problem: string | null;
}

/** Bytes at the end of a log that may have held records, and nobody knows how many. */
export interface UncertainEnd {
  readonly path: string;
  readonly position: number;
  readonly bytes: number;
  /** The offset that was due there. */
  readonly offset: bigint | null;
}

export interface SalvageReport {
  readonly shard: { readonly name: string; readonly key: string | null };
  readonly createdAtMicros: bigint;
  readonly sources: readonly SalvageSource[];
  readonly runs: readonly SavedRun[];
  /** Records known to have existed that are in no source. */
  readonly lost: readonly OffsetRange[];
  /** Records that may be in what could not be read. */
  readonly unread: readonly OffsetRange[];
  readonly uncertain: readonly UncertainEnd[];
  readonly forks: readonly (OffsetRange & { readonly parties: readonly (readonly string[])[] })[];
  readonly summary: SalvageSummary;
}

export interface SalvageSummary {
  readonly runs: number;
  readonly records: number;
  readonly bytes: number;
  readonly lostRecords: bigint;
  readonly forks: number;
  readonly exitCode: number;
}
