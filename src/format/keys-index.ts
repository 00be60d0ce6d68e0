/**
 * `keys.idx`: a cache's key index, saved at the end of a compaction pass (format page, "keys.idx: a cache's key index").
 *
 * Its size follows the number of keys, so nothing of it is kept but the header: a visitor sees each entry. Decoding checks
 * length, checksum (the one CRC-32C of the format) and header; whether keys are cache keys in order, and what the log says
 * of them, is for the checks, and {@link decodeCompositeKey} is there for it.
 */

import { err, invariant, ok, type Result } from '../domain/result.js';
import type { SidecarDamage, SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, concatBytes, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
import { crc32c } from './checksum.js';
import {
  accepted,
  buffered,
  checksumDamage,
  crc32cOver,
  fieldDamage,
  KNOWN_VERSION,
  preambleDamage,
  refused,
  trailingDamage,
  truncated,
} from './envelope.js';
import type { Layout } from './layout.js';
import { MAX_PAYLOAD_BYTES } from './record.js';

/** "FXIX". */
export const KEYS_INDEX_MAGIC = 0x46584958;
/** A key comes out of a record's payload, and 5 bytes of kind and length are put in front of it. */
export const MAX_COMPOSITE_KEY_LENGTH = MAX_PAYLOAD_BYTES + 5;
const HEADER_LENGTH = 35;
const STORE_AT = 6;
const KEY_LENGTH_LENGTH = 4;
const ENTRY_TAIL_LENGTH = 28;
const MIN_ENTRY_LENGTH = KEY_LENGTH_LENGTH + ENTRY_TAIL_LENGTH;
const CRC_LENGTH = 4;

const SECTION = 'keys.idx: a cache’s key index';

/** Format page, "keys.idx: a cache's key index". */
export const KEYS_INDEX_LAYOUT = {
  name: 'keys.idx',
  title: 'Key index of a cache',
  section: SECTION,
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x46584958, "FXIX"' },
    { name: 'format', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'store', at: 6, size: 1, type: 'u8', meaning: '0 for a cache; 1 is reserved for collections' },
    {
      name: 'covered_through',
      at: 7,
      size: 8,
      type: 'u64',
      unit: 'offset',
      meaning: 'every record below this offset is reflected, none at or past it',
    },
    { name: 'entry_count', at: 15, size: 8, type: 'u64', unit: 'entries', meaning: 'entries that follow' },
    {
      name: 'log_bytes',
      at: 23,
      size: 8,
      type: 'u64',
      unit: 'bytes',
      meaning: 'payload bytes of every record below covered_through, live or not',
    },
    {
      name: 'last_checksum',
      at: 31,
      size: 4,
      type: 'crc32',
      covers: 'the record at covered_through - 1',
      meaning: 'checksum of the record at covered_through - 1; 0 when nothing is covered',
    },
    {
      repeat: 'entries',
      count: { field: 'entry_count' },
      items: [
        { name: 'key_len', at: 0, size: 4, type: 'u32', unit: 'bytes', meaning: 'length of the composite key' },
        { name: 'key', at: 4, size: { field: 'key_len' }, type: 'bytes', meaning: 'composite key' },
        { name: 'offset', size: 8, type: 'u64', unit: 'offset', meaning: 'where the record is' },
        { name: 'version', size: 8, type: 'u64', meaning: 'the version a conditional write compares against' },
        {
          name: 'expires_at_millis',
          size: 8,
          type: 'u64',
          unit: 'milliseconds',
          meaning: 'absolute expiry; 0 for none',
        },
        { name: 'bytes', size: 4, type: 'u32', unit: 'bytes', meaning: 'payload length of the record' },
      ],
    },
    {
      name: 'crc',
      size: 4,
      type: 'crc32c',
      covers: 'everything before it',
      meaning: 'CRC-32C over everything before it',
    },
  ],
} as const satisfies Layout;

const MEMBER_ITEMS = [
  { name: 'slot', size: 1, type: 'u8', meaning: '0 metadata of the key, 1 a field' },
  { name: 'field', size: 'rest', type: 'bytes', meaning: 'field' },
] as const satisfies Layout['items'];

