import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import {
  decodeStorageId,
  encodeStorageId,
  STORAGE_ID_MAGIC,
  STORAGE_ID_PACKED_LAYOUT,
  STORAGE_ID_PADDED_LAYOUT,
} from '../../src/format/storage-id.js';
import { describeWithCorpus } from '../builders/trees.js';
import { extended, hex, itKeepsTheRules, layoutValues, patched, refusal, strictFeed, u16 } from './sidecar-rules.js';

const ID = '000102030405060708090a0b0c0d0e0f';
const PADDED = hex(`464c4944 0001 0000 ${ID} 47a59888`);
const PACKED = hex(`464c4944 0001 ${ID} 1f8b462d`);

describe('format/storage-id', () => {
  for (const [name, bytes, layout] of [
    ['with reserved bytes', PADDED, STORAGE_ID_PADDED_LAYOUT],
    ['without reserved bytes', PACKED, STORAGE_ID_PACKED_LAYOUT],
  ] as const) {
    describe(name, () => {
      itKeepsTheRules({ decode: decodeStorageId, layout, sound: [bytes], fixedPart: 26, magic: STORAGE_ID_MAGIC });

      it('the table gives the id', () => {
        expect(layoutValues(layout, bytes)).to.include({ version: 1, id: ID });
      });
    });
  }

  it('both layouts are read, and the value says which one it was', () => {
    expect(decodeStorageId(feedOf(PADDED)).value).to.deep.equal({ id: ID, layout: 'padded' });
    expect(decodeStorageId(feedOf(PACKED)).value).to.deep.equal({ id: ID, layout: 'packed' });
    expect(encodeStorageId({ id: ID, layout: 'padded' })).to.deep.equal(PADDED);
    expect(encodeStorageId({ id: ID, layout: 'packed' })).to.deep.equal(PACKED);
  });

  it('what is encoded is decoded, the reserved word included', () => {
    const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    fc.assert(
      fc.property(id, fc.constantFrom('padded' as const, 'packed' as const), u16, (digits, layout, word) => {
        const reserved = layout === 'padded' && word !== 0 ? { reserved: word } : {};
        const value = { id: digits, layout, ...reserved };
        expect(decodeStorageId(strictFeed(encodeStorageId(value))).value).to.deep.equal(value);
      }),
    );
  });

  it('bytes after either layout are trailing, and the checksum tells which one it is', () => {
    for (const extra of [1, 2, 3, 40]) {
      const reading = decodeStorageId(feedOf(extended(PACKED, ...new Array<number>(extra).fill(7))));
      expect(refusal(reading)).to.deep.equal([{ kind: 'SidecarTrailingBytes', position: 26, extra }]);
      expect(reading.claimed).to.deep.equal({ id: ID, layout: 'packed' });
    }
    expect(refusal(decodeStorageId(feedOf(extended(PADDED, 7))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 28, extra: 1 },
    ]);
  });

  it('an id of other than 16 bytes is not written', () => {
    for (const id of [ID.slice(2), `${ID}10`]) {
      expect(() => encodeStorageId({ id, layout: 'padded' })).to.throw('broken assumption');
    }
  });

  it('27 bytes that are not the shorter layout want one more', () => {
    expect(refusal(decodeStorageId(feedOf(PADDED.subarray(0, 27))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 0, needed: 28, available: 27 },
    ]);
  });

  it('a wrong checksum stands where the length puts it', () => {
    expect(refusal(decodeStorageId(feedOf(patched(PADDED, 27, 0x89))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 24, expected: '0x47a59889', found: '0x47a59888' },
    ]);
    expect(refusal(decodeStorageId(feedOf(patched(PACKED, 25, 0x2c))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 22, expected: '0x1f8b462c', found: '0x1f8b462d' },
    ]);
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) => decodeStorageId(feedOf(readFileSync(`${corpus}/cases/${name}/storage-id`)));

    it('decode as the cases say', () => {
      expect(decode('root-clean')).to.deep.include({ value: { id: ID, layout: 'padded' }, damage: [] });
      expect(decode('root-packed-layouts')).to.deep.include({ value: { id: ID, layout: 'packed' }, damage: [] });
    });
  });
});
