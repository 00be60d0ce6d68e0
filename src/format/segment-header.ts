/**
 * The 32-byte header of a segment file ("Segment header").
 *
 * The header is written once and synced before any record claims to live in the segment, so damage here is never a torn
 * write. The version is judged before the checksum: a file of another build is not a corrupt file.
 */

import type { Corruption } from '../domain/finding.js';
import { err, ok, type Result } from '../domain/result.js';
import { readU16, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
import { crc32, hex16, hex32 } from './checksum.js';
import type { Layout } from './layout.js';

export const SEGMENT_MAGIC = 0x464c5347;
export const SEGMENT_HEADER_LEN = 32;
/** Versions that this build decodes ("Version history"). */
export const SEGMENT_VERSIONS: readonly number[] = [2, 3, 4];

export const SEGMENT_HEADER_LAYOUT = {
  name: 'segment-header',
  title: 'Segment header',
  section: 'Segment header (32 bytes)',
  items: [
    { name: 'magic', type: 'magic', size: 4, at: 0, meaning: 'ASCII FLSG' },
    { name: 'version', type: 'u16', size: 2, at: 4, meaning: '3 when written, 4 with a generation start, 2 is read' },
    { name: 'flags', type: 'u16', size: 2, at: 6, meaning: '0; any other value is rejected' },
    {
      name: 'base_offset',
      type: 'u64',
      size: 8,
      at: 8,
      unit: 'offset',
      meaning: "offset of the segment's first record",
    },
    {
      name: 'created_at_micros',
      type: 'u64',
      size: 8,
      at: 16,
      unit: 'microseconds',
      meaning: 'wall clock at creation',
    },
    { name: 'header_crc', type: 'crc32', size: 4, at: 24, meaning: 'CRC-32 of the header', covers: 'bytes 0..24' },
    { name: 'reserved', type: 'u32', size: 4, at: 28, meaning: '0; not checked by readers' },
  ],
} as const satisfies Layout;

export interface SegmentHeader {
  readonly version: number;
  readonly baseOffset: bigint;
  readonly createdAtMicros: bigint;
  /** The word at byte 28, which readers do not check. */
  readonly reserved: number;
}

/** The 32 bytes of a header, its checksum computed. */
export function encodeSegmentHeader(header: SegmentHeader): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER_LEN);
  writeU32(bytes, 0, SEGMENT_MAGIC);
  writeU16(bytes, 4, header.version);
  writeU64(bytes, 8, header.baseOffset);
  writeU64(bytes, 16, header.createdAtMicros);
  writeU32(bytes, 24, crc32(bytes.subarray(0, 24)));
  writeU32(bytes, 28, header.reserved);
  return bytes;
}

/** Decodes a header in the order a broker does: length, magic, version, flags, checksum. */
export function decodeSegmentHeader(bytes: Uint8Array): Result<SegmentHeader, Corruption> {
  if (bytes.length < SEGMENT_HEADER_LEN) {
    return err({ kind: 'Truncated', needed: SEGMENT_HEADER_LEN, available: bytes.length });
  }
  const magic = readU32(bytes, 0);
  if (magic !== SEGMENT_MAGIC) return err({ kind: 'SegmentMagic', found: hex32(magic) });
  const version = readU16(bytes, 4);
  if (!SEGMENT_VERSIONS.includes(version)) return err({ kind: 'SegmentVersion', found: version });
  const flags = readU16(bytes, 6);
  if (flags !== 0) return err({ kind: 'SegmentFlags', found: hex16(flags) });
  const stored = readU32(bytes, 24);
  const computed = crc32(bytes.subarray(0, 24));
  if (stored !== computed) {
    return err({ kind: 'SegmentHeaderChecksum', expected: hex32(stored), found: hex32(computed) });
  }
  return ok({
    version,
    baseOffset: readU64(bytes, 8),
    createdAtMicros: readU64(bytes, 16),
    reserved: readU32(bytes, 28),
  });
}
