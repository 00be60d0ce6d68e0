import { expect } from 'chai';
import { concatBytes, writeU32, writeU64 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { encodeRecord } from '../../src/format/record.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import type { RangeScan } from '../../src/scan/range-scan.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { plain } from '../builders/records.js';
import { TEST_NOW_MICROS } from '../corpus/checked.js';
import { CountingSource } from '../scan/counting-source.js';

const MIB = 1 << 20;
/** Smaller than any of the files, so that none is all in memory. */
const WINDOW_BYTES = 64 * 1024;

function scanned(body: Uint8Array): { scan: RangeScan; ms: number; read: number } {
  const header = encodeSegmentHeader({ version: 4, baseOffset: 5n, createdAtMicros: 0n, reserved: 0 });
  const source = new CountingSource(new MemorySource(concatBytes([header, body])));
  const startedAt = process.cpuUsage();
  const steps = scanSegmentFile(source, null, { nowMicros: TEST_NOW_MICROS, windowBytes: WINDOW_BYTES });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { user, system } = process.cpuUsage(startedAt);
  return { scan: step.value.records!, ms: (user + system) / 1000, read: source.bytesRead };
}

/** Fills `length` bytes with `unit` over and over. */
function repeated(unit: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(Buffer.alloc(length, unit));
}

/** A header that verifies, with an offset that fits in, whose record does not. */
function lyingHeader(payloadLength: number, offset: bigint): Uint8Array {
  const bytes = new Uint8Array(28);
  writeU32(bytes, 0, payloadLength);
  writeU64(bytes, 4, offset);
  writeU32(bytes, 20, crc32(bytes.subarray(0, 20)));
  return bytes;
}

/** Headers that each claim 64 MiB, or what is left. */
function claims(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at + 28 <= length; at += 28) {
    const left = length - at - 28;
    bytes.set(lyingHeader(Math.max(0, Math.min(64 * MIB, left - 1)), 5n + BigInt(Math.floor(at / 28))), at);
  }
  return bytes;
}

/** A whole record, then a header that claims nearly the rest, by turns. */
function alternating(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 5n;
  for (let at = 0; at + 64 <= length; offset++) {
    const record = encodeRecord(plain(offset, { payloadLength: 8 }));
    bytes.set(record, at);
    at += record.length;
    bytes.set(lyingHeader(Math.max(0, Math.min(64 * MIB, length - at - 29)), offset + 1n), at);
    at += 28;
  }
  return bytes;
}

describe('the time of a scan grows no faster than the bytes it crosses', function () {
  this.timeout(120_000);
  const random = seededRandom(1).bytes(4 * MIB);
  const flsg = new TextEncoder().encode('FLSG');
  const cases: readonly (readonly [what: string, make: (length: number) => Uint8Array, small: number])[] = [
    ['zeros', (length) => new Uint8Array(length), 16 * MIB],
    ['random bytes', (length) => repeated(random, length), 16 * MIB],
    ['magics over and over', (length) => repeated(flsg, length), 16 * MIB],
    ['one byte of four not zero', (length) => repeated(new Uint8Array([0, 0, 0, 9]), length), 16 * MIB],
    ['headers that claim 64 MiB at every 28 bytes', claims, MIB],
    ['a whole record and such a header by turns', alternating, MIB / 4],
  ];
  for (const [what, make, small] of cases) {
    it(`over ${what}`, () => {
      scanned(make(MIB));
      const one = scanned(make(small));
      const four = scanned(make(4 * small));
      // Four times the bytes; in the square it would be sixteen times the work.
      expect(four.read / one.read, 'bytes read').to.be.below(8);
      expect(four.ms, `${one.ms} ms before`).to.be.below(8 * Math.max(one.ms, 15));
    });
  }

  it('and a whole record is found behind more vain claims than are read in full', () => {
    const vain = Array.from({ length: 4 }, (_, i) =>
      concatBytes([lyingHeader(7 * MIB, 5n + BigInt(i)), new Uint8Array(7 * MIB)]),
    );
    const good = encodeRecord(plain(9n, { payloadLength: 3 * MIB + 5 }));
    const { scan } = scanned(concatBytes([...vain, good, encodeRecord(plain(10n))]));
    expect(scan.damages.map(({ corruption }) => corruption.kind)).to.deep.equal(Array(4).fill('RecordChecksum'));
    expect(scan.records).to.equal(2);
    expect(scan.nextOffset).to.equal(11n);
  });
});
