import { expect } from 'chai';
import { checkKeys } from '../../src/check/keys.js';
import { encodeCompositeKey, encodeKeysIndex, type KeysIndexEntry } from '../../src/format/keys-index.js';
import { encodeRecord } from '../../src/format/record.js';
import { damaged, flipBit } from '../builders/damage.js';
import { type FactsOptions, factsOf, SUBJECT, told, withFiles, withoutFiles } from '../builders/facts.js';
import { indexName, logName, type ShardImage, shardOf } from '../builders/shards.js';
import { cacheShard } from '../builders/sidecars.js';

type Entry = Omit<KeysIndexEntry, 'position' | 'kind'>;

/** Offsets 0..20 and 20..40, many index entries. */
const { image, segments } = shardOf([
  { parts: [20], indexSpacing: 128 },
  { parts: [20], indexSpacing: 128 },
]);

function checksumAt(offset: number): number {
  const bytes = encodeRecord(segments.flatMap(({ records }) => records)[offset]!);
  return new DataView(bytes.buffer).getUint32(24);
}

function keyOf(text: string): Uint8Array {
  return encodeCompositeKey({ kind: 0, key: new TextEncoder().encode(text), slot: null, field: null });
}

function entryOf(key: Uint8Array | string, offset: bigint): Entry {
  return { key: typeof key === 'string' ? keyOf(key) : key, offset, version: 1n, expiresAtMillis: 0n, bytes: 5 };
}

interface Plan {
  readonly covered?: bigint;
  readonly checksum?: number;
  readonly entries?: readonly Entry[];
  readonly from?: ShardImage;
}

function withKeys({ covered = 30n, checksum, entries = [], from = image }: Plan): ShardImage {
  const lastChecksum = checksum ?? (covered === 0n ? 0 : checksumAt(Number(covered) - 1));
  const keys = encodeKeysIndex({ coveredThrough: covered, logBytes: 0n, lastChecksum, entries });
  return withFiles(from, { 'keys.idx': keys });
}

const judged = (files: ShardImage, options: FactsOptions = {}) => checkKeys(factsOf(files, options), SUBJECT);
const withoutFirst = withoutFiles(image, logName(0), indexName(0));

