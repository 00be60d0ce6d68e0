/**
 * `offload.manifest`: the segments with a copy in the object store (format page, "offload.manifest: segments with a
 * copy in the object store").
 *
 * Read strictly and streaming: counted entries, then the checksum, and not one byte more. Up to 200,000 entries are kept
 * (fewer when their keys are very long), the rest are counted, and a visitor sees every one. What entries say of each
 * other is for the checks. The reserved word is carried along and not judged.
 */

import { invariant } from '../domain/result.js';
import type { SidecarReading } from '../domain/sidecar.js';
import {
  type ByteFeed,
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  readU16,
  readU32,
  readU64,
  writeU16,
  writeU32,
  writeU64,
} from './bytes.js';
import { crc32 } from './checksum.js';
import {
  accepted,
  buffered,
  checksumDamage,
  crc32Over,
  fieldDamage,
  KNOWN_VERSION,
  preambleDamage,
  refused,
  trailingDamage,
  truncated,
} from './envelope.js';
import type { Layout } from './layout.js';

/** "FLOF". */
export const MANIFEST_MAGIC = 0x464c4f46;
/** More entries than this are checked and visited, but not kept. */
export const MAX_ENTRIES_KEPT = 200_000;
/** Nor are more bytes of keys: an honest key has some 120. */
const MAX_KEY_BYTES_KEPT = 32 * 1024 * 1024;
const HEADER_LENGTH = 12;
const ENTRY_HEAD_LENGTH = 54;
const CRC_LENGTH = 4;
const MAX_KEY_LENGTH = 0xffff;

/** Format page, "offload.manifest: segments with a copy in the object store". */
export const MANIFEST_LAYOUT = {
  name: 'offload.manifest',
  title: 'Segments with a copy in the object store',
  section: 'offload.manifest: segments with a copy in the object store',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c4f46, "FLOF"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'reserved', at: 6, size: 2, type: 'u16', meaning: '0' },
    { name: 'count', at: 8, size: 4, type: 'u32', unit: 'entries', meaning: 'entries that follow' },
    {
      repeat: 'entries',
      count: { field: 'count' },
      items: [
        { name: 'segment_id', at: 0, size: 8, type: 'u64', meaning: 'segment id' },
        { name: 'base_offset', at: 8, size: 8, type: 'u64', unit: 'offset', meaning: 'first offset' },
        { name: 'last_offset', at: 16, size: 8, type: 'u64', unit: 'offset', meaning: 'last offset, inclusive' },
        { name: 'size', at: 24, size: 8, type: 'u64', unit: 'bytes', meaning: 'bytes in the object' },
        { name: 'oldest', at: 32, size: 8, type: 'u64', unit: 'microseconds', meaning: 'time of the first record' },
        { name: 'newest', at: 40, size: 8, type: 'u64', unit: 'microseconds', meaning: 'time of the last record' },
        {
          name: 'checksum',
          at: 48,
          size: 4,
          type: 'crc32',
          covers: 'the bytes of the object',
          meaning: 'CRC-32 over the bytes of the object',
        },
        { name: 'key_length', at: 52, size: 2, type: 'u16', unit: 'bytes', meaning: 'length of the key' },
        { name: 'key', at: 54, size: { field: 'key_length' }, type: 'utf8', meaning: 'object key' },
      ],
    },
    {
      name: 'crc',
      size: 4,
      type: 'crc32',
      covers: 'every byte before it',
      meaning: 'CRC-32 over every byte before it',
    },
  ],
} as const satisfies Layout;

export interface ManifestEntry {
  readonly segmentId: bigint;
  readonly baseOffset: bigint;
  /** Inclusive. */
  readonly lastOffset: bigint;
  /** Bytes in the object. */
  readonly size: bigint;
  readonly oldestMicros: bigint;
  readonly newestMicros: bigint;
  /** CRC-32 over the object's bytes. */
  readonly checksum: number;
  readonly key: string;
  /** Of the entry's first byte in the manifest. */
  readonly position: number;
}

export interface Manifest {
  /** Entries in the file. */
  readonly count: number;
  /** The first ones, in file order; `count` of them unless there are too many to keep. */
  readonly entries: readonly ManifestEntry[];
  readonly entriesKept: number;
  /** Left out when 0. */
  readonly reserved?: number;
}

/** Positions and counts follow from the entries. */
export function encodeManifest(manifest: {
  readonly entries: readonly Omit<ManifestEntry, 'position'>[];
  readonly reserved?: number;
}): Uint8Array {
  const header = new Uint8Array(HEADER_LENGTH);
  writeU32(header, 0, MANIFEST_MAGIC);
  writeU16(header, 4, KNOWN_VERSION);
  writeU16(header, 6, manifest.reserved ?? 0);
  writeU32(header, 8, manifest.entries.length);
  const body = concatBytes([header, ...manifest.entries.map(encodeEntry)]);
  const crc = new Uint8Array(CRC_LENGTH);
  writeU32(crc, 0, crc32(body));
  return concatBytes([body, crc]);
}

