/**
 * The outputs of `verify` as schemas ("felix-fsck.verify/1"): the document, and the lines of NDJSON.
 */

import * as z from 'zod';
import { SEVERITIES } from '../domain/finding.js';
import type { RootReport, ShardReport, Summary } from '../domain/report.js';
import { finding, kindAtSite } from './schema-finding.js';
import { count, facts, type Json, kind, schemaId, severity, tool, u64 } from './schema-values.js';

const text = z.string();

const index = z.looseObject({
  file: text,
  entries: count,
  usable: z.boolean(),
  checkedEntries: count,
  notJudgedEntries: count,
});

const segment = z
  .looseObject({
    id: u64,
    file: text,
    version: count.nullable(),
    baseOffset: u64.nullable(),
    nextOffset: u64.nullable(),
    createdAtMicros: u64.nullable(),
    records: count,
    bytes: count,
    verifiedBytes: count,
    damagedBytes: count,
    unreadBytes: count,
    skippedSinceMicros: u64.nullable(),
    firstTimestampMicros: u64.nullable(),
    lastTimestampMicros: u64.nullable(),
    index: index.nullable(),
  })
  .meta({ id: 'segment', description: 'verifiedBytes + damagedBytes + unreadBytes = bytes' });

const prediction = z
  .looseObject({
    verdict: z.enum(['opens', 'repairs', 'refuses']),
    refusals: z.array(z.looseObject(kindAtSite)),
    repairs: z.array(
      z.looseObject({
        action: z.enum(['truncate', 'delete-segment', 'delete-blank-first', 'create-segment', 'rebuild-index']),
        file: text,
        fromBytes: count,
        toBytes: count,
        recordsLost: count,
        intactRecordsLost: count,
      }),
    ),
    tailOffsetAfter: u64.nullable(),
    readsThatFail: z.array(z.looseObject({ ...kindAtSite, fromOffset: u64, toOffset: u64 })),
    notJudged: z.array(text),
  })
  .meta({ id: 'prediction', description: 'What a broker with the given settings does on opening the shard' });

const shard = z
  .looseObject({
    path: text,
    name: text,
    key: text.nullable(),
    incarnation: text.nullable(),
    baseOffset: u64.nullable(),
    tailOffset: u64.nullable(),
    segments: z.array(segment),
    sidecars: z.array(
      z.looseObject({ file: text, bytes: count, state: z.enum(['sound', 'damaged', 'unreadable']), facts }),
    ),
    coverage: z
      .array(z.looseObject({ from: u64, to: u64, where: z.enum(['local', 'offloaded', 'both', 'nowhere']) }))
      .nullable(),
    findings: z.array(finding),
    omitted: z.array(z.looseObject({ file: text, kind, count })),
    notChecked: z.array(text),
    prediction,
    bytesRead: count,
  })
  .meta({ id: 'shard' }) satisfies z.ZodType<Omit<Json<ShardReport>, 'findings'>>;

const root = z
  .looseObject({
    path: text,
    findings: z.array(finding),
    storageId: text.nullable(),
    runState: z.looseObject({ state: text, acknowledgesBeforeSync: z.boolean(), id: text }).nullable(),
    registration: u64.nullable(),
    nodeId: text.nullable(),
    layouts: z.record(text, text),
    streams: z.array(z.looseObject({ name: text, text })),
    deleted: z.array(text),
  })
  .meta({ id: 'root' }) satisfies z.ZodType<Omit<Json<RootReport>, 'findings'>>;

const summary = z
  .looseObject({
    shards: count,
    segments: count,
    records: count,
    bytes: count,
    verifiedBytes: count,
    damagedBytes: count,
    unreadBytes: count,
    skippedBytes: count,
    findings: z.looseObject(Object.fromEntries(SEVERITIES.map((each) => [each, count])) as SeverityCounts),
    worst: severity.nullable(),
    exitCode: count,
    elapsedMs: z.number().min(0),
  })
  .meta({ id: 'summary' }) satisfies z.ZodType<Json<Summary>>;

type SeverityCounts = Record<(typeof SEVERITIES)[number], typeof count>;

const head = { schema: schemaId('felix-fsck.verify/1'), tool, partial: z.boolean() };

export const verifyDocument = z.looseObject({
  ...head,
  shards: z.array(shard),
  root: root.nullable(),
  roots: z.exactOptional(z.array(root)),
  summary,
});

/** A line of NDJSON: a shard, a data root, and the summary as the last one. */
export const verifyLine = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('shard'), ...shard.shape }),
  z.looseObject({ type: z.literal('root'), ...root.shape }),
  z.looseObject({ type: z.literal('summary'), ...head, ...summary.shape }),
]);
