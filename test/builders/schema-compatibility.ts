/**
 * Whether outputs under a new JSON Schema still give a reader of the old one everything that it was promised.
 *
 * Fields, kinds and alternatives may be added. What may not happen under the same number: a field that goes, one that was
 * always there and now may be missing, a type, pattern, constant or bound that is another one.
 */

export type JsonSchema = { readonly [key: string]: unknown };

interface Root {
  readonly schema: JsonSchema;
  readonly side: 'old' | 'new';
}

/** Each broken promise with its place; none when the new schema keeps all of the old one. */
export function brokenPromises(before: JsonSchema, after: JsonSchema): string[] {
  const broken: string[] = [];
  const seen = new Set<string>();
  compare(before, after, '$', {
    before: { schema: before, side: 'old' },
    after: { schema: after, side: 'new' },
    seen,
    say: (place, what) => broken.push(`${place}: ${what}`),
  });
  return broken;
}

interface Comparison {
  readonly before: Root;
  readonly after: Root;
  readonly seen: Set<string>;
  say(place: string, what: string): void;
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const;
const FIXED = ['pattern', 'minimum', 'maximum', 'const', 'format'] as const;

function compare(beforeRaw: JsonSchema, afterRaw: JsonSchema, place: string, comparison: Comparison): void {
  const pair = `${String(beforeRaw['$ref'])} ${String(afterRaw['$ref'])}`;
  if (beforeRaw['$ref'] !== undefined && afterRaw['$ref'] !== undefined) {
    if (comparison.seen.has(pair)) return;
    comparison.seen.add(pair);
  }
  const before = resolved(beforeRaw, comparison.before);
  const after = resolved(afterRaw, comparison.after);
  const { say } = comparison;
  compareTypes(before, after, place, say);
  for (const key of FIXED) {
    if (before[key] !== undefined && before[key] !== after[key])
      say(place, `${key} was ${String(before[key])} and is ${String(after[key])}`);
  }
  const values = new Set(listIn(after, 'enum'));
  for (const value of listIn(before, 'enum')) if (!values.has(value)) say(place, `${String(value)} is gone`);
  compareObjects(before, after, place, comparison);
  if (isSchema(before['items'])) {
    if (isSchema(after['items'])) compare(before['items'], after['items'], `${place}[]`, comparison);
    else say(place, 'the elements are not described any more');
  }
  for (const key of ALTERNATIVES) compareAlternatives(before, after, key, place, comparison);
}

function compareTypes(before: JsonSchema, after: JsonSchema, place: string, say: Comparison['say']): void {
  if (before['type'] === undefined) return;
  const now = new Set<unknown>([after['type']].flat());
  const then = new Set<unknown>([before['type']].flat());
  if (now.size === 0 || [...now].some((type) => !then.has(type))) {
    say(place, `the type was ${[...then].join(' or ')} and is ${[...now].join(' or ')}`);
  }
}

function compareObjects(before: JsonSchema, after: JsonSchema, place: string, comparison: Comparison): void {
  const properties = mapIn(after, 'properties');
  for (const [name, schema] of Object.entries(mapIn(before, 'properties'))) {
    const now = properties[name];
    if (now === undefined) comparison.say(`${place}.${name}`, 'is gone');
    else compare(schema, now, `${place}.${name}`, comparison);
  }
  const required = new Set(listIn(after, 'required'));
  for (const name of listIn(before, 'required')) {
    if (!required.has(name)) comparison.say(`${place}.${String(name)}`, 'may be missing now');
  }
}

/** Alternatives are told apart by the constants in them, else by their order. */
function compareAlternatives(
  before: JsonSchema,
  after: JsonSchema,
  key: (typeof ALTERNATIVES)[number],
  place: string,
  comparison: Comparison,
): void {
  const then = listIn(before, key) as JsonSchema[];
  const now = listIn(after, key) as JsonSchema[];
  const named = new Map(now.map((each, at) => [nameOf(each, at, comparison.after), each]));
  then.forEach((each, at) => {
    const name = nameOf(each, at, comparison.before);
    const other = named.get(name);
    if (other === undefined) comparison.say(`${place}(${name})`, 'is gone');
    else compare(each, other, `${place}(${name})`, comparison);
  });
  const known = new Set(then.map((each, at) => nameOf(each, at, comparison.before)));
  if (key === 'anyOf' && then.length > 0) {
    for (const name of named.keys()) if (!known.has(name)) comparison.say(`${place}(${name})`, 'is a new alternative');
  }
}

function nameOf(schema: JsonSchema, at: number, root: Root): string {
  const constants = Object.entries(mapIn(resolved(schema, root), 'properties'))
    .filter(([, value]) => value['const'] !== undefined)
    .map(([name, value]) => `${name}=${String(value['const'])}`);
  return constants.length > 0 ? constants.join(' ') : `#${at}`;
}

function resolved(schema: JsonSchema, root: Root): JsonSchema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  if (ref === '#') return root.schema;
  const target = mapIn(root.schema, '$defs')[ref.replace('#/$defs/', '')];
  if (target === undefined) throw new Error(`the ${root.side} schema has no ${ref}`);
  return target;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function mapIn(schema: JsonSchema, key: string): Readonly<Record<string, JsonSchema>> {
  return (schema[key] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function listIn(schema: JsonSchema, key: string): readonly unknown[] {
  return (schema[key] ?? []) as readonly unknown[];
}
