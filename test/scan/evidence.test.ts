/**
 * What damaged bytes look like, from bytes made here: one kind of damage after the other, and none taken for another.
 */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { FindingKind } from '../../src/domain/finding.js';
import { concatBytes, encodeUtf8, writeU32 } from '../../src/format/bytes.js';
import { encodeIndex } from '../../src/format/index.js';
import { decodeRecord, decodeRecordHeader, encodeRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { decodeSegmentHeader } from '../../src/format/segment-header.js';
import { looksLike, zeroTail } from '../../src/scan/evidence.js';
import type { EvidenceContext, EvidenceSlug } from '../../src/scan/evidence-view.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { opens, plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { CountingSource, FilledSource } from './counting-source.js';

const NOISE = seededRandom(99);
const A = plain(20n, { payload: NOISE.bytes(300) });
const B = plain(21n, { payload: NOISE.bytes(200) });
const C = plain(22n, { payload: NOISE.bytes(100) });
/** Header, then records at 32, 360 and 588, and the end at 716. */
const SEGMENT = buildSegment({ records: [A, B, C] });
const LOG = SEGMENT.log;
const [, AT, NEXT] = SEGMENT.positions as [number, number, number];

function put(over: Uint8Array, at: number, bytes = LOG): Uint8Array {
  const copy = new Uint8Array(Math.max(bytes.length, at + over.length));
  copy.set(bytes);
  copy.set(over, at);
  return copy;
}

function insert(extra: Uint8Array, at: number): Uint8Array {
  return concatBytes([LOG.subarray(0, at), extra, LOG.subarray(at)]);
}

function remove(at: number, length: number): Uint8Array {
  return concatBytes([LOG.subarray(0, at), LOG.subarray(at + length)]);
}

interface Damaged {
  readonly bytes: Uint8Array;
  readonly from?: number;
  readonly to?: number;
  readonly kind?: FindingKind;
  readonly context?: Partial<EvidenceContext>;
}

/** Of the second record unless told otherwise; the kind is the one that its decoder gives. */
function evidence({ bytes, from = AT, to = NEXT, kind, context }: Damaged) {
  const decoded = decodeRecord(bytes.subarray(from));
  const known = kind ?? (decoded.ok ? 'OffsetOutOfOrder' : decoded.error.kind);
  const whole = { expectedOffset: 21n, resumedAt: to < bytes.length ? to : null, claimedEnd: null };
  const found = looksLike(new MemorySource(bytes), { from, to }, known, { ...whole, ...context });
  if (found !== null) expect(found.phrase).to.match(/^[^\x00-\x1f\x7f]+$/);
  return found;
}

function slug(damaged: Damaged): EvidenceSlug | null {
  return evidence(damaged)?.slug ?? null;
}

/** Twenty-eight bytes and more of one look, in place of the second record. */
function over(bytes: Uint8Array): Damaged {
  return { bytes: concatBytes([LOG.subarray(0, AT), bytes, LOG.subarray(NEXT)]), to: AT + bytes.length };
}

const text = 'a line of a log of some program\nand another one, both without any meaning\n';

describe('scan/evidence, resemblances', () => {
  const LOOKS: readonly (readonly [EvidenceSlug | null, string, Uint8Array])[] = [
    ['zeros', 'zeros throughout', new Uint8Array(228)],
    ['ones', '0xff throughout', new Uint8Array(228).fill(0xff)],
    ['text', 'text', encodeUtf8(text)],
    ['text', 'text that is not ASCII', encodeUtf8('größer als früher, 価値ある '.repeat(4))],
    ['text', 'text that soon ends', put(encodeUtf8('[2026-01-01 00:00] '), 0, NOISE.bytes(200))],
    ['json', 'an object', encodeUtf8('{"order": 12, "state": "open"}')],
    ['json', 'a list', encodeUtf8('[{"order": 12}, {"order": 13}]')],
    ['gzip', 'gzip', gzipSync(NOISE.bytes(100))],
    ['zstd', 'Zstandard', put(Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), 0, NOISE.bytes(100))],
    ['lz4', 'LZ4', put(Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x64), 0, NOISE.bytes(100))],
    ['zip', 'ZIP', put(Uint8Array.of(0x50, 0x4b, 3, 4), 0, NOISE.bytes(100))],
    ['elf', 'an ELF binary', put(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46), 0, NOISE.bytes(100))],
    ['felix-wire', 'a wire frame', put(encodeUtf8('FLX1'), 0, NOISE.bytes(100))],
    ['index', 'an index', encodeIndex(20n, [{ offset: 20n, position: 32n }])],
    ['sidecar', 'a replica file', encodeReplica({ generation: 3n, commit: 20n })],
    ['segment-header', 'a segment header', LOG.subarray(0, 32)],
    ['repeated', 'one byte', new Uint8Array(200).fill(0xee)],
    ['repeated', 'four bytes', Uint8Array.from({ length: 200 }, (_, i) => [0xde, 0xad, 0xbe, 0xef][i & 3]!)],
    ['partly-zeros', 'zeros, then more', concatBytes([new Uint8Array(28), NOISE.bytes(200)])],
    ['random', 'noise', NOISE.bytes(2000)],
    [null, 'too few bytes to tell', NOISE.bytes(40)],
    [null, 'three bytes that gzip begins with', put(Uint8Array.of(0x1f, 0x8b, 9, 0), 0, NOISE.bytes(100))],
  ];
  for (const [expected, what, bytes] of LOOKS) {
    it(`takes ${what} for ${expected ?? 'nothing in particular'}`, () => {
      expect(slug({ ...over(bytes), context: { expectedOffset: 5000n } })).to.equal(expected);
    });
  }

  it('counts what it claims', () => {
    expect(evidence(over(new Uint8Array(4096)))?.phrase).to.equal('zeros: all 4,096 bytes');
    expect(evidence(over(new Uint8Array(64).fill(0xee)))?.phrase).to.equal('0xee, repeated');
  });

  it('takes no header that is mostly whole for what its payload looks like', () => {
    const record = encodeRecord(plain(21n, { payload: NOISE.bytes(3000) }));
    record[1]! ^= 3;
    record[14]! ^= 1;
    expect(slug({ ...over(record), to: AT + record.length })).to.equal(null);
    expect(slug({ ...over(record), to: AT + record.length, context: { expectedOffset: 900n } })).to.equal('random');
  });

  it('says nothing of an empty range, nor of headers that verify and say what cannot be', () => {
    expect(slug({ bytes: LOG, to: AT, kind: 'RecordHeaderChecksum' })).to.equal(null);
    expect(slug({ bytes: new Uint8Array(100), from: 40, to: 100, kind: 'RecordFlags' })).to.equal(null);
    expect(slug({ bytes: new Uint8Array(100), from: 40, to: 100, kind: 'RecordTooLarge' })).to.equal(null);
  });
});

