/**
 * `producers`: each idempotent producer's place in the log, saved at a rollover (format page, "producers: the producer
 * snapshot").
 *
 * A snapshot within the limits of the page (4096 producers, 64 batches each) is kept whole; one that claims more is
 * walked to its end, so that a checksum is never taken for a limit, and then refused. What the state means for the log is
 * for the checks. The reserved word is carried along and not judged.
 */

import { invariant } from '../domain/result.js';
import type { SidecarDamage, SidecarReading } from '../domain/sidecar.js';
import { type ByteFeed, concatBytes, readU16, readU32, readU64, writeU16, writeU32, writeU64 } from './bytes.js';
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

/** "FLPS". */
export const PRODUCERS_MAGIC = 0x464c5053;
/** Format page, "producers": past this many the one whose newest batch is oldest is forgotten. */
export const MAX_PRODUCERS = 4096;
/** Format page, "producers": the batches remembered of one producer. */
export const MAX_BATCHES = 64;
const HEADER_LENGTH = 24;
const OPEN_LENGTH = 32;
const PRODUCER_HEAD_LENGTH = 18;
const BATCH_LENGTH = 12;

/** Format page, "producers: the producer snapshot". */
export const PRODUCERS_LAYOUT = {
  name: 'producers',
  title: 'Producer snapshot',
  section: 'producers: the producer snapshot',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: '0x464c5053, "FLPS"' },
    { name: 'version', at: 4, size: 2, type: 'u16', meaning: '1' },
    { name: 'reserved', at: 6, size: 2, type: 'u16', meaning: '0' },
    {
      name: 'as_of',
      at: 8,
      size: 8,
      type: 'u64',
      unit: 'offset',
      meaning: 'the state covers every record below this offset',
    },
    { name: 'producers', at: 16, size: 4, type: 'u32', unit: 'entries', meaning: 'producers that follow' },
    { name: 'body_crc', at: 20, size: 4, type: 'crc32', covers: 'what follows', meaning: 'CRC-32 over what follows' },
    { name: 'open', at: 24, size: 1, type: 'u8', meaning: '1 when a batch is waiting for records' },
    {
      when: { field: 'open', equals: 1 },
      items: [
        { name: 'open.producer_id', size: 8, type: 'u64', meaning: 'producer of the waiting batch' },
        { name: 'open.sequence', size: 8, type: 'u64', meaning: 'its sequence' },
        { name: 'open.len', size: 4, type: 'u32', unit: 'records', meaning: 'how many records it has' },
        { name: 'open.first', size: 8, type: 'u64', unit: 'offset', meaning: 'offset of its first record' },
        { name: 'open.held', size: 4, type: 'u32', unit: 'records', meaning: 'how many of them are held' },
      ],
    },
    {
      repeat: 'producers',
      count: { field: 'producers' },
      items: [
        { name: 'id', at: 0, size: 8, type: 'u64', meaning: 'producer id' },
        { name: 'last_sequence', at: 8, size: 8, type: 'u64', meaning: 'newest sequence held' },
        { name: 'batches', at: 16, size: 2, type: 'u16', unit: 'entries', meaning: 'batches that follow, at most 64' },
        {
          repeat: 'batches',
          count: { field: 'batches' },
          items: [
            { name: 'first', at: 0, size: 8, type: 'u64', unit: 'offset', meaning: 'offset of its first record' },
            { name: 'len', at: 8, size: 4, type: 'u32', unit: 'records', meaning: 'how many records it has' },
          ],
        },
      ],
    },
  ],
} as const satisfies Layout;

export interface ProducerBatch {
  /** Offset of the first record. */
  readonly first: bigint;
  /** Records in the batch. */
  readonly len: number;
}

/** A batch still waiting for records. */
export interface OpenBatch extends ProducerBatch {
  readonly producerId: bigint;
  readonly sequence: bigint;
  /** Records of it that are in the log; the next one continues it at `first + held`. */
  readonly held: number;
}

export interface ProducerState {
  readonly id: bigint;
  /** Sequence of the last of `batches`; each one before it is one less. */
  readonly lastSequence: bigint;
  readonly batches: readonly ProducerBatch[];
}

export interface Producers {
  /** The state covers every record below this offset. */
  readonly asOf: bigint;
  readonly open: OpenBatch | null;
  readonly producers: readonly ProducerState[];
  /** Left out when 0. */
  readonly reserved?: number;
}

export function encodeProducers({ asOf, open, producers, reserved = 0 }: Producers): Uint8Array {
  invariant(producers.length <= MAX_PRODUCERS, 'a snapshot holds at most 4096 producers');
  const header = new Uint8Array(HEADER_LENGTH);
  writeU32(header, 0, PRODUCERS_MAGIC);
  writeU16(header, 4, KNOWN_VERSION);
  writeU16(header, 6, reserved);
  writeU64(header, 8, asOf);
  writeU32(header, 16, producers.length);
  const body = concatBytes([encodeOpen(open), ...producers.map(encodeProducer)]);
  writeU32(header, 20, crc32(body));
  return concatBytes([header, body]);
}

function encodeOpen(open: OpenBatch | null): Uint8Array {
  if (open === null) return new Uint8Array(1);
  const bytes = new Uint8Array(1 + OPEN_LENGTH);
  bytes[0] = 1;
  writeU64(bytes, 1, open.producerId);
  writeU64(bytes, 9, open.sequence);
  writeU32(bytes, 17, open.len);
  writeU64(bytes, 21, open.first);
  writeU32(bytes, 29, open.held);
  return bytes;
}

