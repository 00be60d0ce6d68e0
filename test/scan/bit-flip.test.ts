/**
 * One flipped bit is named wherever it is, and nothing else is taken for one more often than chance has it.
 */
import { expect } from 'chai';
import type { CorruptionKind } from '../../src/domain/finding.js';
import { concatBytes, readU32, writeU32 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { decodeRecord, decodeRecordHeader, encodeRecord, MAX_PAYLOAD_BYTES } from '../../src/format/record.js';
import { decodeSegmentHeader, encodeSegmentHeader } from '../../src/format/segment-header.js';
import { RangeChecksums, recordBitFlip, segmentHeaderBitFlip } from '../../src/scan/bit-flip.js';
import { exponentOf, flippedBit } from '../../src/scan/crc-logarithm.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { type Random, seededRandom } from '../builders/random.js';
import { batch, generationStart, plain, sequence } from '../builders/records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import { CountingSource } from './counting-source.js';

/** From the tables of the format page. */
const HEADER_FIELDS: readonly (readonly [end: number, name: string])[] = [
  [4, 'payload_len'],
  [12, 'offset'],
  [20, 'timestamp_micros'],
  [24, 'header_crc'],
  [28, 'checksum'],
];
const TAG_FIELDS: readonly (readonly [end: number, name: string])[] = [
  [36, 'tag.producer_id'],
  [44, 'tag.sequence'],
  [48, 'tag.len'],
];
const SEGMENT_FIELDS: readonly (readonly [end: number, name: string])[] = [
  [4, 'magic'],
  [6, 'version'],
  [8, 'flags'],
  [16, 'base_offset'],
  [24, 'created_at_micros'],
  [28, 'header_crc'],
];

function fieldAt(at: number, fields: readonly (readonly [end: number, name: string])[]): string {
  return fields.find(([end]) => at < end)?.[1] ?? 'payload';
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1 << bit;
  return copy;
}

const SEGMENTS: readonly BuiltSegment[] = [
  buildSegment({ version: 2, records: sequence(7n, [3]) }),
  buildSegment({ version: 3, records: sequence(0xffff_fffdn, [1, { producerId: 9n, sequence: 4n, len: 3 }, 1]) }),
  buildSegment({
    version: 4,
    records: [generationStart(40n, 3n), plain(41n, { payloadLength: 0 }), ...batch(42n, tag(2)), plain(44n)],
  }),
];

function tag(len: number) {
  return { producerId: 0x0102_0304_0506_0708n, sequence: 11n, len };
}

/** Claims about a record whose first check that fails is the one a scan would name. */
function claimFor(log: Uint8Array, position: number, expected: bigint | null, end: number | null = null) {
  const decoded = decodeRecord(log.subarray(position));
  expect(decoded.ok).to.equal(false);
  const kind: CorruptionKind = decoded.ok ? 'Truncated' : decoded.error.kind;
  return recordBitFlip(new MemorySource(log), position, log.length, expected, kind, end);
}

describe('scan/bit-flip', () => {
  for (const segment of SEGMENTS) {
    it(`locates every single flipped bit of every record of a v${segment.version} segment`, () => {
      segment.records.forEach((record, index) => {
        const start = segment.positions[index]!;
        const end = segment.positions[index + 1] ?? segment.log.length;
        const fields = record.kind === 'opens' ? [...HEADER_FIELDS, ...TAG_FIELDS] : HEADER_FIELDS;
        for (let at = start; at < end; at++) {
          for (let bit = 0; bit < 8; bit++) {
            const { chance, ...claim } = claimFor(flipped(segment.log, at, bit), start, record.offset)!;
            expect(claim).to.deep.equal({ position: at, bit, field: fieldAt(at - start, fields) });
            const bits = at - start < 24 ? 192 : 32 + 8 * (end - start - 28);
            expect(chance).to.equal(bits / 2 ** 32);
          }
        }
      });
    });
  }

  it('locates every single flipped bit of a segment header that its checksum covers', () => {
    for (const version of [2, 3, 4]) {
      const bytes = encodeSegmentHeader({ version, baseOffset: 17n, createdAtMicros: 1n << 50n, reserved: 5 });
      for (let at = 0; at < 28; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const damaged = flipped(bytes, at, bit);
          expect(decodeSegmentHeader(damaged).ok).to.equal(false);
          const asFound = damaged.slice();
          expect(segmentHeaderBitFlip(damaged)).to.deep.equal({
            position: at,
            bit,
            field: fieldAt(at, SEGMENT_FIELDS),
            chance: 224 / 2 ** 32,
          });
          expect(Buffer.compare(damaged, asFound)).to.equal(0);
        }
      }
      expect(segmentHeaderBitFlip(bytes)).to.equal(null);
      expect(segmentHeaderBitFlip(bytes.subarray(0, 31))).to.equal(null);
    }
  });

  it('says nothing of a whole record, nor of kinds that a single flip cannot leave behind', () => {
    const { log, positions, records } = SEGMENTS[1]!;
    const source = new MemorySource(log);
    for (const kind of ['RecordHeaderChecksum', 'RecordChecksum'] as const) {
      expect(recordBitFlip(source, positions[1]!, log.length, records[1]!.offset, kind, null)).to.equal(null);
    }
    const damaged = new MemorySource(flipped(log, positions[1]!, 2));
    const inPayload = new MemorySource(flipped(log, positions[1]! + 50, 2));
    for (const kind of ['RecordFlags', 'RecordTooLarge', 'Truncated', 'OffsetOutOfOrder'] as const) {
      expect(recordBitFlip(damaged, positions[1]!, log.length, records[1]!.offset, kind, null)).to.equal(null);
      expect(recordBitFlip(inPayload, positions[1]!, log.length, records[1]!.offset, kind, null)).to.equal(null);
    }
    expect(recordBitFlip(damaged, positions[1]!, log.length, records[1]!.offset, 'RecordChecksum', null)).to.equal(
      null,
    );
  });

  it('claims a header flip only when offset, limits and the record behind it bear it out', () => {
    const { log, positions, records } = SEGMENTS[0]!;
    const [first, second] = [positions[0]!, positions[1]!];
    const offset = records[0]!.offset;
    const damaged = flipped(log, first + 9, 1);
    expect(claimFor(damaged, first, offset)).to.not.equal(null);
    expect(claimFor(damaged, first, null)).to.not.equal(null);
    expect(claimFor(damaged, first, offset + 1n)).to.equal(null);
    expect(claimFor(flipped(damaged, first + 30, 1), first, offset)).to.equal(null);
    expect(claimFor(damaged.subarray(0, second - 1), first, offset)).to.equal(null);
    expect(claimFor(damaged.subarray(0, second), first, offset)).to.not.equal(null);
    const impossible = plain(0n);
    for (const word of [0xc0000000, MAX_PAYLOAD_BYTES + 1]) {
      const bytes = encodeRecord(impossible);
      writeU32(bytes, 0, word);
      writeU32(bytes, 20, crc32(bytes.subarray(0, 20)) ^ 1);
      expect(claimFor(bytes, 0, 0n)).to.equal(null);
    }
  });

  it('claims a flip of no more than is judged of the file', () => {
    const whole = encodeRecord(plain(5n, { payloadLength: 0 }));
    const source = new MemorySource(concatBytes([flipped(whole, 9, 1), whole]));
    const within = (size: number) => recordBitFlip(source, 0, size, 5n, 'RecordHeaderChecksum', null);
    expect(within(28)).to.deep.equal({ position: 9, bit: 1, field: 'offset', chance: 192 / 2 ** 32 });
    for (const size of [27, 23, 20, 0]) expect(within(size), `${size} bytes`).to.equal(null);
    const last = new MemorySource(flipped(whole, 9, 1));
    expect(recordBitFlip(last, 0, 28, 5n, 'RecordHeaderChecksum', null)).to.include({ position: 9, bit: 1 });
    const { log, positions } = SEGMENTS[0]!;
    const second = positions[1]!;
    const inPayload = new MemorySource(flipped(log, positions[0]! + 30, 0));
    const judged = (size: number) => recordBitFlip(inPayload, positions[0]!, size, 7n, 'RecordChecksum', null);
    expect(judged(second)).to.include({ position: positions[0]! + 30, bit: 0 });
    expect(judged(second - 1)).to.equal(null);
    const inHeader = new MemorySource(flipped(log, positions[0]! + 9, 1));
    const ofHeader = (size: number) => recordBitFlip(inHeader, positions[0]!, size, 7n, 'RecordHeaderChecksum', null);
    expect(ofHeader(second)).to.include({ position: positions[0]! + 9, bit: 1 });
    expect(ofHeader(second - 1)).to.equal(null);
  });

  it('claims a payload flip only where a record may end', () => {
    const { log, positions, records } = SEGMENTS[0]!;
    const [first, second, third] = [positions[0]!, positions[1]!, positions[2]!];
    const offset = records[0]!.offset;
    const damaged = flipped(log, first + 30, 0);
    const flip = { position: first + 30, bit: 0, field: 'payload' };
    const rest = (bytes: Uint8Array) => concatBytes([damaged.subarray(0, second), bytes]);
    expect(claimFor(rest(new Uint8Array(100)), first, offset)).to.include(flip);
    expect(claimFor(rest(new Uint8Array(27).fill(7)), first, offset)).to.include(flip);
    expect(claimFor(rest(new Uint8Array(28).fill(7)), first, offset)).to.equal(null);
    expect(claimFor(rest(new Uint8Array(28)), first, offset)).to.include(flip);
    expect(claimFor(rest(log.subarray(second, second + 28)), first, offset)).to.include(flip);
    expect(claimFor(flipped(damaged, second + 5, 3), first, offset)).to.include(flip);
    expect(claimFor(flipped(damaged, second + 5, 3), second, offset + 1n)).to.include({ position: second + 5, bit: 3 });
    expect(claimFor(rest(log.subarray(third)), first, offset)).to.equal(null);
    const overwritten = rest(new Uint8Array(100).fill(7));
    expect(claimFor(overwritten, first, offset)).to.equal(null);
    expect(claimFor(overwritten, first, offset, second)).to.include(flip);
  });

  it('takes bytes that cannot be read for no evidence', () => {
    const { log, positions } = SEGMENTS[0]!;
    const failing = (limit: number): ByteSource => ({
      size: log.length,
      readAt(target, position) {
        if (position >= limit) throw new ReadFailure('EIO', position, 'input/output error');
        return new MemorySource(log.subarray(0, limit)).readAt(target, position);
      },
    });
    for (const limit of [0, 40, positions[1]!]) {
      expect(recordBitFlip(failing(limit), positions[0]!, log.length, 7n, 'RecordChecksum', null)).to.equal(null);
    }
    const ours = { size: 100, readAt: () => expect.fail('a bug of ours is not swallowed') };
    expect(() => recordBitFlip(ours, 0, 100, 0n, 'RecordChecksum', null)).to.throw('not swallowed');
  });
});