describe('scan/evidence, of records', () => {
  it('names a flipped bit, found here or before', () => {
    const bytes = put(Uint8Array.of(LOG[AT + 100]! ^ 8), AT + 100);
    expect(evidence({ bytes })).to.deep.equal({
      slug: 'bit-flip',
      phrase: `one flipped bit: bit 3 of byte ${AT + 100}, in payload`,
    });
    const bitFlip = { position: AT + 100, bit: 3, field: 'payload', chance: 0 };
    expect(slug({ bytes, context: { bitFlip } })).to.equal('bit-flip');
    expect(slug({ bytes, context: { bitFlip: null } })).to.equal(null);
    expect(slug({ bytes: put(Uint8Array.of(LOG[AT + 7]! ^ 1), AT + 7) })).to.equal('bit-flip');
  });

  it('names a flipped bit where the damage ends with the record, whatever follows', () => {
    const flipped = put(Uint8Array.of(LOG[AT + 100]! ^ 8), AT + 100);
    const bytes = put(new Uint8Array(LOG.length - NEXT).fill(7), NEXT, flipped);
    expect(slug({ bytes })).to.equal('bit-flip');
    expect(slug({ bytes, to: NEXT + 5 })).to.equal(null);
  });

  it('sees the first record of a segment cut off as it sees any other', () => {
    const cut = { bytes: LOG.subarray(0, 132), from: 32, to: 132, context: { expectedOffset: 20n } };
    expect(evidence(cut)?.phrase).to.equal('a record that was never finished: 100 bytes out of 328 bytes are there');
  });

  it('sees a record that the next one cuts short', () => {
    const bytes = remove(NEXT - 31, 31);
    const cut = { bytes, to: NEXT - 31, context: { claimedEnd: NEXT } };
    expect(evidence(cut)?.slug).to.equal('torn-write');
    expect(evidence(cut)?.phrase).to.contain('31 bytes fewer');
    expect(slug({ bytes: LOG.subarray(0, NEXT - 5), to: NEXT - 5, context: { claimedEnd: NEXT } })).to.equal(
      'torn-write',
    );
    expect(slug({ bytes: LOG.subarray(0, AT + 11), to: AT + 11, kind: 'Truncated' })).to.equal('torn-write');
    const past = put(Uint8Array.from(encodeRecord(plain(21n, { payloadLength: 9000 })).subarray(0, 60)), AT);
    expect(decodeRecord(past.subarray(AT))).to.have.nested.property('error.kind', 'Truncated');
    expect(slug({ bytes: past, context: { claimedEnd: AT + 9028 } })).to.equal('torn-write');
  });

  it('sees good bytes turn into zeros at a sector boundary', () => {
    const atBoundary = put(new Uint8Array(NEXT - 512), 512);
    expect(evidence({ bytes: atBoundary, context: { claimedEnd: NEXT } })?.slug).to.equal('torn-write');
    expect(evidence({ bytes: atBoundary, context: { claimedEnd: NEXT } })?.phrase).to.contain('byte 512');
    const elsewhere = put(new Uint8Array(NEXT - 530), 530);
    expect(slug({ bytes: elsewhere, context: { claimedEnd: NEXT } })).to.equal(null);
    const noPayload = put(new Uint8Array(200), AT + 28);
    expect(slug({ bytes: noPayload, context: { claimedEnd: NEXT } })).to.equal('torn-write');
    const long = buildSegment({ records: [plain(0n, { payloadLength: 442 }), plain(1n, { payloadLength: 900 })] });
    expect(long.positions[1]).to.equal(502);
    const bytes = put(new Uint8Array(long.log.length - 512), 512, long.log);
    const torn = { bytes, from: 502, to: bytes.length, context: { expectedOffset: 1n } };
    expect(slug(torn)).to.equal('torn-write');
    expect(slug({ ...torn, bytes: put(Uint8Array.of(1), 1000, bytes) })).to.equal(null);
  });

  it('proves bytes between header and payload, or inside the payload', () => {
    for (const length of [1, 7, 200, 5000]) {
      const extra = NOISE.bytes(length);
      const context = { claimedEnd: NEXT, resumedAt: null };
      const between = { bytes: insert(extra, AT + 28), context };
      expect(evidence(between)?.slug, `${length} between`).to.equal('foreign');
      expect(slug({ bytes: insert(extra, AT + 90), context }), `${length} inside`).to.equal('shifted');
    }
    const last = { from: NEXT, to: LOG.length, context: { expectedOffset: 22n, claimedEnd: LOG.length } };
    expect(slug({ ...last, bytes: insert(NOISE.bytes(40), NEXT + 28) })).to.equal('foreign');
    const opening = buildSegment({ records: [opens(20n, { producerId: 1n, sequence: 2n, len: 1 }), B] });
    const at = 32 + 48;
    const bytes = concatBytes([opening.log.subarray(0, at), NOISE.bytes(64), opening.log.subarray(at)]);
    const claimedEnd = opening.positions[1]!;
    expect(slug({ bytes, from: 32, to: claimedEnd, context: { expectedOffset: 20n, claimedEnd } })).to.equal('foreign');
  });

  it('proves one missing byte of a payload, and claims no more of several than that they are missing', () => {
    const one = { bytes: remove(AT + 77, 1), to: NEXT - 1, context: { claimedEnd: NEXT } };
    expect(evidence(one)?.slug).to.equal('shifted');
    expect(slug({ bytes: remove(AT + 77, 9), to: NEXT - 9, context: { claimedEnd: NEXT } })).to.equal('torn-write');
  });

  it('proves bytes missing from a header, or put into it', () => {
    for (const lost of [1, 5, 11]) {
      expect(slug({ bytes: remove(AT, lost), to: NEXT - lost }), `${lost} lost`).to.equal('shifted');
    }
    for (const extra of [1, 9, 64]) {
      expect(slug({ bytes: insert(NOISE.bytes(extra), AT + 5), to: NEXT + extra }), `${extra} put in`).to.equal(
        'shifted',
      );
    }
  });

  it('tells what was written over length and offset of a header that is otherwise whole', () => {
    expect(slug({ bytes: put(encodeUtf8('_SEG'), AT) })).to.equal('text');
    expect(evidence({ bytes: put(encodeUtf8('notes 128032'), AT) })?.phrase).to.contain(`bytes ${AT}..${AT + 12}`);
    expect(slug({ bytes: put(Uint8Array.of(9, 8, 7), AT + 2) })).to.equal('overwritten');
  });

  it('sees another segment begin inside the damage, but not inside a payload', () => {
    const other = buildSegment({ records: [plain(70n)] }).log;
    expect(slug({ ...over(other), to: AT + 32, context: { resumedAt: null } })).to.equal('segment-header');
    const garbage = NOISE.bytes(50);
    const inside = concatBytes([garbage, other]);
    expect(slug({ ...over(inside), to: AT + inside.length })).to.equal('segment-header');
    const unlike = concatBytes([garbage, other.subarray(0, 32), NOISE.bytes(60)]);
    expect(slug({ ...over(unlike), to: AT + unlike.length })).to.equal(null);
  });

  it('tells where the other segment begins, when what follows its header goes on from there', () => {
    const other = buildSegment({ records: [plain(70n)] }).log;
    const header = other.subarray(0, 32);
    const garbage = NOISE.bytes(50);
    const joined = (...parts: readonly Uint8Array[]) => {
      const damage = over(concatBytes(parts));
      return evidence({ ...damage, kind: 'RecordHeaderChecksum', context: { resumedAt: null } })?.phrase ?? null;
    };
    const begins = (where: string) => `the header of a segment of base offset 70${where}: two files joined`;
    expect(joined(other)).to.equal(begins(''));
    expect(joined(header, garbage)).to.equal(begins(''));
    expect(joined(garbage, other)).to.equal(begins(', 50 bytes further on'));
    expect(joined(encodeUtf8('FLSG'), garbage, other)).to.equal(begins(', 54 bytes further on'));
    expect(joined(garbage, header, encodeRecord(plain(71n)))).to.equal(null);
    expect(joined(garbage, header, put(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 70), 4, garbage))).to.equal(null);
    const last = concatBytes([LOG.subarray(0, AT), garbage, header]);
    const atEnd = { bytes: last, to: last.length, kind: 'RecordHeaderChecksum' } as const;
    expect(evidence(atEnd)?.phrase).to.equal(begins(', 50 bytes further on'));
    expect(slug({ ...atEnd, bytes: concatBytes([last, Uint8Array.of(1)]) })).to.equal(null);
  });

  it('sees line feeds that became two bytes, by what verifies without them', () => {
    const lines = buildSegment({
      records: Array.from({ length: 4 }, (_, i) => plain(BigInt(9 + i), { payload: encodeUtf8('line\nline\n') })),
    });
    const mangled = Uint8Array.from(Array.from(lines.log).flatMap((byte) => (byte === 10 ? [13, 10] : [byte])));
    const second = mangled.length - lines.log.length;
    expect(second).to.be.above(8);
    // The record of offset 10 has one in its header.
    const start = Buffer.from(mangled).indexOf(Uint8Array.of(0, 0, 0, 13, 10, 0, 0, 0, 0, 0, 0, 0, 13, 10));
    const context = { expectedOffset: 10n, resumedAt: null };
    expect(slug({ bytes: mangled, from: start, to: mangled.length, context })).to.equal('crlf');
    const payload = encodeRecord(plain(21n, { payload: encodeUtf8('one\ntwo\r\nthree\n') }));
    const at = payload.indexOf(10, 28);
    expect(payload.subarray(0, at).includes(10)).to.equal(false);
    const twice = Uint8Array.from(Array.from(payload).flatMap((byte) => (byte === 10 ? [13, 10] : [byte])));
    expect(slug({ ...over(twice), to: AT + payload.length, context: { claimedEnd: AT + payload.length } })).to.equal(
      'crlf',
    );
    const innocent = put(Uint8Array.of(1, 2, 13, 10, 3), AT + 50);
    expect(slug({ bytes: innocent, context: { claimedEnd: NEXT } })).to.equal(null);
  });

  it('sees what stands there twice', () => {
    const twice = concatBytes([LOG.subarray(0, NEXT), LOG.subarray(AT)]);
    const record = { bytes: twice, from: NEXT, to: NEXT, context: { claimedEnd: NEXT + (NEXT - AT) } };
    expect(slug({ ...record, kind: 'OffsetOutOfOrder' })).to.equal('duplicate');
    const other = { bytes: LOG, from: NEXT, to: NEXT, context: { claimedEnd: LOG.length } };
    expect(slug({ ...other, kind: 'OffsetOutOfOrder' })).to.equal(null);
    const piece = LOG.subarray(NEXT - 100, NEXT);
    const again = concatBytes([LOG.subarray(0, NEXT), piece, LOG.subarray(NEXT)]);
    expect(slug({ bytes: again, from: NEXT, to: NEXT + 100, context: { expectedOffset: 22n } })).to.equal('duplicate');
  });

  it('sees bytes that belong to no record', () => {
    const found = evidence({ bytes: insert(NOISE.bytes(40), AT), to: AT + 40 });
    expect(found).to.deep.equal({
      slug: 'foreign',
      phrase: '40 bytes that belong to no record: the record that is due follows them',
    });
  });
});

