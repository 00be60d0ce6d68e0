/** The index header and its entries against hand-made bytes and against indexes that a broker's storage has written. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { bytesOfHex, concatBytes, hexOf } from '../../src/format/bytes.js';
import {
  decodeIndexEntry,
  decodeIndexHeader,
  encodeIndex,
  encodeIndexHeader,
  INDEX_ENTRY_LEN,
  INDEX_HEADER_LEN,
  INDEX_LAYOUT,
} from '../../src/format/index.js';
import { fixedLength, walkLayout } from '../../src/format/layout.js';
import { describeWithCorpus } from '../builders/trees.js';

/** Laid out by hand from the tables of the page: base 8, entries for offset 8 at 32 and 71 at 4140. */
const HEADER = '464c5349 0003 0000 0000000000000008 0000000000000000'.replaceAll(' ', '');
const ENTRIES = '0000000000000008 0000000000000020 0000000000000047 000000000000102c'.replaceAll(' ', '');

const U64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

describe('index', () => {
  it('is the hand-made bytes both ways', () => {
    const bytes = encodeIndex(8n, [
      { offset: 8n, position: 32n },
      { offset: 71n, position: 4140n },
    ]);
    expect(hexOf(bytes)).to.equal(HEADER + ENTRIES);
    expect(decodeIndexHeader(bytes)).to.deep.equal({ ok: true, value: { version: 3, flags: 0, baseOffset: 8n } });
    expect(decodeIndexEntry(bytes, 24)).to.deep.equal({ offset: 8n, position: 32n });
    expect(decodeIndexEntry(bytes, 40)).to.deep.equal({ offset: 71n, position: 4140n });
  });

  it('may have no entry', () => {
    expect(encodeIndex(0n, [])).to.have.length(INDEX_HEADER_LEN);
  });

  it('decodes to what was encoded, positions past any file included', () => {
    fc.assert(
      fc.property(U64, fc.array(fc.record({ offset: U64, position: U64 }), { maxLength: 9 }), (baseOffset, entries) => {
        const bytes = encodeIndex(baseOffset, entries);
        expect(decodeIndexHeader(bytes)).to.deep.equal({ ok: true, value: { version: 3, flags: 0, baseOffset } });
        expect(entries.map((_, i) => decodeIndexEntry(bytes, 24 + 16 * i))).to.deep.equal(entries);
      }),
    );
  });

  it('is read at versions 2, 3 and 4, with any flags', () => {
    for (const version of [2, 3, 4]) {
      const header = { version, flags: 0xbeef, baseOffset: 5n };
      expect(decodeIndexHeader(encodeIndexHeader(header))).to.deep.equal({ ok: true, value: header });
    }
  });

  describe('header is refused in the order of a broker', () => {
    it('length first', () => {
      for (const length of [0, 1, 23]) {
        expect(decodeIndexHeader(new Uint8Array(length))).to.deep.equal({
          ok: false,
          error: { kind: 'Truncated', needed: 24, available: length },
        });
      }
    });

    it('then the magic: that of a segment is another', () => {
      expect(decodeIndexHeader(bytesOfHex(HEADER.replace('464c5349', '464c5347')))).to.deep.equal({
        ok: false,
        error: { kind: 'IndexMagic', found: '0x464c5347' },
      });
      const both = decodeIndexHeader(new Uint8Array(24));
      expect(both).to.deep.equal({ ok: false, error: { kind: 'IndexMagic', found: '0x00000000' } });
    });

    it('then the version', () => {
      for (const version of [0, 1, 5, 0x0300, 0xffff]) {
        expect(decodeIndexHeader(encodeIndexHeader({ version, flags: 0, baseOffset: 0n }))).to.deep.equal({
          ok: false,
          error: { kind: 'IndexVersion', found: version },
        });
      }
    });
  });

  it('never throws for what the bytes say', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (bytes, magic) => {
        const tried = magic ? concatBytes([bytesOfHex('464c5349'), bytes]) : bytes;
        expect(decodeIndexHeader(tried)).to.have.property('ok');
      }),
    );
  });

  describe('table', () => {
    it('names each byte once, with the values of the decoder', () => {
      const spans = walkLayout(INDEX_LAYOUT, bytesOfHex(HEADER + ENTRIES));
      expect(spans.map(({ name, start, end, value }) => [name, start, end, value])).to.deep.equal([
        ['magic', 0, 4, '0x464c5349'],
        ['version', 4, 6, 3],
        ['flags', 6, 8, 0],
        ['base_offset', 8, 16, 8n],
        ['reserved', 16, 24, 0n],
        ['entries[0].offset', 24, 32, 8n],
        ['entries[0].position', 32, 40, 32n],
        ['entries[1].offset', 40, 48, 71n],
        ['entries[1].position', 48, 56, 4140n],
      ]);
      expect(fixedLength(INDEX_LAYOUT)).to.equal(INDEX_HEADER_LEN);
    });

    it('names the bytes of a torn last entry as far as they go', () => {
      const spans = walkLayout(INDEX_LAYOUT, bytesOfHex(HEADER + ENTRIES).subarray(0, 50));
      expect(spans.slice(-2).map(({ name, start, end, partial }) => [name, start, end, partial])).to.deep.equal([
        ['entries[1].offset', 40, 48, false],
        ['entries[1].position', 48, 50, true],
      ]);
    });
  });

  describeWithCorpus('of a broker', (corpus) => {
    it('decodes, and is written again to the byte but for the version', () => {
      const bases = path.join(corpus, 'observed-recovery/base');
      let indexes = 0;
      for (const name of readdirSync(bases, { recursive: true, encoding: 'utf8' })) {
        if (!name.endsWith('.index')) continue;
        const bytes = new Uint8Array(readFileSync(path.join(bases, name)));
        const header = decodeIndexHeader(bytes);
        if (!header.ok) expect.fail(name);
        const count = (bytes.length - INDEX_HEADER_LEN) / INDEX_ENTRY_LEN;
        const entries = Array.from({ length: count }, (_, i) => decodeIndexEntry(bytes, 24 + 16 * i));
        const again = encodeIndex(header.value.baseOffset, entries);
        again.set(encodeIndexHeader(header.value));
        expect(hexOf(again), name).to.equal(hexOf(bytes));
        indexes++;
      }
      expect(indexes).to.be.greaterThan(5);
    });
  });
});
