import { expect } from 'chai';
import fc from 'fast-check';
import { BALLOT_LAYOUT } from '../../src/format/ballot.js';
import { type ByteFeed, feedOf } from '../../src/format/bytes.js';
import { CACHE_RECORD_LAYOUT, COUNTER_RECORD_LAYOUT } from '../../src/format/cache-record.js';
import { EPOCHS_LAYOUT } from '../../src/format/epochs.js';
import { INDEX_LAYOUT } from '../../src/format/index.js';
import { COMPOSITE_KEY_LAYOUT, KEYS_INDEX_LAYOUT } from '../../src/format/keys-index.js';
import {
  type FieldSpan,
  fixedLength,
  type Layout,
  type LayoutItem,
  walkFields,
  walkLayout,
} from '../../src/format/layout.js';
import { MANIFEST_LAYOUT } from '../../src/format/manifest.js';
import { PRODUCERS_LAYOUT } from '../../src/format/producers.js';
import { RECORD_LAYOUT } from '../../src/format/record.js';
import { REGISTRATION_PACKED_LAYOUT, REGISTRATION_PADDED_LAYOUT } from '../../src/format/registration.js';
import { REPLICA_LAYOUT } from '../../src/format/replica.js';
import { RUN_STATE_LAYOUT } from '../../src/format/run-state.js';
import { SEGMENT_HEADER_LAYOUT } from '../../src/format/segment-header.js';
import { STORAGE_ID_PACKED_LAYOUT, STORAGE_ID_PADDED_LAYOUT } from '../../src/format/storage-id.js';
import { expectLayoutHolds } from './layout-rules.js';
import { hex, patched, sparseFeed } from './sidecar-rules.js';

const TABLES: readonly Layout[] = [
  SEGMENT_HEADER_LAYOUT,
  RECORD_LAYOUT,
  INDEX_LAYOUT,
  EPOCHS_LAYOUT,
  REPLICA_LAYOUT,
  BALLOT_LAYOUT,
  MANIFEST_LAYOUT,
  PRODUCERS_LAYOUT,
  KEYS_INDEX_LAYOUT,
  COMPOSITE_KEY_LAYOUT,
  STORAGE_ID_PADDED_LAYOUT,
  STORAGE_ID_PACKED_LAYOUT,
  RUN_STATE_LAYOUT,
  REGISTRATION_PADDED_LAYOUT,
  REGISTRATION_PACKED_LAYOUT,
  CACHE_RECORD_LAYOUT,
  COUNTER_RECORD_LAYOUT,
];

const PROBE = {
  name: 'probe',
  title: 'One field of each type',
  section: 'none',
  items: [
    { name: 'magic', at: 0, size: 4, type: 'magic', meaning: 'magic' },
    {
      name: 'word',
      at: 4,
      size: 4,
      type: 'u32',
      meaning: 'a word',
      bits: [
        { name: 'high', mask: 0x80000000, meaning: 'top bit' },
        { name: 'middle', mask: 0x0000ff00, meaning: 'second byte' },
      ],
    },
    { name: 'little', at: 8, size: 4, type: 'u32le', meaning: 'little-endian' },
    { name: 'wide', at: 12, size: 8, type: 'u64le', meaning: 'little-endian' },
    { name: 'signed', at: 20, size: 8, type: 'i64le', meaning: 'little-endian, signed' },
    { name: 'length', at: 28, size: 2, type: 'u16', meaning: 'of the name' },
    { name: 'name', at: 30, size: { field: 'length', mask: 0x7fff }, type: 'utf8', meaning: 'a name' },
    { when: { field: 'word', mask: 1, equals: 1 }, items: [{ name: 'odd', size: 1, type: 'u8', meaning: 'if odd' }] },
    { when: { field: 'word', mask: 1, equals: 0 }, items: [{ name: 'even', size: 1, type: 'u8', meaning: 'if even' }] },
    {
      repeat: 'rows',
      count: 'rest',
      items: [
        { name: 'cells', at: 0, size: 1, type: 'u8', meaning: 'cells' },
        {
          repeat: 'cells',
          count: { field: 'cells' },
          items: [{ name: 'value', at: 0, size: 2, type: 'u16', meaning: 'a cell' }],
        },
      ],
    },
  ],
} as const satisfies Layout;

