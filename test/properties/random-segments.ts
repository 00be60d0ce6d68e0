/**
 * Segments damaged at random, by a seed: rot, lost writes, foreign blocks, records copied to other places, and headers
 * that lie under a checksum that holds.
 */

import { concatBytes, readU32, writeU32, writeU64 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { encodeRecord } from '../../src/format/record.js';
import { type Random, seededRandom } from '../builders/random.js';
import { plain, type SequencePart, sequence } from '../builders/records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';

/** Bases around which the halves of an offset carry over, and the last u64 is near. */
const BASES: readonly bigint[] = [
  0n,
  7n,
  2n ** 31n - 5n,
  2n ** 32n - 3n,
  2n ** 32n - 40n,
  2n ** 53n - 4n,
  2n ** 63n - 3n,
  0xffff_ffff_ffff_ff00n,
];

export interface DamagedSegment {
  readonly healthy: BuiltSegment;
  readonly log: Uint8Array;
}

/** The header is left whole. `payloadLength` is that of every record; small when left out. */
export function damagedSegment(seed: number, payloadLength?: number): DamagedSegment {
  const random = seededRandom(seed);
  const healthy = healthySegment(random, payloadLength);
  let log = healthy.log;
  const edits = random.below(5);
  for (let i = 0; i < edits; i++) log = edited(log, healthy, random);
  return { healthy, log };
}

function healthySegment(random: Random, fixedLength?: number): BuiltSegment {
  const base = BASES[random.below(BASES.length)]!;
  const parts: SequencePart[] = Array.from({ length: random.below(6) }, () => {
    const choice = random.below(5);
    if (choice === 0) return { producerId: BigInt(random.below(3)), sequence: 5n, len: 1 + random.below(4) };
    if (choice === 1) return { generation: BigInt(random.below(9)) };
    return random.below(5);
  });
  const payloadLength = fixedLength ?? (random.below(3) === 0 ? random.below(3) : random.below(90));
  const records = sequence(base, parts, { payloadLength });
  return buildSegment({ version: 4, baseOffset: base, records, indexSpacing: 1 + random.below(200) });
}

function edited(log: Uint8Array, healthy: BuiltSegment, random: Random): Uint8Array {
  const body = log.length - 32;
  const at = 32 + random.below(body + 1);
  const length = Math.min(random.below(60), log.length - at);
  const record = healthy.positions[random.below(healthy.positions.length || 1)];
  const copy = log.slice();
  switch (random.below(14)) {
    case 0:
    case 1:
      if (at < log.length) copy[at]! ^= 1 << random.below(8);
      return copy;
    case 2:
      return copy.fill(0, at, at + length);
    case 3:
      copy.set(random.bytes(length), at);
      return copy;
    case 4:
      return copy.slice(0, at);
    case 5:
      return concatBytes([copy, new Uint8Array(random.below(90))]);
    case 6:
      return concatBytes([copy, random.bytes(random.below(90))]);
    case 7:
      return concatBytes([copy.subarray(0, at), random.bytes(length), copy.subarray(at)]);
    case 8:
      return concatBytes([copy.subarray(0, at), copy.subarray(at + length)]);
    case 9: {
      const from = 32 + random.below(body + 1);
      copy.set(log.slice(from, from + Math.min(120, log.length - at)), at);
      return copy;
    }
    case 10: {
      const near = healthy.baseOffset + BigInt(random.below(healthy.positions.length + 4));
      const extra = encodeRecord(plain(near, { payloadLength: random.below(30) }));
      return concatBytes([copy.subarray(0, at), extra, copy.subarray(at + (random.below(2) === 0 ? 0 : length))]);
    }
    case 11:
      // A record that no reader takes, behind damage that makes the scan look for one.
      if (record !== undefined && record + 28 <= copy.length) {
        copy[Math.max(32, record - 1 - random.below(28))]! ^= 1;
        forge(copy, record, random);
      }
      return copy;
    default:
      if (record !== undefined && record + 28 <= copy.length) forge(copy, record, random);
      return copy;
  }
}

/** Changes what a header says and makes its checksum hold again; now and then the record's as well. */
function forge(log: Uint8Array, at: number, random: Random): void {
  const word = readU32(log, at);
  const left = log.length - at - 28;
  const lengths = [
    0,
    left,
    left - 1,
    left + 1,
    left - 20,
    random.below(left + 2),
    64 << 20,
    (64 << 20) + 1,
    2 ** 29 - 1,
  ];
  if (random.below(2) === 0) {
    const kind = random.below(3) === 0 ? random.below(8) * 2 ** 29 : word - (word % 2 ** 29);
    writeU32(log, at, kind + (Math.max(0, lengths[random.below(lengths.length)]!) % 2 ** 29));
  }
  if (random.below(2) === 0) {
    const offset = new DataView(log.buffer, log.byteOffset).getBigUint64(at + 4);
    writeU64(log, at + 4, BigInt.asUintN(64, offset + BigInt(random.below(9)) - 4n));
  }
  writeU32(log, at + 20, crc32(log.subarray(at, at + 20)));
  const end = at + 28 + (readU32(log, at) >= 2 ** 31 ? 20 : 0) + (readU32(log, at) % 2 ** 29);
  if (random.below(2) === 0 && end <= log.length) {
    writeU32(log, at + 24, crc32(log.subarray(at + 28, end), crc32(log.subarray(at, at + 24))));
  }
}