/** Format page, "keys.idx": what the key of an entry is made of. */
export const COMPOSITE_KEY_LAYOUT = {
  name: 'composite-key',
  title: 'Composite key',
  section: SECTION,
  items: [
    { name: 'kind', at: 0, size: 1, type: 'u8', meaning: '0 cache value; 1, 2, 3 reserved for hashes, sets, lists' },
    { name: 'key_len', at: 1, size: 4, type: 'u32', unit: 'bytes', meaning: 'length of the key' },
    { name: 'key', at: 5, size: { field: 'key_len' }, type: 'utf8', meaning: 'key' },
    { when: { field: 'kind', equals: 1 }, items: MEMBER_ITEMS },
    { when: { field: 'kind', equals: 2 }, items: MEMBER_ITEMS },
    { when: { field: 'kind', equals: 3 }, items: MEMBER_ITEMS },
  ],
} as const satisfies Layout;

export interface KeysIndex {
  /** Every record below this offset is reflected. */
  readonly coveredThrough: bigint;
  readonly entryCount: bigint;
  /** Payload bytes of every record below `coveredThrough`, live or not. */
  readonly logBytes: bigint;
  /** Checksum of the record at `coveredThrough - 1`; 0 when nothing is covered. */
  readonly lastChecksum: number;
}

export interface KeysIndexEntry {
  /** The composite key; valid until the visitor returns. */
  readonly key: Uint8Array;
  /** First byte of the key, 0 for a cache value; null when the key is empty. */
  readonly kind: number | null;
  readonly offset: bigint;
  readonly version: bigint;
  /** 0 for none. */
  readonly expiresAtMillis: bigint;
  /** Payload length of the record. */
  readonly bytes: number;
  /** Of the entry's first byte in the file. */
  readonly position: number;
}

export function encodeKeysIndex(index: {
  readonly coveredThrough: bigint;
  readonly logBytes: bigint;
  readonly lastChecksum: number;
  readonly entries: readonly Omit<KeysIndexEntry, 'kind' | 'position'>[];
}): Uint8Array {
  const header = new Uint8Array(HEADER_LENGTH);
  writeU32(header, 0, KEYS_INDEX_MAGIC);
  writeU16(header, 4, KNOWN_VERSION);
  writeU64(header, 7, index.coveredThrough);
  writeU64(header, 15, BigInt(index.entries.length));
  writeU64(header, 23, index.logBytes);
  writeU32(header, 31, index.lastChecksum);
  const body = concatBytes([header, ...index.entries.map(encodeEntry)]);
  const crc = new Uint8Array(CRC_LENGTH);
  writeU32(crc, 0, crc32c(body));
  return concatBytes([body, crc]);
}

function encodeEntry(entry: Omit<KeysIndexEntry, 'kind' | 'position'>): Uint8Array {
  const tail = KEY_LENGTH_LENGTH + entry.key.length;
  const bytes = new Uint8Array(tail + ENTRY_TAIL_LENGTH);
  writeU32(bytes, 0, entry.key.length);
  bytes.set(entry.key, KEY_LENGTH_LENGTH);
  writeU64(bytes, tail, entry.offset);
  writeU64(bytes, tail + 8, entry.version);
  writeU64(bytes, tail + 16, entry.expiresAtMillis);
  writeU32(bytes, tail + 24, entry.bytes);
  return bytes;
}

/**
 * Never throws. `visit` is called for every entry in file order, once length, checksum and header have been found sound;
 * for a damaged file never, as a broker ignores it whole.
 */
