/**
 * What a bundle for support says of a shard beside its reports: the files as they are, and what lies around each damage.
 */

import type { BrokerSettings } from './report.js';

/** An entry of the shard's directory. */
export interface BundledFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly mtimeNs: bigint;
  /** Of the first `size` bytes; null for anything but a file, and where reading failed. */
  readonly sha256: string | null;
  readonly problem: string | null;
}

/** Bytes of a segment; `hex` is null where they were left out because they are, or may be, content of records. */
export interface BundledBytes {
  readonly what: 'header' | 'tag' | 'payload' | 'bytes';
  readonly from: number;
  readonly to: number;
  readonly hex: string | null;
}

/** A record or a damaged range. */
export interface BundledPiece {
  readonly what: 'record' | 'damage';
  readonly from: number;
  readonly to: number;
  readonly bytes: readonly BundledBytes[];
}

/** One damage with the records in front of it and behind it. */
export interface Surroundings {
  readonly file: string;
  readonly kind: string;
  readonly position: number;
  readonly end: number;
  readonly pieces: readonly BundledPiece[];
}

export interface BundleFacts {
  readonly tool: { readonly name: string; readonly version: string };
  readonly createdAtMicros: bigint;
  readonly shard: { readonly path: string; readonly name: string; readonly key: string | null };
  readonly settings: BrokerSettings;
  readonly withPayloads: boolean;
  readonly platform: Readonly<Record<string, string | number>>;
}