describe('scan/bit-flip, against chance', () => {
  const TRIALS = 100_000;

  function damage(random: Random, bytes: Uint8Array, from: number, bits: number): Uint8Array {
    const copy = bytes.slice();
    const places = new Set<number>();
    while (places.size < bits) places.add(random.below((bytes.length - from) * 8));
    for (const place of places) copy[from + (place >> 3)]! ^= 1 << (place & 7);
    return copy;
  }

  it('claims no damage of two to six bits, and no garbage, in records and segment headers', () => {
    const random = seededRandom(20_260_101);
    const record = encodeRecord(plain(12n, { payloadLength: 40 }));
    const header = encodeSegmentHeader({ version: 3, baseOffset: 1n, createdAtMicros: 2n, reserved: 0 });
    let claims = 0;
    for (let trial = 0; trial < TRIALS; trial++) {
      const bits = 2 + (trial % 5);
      // Sixty-eight bytes have less than 2^-22 of a chance to look flipped, so that not one claim is to be expected.
      let bytes = damage(random, record, 0, bits);
      if (trial % 4 === 1) bytes = damage(random, record, 28, bits);
      if (trial % 4 === 2) bytes = concatBytes([random.bytes(28), record.subarray(28)]);
      if (trial % 4 === 3) bytes = concatBytes([record.subarray(0, 28), random.bytes(40)]);
      const decoded = decodeRecordHeader(bytes);
      const kind = decoded.ok ? 'RecordChecksum' : decoded.error.kind;
      if (recordBitFlip(new MemorySource(bytes), 0, bytes.length, null, kind, bytes.length) !== null) claims++;
      const segment = trial % 2 === 0 ? damage(random, header, 0, bits) : random.bytes(32);
      if (segmentHeaderBitFlip(segment) !== null && !onlyOneCovered(segment, header)) claims++;
    }
    expect(claims).to.equal(0);
  });

  /** Bits flipped in the word that no checksum covers leave one flip in what is covered. */
  function onlyOneCovered(damaged: Uint8Array, header: Uint8Array): boolean {
    let bits = 0;
    for (let at = 0; at < 28; at++) for (let x = damaged[at]! ^ header[at]!; x !== 0; x &= x - 1) bits++;
    return bits === 1;
  }

  it('claims random differences of checksums as often as the stated chance has it', () => {
    const random = seededRandom(7);
    const covered = 2 ** 26 - 4;
    const trials = 4000;
    let claims = 0;
    for (let trial = 0; trial < trials; trial++) if (flippedBit(random.next(), covered) !== null) claims++;
    const expected = (trials * (covered * 8 + 32)) / 2 ** 32;
    // Five standard deviations of the binomial distribution.
    expect(Math.abs(claims - expected)).to.be.below(5 * Math.sqrt(expected * 0.875));
  });

  it('gives every power of x its own exponent', () => {
    let power = 0x80000000 | 0;
    for (let exponent = 0; exponent < 200_000; exponent++) {
      if (exponent % 97 === 0 || exponent < 300) {
        expect(exponentOf(power, 200_000)).to.equal(exponent);
        expect(exponentOf(power, exponent)).to.equal(null);
      }
      power = (power & 1) === 1 ? (power >>> 1) ^ 0xedb88320 : power >>> 1;
    }
    expect(exponentOf(0, 2 ** 29)).to.equal(null);
  });
});

