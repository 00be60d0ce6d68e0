/**
 * The sparse offset index beside a segment: a 24-byte header and 16-byte entries ("Index file").
 *
 * Indexes carry no checksums and are never trusted: every entry is only a place to start a scan that verifies records.
 */

import type { Corruption } from '../domain/finding.js';
import { err, ok, type Result } from '../domain/result.js';
import { readU16, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
import { hex32 } from './checksum.js';
import type { Layout } from './layout.js';

export const INDEX_MAGIC = 0x464c5349;
export const INDEX_HEADER_LEN = 24;
export const INDEX_ENTRY_LEN = 16;
const INDEX_VERSIONS: readonly number[] = [2, 3, 4];
/** The version in every index header that is written. */
export const INDEX_VERSION_WRITTEN = 3;

export const INDEX_LAYOUT = {
  name: 'segment-index',
  title: 'Segment index',
  section: 'Index file',
  items: [
    { name: 'magic', type: 'magic', size: 4, at: 0, meaning: 'ASCII FLSI' },
    { name: 'version', type: 'u16', size: 2, at: 4, meaning: '3 when written; 2 and 4 are still read' },
    { name: 'flags', type: 'u16', size: 2, at: 6, meaning: '0; not checked by readers' },
    { name: 'base_offset', type: 'u64', size: 8, at: 8, unit: 'offset', meaning: "the segment's base offset" },
    { name: 'reserved', type: 'u64', size: 8, at: 16, meaning: '0' },
    {
      repeat: 'entries',
      count: 'rest',
      items: [
        { name: 'offset', type: 'u64', size: 8, at: 0, unit: 'offset', meaning: 'offset of a record' },
        {
          name: 'position',
          type: 'u64',
          size: 8,
          at: 8,
          unit: 'bytes',
          meaning: 'where that record starts in the segment',
        },
      ],
    },
  ],
} as const satisfies Layout;

export interface IndexHeader {
  readonly version: number;
  /** Not checked by readers. */
  readonly flags: number;
  readonly baseOffset: bigint;
}

export interface IndexEntry {
  readonly offset: bigint;
  /** Byte position of that record in the segment, as claimed: any u64. */
  readonly position: bigint;
}

export function encodeIndexHeader(header: IndexHeader): Uint8Array {
  const bytes = new Uint8Array(INDEX_HEADER_LEN);
  writeU32(bytes, 0, INDEX_MAGIC);
  writeU16(bytes, 4, header.version);
  writeU16(bytes, 6, header.flags);
  writeU64(bytes, 8, header.baseOffset);
  return bytes;
}

/** The bytes of a whole index as a writer makes it: version 3, no flags. */
export function encodeIndex(baseOffset: bigint, entries: readonly IndexEntry[]): Uint8Array {
  const bytes = new Uint8Array(INDEX_HEADER_LEN + entries.length * INDEX_ENTRY_LEN);
  bytes.set(encodeIndexHeader({ version: INDEX_VERSION_WRITTEN, flags: 0, baseOffset }));
  entries.forEach((entry, i) => {
    writeU64(bytes, INDEX_HEADER_LEN + i * INDEX_ENTRY_LEN, entry.offset);
    writeU64(bytes, INDEX_HEADER_LEN + i * INDEX_ENTRY_LEN + 8, entry.position);
  });
  return bytes;
}

/** Decodes a header in a broker's order: length, magic, version. Flags and base offset are the caller's to judge. */
export function decodeIndexHeader(bytes: Uint8Array): Result<IndexHeader, Corruption> {
  if (bytes.length < INDEX_HEADER_LEN) {
    return err({ kind: 'Truncated', needed: INDEX_HEADER_LEN, available: bytes.length });
  }
  const magic = readU32(bytes, 0);
  if (magic !== INDEX_MAGIC) return err({ kind: 'IndexMagic', found: hex32(magic) });
  const version = readU16(bytes, 4);
  if (!INDEX_VERSIONS.includes(version)) return err({ kind: 'IndexVersion', found: version });
  return ok({ version, flags: readU16(bytes, 6), baseOffset: readU64(bytes, 8) });
}

/** The entry at `at`; the caller has checked that 16 bytes are there. */
export function decodeIndexEntry(bytes: Uint8Array, at: number): IndexEntry {
  return { offset: readU64(bytes, at), position: readU64(bytes, at + 8) };
}
