/**
 * Which of two layouts `storage-id` and `registration` have: the format page gives them in words alone ("a magic, a
 * version, the id, a CRC"), and with or without two reserved bytes after the version both fit.
 *
 * The length decides, and the checksum when the length fits neither or both: never the content of the reserved bytes.
 */

import type { SidecarDamage } from '../domain/sidecar.js';
import { type ByteFeed, readU16, readU32, writeU16, writeU32 } from './bytes.js';
import { crc32 } from './checksum.js';
import { checksumDamage, KNOWN_VERSION, preambleDamage, trailingDamage, truncated } from './envelope.js';

/** `padded`: two reserved bytes after the version. `packed`: none. */
export type WordLayout = 'padded' | 'packed';

export type WordReading =
  /** Damage in front of the content. */
  | { readonly body: null; readonly damage: SidecarDamage }
  | {
      /** What stands between version (or reserved word) and checksum; valid until the feed is used again. */
      readonly body: Uint8Array;
      readonly layout: WordLayout;
      /** 0 when the layout has none. */
      readonly reserved: number;
      readonly damage: SidecarDamage | null;
    };

const VERSION_END = 6;
const CRC_LENGTH = 4;

/** Takes a file apart whose content is `bodyLength` bytes. Never throws. */
export function decodeWord(feed: ByteFeed, magic: number, bodyLength: number): WordReading {
  const packedLength = lengthOf('packed', bodyLength);
  const paddedLength = lengthOf('padded', bodyLength);
  const preamble = preambleDamage(feed, packedLength, magic);
  if (preamble !== null) return { body: null, damage: preamble };
  const bytes = feed.view(0, Math.min(feed.size, paddedLength));
  const packedHolds = checksumHolds(bytes, packedLength);
  if (bytes.length > packedLength && bytes.length < paddedLength && !packedHolds) {
    return { body: null, damage: truncated(feed, 0, paddedLength) };
  }
  const packed = bytes.length < paddedLength || (packedHolds && !checksumHolds(bytes, paddedLength));
  const layout = packed ? 'packed' : 'padded';
  const end = lengthOf(layout, bodyLength);
  const crcAt = end - CRC_LENGTH;
  return {
    layout,
    body: bytes.subarray(crcAt - bodyLength, crcAt),
    reserved: packed ? 0 : readU16(bytes, VERSION_END),
    damage: trailingDamage(feed, end) ?? checksumDamage(crcAt, readU32(bytes, crcAt), crc32(bytes.subarray(0, crcAt))),
  };
}

export function encodeWord(magic: number, body: Uint8Array, layout: WordLayout, reserved: number): Uint8Array {
  const bytes = new Uint8Array(lengthOf(layout, body.length));
  const crcAt = bytes.length - CRC_LENGTH;
  writeU32(bytes, 0, magic);
  writeU16(bytes, 4, KNOWN_VERSION);
  if (layout === 'padded') writeU16(bytes, VERSION_END, reserved);
  bytes.set(body, crcAt - body.length);
  writeU32(bytes, crcAt, crc32(bytes.subarray(0, crcAt)));
  return bytes;
}

function lengthOf(layout: WordLayout, bodyLength: number): number {
  return VERSION_END + (layout === 'padded' ? 2 : 0) + bodyLength + CRC_LENGTH;
}

function checksumHolds(bytes: Uint8Array, length: number): boolean {
  const crcAt = length - CRC_LENGTH;
  return readU32(bytes, crcAt) === crc32(bytes.subarray(0, crcAt));
}
