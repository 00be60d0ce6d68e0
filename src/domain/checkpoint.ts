/**
 * What a run remembers of the segments that it found clean, so that the next one need not read them again.
 *
 * Only what a clean segment contributes to the rest of the check is kept. Anything that depends on the day of the run, or
 * that would grow without bound, keeps a segment from being remembered.
 */

export const CHECKPOINT_SCHEMA = 'felix-fsck.checkpoint/1';

/** A file, told from others and from what it was before. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
}

export interface RememberedStart {
  readonly offset: bigint;
  readonly position: number;
  readonly payloadLen: number;
  readonly generation: bigint | null;
}

export interface RememberedBatch {
  readonly producer: bigint;
  readonly sequence: bigint;
  readonly len: number;
  readonly offset: bigint;
  readonly position: number;
  readonly held: number;
}

/** Continuing records in a row. */
export interface RememberedRun {
  readonly offset: bigint;
  readonly position: number;
  readonly count: number;
}

export type RememberedEvent =
  | { readonly event: 'abandoned'; readonly batch: RememberedBatch; readonly order: number }
  | { readonly event: 'orphan'; readonly run: RememberedRun; readonly order: number };

export interface RememberedRecords {
  readonly records: number;
  readonly nextOffset: bigint | null;
  readonly firstOffset: bigint | null;
  readonly lastOffset: bigint | null;
  readonly firstTimestampMicros: bigint | null;
  readonly lastTimestampMicros: bigint | null;
  readonly markHolds: boolean;
  readonly checkedEntries: number;
  readonly generationStarts: readonly RememberedStart[];
  /** Records whose timestamp is 0, and the first of them. */
  readonly zeroTimestamps: RememberedRun | null;
  readonly batches: {
    readonly leading: RememberedRun | null;
    readonly first: 'record' | null;
    readonly events: readonly RememberedEvent[];
    readonly open: RememberedBatch | null;
    readonly orphan: RememberedRun | null;
  };
}

/** CRC-32 of the first bytes of a file. */
export interface PrefixSum {
  readonly size: number;
  readonly crc32: number;
}

export interface RememberedSegment {
  /** When every byte of it was last read. */
  readonly verifiedAtMicros: bigint;
  readonly log: FileIdentity;
  readonly index: FileIdentity | null;
  /** The 32 bytes of the header, in hex. */
  readonly header: string;
  readonly records: RememberedRecords;
  /** What was read for the manifest's sake. */
  readonly sums: readonly PrefixSum[];
}

/** Where the segments of earlier runs are remembered; a shard goes by the absolute path of its directory. */
export interface Remembered {
  recall(shard: string, file: string): RememberedSegment | null;
  /** Takes the place of everything remembered of the shard. */
  keep(shard: string, segments: ReadonlyMap<string, RememberedSegment>): void;
}
