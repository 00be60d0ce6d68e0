/**
 * The shapes of plans, journals and receipts as they are taken from disk, strict in every field.
 *
 * Importing this loads zod, which takes a tenth of a second: import it only where such a file is read. In the files u64 values
 * are decimal strings, which become bigint here.
 */

import * as z from 'zod';
import type { FindingKind } from '../domain/finding.js';
import { PLAN_SCHEMA, type Plan } from '../domain/plan.js';
import { U64_MAX } from '../domain/units.js';
import { JOURNAL_SCHEMA, JOURNAL_STATES, type JournalRecord } from './journal-record.js';
import { concernsBroker, isShardFile } from './shard-file.js';

const u64 = z
  .string()
  .regex(/^[0-9]{1,20}$/)
  .transform((digits) => BigInt(digits))
  .refine((value) => value <= U64_MAX, 'it has more than 64 bits');
const size = z.number().int().nonnegative();
const crc32 = z.string().regex(/^0x[0-9a-f]{8}$/);
const ns = z
  .string()
  .regex(/^-?[0-9]{1,30}$/)
  .transform((digits) => BigInt(digits));
const shardFile = z.string().refine(isShardFile, 'it is no file of a shard');
/** A name that a broker cannot open counts too: it changes what an open does. */
const covered = z.string().refine(concernsBroker, 'no broker looks at it');
const state = z.strictObject({ size, crc32 });
const range = z.strictObject({ from: size, to: size });
const offsets = z.strictObject({ from: u64, to: u64 });
/** Kinds are named for people; a newer build may name one that this one does not know. */
const kind = z
  .string()
  .regex(/^[A-Za-z]{1,64}$/)
  .transform((name) => name as FindingKind);
const actions = z.enum(['truncate', 'delete-segment', 'delete-blank-first', 'create-segment', 'rebuild-index']);

const part = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('itself'), start: size, end: size }),
  z.strictObject({ from: z.literal('plan'), base64: z.base64() }),
  z.strictObject({ from: z.literal('file'), path: z.string().startsWith('/'), start: size, end: size, crc32 }),
  z.strictObject({ from: z.literal('records'), segment: shardFile, end: size, spacing: size.min(1) }),
]);

const step = z.strictObject({
  action: z.enum(['cut', 'delete', 'create', 'rewrite', 'rebuild-index']),
  file: shardFile,
  before: state.nullable(),
  after: state.nullable(),
  content: z.array(part),
  ranges: z.array(range),
  why: z.string(),
  answers: z.array(z.strictObject({ kind, file: z.string().nullable(), position: size.nullable() })),
});

const prediction = z.strictObject({
  verdict: z.enum(['opens', 'repairs', 'refuses']),
  refusals: z.array(z.strictObject({ kind, segment: u64.nullable(), position: size.nullable() })),
  repairs: z.array(z.strictObject({ action: actions, file: z.string() })),
  tailOffset: u64.nullable(),
  failingReads: size,
});

const loses = z.strictObject({
  bytes: size,
  records: size,
  intactRecords: size,
  committedRecords: size,
  offsets: offsets.nullable(),
  fromTimestampMicros: u64.nullable(),
  toTimestampMicros: u64.nullable(),
  manifestEntries: z.array(z.strictObject({ segmentId: u64, baseOffset: u64, lastOffset: u64, key: z.string() })),
  epochs: z.array(z.strictObject({ generation: u64, startOffset: u64 })),
});

const tool = z.strictObject({ name: z.string(), version: z.string() });

const plan = z.strictObject({
  schema: z.literal(PLAN_SCHEMA),
  tool,
  createdAtMicros: u64,
  command: z.string(),
  shard: z.strictObject({ path: z.string().startsWith('/'), name: z.string().min(1), key: z.string().nullable() }),
  settings: z.strictObject({
    repairChecksumTail: z.boolean(),
    verifyAllOnOpen: z.boolean(),
    indexSpacing: size.min(1),
  }),
  files: z.array(z.strictObject({ file: covered, size, crc32, mtimeNs: ns })),
  steps: z.array(step),
  loses,
  before: prediction,
  after: prediction,
  notes: z.array(z.string()),
});

export const PLAN: z.ZodType<Plan> = plan;

/** A plan as its file holds it: with its digest. */
export const PLAN_DOCUMENT = plan.extend({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });

const who = z.strictObject({ uid: size, user: z.string().nullable(), host: z.string() });

export const JOURNAL: z.ZodType<JournalRecord> = z.strictObject({
  schema: z.literal(JOURNAL_SCHEMA),
  state: z.enum(JOURNAL_STATES),
  shard: z.string().startsWith('/'),
  plan: z.string().regex(/^[0-9a-f]{64}$/),
  tool,
  who,
  startedAt: z.string(),
  changedAt: z.string(),
  directoryMtimeNs: ns,
  kept: z.array(
    z.strictObject({
      file: shardFile,
      size,
      crc32,
      how: z.enum(['link', 'copy']),
      mode: size,
      uid: size,
      gid: size,
      mtimeNs: ns,
    }),
  ),
});
