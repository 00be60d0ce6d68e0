import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { U64_MAX } from '../../src/domain/units.js';
import { concatBytes } from '../../src/format/bytes.js';
import { encodeRecord, type LogRecord, RECORD_HEADER_LEN } from '../../src/format/record.js';
import { LongChecksums } from '../../src/scan/long-checksum.js';
import { type Resync, resync } from '../../src/scan/resync.js';
import { Window } from '../../src/scan/window.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { generationStart, opens, plain } from '../builders/records.js';
import { FilledSource } from './counting-source.js';
import { UnreadableSource } from './faulty-source.js';

interface Request {
  readonly from?: number;
  readonly until?: number;
  readonly expected?: bigint;
  readonly windowBytes?: number;
}

/** What is found, and the positions reached on the way. */
function search(bytes: Uint8Array | ByteSource, request: Request = {}): { found: Resync | null; steps: number[] } {
  const source = bytes instanceof Uint8Array ? new MemorySource(bytes) : bytes;
  const window = new Window(source, request.windowBytes ?? 4096);
  const { from = 0, until = source.size, expected = 0n } = request;
  const walk = resync(window, new LongChecksums(), from, until, expected);
  const steps: number[] = [];
  for (;;) {
    const step = walk.next();
    if (step.done) return { found: step.value, steps };
    steps.push(step.value);
  }
}

const found = (bytes: Uint8Array, request: Request = {}): Resync | null => search(bytes, request).found;
const at = (position: number, offset: bigint): Resync => ({ position, offset, failure: null });

const noise = (length: number, seed = 1): Uint8Array => seededRandom(seed).bytes(length);
const bytesOf = (record: LogRecord): Uint8Array => encodeRecord(record);

/** A record with one header field changed and the header's own checksum put right, so that only that field speaks. */
function withLengthWord(record: LogRecord, word: number): Uint8Array {
  const bytes = encodeRecord(record);
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  data.setUint32(0, word);
  data.setUint32(20, crcOf(bytes.subarray(0, 20)));
  data.setUint32(24, crcOf(concatBytes([bytes.subarray(0, 24), bytes.subarray(28)])));
  return bytes;
}

/** Behind eleven bytes of noise, a record with a payload of so many zeros and checksums that hold. */
function ofZeros(length: number): ByteSource {
  const head = withLengthWord(plain(0n, { payloadLength: 0 }), length);
  const block = new Uint8Array(1 << 20);
  let crc = crc32(head.subarray(0, 24));
  for (let left = length; left > 0; left -= block.length) {
    crc = crc32(block.subarray(0, Math.min(left, block.length)), crc);
  }
  new DataView(head.buffer, head.byteOffset).setUint32(24, crc);
  return new FilledSource(11 + 28 + length, 0, [
    [0, noise(11)],
    [11, head],
  ]);
}

