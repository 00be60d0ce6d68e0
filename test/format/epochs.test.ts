import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import { decodeEpochs, EPOCHS_LAYOUT, EPOCHS_MAGIC, encodeEpochs } from '../../src/format/epochs.js';
import { describeWithCorpus } from '../builders/trees.js';
import { extended, hex, itKeepsTheRules, layoutValues, patched, refusal, strictFeed, u64 } from './sidecar-rules.js';

const TWO = hex(`
  464c4550 0001 0002 93554193 | FLEP, version, count, body_crc
  0000000000000001 0000000000000000
  ffffffffffffffff 0020000000000001
`);
const NONE = hex('464c4550 0001 0000 00000000');
const ENTRIES = [
  { generation: 1n, startOffset: 0n },
  { generation: 0xffff_ffff_ffff_ffffn, startOffset: 9_007_199_254_740_993n },
];

describe('format/epochs', () => {
  itKeepsTheRules({
    decode: decodeEpochs,
    layout: EPOCHS_LAYOUT,
    sound: [TWO, NONE],
    fixedPart: 12,
    magic: EPOCHS_MAGIC,
  });

  it('entries are read as the page lays them out, and no u64 is rounded', () => {
    expect(decodeEpochs(feedOf(TWO))).to.deep.equal({
      value: { entries: ENTRIES },
      claimed: { entries: ENTRIES },
      damage: [],
    });
    expect(decodeEpochs(feedOf(NONE)).value).to.deep.equal({ entries: [] });
  });

  it('the table gives the same values', () => {
    expect(layoutValues(EPOCHS_LAYOUT, TWO)).to.include({
      magic: '0x464c4550',
      count: 2,
      body_crc: '0x93554193',
      'entries[0].generation': 1n,
      'entries[1].generation': 0xffff_ffff_ffff_ffffn,
      'entries[1].start_offset': 9_007_199_254_740_993n,
    });
  });

  it('the encoder writes the bytes of the page', () => {
    expect(encodeEpochs({ entries: ENTRIES })).to.deep.equal(TWO);
    expect(encodeEpochs({ entries: [] })).to.deep.equal(NONE);
  });

  it('what is encoded is decoded', () => {
    const entries = fc.array(fc.record({ generation: u64, startOffset: u64 }), { maxLength: 600 });
    fc.assert(
      fc.property(entries, (list) => {
        expect(decodeEpochs(strictFeed(encodeEpochs({ entries: list }))).value).to.deep.equal({ entries: list });
      }),
    );
  });

  it('the largest count is read in small views', () => {
    const entries = Array.from({ length: 65_535 }, (_, index) => ({ generation: BigInt(index), startOffset: 0n }));
    const reading = decodeEpochs(strictFeed(encodeEpochs({ entries })));
    expect(reading.damage).to.deep.equal([]);
    expect(reading.value?.entries.at(-1)).to.deep.equal(entries.at(-1));
    expect(() => encodeEpochs({ entries: [...entries, entries[0]!] })).to.throw('broken assumption');
  });

  it('a count beyond the bytes is truncated, and claims the whole entries', () => {
    const reading = decodeEpochs(feedOf(patched(TWO, 6, 0xff, 0xff)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 12, needed: 65_535 * 16, available: 32 },
    ]);
    expect(reading.claimed).to.deep.equal({ entries: ENTRIES });
  });

  it('bytes after the counted entries are damage beside a value', () => {
    expect(decodeEpochs(feedOf(extended(TWO, 1, 2, 3)))).to.deep.equal({
      value: { entries: ENTRIES },
      claimed: { entries: ENTRIES },
      damage: [{ kind: 'SidecarTrailingBytes', position: 44, extra: 3 }],
    });
  });

  it('a wrong checksum comes before trailing bytes, and there is no value', () => {
    expect(refusal(decodeEpochs(feedOf(extended(patched(TWO, 8, 0x92), 0))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 8, expected: '0x92554193', found: '0x93554193' },
      { kind: 'SidecarTrailingBytes', position: 44, extra: 1 },
    ]);
  });

  it('every flipped bit of an entry is met by the checksum', () => {
    for (let bit = 12 * 8; bit < TWO.length * 8; bit++) {
      const at = bit >> 3;
      const [damage] = refusal(decodeEpochs(feedOf(patched(TWO, at, TWO[at]! ^ (1 << (bit & 7))))));
      expect(damage?.kind).to.equal('SidecarChecksum');
    }
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) =>
      decodeEpochs(feedOf(readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/epochs`)));

    it('decode as the cases say', () => {
      expect(decode('healthy-v4').value).to.deep.equal({
        entries: [
          { generation: 1n, startOffset: 0n },
          { generation: 2n, startOffset: 5n },
          { generation: 5n, startOffset: 11n },
        ],
      });
      expect(decode('epochs-order').value?.entries.map(({ generation }) => generation)).to.deep.equal([1n, 4n, 3n]);
      expect(refusal(decode('epochs-crc')).map(({ kind }) => kind)).to.deep.equal(['SidecarChecksum']);
      expect(refusal(decode('epochs-short'))).to.deep.equal([
        { kind: 'SidecarTruncated', position: 12, needed: 32, available: 29 },
      ]);
      expect(refusal(decode('epochs-magic'))).to.deep.equal([
        { kind: 'SidecarMagic', position: 0, expected: '0x464c4550', found: '0x464c5253' },
      ]);
    });
  });
});
