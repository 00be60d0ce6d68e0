/**
 * The outputs of `diff-epochs` and `decode-manifest` as schemas ("felix-fsck.diff-epochs/1", "felix-fsck.decode-manifest/1").
 */

import * as z from 'zod';
import type { ManifestEntryReport } from '../domain/manifest-report.js';
import type { CutVerdict, PairDiff, ReplicaSummary } from '../domain/replica-diff.js';
import { finding } from './schema-finding.js';
import { count, hex32, type Json, kind, offsetRange, schemaId, tool, u64 } from './schema-values.js';

const text = z.string();

const state = z.enum(['sound', 'missing', 'damaged', 'unreadable', 'contradictory']);
const generation = z
  .looseObject({ generation: u64, start: u64, end: u64.nullable() })
  .meta({ id: 'generation', description: 'A generation, and its offsets, half-open' });

const replica = z
  .looseObject({
    name: text,
    path: text,
    base: u64.nullable(),
    tail: u64.nullable(),
    records: count,
    history: z.looseObject({ state, generations: z.array(generation) }),
    accepted: z.looseObject({ state, generation: u64.nullable(), commit: u64.nullable() }),
    ballot: z.looseObject({ state, generation: u64.nullable(), leader: text.nullable() }),
    damage: z.array(z.looseObject({ kind, file: text, position: count, lost: offsetRange.nullable() })),
    damageCount: count,
  })
  .meta({ id: 'replica' }) satisfies z.ZodType<Json<ReplicaSummary>>;

const differing = z
  .looseObject({
    file: text,
    position: count,
    kind: text,
    timestampMicros: u64,
    payloadBytes: count,
    checksum: text,
  })
  .meta({ id: 'differingRecord' });

const records = z.looseObject({
  compared: count,
  differing: count,
  identical: offsetRange.nullable(),
  firstDifference: z
    .looseObject({ offset: u64, what: z.array(text), payloadByte: count.nullable(), a: differing, b: differing })
    .nullable(),
  notCompared: count,
  firstNotCompared: u64.nullable(),
});

const pair = z
  .looseObject({
    a: text,
    b: text,
    relation: z.enum(['identical', 'behind', 'diverged', 'forked', 'not comparable']),
    behind: text.nullable(),
    shared: z.looseObject({ generation: u64, a: generation, b: generation }).nullable(),
    agreedTo: u64.nullable(),
    startsDiffer: z.array(z.looseObject({ generation: u64, a: u64, b: u64 })),
    records,
    notes: z.array(text),
  })
  .meta({ id: 'pair' }) satisfies z.ZodType<Json<PairDiff>>;

const cut = z
  .looseObject({
    replica: text,
    leader: text,
    verdict: z.enum(['nothing', 'cut', 'refused', 'undecided']),
    cut: offsetRange.nullable(),
    records: count,
    bytes: count,
    firstTimestampMicros: u64.nullable(),
    lastTimestampMicros: u64.nullable(),
    generations: z.array(u64),
    underOwnCommit: offsetRange.nullable(),
    underLeaderCommit: offsetRange.nullable(),
    why: text,
  })
  .meta({ id: 'cut' }) satisfies z.ZodType<Json<CutVerdict>>;

const diffHead = { schema: schemaId('felix-fsck.diff-epochs/1'), tool };
const diffRest = { shard: text, leader: text.nullable(), exitCode: count };

export const diffDocument = z.looseObject({
  ...diffHead,
  ...diffRest,
  replicas: z.array(replica),
  pairs: z.array(pair),
  cuts: z.array(cut),
});

/** A line of NDJSON: a replica, a pair or a cut, and the summary as the last one. */
export const diffLine = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('replica'), ...replica.shape }),
  z.looseObject({ type: z.literal('pair'), ...pair.shape }),
  z.looseObject({ type: z.literal('cut'), ...cut.shape }),
  z.looseObject({ type: z.literal('summary'), ...diffHead, ...diffRest }),
]);

const manifestEntry = z
  .looseObject({
    entry: count,
    position: count,
    segmentId: u64,
    baseOffset: u64,
    lastOffset: u64,
    bytes: z.union([count, u64]),
    oldestMicros: u64,
    newestMicros: u64,
    checksum: hex32,
    key: text,
    keyParts: z.looseObject({ nodeId: text.nullable(), directory: text, baseOffset: u64, segmentId: u64 }).nullable(),
    local: z.enum(['same', 'differs', 'absent', 'not judged']),
    object: z.enum(['same', 'differs', 'missing', 'refused', 'unreadable', 'not checked']),
  })
  .meta({ id: 'manifestEntry' }) satisfies z.ZodType<Json<ManifestEntryReport>>;

const manifestHead = { schema: schemaId('felix-fsck.decode-manifest/1'), tool };
const manifestRest = {
  path: text,
  shard: text,
  bytes: count,
  state: z.enum(['sound', 'damaged', 'unreadable']),
  count: count.nullable(),
  objects: text.nullable(),
  coverage: z
    .array(z.looseObject({ from: u64, to: u64, where: z.enum(['local', 'offloaded', 'both', 'nowhere']) }))
    .nullable(),
  findings: z.array(finding),
  omitted: z.array(z.looseObject({ file: text, kind, count })),
  notChecked: z.array(text),
  exitCode: count,
};

export const manifestDocument = z.looseObject({ ...manifestHead, ...manifestRest, entries: z.array(manifestEntry) });

/** A line of NDJSON: an entry, and the summary as the last one. */
export const manifestLine = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('entry'), ...manifestEntry.shape }),
  z.looseObject({ type: z.literal('summary'), ...manifestHead, ...manifestRest }),
]);
