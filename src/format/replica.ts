/**
 * `replica`: the highest generation accepted and the commit offset (format page, "replica: the accepted generation and
 * the commit offset").
 *
 * Nothing in the log can rebuild it, so it is read strictly: 28 bytes and not one more. The reserved word is carried
 * along and not judged.
 */

import type { SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, readU16, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
import { crc32 } from './checksum.js';
import { accepted, checksumDamage, KNOWN_VERSION, preambleDamage, refused, trailingDamage } from './envelope.js';
import type { Layout } from './layout.js';

/** "FLRS". */
export const REPLICA_MAGIC = 0x464c5253;
const LENGTH = 28;
const CRC_AT = 24;

/** Format page, "replica: the accepted generation and the commit offset". */
export const REPLICA_LAYOUT = {
  name: 'replica',
  title: 'Accepted generation and commit offset',
  section: 'replica: the accepted generation and the commit offset',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c5253, "FLRS"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'reserved', at: 6, size: 2, type: 'u16', meaning: '0' },
    { name: 'generation', at: 8, size: 8, type: 'u64', meaning: 'highest generation accepted' },
    {
      name: 'commit',
      at: 16,
      size: 8,
      type: 'u64',
      unit: 'offset',
      meaning: 'one past the last record known committed',
    },
    { name: 'crc', at: 24, size: 4, type: 'crc32', covers: 'bytes 0..24', meaning: 'CRC-32 over bytes 0..24' },
  ],
} as const satisfies Layout;

export interface Replica {
  readonly generation: bigint;
  /** One past the last record known committed. */
  readonly commit: bigint;
  /** Left out when 0. */
  readonly reserved?: number;
}

export function encodeReplica({ generation, commit, reserved = 0 }: Replica): Uint8Array {
  const bytes = new Uint8Array(LENGTH);
  writeU32(bytes, 0, REPLICA_MAGIC);
  writeU16(bytes, 4, KNOWN_VERSION);
  writeU16(bytes, 6, reserved);
  writeU64(bytes, 8, generation);
  writeU64(bytes, 16, commit);
  writeU32(bytes, CRC_AT, crc32(bytes.subarray(0, CRC_AT)));
  return bytes;
}

/** Never throws. Bytes past the 28th are `SidecarTrailingBytes`, and there is no value. */
export function decodeReplica(feed: ByteFeed): SidecarReading<Replica> {
  const preamble = preambleDamage(feed, LENGTH, REPLICA_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const bytes = feed.view(0, LENGTH);
  const reserved = readU16(bytes, 6);
  const replica: Replica = {
    generation: readU64(bytes, 8),
    commit: readU64(bytes, 16),
    ...(reserved === 0 ? {} : { reserved }),
  };
  const damage =
    trailingDamage(feed, LENGTH) ?? checksumDamage(CRC_AT, readU32(bytes, CRC_AT), crc32(bytes.subarray(0, CRC_AT)));
  return damage === null ? accepted(replica) : refused(replica, damage);
}
