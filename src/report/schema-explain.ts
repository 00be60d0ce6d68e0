/**
 * The outputs of `explain` as a schema ("felix-fsck.explain/1"): a kind, an exit code, or the list of all.
 */

import * as z from 'zod';
import { count, kind, schemaId, severity, tool, u64 } from './schema-values.js';

const text = z.string();
const optional = z.exactOptional;
const head = { schema: schemaId('felix-fsck.explain/1'), tool };

const line = z.looseObject({
  kind,
  phrase: text,
  file: optional(text),
  shard: optional(text),
  segment: optional(u64),
  position: optional(count),
  expected: optional(text),
  found: optional(z.union([text, count])),
  needed: optional(count),
  available: optional(count),
  payloadLen: optional(count),
  limit: optional(count),
  directoryName: text.nullable(),
});

const kindEntry = z
  .looseObject({
    type: z.literal('kind'),
    kind,
    group: text,
    title: text,
    severities: z.array(severity),
    severityRule: text,
    cause: text,
    evidence: text,
    broker: text,
    remedies: z.array(z.looseObject({ what: text, loses: text, command: text.nullable() })),
    lookFirst: z.array(text),
    section: text.nullable(),
    line: line.nullable(),
  })
  .meta({ id: 'explainedKind' });

const exitCodeEntry = z
  .looseObject({ type: z.literal('exit-code'), code: count, name: text, when: text, whatNext: text })
  .meta({ id: 'explainedExitCode' });

/** A document, and equally a line of NDJSON, which never is a list. */
export const explainDocument = z.discriminatedUnion('type', [
  z.looseObject({ ...head, ...kindEntry.shape }),
  z.looseObject({ ...head, ...exitCodeEntry.shape }),
  z.looseObject({ ...head, type: z.literal('list'), kinds: z.array(kindEntry), exitCodes: z.array(exitCodeEntry) }),
]);
