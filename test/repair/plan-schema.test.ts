/** Plans and journals on disk are taken only when every field is there, is nothing else, and no field is added. */
import { expect } from 'chai';
import type { ZodType } from 'zod';
import { JOURNAL, PLAN, PLAN_DOCUMENT } from '../../src/repair/plan-schema.js';
import { indexName, logName } from '../builders/shards.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = readonly (string | number)[];

const STATE = { size: 7, crc32: '0x00000007' };
const OPEN = {
  verdict: 'refuses',
  refusals: [{ kind: 'RecordChecksum', segment: '2', position: 86 }],
  repairs: [{ action: 'truncate', file: logName(2) }],
  tailOffset: '24',
  failingReads: 0,
};

/** With every field that a plan can have. */
const PLAN_VALUE: Json = {
  schema: 'felix-fsck.plan/1',
  tool: { name: 'felix-fsck', version: '0' },
  createdAtMicros: '1780000000000000',
  command: 'heal',
  shard: { path: '/data/shard', name: 'shard', key: 'a/b/c/0' },
  settings: { repairChecksumTail: false, verifyAllOnOpen: true, indexSpacing: 4096 },
  files: [{ file: logName(2), ...STATE, mtimeNs: '1780000000000000000' }],
  steps: [
    {
      action: 'rewrite',
      file: logName(2),
      before: STATE,
      after: STATE,
      content: [
        { from: 'itself', start: 0, end: 7 },
        { from: 'plan', base64: 'AAAA' },
        { from: 'file', path: '/donor/log', start: 1, end: 2, crc32: '0x0123abcd' },
        { from: 'records', segment: logName(2), end: 7, spacing: 4096 },
      ],
      ranges: [{ from: 0, to: 7 }],
      why: 'because',
      answers: [{ kind: 'RecordChecksum', file: logName(2), position: 86 }],
    },
  ],
  loses: {
    bytes: 1,
    records: 2,
    intactRecords: 3,
    committedRecords: 0,
    offsets: { from: '1', to: '2' },
    fromTimestampMicros: '5',
    toTimestampMicros: '6',
    manifestEntries: [{ segmentId: '1', baseOffset: '2', lastOffset: '3', key: 'k' }],
    epochs: [{ generation: '1', startOffset: '2' }],
  },
  before: OPEN,
  after: OPEN,
  notes: ['a note'],
};

const JOURNAL_VALUE: Json = {
  schema: 'felix-fsck.journal/1',
  state: 'applying',
  shard: '/data/shard',
  plan: 'ab'.repeat(32),
  tool: { name: 'felix-fsck', version: '0' },
  who: { uid: 0, user: 'ada', host: 'here' },
  startedAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
  directoryMtimeNs: '-5',
  kept: [{ file: 'epochs', ...STATE, how: 'link', mode: 420, uid: 0, gid: 0, mtimeNs: '5' }],
};

/** The value with another one at a path; left out when that is undefined. */
function changed(value: Json, path: Path, to: Json | undefined): Json {
  const copy = structuredClone(value);
  let at = copy as { [key: string | number]: Json };
  for (const key of path.slice(0, -1)) at = at[key] as typeof at;
  const last = path.at(-1)!;
  if (to === undefined) delete at[last];
  else at[last] = to;
  return copy;
}

/** Paths of all fields of all objects in a value. */
function fieldsOf(value: Json, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => fieldsOf(item, [...path, at]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [[...path, key], ...fieldsOf(item, [...path, key])]);
}

function takes(schema: ZodType, value: Json): boolean {
  return schema.safeParse(value).success;
}

const DIGEST = 'cd'.repeat(32);
const SCHEMAS: readonly (readonly [string, ZodType, Json])[] = [
  ['a plan', PLAN, PLAN_VALUE],
  ['a plan’s file', PLAN_DOCUMENT, { ...(PLAN_VALUE as object), sha256: DIGEST }],
  ['a journal', JOURNAL, JOURNAL_VALUE],
];

for (const [what, schema, value] of SCHEMAS) {
  describe(`${what} on disk`, () => {
    it('is taken when it is whole', () => {
      expect(takes(schema, value)).to.equal(true);
    });

    it('is refused without any one of its fields, and with another kind of value in it', () => {
      const fields = fieldsOf(value);
      expect(fields.length).to.be.above(15);
      for (const path of fields) {
        expect(takes(schema, changed(value, path, undefined)), `without ${path.join('.')}`).to.equal(false);
        expect(takes(schema, changed(value, path, [[]])), `list in ${path.join('.')}`).to.equal(false);
      }
    });

    it('is refused with a field that is not known, in any object of it', () => {
      const objects = new Set(fieldsOf(value).map((path) => JSON.stringify(path.slice(0, -1))));
      for (const text of objects) {
        const path = [...(JSON.parse(text) as Path), 'more'];
        expect(takes(schema, changed(value, path, 1)), path.join('.')).to.equal(false);
      }
    });
  });
}

