import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import {
  decodeManifest,
  encodeManifest,
  MANIFEST_LAYOUT,
  MANIFEST_MAGIC,
  MAX_ENTRIES_KEPT,
  type ManifestEntry,
} from '../../src/format/manifest.js';
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
  text,
  u16,
  u32,
  u64,
} from './sidecar-rules.js';

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const TWO = hex(`
  464c4f46 0001 0000 00000002 | FLOF, version, reserved, count
  0000000000000000 0000000000000000 0000000000000007 000000000000022f | segment, base, last, size
  00060a24181e4000 00060a24181e4001 6e12da6d | oldest, newest, checksum
  000f 6e2f612f302d302e7365676d656e74 | key
  ffffffffffffffff fffffffffffffffe ffffffffffffffff ffffffffffffffff
  ffffffffffffffff ffffffffffffffff ffffffff
  0002 c3a9
  dea65cb1 | crc
`);
const NONE = hex('464c4f46 0001 0000 00000000 1c977243');
const HUGE_COUNT = hex('464c4f46 0001 0000 ffffffff c22c52a0');
const KEY_NOT_TEXT = hex(`
  464c4f46 0001 0000 00000001
  0000000000000000 0000000000000000 0000000000000007 000000000000022f
  0000000000000001 0000000000000002 00000003
  0002 c328
  490add78
`);
const ENTRIES: readonly ManifestEntry[] = [
  {
    segmentId: 0n,
    baseOffset: 0n,
    lastOffset: 7n,
    size: 559n,
    oldestMicros: 1_700_000_000_000_000n,
    newestMicros: 1_700_000_000_000_001n,
    checksum: 0x6e12da6d,
    key: 'n/a/0-0.segment',
    position: 12,
  },
  {
    segmentId: U64_MAX,
    baseOffset: U64_MAX - 1n,
    lastOffset: U64_MAX,
    size: U64_MAX,
    oldestMicros: U64_MAX,
    newestMicros: U64_MAX,
    checksum: 0xffffffff,
    key: 'é',
    position: 81,
  },
];
const SMALL = { ...ENTRIES[0]!, key: '' };

