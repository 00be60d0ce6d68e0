/**
 * `registration`: the node incarnation that the control plane gave at the last registration (format page, "storage-id
 * and run-state: the data directory's identity").
 *
 * Two layouts are read, and the value says which one it was.
 */

import type { SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, readU64, writeU64 } from './bytes.js';
import { accepted, refused } from './envelope.js';
import type { Layout } from './layout.js';
import { decodeWord, encodeWord, type WordLayout } from './reserved-word.js';

/** "FLRG". */
export const REGISTRATION_MAGIC = 0x464c5247;
const INCARNATION_LENGTH = 8;
const SECTION = 'storage-id and run-state: the data directory’s identity';

/** With two reserved bytes after the version. */
export const REGISTRATION_PADDED_LAYOUT = {
  name: 'registration',
  title: 'Last registration, with reserved bytes',
  section: SECTION,
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c5247, "FLRG"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'reserved', at: 6, size: 2, type: 'u16', meaning: '0' },
    { name: 'incarnation', at: 8, size: 8, type: 'u64', meaning: 'node incarnation' },
    { name: 'crc', at: 16, size: 4, type: 'crc32', covers: 'bytes 0..16', meaning: 'CRC-32 over bytes 0..16' },
  ],
} as const satisfies Layout;

/** Without them. */
export const REGISTRATION_PACKED_LAYOUT = {
  name: 'registration',
  title: 'Last registration, without reserved bytes',
  section: SECTION,
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c5247, "FLRG"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'incarnation', at: 6, size: 8, type: 'u64', meaning: 'node incarnation' },
    { name: 'crc', at: 14, size: 4, type: 'crc32', covers: 'bytes 0..14', meaning: 'CRC-32 over bytes 0..14' },
  ],
} as const satisfies Layout;

export interface Registration {
  readonly incarnation: bigint;
  readonly layout: WordLayout;
  /** Left out when 0 or when the layout has none. */
  readonly reserved?: number;
}

export function encodeRegistration({ incarnation, layout, reserved = 0 }: Registration): Uint8Array {
  const body = new Uint8Array(INCARNATION_LENGTH);
  writeU64(body, 0, incarnation);
  return encodeWord(REGISTRATION_MAGIC, body, layout, reserved);
}

/** Never throws. */
export function decodeRegistration(feed: ByteFeed): SidecarReading<Registration> {
  const word = decodeWord(feed, REGISTRATION_MAGIC, INCARNATION_LENGTH);
  if (word.body === null) return refused({}, word.damage);
  const { body, layout, reserved, damage } = word;
  const value: Registration = { incarnation: readU64(body, 0), layout, ...(reserved === 0 ? {} : { reserved }) };
  return damage === null ? accepted(value) : refused(value, damage);
}
