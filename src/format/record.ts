/**
 * A record: 28 bytes of header, a 20-byte tag when bit 31 of the length word is set, then the payload ("Record",
 * "Producer marks", "Generation-start records").
 *
 * `header_crc` covers bytes 0..20 and is verified before any other field is used; `checksum` covers bytes 0..24, the tag
 * and the payload. These functions decode one record in memory; the scan decodes by hand and is held to them by a test.
 */

import type { Corruption } from '../domain/finding.js';
import { err, invariant, ok, type Result } from '../domain/result.js';
import { readU32, readU64, writeU32, writeU64 } from './bytes.js';
import { crc32, hex32 } from './checksum.js';
import type { Layout } from './layout.js';

export const RECORD_HEADER_LEN = 28;
export const RECORD_TAG_LEN = 20;
/** "Limits". */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
/** No record is longer than this. */
export const MAX_RECORD_BYTES = RECORD_HEADER_LEN + RECORD_TAG_LEN + MAX_PAYLOAD_BYTES;

export const OPENS_BIT = 0x80000000;
export const CONTINUES_BIT = 0x40000000;
export const GENERATION_START_BIT = 0x20000000;
export const LENGTH_MASK = 0x1fffffff;

export const RECORD_LAYOUT = {
  name: 'record',
  title: 'Record',
  section: 'Record',
  items: [
    {
      name: 'payload_len',
      type: 'u32',
      size: 4,
      at: 0,
      meaning: 'payload length in the low 29 bits, the kind of the record in the top three',
      bits: [
        { name: 'opens', mask: 0x80000000, meaning: 'the record opens a batch and carries a tag' },
        { name: 'continues', mask: 0x40000000, meaning: 'the record continues the batch before it' },
        { name: 'generation_start', mask: 0x20000000, meaning: 'the first record of a leader at a new generation' },
        { name: 'length', mask: 0x1fffffff, meaning: 'bytes of payload, at most 64 MiB' },
      ],
    },
    {
      name: 'offset',
      type: 'u64',
      size: 8,
      at: 4,
      unit: 'offset',
      meaning: 'logical offset, one more than the record before',
    },
    { name: 'timestamp_micros', type: 'u64', size: 8, at: 12, unit: 'microseconds', meaning: 'publish time' },
    { name: 'header_crc', type: 'crc32', size: 4, at: 20, meaning: 'CRC-32 of the header', covers: 'bytes 0..20' },
    {
      name: 'checksum',
      type: 'crc32',
      size: 4,
      at: 24,
      meaning: 'CRC-32 of the record',
      covers: 'bytes 0..24, then tag and payload',
    },
    {
      when: { field: 'payload_len', mask: 0x80000000, equals: 0x80000000 },
      items: [
        { name: 'tag.producer_id', type: 'u64', size: 8, meaning: 'the producer of the batch' },
        { name: 'tag.sequence', type: 'u64', size: 8, meaning: "the batch's sequence" },
        { name: 'tag.len', type: 'u32', size: 4, unit: 'records', meaning: 'records in the batch' },
      ],
    },
    {
      name: 'payload',
      type: 'bytes',
      size: { field: 'payload_len', mask: 0x1fffffff },
      meaning: 'opaque bytes; of a generation start, the generation as a u64',
    },
  ],
} as const satisfies Layout;

export type RecordKind = 'plain' | 'opens' | 'continues' | 'generation-start';

export interface RecordTag {
  readonly producerId: bigint;
  readonly sequence: bigint;
  readonly len: number;
}

export interface RecordHeader {
  readonly kind: RecordKind;
  readonly payloadLen: number;
  readonly offset: bigint;
  readonly timestampMicros: bigint;
  readonly checksum: number;
  /** Header, tag and payload. */
  readonly totalLen: number;
}

export interface LogRecord {
  readonly kind: RecordKind;
  readonly offset: bigint;
  readonly timestampMicros: bigint;
  /** Present on a record that opens a batch. */
  readonly tag: RecordTag | null;
  readonly payload: Uint8Array;
}

/** The kind named by the top three bits of the length word, or null when more than one is set. */
export function recordKind(lengthWord: number): RecordKind | null {
  switch (lengthWord >>> 29) {
    case 0:
      return 'plain';
    case 4:
      return 'opens';
    case 2:
      return 'continues';
    case 1:
      return 'generation-start';
    default:
      return null;
  }
}

