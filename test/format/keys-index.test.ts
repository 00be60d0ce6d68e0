import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import {
  COMPOSITE_KEY_LAYOUT,
  type CompositeKey,
  decodeCompositeKey,
  decodeKeysIndex,
  encodeCompositeKey,
  encodeKeysIndex,
  KEYS_INDEX_LAYOUT,
  KEYS_INDEX_MAGIC,
  type KeysIndexEntry,
  MAX_COMPOSITE_KEY_LENGTH,
} from '../../src/format/keys-index.js';
import { describeWithCorpus } from '../builders/trees.js';
import {
  extended,
  hex,
  itKeepsTheRules,
  layoutValues,
  patched,
  refusal,
  sparseFeed,
  strictFeed,
  u32,
  u64,
} from './sidecar-rules.js';

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const TWO = hex(`
  46584958 0001 00 | FXIX, format, store
  0000000000000005 0000000000000002 000000000000009b af1a755c | covered_through, entry_count, log_bytes, last_checksum
  00000006 000000000161 | key_len; kind, key_len, key
  0000000000000004 ffffffffffffffff 0000000000000000 0000001d | offset, version, expires_at_millis, bytes
  00000006 000000000162
  ffffffffffffffff 0000000000000001 ffffffffffffffff ffffffff
  2e3a99ad | crc
`);
const header = (store: string, count: string, crc: string) =>
  hex(`46584958 0001 ${store} 0000000000000000 ${count} 0000000000000000 00000000 ${crc}`);
const NONE = header('00', '0000000000000000', '4ed28ec4');
const COLLECTIONS = header('01', '0000000000000000', 'b90945e1');
const UNKNOWN_STORE = header('02', '0000000000000000', 'a4896e7f');
const HUGE_COUNT = header('00', 'ffffffffffffffff', 'b0674210');
/** The header of a file with one entry; all that follows but a length and a checksum may be zeros. */
const ONE_OF_ZEROS = `46584958 0001 00 0000000000000000 0000000000000001 0000000000000000 00000000`;
const VALUE = { coveredThrough: 5n, entryCount: 2n, logBytes: 155n, lastChecksum: 0xaf1a755c };
const ENTRIES: readonly KeysIndexEntry[] = [
  { key: hex('000000000161'), kind: 0, offset: 4n, version: U64_MAX, expiresAtMillis: 0n, bytes: 29, position: 35 },
  {
    key: hex('000000000162'),
    kind: 0,
    offset: U64_MAX,
    version: 1n,
    expiresAtMillis: U64_MAX,
    bytes: 0xffffffff,
    position: 73,
  },
];

function visited(bytes: Uint8Array): KeysIndexEntry[] {
  const seen: KeysIndexEntry[] = [];
  decodeKeysIndex(strictFeed(bytes), (entry) => seen.push({ ...entry, key: entry.key.slice() }));
  return seen;
}

