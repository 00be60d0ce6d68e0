/** The guard of the schemas: it lets additions pass, and names everything that breaks a reader. */
import { expect } from 'chai';
import * as z from 'zod';
import { brokenPromises, type JsonSchema } from './schema-compatibility.js';

const inner = z.looseObject({ id: z.string(), at: z.int().min(0).nullable() });
const base = {
  name: z.string(),
  found: z.enum(['a', 'b']),
  list: z.array(inner),
  detail: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('One'), first: z.string() }),
    z.looseObject({ kind: z.literal('Two'), second: z.int() }),
  ]),
};

function broken(after: z.ZodType): string[] {
  return brokenPromises(z.toJSONSchema(z.looseObject(base)) as JsonSchema, z.toJSONSchema(after) as JsonSchema);
}

const REWRITTEN = z.looseObject({ id: z.string(), at: z.int().min(0).nullable() }).meta({ id: 'moved' });

describe('compatibility of schemas', () => {
  it('lets the same, more fields, more values and more alternatives pass', () => {
    expect(broken(z.looseObject(base))).to.deep.equal([]);
    const more = {
      ...base,
      more: z.string(),
      found: z.enum(['a', 'b', 'c']),
      list: z.array(REWRITTEN),
      detail: z.discriminatedUnion('kind', [
        z.looseObject({ kind: z.literal('Three') }),
        z.looseObject({ kind: z.literal('Two'), second: z.int() }),
        z.looseObject({ kind: z.literal('One'), first: z.string(), more: z.string() }),
      ]),
    };
    expect(broken(z.looseObject(more))).to.deep.equal([]);
  });

  const violations: readonly (readonly [why: string, after: z.ZodType, where: string])[] = [
    [
      'a renamed field',
      z.looseObject({ ...base, list: z.array(z.looseObject({ ident: z.string(), at: inner.shape.at })) }),
      '$.list[].id',
    ],
    ['a field that may be missing', z.looseObject({ ...base, name: z.exactOptional(z.string()) }), '$.name'],
    ['another type', z.looseObject({ ...base, name: z.int() }), '$.name'],
    ['a null that was none', z.looseObject({ ...base, name: z.string().nullable() }), '$.name'],
    ['a value that goes', z.looseObject({ ...base, found: z.enum(['a']) }), '$.found'],
    ['an alternative that goes', z.looseObject({ ...base, detail: base.detail.options[0] }), '$.detail'],
    [
      'a changed field of one alternative',
      z.looseObject({
        ...base,
        detail: z.discriminatedUnion('kind', [
          base.detail.options[0],
          z.looseObject({ kind: z.literal('Two'), second: z.string() }),
        ]),
      }),
      '$.detail(kind=Two).second',
    ],
  ];

  for (const [why, after, where] of violations) {
    it(`names ${why}`, () => {
      const places = broken(after).map((line) => line.slice(0, line.indexOf(':')));
      expect(
        places.some((place) => place.startsWith(where)),
        broken(after).join('\n'),
      ).to.equal(true);
    });
  }

  it('lets a tighter pattern pass where there was none, and names one that changes', () => {
    const digits = z.toJSONSchema(z.looseObject({ id: z.string().regex(/^[0-9]+$/) })) as JsonSchema;
    const free = z.toJSONSchema(z.looseObject({ id: z.string() })) as JsonSchema;
    expect(brokenPromises(free, digits)).to.deep.equal([]);
    expect(brokenPromises(digits, free)).to.have.length(1);
  });
});
