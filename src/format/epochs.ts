/**
 * `epochs`: where each leadership generation began (format page, "epochs: the generation history").
 *
 * The counted entries are taken whole or not at all: a half-read history would be a confident wrong answer. Bytes after
 * them are damage beside a value, as readers ignore them. Whether generations ascend is for the checks to say.
 */

import { invariant } from '../domain/result.js';
import type { SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, readU16, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
import { crc32 } from './checksum.js';
import {
  accepted,
  buffered,
  checksumDamage,
  crc32Over,
  KNOWN_VERSION,
  preambleDamage,
  refused,
  trailingDamage,
  truncated,
} from './envelope.js';
import type { Layout } from './layout.js';

/** "FLEP". */
export const EPOCHS_MAGIC = 0x464c4550;
const HEADER_LENGTH = 12;
const ENTRY_LENGTH = 16;
const MAX_COUNT = 0xffff;

/** Format page, "epochs: the generation history". */
export const EPOCHS_LAYOUT = {
  name: 'epochs',
  title: 'Generation history',
  section: 'epochs: the generation history',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c4550, "FLEP"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'count', at: 6, size: 2, type: 'u16', unit: 'entries', meaning: 'entries following' },
    { name: 'body_crc', at: 8, size: 4, type: 'crc32', covers: 'the entries', meaning: 'CRC-32 over the entries' },
    {
      repeat: 'entries',
      count: { field: 'count' },
      items: [
        { name: 'generation', at: 0, size: 8, type: 'u64', meaning: 'the generation that begins' },
        { name: 'start_offset', at: 8, size: 8, type: 'u64', unit: 'offset', meaning: 'its first offset' },
      ],
    },
  ],
} as const satisfies Layout;

export interface EpochEntry {
  readonly generation: bigint;
  readonly startOffset: bigint;
}

export interface Epochs {
  /** In file order; 65,535 at most, as the count is a u16. */
  readonly entries: readonly EpochEntry[];
}

export function encodeEpochs({ entries }: Epochs): Uint8Array {
  invariant(entries.length <= MAX_COUNT, 'the count of epochs fits a u16');
  const bytes = new Uint8Array(HEADER_LENGTH + entries.length * ENTRY_LENGTH);
  writeU32(bytes, 0, EPOCHS_MAGIC);
  writeU16(bytes, 4, KNOWN_VERSION);
  writeU16(bytes, 6, entries.length);
  entries.forEach(({ generation, startOffset }, index) => {
    writeU64(bytes, HEADER_LENGTH + index * ENTRY_LENGTH, generation);
    writeU64(bytes, HEADER_LENGTH + index * ENTRY_LENGTH + 8, startOffset);
  });
  writeU32(bytes, 8, crc32(bytes.subarray(HEADER_LENGTH)));
  return bytes;
}

/** Never throws. Trailing bytes come beside the value, and after a wrong checksum, which a reader meets first. */
export function decodeEpochs(feed: ByteFeed): SidecarReading<Epochs> {
  const preamble = preambleDamage(feed, HEADER_LENGTH, EPOCHS_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const header = feed.view(0, HEADER_LENGTH);
  const count = readU16(header, 6);
  const stored = readU32(header, 8);
  const end = HEADER_LENGTH + count * ENTRY_LENGTH;
  const present = Math.min(count, Math.floor((feed.size - HEADER_LENGTH) / ENTRY_LENGTH));
  const epochs: Epochs = { entries: readEntries(buffered(feed), present) };
  if (feed.size < end) return refused(epochs, truncated(feed, HEADER_LENGTH, count * ENTRY_LENGTH));
  const trailing = trailingDamage(feed, end);
  const beside = trailing === null ? [] : [trailing];
  const checksum = checksumDamage(8, stored, crc32Over(feed, HEADER_LENGTH, end));
  if (checksum !== null) return refused(epochs, checksum, ...beside);
  return accepted(epochs, beside);
}

function readEntries(feed: ByteFeed, count: number): EpochEntry[] {
  const entries: EpochEntry[] = [];
  for (let index = 0; index < count; index++) {
    const entry = feed.view(HEADER_LENGTH + index * ENTRY_LENGTH, ENTRY_LENGTH);
    entries.push({ generation: readU64(entry, 0), startOffset: readU64(entry, 8) });
  }
  return entries;
}
