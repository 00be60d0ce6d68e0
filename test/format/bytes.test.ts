/** Integers, text and hex digits as the format writes them, held to hand-made bytes and to DataView. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  bytesOfHex,
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  feedOf,
  hexOf,
  readU16,
  readU32,
  readU64,
  u64From,
  writeU16,
  writeU32,
  writeU64,
} from '../../src/format/bytes.js';

const U64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

describe('bytes', () => {
  const bytes = Uint8Array.from([0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x80]);

  it('reads integers most significant byte first', () => {
    expect(readU16(bytes, 1)).to.equal(0x0102);
    expect(readU32(bytes, 1)).to.equal(0x01020304);
    expect(readU64(bytes, 1)).to.equal(0x0102030405060780n);
  });

  it('never gives a negative number or a rounded one', () => {
    const ones = new Uint8Array(8).fill(0xff);
    expect(readU16(ones, 0)).to.equal(65_535);
    expect(readU32(ones, 0)).to.equal(4_294_967_295);
    expect(readU64(ones, 0)).to.equal(18_446_744_073_709_551_615n);
    expect(u64From(0x00200000, 1)).to.equal(9_007_199_254_740_993n);
  });

  it('writes what DataView writes, and nothing beside it', () => {
    fc.assert(
      fc.property(fc.nat(0xffff), fc.nat(0xffffffff), U64, (u16, u32, u64) => {
        const ours = new Uint8Array(18).fill(0xee);
        const theirs = new Uint8Array(18).fill(0xee);
        const view = new DataView(theirs.buffer);
        writeU16(ours, 1, u16);
        writeU32(ours, 4, u32);
        writeU64(ours, 9, u64);
        view.setUint16(1, u16);
        view.setUint32(4, u32);
        view.setBigUint64(9, u64);
        expect(ours).to.deep.equal(theirs);
        expect([readU16(ours, 1), readU32(ours, 4), readU64(ours, 9)]).to.deep.equal([u16, u32, u64]);
      }),
    );
  });

  it('joins parts in order', () => {
    expect(concatBytes([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)])).to.deep.equal(
      Uint8Array.of(1, 2, 3),
    );
    expect(concatBytes([])).to.deep.equal(new Uint8Array(0));
  });

  it('takes text that is not UTF-8 for no text, and keeps a byte order mark', () => {
    expect(decodeUtf8(Uint8Array.of(0xc3, 0xa9))).to.equal('é');
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).to.equal('\ufeffa');
    for (const wrong of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(decodeUtf8(Uint8Array.from(wrong)), wrong.join()).to.equal(null);
    }
    expect(encodeUtf8('é🙂')).to.deep.equal(Uint8Array.of(0xc3, 0xa9, 0xf0, 0x9f, 0x99, 0x82));
  });

  it('spells bytes as lower-case hex digits, and reads either case', () => {
    expect(hexOf(Uint8Array.of(0x00, 0x0a, 0xff))).to.equal('000aff');
    expect(bytesOfHex('000aFF')).to.deep.equal(Uint8Array.of(0x00, 0x0a, 0xff));
    expect(bytesOfHex('')).to.deep.equal(new Uint8Array(0));
    for (const wrong of ['0', '0g', '0x00', ' 00'])
      expect(() => bytesOfHex(wrong), wrong).to.throw('broken assumption');
  });

  it('gives views of a feed, and refuses one that is not inside it', () => {
    const feed = feedOf(bytes);
    expect(feed.size).to.equal(9);
    expect(feed.view(8, 1)).to.deep.equal(Uint8Array.of(0x80));
    expect(feed.view(9, 0)).to.have.length(0);
    for (const [position, length] of [
      [8, 2],
      [-1, 1],
      [10, 0],
      [0, -1],
    ] as const) {
      expect(() => feed.view(position, length), `${position}, ${length}`).to.throw('broken assumption');
    }
  });
});