/** CRC-32 a bit at a time, from its definition. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

describe('scan/resync', () => {
  it('finds the first whole record behind any number of bytes of noise, at every alignment', () => {
    for (let length = 1; length < 80; length++) {
      for (const windowBytes of [64, 100, 4096]) {
        const bytes = concatBytes([noise(length, length), bytesOf(plain(0n)), bytesOf(plain(1n))]);
        expect(found(bytes, { windowBytes }), `${length} bytes, window ${windowBytes}`).to.deep.equal(at(length, 0n));
      }
    }
  });

  it('finds it behind any number of zeros, whatever stands in front of them', () => {
    for (const front of [0, 1, 2, 3, 5]) {
      for (const zeros of [1, 26, 27, 28, 29, 31, 64, 127, 128, 500]) {
        for (const windowBytes of [64, 67, 4096]) {
          for (const offset of [1n, 2n ** 32n - 1n, 2n ** 32n]) {
            const bytes = concatBytes([noise(front), new Uint8Array(zeros), bytesOf(plain(offset))]);
            const what = `${front} + ${zeros} zeros, window ${windowBytes}, offset ${offset}`;
            const request = { windowBytes, expected: offset };
            if (front + zeros > 0) expect(found(bytes, request), what).to.deep.equal(at(front + zeros, offset));
          }
        }
      }
    }
  });

  it('does not look at the place where it begins, nor at or behind its end', () => {
    const record = bytesOf(plain(0n));
    const bytes = concatBytes([record, noise(3), record]);
    const second = record.length + 3;
    expect(found(bytes)).to.deep.equal(at(second, 0n));
    expect(found(bytes, { until: second })).to.equal(null);
    expect(found(bytes, { until: second + 1 })).to.deep.equal(at(second, 0n));
    expect(found(bytes, { from: second })).to.equal(null);
    expect(found(bytes, { from: second - 1 })).to.deep.equal(at(second, 0n));
    const empty = concatBytes([noise(9), bytesOf(plain(0n, { payloadLength: 0 }))]);
    expect(found(empty, { from: 8 })).to.deep.equal(at(9, 0n));
  });

  it('takes no record that ends behind the file, and one that ends with it', () => {
    const record = bytesOf(plain(0n));
    const bytes = concatBytes([noise(9), record]);
    expect(found(bytes)).to.deep.equal(at(9, 0n));
    expect(found(bytes.subarray(0, bytes.length - 1))).to.equal(null);
    const empty = concatBytes([noise(9), bytesOf(plain(0n, { payloadLength: 0 }))]);
    expect(found(empty)).to.deep.equal(at(9, 0n));
    expect(found(empty.subarray(0, empty.length - 1))).to.equal(null);
  });

  it('takes the offset due and as many above it as records of 28 bytes fit into what was crossed', () => {
    for (const gap of [1, 27, 28, 29, 55, 56, 84]) {
      const most = BigInt(Math.floor(gap / RECORD_HEADER_LEN));
      for (const base of [100n, 2n ** 32n - 2n, 2n ** 40n - 1n]) {
        const findAt = (offset: bigint) =>
          found(concatBytes([noise(gap, 7), bytesOf(plain(offset))]), { expected: base });
        expect(findAt(base - 1n), `${gap} from ${base}, below`).to.equal(null);
        expect(findAt(base), `${gap} from ${base}`).to.deep.equal(at(gap, base));
        expect(findAt(base + most), `${gap} from ${base}, most`).to.deep.equal(at(gap, base + most));
        expect(findAt(base + most + 1n), `${gap} from ${base}, above`).to.equal(null);
      }
    }
  });

  it('counts what was crossed from the place where it begins', () => {
    const record = (offset: bigint) => concatBytes([noise(56 + 28), bytesOf(plain(offset))]);
    const request = { from: 56, expected: 100n };
    expect(found(record(101n), request)).to.deep.equal(at(84, 101n));
    expect(found(record(102n), request)).to.equal(null);
  });

  it('takes no record whose header does not verify, though all of it together does', () => {
    const record = bytesOf(plain(0n));
    record[21]! ^= 1;
    const covered = concatBytes([record.subarray(0, 24), record.subarray(28)]);
    new DataView(record.buffer, record.byteOffset).setUint32(24, crcOf(covered));
    expect(found(concatBytes([noise(11), record]))).to.equal(null);
  });

  it('passes over no record that looks like the zeros in front of it, or like none of them', () => {
    // With this offset and no time the checksum of the header is zero too: two words of the record are not.
    const nearlyZero = bytesOf(plain(0xfd18813cn, { timestampMicros: 0n, payloadLength: 0 }));
    expect(
      [nearlyZero.subarray(0, 8), nearlyZero.subarray(12, 24)].every((part) => part.every((b) => b === 0)),
    ).to.equal(true);
    // Of this one no byte of the header is zero, and the offsets that fit have more than one high half.
    const offset = 0x01010101_ffffffffn;
    const tag = { producerId: offset, sequence: offset, len: 0x01010101 };
    const payload = new Uint8Array(0x010101).fill(9);
    const full = bytesOf(opens(offset, tag, { timestampMicros: 0x0101010101010101n, payload }));
    expect(full.subarray(0, 100).includes(0)).to.equal(false);
    for (let front = 30; front < 50; front++) {
      const zeros = new Uint8Array(front);
      const behind = new Uint8Array(60);
      const expected = 0xfd18813cn;
      expect(found(concatBytes([zeros, nearlyZero, behind]), { expected }), `${front}`).to.deep.equal(
        at(front, expected),
      );
      expect(found(concatBytes([zeros, full]), { expected: offset }), `${front}`).to.deep.equal(at(front, offset));
    }
  });

  it('knows the last offset of a u64, and that none follows it', () => {
    const bytes = concatBytes([noise(30), bytesOf(plain(U64_MAX))]);
    expect(found(bytes, { expected: U64_MAX })).to.deep.equal(at(30, U64_MAX));
    expect(found(bytes, { expected: U64_MAX + 1n })).to.equal(null);
  });

  it('takes every kind of record there is, whole', () => {
    for (const record of [opens(0n, { producerId: 1n, sequence: 2n, len: 3 }), generationStart(0n, 9n)]) {
      const bytes = concatBytes([noise(11), bytesOf(record)]);
      expect(found(bytes), record.kind).to.deep.equal(at(11, 0n));
      expect(found(bytes.subarray(0, bytes.length - 1)), record.kind).to.equal(null);
    }
  });

  it('takes no record of two kinds at once, nor one that is too long, however sound its checksums', () => {
    const record = plain(0n, { payloadLength: 25 });
    for (let bits = 0; bits < 8; bits++) {
      // Twenty bytes are a tag where the record is one that opens a batch.
      const word = bits * 2 ** 29 + (bits >= 4 ? 5 : 25);
      const bytes = concatBytes([noise(11), withLengthWord(record, word)]);
      const kinds = bits.toString(2).replaceAll('0', '').length;
      expect(found(bytes), `bits ${bits}`).to.deep.equal(kinds <= 1 ? at(11, 0n) : null);
    }
    const longest = 64 * 1024 * 1024;
    expect(search(ofZeros(longest), { until: 12 }).found).to.deep.equal(at(11, 0n));
    expect(search(ofZeros(longest + 1), { until: 12 }).found).to.equal(null);
  });

  it('goes on behind a header that verifies over a body that does not', () => {
    const rotten = bytesOf(plain(0n));
    rotten[RECORD_HEADER_LEN + 2]! ^= 1;
    const bytes = concatBytes([noise(5), rotten, bytesOf(plain(1n))]);
    for (const windowBytes of [64, 4096]) {
      expect(found(bytes, { windowBytes })).to.deep.equal(at(5 + rotten.length, 1n));
    }
  });

  it('goes on behind a copy of an older record, and takes the one that is due', () => {
    const older = bytesOf(plain(3n));
    const bytes = concatBytes([noise(40), older, bytesOf(plain(9n))]);
    expect(found(bytes, { expected: 8n })).to.deep.equal(at(40 + older.length, 9n));
  });

  it('tells of a record whose end cannot be read that nobody knows whether it is intact', () => {
    const record = bytesOf(plain(0n, { payloadLength: 20_000 }));
    const bytes = concatBytes([noise(50), record]);
    const result = search(new UnreadableSource(bytes, 12_288, 16_384)).found;
    expect(result).to.deep.include({ position: 50, offset: 0n });
    expect(result!.failure).to.deep.include({ code: 'EIO', position: 12_288 });
    const broken: ByteSource = {
      size: bytes.length,
      readAt(target, position) {
        if (position >= 8192) throw new TypeError('a bug');
        return new MemorySource(bytes).readAt(target, position);
      },
    };
    expect(() => search(broken)).to.throw(TypeError, 'a bug');
  });

  it('gives its driver a turn in every window, going forward', () => {
    const { steps } = search(noise(40_000), { windowBytes: 1024 });
    expect(steps).to.have.length.within(38, 45);
    expect(steps).to.deep.equal(steps.toSorted((a, b) => a - b));
    expect(steps.at(-1)).to.equal(40_000 - RECORD_HEADER_LEN + 1);
    expect(search(noise(20)).steps).to.deep.equal([]);
  });
});