describe('a value in a plan', () => {
  const cases: readonly (readonly [string, readonly Json[], readonly Json[]])[] = [
    ['schema', [], ['felix-fsck.plan/2', '']],
    [
      'createdAtMicros',
      ['0', '18446744073709551615', '00000000000000000001'],
      ['18446744073709551616', '000000000000000000001', '-1', '', '1n', ' 1', '1 ', '0x1', 1],
    ],
    ['files.0.size', [0, Number.MAX_SAFE_INTEGER], [-1, 1.5, '1', null]],
    ['files.0.crc32', ['0x0123abcd'], ['0x0123ABCD', '0x123', '0x0123abcde', '0123abcd', 'x0x0123abcd', 291]],
    ['files.0.mtimeNs', ['-5', '0', '9'.repeat(30)], ['--5', '', '5-', ' 5', '9'.repeat(31), 5]],
    ['files.0.file', ['7.log', 'epochs', indexName(0)], ['notes.txt', '../epochs', '']],
    ['steps.0.file', ['epochs', indexName(0)], ['7.log', 'notes.txt', '../epochs', '/etc/passwd']],
    ['steps.0.action', ['cut', 'delete', 'create', 'rebuild-index'], ['remove', '']],
    ['steps.0.before', [null], [1]],
    ['steps.0.after', [null], [1]],
    ['steps.0.content', [[]], [[{ from: 'nowhere' }]]],
    ['steps.0.content.0.start', [0], [-1, 0.5]],
    ['steps.0.content.1.base64', ['', 'AA=='], ['*', 'A']],
    ['steps.0.content.2.path', ['/'], ['donor/', '']],
    ['steps.0.content.3.segment', [logName(0)], ['7.log', '/x']],
    ['steps.0.content.3.spacing', [1], [0, -1]],
    ['steps.0.answers.0.kind', ['X', 'z'.repeat(64)], ['', 'z'.repeat(65), 'A1', 'A B']],
    ['steps.0.answers.0.file', [null, 'anything'], [1]],
    ['steps.0.answers.0.position', [null, 0], [-1]],
    ['shard.path', ['/x'], ['x/', 'x', '']],
    ['shard.name', ['x'], ['']],
    ['shard.key', [null, ''], [0]],
    ['settings.indexSpacing', [1], [0]],
    ['settings.verifyAllOnOpen', [true, false], ['true', 0]],
    ['loses.offsets', [null], [0]],
    ['loses.fromTimestampMicros', [null, '0'], [0]],
    ['loses.toTimestampMicros', [null, '0'], [0]],
    ['before.verdict', ['opens', 'repairs'], ['closes']],
    ['before.tailOffset', [null], [0]],
    ['before.refusals.0.segment', [null, '18446744073709551615'], ['18446744073709551616']],
    ['before.refusals.0.position', [null, 0], [-1]],
    [
      'before.repairs.0.action',
      ['delete-segment', 'delete-blank-first', 'create-segment', 'rebuild-index'],
      ['cut', ''],
    ],
  ];
  for (const [dotted, good, bad] of cases) {
    it(`keeps to its bounds: ${dotted}`, () => {
      const path = dotted.split('.');
      const tried = (value: Json) => [value, takes(PLAN, changed(PLAN_VALUE, path, value))];
      expect(good.map(tried)).to.deep.equal(good.map((value) => [value, true]));
      expect(bad.map(tried)).to.deep.equal(bad.map((value) => [value, false]));
    });
  }

  it('becomes a bigint where it is an offset or a time, and stays a number where it is a size', () => {
    const plan = PLAN.parse(PLAN_VALUE);
    expect(plan.createdAtMicros).to.equal(1_780_000_000_000_000n);
    expect(plan.files[0]).to.deep.equal({ file: logName(2), ...STATE, mtimeNs: 1_780_000_000_000_000_000n });
    expect(plan.loses.offsets).to.deep.equal({ from: 1n, to: 2n });
    expect(plan.steps[0]!.answers[0]).to.deep.equal({ kind: 'RecordChecksum', file: logName(2), position: 86 });
    expect(plan.before.tailOffset).to.equal(24n);
  });
});

describe('a value in a journal', () => {
  const cases: readonly (readonly [string, readonly Json[], readonly Json[]])[] = [
    ['state', ['preparing', 'applied', 'undoing', 'undone'], ['done', '']],
    ['shard', ['/'], ['data/', '']],
    ['plan', ['0f'.repeat(32)], ['0F'.repeat(32), '0f'.repeat(31), '0f'.repeat(33), '0g'.repeat(32)]],
    ['who.user', [null], [0]],
    ['kept.0.how', ['copy'], ['move']],
    ['kept.0.file', [logName(0)], ['7.log', '../epochs']],
    ['kept.0.mode', [0], [-1]],
  ];
  for (const [dotted, good, bad] of cases) {
    it(`keeps to its bounds: ${dotted}`, () => {
      const tried = (value: Json) => [value, takes(JOURNAL, changed(JOURNAL_VALUE, dotted.split('.'), value))];
      expect(good.map(tried)).to.deep.equal(good.map((value) => [value, true]));
      expect(bad.map(tried)).to.deep.equal(bad.map((value) => [value, false]));
    });
  }
});