export function decodeKeysIndex(feed: ByteFeed, visit?: (entry: KeysIndexEntry) => void): SidecarReading<KeysIndex> {
  const preamble = preambleDamage(feed, HEADER_LENGTH + CRC_LENGTH, KEYS_INDEX_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const header = feed.view(0, HEADER_LENGTH);
  const store = header[STORE_AT]!;
  const index: KeysIndex = {
    coveredThrough: readU64(header, 7),
    entryCount: readU64(header, 15),
    logBytes: readU64(header, 23),
    lastChecksum: readU32(header, 31),
  };
  const damage = countedDamage(feed, index.entryCount) ?? storeDamage(store);
  if (damage !== null) return refused(index, damage);
  if (visit !== undefined) visitEntries(feed, Number(index.entryCount), visit);
  return accepted(index);
}

/** Counted length, checksum, and the lengths of keys, in this order. */
function countedDamage(feed: ByteFeed, entryCount: bigint): SidecarDamage | null {
  const room = feed.size - HEADER_LENGTH - CRC_LENGTH;
  const least = entryCount * BigInt(MIN_ENTRY_LENGTH);
  if (least > BigInt(room)) return truncated(feed, HEADER_LENGTH, Number(least) + CRC_LENGTH);
  const walk = measureEntries(feed, Number(entryCount));
  if (walk.needed > 0) return truncated(feed, walk.end, walk.needed);
  const crcAt = walk.end;
  const damage =
    trailingDamage(feed, crcAt + CRC_LENGTH) ??
    checksumDamage(crcAt, readU32(feed.view(crcAt, CRC_LENGTH), 0), crc32cOver(feed, 0, crcAt));
  if (damage !== null || walk.longKey === null) return damage;
  return fieldDamage(walk.longKey, 'key_len', `is over ${MAX_COMPOSITE_KEY_LENGTH}, and no record holds such a key`);
}

function storeDamage(store: number): SidecarDamage | null {
  if (store === 0) return null;
  return fieldDamage(STORE_AT, 'store', store === 1 ? 'is 1, which is reserved for collections' : `is ${store}, not 0`);
}

interface Walk {
  /** After the last whole entry. */
  readonly end: number;
  /** When the entry at `end` is not whole, the bytes that it and the checksum need; else 0. */
  readonly needed: number;
  /** Position of the first length that no key can have. */
  readonly longKey: number | null;
}

function measureEntries(source: ByteFeed, count: number): Walk {
  const feed = buffered(source);
  const last = feed.size - CRC_LENGTH;
  let longKey: number | null = null;
  let position = HEADER_LENGTH;
  for (let index = 0; index < count; index++) {
    let needed = MIN_ENTRY_LENGTH;
    if (position + needed <= last) {
      const keyLength = readU32(feed.view(position, KEY_LENGTH_LENGTH), 0);
      if (keyLength > MAX_COMPOSITE_KEY_LENGTH) longKey ??= position;
      needed += keyLength;
    }
    if (position + needed > last) return { end: position, needed: needed + CRC_LENGTH, longKey };
    position += needed;
  }
  return { end: position, needed: 0, longKey };
}

/** Over entries that {@link measureEntries} has found inside the file. */
function visitEntries(source: ByteFeed, count: number, visit: (entry: KeysIndexEntry) => void): void {
  const feed = buffered(source);
  let position = HEADER_LENGTH;
  for (let index = 0; index < count; index++) {
    const keyLength = readU32(feed.view(position, KEY_LENGTH_LENGTH), 0);
    const length = MIN_ENTRY_LENGTH + keyLength;
    const bytes = feed.view(position, length);
    const tail = KEY_LENGTH_LENGTH + keyLength;
    visit({
      key: bytes.subarray(KEY_LENGTH_LENGTH, tail),
      kind: keyLength === 0 ? null : bytes[KEY_LENGTH_LENGTH]!,
      offset: readU64(bytes, tail),
      version: readU64(bytes, tail + 8),
      expiresAtMillis: readU64(bytes, tail + 16),
      bytes: readU32(bytes, tail + 24),
      position,
    });
    position += length;
  }
}

/** Format page, "keys.idx": kind 0 is a cache value, without slot and field; 1, 2 and 3 are reserved. */
export interface CompositeKey {
  readonly kind: number;
  readonly key: Uint8Array;
  /** 0 for the key's metadata, 1 for a field; null for a cache value. */
  readonly slot: number | null;
  /** Null for a cache value. */
  readonly field: Uint8Array | null;
}

export function encodeCompositeKey({ kind, key, slot, field }: CompositeKey): Uint8Array {
  const head = new Uint8Array(5);
  head[0] = kind;
  writeU32(head, 1, key.length);
  if (kind === 0) {
    invariant(slot === null && field === null, 'a cache value has neither slot nor field');
    return concatBytes([head, key]);
  }
  invariant(slot !== null && field !== null, 'every other kind has a slot and a field');
  return concatBytes([head, key, Uint8Array.of(slot), field]);
}

/** Never throws; the error is a sentence part saying why these bytes are no composite key. Views into `bytes`. */
export function decodeCompositeKey(bytes: Uint8Array): Result<CompositeKey, string> {
  if (bytes.length < 5) return err(`ends after ${bytes.length} of the 5 bytes of kind and length`);
  const kind = bytes[0]!;
  const keyLength = readU32(bytes, 1);
  const left = bytes.length - 5 - keyLength;
  if (kind > 3) return err(`has kind ${kind}, which is not known`);
  if (left < 0) return err(`claims a key of ${keyLength} bytes, and has ${bytes.length - 5}`);
  const key = bytes.subarray(5, 5 + keyLength);
  if (kind === 0) return left === 0 ? ok({ kind, key, slot: null, field: null }) : err(`has ${left} bytes after it`);
  if (left === 0) return err('has no slot');
  const slot = bytes[5 + keyLength]!;
  if (slot > 1) return err(`has slot ${slot}, neither 0 nor 1`);
  return ok({ kind, key, slot, field: bytes.subarray(6 + keyLength) });
}