const PROBE_BYTES = hex(`
  50524f42 | magic
  80001201 | word
  01000000 | little
  02000000000000ff | wide
  feffffffffffffff | signed
  8002 c3a9 | length and name
  07 | odd
  02 0001 0002 | a row of two cells
  00 | a row of none
  01 00 | a row cut off
`);

/** The bytes of a record whose payload is `length` zeros, its checksums left out. */
function record(length: number): Uint8Array {
  const bytes = new Uint8Array(28 + length);
  bytes[3] = length;
  return bytes;
}

/** Elements of every shape: of a fixed size, with text, a condition, and elements of their own sized from outside. */
const ROWS = {
  name: 'rows',
  title: 'Elements of many shapes',
  section: 'none',
  items: [
    { name: 'width', at: 0, size: 8, type: 'u64', meaning: 'cells of each row' },
    { name: 'pairs', at: 8, size: 1, type: 'u8', meaning: 'pairs' },
    {
      repeat: 'pairs',
      count: { field: 'pairs' },
      items: [{ name: 'pair', at: 0, size: 2, type: 'u16', meaning: 'a pair' }],
    },
    { name: 'rows', size: 1, type: 'u8', meaning: 'rows' },
    {
      repeat: 'rows',
      count: { field: 'rows' },
      items: [
        { name: 'kind', at: 0, size: 1, type: 'u8', meaning: 'kind' },
        { name: 'length', at: 1, size: 8, type: 'u64', meaning: 'of the text' },
        { name: 'text', at: 9, size: { field: 'length' }, type: 'utf8', meaning: 'text' },
        { when: { field: 'kind', equals: 1 }, items: [{ name: 'extra', size: 2, type: 'u16', meaning: 'of kind 1' }] },
        {
          repeat: 'cells',
          count: { field: 'width' },
          items: [
            { name: 'size', at: 0, size: 1, type: 'u8', meaning: 'of the cell' },
            { name: 'cell', at: 1, size: { field: 'size' }, type: 'bytes', meaning: 'a cell' },
          ],
        },
      ],
    },
    { name: 'behind', size: 'rest', type: 'bytes', meaning: 'what would do for one more row' },
  ],
} as const satisfies Layout;

const ROWS_BYTES = hex(`
  0000000000000002 | width
  02 0001 0002 | pairs
  03 | rows
  01 0000000000000003 616263 0009 01 aa 00 | kind, length, text, extra, cells
  00 0000000000000000 02 aabb 01 cc
  02 0000000000000001 78 00 00
  00 0000000000000000 00 00 | behind
`);

/** An element that takes all the bytes that are left, as a field or as elements of its own. */
const restOf = (last: LayoutItem): Layout => ({
  name: 'rest',
  title: 'Elements to the end',
  section: 'none',
  items: [
    {
      repeat: 'rows',
      count: 'rest',
      items: [{ name: 'head', at: 0, size: 1, type: 'u8', meaning: 'head' }, last],
    },
  ],
});
const REST_OF_BYTES = restOf({ name: 'tail', at: 1, size: 'rest', type: 'bytes', meaning: 'tail' });
const REST_OF_CELLS = restOf({
  repeat: 'cells',
  count: 'rest',
  items: [{ name: 'cell', at: 0, size: 2, type: 'u16', meaning: 'a cell' }],
});

/** By the names of spans: where the innermost element that each stands in ends. */
function elementEnds(spans: readonly FieldSpan[]): (name: string) => number {
  const ends = new Map<string, number>();
  for (const { name, end } of spans) {
    for (let path = elementOf(name); path !== ''; path = elementOf(path.slice(0, -1))) ends.set(path, end);
  }
  return (name) => ends.get(elementOf(name)) ?? Number.POSITIVE_INFINITY;
}

