import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { concatBytes, writeU32 } from '../../src/format/bytes.js';
import { encodeRecord } from '../../src/format/record.js';
import { firstRecord } from '../../src/scan/first-record.js';
import { LongChecksums } from '../../src/scan/long-checksum.js';
import { type PlacedRecord, recordAt } from '../../src/scan/record-at.js';
import { Window } from '../../src/scan/window.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { continues, generationStart, opens, plain } from '../builders/records.js';
import { CountingSource, FilledSource } from './counting-source.js';

const MIB = 1024 * 1024;
const noise = (length: number) => new Uint8Array(length).fill(0x5a);

function placed(bytes: Uint8Array | ByteSource, position: number): PlacedRecord | null {
  const source = bytes instanceof Uint8Array ? new MemorySource(bytes) : bytes;
  const answers = [64, 4096].map((size) => recordAt(new Window(source, size), new LongChecksums(), position));
  expect(answers[1]).to.deep.equal(answers[0]);
  return answers[0]!;
}

/** A copy with another length word, under checksums that hold. */
function withLengthWord(bytes: Uint8Array, word: number): Uint8Array {
  const copy = bytes.slice();
  writeU32(copy, 0, word);
  writeU32(copy, 20, crc32(copy.subarray(0, 20)));
  writeU32(copy, 24, crc32(copy.subarray(28), crc32(copy.subarray(0, 24))));
  return copy;
}

describe('scan/record-at', () => {
  const tag = { producerId: 1n, sequence: 2n, len: 3 };
  const RECORDS = [
    plain(7n),
    opens(2n ** 40n, tag),
    continues(9n, { payloadLength: 0 }),
    generationStart(2n ** 64n - 1n, 4n),
    plain(3n, { payloadLength: 30_000 }),
  ];

  it('has the end, the offset and the kind of an intact record, wherever it starts', () => {
    for (const record of RECORDS) {
      const bytes = encodeRecord(record);
      for (const front of [0, 1, 4095]) {
        const { offset, kind } = record;
        const expected = { position: front, end: front + bytes.length, offset, kind };
        expect(placed(concatBytes([noise(front), bytes]), front)).to.deep.equal(expected);
        expect(placed(concatBytes([noise(front), bytes, noise(60)]), front)).to.deep.equal(expected);
      }
    }
  });

  it('is no record when one bit of it is another, or one byte of it is missing', () => {
    for (const record of RECORDS.slice(0, 4)) {
      const bytes = encodeRecord(record);
      for (let at = 0; at < bytes.length; at++) {
        const copy = bytes.slice();
        copy[at]! ^= 1 << (at % 8);
        expect(placed(concatBytes([copy, noise(99)]), 0), `${record.kind}, byte ${at}`).to.equal(null);
      }
      expect(placed(bytes.slice(0, -1), 0)).to.equal(null);
    }
    const long = encodeRecord(RECORDS[4]!);
    long[20_000]! ^= 1;
    expect(placed(long, 0)).to.equal(null);
  });

  it('is none when its header does not verify, though all of it together does', () => {
    const bytes = encodeRecord(plain(7n));
    bytes[22]! ^= 1;
    writeU32(bytes, 24, crc32(bytes.subarray(28), crc32(bytes.subarray(0, 24))));
    expect(placed(bytes, 0)).to.equal(null);
  });

  it('is none outside the file', () => {
    const bytes = encodeRecord(plain(7n, { payloadLength: 0 }));
    const unasked: ByteSource = {
      size: 100,
      readAt() {
        throw new TypeError('nothing is to be read');
      },
    };
    for (const position of [-1, -28, 73, 100]) expect(placed(unasked, position)).to.equal(null);
    expect(placed(bytes, -1)).to.equal(null);
    expect(placed(bytes, 1)).to.equal(null);
    expect(placed(bytes, 28)).to.equal(null);
    expect(placed(new Uint8Array(), 0)).to.equal(null);
  });

  it('is none of two kinds at once, nor one that is too long, however sound its checksums', () => {
    const bytes = encodeRecord(plain(7n, { payloadLength: 40 }));
    for (let bits = 0; bits < 8; bits++) {
      const kind = [0, 1, 2, 4].includes(bits);
      const word = bits * 2 ** 29 + (bits === 4 ? 20 : 40);
      expect(placed(withLengthWord(bytes, word), 0) !== null, `bits ${bits}`).to.equal(kind);
    }
    // The same bytes over and over, so that the checksum of a long payload is cheap.
    const ofZeros = (length: number) => {
      const head = withLengthWord(new Uint8Array(28), length);
      const block = new Uint8Array(MIB);
      let crc = crc32(head.subarray(0, 24));
      for (let left = length; left > 0; left -= MIB) crc = crc32(block.subarray(0, Math.min(left, MIB)), crc);
      writeU32(head, 24, crc);
      return new FilledSource(28 + length, 0, [[0, head]]);
    };
    const at = (length: number) => recordAt(new Window(ofZeros(length)), new LongChecksums(), 0)?.end ?? null;
    expect(at(64 * MIB)).to.equal(28 + 64 * MIB);
    expect(at(64 * MIB + 1)).to.equal(null);
  });
});

