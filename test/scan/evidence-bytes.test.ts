/**
 * What bytes are taken for by themselves: each look at, under and over the least that it takes.
 */
import { expect } from 'chai';
import { concatBytes, encodeUtf8 } from '../../src/format/bytes.js';
import {
  magicEvidence,
  onesEvidence,
  partlyZerosEvidence,
  randomEvidence,
  repeatedEvidence,
  textEvidence,
} from '../../src/scan/evidence-bytes.js';
import { type Evidence, lookAt, type Recogniser } from '../../src/scan/evidence-view.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { FilledSource } from './counting-source.js';

const NOISE = seededRandom(77).bytes(4096);

function lookOf(recognise: Recogniser, source: ByteSource, from: number, to: number): Evidence | null {
  return recognise(lookAt(source, { from, to }, 'RecordHeaderChecksum', { expectedOffset: null }));
}

/** What a recogniser says of these bytes alone; they lie from `from` on. */
function said(recognise: Recogniser, bytes: Uint8Array, from = 0): string | null {
  const source = new MemorySource(concatBytes([new Uint8Array(from), bytes]));
  const found = lookOf(recognise, source, from, from + bytes.length);
  return found === null ? null : `${found.slug}: ${found.phrase}`;
}

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);
const join = (...parts: readonly (Uint8Array | string)[]) =>
  concatBytes(parts.map((part) => (typeof part === 'string' ? encodeUtf8(part) : part)));

/** `count` bytes in which a pattern of `period` different ones goes round. */
const pattern = (period: number, count: number) => Uint8Array.from({ length: count }, (_, at) => 1 + (at % period));

describe('bytes of 0xff', () => {
  it('are eight at least, and all of them', () => {
    expect(said(onesEvidence, filled(7, 0xff))).to.equal(null);
    expect(said(onesEvidence, filled(8, 0xff))).to.equal('ones: 8 bytes of 0xff');
    expect(said(onesEvidence, join(filled(8, 0xff), Uint8Array.of(0xfe)))).to.equal(null);
  });

  it('are counted as far as they were looked at', () => {
    const size = 1 << 20;
    const all = lookOf(onesEvidence, new FilledSource(size, 0xff), 32, size);
    expect(all?.phrase).to.equal('1,048,544 bytes, all that were looked at of 0xff');
    const last = new FilledSource(size, 0xff, [[size - 1, Uint8Array.of(0)]]);
    expect(lookOf(onesEvidence, last, 32, size)).to.equal(null);
  });
});

describe('zeros, then other bytes', () => {
  it('are twenty at least', () => {
    expect(said(partlyZerosEvidence, join(filled(19, 0), 'x'))).to.equal(null);
    expect(said(partlyZerosEvidence, join(filled(20, 0), 'x'))).to.equal(
      'partly-zeros: 20 bytes of zeros, then other bytes',
    );
    expect(said(partlyZerosEvidence, filled(40, 0))).to.equal(null);
  });

  it('may end with a sector, of 512 bytes or of 4,096', () => {
    const ends = (zeros: number) => said(partlyZerosEvidence, join(filled(zeros, 0), 'x'), 100);
    expect(ends(411)).to.equal('partly-zeros: 411 bytes of zeros, then other bytes');
    expect(ends(412)).to.equal('partly-zeros: 412 bytes of zeros, up to a boundary of 512 bytes, then other bytes');
    expect(ends(3996)).to.equal(
      'partly-zeros: 3,996 bytes of zeros, up to a boundary of 4,096 bytes, then other bytes',
    );
  });
});

describe('a magic', () => {
  const gzip = (flags: number, method = 8) => Uint8Array.of(0x1f, 0x8b, method, flags, 1, 2, 3, 4, 5, 6);
  const bzip2 = (level: string, block: number) => join(`BZh${level}`, Uint8Array.of(block, 2, 3, 4, 5, 6));
  const apple = Uint8Array.of(0, 5, 0x16, 7, 0, 2, 0, 0);
  const rows: readonly (readonly [what: string, bytes: Uint8Array, said: string | null])[] = [
    ['gzip', gzip(0x1f), 'gzip: gzip-compressed data'],
    ['gzip, cut off in its header', gzip(0).subarray(0, 9), null],
    ['gzip of another method', gzip(0, 7), null],
    ['gzip with a reserved flag', gzip(0x20), null],
    ['gzip with the highest reserved flag', gzip(0x80), null],
    ['bzip2, a block', bzip2('1', 0x31), 'bzip2: bzip2-compressed data'],
    ['bzip2, the end of a stream', bzip2('9', 0x17), 'bzip2: bzip2-compressed data'],
    ['bzip2 of level 0', bzip2('0', 0x31), null],
    ['bzip2 over level 9', bzip2(':', 0x31), null],
    ['bzip2 without a block', bzip2('5', 0x18), null],
    ['bzip2, cut off in its first block', bzip2('5', 0x31).subarray(0, 9), null],
    ['xz', Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), 'xz: XZ-compressed data'],
    ['AppleDouble', apple, 'apple-double: an AppleDouble file, as macOS writes beside a copied file'],
    ['AppleDouble, cut off in its version', apple.subarray(0, 7), null],
    ['AppleDouble of another version', Uint8Array.of(0, 5, 0x16, 7, 0, 1, 0, 0), null],
    ['text', encodeUtf8('no magic at all'), null],
  ];
  for (const [what, bytes, expected] of rows) {
    it(`is ${expected === null ? 'not borne out' : 'known'}: ${what}`, () => {
      expect(said(magicEvidence, bytes)).to.equal(expected);
    });
  }
});

