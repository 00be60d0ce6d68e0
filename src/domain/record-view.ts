/**
 * What a dump shows: records, the damage between them, and offsets that are not there.
 *
 * A record is shown through one view that is filled again and again, so that millions of them cost no memory; whatever is
 * kept of it has to be copied. Where a payload is withheld, its bytes never reach the one who is shown the view.
 */

import type { FindingKind } from './finding.js';
import type { ByteRange, OffsetRange } from './units.js';

export const RECORD_KINDS = ['plain', 'opens', 'continues', 'generation-start'] as const;
export type RecordKindName = (typeof RECORD_KINDS)[number];

/** How much of a payload is shown: its bytes, nothing but its length, or its length and its CRC-32. */
export type Disclosure = 'whole' | 'none' | 'digest';

/** Where a record stands in its producer's batch. */
export interface BatchPlace {
  readonly producer: bigint;
  readonly sequence: bigint;
  /** From 0. */
  readonly index: number;
  /** Records in the whole batch. */
  readonly length: number;
}

/** A payload taken for what cache or counter records are known to be; a null is withheld. */
export type DecodedPayload =
  | {
      readonly as: 'cache';
      readonly op: 'put' | 'delete';
      readonly expiresAtMillis: bigint | null;
      readonly key: string | null;
      readonly keyBytes: number;
      readonly valueBytes: number;
    }
  | {
      readonly as: 'counter';
      readonly op: 'delta' | 'checkpoint';
      readonly value: bigint | null;
      readonly key: string | null;
      readonly keyBytes: number;
    }
  /** A sentence part: why it is not taken for one. */
  | { readonly as: 'undecodable'; readonly why: string };

/** A record; valid until the call that shows it returns. */
export interface RecordView {
  readonly segment: bigint;
  /** Of its first byte in the segment file. */
  readonly position: number;
  /** Header, tag and payload. */
  readonly recordBytes: number;
  /** Halves of the u64, each unsigned. */
  readonly offsetHigh: number;
  readonly offsetLow: number;
  readonly timestampHigh: number;
  readonly timestampLow: number;
  readonly kind: RecordKindName;
  /** As stored, and verified; unsigned. */
  readonly checksum: number;
  /** Null for a record without a mark, and for one whose batch is not known. */
  readonly batch: BatchPlace | null;
  /** Of a generation start. */
  readonly generation: bigint | null;
  readonly payloadBytes: number;
  readonly disclosure: Disclosure;
  /** With the disclosure `digest`. */
  readonly payloadCrc: number | null;
  /** Null when nobody asked for it. */
  readonly decoded: DecodedPayload | null;
  /** The payload lies at `[payloadStart, payloadEnd)` of both; an empty range when it is withheld or comes in pieces. */
  readonly bytes: Uint8Array;
  readonly data: DataView;
  readonly payloadStart: number;
  readonly payloadEnd: number;
}

/** Damage between records, or bytes that could not be read. */
export interface DamageRow {
  readonly kind: FindingKind;
  readonly segment: bigint;
  readonly file: string;
  readonly path: string;
  readonly position: number;
  /** Null when the bytes themselves are intact, as with offsets out of order. */
  readonly damagedRange: ByteRange | null;
  readonly resumedAt: number | null;
  /** The offset that the damaged record has or should have had. */
  readonly offset: bigint | null;
  /** Null when it is not known. */
  readonly lostOffsets: OffsetRange | null;
  readonly detail: object;
  readonly message: string;
}

export type Whereabouts =
  /** Below the oldest local record, and in no object that is known of. */
  | 'trimmed'
  /** The same, but objects hold older offsets, so that nothing was trimmed up to there. */
  | 'hole'
  /** Below the oldest local record, in the object store by the manifest. */
  | 'offloaded'
  | 'past-tail'
  /** Outside the one file that was named. */
  | 'other-file';

/** Offsets that were asked for and are not in the log. */
export interface MissingRow {
  readonly from: bigint;
  /** Null without an end. */
  readonly to: bigint | null;
  readonly where: Whereabouts;
  /** Keys of objects; the first ones, and how many there are. */
  readonly objects: readonly string[];
  readonly objectCount: number;
  readonly message: string;
}

/** Which segment of which shard the records that follow are of. */
export interface RecordPlace {
  /** The shard's key when known, else the directory's name. */
  readonly shard: string;
  readonly segment: bigint;
}

/** Is shown records, damage and missing ranges in the order of the log. */
export interface RecordSink {
  place(place: RecordPlace): void;
  /** A record with its payload, as far as that is shown. */
  record(view: RecordView): void;
  /** A record whose payload comes in pieces afterwards: returns how many bytes of it are wanted, from the front. */
  begin(view: RecordView): number;
  /** The next bytes, valid during the call alone; a multiple of three but for the last ones. */
  piece(bytes: Uint8Array): void;
  /** Behind the last piece: true to be given all pieces once more. */
  again(): boolean;
  /** The record is done; false when a read failed before all of the pieces had come. */
  end(complete: boolean): void;
  damage(row: DamageRow): void;
  missing(row: MissingRow): void;
}

/** What a dump came to. */
export interface DumpSummary {
  readonly shards: number;
  /** Records shown. */
  readonly records: number;
  readonly damaged: number;
  readonly unreadable: number;
  readonly missing: number;
  readonly exitCode: number;
}

/** A byte behind each payload that is written as it is, or its length in front of it as a big-endian u32. */
export const DELIMITERS = ['newline', 'nul', 'length'] as const;

export type Delimiter = (typeof DELIMITERS)[number];
