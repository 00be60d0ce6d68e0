/** What is taken from a checkpoint is strict in every field. */
import { expect } from 'chai';
import type { REMEMBERED } from '../../src/repair/checkpoint-schema.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The schema as a process makes it that has not read a checkpoint yet. */
async function schema(): Promise<typeof REMEMBERED> {
  const anew = new URL(`../../src/repair/checkpoint-schema.js?at=${process.hrtime.bigint()}`, import.meta.url);
  return ((await import(anew.href)) as { REMEMBERED: typeof REMEMBERED }).REMEMBERED;
}

const BATCH = { producer: '1', sequence: '2', len: 3, offset: '4', position: 5, held: 6 };
const RUN = { offset: '7', position: 8, count: 9 };

/** Something in every field, as it lies in the file. */
const FULL = {
  verifiedAtMicros: '10',
  log: { device: '11', inode: '12', size: 13, mtimeNs: '-14' },
  index: { device: '15', inode: '16', size: 17, mtimeNs: '18' },
  header: '0123456789abcdef'.repeat(4),
  records: {
    records: 19,
    nextOffset: '20',
    firstOffset: '21',
    lastOffset: '22',
    firstTimestampMicros: '23',
    lastTimestampMicros: '24',
    markHolds: true,
    checkedEntries: 25,
    generationStarts: [{ offset: '26', position: 27, payloadLen: 28, generation: '29' }],
    zeroTimestamps: RUN,
    batches: {
      leading: RUN,
      first: 'record',
      events: [
        { event: 'abandoned', batch: BATCH, order: 30 },
        { event: 'orphan', run: RUN, order: 31 },
      ],
      open: BATCH,
      orphan: RUN,
    },
  },
  sums: [{ size: 32, crc32: 33 }],
} as const;

/** Fields that may be null. */
const NULLABLE = [
  'index',
  'records.nextOffset',
  'records.firstOffset',
  'records.lastOffset',
  'records.firstTimestampMicros',
  'records.lastTimestampMicros',
  'records.generationStarts.0.generation',
  'records.zeroTimestamps',
  'records.batches.leading',
  'records.batches.first',
  'records.batches.open',
  'records.batches.orphan',
];

/** Every path to a value below the segment, those of objects and lists too. */
function pathsIn(value: Json, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [path, ...pathsIn(below as Json, path)];
  });
}

/** The value at a path. */
function valueAt(path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], FULL);
}

/** A copy with another value at a path; without the field for undefined. */
function changed(path: string, value: unknown): unknown {
  const copy = structuredClone(FULL) as unknown as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

describe('a remembered segment', () => {
  it('comes with u64 values as bigint, and nothing else is another', async () => {
    const taken = (await schema()).parse(FULL);
    const again: unknown = JSON.parse(
      JSON.stringify(taken, (_, item) => (typeof item === 'bigint' ? `${item}` : item)),
    );
    expect(again).to.deep.equal(FULL);
    expect([taken.verifiedAtMicros, taken.log.mtimeNs, taken.records.nextOffset]).to.deep.equal([10n, -14n, 20n]);
    expect([taken.records.batches.open?.producer, taken.sums[0]?.crc32]).to.deep.equal([1n, 33]);
  });

  it('has every field, null only where there may be nothing, and no other field', async () => {
    const remembered = await schema();
    for (const path of pathsIn(FULL)) {
      const element = /\.\d+$|^sums\.\d+$/.test(path);
      expect(remembered.safeParse(changed(path, undefined)).success, `without ${path}`).to.equal(element);
      expect(remembered.safeParse(changed(path, null)).success, `null ${path}`).to.equal(NULLABLE.includes(path));
      const value = valueAt(path);
      if (typeof value !== 'object' || Array.isArray(value)) continue;
      expect(remembered.safeParse(changed(`${path}.more`, 1)).success, `more in ${path}`).to.equal(false);
    }
    expect(remembered.safeParse({ ...FULL, more: 1 }).success).to.equal(false);
  });

  it('has counts that are whole numbers from 0 on', async () => {
    const remembered = await schema();
    const counts = pathsIn(FULL).filter((path) => typeof valueAt(path) === 'number');
    expect(counts).to.have.length(24);
    for (const path of counts) {
      for (const [value, taken] of [
        [0, true],
        [Number.MAX_SAFE_INTEGER, true],
        [-1, false],
        [0.5, false],
        ['1', false],
      ] as const) {
        expect(remembered.safeParse(changed(path, value)).success, `${path}: ${value}`).to.equal(taken);
      }
    }
  });

  const times = ['log', 'index'].flatMap((of) => ['device', 'inode', 'mtimeNs'].map((name) => `${of}.${name}`));
  const next = 'records.nextOffset';

  it('has offsets, ids and times of 64 bits in decimal digits, the next offset one more', async () => {
    const remembered = await schema();
    const digits = pathsIn(FULL).filter(
      (path) => /^\d+$/.test(String(valueAt(path))) && typeof valueAt(path) === 'string',
    );
    for (const path of digits.filter((each) => !times.includes(each))) {
      for (const [value, taken] of [
        ['0', true],
        ['18446744073709551615', true],
        ['00000000000000000001', true],
        ['18446744073709551616', path === next],
        ['18446744073709551617', false],
        ['000000000000000000001', false],
        ['', false],
        ['-1', false],
        ['1 ', false],
        [' 1', false],
        ['1.', false],
        ['0x1', false],
        [1, false],
      ] as const) {
        expect(remembered.safeParse(changed(path, value)).success, `${path}: ${value}`).to.equal(taken);
      }
    }
  });

  it('has identities of files in up to thirty digits, below zero too', async () => {
    const remembered = await schema();
    for (const path of times) {
      for (const [value, taken] of [
        ['0', true],
        ['-1', true],
        ['9'.repeat(30), true],
        [`-${'9'.repeat(30)}`, true],
        ['9'.repeat(31), false],
        ['', false],
        ['-', false],
        ['--1', false],
        ['+1', false],
        ['1 ', false],
        ['0x1', false],
        [1, false],
      ] as const) {
        expect(remembered.safeParse(changed(path, value)).success, `${path}: ${value}`).to.equal(taken);
      }
    }
  });

  it('has a header of 32 bytes in small hex digits, and words that are known', async () => {
    const remembered = await schema();
    const hex = FULL.header;
    for (const [path, value] of [
      ['header', hex.slice(1)],
      ['header', `${hex}0`],
      ['header', `0${hex}`],
      ['header', hex.toUpperCase()],
      ['header', `g${hex.slice(1)}`],
      ['records.markHolds', 1],
      ['records.batches.first', 'batch'],
      ['records.batches.events.0.event', 'orphan'],
      ['records.batches.events.1.event', 'lost'],
    ] as const) {
      expect(remembered.safeParse(changed(path, value)).success, `${path}: ${value}`).to.equal(false);
    }
    expect(remembered.safeParse(changed('records.markHolds', false)).success).to.equal(true);
  });
});