describe('format/keys-index', () => {
  itKeepsTheRules({
    decode: (feed) => decodeKeysIndex(feed, () => undefined),
    layout: KEYS_INDEX_LAYOUT,
    sound: [TWO, NONE],
    fixedPart: 39,
    magic: KEYS_INDEX_MAGIC,
  });

  it('the header is kept and the entries are visited, as the page lays them out', () => {
    expect(decodeKeysIndex(feedOf(TWO))).to.deep.equal({ value: VALUE, claimed: VALUE, damage: [] });
    expect(visited(TWO)).to.deep.equal(ENTRIES);
    expect(visited(NONE)).to.deep.equal([]);
    expect(encodeKeysIndex({ ...VALUE, entries: ENTRIES })).to.deep.equal(TWO);
  });

  it('the table gives the same values', () => {
    expect(layoutValues(KEYS_INDEX_LAYOUT, TWO)).to.include({
      store: 0,
      covered_through: 5n,
      entry_count: 2n,
      last_checksum: '0xaf1a755c',
      'entries[0].key': '000000000161',
      'entries[1].offset': U64_MAX,
      'entries[1].bytes': 0xffffffff,
      crc: '0x2e3a99ad',
    });
  });

  it('what is encoded is visited', () => {
    const key = fc.uint8Array({ maxLength: 40 });
    const entry = fc.record({ key, offset: u64, version: u64, expiresAtMillis: u64, bytes: u32 });
    const facts = fc.record({ coveredThrough: u64, logBytes: u64, lastChecksum: u32 });
    fc.assert(
      fc.property(facts, fc.array(entry, { maxLength: 10 }), (head, entries) => {
        const bytes = encodeKeysIndex({ ...head, entries });
        expect(decodeKeysIndex(strictFeed(bytes)).value).to.deep.equal({ ...head, entryCount: BigInt(entries.length) });
        expect(visited(bytes).map(({ kind: _, position: __, ...rest }) => rest)).to.deep.equal(entries);
      }),
    );
  });

  it('entries across the borders of chunks are visited whole', () => {
    const entries = Array.from({ length: 5000 }, (_, index) => ({
      key: new Uint8Array(index % 97).fill(index),
      offset: BigInt(index),
      version: 0n,
      expiresAtMillis: 0n,
      bytes: index,
    }));
    const bytes = encodeKeysIndex({ coveredThrough: 5000n, logBytes: 0n, lastChecksum: 0, entries });
    expect(visited(bytes).map(({ kind: _, position: __, ...rest }) => rest)).to.deep.equal(entries);
  });

  it('a single long key is one long view, and only when it is visited', () => {
    const key = new Uint8Array(300_000).fill(0x6b);
    const entry = { key, offset: 1n, version: 2n, expiresAtMillis: 3n, bytes: 4 };
    const bytes = encodeKeysIndex({ coveredThrough: 5n, logBytes: 0n, lastChecksum: 0, entries: [entry, entry] });
    expect(decodeKeysIndex(strictFeed(bytes)).damage).to.deep.equal([]);
    const seen: number[] = [];
    decodeKeysIndex(strictFeed(bytes, 300_032), (each) => seen.push(each.key.length));
    expect(seen).to.deep.equal([300_000, 300_000]);
  });

  it('a count of u64 maximum is truncated at once, under a right checksum too', () => {
    const reading = decodeKeysIndex(feedOf(HUGE_COUNT));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 35, needed: Number.MAX_SAFE_INTEGER, available: 4 },
    ]);
    expect(reading.claimed.entryCount).to.equal(U64_MAX);
  });

  it('a key of four billion bytes is truncated at its entry', () => {
    expect(refusal(decodeKeysIndex(feedOf(patched(TWO, 73, 0xff, 0xff, 0xff, 0xff))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 73, needed: 32 + 0xffffffff + 4, available: 42 },
    ]);
  });

  it('a count of more entries than the bytes can hold is truncated in front of the first, whatever that is', () => {
    const entry = { key: new Uint8Array(0), offset: 1n, version: 2n, expiresAtMillis: 3n, bytes: 4 };
    const bytes = encodeKeysIndex({ coveredThrough: 5n, logBytes: 0n, lastChecksum: 0, entries: [entry, entry] });
    expect(visited(bytes)).to.deep.equal([
      { ...entry, kind: null, position: 35 },
      { ...entry, kind: null, position: 67 },
    ]);
    expect(refusal(decodeKeysIndex(feedOf(bytes.subarray(0, -1))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 35, needed: 2 * 32 + 4, available: 2 * 32 + 3 },
    ]);
    expect(refusal(decodeKeysIndex(feedOf(patched(TWO, 22, 3))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 35, needed: 3 * 32 + 4, available: TWO.length - 35 },
    ]);
    expect(refusal(decodeKeysIndex(feedOf(patched(bytes, 67 + 3, 5))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 67, needed: 32 + 5 + 4, available: 32 + 4 },
    ]);
  });

  it('an entry without room for its fixed fields is truncated', () => {
    expect(refusal(decodeKeysIndex(feedOf(patched(TWO, 38, 16))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 83, needed: 36, available: 32 },
    ]);
  });

  it('a key as long as a record can hold it is the longest, and a longer one is a damaged field', () => {
    for (const [keyLength, crc, problem] of [
      ['04000005', 'bb6e7510', null],
      ['04000006', '888a4589', 'is over 67108869, and no record holds such a key'],
    ] as const) {
      const size = 39 + Number.parseInt(keyLength, 16) + 28 + 4;
      const feed = sparseFeed(hex(`${ONE_OF_ZEROS} ${keyLength}`), size, hex(crc));
      const { value, damage } = decodeKeysIndex(feed);
      expect(value?.entryCount ?? null).to.equal(problem === null ? 1n : null);
      expect(damage).to.deep.equal(
        problem === null ? [] : [{ kind: 'SidecarField', position: 35, field: 'key_len', problem }],
      );
    }
  }).timeout(60_000);

  it('a file that does not end where it says is that, whatever the lengths of its keys', () => {
    const size = 39 + MAX_COMPOSITE_KEY_LENGTH + 1 + 28 + 4;
    const feed = sparseFeed(hex(`${ONE_OF_ZEROS} 04000006`), size + 1);
    expect(refusal(decodeKeysIndex(feed))).to.deep.equal([{ kind: 'SidecarTrailingBytes', position: size, extra: 1 }]);
  });

  it('one byte too many is refused', () => {
    expect(refusal(decodeKeysIndex(feedOf(extended(TWO, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 115, extra: 1 },
    ]);
  });

  it('a wrong checksum is reported where it stands, before the store', () => {
    expect(refusal(decodeKeysIndex(feedOf(patched(COLLECTIONS, 38, 0xe0))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 35, expected: '0xb90945e0', found: '0xb90945e1' },
    ]);
  });

  it('a store other than a cache is a damaged field', () => {
    for (const [bytes, problem] of [
      [COLLECTIONS, 'is 1, which is reserved for collections'],
      [UNKNOWN_STORE, 'is 2, not 0'],
    ] as const) {
      const reading = decodeKeysIndex(feedOf(bytes), () => expect.fail('visited'));
      expect(refusal(reading)).to.deep.equal([{ kind: 'SidecarField', position: 6, field: 'store', problem }]);
      expect(reading.claimed).to.deep.equal({ coveredThrough: 0n, entryCount: 0n, logBytes: 0n, lastChecksum: 0 });
    }
  });

  it('every flipped bit after the version leaves no value and visits nothing', () => {
    for (let bit = 6 * 8; bit < TWO.length * 8; bit++) {
      const at = bit >> 3;
      const bytes = patched(TWO, at, TWO[at]! ^ (1 << (bit & 7)));
      expect(refusal(decodeKeysIndex(feedOf(bytes), () => expect.fail('visited')))).to.have.lengthOf(1);
    }
  });

  describe('composite keys', () => {
    const problem = (digits: string) => {
      const decoded = decodeCompositeKey(hex(digits));
      return decoded.ok ? null : decoded.error;
    };

    it('a cache value has neither slot nor field', () => {
      expect(decodeCompositeKey(hex('00 00000002 c3a9'))).to.deep.equal({
        ok: true,
        value: { kind: 0, key: hex('c3a9'), slot: null, field: null },
      });
      expect(problem('00 00000001 61 00')).to.equal('has 1 bytes after it');
    });

    it('the reserved kinds have a slot and a field', () => {
      for (const kind of [1, 2, 3]) {
        const bytes = hex(`0${kind} 00000001 61 01 6263`);
        const value = { kind, key: hex('61'), slot: 1, field: hex('6263') };
        expect(decodeCompositeKey(bytes)).to.deep.equal({ ok: true, value });
        expect(layoutValues(COMPOSITE_KEY_LAYOUT, bytes)).to.include({ kind, key: 'a', slot: 1, field: '6263' });
      }
    });

    it('a slot and a field are written together, of every kind but a cache value', () => {
      const [key, field] = [hex('61'), hex('6263')];
      for (const wrong of [
        { kind: 0, key, slot: 1, field },
        { kind: 0, key, slot: null, field },
        { kind: 0, key, slot: 1, field: null },
        { kind: 2, key, slot: null, field: null },
        { kind: 2, key, slot: null, field },
        { kind: 2, key, slot: 1, field: null },
      ]) {
        expect(() => encodeCompositeKey(wrong)).to.throw('broken assumption');
      }
    });

    it('bytes that are none have a reason', () => {
      expect(problem('')).to.equal('ends after 0 of the 5 bytes of kind and length');
      expect(problem('04 00000000')).to.equal('has kind 4, which is not known');
      expect(problem('00 ffffffff 61')).to.equal('claims a key of 4294967295 bytes, and has 1');
      expect(problem('01 00000001 61')).to.equal('has no slot');
      expect(problem('01 00000001 61 02')).to.equal('has slot 2, neither 0 nor 1');
    });

    it('what is encoded is decoded, and no bytes make it throw', () => {
      const bytes = fc.uint8Array({ maxLength: 20 });
      const value: fc.Arbitrary<CompositeKey> = fc.record({
        kind: fc.constant(0),
        key: bytes,
        slot: fc.constant(null),
        field: fc.constant(null),
      });
      const member = fc.record({ kind: fc.integer({ min: 1, max: 3 }), key: bytes, slot: fc.nat(1), field: bytes });
      fc.assert(
        fc.property(fc.oneof(value, member), (key) => {
          expect(decodeCompositeKey(encodeCompositeKey(key))).to.deep.equal({ ok: true, value: key });
        }),
      );
      fc.assert(fc.property(bytes, (any) => void decodeCompositeKey(any)));
    });
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const file = (name: string) =>
      readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/keys.idx`);
    const keys = (name: string) =>
      visited(file(name)).map(({ key }) => {
        const decoded = decodeCompositeKey(key);
        return decoded.ok ? Buffer.from(decoded.value.key).toString() : decoded.error;
      });

    it('decode as the cases say', () => {
      expect(decodeKeysIndex(feedOf(file('healthy-keys-idx'))).value).to.deep.equal({
        coveredThrough: 5n,
        entryCount: 4n,
        logBytes: 155n,
        lastChecksum: 0xaf1a755c,
      });
      expect(keys('healthy-keys-idx')).to.deep.equal(['z', 'cart/9', 'user/1', 'user/2']);
      expect(keys('keys-unsorted')).to.deep.equal(['user/2', 'user/1', 'cart/9', 'z']);
      expect(refusal(decodeKeysIndex(feedOf(file('keys-crc')))).map(({ kind }) => kind)).to.deep.equal([
        'SidecarChecksum',
      ]);
      for (const name of ['keys-past-tail', 'keys-entry', 'keys-last-checksum']) {
        expect(decodeKeysIndex(feedOf(file(name))).damage, name).to.deep.equal([]);
      }
    });
  });
});
