/**
 * The outputs that have a schema, by name. Nothing of the schemas is loaded before one is asked for.
 */

import type { ZodType } from 'zod';

export interface SchemaEntry {
  readonly name: string;
  /** What it describes. */
  readonly of: string;
  load(): Promise<ZodType>;
}

export const SCHEMAS: readonly SchemaEntry[] = [
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
    name: 'explain',
    of: 'explain --format json, and a line of explain --format ndjson',
    load: async () => (await import('../report/schema-explain.js')).explainDocument,
  },
];