function encodeEntry(entry: Omit<ManifestEntry, 'position'>): Uint8Array {
  const key = encodeUtf8(entry.key);
  invariant(key.length <= MAX_KEY_LENGTH, 'the length of a key fits a u16');
  const bytes = new Uint8Array(ENTRY_HEAD_LENGTH + key.length);
  writeU64(bytes, 0, entry.segmentId);
  writeU64(bytes, 8, entry.baseOffset);
  writeU64(bytes, 16, entry.lastOffset);
  writeU64(bytes, 24, entry.size);
  writeU64(bytes, 32, entry.oldestMicros);
  writeU64(bytes, 40, entry.newestMicros);
  writeU32(bytes, 48, entry.checksum);
  writeU16(bytes, 52, key.length);
  bytes.set(key, ENTRY_HEAD_LENGTH);
  return bytes;
}

/**
 * Never throws. `visit` is called for every entry in file order, kept or not, once the whole file has been found sound;
 * for a damaged file never. Entries in `claimed` are as they stand there, a key that is not UTF-8 with U+FFFD in it.
 */
export function decodeManifest(feed: ByteFeed, visit?: (entry: ManifestEntry) => void): SidecarReading<Manifest> {
  const preamble = preambleDamage(feed, HEADER_LENGTH + CRC_LENGTH, MANIFEST_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const header = feed.view(0, HEADER_LENGTH);
  const reserved = readU16(header, 6);
  const count = readU32(header, 8);
  const facts = { count, ...(reserved === 0 ? {} : { reserved }) };
  if (count * ENTRY_HEAD_LENGTH + CRC_LENGTH > feed.size - HEADER_LENGTH) {
    return refused(facts, truncated(feed, HEADER_LENGTH, count * ENTRY_HEAD_LENGTH + CRC_LENGTH));
  }
  const walk = walkEntries(feed, count);
  const manifest: Manifest = { ...facts, entries: walk.kept, entriesKept: walk.kept.length };
  const crcAt = walk.end;
  if (walk.needed > 0) return refused(manifest, truncated(feed, crcAt, walk.needed));
  const damage =
    trailingDamage(feed, crcAt + CRC_LENGTH) ??
    checksumDamage(crcAt, readU32(feed.view(crcAt, CRC_LENGTH), 0), crc32Over(feed, 0, crcAt));
  if (damage !== null) return refused(manifest, damage);
  if (walk.keyNotText !== null) return refused(manifest, fieldDamage(walk.keyNotText, 'key', 'is not UTF-8'));
  if (visit !== undefined) walkEntries(feed, count, visit);
  return accepted(manifest);
}

interface Walk {
  /** Empty when there is a visitor. */
  readonly kept: ManifestEntry[];
  /** After the last whole entry. */
  readonly end: number;
  /** When the entry at `end` is not whole, the bytes that it and the checksum need; else 0. */
  readonly needed: number;
  /** Position of the first key that is not UTF-8. */
  readonly keyNotText: number | null;
}

function walkEntries(source: ByteFeed, count: number, visit?: (entry: ManifestEntry) => void): Walk {
  const feed = buffered(source);
  const kept: ManifestEntry[] = [];
  let keyBytesKept = 0;
  let keyNotText: number | null = null;
  let position = HEADER_LENGTH;
  for (let index = 0; index < count; index++) {
    const available = feed.size - position - CRC_LENGTH;
    let needed = ENTRY_HEAD_LENGTH;
    if (needed <= available) needed += readU16(feed.view(position + ENTRY_HEAD_LENGTH - 2, 2), 0);
    if (needed > available) return { kept, end: position, needed: needed + CRC_LENGTH, keyNotText };
    const bytes = feed.view(position, needed);
    const key = decodeUtf8(bytes.subarray(ENTRY_HEAD_LENGTH));
    if (key === null) keyNotText ??= position + ENTRY_HEAD_LENGTH;
    if (visit !== undefined) {
      visit(entryOf(bytes, key, position));
    } else if (kept.length === index && index < MAX_ENTRIES_KEPT && keyBytesKept + needed <= MAX_KEY_BYTES_KEPT) {
      keyBytesKept += needed;
      kept.push(entryOf(bytes, key, position));
    }
    position += needed;
  }
  return { kept, end: position, needed: 0, keyNotText };
}

const LOSSY = new TextDecoder('utf-8', { ignoreBOM: true });

function entryOf(bytes: Uint8Array, key: string | null, position: number): ManifestEntry {
  return {
    segmentId: readU64(bytes, 0),
    baseOffset: readU64(bytes, 8),
    lastOffset: readU64(bytes, 16),
    size: readU64(bytes, 24),
    oldestMicros: readU64(bytes, 32),
    newestMicros: readU64(bytes, 40),
    checksum: readU32(bytes, 48),
    key: key ?? LOSSY.decode(bytes.subarray(ENTRY_HEAD_LENGTH)),
    position,
  };
}