describe('format/manifest', () => {
  itKeepsTheRules({
    decode: decodeManifest,
    layout: MANIFEST_LAYOUT,
    sound: [TWO, NONE],
    fixedPart: 16,
    magic: MANIFEST_MAGIC,
  });

  it('entries are read as the page lays them out, with their positions, and no u64 is rounded', () => {
    expect(decodeManifest(feedOf(TWO)).value).to.deep.equal({ count: 2, entries: ENTRIES, entriesKept: 2 });
    expect(decodeManifest(feedOf(NONE)).value).to.deep.equal({ count: 0, entries: [], entriesKept: 0 });
    expect(encodeManifest({ entries: ENTRIES })).to.deep.equal(TWO);
    expect(encodeManifest({ entries: [] })).to.deep.equal(NONE);
  });

  it('the table gives the same values', () => {
    expect(layoutValues(MANIFEST_LAYOUT, TWO)).to.include({
      count: 2,
      'entries[0].last_offset': 7n,
      'entries[0].checksum': '0x6e12da6d',
      'entries[0].key': 'n/a/0-0.segment',
      'entries[1].size': U64_MAX,
      'entries[1].key': 'é',
      crc: '0xdea65cb1',
    });
  });

  it('what is encoded is decoded, the reserved word included', () => {
    const entry = fc.record({
      segmentId: u64,
      baseOffset: u64,
      lastOffset: u64,
      size: u64,
      oldestMicros: u64,
      newestMicros: u64,
      checksum: u32,
      key: text,
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), u16, (entries, word) => {
        const reserved = word === 0 ? {} : { reserved: word };
        const { value } = decodeManifest(strictFeed(encodeManifest({ entries, ...reserved })));
        expect(value?.entries.map(({ position: _, ...rest }) => rest)).to.deep.equal(entries);
        expect(value?.reserved ?? 0).to.equal(word);
      }),
    );
  });

  it('a count of four billion is truncated at once', () => {
    expect(refusal(decodeManifest(feedOf(HUGE_COUNT)))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 12, needed: 0xffffffff * 54 + 4, available: 4 },
    ]);
  });

  it('a count of more entries than the bytes can hold is truncated in front of the first, whatever that is', () => {
    const bytes = encodeManifest({ entries: [SMALL, SMALL] });
    expect(decodeManifest(feedOf(bytes)).damage).to.deep.equal([]);
    const short = decodeManifest(feedOf(bytes.subarray(0, -1)));
    expect(refusal(short)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 12, needed: 2 * 54 + 4, available: 2 * 54 + 3 },
    ]);
    expect(short.claimed).to.deep.equal({ count: 2 });
    expect(refusal(decodeManifest(feedOf(patched(TWO, 11, 3))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 12, needed: 3 * 54 + 4, available: TWO.length - 12 },
    ]);
  });

  it('a key of 65,535 bytes is the longest', () => {
    const key = 'k'.repeat(65_535);
    const { value } = decodeManifest(strictFeed(encodeManifest({ entries: [{ ...SMALL, key }] }), 65_589));
    expect(value?.entries[0]?.key).to.equal(key);
    expect(() => encodeManifest({ entries: [{ ...SMALL, key: `${key}k` }] })).to.throw('broken assumption');
  });

  it('a key that leaves the file is truncated at its entry, and the entries before it are claimed', () => {
    const reading = decodeManifest(feedOf(patched(TWO, 81 + 52, 0xff, 0xff)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 81, needed: 54 + 65_535 + 4, available: 60 },
    ]);
    expect(reading.claimed).to.deep.equal({ count: 2, entries: [ENTRIES[0]], entriesKept: 1 });
  });

  it('an entry that the keys before it have pushed out of the file is truncated', () => {
    expect(refusal(decodeManifest(feedOf(patched(TWO, 12 + 52, 0, 0x11))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 83, needed: 54 + 0xc3a9 + 4, available: 58 },
    ]);
  });

  it('one byte too many is refused', () => {
    expect(refusal(decodeManifest(feedOf(extended(TWO, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 141, extra: 1 },
    ]);
  });

  it('a wrong checksum is reported where it stands, before what keys say', () => {
    const reading = decodeManifest(feedOf(patched(KEY_NOT_TEXT, 68, 0x48)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarChecksum', position: 68, expected: '0x480add78', found: '0x490add78' },
    ]);
    expect(reading.claimed.entries?.[0]?.key).to.equal('\ufffd(');
  });

  it('a key that is not UTF-8 is a damaged field', () => {
    expect(refusal(decodeManifest(feedOf(KEY_NOT_TEXT)))).to.deep.equal([
      { kind: 'SidecarField', position: 66, field: 'key', problem: 'is not UTF-8' },
    ]);
  });

  it('every flipped bit after the version leaves no value', () => {
    for (let bit = 6 * 8; bit < TWO.length * 8; bit++) {
      const at = bit >> 3;
      expect(refusal(decodeManifest(feedOf(patched(TWO, at, TWO[at]! ^ (1 << (bit & 7))))))).to.have.lengthOf(1);
    }
  });

  it('a visitor sees every entry of a sound file, and none of a damaged one', () => {
    const seen: ManifestEntry[] = [];
    decodeManifest(strictFeed(TWO), (entry) => seen.push(entry));
    expect(seen).to.deep.equal(ENTRIES);
    for (const bytes of [extended(TWO, 0), patched(TWO, 20, 1), KEY_NOT_TEXT]) {
      decodeManifest(strictFeed(bytes), () => expect.fail('visited'));
    }
  });

  it('entries past the limit are counted and visited, and not kept', () => {
    const count = MAX_ENTRIES_KEPT + 3;
    const size = 12 + count * 54 + 4;
    const feed = sparseFeed(hex('464c4f46 0001 0000 00030d43'), size, hex('6b846bc7'));
    let visited = 0;
    const { value } = decodeManifest(feed, () => visited++);
    expect(value).to.include({ count, entriesKept: MAX_ENTRIES_KEPT });
    expect(value?.entries).to.have.lengthOf(MAX_ENTRIES_KEPT);
    expect(visited).to.equal(count);
  }).timeout(60_000);

  it('entries with very long keys are kept up to 32 MiB in all, and none behind them, however short', () => {
    const long = { ...SMALL, key: 'k'.repeat(65_536 - 54) };
    const shorter = { ...SMALL, key: 'k'.repeat(65_536 - 54 - 54) };
    const first = [...new Array<ManifestEntry>(511).fill(long), shorter];
    for (const [entries, entriesKept] of [
      [[...first, SMALL, SMALL], 513],
      [[...first, long, SMALL], 512],
    ] as const) {
      const { value } = decodeManifest(strictFeed(encodeManifest({ entries })));
      expect(value).to.include({ count: 514, entriesKept });
    }
  }).timeout(60_000);

  it('a file of a terabyte with a small count is refused without being read', () => {
    expect(refusal(decodeManifest(sparseFeed(NONE, 2 ** 40)))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 16, extra: 2 ** 40 - 16 },
    ]);
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) =>
      decodeManifest(
        feedOf(readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/offload.manifest`)),
      );

    it('decode as the cases say', () => {
      const healthy = decode('healthy-manifest');
      expect(healthy.damage).to.deep.equal([]);
      expect(healthy.value?.entries.map(({ baseOffset, lastOffset }) => [baseOffset, lastOffset])).to.deep.equal([
        [0n, 7n],
        [8n, 14n],
      ]);
      for (const name of ['healthy-manifest-old-keys', 'healthy-manifest-trimmed', 'manifest-order', 'manifest-key']) {
        expect(decode(name).damage, name).to.deep.equal([]);
      }
      expect(refusal(decode('manifest-crc')).map(({ kind }) => kind)).to.deep.equal(['SidecarChecksum']);
      expect(refusal(decode('manifest-huge-count'))[0]).to.include({ kind: 'SidecarTruncated', available: 4 });
      expect(refusal(decode('manifest-not-utf8'))[0]).to.include({ kind: 'SidecarField', field: 'key', position: 66 });
    });
  });
});