describe('scan/evidence, of the start of a file', () => {
  function atStart(bytes: Uint8Array, kind?: FindingKind): EvidenceSlug | null {
    const decoded = decodeSegmentHeader(bytes);
    const known = kind ?? (decoded.ok ? 'ReservedNotZero' : decoded.error.kind);
    return slug({ bytes, from: 0, to: Math.min(32, bytes.length), kind: known, context: { expectedOffset: null } });
  }

  it('tells what a segment turned into', () => {
    expect(atStart(put(new Uint8Array(32), 0))).to.equal('zeros');
    expect(atStart(put(Uint8Array.of(LOG[10]! ^ 2), 10))).to.equal('bit-flip');
    expect(atStart(put(Uint8Array.of(LOG[5]! ^ 8), 5))).to.equal('bit-flip');
    expect(atStart(gzipSync(LOG))).to.equal('gzip');
    expect(atStart(encodeUtf8(text))).to.equal('text');
    expect(atStart(insert(Uint8Array.of(0xef, 0xbb, 0xbf), 0))).to.equal('shifted');
    for (const lost of [1, 3, 8]) expect(atStart(remove(0, lost)), `${lost} lost`).to.equal('shifted');
    expect(atStart(LOG.subarray(0, 20))).to.equal(null);
    expect(atStart(NOISE.bytes(4000))).to.equal('random');
    expect(atStart(put(encodeUtf8('FLX1'), 0))).to.equal('felix-wire');
    expect(atStart(encodeIndex(0n, []), 'SegmentMagic')).to.equal('index');
    expect(atStart(LOG, 'IndexMagic')).to.equal('segment-header');
    expect(atStart(encodeReplica({ generation: 1n, commit: 2n }), 'SidecarMagic')).to.equal('sidecar');
  });

  it('tells how a segment was shifted, when more of it is there than its header', () => {
    const shifted = (bytes: Uint8Array) => {
      const context = { expectedOffset: null };
      return evidence({ bytes, from: 0, to: 32, kind: 'SegmentMagic', context })?.phrase ?? null;
    };
    const behind = concatBytes([Uint8Array.of(1, 2, 3), LOG]);
    expect(shifted(behind)).to.equal('a segment behind 3 bytes of something else');
    expect(shifted(behind.subarray(0, 36))).to.equal('a segment behind 3 bytes of something else');
    expect(shifted(behind.subarray(0, 35))).to.equal(null);
    expect(shifted(remove(0, 3))).to.equal('a segment that lost 3 bytes at its start: with them it verifies');
    expect(shifted(remove(0, 3).subarray(0, 29))).to.equal(
      'a segment that lost 3 bytes at its start: with them it verifies',
    );
  });

  it('takes the word of a search for a flipped bit that was made before', () => {
    const flipped = {
      bytes: put(Uint8Array.of(LOG[10]! ^ 2), 10),
      from: 0,
      to: 32,
      kind: 'SegmentHeaderChecksum',
    } as const;
    expect(slug({ ...flipped, context: { expectedOffset: null } })).to.equal('bit-flip');
    expect(slug({ ...flipped, context: { expectedOffset: null, bitFlip: null } })).to.equal(null);
  });

  it('takes line ends behind a header that verifies for no damage of it', () => {
    expect(atStart(put(encodeUtf8('\r\n'), 32), 'IndexMagic')).to.equal('segment-header');
  });

  it('does not offer a magic that belongs there as news', () => {
    const version = put(Uint8Array.of(0, 9), 4);
    expect(atStart(version)).to.equal(null);
    expect(atStart(encodeIndex(0n, []), 'IndexVersion')).to.equal(null);
    expect(atStart(encodeReplica({ generation: 1n, commit: 2n }), 'SidecarChecksum')).to.equal(null);
  });

  it('sees line feeds that became two bytes', () => {
    const log = buildSegment({ records: [plain(9n)], createdAtMicros: 0x0a00_0a00_0000_0001n }).log;
    expect(atStart(Uint8Array.from(Array.from(log).flatMap((byte) => (byte === 10 ? [13, 10] : [byte]))))).to.equal(
      'crlf',
    );
  });
});

