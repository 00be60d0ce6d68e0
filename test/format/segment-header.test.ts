/** The segment header against the golden bytes of the format page, and its refusals in the order of a broker. */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { bytesOfHex, hexOf } from '../../src/format/bytes.js';
import { fixedLength, walkLayout } from '../../src/format/layout.js';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  SEGMENT_HEADER_LAYOUT,
  SEGMENT_HEADER_LEN,
} from '../../src/format/segment-header.js';

/** "Golden vectors": base offset 1, created at 2. */
const GOLDEN_V3 = '464c53470003000000000000000000010000000000000002adeb65e900000000';
const GOLDEN_V4 = '464c53470004000000000000000000010000000000000002e7d5eea200000000';
/** Made with another implementation: version 2 and the largest numbers. */
const LARGEST_V2 = '464c534700020000ffffffffffffffffffffffffffffffff50741d9100000000';

const HEADER = fc.record({
  version: fc.constantFrom(2, 3, 4),
  baseOffset: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  createdAtMicros: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  reserved: fc.nat(0xffffffff),
});

/** The bytes with some replaced, and a checksum that fits them again. */
function resealed(hex: string, at: number, ...values: readonly number[]): Uint8Array {
  const bytes = bytesOfHex(hex);
  bytes.set(values, at);
  new DataView(bytes.buffer).setUint32(24, crc32(bytes.subarray(0, 24)));
  return bytes;
}

describe('segment header', () => {
  for (const [hex, header] of [
    [GOLDEN_V3, { version: 3, baseOffset: 1n, createdAtMicros: 2n, reserved: 0 }],
    [GOLDEN_V4, { version: 4, baseOffset: 1n, createdAtMicros: 2n, reserved: 0 }],
    [LARGEST_V2, { version: 2, baseOffset: (1n << 64n) - 1n, createdAtMicros: (1n << 64n) - 1n, reserved: 0 }],
  ] as const) {
    it(`is the golden bytes both ways at version ${header.version}`, () => {
      expect(hexOf(encodeSegmentHeader(header))).to.equal(hex);
      expect(decodeSegmentHeader(bytesOfHex(hex))).to.deep.equal({ ok: true, value: header });
    });
  }

  it('decodes to what was encoded', () => {
    fc.assert(
      fc.property(HEADER, (header) => {
        expect(decodeSegmentHeader(encodeSegmentHeader(header))).to.deep.equal({ ok: true, value: header });
      }),
    );
  });

  it('reports every single flipped bit but those of the reserved word, which no reader checks', () => {
    const whole = bytesOfHex(GOLDEN_V3);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const bytes = whole.slice();
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const decoded = decodeSegmentHeader(bytes);
      const kind = decoded.ok ? null : decoded.error.kind;
      expect(kind, `bit ${bit}`).to.equal(expectedKind(bit >> 3, bit & 7));
    }
  });

  function expectedKind(at: number, bit: number): string | null {
    if (at < 4) return 'SegmentMagic';
    // 3 with its lowest bit flipped is 2, a version of its own: the checksum tells.
    if (at < 6) return at === 5 && bit === 0 ? 'SegmentHeaderChecksum' : 'SegmentVersion';
    if (at < 8) return 'SegmentFlags';
    return at < 28 ? 'SegmentHeaderChecksum' : null;
  }

  it('gives the reserved word, whatever it is', () => {
    const decoded = decodeSegmentHeader(resealed(GOLDEN_V3, 28, 0xde, 0xad, 0xbe, 0xef));
    expect(decoded.ok && decoded.value.reserved).to.equal(0xdeadbeef);
  });

  describe('is refused in the order of a broker', () => {
    it('length first: a short header is not judged by its magic', () => {
      expect(decodeSegmentHeader(new Uint8Array(31))).to.deep.equal({
        ok: false,
        error: { kind: 'Truncated', needed: 32, available: 31 },
      });
      expect(decodeSegmentHeader(new Uint8Array(0))).to.deep.equal({
        ok: false,
        error: { kind: 'Truncated', needed: 32, available: 0 },
      });
    });

    it('then the magic: 32 zeros are no segment', () => {
      expect(decodeSegmentHeader(new Uint8Array(32))).to.deep.equal({
        ok: false,
        error: { kind: 'SegmentMagic', found: '0x00000000' },
      });
    });

    it('then the version, before flags and checksum: a file of another build is not a corrupt file', () => {
      for (const version of [0, 1, 5, 9, 0x0300, 0xffff]) {
        const bytes = bytesOfHex(GOLDEN_V3);
        bytes.set([version >> 8, version & 255, 0xff, 0xff], 4);
        expect(decodeSegmentHeader(bytes)).to.deep.equal({
          ok: false,
          error: { kind: 'SegmentVersion', found: version },
        });
      }
    });

    it('then the flags, before the checksum, which may fit', () => {
      for (const bytes of [resealed(GOLDEN_V3, 6, 0x80, 0x01), bytesOfHex(GOLDEN_V3.replace('00030000', '00038001'))]) {
        expect(decodeSegmentHeader(bytes)).to.deep.equal({
          ok: false,
          error: { kind: 'SegmentFlags', found: '0x8001' },
        });
      }
    });

    it('then the checksum: what is stored is expected, what was computed is found', () => {
      const bytes = bytesOfHex(GOLDEN_V3.replace('adeb65e9', '00000000'));
      expect(decodeSegmentHeader(bytes)).to.deep.equal({
        ok: false,
        error: { kind: 'SegmentHeaderChecksum', expected: '0x00000000', found: '0xadeb65e9' },
      });
    });
  });

  it('looks at its 32 bytes alone', () => {
    expect(decodeSegmentHeader(bytesOfHex(`${GOLDEN_V3}ffff`)).ok).to.equal(true);
  });

  it('never throws for what the bytes say', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, magic) => {
        if (magic) bytes.set(Uint8Array.of(0x46, 0x4c, 0x53, 0x47, 0, 3).subarray(0, bytes.length));
        expect(decodeSegmentHeader(bytes)).to.have.property('ok');
      }),
    );
  });

  it('has a table that names each of its bytes once, with the values of the decoder', () => {
    expect(fixedLength(SEGMENT_HEADER_LAYOUT)).to.equal(SEGMENT_HEADER_LEN);
    fc.assert(
      fc.property(HEADER, (header) => {
        const bytes = encodeSegmentHeader(header);
        const spans = walkLayout(SEGMENT_HEADER_LAYOUT, bytes);
        expect(spans.map(({ start, end }) => [start, end])).to.deep.equal([
          [0, 4],
          [4, 6],
          [6, 8],
          [8, 16],
          [16, 24],
          [24, 28],
          [28, 32],
        ]);
        const values = Object.fromEntries(spans.map(({ name, value }) => [name, value]));
        expect(values).to.deep.equal({
          magic: '0x464c5347',
          version: header.version,
          flags: 0,
          base_offset: header.baseOffset,
          created_at_micros: header.createdAtMicros,
          header_crc: `0x${crc32(bytes.subarray(0, 24)).toString(16).padStart(8, '0')}`,
          reserved: header.reserved,
        });
      }),
    );
  });
});
