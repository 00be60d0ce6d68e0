/**
 * Everything that was read of one shard, before anything is said of it.
 *
 * The relation checks (`check/epochs.ts`, `check/manifest.ts`, …) take this and give findings. They read no more than the
 * files handed to them here, and change nothing.
 */

import type { BrokerSettings } from '../domain/report.js';
import type { SidecarReading } from '../domain/sidecar.js';
import type { Ballot } from '../format/ballot.js';
import type { Epochs } from '../format/epochs.js';
import type { KeysIndex } from '../format/keys-index.js';
import type { Manifest } from '../format/manifest.js';
import type { Producers } from '../format/producers.js';
import type { Replica } from '../format/replica.js';
import type { ReadProblem, SegmentScan } from '../scan/segment-file.js';
import type { ByteSource } from '../store/byte-source.js';

export type SegmentRole =
  /** Every one but the newest. */
  | 'sealed'
  | 'newest'
  /** Empty or headerless, newer than the one that recovery keeps as the newest: it is deleted at open. */
  | 'abandoned'
  /** The page's exception: a blank segment 0 that recovery deletes. */
  | 'blank-first';

export interface SegmentFacts {
  readonly id: bigint;
  readonly file: string;
  readonly size: number;
  readonly role: SegmentRole;
  /** Null when not one byte could be read. */
  readonly scan: SegmentScan | null;
  readonly problem: ReadProblem | null;
  readonly indexFile: string;
  readonly indexSize: number | null;
  /** Set when the scan is one of an earlier run, since which the files have not changed. */
  readonly skippedSinceMicros?: bigint;
}

export interface SidecarFile<T> {
  readonly file: string;
  readonly size: number;
  /** Null when it could not be read. */
  readonly reading: SidecarReading<T> | null;
  readonly problem: ReadProblem | null;
}

/** The small files of a shard; null where there is none. */
export interface Sidecars {
  readonly epochs: SidecarFile<Epochs> | null;
  readonly replica: SidecarFile<Replica> | null;
  readonly ballot: SidecarFile<Ballot> | null;
  readonly manifest: SidecarFile<Manifest> | null;
  readonly producers: SidecarFile<Producers> | null;
  readonly keys: SidecarFile<KeysIndex> | null;
}

/** CRC-32 of the first bytes of files, remembered from one run to the next while the files stay as they are. */
export interface KnownSums {
  sumOf(file: string, size: number): number | null;
  keepSum(file: string, sum: { readonly size: number; readonly crc32: number }): void;
}

export interface ShardFacts {
  /** The key when known, else the directory's name. */
  readonly label: string;
  /** The directory's name, in which manifest keys must match. */
  readonly name: string;
  /** As given or found, for reports. */
  readonly path: string;
  /** By id, ascending. */
  readonly segments: readonly SegmentFacts[];
  readonly sidecars: Sidecars;
  /** First offset of the oldest segment; null when it cannot be read or there is none. */
  readonly base: bigint | null;
  /** End of intact history in the newest segment after recovery's own repair; null if unknown. */
  readonly tail: bigint | null;
  readonly settings: BrokerSettings;
  /** Only what a broker looks at on opening was read. */
  readonly quick: boolean;
  /** Checksums that need not be taken again. */
  readonly sums?: KnownSums;
  /** Opens a file of the shard, as long as it was when the shard was listed. Close it when done. */
  open(file: string): ByteSource & { close(): void };
}

/** True of a small file that was named by itself: what else its shard holds was not looked at. */
export function isAlone({ segments, tail }: ShardFacts): boolean {
  return segments.length === 0 && tail === null;
}

/** The decoded content of a small file, when a reader would take it. */
export function contentOf<T>(sidecar: SidecarFile<T> | null): T | null {
  return sidecar?.reading?.value ?? null;
}
