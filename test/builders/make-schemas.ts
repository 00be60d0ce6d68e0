/**
 * The schemas as they are promised: `node dist/test/builders/make-schemas.js` writes what was added to them into
 * `test/report/schemas`, and refuses what would break a reader. For that, the number in `schema` is raised, and with it
 * the name of the file.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { jsonSchemaOf } from '../../src/cli/schema.js';
import { SCHEMAS } from '../../src/cli/schema-table.js';
import { toJsonDocument } from '../../src/report/json.js';
import { brokenPromises, type JsonSchema } from './schema-compatibility.js';
import { PROJECT_ROOT } from './trees.js';

export const PROMISED = path.join(PROJECT_ROOT, 'test/report/schemas');

export interface MadeSchema {
  readonly name: string;
  /** Below the directory of the promised ones; it carries the number of the schema. */
  readonly file: string;
  readonly schema: JsonSchema;
}

export async function madeSchemas(): Promise<MadeSchema[]> {
  return Promise.all(
    SCHEMAS.map(async (entry) => {
      const schema = (await jsonSchemaOf(entry)) as JsonSchema;
      const number = /"felix-fsck\.[a-z-]+\/([0-9]+)"/.exec(JSON.stringify(schema))?.[1] ?? '1';
      return { name: entry.name, file: `${entry.name}-${number}.json`, schema };
    }),
  );
}

/** What was promised under this name and number; null when nothing was. */
export function promisedSchema(file: string): JsonSchema | null {
  const at = path.join(PROMISED, file);
  return existsSync(at) ? (JSON.parse(readFileSync(at, 'utf8')) as JsonSchema) : null;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  mkdirSync(PROMISED, { recursive: true });
  for (const { file, schema } of await madeSchemas()) {
    const promised = promisedSchema(file);
    const broken = promised === null ? [] : brokenPromises(promised, schema);
    if (broken.length > 0) throw new Error(`${file} would break a reader:\n${broken.join('\n')}`);
    writeFileSync(path.join(PROMISED, file), toJsonDocument(schema));
  }
}
