/**
 * `ballot`: the leader that a generation was accepted from (format page, "ballot: whom the generation was accepted
 * from").
 *
 * Read strictly, as `replica` is. An empty leader is a value of its own: a generation given up. A leader longer than the
 * limit is reported after the checksum, so that a rotted length is not taken for a long name.
 */

import { invariant } from '../domain/result.js';
import type { SidecarReading } from '../domain/sidecar.js';
import {
  type ByteFeed,
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

/** "FLBL". */
export const BALLOT_MAGIC = 0x464c424c;
/** Format page, "ballot": leader_len is at most this. */
const MAX_LEADER_LENGTH = 1024;
const LEADER_AT = 16;
const CRC_LENGTH = 4;

/** Format page, "ballot: whom the generation was accepted from". */
export const BALLOT_LAYOUT = {
  name: 'ballot',
  title: 'Leader of the accepted generation',
  section: 'ballot: whom the generation was accepted from',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c424c, "FLBL"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    {
      name: 'leader_len',
      at: 6,
      size: 2,
      type: 'u16',
      unit: 'bytes',
      meaning: 'at most 1024; 0 is a generation given up',
    },
    { name: 'generation', at: 8, size: 8, type: 'u64', meaning: 'the generation the leader was accepted at' },
    { name: 'leader', at: 16, size: { field: 'leader_len' }, type: 'utf8', meaning: 'node id' },
    { name: 'crc', size: 4, type: 'crc32', covers: 'bytes 0..16+n', meaning: 'CRC-32 over every byte before it' },
  ],
} as const satisfies Layout;

export interface Ballot {
  readonly generation: bigint;
  /** Node id of the leader; empty when the generation was given up. */
  readonly leader: string;
}

export function encodeBallot({ generation, leader }: Ballot): Uint8Array {
  const name = encodeUtf8(leader);
  invariant(name.length <= MAX_LEADER_LENGTH, 'a leader is at most 1024 bytes');
  const bytes = new Uint8Array(LEADER_AT + name.length + CRC_LENGTH);
  writeU32(bytes, 0, BALLOT_MAGIC);
  writeU16(bytes, 4, KNOWN_VERSION);
  writeU16(bytes, 6, name.length);
  writeU64(bytes, 8, generation);
  bytes.set(name, LEADER_AT);
  writeU32(bytes, LEADER_AT + name.length, crc32(bytes.subarray(0, LEADER_AT + name.length)));
  return bytes;
}

/** Never throws. */
export function decodeBallot(feed: ByteFeed): SidecarReading<Ballot> {
  const preamble = preambleDamage(feed, LEADER_AT + CRC_LENGTH, BALLOT_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const header = feed.view(0, LEADER_AT);
  const leaderLength = readU16(header, 6);
  const generation = readU64(header, 8);
  const crcAt = LEADER_AT + leaderLength;
  if (feed.size < crcAt + CRC_LENGTH) {
    return refused({ generation }, truncated(feed, LEADER_AT, leaderLength + CRC_LENGTH));
  }
  const leader = decodeUtf8(feed.view(LEADER_AT, leaderLength));
  const claimed = leader === null ? { generation } : { generation, leader };
  const damage =
    trailingDamage(feed, crcAt + CRC_LENGTH) ??
    checksumDamage(crcAt, readU32(feed.view(crcAt, CRC_LENGTH), 0), crc32Over(feed, 0, crcAt));
  if (damage !== null) return refused(claimed, damage);
  if (leaderLength > MAX_LEADER_LENGTH) {
    return refused(claimed, fieldDamage(6, 'leader_len', `is ${leaderLength}, and at most ${MAX_LEADER_LENGTH}`));
  }
  if (leader === null) return refused(claimed, fieldDamage(LEADER_AT, 'leader', 'is not UTF-8'));
  return accepted({ generation, leader });
}