/** `rows[1].cells[0]` of a span of that path, and of `rows[1].cells[0` the element around it. */
function elementOf(path: string): string {
  return /^.*\]/.exec(path)?.[0] ?? '';
}

describe('format/layout', () => {
  for (const table of TABLES) {
    it(`positions, sizes and references of the table of ${table.title} add up`, () => expectLayoutHolds(table));
  }

  it('a span has a path, a range and a value, and the last one says that it is cut off', () => {
    const spans = walkLayout(PROBE, PROBE_BYTES);
    expect(spans.map(({ name, start, end, value }) => [name, start, end, value])).to.deep.equal([
      ['magic', 0, 4, '0x50524f42'],
      ['word', 4, 8, 0x80001201],
      ['little', 8, 12, 1],
      ['wide', 12, 20, 0xff00000000000002n],
      ['signed', 20, 28, -2n],
      ['length', 28, 30, 0x8002],
      ['name', 30, 32, 'é'],
      ['odd', 32, 33, 7],
      ['rows[0].cells', 33, 34, 2],
      ['rows[0].cells[0].value', 34, 36, 1],
      ['rows[0].cells[1].value', 36, 38, 2],
      ['rows[1].cells', 38, 39, 0],
      ['rows[2].cells', 39, 40, 1],
      ['rows[2].cells[0].value', 40, 41, null],
    ]);
    expect(spans.filter(({ partial }) => partial)).to.deep.equal([spans.at(-1)]);
  });

  it('bits are shifted down, the top one of 32 included', () => {
    const word = walkLayout(PROBE, PROBE_BYTES).find(({ name }) => name === 'word');
    expect(word?.bits?.map(({ name, value }) => [name, value])).to.deep.equal([
      ['high', 1],
      ['middle', 0x12],
    ]);
  });

  it('a span says all that the table says of its field', () => {
    const meaning = (name: string) => REPLICA_LAYOUT.items.find((item) => item.name === name)!.meaning;
    const bytes = hex('464c5253 0001 0000 0000000000000009 ffffffffffffffff 86dad2ce');
    expect(walkLayout(REPLICA_LAYOUT, bytes).slice(-3)).to.deep.equal([
      {
        name: 'generation',
        start: 8,
        end: 16,
        type: 'u64',
        value: 9n,
        meaning: meaning('generation'),
        partial: false,
      },
      {
        name: 'commit',
        start: 16,
        end: 24,
        type: 'u64',
        value: 0xffff_ffff_ffff_ffffn,
        meaning: meaning('commit'),
        partial: false,
        unit: 'offset',
      },
      {
        name: 'crc',
        start: 24,
        end: 28,
        type: 'crc32',
        value: '0x86dad2ce',
        meaning: meaning('crc'),
        partial: false,
        covers: 'bytes 0..24',
      },
    ]);
  });

  it('a word that is cut off has no bits', () => {
    expect(walkLayout(RECORD_LAYOUT, hex('8000'))).to.deep.equal([
      {
        name: 'payload_len',
        start: 0,
        end: 2,
        type: 'u32',
        value: null,
        meaning: RECORD_LAYOUT.items[0].meaning,
        partial: true,
      },
    ]);
  });

  it('a field of no bytes has a span, at the end of the bytes too', () => {
    const [last] = walkLayout(RECORD_LAYOUT, new Uint8Array(28)).slice(-1);
    expect(last).to.include({ name: 'payload', start: 28, end: 28, value: '', partial: false });
  });

  it('nothing follows a field that is cut off or missing, not even a field of no bytes', () => {
    const tagged = record(0);
    tagged[0] = 0x80;
    const oneRow = patched(ROWS_BYTES, 13, 1);
    for (const [layout, bytes, last] of [
      [RECORD_LAYOUT, Uint8Array.from([...tagged, 1, 2, 3, 4, 5, 6, 7, 8, 9]), 'tag.sequence'],
      [RECORD_LAYOUT, Uint8Array.from([...tagged, 1, 2, 3, 4, 5, 6, 7, 8]), 'tag.producer_id'],
      [ROWS, oneRow.subarray(0, 25), 'rows[0].text'],
      [ROWS, oneRow.subarray(0, 26), 'rows[0].text'],
      [ROWS, oneRow.subarray(0, 27), 'rows[0].extra'],
      [ROWS, oneRow.subarray(0, 29), 'rows[0].cells[0].size'],
      [ROWS, oneRow.subarray(0, 30), 'rows[0].cells[0].cell'],
      [ROWS, oneRow.subarray(0, 31), 'behind'],
    ] as const) {
      expect(walkLayout(layout, bytes).at(-1)).to.include({ name: last, end: bytes.length });
    }
  });

  it('bytes are shown up to 64, and text up to 65,535', () => {
    const shown = (length: number) => walkLayout(RECORD_LAYOUT, record(length)).at(-1)?.value;
    expect([shown(64), shown(65)]).to.deep.equal(['00'.repeat(64), null]);
    const text = (length: string) =>
      walkLayout(COMPOSITE_KEY_LAYOUT, hex(`00 ${length} ${'6b'.repeat(Number.parseInt(length, 16))}`)).at(-1)?.value;
    expect([text('0000ffff'), text('00010000')]).to.deep.equal(['k'.repeat(65_535), null]);
  });

  it('a table that contradicts itself is a bug', () => {
    const of = (...items: LayoutItem[]) => walkLayout({ ...PROBE, items }, new Uint8Array(8));
    const nowhere = { name: 'text', size: { field: 'nowhere' }, type: 'utf8', meaning: 'text' } as const;
    expect(() => of(nowhere)).to.throw('the layout refers to nowhere, which no field in front of it names');
    const wide = { name: 'wide', size: 4, type: 'u16', meaning: 'a word' } as const;
    expect(() => of(wide)).to.throw('a field of type u16 has the size of its type');
  });

  it('a walk may begin anywhere in the bytes', () => {
    const shifted = Uint8Array.from([1, 2, 3, ...PROBE_BYTES]);
    const spans = walkLayout(PROBE, shifted, 3);
    expect(spans.map(({ start }) => start - 3)).to.deep.equal(walkLayout(PROBE, PROBE_BYTES).map(({ start }) => start));
    expect(walkLayout(PROBE, PROBE_BYTES, PROBE_BYTES.length)).to.deep.equal([]);
    expect(walkLayout(PROBE, PROBE_BYTES, PROBE_BYTES.length + 9)).to.deep.equal([]);
  });

  it('never more spans than the limit', () => {
    expect(walkLayout(PROBE, PROBE_BYTES, 0, 3)).to.have.lengthOf(3);
    expect(walkLayout(PROBE, PROBE_BYTES, 0, 0)).to.deep.equal([]);
    expect(walkLayout(INDEX_LAYOUT, new Uint8Array(100_000))).to.have.lengthOf(4096);
  });

  it('a length of four billion ends the walk at the end of the bytes', () => {
    const key = walkLayout(KEYS_INDEX_LAYOUT, hex(`${'00'.repeat(22)} 01 ${'00'.repeat(12)} ffffffff 0102`)).at(-1);
    expect(key).to.include({ name: 'entries[0].key', start: 39, end: 41, value: null, partial: true });
  });

  it('a field too long to show has no value, and does not end the walk', () => {
    const bytes = hex(`${'00'.repeat(22)} 01 ${'00'.repeat(12)} 00000041 ${'aa'.repeat(65)} 0000000000000007`);
    const [key, offset] = walkLayout(KEYS_INDEX_LAYOUT, bytes).slice(-2);
    expect(key).to.include({ name: 'entries[0].key', value: null, partial: false });
    expect(offset).to.include({ name: 'entries[0].offset', value: 7n });
  });

  it('a file of any size can be walked to a place without holding it', () => {
    const head = hex('464c464f 0001 0000 ffffffff');
    let last = null;
    for (const span of walkFields(MANIFEST_LAYOUT, sparseFeed(head, 2 ** 40))) {
      last = span;
      if (span.end > 50_000) break;
    }
    expect(last?.name).to.match(/^entries\[925\]\./);
  });

  it('elements in front of a place are passed over, and every field behind it is the same as without', () => {
    const whole = walkLayout(PROBE, PROBE_BYTES);
    for (let from = 0; from <= PROBE_BYTES.length + 1; from++) {
      const spans = [...walkFields(PROBE, feedOf(PROBE_BYTES), 0, from)];
      expect(spans.filter(({ end }) => end > from)).to.deep.equal(whole.filter(({ end }) => end > from));
      expect(whole).to.deep.include.members(spans);
    }
    const names = [...walkFields(PROBE, feedOf(PROBE_BYTES), 0, 38)].map(({ name }) => name);
    expect(names.slice(-4)).to.deep.equal(['odd', 'rows[1].cells', 'rows[2].cells', 'rows[2].cells[0].value']);
  });

  it('an element has spans only when it ends behind the place that is asked for, whatever its shape', () => {
    for (const [layout, bytes] of [
      [ROWS, ROWS_BYTES],
      [REST_OF_BYTES, hex('07 aabbcc')],
      [REST_OF_CELLS, hex('07 0001 0002')],
    ] as const) {
      expectLayoutHolds(layout);
      const whole = walkLayout(layout, bytes);
      expect(whole.at(-1)).to.include({ end: bytes.length, partial: false });
      const endOf = elementEnds(whole);
      for (let from = 0; from <= bytes.length + 1; from++) {
        const spans = [...walkFields(layout, feedOf(bytes), 0, from)];
        expect(spans, `from ${from}`).to.deep.equal(whole.filter(({ name }) => endOf(name) > from));
      }
    }
  });

  it('an element that is cut off is not passed over', () => {
    const endOf = elementEnds(walkLayout(ROWS, ROWS_BYTES));
    for (let size = 0; size < ROWS_BYTES.length; size++) {
      const bytes = ROWS_BYTES.subarray(0, size);
      const cut = walkLayout(ROWS, bytes);
      for (let from = 0; from <= size + 1; from++) {
        const spans = [...walkFields(ROWS, feedOf(bytes), 0, from)];
        const kept = cut.filter(({ name }) => endOf(name) > Math.min(from, size));
        expect(spans, `${size} bytes from ${from}`).to.deep.equal(kept);
      }
    }
  });

  it('a place far into an index is reached without a look at the entries in front of it', () => {
    const size = 24 + 16 * 100_000_000;
    const looks: number[] = [];
    const feed: ByteFeed = {
      size,
      view: (position, length) => {
        looks.push(position);
        return new Uint8Array(length);
      },
    };
    const place = 24 + 16 * 99_999_998;
    const spans = [...walkFields(INDEX_LAYOUT, feed, 0, place)].filter(({ start }) => start >= place);
    expect(spans.map(({ name, start }) => [name, start])).to.deep.equal([
      ['entries[99999998].offset', place],
      ['entries[99999998].position', place + 8],
      ['entries[99999999].offset', place + 16],
      ['entries[99999999].position', place + 24],
    ]);
    expect(looks.filter((position) => position >= 24 && position < place)).to.deep.equal([]);
  });

  it('the fixed part ends at the first repeat, condition or counted field', () => {
    const lengths = [
      EPOCHS_LAYOUT,
      REPLICA_LAYOUT,
      BALLOT_LAYOUT,
      MANIFEST_LAYOUT,
      PRODUCERS_LAYOUT,
      KEYS_INDEX_LAYOUT,
    ];
    expect(lengths.map(fixedLength)).to.deep.equal([12, 28, 16, 12, 25, 35]);
    expect([SEGMENT_HEADER_LAYOUT, INDEX_LAYOUT, RECORD_LAYOUT].map(fixedLength)).to.deep.equal([32, 24, 28]);
  });

  it('no bytes make the walker throw, leave a gap, or leave the bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TABLES, PROBE), fc.uint8Array({ maxLength: 400 }), (table, bytes) => {
        let end = 0;
        for (const span of walkFields(table, feedOf(bytes))) {
          expect(span.start).to.equal(end);
          end = span.end;
        }
        expect(end).to.be.at.most(bytes.length);
      }),
    );
  });
});
