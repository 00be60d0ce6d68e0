/**
 * `storage-id`: the identity of a data directory, 16 random bytes (format page, "storage-id and run-state: the data
 * directory's identity").
 *
 * Two layouts are read, and the value says which one it was.
 */

import { invariant } from '../domain/result.js';
import type { SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, bytesOfHex, hexOf } from './bytes.js';
import { accepted, refused } from './envelope.js';
import type { Layout } from './layout.js';
import { decodeWord, encodeWord, type WordLayout } from './reserved-word.js';

/** "FLID". */
export const STORAGE_ID_MAGIC = 0x464c4944;
const ID_LENGTH = 16;
const SECTION = 'storage-id and run-state: the data directory’s identity';

/** With two reserved bytes after the version. */
export const STORAGE_ID_PADDED_LAYOUT = {
  name: 'storage-id',
  title: 'Identity of the data directory, with reserved bytes',
  section: SECTION,
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c4944, "FLID"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'reserved', at: 6, size: 2, type: 'u16', meaning: '0' },
    { name: 'id', at: 8, size: 16, type: 'bytes', meaning: 'random bytes' },
    { name: 'crc', at: 24, size: 4, type: 'crc32', covers: 'bytes 0..24', meaning: 'CRC-32 over bytes 0..24' },
  ],
} as const satisfies Layout;

/** Without them. */
export const STORAGE_ID_PACKED_LAYOUT = {
  name: 'storage-id',
  title: 'Identity of the data directory, without reserved bytes',
  section: SECTION,
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c4944, "FLID"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'id', at: 6, size: 16, type: 'bytes', meaning: 'random bytes' },
    { name: 'crc', at: 22, size: 4, type: 'crc32', covers: 'bytes 0..22', meaning: 'CRC-32 over bytes 0..22' },
  ],
} as const satisfies Layout;

export interface StorageId {
  /** 32 lower-case hex digits. */
  readonly id: string;
  readonly layout: WordLayout;
  /** Left out when 0 or when the layout has none. */
  readonly reserved?: number;
}

export function encodeStorageId({ id, layout, reserved = 0 }: StorageId): Uint8Array {
  const body = bytesOfHex(id);
  invariant(body.length === ID_LENGTH, 'a storage id is 16 bytes');
  return encodeWord(STORAGE_ID_MAGIC, body, layout, reserved);
}

/** Never throws. */
export function decodeStorageId(feed: ByteFeed): SidecarReading<StorageId> {
  const word = decodeWord(feed, STORAGE_ID_MAGIC, ID_LENGTH);
  if (word.body === null) return refused({}, word.damage);
  const { body, layout, reserved, damage } = word;
  const value: StorageId = { id: hexOf(body), layout, ...(reserved === 0 ? {} : { reserved }) };
  return damage === null ? accepted(value) : refused(value, damage);
}
