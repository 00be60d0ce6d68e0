/**
 * `run-state`: whether the last run stopped cleanly (format page, "storage-id and run-state: the data directory's
 * identity").
 *
 * 28 bytes, read strictly: a state other than the two, or a flag bit that the page does not name, is a damaged field,
 * since what it would change is unknown.
 */

import { invariant } from '../domain/result.js';
import type { SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, bytesOfHex, hexOf, readU32, writeU16, writeU32 } from './bytes.js';
import { crc32 } from './checksum.js';
import {
  accepted,
  checksumDamage,
  fieldDamage,
  KNOWN_VERSION,
  preambleDamage,
  refused,
  trailingDamage,
} from './envelope.js';
import type { Layout } from './layout.js';

/** "FLRN". */
export const RUN_STATE_MAGIC = 0x464c524e;
const LENGTH = 28;
const STATE_AT = 6;
const FLAGS_AT = 7;
const ID_AT = 8;
const CRC_AT = 24;
const RUNNING = 1;
const STOPPED = 2;
const ACKNOWLEDGES_BEFORE_SYNC = 1;

/** Format page, "storage-id and run-state: the data directory's identity". */
export const RUN_STATE_LAYOUT = {
  name: 'run-state',
  title: 'Whether the last run stopped cleanly',
  section: 'storage-id and run-state: the data directory’s identity',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c524e, "FLRN"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'state', at: 6, size: 1, type: 'u8', meaning: '1 running, 2 stopped cleanly' },
    {
      name: 'flags',
      at: 7,
      size: 1,
      type: 'u8',
      meaning: 'bit 0 is the only one known',
      bits: [
        {
          name: 'acknowledges_before_sync',
          mask: 1,
          meaning: 'the run acknowledges before syncing (periodic or none)',
        },
      ],
    },
    { name: 'id', at: 8, size: 16, type: 'bytes', meaning: 'the storage id the run started under' },
    { name: 'crc', at: 24, size: 4, type: 'crc32', covers: 'bytes 0..24', meaning: 'CRC-32 over bytes 0..24' },
  ],
} as const satisfies Layout;

export interface RunState {
  readonly state: 'running' | 'stopped';
  /** Flag bit 0: a crash may have lost records that were acknowledged. */
  readonly acknowledgesBeforeSync: boolean;
  /** The storage id that the run started under: 32 lower-case hex digits. */
  readonly id: string;
}

export function encodeRunState({ state, acknowledgesBeforeSync, id }: RunState): Uint8Array {
  const idBytes = bytesOfHex(id);
  invariant(idBytes.length === CRC_AT - ID_AT, 'a storage id is 16 bytes');
  const bytes = new Uint8Array(LENGTH);
  writeU32(bytes, 0, RUN_STATE_MAGIC);
  writeU16(bytes, 4, KNOWN_VERSION);
  bytes[STATE_AT] = state === 'running' ? RUNNING : STOPPED;
  bytes[FLAGS_AT] = acknowledgesBeforeSync ? ACKNOWLEDGES_BEFORE_SYNC : 0;
  bytes.set(idBytes, ID_AT);
  writeU32(bytes, CRC_AT, crc32(bytes.subarray(0, CRC_AT)));
  return bytes;
}

/** Never throws. */
export function decodeRunState(feed: ByteFeed): SidecarReading<RunState> {
  const preamble = preambleDamage(feed, LENGTH, RUN_STATE_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const bytes = feed.view(0, LENGTH);
  const state = bytes[STATE_AT]!;
  const flags = bytes[FLAGS_AT]!;
  const rest = {
    acknowledgesBeforeSync: (flags & ACKNOWLEDGES_BEFORE_SYNC) !== 0,
    id: hexOf(bytes.subarray(ID_AT, CRC_AT)),
  };
  const known = state === RUNNING ? 'running' : state === STOPPED ? 'stopped' : null;
  const claimed: Partial<RunState> = known === null ? rest : { state: known, ...rest };
  const damage =
    trailingDamage(feed, LENGTH) ?? checksumDamage(CRC_AT, readU32(bytes, CRC_AT), crc32(bytes.subarray(0, CRC_AT)));
  if (damage !== null) return refused(claimed, damage);
  if (known === null) {
    return refused(claimed, fieldDamage(STATE_AT, 'state', `is ${state}, neither 1 (running) nor 2 (stopped)`));
  }
  if ((flags & ~ACKNOWLEDGES_BEFORE_SYNC) !== 0) {
    return refused(
      claimed,
      fieldDamage(FLAGS_AT, 'flags', `has bits that are not known: 0x${flags.toString(16).padStart(2, '0')}`),
    );
  }
  return accepted({ state: known, ...rest });
}
