/**
 * `schema`: the JSON Schemas (draft 2020-12) of all outputs, or the list of their names.
 */

import type { ZodType } from 'zod';
import { closestNames } from '../domain/closest-names.js';
import { fail } from '../domain/result.js';
import { quoted } from '../domain/wording.js';
import { toJsonDocument, toJsonLine } from '../report/json.js';
import { renderSchemaList } from '../report/schema-list.js';
import type { CommandContext } from './context.js';
import { colorOf, formatOf, type Options } from './options.js';
import { SCHEMAS, type SchemaEntry } from './schema-table.js';

export async function run(context: CommandContext, [name]: readonly string[], options: Options): Promise<number> {
  const format = formatOf(options);
  if (name !== undefined) {
    const schema = await jsonSchemaOf(entryNamed(name));
    await context.out.write(format === 'ndjson' ? toJsonLine(schema) : toJsonDocument(schema));
    return 0;
  }
  const list = SCHEMAS.map(({ name: each, of }) => ({ name: each, of }));
  if (format === 'table') await context.out.write(renderSchemaList(list, context.style(colorOf(options))));
  else if (format === 'json') await context.out.write(toJsonDocument({ schemas: list }));
  else await context.out.write(list.map(toJsonLine).join(''));
  return 0;
}

function entryNamed(name: string): SchemaEntry {
  const entry = SCHEMAS.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = SCHEMAS.map((each) => each.name);
  const [closest] = closestNames(name, names);
  const hint = closest === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${closest}?`;
  return fail({ reason: 'usage', message: `No output has the schema ${quoted(name)}. ${hint}` });
}

/**
 * The schema as JSON Schema of draft 2020-12, with its title. Objects of what is only printed stay open to fields that are added.
 * Where a pattern stands, the name that zod has for it says nothing to other validators and is left out.
 */
export async function jsonSchemaOf(entry: SchemaEntry): Promise<object> {
  const [schema, { toJSONSchema }]: [ZodType, typeof import('zod')] = await Promise.all([entry.load(), import('zod')]);
  const { $schema, ...rest } = toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: entry.strict ? 'input' : 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined && jsonSchema.pattern !== undefined) delete jsonSchema.format;
    },
  });
  return { $schema, title: `felix-fsck ${entry.name}`, description: entry.of, ...rest };
}
