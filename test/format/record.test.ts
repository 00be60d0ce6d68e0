/** Records against golden bytes, every flipped bit of one, and the order in which a broker refuses them. */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Corruption } from '../../src/domain/finding.js';
import type { Result } from '../../src/domain/result.js';
import { bytesOfHex, concatBytes, hexOf } from '../../src/format/bytes.js';
import { type LayoutItem, walkLayout } from '../../src/format/layout.js';
import {
  decodeRecord,
  decodeRecordHeader,
  decodeTag,
  encodeRecord,
  type LogRecord,
  MAX_PAYLOAD_BYTES,
  MAX_RECORD_BYTES,
  RECORD_LAYOUT,
  type RecordKind,
  recordKind,
  versionForKind,
} from '../../src/format/record.js';

const HI = bytesOfHex('6869');
const U64_MAX = (1n << 64n) - 1n;

/** The first is the golden vector of the format page; the others were made with another implementation. */
const VECTORS: readonly { readonly about: string; readonly hex: string; readonly record: LogRecord }[] = [
  {
    about: 'a plain record',
    hex: '00000002 0000000000000007 0000000000000009 c654de27 2402152c 6869',
    record: { kind: 'plain', offset: 7n, timestampMicros: 9n, tag: null, payload: HI },
  },
  {
    about: 'a record that opens a batch',
    hex: '80000002 0000000000000007 0000000000000009 ada59e0b e68043fb 0000000000000001 0000000000000002 00000003 6869',
    record: {
      kind: 'opens',
      offset: 7n,
      timestampMicros: 9n,
      tag: { producerId: 1n, sequence: 2n, len: 3 },
      payload: HI,
    },
  },
  {
    about: 'a record that continues a batch',
    hex: '40000002 0000000000000008 0000000000000009 2c15b1e0 91b99f1f 6869',
    record: { kind: 'continues', offset: 8n, timestampMicros: 9n, tag: null, payload: HI },
  },
  {
    about: 'a generation start',
    hex: '20000008 0000000000000007 0000000000000009 ee845175 9902c8e5 0000000000000005',
    record: {
      kind: 'generation-start',
      offset: 7n,
      timestampMicros: 9n,
      tag: null,
      payload: bytesOfHex('0000000000000005'),
    },
  },
  {
    about: 'an empty payload and the largest numbers',
    hex: '00000000 ffffffffffffffff ffffffffffffffff dcdd16c2 de79b5f7',
    record: { kind: 'plain', offset: U64_MAX, timestampMicros: U64_MAX, tag: null, payload: new Uint8Array(0) },
  },
  {
    about: 'the largest tag',
    hex: '80000000 ffffffffffffffff ffffffffffffffff b72c56ee 18163d17 ffffffffffffffff ffffffffffffffff ffffffff',
    record: {
      kind: 'opens',
      offset: U64_MAX,
      timestampMicros: U64_MAX,
      tag: { producerId: U64_MAX, sequence: U64_MAX, len: 0xffffffff },
      payload: new Uint8Array(0),
    },
  },
];

const U64 = fc.bigInt({ min: 0n, max: U64_MAX });
const RECORD: fc.Arbitrary<LogRecord> = fc
  .record({
    kind: fc.constantFrom<RecordKind>('plain', 'opens', 'continues', 'generation-start'),
    offset: U64,
    timestampMicros: U64,
    tag: fc.record({ producerId: U64, sequence: U64, len: fc.nat(0xffffffff) }),
    payload: fc.uint8Array({ maxLength: 100 }),
  })
  .map((record) => ({ ...record, tag: record.kind === 'opens' ? record.tag : null }));

function bytesOf(spaced: string): Uint8Array {
  return bytesOfHex(spaced.replaceAll(' ', ''));
}

function kindOf(decoded: Result<unknown, Corruption>): string | null {
  return decoded.ok ? null : decoded.error.kind;
}

/** A header of 28 bytes with the given length word and a header checksum that fits it. */
function headerWith(lengthWord: number): Uint8Array {
  const bytes = new Uint8Array(28);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, lengthWord);
  view.setBigUint64(4, 7n);
  view.setUint32(20, crc32(bytes.subarray(0, 20)));
  return bytes;
}

