/**
 * The outputs that have a schema, by name. Nothing of the schemas is loaded before one is asked for.
 */

import type { ZodType } from 'zod';

export interface SchemaEntry {
  readonly name: string;
  /** What it describes. */
  readonly of: string;
  /** It is read back, and refused with any field more: what is described is what may be put in. */
  readonly strict?: true;
  load(): Promise<ZodType>;
}

export const SCHEMAS: readonly SchemaEntry[] = [
  {
    name: 'inspect',
    of: 'inspect --format json',
    load: async () => (await import('../report/schema-inspect.js')).inspectDocument,
  },
  {
    name: 'inspect-line',
    of: 'a line of inspect --format ndjson: a file, a shard, a data root, or the summary at the end',
    load: async () => (await import('../report/schema-inspect.js')).inspectLine,
  },
  {
    name: 'verify',
    of: 'verify --format json',
    load: async () => (await import('../report/schema-verify.js')).verifyDocument,
  },
  {
    name: 'verify-line',
    of: 'a line of verify --format ndjson: a shard, a data root, or the summary at the end',
    load: async () => (await import('../report/schema-verify.js')).verifyLine,
  },
  {
    name: 'dump-records',
    of: 'dump-records --format json',
    load: async () => (await import('../report/schema-records.js')).dumpDocument,
  },
  {
    name: 'dump-records-line',
    of: 'a line of dump-records --format ndjson: a record, damage, missing offsets, or the summary at the end',
    load: async () => (await import('../report/schema-records.js')).dumpLine,
  },
  {
    name: 'locate',
    of: 'locate --format json, and the line of locate --format ndjson',
    load: async () => (await import('../report/schema-records.js')).locateDocument,
  },
  {
    name: 'hexdump',
    of: 'hexdump --format json, and the line of hexdump --format ndjson',
    load: async () => (await import('../report/schema-inspect.js')).hexdumpDocument,
  },
  {
    name: 'decode-manifest',
    of: 'decode-manifest --format json',
    load: async () => (await import('../report/schema-replicas.js')).manifestDocument,
  },
  {
    name: 'decode-manifest-line',
    of: 'a line of decode-manifest --format ndjson: an entry, or the summary at the end',
    load: async () => (await import('../report/schema-replicas.js')).manifestLine,
  },
  {
    name: 'diff-epochs',
    of: 'diff-epochs --format json',
    load: async () => (await import('../report/schema-replicas.js')).diffDocument,
  },
  {
    name: 'diff-epochs-line',
    of: 'a line of diff-epochs --format ndjson: a replica, a pair, a cut, or the summary at the end',
    load: async () => (await import('../report/schema-replicas.js')).diffLine,
  },
  {
    name: 'plan',
    of: 'a plan: repair-tail, rebuild-index and heal with --format json or --plan-out, and what apply takes',
    strict: true,
    load: async () => (await import('../repair/plan-schema.js')).PLAN_DOCUMENT,
  },
  {
    name: 'receipt',
    of: 'apply --format json, also kept in the journal',
    load: async () => (await import('../report/schema-repair.js')).receiptDocument,
  },
  {
    name: 'journal',
    of: 'the record of a journal, which undo takes',
    strict: true,
    load: async () => (await import('../repair/plan-schema.js')).JOURNAL,
  },
  {
    name: 'undo',
    of: 'undo --format json',
    load: async () => (await import('../report/schema-repair.js')).undoDocument,
  },
  {
    name: 'salvage',
    of: 'salvage --format json, also kept as salvage.json in the target',
    load: async () => (await import('../report/schema-repair.js')).salvageDocument,
  },
  {
    name: 'explain',
    of: 'explain --format json, and a line of explain --format ndjson',
    load: async () => (await import('../report/schema-explain.js')).explainDocument,
  },
];
