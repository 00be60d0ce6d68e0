/**
 * What evidence is drawn from: the damaged range, and the bytes of it that are looked at, which are bounded.
 */

import type { BitFlip, FindingKind } from '../domain/finding.js';
import type { ByteRange } from '../domain/units.js';
import type { ByteSource } from '../store/byte-source.js';
import type { RangeChecksums } from './bit-flip.js';
import { bytesAt } from './pieces.js';

/** Stable names for what damaged bytes look like, as they stand in reports. */
export type EvidenceSlug =
  /** Every byte of the range, without exception. */
  | 'zeros'
  /** Zeros at the start, then other bytes. */
  | 'partly-zeros'
  | 'ones'
  | 'text'
  | 'json'
  | 'segment-header'
  | 'index'
  | 'felix-wire'
  | 'gzip'
  | 'zstd'
  | 'lz4'
  | 'xz'
  | 'bzip2'
  | 'zip'
  | 'elf'
  | 'apple-double'
  /** Another small file of a shard or a data root. */
  | 'sidecar'
  | 'crlf'
  | 'torn-write'
  | 'bit-flip'
  | 'repeated'
  | 'duplicate'
  | 'shifted'
  | 'foreign'
  /** A record header that verifies once its length and offset are put back. */
  | 'overwritten'
  | 'random';

export interface Evidence {
  readonly slug: EvidenceSlug;
  /** A noun phrase without control characters and without content of payloads, to stand after "looks like". */
  readonly phrase: string;
}

/** What the scan knows of the damage. */
export interface EvidenceContext {
  /** The offset due at the start of the range; null if unknown. */
  readonly expectedOffset: bigint | null;
  /** Where the record would end by its own verified length. */
  readonly claimedEnd?: number | null;
  /** Where the next intact record begins; null when nothing intact follows. */
  readonly resumedAt?: number | null;
  /** The flipped bit, or null when it was looked for in vain; left out, it is looked for. */
  readonly bitFlip?: BitFlip | null;
  /** Shared between the damages of a file. */
  readonly checksums?: RangeChecksums;
}

export interface View {
  readonly source: ByteSource;
  readonly range: ByteRange;
  readonly kind: FindingKind;
  readonly context: EvidenceContext;
  /** The first bytes of the range, and some of what lies behind it when it is short. */
  readonly ahead: Buffer;
  /** Those of the bytes ahead that lie in the range. */
  readonly own: Buffer;
  /** Pieces of a range too long to be looked at whole, evenly spread, the last one at its end. */
  readonly samples: readonly Uint8Array[];
}

export type Recogniser = (view: View) => Evidence | null;

/** Of a range, from its start. */
const OWN_BYTES = 384 * 1024;
/** Behind a range. */
const BEHIND_BYTES = 16 * 1024;
const SAMPLES = 8;
const SAMPLE_BYTES = 32 * 1024;

export function lookAt(source: ByteSource, range: ByteRange, kind: FindingKind, context: EvidenceContext): View {
  const length = range.to - range.from;
  const looked = Math.min(length, OWN_BYTES);
  // A record whose payload was moved ends further on than its length says.
  const end = Math.min(source.size, looked < length ? range.from + looked : range.to + BEHIND_BYTES);
  const ahead = Buffer.from(bytesAt(source, range.from, end).buffer);
  const rest = length - looked;
  const samples: Uint8Array[] = [];
  for (let index = 1; index <= SAMPLES && rest > 0; index++) {
    const at = range.from + looked + Math.floor(((rest - Math.min(rest, SAMPLE_BYTES)) * index) / SAMPLES);
    samples.push(bytesAt(source, at, Math.min(range.to, at + SAMPLE_BYTES)));
  }
  return { source, range, kind, context, ahead, own: ahead.subarray(0, looked), samples };
}
