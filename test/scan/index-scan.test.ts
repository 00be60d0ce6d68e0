import { expect } from 'chai';
import { concatBytes, writeU16 } from '../../src/format/bytes.js';
import { encodeIndex } from '../../src/format/index.js';
import { EntryCursor, type IndexScan, scanIndex } from '../../src/scan/index-scan.js';
import { MemorySource } from '../../src/store/byte-source.js';

type Pair = readonly [offset: bigint, position: bigint];

const indexOf = (pairs: readonly Pair[]) =>
  encodeIndex(
    7n,
    pairs.map(([offset, position]) => ({ offset, position })),
  );
const scanned = (bytes: Uint8Array): IndexScan => scanIndex(new MemorySource(bytes));
const entryOf = (pairs: readonly Pair[], entry: number) => {
  const [offset, position] = pairs[entry]!;
  return { entry, offset, position };
};

const IN_HEADER = 'its position lies in the segment header';
const OFFSET = 'its offset does not ascend';
const POSITION = 'its position does not ascend';

describe('scan/index-scan', () => {
  it('tells what an index holds, as a broker loads it', () => {
    const pairs: readonly Pair[] = [
      [7n, 32n],
      [9n, 200n],
      [12n, 500n],
    ];
    expect(scanned(indexOf(pairs))).to.deep.equal({
      bytes: 72,
      header: { version: 3, flags: 0, baseOffset: 7n },
      headerDamage: null,
      entries: 3,
      kept: 3,
      firstKept: entryOf(pairs, 0),
      lastKept: entryOf(pairs, 2),
      dropped: [],
      droppedOmitted: 0,
      tornBytes: 0,
      marks: [entryOf(pairs, 0), entryOf(pairs, 1), entryOf(pairs, 2)],
    });
    expect(scanned(indexOf([]))).to.deep.include({ bytes: 24, entries: 0, kept: 0, firstKept: null, lastKept: null });
  });

  it('ignores a part of an entry at the end', () => {
    const bytes = indexOf([
      [7n, 32n],
      [9n, 200n],
    ]);
    for (const [length, entries, tornBytes] of [
      [56, 2, 0],
      [55, 1, 15],
      [41, 1, 1],
      [40, 1, 0],
      [39, 0, 15],
      [25, 0, 1],
      [24, 0, 0],
    ] as const) {
      expect(scanned(bytes.slice(0, length))).to.deep.include({ bytes: length, entries, kept: entries, tornBytes });
    }
  });

  it('drops an entry whose position lies in the header, and one that ascends in neither or one of both', () => {
    const high = 1n << 32n;
    const cases: readonly (readonly [Pair, Pair, string | null])[] = [
      [[7n, 32n], [8n, 33n], null],
      [[7n, 32n], [7n, 60n], OFFSET],
      [[7n, 32n], [6n, 60n], OFFSET],
      [[7n, 32n], [8n, 32n], POSITION],
      [[7n, 60n], [8n, 59n], POSITION],
      [[7n, 32n], [8n, 31n], IN_HEADER],
      [[7n, 32n], [8n, 0n], IN_HEADER],
      [[high + 7n, 32n], [high + 8n, 60n], null],
      [[high + 7n, 32n], [high + 7n, 60n], OFFSET],
      [[high + 7n, 32n], [high + 6n, 60n], OFFSET],
      [[high + 7n, 32n], [8n, 60n], OFFSET],
      [[7n, 32n], [high, 60n], null],
      [[7n, high + 32n], [8n, high + 33n], null],
      [[7n, high + 32n], [8n, high + 32n], POSITION],
      [[7n, high + 32n], [8n, high + 31n], POSITION],
      [[7n, high + 32n], [8n, 60n], POSITION],
      [[7n, 32n], [8n, high], null],
      [[7n, 32n], [8n, (1n << 53n) + 1n], null],
      [[(1n << 64n) - 2n, 32n], [(1n << 64n) - 1n, (1n << 64n) - 1n], null],
    ];
    for (const [first, second, why] of cases) {
      const pairs = [first, second];
      const { dropped, kept, lastKept } = scanned(indexOf(pairs));
      const label = `${first} then ${second}`;
      expect(dropped, label).to.deep.equal(why === null ? [] : [{ ...entryOf(pairs, 1), why }]);
      expect(kept, label).to.equal(why === null ? 2 : 1);
      expect(lastKept, label).to.deep.equal(entryOf(pairs, why === null ? 1 : 0));
    }
  });

  it('measures each entry by the last one that it kept', () => {
    const pairs: readonly Pair[] = [
      [7n, 31n],
      [8n, 40n],
      [100n, 40n],
      [9n, 50n],
      [2n, 900n],
      [10n, 60n],
      [9n, 70n],
    ];
    expect(scanned(indexOf(pairs))).to.deep.include({
      entries: 7,
      kept: 3,
      firstKept: entryOf(pairs, 1),
      lastKept: entryOf(pairs, 5),
      dropped: [
        { ...entryOf(pairs, 0), why: IN_HEADER },
        { ...entryOf(pairs, 2), why: POSITION },
        { ...entryOf(pairs, 4), why: OFFSET },
        { ...entryOf(pairs, 6), why: OFFSET },
      ],
      marks: [entryOf(pairs, 1), entryOf(pairs, 3), entryOf(pairs, 5)],
    });
    expect(scanned(indexOf([[7n, 3n]]))).to.deep.include({ entries: 1, kept: 0, firstKept: null, lastKept: null });
  });

  it('remembers places spread evenly over a large index, and its last entry wherever that lies', () => {
    for (const [count, every] of [
      [256, 1],
      [257, 2],
      [512, 2],
      [513, 3],
      [9000, 36],
    ] as const) {
      const pairs = Array.from({ length: count }, (_, i): Pair => [7n + BigInt(i), 32n + 28n * BigInt(i)]);
      const scan = scanned(indexOf(pairs));
      const marked = pairs.flatMap((_, i) => (i % every === 0 ? [entryOf(pairs, i)] : []));
      expect(scan.marks, `${count}`).to.deep.equal(marked);
      expect(scan.lastKept).to.deep.equal(entryOf(pairs, count - 1));
      const cut = [...pairs, ...pairs.slice(0, 5)];
      expect(scanned(indexOf(cut)).lastKept, `${count} and dropped ones`).to.deep.equal(entryOf(pairs, count - 1));
    }
  });

  it('keeps a thousand of the dropped ones, and counts the others', () => {
    const scan = scanned(indexOf([[7n, 32n], ...Array.from({ length: 1002 }, (): Pair => [8n, 9n])]));
    expect([scan.dropped.length, scan.droppedOmitted, scan.kept]).to.deep.equal([1000, 2, 1]);
    expect(scan.dropped.at(-1)).to.deep.equal({ entry: 1000, offset: 8n, position: 9n, why: IN_HEADER });
  });

  it('looks at no entry behind a header that does not decode', () => {
    const bytes = indexOf([[7n, 32n]]);
    writeU16(bytes, 4, 9);
    const damage = { kind: 'IndexVersion', found: 9 };
    const nothing = {
      kept: 0,
      firstKept: null,
      lastKept: null,
      dropped: [],
      droppedOmitted: 0,
      tornBytes: 0,
      marks: [],
    };
    const scan = scanned(bytes);
    expect(scan.headerDamage?.kind).to.equal(damage.kind);
    expect({ ...scan, headerDamage: null }).to.deep.equal({
      bytes: 40,
      entries: 1,
      ...nothing,
      header: null,
      headerDamage: null,
    });
    for (const length of [0, 23]) {
      const short = scanned(bytes.slice(0, length));
      expect(short.headerDamage).to.deep.equal({ kind: 'Truncated', needed: 24, available: length });
      expect(short).to.deep.include({ bytes: length, entries: 0, header: null });
    }
  });

  it('walks from any kept entry on, and stays behind the last one', () => {
    const pairs = [0n, 1n, 2n, 3n].map((i): Pair => [7n + i, (1n << 40n) * i + 32n]);
    const cursor = new EntryCursor(new MemorySource(concatBytes([indexOf(pairs), new Uint8Array(5)])), 2);
    const seen: unknown[] = [];
    expect([cursor.entry, cursor.position]).to.deep.equal([-1, Number.POSITIVE_INFINITY]);
    while (cursor.advance()) seen.push([cursor.entry, cursor.offset, cursor.exactPosition, cursor.position]);
    expect(seen).to.deep.equal([2, 3].map((i) => [i, ...pairs[i]!, Number(pairs[i]![1])]));
    for (let i = 0; i < 2; i++) {
      expect(cursor.advance()).to.equal(false);
      expect(cursor.position).to.equal(Number.POSITIVE_INFINITY);
    }
    const left = new EntryCursor(new MemorySource(indexOf(pairs)));
    expect(left.advance()).to.equal(true);
    left.abandon();
    expect(left.position).to.equal(Number.POSITIVE_INFINITY);
    expect(left.advance()).to.equal(false);
  });
});
