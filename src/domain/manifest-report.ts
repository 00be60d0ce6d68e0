/**
 * What `decode-manifest` says: the entries of an offload manifest, held against the shard beside it and the objects.
 */

import type { Finding, FindingKind } from './finding.js';
import type { CoverageRange } from './report.js';

/** An entry against the local segment of its id. */
export type LocalState =
  | 'same'
  | 'differs'
  | 'absent'
  /** The segment is damaged or was not read whole, or there is no log to look at. */
  | 'not judged';

/** An entry against its object. */
export type ObjectState = 'same' | 'differs' | 'missing' | 'refused' | 'unreadable' | 'not checked';

/** What an object key is made of (format page, "offload.manifest"). */
export interface ObjectKeyParts {
  /** Null in keys that an early build wrote. */
  readonly nodeId: string | null;
  readonly directory: string;
  readonly baseOffset: bigint;
  readonly segmentId: bigint;
}

export interface ManifestEntryReport {
  /** From 0, in file order. */
  readonly entry: number;
  /** Of its first byte in the manifest. */
  readonly position: number;
  readonly segmentId: bigint;
  readonly baseOffset: bigint;
  /** Inclusive. */
  readonly lastOffset: bigint;
  /** A number where it is exact. */
  readonly bytes: number | bigint;
  readonly oldestMicros: bigint;
  readonly newestMicros: bigint;
  readonly checksum: string;
  readonly key: string;
  /** Null for a key of another shape. */
  readonly keyParts: ObjectKeyParts | null;
  readonly local: LocalState;
  readonly object: ObjectState;
}

export interface ManifestReport {
  /** Of the manifest. */
  readonly path: string;
  /** Key of the shard when known, else the directory's name. */
  readonly shard: string;
  readonly bytes: number;
  /** Entries of a manifest that is not sound are claims that nothing bears out. */
  readonly state: 'sound' | 'damaged' | 'unreadable';
  /** Entries in the file, which may be more than are kept here; null when that is not known. */
  readonly count: number | null;
  readonly entries: readonly ManifestEntryReport[];
  /** The directory of objects; null without one. */
  readonly objects: string | null;
  readonly coverage: readonly CoverageRange[] | null;
  readonly findings: readonly Finding[];
  readonly omitted: readonly { readonly file: string; readonly kind: FindingKind; readonly count: number }[];
  readonly notChecked: readonly string[];
}