describe('checkKeys', () => {
  it('says nothing of an index that the log bears out', () => {
    for (const files of [
      cacheShard().image,
      image,
      withKeys({}),
      withKeys({ covered: 40n }),
      withKeys({ covered: 0n }),
    ]) {
      expect(judged(files)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
    }
  });

  it('KeysStale: covered offsets outside the log; its two ends are inside', () => {
    const past = judged(withKeys({ covered: 41n, checksum: 1 }));
    expect(told(past)).to.deep.equal(['warning KeysStale keys.idx@7']);
    expect(past.findings[0]?.detail).to.deep.equal({ coveredThrough: 41n, base: 0n, tail: 40n });
    expect(told(judged(withKeys({ covered: 40n })))).to.deep.equal([]);
    expect(told(judged(withKeys({ covered: 19n, from: withoutFirst })))).to.deep.equal([
      'warning KeysStale keys.idx@7',
    ]);
    expect(told(judged(withKeys({ covered: 20n, checksum: 0, from: withoutFirst })))).to.deep.equal([]);
  });

  it('KeysStale is not judged against ends that are not known', () => {
    for (const options of [{ base: null }, { tail: null }]) {
      const judgement = judged(withKeys({ covered: 99n, checksum: 1 }), options);
      expect(told(judgement)).to.deep.equal([]);
      expect(judgement.notChecked).to.have.lengthOf(1);
    }
  });

  it('KeysEntry: keys that do not ascend as bytes, once with their number', () => {
    const entries = ['b', 'a', 'c', 'c', 'd'].map((key) => entryOf(key, 1n));
    const { findings } = judged(withKeys({ entries }));
    const length = 32 + keyOf('a').length;
    expect(told({ findings })).to.deep.equal([`warning KeysEntry keys.idx@${35 + length}`]);
    expect(findings[0]?.detail).to.deep.equal({
      entry: 1,
      why: 'its key sorts in front of that of the entry before',
      count: 2,
    });
    expect(told(judged(withKeys({ entries: ['', 'a', 'b', 'aa'].map((key) => entryOf(key, 1n)) })))).to.deep.equal([]);
  });

  it('KeysEntry: a key that is no cache key', () => {
    const hash = encodeCompositeKey({ kind: 1, key: Uint8Array.of(97), slot: 0, field: new Uint8Array() });
    const whys = [
      new Uint8Array(),
      Uint8Array.of(0, 0, 0),
      Uint8Array.of(0, 0, 0, 0, 9, 1),
      Uint8Array.of(9),
      hash,
    ].map((key) => {
      const { findings } = judged(withKeys({ entries: [entryOf(key, 1n)] }));
      expect(told({ findings })).to.deep.equal(['warning KeysEntry keys.idx@35']);
      return findings[0]?.message;
    });
    expect(whys.every((why) => why?.startsWith('Entry 0 of keys.idx is wrong: its key '))).to.equal(true);
  });

  it('KeysEntry: an offset at the oldest is right, one below it or at the end of the coverage is not', () => {
    const at = (offset: bigint) => told(judged(withKeys({ entries: [entryOf('a', offset)], from: withoutFirst })));
    expect(at(20n)).to.deep.equal([]);
    expect(at(29n)).to.deep.equal([]);
    expect(at(19n)).to.deep.equal(['warning KeysEntry keys.idx@35']);
    expect(at(30n)).to.deep.equal(['warning KeysEntry keys.idx@35']);
  });

  it('a stale index explains entries below the oldest offset', () => {
    const files = withKeys({ covered: 10n, entries: [entryOf('a', 3n)], from: withoutFirst });
    expect(told(judged(files))).to.deep.equal(['warning KeysStale keys.idx@7']);
  });

  it('long keys that differ late are left alone, and said to be', () => {
    const long = (last: number) => {
      const key = new Uint8Array(1_100_000).fill(97);
      key[key.length - 1] = last;
      return encodeCompositeKey({ kind: 0, key, slot: null, field: null });
    };
    const judgement = judged(withKeys({ entries: [entryOf(long(98), 1n), entryOf(long(97), 1n)] }));
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('KeysLastChecksum: another record stands at the end of the coverage', () => {
    for (const covered of [1n, 20n, 21n, 30n, 40n]) {
      const { findings } = judged(withKeys({ covered, checksum: 0xdead }));
      expect(told({ findings })).to.deep.equal(['warning KeysLastChecksum keys.idx@31']);
      const found = `0x${checksumAt(Number(covered) - 1)
        .toString(16)
        .padStart(8, '0')}`;
      expect(findings[0]?.detail).to.deep.equal({ offset: covered - 1n, expected: '0x0000dead', found });
    }
    expect(told(judged(withKeys({ covered: 0n, checksum: 5 })))).to.deep.equal([
      'warning KeysLastChecksum keys.idx@31',
    ]);
  });

  it('KeysLastChecksum: found without an index, past a wrong one, and in a quick look', () => {
    const files = withKeys({ checksum: 0xdead });
    const told1 = ['warning KeysLastChecksum keys.idx@31'];
    expect(told(judged(withoutFiles(files, indexName(1))))).to.deep.equal(told1);
    expect(
      told(judged(damaged(files, ...[40, 56, 72, 88].map((at) => flipBit(indexName(1), at + 15, 1))))),
    ).to.deep.equal(told1);
    expect(told(judged(files, { quick: true }))).to.deep.equal(told1);
  });

  it('KeysLastChecksum: damage in front of the record is stepped over, damage in it is not judged', () => {
    const indexed = withKeys({ covered: 10n, checksum: 0xdead });
    const bare = withoutFiles(indexed, indexName(0));
    const before = flipBit(logName(0), segments[0]!.positions[3]! + 2, 1);
    expect(told(judged(damaged(bare, before)))).to.deep.equal(['warning KeysLastChecksum keys.idx@31']);
    const inside = flipBit(logName(0), segments[0]!.positions[9]! + 30, 1);
    for (const files of [bare, indexed]) {
      const judgement = judged(damaged(files, inside));
      expect(told(judgement)).to.deep.equal([]);
      expect(judgement.notChecked).to.have.lengthOf(1);
    }
  });

  it('KeysLastChecksum: a record below the oldest, or in no segment, is not judged', () => {
    const below = judged(withKeys({ covered: 20n, checksum: 7, from: withoutFirst }));
    expect(told(below)).to.deep.equal([]);
    expect(below.notChecked).to.have.lengthOf(1);
    const between = judged(withKeys({ covered: 10n, checksum: 7, from: withoutFirst }), { base: 0n });
    expect(between.notChecked.join()).to.match(/no segment holds offset 9/);
  });

  it('an index that does not decode is left to its own finding', () => {
    const judgement = judged(damaged(withKeys({ checksum: 1 }), flipBit('keys.idx', 20, 1)));
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('what cannot be read again is unreadable', () => {
    for (const file of ['keys.idx', logName(1)]) {
      const judgement = judged(withKeys({}), { failing: [file] });
      expect(told(judgement).map((line) => line.replace(/@.*/, ''))).to.deep.equal([`error Unreadable ${file}`]);
      expect(judgement.notChecked).to.have.lengthOf(1);
    }
  });
});
