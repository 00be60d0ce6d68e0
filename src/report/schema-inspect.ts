/**
 * The outputs of `inspect` and `hexdump` as schemas ("felix-fsck.inspect/1", "felix-fsck.hexdump/1").
 */

import * as z from 'zod';
import type {
  FactUnit,
  FileInspection,
  InspectedState,
  RootInspection,
  ShardInspection,
} from '../domain/inspection.js';
import { byteRange, count, type Json, kind, schemaId, severity, tool, u64 } from './schema-values.js';

const text = z.string();
const FACT_UNITS = [
  'bytes',
  'records',
  'entries',
  'offset',
  'microseconds',
  'milliseconds',
] as const satisfies readonly FactUnit[];
const STATES = ['sound', 'damaged', 'unreadable', 'not verified'] as const satisfies readonly InspectedState[];

const state = z.enum(STATES);
const unit = z.enum(FACT_UNITS);
const fact = z
  .looseObject({
    name: text,
    value: z.json(),
    unit: unit.nullable(),
    meaning: text.nullable(),
    units: z.exactOptional(z.record(text, unit)),
  })
  .meta({ id: 'fact' });
const damage = z
  .looseObject({ kind, severity, file: text.nullable(), position: count.nullable(), message: text })
  .meta({ id: 'inspectedDamage' });
const sidecar = z.looseObject({ file: text, bytes: count, state, facts: z.array(fact) }).meta({ id: 'sidecar' });

const file = z.looseObject({
  type: z.literal('file'),
  path: text,
  identity: z.looseObject({ kind: text, description: text }),
  size: count,
  state,
  facts: z.array(fact),
  damage: z.array(damage),
  notVerified: z.array(text),
}) satisfies z.ZodType<Json<FileInspection>>;

const segment = z
  .looseObject({
    id: u64,
    file: text,
    bytes: count,
    version: count.nullable(),
    baseOffset: u64.nullable(),
    nextOffset: u64.nullable(),
    records: count.nullable(),
    createdAtMicros: u64.nullable(),
    firstTimestampMicros: u64.nullable(),
    lastTimestampMicros: u64.nullable(),
    verifiedFrom: count.nullable(),
    index: z.looseObject({ file: text, bytes: count, entries: count }).nullable(),
  })
  .meta({ id: 'inspectedSegment' });

const shard = z.looseObject({
  type: z.literal('shard'),
  path: text,
  name: text,
  key: text.nullable(),
  incarnation: text.nullable(),
  baseOffset: u64.nullable(),
  nextOffset: u64.nullable(),
  firstTimestampMicros: u64.nullable(),
  lastTimestampMicros: u64.nullable(),
  bytes: count,
  full: z.boolean(),
  segments: z.array(segment),
  sidecars: z.array(sidecar),
  strangers: z.array(z.looseObject({ file: text, bytes: count, description: text })),
  damage: z.array(damage),
  notVerified: z.array(text),
}) satisfies z.ZodType<Json<ShardInspection>>;

const listedShard = z.looseObject({
  path: text,
  name: text,
  key: text.nullable(),
  segments: count,
  bytes: count,
  baseOffset: u64.nullable(),
  nextOffset: u64.nullable(),
  lastTimestampMicros: u64.nullable(),
  damage: count,
});

const root = z.looseObject({
  type: z.literal('root'),
  path: text,
  storageId: text.nullable(),
  runState: z.looseObject({ state: text, acknowledgesBeforeSync: z.boolean(), id: text }).nullable(),
  registration: u64.nullable(),
  nodeId: text.nullable(),
  layouts: z.record(text, text),
  streams: z.array(z.looseObject({ name: text, text })),
  deleted: z.array(text),
  shards: z.array(listedShard),
  sidecars: z.array(sidecar),
  damage: z.array(damage),
  notVerified: z.array(text),
}) satisfies z.ZodType<Json<RootInspection>>;

const head = { schema: schemaId('felix-fsck.inspect/1'), tool, partial: z.boolean() };

export const inspectDocument = z.looseObject({
  ...head,
  inspected: z.array(z.discriminatedUnion('type', [file, shard, root])),
});

/** A line of NDJSON: a thing inspected, and the summary as the last one. */
export const inspectLine = z.discriminatedUnion('type', [
  file,
  shard,
  root,
  z.looseObject({ type: z.literal('summary'), ...head, inspected: count }),
]);

const field = z.looseObject({
  name: text,
  from: count,
  to: count,
  type: text,
  value: z.union([text, z.number()]).nullable(),
  meaning: text,
  partial: z.boolean(),
  covers: z.exactOptional(text),
  bits: z.exactOptional(z.array(z.looseObject({ name: text, value: count, meaning: text }))),
});

/** A document; the one line of NDJSON has `"type": "hexdump"` besides. */
export const hexdumpDocument = z.looseObject({
  type: z.exactOptional(z.literal('hexdump')),
  schema: schemaId('felix-fsck.hexdump/1'),
  tool,
  path: text,
  size: count,
  at: count.nullable(),
  from: count,
  to: count,
  hex: z.string().regex(/^(?:[0-9a-f]{2})*$/),
  fields: z.array(field),
  damaged: z.array(byteRange),
  notes: z.array(z.looseObject({ position: count, text })),
});