describe('text', () => {
  const FOUR = '😀';
  const rows: readonly (readonly [what: string, bytes: Uint8Array, said: string | null])[] = [
    ['seven letters', join('letters'), null],
    ['eight letters', join('lettersx'), 'text: text'],
    ['eleven letters, then other bytes', join('elevenchars', filled(9, 0)), null],
    ['twelve letters, then other bytes', join('twelve chars', filled(9, 0)), 'text: text, in its first 12 bytes'],
    ['white space, then other bytes', join('\t\n\r \t\n\r \t\n\r ', filled(9, 0)), 'text: text, in its first 12 bytes'],
    [
      'the first and the last letter there are',
      join(' ~ ~ ~ ~ ~ ~', filled(9, 0)),
      'text: text, in its first 12 bytes',
    ],
    [
      'a control character under the first letter',
      join('eleven char', Uint8Array.of(0x1f), 'and more', filled(2, 0)),
      null,
    ],
    [
      'a control character behind the last letter',
      join('eleven char', Uint8Array.of(0x7f), 'and more', filled(2, 0)),
      null,
    ],
    ['a character cut off behind its third byte', join('größe, ', encodeUtf8(FOUR).subarray(0, 3)), 'text: text'],
    ['three bytes of a character in front', join(encodeUtf8(FOUR).subarray(1), 'größe'), 'text: text'],
    ['four bytes of none in front', join(filled(4, 0x80), 'größe'), null],
    ['four bytes of none behind', join('größe, ', filled(4, 0x80)), null],
    ['an object', join('{"order": 12}'), 'json: JSON text'],
    ['an object behind white space', join(' \n { "order": 12 }'), 'json: JSON text'],
    ['an empty object', join('{        }'), 'json: JSON text'],
    ['a list of lists', join('[ [1], [2]]'), 'json: JSON text'],
    ['an object, then other bytes', join('{"order": 12, ', filled(9, 0)), 'json: JSON text, in its first 14 bytes'],
    ['an object behind words', join('say {"order": 12}'), 'text: text'],
    ['an object behind a word', join('say{"order": 12}'), 'text: text'],
    ['a block of code', join('{x"order": 12}'), 'text: text'],
    ['a line of a log in brackets', join('[x"order", 12]'), 'text: text'],
    ['an object far behind white space', join(' '.repeat(256), '{"order": 12}'), 'text: text'],
  ];
  for (const [what, bytes, expected] of rows) {
    it(`is ${expected === null ? 'not seen' : 'seen'} in ${what}`, () => {
      expect(said(textEvidence, bytes)).to.equal(expected);
    });
  }

  it('is whole only when every piece that was looked at is', () => {
    const size = 1 << 20;
    const letters = new FilledSource(size, 0x61);
    expect(lookOf(textEvidence, letters, 0, size)).to.deep.equal({ slug: 'text', phrase: 'text' });
    const last = new FilledSource(size, 0x61, [[size - 1, Uint8Array.of(0)]]);
    expect(lookOf(textEvidence, last, 0, size)).to.deep.equal({
      slug: 'text',
      phrase: 'text, in its first 393,216 bytes',
    });
  });
});

describe('a pattern', () => {
  const noise = (length: number) => NOISE.subarray(0, length);
  const rows: readonly (readonly [what: string, bytes: Uint8Array, said: string | null])[] = [
    ['31 bytes', filled(31, 0xee), null],
    ['32 bytes', filled(32, 0xee), 'repeated: 0xee, repeated'],
    ['of eight bytes', pattern(8, 32), 'repeated: 0x0102030405060708, repeated'],
    ['of nine bytes', pattern(9, 36), 'repeated: a pattern of 9 bytes, repeated'],
    ['of 64 bytes, four times', pattern(64, 256), 'repeated: a pattern of 64 bytes, repeated'],
    ['of 64 bytes, not quite four times', pattern(64, 255), null],
    ['of 65 bytes', pattern(65, 650), null],
    ['half of what is there', join(filled(40, 0xee), noise(40)), 'repeated: 0xee, repeated in its first 40 bytes'],
    ['less than half of what is there', join(filled(40, 0xee), noise(41)), null],
    [
      'the shortest of those that fit',
      join(filled(100, 0xee), noise(50)),
      'repeated: 0xee, repeated in its first 100 bytes',
    ],
    [
      'one that begins with a shorter one',
      concatBytes(Array.from({ length: 8 }, () => Uint8Array.of(9, 9, 9, 9, 9, 3))),
      'repeated: 0x090909090903, repeated',
    ],
  ];
  for (const [what, bytes, expected] of rows) {
    it(`is ${expected === null ? 'none' : 'told'}: ${what}`, () => {
      expect(said(repeatedEvidence, bytes)).to.equal(expected);
    });
  }
});

describe('bytes without a pattern', () => {
  it('are 256 at least', () => {
    const random = 'random: bytes without a pattern, as encrypted or compressed data has them';
    expect(said(randomEvidence, NOISE.subarray(0, 255))).to.equal(null);
    expect(said(randomEvidence, NOISE.subarray(0, 256))).to.equal(random);
    expect(said(randomEvidence, NOISE)).to.equal(random);
  });

  it('have no value too often, and none as often as any other', () => {
    expect(said(randomEvidence, filled(1000, 0x55))).to.equal(null);
    expect(
      said(
        randomEvidence,
        Uint8Array.from({ length: 1024 }, (_, at) => at & 255),
      ),
    ).to.equal(null);
  });
});
