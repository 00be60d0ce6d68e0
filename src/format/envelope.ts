/**
 * What all the small files share: a magic, a u16 version of 1, a length that must add up, and a checksum.
 *
 * Holds the wording and the positions of their damage in one place. A position is the first byte of the field that
 * failed. For `SidecarTruncated`, `needed` bytes had to stand at that position and `available` do.
 */

import type { SidecarDamage, SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, readU16, readU32 } from './bytes.js';
import { crc32, crc32c, hex32 } from './checksum.js';

/** The one version that every small file is known to have; any other is reported and never decoded. */
export const KNOWN_VERSION = 1;

/** Bytes looked at in one go, so that the size of a file never becomes a size in memory. */
const CHUNK = 65_536;

/** The first three checks: length of the fixed part, magic, version. Null when all hold. */
export function preambleDamage(feed: ByteFeed, fixedPart: number, magic: number): SidecarDamage | null {
  if (feed.size < fixedPart) return truncated(feed, 0, fixedPart);
  const head = feed.view(0, 6);
  const found = readU32(head, 0);
  const version = readU16(head, 4);
  if (found !== magic) return { kind: 'SidecarMagic', position: 0, expected: hex32(magic), found: hex32(found) };
  if (version !== KNOWN_VERSION) {
    return { kind: 'SidecarVersion', position: 4, known: KNOWN_VERSION, found: version };
  }
  return null;
}

/** `needed` is held to the largest exact integer: a claimed count of u64 maximum asks for more than a number holds. */
export function truncated(feed: ByteFeed, position: number, needed: number): SidecarDamage {
  return {
    kind: 'SidecarTruncated',
    position,
    needed: Math.min(needed, Number.MAX_SAFE_INTEGER),
    available: feed.size - position,
  };
}

/** Bytes after `end`, where the content says that the file ends. */
export function trailingDamage(feed: ByteFeed, end: number): SidecarDamage | null {
  if (feed.size <= end) return null;
  return { kind: 'SidecarTrailingBytes', position: end, extra: feed.size - end };
}

/** `stored` stands at `position`; `computed` is the checksum of the bytes that it covers. */
export function checksumDamage(position: number, stored: number, computed: number): SidecarDamage | null {
  if (stored === computed) return null;
  return { kind: 'SidecarChecksum', position, expected: hex32(stored), found: hex32(computed) };
}

export function fieldDamage(position: number, field: string, problem: string): SidecarDamage {
  return { kind: 'SidecarField', position, field, problem };
}

export function accepted<T>(value: T, damage: readonly SidecarDamage[] = []): SidecarReading<T> {
  return { value, claimed: value, damage };
}

export function refused<T>(claimed: NoInfer<Partial<T>>, ...damage: readonly SidecarDamage[]): SidecarReading<T> {
  return { value: null, claimed, damage };
}

/** CRC-32 of `[start, end)`, a chunk at a time. */
export function crc32Over(feed: ByteFeed, start: number, end: number): number {
  return chunked(feed, start, end, crc32);
}

/** CRC-32C of `[start, end)`, a chunk at a time. */
export function crc32cOver(feed: ByteFeed, start: number, end: number): number {
  return chunked(feed, start, end, crc32c);
}

function chunked(feed: ByteFeed, start: number, end: number, crc: (bytes: Uint8Array, seed: number) => number): number {
  let sum = 0;
  for (let at = start; at < end; at += CHUNK) sum = crc(feed.view(at, Math.min(CHUNK, end - at)), sum);
  return sum;
}

/**
 * The same feed, asked for whole chunks, so that walking through small entries costs one look at the file per chunk.
 * Only a view longer than a chunk goes through as it is. The feed behind it must not be used meanwhile.
 */
export function buffered(feed: ByteFeed): ByteFeed {
  let chunk: Uint8Array = new Uint8Array(0);
  let chunkStart = 0;
  return {
    size: feed.size,
    view(position, length) {
      if (position < chunkStart || position + length > chunkStart + chunk.length) {
        if (length > CHUNK) {
          chunk = new Uint8Array(0);
          return feed.view(position, length);
        }
        chunk = feed.view(position, Math.min(CHUNK, feed.size - position));
        chunkStart = position;
      }
      return chunk.subarray(position - chunkStart, position - chunkStart + length);
    },
  };
}