describe('record', () => {
  for (const { about, hex, record } of VECTORS) {
    it(`is the golden bytes both ways: ${about}`, () => {
      const bytes = bytesOf(hex);
      expect(hexOf(encodeRecord(record))).to.equal(hexOf(bytes));
      expect(decodeRecord(bytes)).to.deep.equal({ ok: true, value: record });
      const header = decodeRecordHeader(bytes);
      expect(header.ok && header.value.totalLen).to.equal(bytes.length);
    });
  }

  it('decodes to what was encoded, whatever stands behind it', () => {
    fc.assert(
      fc.property(RECORD, fc.uint8Array({ maxLength: 40 }), (record, behind) => {
        const bytes = concatBytes([encodeRecord(record), behind]);
        expect(decodeRecord(bytes)).to.deep.equal({ ok: true, value: record });
      }),
    );
  });

  it('is written with a tag when it opens a batch, and only then', () => {
    const { record: opening } = VECTORS[1]!;
    expect(() => encodeRecord({ ...opening, tag: null })).to.throw('broken assumption');
    expect(() => encodeRecord({ ...opening, kind: 'continues' })).to.throw('broken assumption');
  });

  it('gives its payload as a view, so that a large record is not held twice', () => {
    const bytes = bytesOf(VECTORS[0]!.hex);
    const decoded = decodeRecord(bytes);
    expect(decoded.ok && decoded.value.payload.buffer).to.equal(bytes.buffer);
  });

  it('is told by every single flipped bit: in front of the header checksum and in it by the header, behind it by the whole', () => {
    for (const { about, hex } of VECTORS) {
      const whole = bytesOf(hex);
      for (let bit = 0; bit < whole.length * 8; bit++) {
        const bytes = whole.slice();
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        const expected = bit < 24 * 8 ? 'RecordHeaderChecksum' : 'RecordChecksum';
        expect(kindOf(decodeRecord(bytes)), `${about}, bit ${bit}`).to.equal(expected);
      }
    }
  });

  it('is told by every cut: never a record, and never anything but a truncation', () => {
    for (const { about, hex } of VECTORS) {
      const whole = bytesOf(hex);
      for (let length = 0; length < whole.length; length++) {
        expect(decodeRecord(whole.subarray(0, length)), `${about}, ${length} bytes`).to.deep.equal({
          ok: false,
          error: { kind: 'Truncated', needed: length < 28 ? 28 : whole.length, available: length },
        });
      }
    }
  });

  it('is told by zeros over any run of its bytes that were not zero', () => {
    const whole = encodeRecord({ kind: 'plain', offset: 1n, timestampMicros: 2n, tag: null, payload: HI });
    for (let start = 0; start < whole.length; start++) {
      for (let end = start + 1; end <= whole.length; end++) {
        const bytes = whole.slice().fill(0, start, end);
        const same = hexOf(bytes) === hexOf(whole);
        expect(decodeRecord(bytes).ok, `${start}..${end}`).to.equal(same);
      }
    }
  });

  describe('is refused in the order of a broker', () => {
    it('length first: 27 bytes are no header, whatever they say', () => {
      expect(decodeRecordHeader(new Uint8Array(27).fill(0xff))).to.deep.equal({
        ok: false,
        error: { kind: 'Truncated', needed: 28, available: 27 },
      });
    });

    it('then the header checksum: a corrupt length is caught before it is used', () => {
      const zeros = decodeRecordHeader(new Uint8Array(28));
      expect(zeros).to.deep.equal({
        ok: false,
        error: {
          kind: 'RecordHeaderChecksum',
          expected: '0x00000000',
          found: `0x${crc32(new Uint8Array(20)).toString(16).padStart(8, '0')}`,
        },
      });
      const bytes = bytesOf(VECTORS[0]!.hex);
      bytes.set([0xff, 0xff, 0xff, 0xff]);
      expect(kindOf(decodeRecord(bytes))).to.equal('RecordHeaderChecksum');
    });

    it('then the kind bits, before the length', () => {
      for (const [bits, found] of [
        [0xc, '0xc0000000'],
        [0xa, '0xa0000000'],
        [0x6, '0x60000000'],
        [0xe, '0xe0000000'],
      ] as const) {
        const word = (bits * 0x10000000 + 0x1fffffff) >>> 0;
        expect(decodeRecordHeader(headerWith(word))).to.deep.equal({
          ok: false,
          error: { kind: 'RecordFlags', found },
        });
        expect(kindOf(decodeRecord(headerWith(word)))).to.equal('RecordFlags');
      }
    });

    it('then the limit of the payload, before the bytes are counted', () => {
      for (const kindBits of [0, 0x20000000, 0x40000000, 0x80000000]) {
        const least = headerWith(kindBits + MAX_PAYLOAD_BYTES + 1);
        expect(decodeRecord(least)).to.deep.equal({
          ok: false,
          error: { kind: 'RecordTooLarge', payloadLen: 67_108_865, limit: 67_108_864 },
        });
        const most = decodeRecordHeader(headerWith(kindBits + 0x1fffffff));
        expect(!most.ok && most.error).to.deep.include({ kind: 'RecordTooLarge', payloadLen: 536_870_911 });
      }
    });

    it('then the bytes that are missing: a payload of 64 MiB is within the limit', () => {
      expect(decodeRecord(headerWith(MAX_PAYLOAD_BYTES))).to.deep.equal({
        ok: false,
        error: { kind: 'Truncated', needed: 67_108_892, available: 28 },
      });
      expect(decodeRecord(headerWith(0x80000000 + MAX_PAYLOAD_BYTES))).to.deep.equal({
        ok: false,
        error: { kind: 'Truncated', needed: 67_108_912, available: 28 },
      });
      expect(MAX_RECORD_BYTES).to.equal(67_108_912);
    });

    it('then the checksum: what is stored is expected, what was computed is found', () => {
      const bytes = bytesOf(VECTORS[0]!.hex.replace('2402152c', '00000000'));
      expect(decodeRecord(bytes)).to.deep.equal({
        ok: false,
        error: { kind: 'RecordChecksum', expected: '0x00000000', found: '0x2402152c' },
      });
    });
  });

  it('is not refused for a checksum that happens to be 0', () => {
    const bytes = bytesOf('00000004 0000000000000003 0000000000000004 423d449e 00000000 3fdca70a');
    const payload = bytesOfHex('3fdca70a');
    expect(decodeRecord(bytes)).to.deep.equal({
      ok: true,
      value: { kind: 'plain', offset: 3n, timestampMicros: 4n, tag: null, payload },
    });
  });

  it('never throws for what the bytes say', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat(0xffffffff), fc.boolean(), (bytes, word, sealed) => {
        const tried = sealed ? concatBytes([headerWith(word), bytes]) : bytes;
        expect(decodeRecord(tried)).to.have.property('ok');
        expect(decodeRecordHeader(tried)).to.have.property('ok');
      }),
      { numRuns: 2000 },
    );
  });

  it('is of the kind that its one bit names, and of none with more than one', () => {
    const kinds = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => recordKind((bits * 0x20000000 + 5) >>> 0));
    expect(kinds).to.deep.equal(['plain', 'generation-start', 'continues', null, 'opens', null, null, null]);
  });

  it('needs a segment of the version that brought its kind', () => {
    expect((['plain', 'opens', 'continues', 'generation-start'] as const).map(versionForKind)).to.deep.equal([
      2, 3, 3, 4,
    ]);
  });

  it('reads a tag at any place', () => {
    const bytes = bytesOf('ee 0000000000000001 0000000000000002 00000003 ee');
    expect(decodeTag(bytes, 1)).to.deep.equal({ producerId: 1n, sequence: 2n, len: 3 });
  });

  describe('table', () => {
    it('names each byte of a record once, with the values of the decoder', () => {
      fc.assert(
        fc.property(RECORD, (record) => {
          const bytes = encodeRecord(record);
          const spans = walkLayout(RECORD_LAYOUT, bytes);
          let end = 0;
          for (const span of spans) {
            expect([span.start, span.partial], span.name).to.deep.equal([end, false]);
            end = span.end;
          }
          expect(end).to.equal(bytes.length);
          const values = Object.fromEntries(spans.map(({ name, value }) => [name, value]));
          expect(values['offset']).to.equal(record.offset);
          expect(values['timestamp_micros']).to.equal(record.timestampMicros);
          if (record.payload.length > 0) expect(spans.at(-1)).to.include({ name: 'payload' });
          expect(values['tag.producer_id']).to.equal(record.tag?.producerId);
          expect(values['tag.sequence']).to.equal(record.tag?.sequence);
          expect(values['tag.len']).to.equal(record.tag?.len);
        }),
      );
    });

    it('takes the length word apart into kind and length', () => {
      const [word] = walkLayout(RECORD_LAYOUT, bytesOf(VECTORS[1]!.hex));
      expect(word?.bits?.map(({ name, value }) => [name, value])).to.deep.equal([
        ['opens', 1],
        ['continues', 0],
        ['generation_start', 0],
        ['length', 2],
      ]);
    });

    it('says of every byte what the page says: where, how long, of which type', () => {
      const rows = (items: readonly LayoutItem[]): unknown[] =>
        items.flatMap((item) => ('type' in item ? [[item.name, item.at, item.size, item.type]] : rows(item.items)));
      expect(rows(RECORD_LAYOUT.items)).to.deep.equal([
        ['payload_len', 0, 4, 'u32'],
        ['offset', 4, 8, 'u64'],
        ['timestamp_micros', 12, 8, 'u64'],
        ['header_crc', 20, 4, 'crc32'],
        ['checksum', 24, 4, 'crc32'],
        ['tag.producer_id', undefined, 8, 'u64'],
        ['tag.sequence', undefined, 8, 'u64'],
        ['tag.len', undefined, 4, 'u32'],
        ['payload', undefined, { field: 'payload_len', mask: 0x1fffffff }, 'bytes'],
      ]);
    });
  });
});