describe('scan/evidence, bounds', () => {
  it('claims zeros only when every byte is zero', () => {
    const size = 3 << 20;
    const range = { from: 40, to: size };
    const context = { expectedOffset: 1n };
    const zeros = new FilledSource(size, 0);
    expect(looksLike(zeros, range, 'RecordHeaderChecksum', context)?.slug).to.equal('zeros');
    for (const at of [40, 41, 255 * 1024, (1 << 20) + 7, size - 1]) {
      const one = new FilledSource(size, 0, [[at, Uint8Array.of(1)]]);
      expect(looksLike(one, range, 'RecordHeaderChecksum', context)?.slug, `byte ${at}`).to.not.equal('zeros');
      expect(zeroTail(one, 40)).to.equal(false);
      expect(zeroTail(one, at + 1)).to.equal(true);
    }
    expect(zeroTail(zeros, 0)).to.equal(true);
    expect(zeroTail(zeros, size)).to.equal(true);
  });

  it('looks at no more than a mebibyte of a large range', () => {
    const size = 512 << 20;
    for (const fill of [0xff, 0x41, 0x80]) {
      const source = new CountingSource(new FilledSource(size, fill));
      const found = looksLike(source, { from: 32, to: size }, 'RecordHeaderChecksum', { expectedOffset: 1n });
      expect(found?.slug).to.equal(fill === 0xff ? 'ones' : fill === 0x41 ? 'text' : 'repeated');
      expect(source.bytesRead).to.be.at.most(1 << 20);
    }
    const letters = encodeUtf8('价値がある'.repeat(60_000));
    const long = looksLike(new MemorySource(letters), { from: 33, to: letters.length - 1 }, 'RecordHeaderChecksum', {
      expectedOffset: 1n,
    });
    expect(long).to.deep.equal({ slug: 'text', phrase: 'text' });
    const mixed = new CountingSource(new FilledSource(size, 0xff, [[size - 5, Uint8Array.of(0)]]));
    const found = looksLike(mixed, { from: 32, to: size }, 'RecordHeaderChecksum', { expectedOffset: 1n });
    expect(found?.slug).to.not.equal('ones');
    const body = encodeRecord(plain(5n, { payloadLength: 0 }));
    writeU32(body, 0, 1 << 26);
    const claimed = new CountingSource(new FilledSource(size, 0x77, [[32, body]]));
    const context = { expectedOffset: 5n, bitFlip: null, claimedEnd: 32 + 28 + (1 << 26) };
    looksLike(claimed, { from: 32, to: context.claimedEnd }, 'RecordChecksum', context);
    expect(claimed.bytesRead).to.be.at.most(1 << 20);
  });

  it('reads little for little damage', () => {
    const source = new CountingSource(new FilledSource(1 << 24, 0x77));
    looksLike(source, { from: 4096, to: 4200 }, 'RecordHeaderChecksum', { expectedOffset: 5n });
    expect(source.bytesRead).to.be.below(20 * 1024);
  });

  it('takes bytes that cannot be read for no evidence, and never for zeros', () => {
    const failing: ByteSource = {
      size: 1 << 20,
      readAt(_, position) {
        throw new ReadFailure('EIO', position, 'input/output error');
      },
    };
    expect(looksLike(failing, { from: 32, to: 1 << 20 }, 'RecordHeaderChecksum', { expectedOffset: 1n })).to.equal(
      null,
    );
    expect(() => zeroTail(failing, 32)).to.throw(ReadFailure);
    const short: ByteSource = { size: 100, readAt: () => 0 };
    expect(() => zeroTail(short, 32)).to.throw(ReadFailure);
    const ours: ByteSource = { size: 100, readAt: () => expect.fail('a bug of ours is not swallowed') };
    expect(() => looksLike(ours, { from: 32, to: 90 }, 'RecordChecksum', { expectedOffset: 1n })).to.throw('swallowed');
  });

  it('never throws and never claims a proof for noise', () => {
    const random = seededRandom(4);
    const kinds = ['RecordHeaderChecksum', 'RecordChecksum', 'Truncated', 'OffsetOutOfOrder', 'SegmentMagic'] as const;
    const proofs = new Set([
      'bit-flip',
      'crlf',
      'shifted',
      'foreign',
      'segment-header',
      'overwritten',
      'zeros',
      'duplicate',
    ]);
    for (let round = 0; round < 3000; round++) {
      const bytes = random.bytes(40 + random.below(400));
      const from = round % 2 === 0 ? 0 : 32;
      const kind = kinds[round % kinds.length]!;
      const to = from + random.below(bytes.length - from + 1);
      const context = { expectedOffset: 5n, claimedEnd: to, resumedAt: to };
      const found = looksLike(new MemorySource(bytes), { from, to }, kind, context);
      if (found !== null && kind !== 'OffsetOutOfOrder') expect(proofs.has(found.slug), found.slug).to.equal(false);
      if (decodeRecordHeader(bytes).ok) expect.fail('noise does not verify');
    }
  });
});
