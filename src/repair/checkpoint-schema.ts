/**
 * The shape of a remembered segment as it is taken from disk, strict in every field.
 *
 * Importing this loads zod: import it only where a checkpoint is read. In the file u64 values are decimal strings.
 */

import * as z from 'zod';
import type { RememberedSegment } from '../domain/checkpoint.js';
import { U64_MAX } from '../domain/units.js';

const u64 = z
  .string()
  .regex(/^[0-9]{1,20}$/)
  .transform((digits) => BigInt(digits))
  .refine((value) => value <= U64_MAX, 'it has more than 64 bits');
/** One past the last offset of all is a place too. */
const next = z
  .string()
  .regex(/^[0-9]{1,20}$/)
  .transform((digits) => BigInt(digits))
  .refine((value) => value <= U64_MAX + 1n, 'it has more than 64 bits');
const time = z
  .string()
  .regex(/^-?[0-9]{1,30}$/)
  .transform((digits) => BigInt(digits));
const count = z.number().int().nonnegative();

const identity = z.strictObject({ device: time, inode: time, size: count, mtimeNs: time });
const run = z.strictObject({ offset: u64, position: count, count });
const batch = z.strictObject({ producer: u64, sequence: u64, len: count, offset: u64, position: count, held: count });
const start = z.strictObject({ offset: u64, position: count, payloadLen: count, generation: u64.nullable() });
const event = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('abandoned'), batch, order: count }),
  z.strictObject({ event: z.literal('orphan'), run, order: count }),
]);

export const REMEMBERED: z.ZodType<RememberedSegment> = z.strictObject({
  verifiedAtMicros: u64,
  log: identity,
  index: identity.nullable(),
  header: z.string().regex(/^[0-9a-f]{64}$/),
  records: z.strictObject({
    records: count,
    nextOffset: next.nullable(),
    firstOffset: u64.nullable(),
    lastOffset: u64.nullable(),
    firstTimestampMicros: u64.nullable(),
    lastTimestampMicros: u64.nullable(),
    markHolds: z.boolean(),
    checkedEntries: count,
    generationStarts: z.array(start),
    zeroTimestamps: run.nullable(),
    batches: z.strictObject({
      leading: run.nullable(),
      first: z.literal('record').nullable(),
      events: z.array(event),
      open: batch.nullable(),
      orphan: run.nullable(),
    }),
  }),
  sums: z.array(z.strictObject({ size: count, crc32: count })),
});