describe('scan/bit-flip, of the longest record', () => {
  const record = encodeRecord(plain(5n, { payload: longPayload() }));
  const size = record.length;

  function longPayload(): Uint8Array {
    const payload = new Uint8Array(MAX_PAYLOAD_BYTES);
    const block = seededRandom(3).bytes(1 << 16);
    for (let at = 0; at < payload.length; at += block.length) {
      payload.set(block, at);
      writeU32(payload, at, at);
    }
    return payload;
  }

  it('locates a flip anywhere in 64 MiB, reading in pieces', () => {
    const source = new CountingSource(record);
    for (const at of [28, 29, 1_000_003, size >> 1, size - 2, size - 1]) {
      record[at]! ^= 16;
      const flip = recordBitFlip(source, 0, size, 5n, 'RecordChecksum', null);
      record[at]! ^= 16;
      const chance = (32 + MAX_PAYLOAD_BYTES * 8) / 2 ** 32;
      expect(flip).to.deep.equal({ position: at, bit: 4, field: 'payload', chance });
    }
    expect(source.largestRead).to.be.at.most(256 * 1024);
  });

  it('takes the same checksums from kept blocks as from reading', () => {
    const source = new MemorySource(record);
    const checksums = new RangeChecksums(source);
    const random = seededRandom(11);
    for (let round = 0; round < 12; round++) {
      const start = random.below(size);
      const end = start + random.below(size - start + 1);
      expect(checksums.continued(start, end, round)).to.equal(crc32(record.subarray(start, end), round));
      checksums.continued(0, size, 0);
    }
  });

  it('takes less than four times as long as the checksum', () => {
    const stored = readU32(record, 24);
    const at = 12_345_678;
    const ratios: number[] = [];
    for (let round = 0; round < 7; round++) {
      const begin = performance.now();
      const computed = crc32(record.subarray(28), crc32(record.subarray(0, 24)));
      const between = performance.now();
      record[at]! ^= 2;
      const flip = recordBitFlip(new MemorySource(record), 0, size, 5n, 'RecordChecksum', null);
      const end = performance.now();
      record[at]! ^= 2;
      expect(computed).to.equal(stored);
      expect(flip?.position).to.equal(at);
      ratios.push((end - between) / (between - begin));
    }
    const median = ratios.sort((a, b) => a - b)[3]!;
    expect(median).to.be.below(4);
  });

  it('reads a crowd of long claims in time linear in the file', () => {
    // Every 4 KiB a header claims 64 MiB; each checksum fails.
    const log = new Uint8Array(96 << 20);
    const count = 2000;
    for (let i = 0; i < count; i++) {
      const head = encodeRecord({ ...plain(BigInt(i)), payload: new Uint8Array(0) });
      writeU32(head, 0, MAX_PAYLOAD_BYTES);
      writeU32(head, 20, crc32(head.subarray(0, 20)));
      log.set(head, i * 4096);
    }
    const source = new CountingSource(log);
    const checksums = new RangeChecksums(source);
    for (let i = 0; i < count; i++) {
      recordBitFlip(source, i * 4096, log.length, BigInt(i), 'RecordChecksum', null, checksums);
    }
    expect(source.bytesRead).to.be.below(4 * log.length);
  });
});
