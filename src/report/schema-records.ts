/**
 * The outputs of `dump-records` and `locate` as schemas ("felix-fsck.dump-records/1", "felix-fsck.locate/1").
 */

import * as z from 'zod';
import type { BatchPlace, RecordKindName } from '../domain/record-view.js';
import { byteRange, count, hex32, type Json, kind, offsetRange, schemaId, tool, u64 } from './schema-values.js';

const text = z.string();
const optional = z.exactOptional;
const KINDS = ['plain', 'opens', 'continues', 'generation-start'] as const satisfies readonly RecordKindName[];

const recordKind = z.enum(KINDS);
const batch = z
  .looseObject({ producer: u64, sequence: u64, index: count, length: count })
  .meta({ id: 'batch' }) satisfies z.ZodType<Json<BatchPlace>>;

const decoded = z.discriminatedUnion('as', [
  z.looseObject({
    as: z.literal('cache'),
    op: z.enum(['put', 'delete']),
    expiresAtMillis: u64.nullable(),
    key: text.nullable(),
    keyBytes: count,
    valueBytes: count,
  }),
  z.looseObject({
    as: z.literal('counter'),
    op: z.enum(['delta', 'checkpoint']),
    value: z
      .string()
      .regex(/^-?[0-9]{1,19}$/)
      .nullable(),
    key: text.nullable(),
    keyBytes: count,
  }),
  z.looseObject({ as: z.literal('undecodable'), why: text }),
]);

/** Payload and text are there when the payload is shown, its CRC-32 when that alone is. */
const record = z
  .looseObject({
    type: z.literal('record'),
    shard: text,
    segment: u64,
    position: count,
    offset: u64,
    timestampMicros: u64,
    kind: recordKind,
    batch: batch.nullable(),
    generation: optional(u64.nullable()),
    bytes: count,
    decoded: optional(decoded),
    checksum: hex32,
    payload: optional(z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)),
    text: optional(text.nullable()),
    payloadCrc: optional(hex32),
    incomplete: optional(z.literal(true)),
  })
  .meta({ id: 'record' });

const damageRow = z
  .looseObject({
    type: z.literal('damage'),
    shard: text,
    segment: u64,
    kind,
    file: text,
    path: text,
    position: count,
    damagedRange: byteRange.nullable(),
    lostOffsets: offsetRange.nullable(),
    detail: z.looseObject({}),
    message: text,
  })
  .meta({ id: 'damageRow' });

const missing = z
  .looseObject({
    type: z.literal('missing'),
    offsets: z.looseObject({ from: u64, to: u64.nullable() }),
    where: z.enum(['trimmed', 'hole', 'offloaded', 'past-tail', 'other-file']),
    objects: z.array(text),
    objectCount: count,
    message: text,
  })
  .meta({ id: 'missingRow' });

const counts = { shards: count, records: count, damaged: count, unreadable: count, missing: count, exitCode: count };
const head = { schema: schemaId('felix-fsck.dump-records/1'), tool };

export const dumpDocument = z.looseObject({
  ...head,
  rows: z.array(z.discriminatedUnion('type', [record, damageRow, missing])),
  partial: z.boolean(),
  summary: z.looseObject(counts),
});

/** A line of NDJSON: a row, and the summary as the last one. */
export const dumpLine = z.discriminatedUnion('type', [
  record,
  damageRow,
  missing,
  z.looseObject({ type: z.literal('summary'), ...head, partial: z.boolean(), ...counts }),
]);

const located = z
  .looseObject({
    segment: u64,
    file: text,
    position: count,
    end: count,
    offset: u64,
    timestampMicros: u64,
    kind: recordKind,
    batch: batch.nullable(),
    bytes: count,
    checksum: hex32,
  })
  .meta({ id: 'locatedRecord' });

const entry = { entry: count, offset: u64, position: u64 };

const indexUse = z.looseObject({
  file: text.nullable(),
  entry: z.looseObject(entry).nullable(),
  refused: z.array(z.looseObject({ ...entry, why: text })),
  unusable: text.nullable(),
  position: count,
  steppedOver: count,
});

const locatedDamage = z.looseObject({
  kind,
  segment: u64,
  file: text,
  path: text,
  position: count,
  damagedRange: byteRange.nullable(),
  lostOffsets: offsetRange.nullable(),
  message: text,
});

const timeWalk = z.looseObject({
  records: count,
  descent: z.looseObject({ offset: u64, timestampMicros: u64, previousMicros: u64 }).nullable(),
  latestMicros: u64.nullable(),
});

/** A document; the one line of NDJSON has `"type": "location"` besides. */
export const locateDocument = z.looseObject({
  type: optional(z.literal('location')),
  schema: schemaId('felix-fsck.locate/1'),
  tool,
  path: text,
  name: text,
  shard: text,
  asked: z.looseObject({ offset: optional(u64), timeMicros: optional(u64) }),
  state: z.enum(['here', 'lost', 'unreadable', 'trimmed', 'hole', 'offloaded', 'past-tail', 'unknown']),
  message: text,
  records: z.array(located),
  index: indexUse.nullable(),
  before: located.nullable(),
  after: located.nullable(),
  damage: locatedDamage.nullable(),
  object: z.looseObject({ key: text, segmentId: u64, baseOffset: u64, lastOffset: u64 }).nullable(),
  baseOffset: u64.nullable(),
  tailOffset: u64.nullable(),
  time: timeWalk.nullable(),
  notes: z.array(text),
  exitCode: count,
});