/** The lowest segment version that may hold a kind. */
export function versionForKind(kind: RecordKind): number {
  return kind === 'plain' ? 2 : kind === 'generation-start' ? 4 : 3;
}

/** The bytes of a record, both checksums computed. */
export function encodeRecord({ kind, offset, timestampMicros, tag, payload }: LogRecord): Uint8Array {
  invariant((kind === 'opens') === (tag !== null), 'a record that opens a batch has a tag, and no other has one');
  const payloadAt = RECORD_HEADER_LEN + (tag === null ? 0 : RECORD_TAG_LEN);
  const bytes = new Uint8Array(payloadAt + payload.length);
  writeU32(bytes, 0, (kindBits(kind) | payload.length) >>> 0);
  writeU64(bytes, 4, offset);
  writeU64(bytes, 12, timestampMicros);
  writeU32(bytes, 20, crc32(bytes.subarray(0, 20)));
  if (tag !== null) {
    writeU64(bytes, 28, tag.producerId);
    writeU64(bytes, 36, tag.sequence);
    writeU32(bytes, 44, tag.len);
  }
  bytes.set(payload, payloadAt);
  writeU32(bytes, 24, crc32(bytes.subarray(28), crc32(bytes.subarray(0, 24))));
  return bytes;
}

function kindBits(kind: RecordKind): number {
  if (kind === 'opens') return OPENS_BIT;
  if (kind === 'continues') return CONTINUES_BIT;
  return kind === 'generation-start' ? GENERATION_START_BIT : 0;
}

/** Decodes the 28 bytes of a record header in a broker's order: length, header checksum, kind bits, payload limit. */
export function decodeRecordHeader(bytes: Uint8Array): Result<RecordHeader, Corruption> {
  if (bytes.length < RECORD_HEADER_LEN) {
    return err({ kind: 'Truncated', needed: RECORD_HEADER_LEN, available: bytes.length });
  }
  const stored = readU32(bytes, 20);
  const computed = crc32(bytes.subarray(0, 20));
  if (stored !== computed) {
    return err({ kind: 'RecordHeaderChecksum', expected: hex32(stored), found: hex32(computed) });
  }
  const lengthWord = readU32(bytes, 0);
  const kind = recordKind(lengthWord);
  if (kind === null) return err({ kind: 'RecordFlags', found: hex32(lengthWord & ~LENGTH_MASK) });
  const payloadLen = lengthWord & LENGTH_MASK;
  if (payloadLen > MAX_PAYLOAD_BYTES) return err({ kind: 'RecordTooLarge', payloadLen, limit: MAX_PAYLOAD_BYTES });
  return ok({
    kind,
    payloadLen,
    offset: readU64(bytes, 4),
    timestampMicros: readU64(bytes, 12),
    checksum: readU32(bytes, 24),
    totalLen: RECORD_HEADER_LEN + (kind === 'opens' ? RECORD_TAG_LEN : 0) + payloadLen,
  });
}

/** Decodes the record at the start of `bytes`, verifying both checksums. The payload is a view, not a copy. */
export function decodeRecord(bytes: Uint8Array): Result<LogRecord, Corruption> {
  const header = decodeRecordHeader(bytes);
  if (!header.ok) return header;
  const { kind, offset, timestampMicros, totalLen } = header.value;
  if (bytes.length < totalLen) return err({ kind: 'Truncated', needed: totalLen, available: bytes.length });
  const stored = header.value.checksum;
  const computed = crc32(bytes.subarray(28, totalLen), crc32(bytes.subarray(0, 24)));
  if (stored !== computed) return err({ kind: 'RecordChecksum', expected: hex32(stored), found: hex32(computed) });
  const tag = kind === 'opens' ? decodeTag(bytes, RECORD_HEADER_LEN) : null;
  const payload = bytes.subarray(RECORD_HEADER_LEN + (tag ? RECORD_TAG_LEN : 0), totalLen);
  return ok({ kind, offset, timestampMicros, tag, payload });
}

/** The 20-byte tag at `at`; the caller has checked that it is there. */
export function decodeTag(bytes: Uint8Array, at: number): RecordTag {
  return { producerId: readU64(bytes, at), sequence: readU64(bytes, at + 8), len: readU32(bytes, at + 16) };
}