function encodeProducer({ id, lastSequence, batches }: ProducerState): Uint8Array {
  invariant(batches.length <= MAX_BATCHES, 'a producer has at most 64 batches');
  const bytes = new Uint8Array(PRODUCER_HEAD_LENGTH + batches.length * BATCH_LENGTH);
  writeU64(bytes, 0, id);
  writeU64(bytes, 8, lastSequence);
  writeU16(bytes, 16, batches.length);
  batches.forEach(({ first, len }, index) => {
    writeU64(bytes, PRODUCER_HEAD_LENGTH + index * BATCH_LENGTH, first);
    writeU32(bytes, PRODUCER_HEAD_LENGTH + index * BATCH_LENGTH + 8, len);
  });
  return bytes;
}

/**
 * Never throws. An `open` byte other than 0 and 1 leaves the length of the file unknown: then the checksum over all that
 * follows the header is tried first, and only a right one makes it a damaged field.
 */
export function decodeProducers(feed: ByteFeed): SidecarReading<Producers> {
  const preamble = preambleDamage(feed, HEADER_LENGTH + 1, PRODUCERS_MAGIC);
  if (preamble !== null) return refused({}, preamble);
  const header = feed.view(0, HEADER_LENGTH + 1);
  const reserved = readU16(header, 6);
  const count = readU32(header, 16);
  const stored = readU32(header, 20);
  const open = header[HEADER_LENGTH]!;
  const facts = { asOf: readU64(header, 8), ...(reserved === 0 ? {} : { reserved }) };
  const checksum = (end: number): SidecarDamage | null =>
    checksumDamage(20, stored, crc32Over(feed, HEADER_LENGTH, end));
  if (open > 1) {
    const field = fieldDamage(HEADER_LENGTH, 'open', `is ${open}, neither 0 nor 1`);
    return refused(facts, checksum(feed.size) ?? field);
  }
  const start = HEADER_LENGTH + 1 + (open === 1 ? OPEN_LENGTH : 0);
  const needed = count * PRODUCER_HEAD_LENGTH;
  if (start + needed > feed.size) {
    return refused(facts, truncated(feed, HEADER_LENGTH + 1, start - HEADER_LENGTH - 1 + needed));
  }
  const batch = open === 1 ? readOpen(feed.view(HEADER_LENGTH + 1, OPEN_LENGTH)) : null;
  const walk = walkProducers(feed, start, count);
  const producers: Producers = { ...facts, open: batch, producers: walk.kept };
  if (walk.needed > 0) return refused(producers, truncated(feed, walk.end, walk.needed));
  const damage = trailingDamage(feed, walk.end) ?? checksum(walk.end) ?? limitDamage(count, walk.tooManyBatches);
  return damage === null ? accepted(producers) : refused(producers, damage);
}

function limitDamage(count: number, tooManyBatches: TooManyBatches | null): SidecarDamage | null {
  if (count > MAX_PRODUCERS) return fieldDamage(16, 'producers', `is ${count}, and at most ${MAX_PRODUCERS}`);
  if (tooManyBatches === null) return null;
  const { position, batches } = tooManyBatches;
  return fieldDamage(position, 'batches', `is ${batches}, and at most ${MAX_BATCHES}`);
}

function readOpen(bytes: Uint8Array): OpenBatch {
  return {
    producerId: readU64(bytes, 0),
    sequence: readU64(bytes, 8),
    len: readU32(bytes, 16),
    first: readU64(bytes, 20),
    held: readU32(bytes, 28),
  };
}

interface TooManyBatches {
  readonly position: number;
  readonly batches: number;
}

interface Walk {
  /** At most 4096 producers with at most 64 batches each. */
  readonly kept: ProducerState[];
  /** After the last whole producer. */
  readonly end: number;
  /** When the producer at `end` is not whole, the bytes that it needs; else 0. */
  readonly needed: number;
  readonly tooManyBatches: TooManyBatches | null;
}

function walkProducers(source: ByteFeed, start: number, count: number): Walk {
  const feed = buffered(source);
  const kept: ProducerState[] = [];
  let tooManyBatches: TooManyBatches | null = null;
  let position = start;
  for (let index = 0; index < count; index++) {
    const available = feed.size - position;
    if (available < PRODUCER_HEAD_LENGTH) return { kept, end: position, needed: PRODUCER_HEAD_LENGTH, tooManyBatches };
    const head = feed.view(position, PRODUCER_HEAD_LENGTH);
    const batches = readU16(head, 16);
    const needed = PRODUCER_HEAD_LENGTH + batches * BATCH_LENGTH;
    if (available < needed) return { kept, end: position, needed, tooManyBatches };
    if (batches > MAX_BATCHES) tooManyBatches ??= { position: position + 16, batches };
    if (index < MAX_PRODUCERS) {
      const state = { id: readU64(head, 0), lastSequence: readU64(head, 8) };
      kept.push({
        ...state,
        batches: readBatches(feed, position + PRODUCER_HEAD_LENGTH, Math.min(batches, MAX_BATCHES)),
      });
    }
    position += needed;
  }
  return { kept, end: position, needed: 0, tooManyBatches };
}

function readBatches(feed: ByteFeed, start: number, count: number): ProducerBatch[] {
  const bytes = feed.view(start, count * BATCH_LENGTH);
  return Array.from({ length: count }, (_, index) => ({
    first: readU64(bytes, index * BATCH_LENGTH),
    len: readU32(bytes, index * BATCH_LENGTH + 8),
  }));
}