describe('the first record of a file', () => {
  function first(bytes: Uint8Array | ByteSource, from = 0) {
    const walk = firstRecord(bytes instanceof Uint8Array ? new MemorySource(bytes) : bytes, from);
    const steps: number[] = [];
    for (;;) {
      const step = walk.next();
      if (step.done) return { position: step.value, steps };
      steps.push(step.value);
    }
  }
  const [a, b, c] = [3n, 4n, 9n].map((offset) => encodeRecord(plain(offset))) as [Uint8Array, Uint8Array, Uint8Array];

  it('is the first one that another follows', () => {
    expect(first(concatBytes([noise(5), a, b, noise(40)])).position).to.equal(5);
    // What stands alone may be bytes of a payload, also when a record of another offset stands behind it.
    expect(first(concatBytes([noise(5), c, noise(3), a, b, noise(40)])).position).to.equal(5 + c.length + 3);
    expect(first(concatBytes([noise(5), c, a, b, noise(40)])).position).to.equal(5 + c.length);
  });

  it('or the first with which the file ends', () => {
    expect(first(concatBytes([noise(5), c, noise(30), a])).position).to.equal(5 + c.length + 30);
    expect(first(a).position).to.equal(0);
    const empty = encodeRecord(plain(3n, { payloadLength: 0 }));
    expect(first(concatBytes([noise(7), empty])).position).to.equal(7);
    expect(first(concatBytes([c, noise(1), empty])).position).to.equal(c.length + 1);
  });

  it('or, where none is borne out, the first that stands alone', () => {
    expect(first(concatBytes([noise(5), c, noise(30), a, noise(1)])).position).to.equal(5);
    expect(first(concatBytes([noise(5), b, a, noise(1)])).position).to.equal(5);
  });

  it('lies at or behind the place where the search begins', () => {
    const bytes = concatBytes([a, b, noise(9)]);
    expect(first(bytes, 0).position).to.equal(0);
    expect(first(bytes, 1).position).to.equal(a.length);
    expect(first(bytes, a.length).position).to.equal(a.length);
    expect(first(bytes, a.length + 1).position).to.equal(null);
    expect(first(noise(100)).position).to.equal(null);
    expect(first(new Uint8Array()).position).to.equal(null);
    expect(first(b.slice(0, -1)).position).to.equal(null);
  });

  it('is looked for with a turn for its driver each mebibyte, and without reading far for long claims', () => {
    const source = new CountingSource(new FilledSource(2 * MIB + 500, 0x3f));
    const { position, steps } = first(source, 100);
    expect(position).to.equal(null);
    expect(steps).to.deep.equal([100 + MIB - 1, 100 + 2 * MIB - 1]);
    expect(source.bytesRead).to.be.below(3 * MIB);
  });
});
