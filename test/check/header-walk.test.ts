import { expect } from 'chai';
import { HeaderWalk } from '../../src/check/header-walk.js';
import { encodeRecord } from '../../src/format/record.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { opens, plain, plainRun, sequence } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';

const tag = { producerId: 7n, sequence: 3n, len: 2 };

function walked(bytes: Uint8Array, offset: bigint) {
  const walk = new HeaderWalk(new MemorySource(bytes), 32, offset);
  const positions: number[] = [];
  while (walk.next()) positions.push(walk.position);
  return { walk, positions };
}

describe('HeaderWalk', () => {
  it('meets every record of a segment, whatever its kind and however large', () => {
    const records = [
      ...sequence(0xffff_fffen, [1, tag, { generation: 4n }]),
      plain(0x1_0000_0002n, { payloadLength: 200_000 }),
      plain(0x1_0000_0003n, { payloadLength: 0 }),
    ];
    const { log, positions } = buildSegment({ version: 4, records });
    const found = walked(log, 0xffff_fffen);
    expect(found.positions).to.deep.equal(positions);
    expect(found.walk.failure).to.equal(null);
    expect(found.walk.end).to.equal(log.length);
    expect(found.walk.nextOffset).to.equal(0x1_0000_0004n);
  });

  it('passes over payloads without reading them', () => {
    const records = plainRun(0n, 4, { payloadLength: 500_000 });
    const { log } = buildSegment({ records });
    let read = 0;
    const memory = new MemorySource(log);
    const source = {
      size: memory.size,
      readAt: (target: Uint8Array, position: number) => {
        const got = memory.readAt(target, position);
        read += got;
        return got;
      },
    };
    const walk = new HeaderWalk(source, 32, 0n);
    while (walk.next());
    expect(walk.end).to.equal(log.length);
    expect(read).to.be.below(300_000);
  });

  it('gives the tag of a record that opens a batch, and verifies a record whole', () => {
    const { log } = buildSegment({ records: [opens(5n, tag, { payloadLength: 100_000 }), plain(6n)] });
    const walk = new HeaderWalk(new MemorySource(log), 32, 5n);
    expect(walk.next()).to.equal(true);
    expect(walk.kindBits).to.equal(4);
    expect(walk.verifies()).to.equal(true);
    expect(walk.tag()).to.deep.equal(tag);
    expect(walk.next()).to.equal(true);
    expect(walk.verifies()).to.equal(true);
    log[log.length - 1] = (log[log.length - 1] ?? 0) ^ 1;
    const rotten = new HeaderWalk(new MemorySource(log), 32, 5n);
    while (rotten.next());
    expect(rotten.verifies()).to.equal(false);
  });

  it('stops at whatever does not hold, and says what it is', () => {
    const { log, positions } = buildSegment({ records: plainRun(0n, 3) });
    const spoiled = (edit: (bytes: Uint8Array) => Uint8Array) => {
      const { walk, positions: met } = walked(edit(log.slice()), 0n);
      expect(met).to.deep.equal(positions.slice(0, met.length));
      expect(walk.next()).to.equal(false);
      return `${met.length}: ${walk.failure}`;
    };
    const at = positions[1]!;
    const replaced = (word: number) => (bytes: Uint8Array) => {
      const record = encodeRecord(plain(1n, { payloadLength: 0 }));
      const data = new DataView(record.buffer);
      data.setUint32(0, word);
      bytes.set(reheaded(record), at);
      return bytes;
    };
    expect(spoiled((bytes) => bytes.fill(0, at, at + 4))).to.equal('1: a record header does not match its checksum');
    expect(spoiled((bytes) => bytes.slice(0, at + 20))).to.equal('1: the file ends inside a record header');
    expect(spoiled((bytes) => bytes.slice(0, at + 29))).to.equal('1: the file ends inside a record');
    expect(spoiled(replaced(0xc0000000))).to.equal('1: a record has impossible flags');
    expect(spoiled(replaced(0x05000000))).to.equal('1: a record is over the limit of length');
    expect(walked(log, 1n).walk.failure).to.equal('an offset is out of order');
  });
});

/** The record with its header checksum made right again: a record of this header is encoded by nobody. */
function reheaded(record: Uint8Array): Uint8Array {
  const data = new DataView(record.buffer);
  let crc = 0xffffffff;
  for (const byte of record.subarray(0, 20)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  data.setUint32(20, ~crc >>> 0);
  return record;
}
