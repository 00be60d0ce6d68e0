/**
 * What repairs leave behind, as schemas: receipts, what `undo` says, and the report of a salvage ("felix-fsck.receipt/1",
 * "felix-fsck.undo/1", "felix-fsck.salvage/1"). Plans are read back, and have their schema where that is done.
 */

import * as z from 'zod';
import type { PlanLoss, PlanPrediction } from '../domain/plan.js';
import type { SalvageSource, SalvageSummary, SavedSegment } from '../domain/salvage.js';
import { count, hex32, type Json, kind, offsetRange, schemaId, tool, u64 } from './schema-values.js';

const text = z.string();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const nanoseconds = z
  .string()
  .regex(/^-?[0-9]{1,30}$/)
  .meta({ id: 'nanoseconds' });

const state = z.looseObject({ size: count, crc32: hex32 });

const loses = z.looseObject({
  bytes: count,
  records: count,
  intactRecords: count,
  committedRecords: count,
  offsets: offsetRange.nullable(),
  fromTimestampMicros: u64.nullable(),
  toTimestampMicros: u64.nullable(),
  manifestEntries: z.array(z.looseObject({ segmentId: u64, baseOffset: u64, lastOffset: u64, key: text })),
  epochs: z.array(z.looseObject({ generation: u64, startOffset: u64 })),
}) satisfies z.ZodType<Json<PlanLoss>>;

const prediction = z
  .looseObject({
    verdict: z.enum(['opens', 'repairs', 'refuses']),
    refusals: z.array(z.looseObject({ kind, segment: u64.nullable(), position: count.nullable() })),
    repairs: z.array(
      z.looseObject({
        action: z.enum(['truncate', 'delete-segment', 'delete-blank-first', 'create-segment', 'rebuild-index']),
        file: text,
      }),
    ),
    tailOffset: u64.nullable(),
    failingReads: count,
  })
  .meta({ id: 'planPrediction' }) satisfies z.ZodType<Json<PlanPrediction>>;

/** Printed by `apply --format json`, and kept in the journal. */
export const receiptDocument = z.looseObject({
  schema: schemaId('felix-fsck.receipt/1'),
  tool,
  who: z.looseObject({ uid: count, user: text.nullable(), host: text }),
  startedAt: text,
  finishedAt: text,
  command: text,
  shard: z.looseObject({ path: text, name: text, key: text.nullable() }),
  plan: sha256,
  journal: text,
  files: z.array(
    z.looseObject({
      file: text,
      action: z.enum(['cut', 'delete', 'create', 'rewrite', 'rebuild-index']),
      before: state.nullable(),
      after: state.nullable(),
    }),
  ),
  loses,
  before: prediction,
  after: prediction,
  asPlanned: z.boolean(),
});

export const undoDocument = z.looseObject({
  schema: schemaId('felix-fsck.undo/1'),
  undone: z.boolean(),
  journal: text.nullable(),
  shard: z.exactOptional(text),
  files: z.exactOptional(z.array(text)),
});

const saved = { file: text, bytes: count, sha256 };

const savedSegment = z.looseObject({
  ...saved,
  version: count,
  baseOffset: u64,
  nextOffset: u64,
  records: count,
  index: z.looseObject(saved),
}) satisfies z.ZodType<Json<SavedSegment>>;

const source = z.looseObject({
  path: text,
  kind: z.enum(['segment', 'stray']),
  bytes: count,
  mtimeNs: nanoseconds,
  sha256: sha256.nullable(),
  records: count,
  offsets: offsetRange.nullable(),
  damagedBytes: count,
  unreadBytes: count,
  problem: text.nullable(),
}) satisfies z.ZodType<Json<SalvageSource>>;

const summary = z.looseObject({
  runs: count,
  records: count,
  bytes: count,
  lostRecords: u64,
  forks: count,
  exitCode: count,
}) satisfies z.ZodType<Json<SalvageSummary>>;

/** Printed by `salvage --format json`, and kept as `salvage.json` in the target. */
export const salvageDocument = z.looseObject({
  schema: schemaId('felix-fsck.salvage/1'),
  tool,
  shard: z.looseObject({ name: text, key: text.nullable() }),
  createdAtMicros: u64,
  sources: z.array(source),
  runs: z.array(
    z.looseObject({
      directory: text,
      offsets: offsetRange,
      records: count,
      fork: z.boolean(),
      sources: z.array(text),
      segments: z.array(savedSegment),
      ndjson: z.looseObject(saved).nullable(),
    }),
  ),
  lost: z.array(offsetRange),
  unread: z.array(offsetRange),
  uncertain: z.array(z.looseObject({ path: text, position: count, bytes: count, offset: u64.nullable() })),
  forks: z.array(z.looseObject({ from: u64, to: u64, parties: z.array(z.array(text)) })),
  summary,
});
