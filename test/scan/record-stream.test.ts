import { expect } from 'chai';
import fc from 'fast-check';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import { PIECE_BYTES, type StreamedRecord, streamRecords } from '../../src/scan/record-stream.js';
import { MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { intactRecords } from '../builders/intact-records.js';
import { plain, sequence } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { UnreadableSource } from './faulty-source.js';

interface Row {
  readonly offset: bigint;
  readonly timestampMicros: bigint;
  readonly kind: string;
  readonly position: number;
  readonly checksum: number;
  readonly payload: string;
  readonly long: boolean;
}

/** Every record as it is shown, with the damage between as its kind and range. */
function shown(log: Uint8Array, windowBytes: number): { rows: Row[]; order: string[] } {
  const rows: Row[] = [];
  const order: string[] = [];
  const take = (record: StreamedRecord, payload: Uint8Array, long: boolean) => {
    const offset = (BigInt(record.offsetHigh) << 32n) | BigInt(record.offsetLow);
    const timestampMicros = (BigInt(record.timestampHigh) << 32n) | BigInt(record.timestampLow);
    const { kind, position, checksum } = record;
    expect(payload.length).to.equal(record.payloadBytes);
    rows.push({
      offset,
      timestampMicros,
      kind,
      position,
      checksum,
      payload: Buffer.from(payload).toString('hex'),
      long,
    });
    order.push(`record ${offset}`);
  };
  const steps = streamRecords(
    new MemorySource(log),
    { start: 32, expected: null, version: 4, windowBytes },
    {
      record: (record) => take(record, record.bytes.subarray(record.payloadStart, record.payloadEnd), false),
      *longRecord(record, payload) {
        const parts: Buffer[] = [];
        for (const piece of payload.pieces()) {
          parts.push(Buffer.from(piece));
          yield 0;
        }
        take(record, Buffer.concat(parts), true);
      },
      damage: ({ corruption, position, end }) => order.push(`${corruption.kind} ${position}..${end}`),
    },
  );
  for (const _ of steps);
  return { rows, order };
}

function asWritten(record: LogRecord, position: number, long: boolean): Row {
  const { offset, timestampMicros, kind, payload } = record;
  const checksum = new DataView(encodeRecord(record).buffer).getUint32(24);
  return { offset, timestampMicros, kind, position, checksum, payload: Buffer.from(payload).toString('hex'), long };
}

describe('scan/record-stream', () => {
  const records = sequence(2n ** 53n - 3n, [
    3,
    { producerId: 2n ** 64n - 1n, sequence: 0n, len: 3 },
    { generation: 9n },
    4,
  ]);
  const segment = buildSegment({ version: 4, records });

  for (const windowBytes of [64, 100, 128, 4096]) {
    it(`shows every record as it was written, through a window of ${windowBytes} bytes`, () => {
      const { rows } = shown(segment.log, windowBytes);
      const size = (i: number) => (segment.positions[i + 1] ?? segment.log.length) - segment.positions[i]!;
      expect(rows.map(({ long: _, ...row }) => row)).to.deep.equal(
        records.map((record, i) => {
          const { long: _, ...row } = asWritten(record, segment.positions[i]!, false);
          return row;
        }),
      );
      expect(rows.every(({ long }, i) => long === size(i) > windowBytes)).to.equal(true);
    });
  }

  it('gives a payload of several pieces byte for byte, every piece but the last a multiple of three', () => {
    const payload = Uint8Array.from({ length: 2 * PIECE_BYTES + 77 }, (_, i) => (i * 31 + (i >> 9)) & 255);
    const long = buildSegment({ records: [plain(0n), plain(1n, { payload }), plain(2n)] });
    const lengths: number[] = [];
    const steps = streamRecords(
      new MemorySource(long.log),
      { start: 32, expected: 0n, version: 3, windowBytes: 4096 },
      {
        record: () => {},
        *longRecord(_, pieces) {
          let at = 0;
          for (const piece of pieces.pieces()) {
            expect(Buffer.compare(piece, payload.subarray(at, at + piece.length))).to.equal(0);
            at += piece.length;
            lengths.push(piece.length);
          }
          expect(at).to.equal(payload.length);
          expect([...pieces.pieces(5)].map((piece) => Array.from(piece))).to.deep.equal([[...payload.subarray(0, 5)]]);
          yield 0;
        },
        damage: () => expect.fail('nothing is damaged'),
      },
    );
    for (const _ of steps);
    expect(lengths).to.deep.equal([PIECE_BYTES, PIECE_BYTES, 77]);
    expect(PIECE_BYTES % 3).to.equal(0);
  });

  it('shows the same records and damage whatever the window, and those that the plain rules call intact', () => {
    const log = buildSegment({
      version: 4,
      records: sequence(5n, [9, { producerId: 1n, sequence: 0n, len: 4 }, 9]),
    }).log;
    const edits = fc.array(fc.tuple(fc.integer({ min: 32, max: log.length - 1 }), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(edits, fc.integer({ min: 64, max: 700 }), (changes, windowBytes) => {
        const damaged = log.slice();
        for (const [at, by] of changes) damaged[at]! ^= by;
        const wide = shown(damaged, 1 << 16);
        const narrow = shown(damaged, windowBytes);
        expect(narrow.order).to.deep.equal(wide.order);
        // Without a first record that fixes it, the offset due is not known to a stream that is not told.
        if (wide.order[0]?.startsWith('record 5') !== true) return;
        const intact = intactRecords(damaged, 5n).map(({ offset }) => offset);
        expect(wide.rows.map(({ offset }) => offset)).to.deep.equal(intact);
      }),
      { numRuns: 150 },
    );
  });

  it('shows damage in its place between the records', () => {
    const log = segment.log.slice();
    log[segment.positions[2]!]! ^= 1;
    const first = 2n ** 53n - 3n;
    const others = records.slice(3).map(({ offset }) => `record ${offset}`);
    const damage = `RecordHeaderChecksum ${segment.positions[2]}..${segment.positions[3]}`;
    expect(shown(log, 4096).order).to.deep.equal([`record ${first}`, `record ${first + 1n}`, damage, ...others]);
  });

  it('gives a long payload however little a read gives, and fails where the file has become shorter', () => {
    const long = buildSegment({ records: [plain(0n, { payloadLength: 5000 })] });
    for (const kept of [long.log.length, 3000]) {
      let size = long.log.length;
      const source = {
        size: long.log.length,
        readAt: (target: Uint8Array, position: number) =>
          new MemorySource(long.log.subarray(0, size)).readAt(target.subarray(0, 700), position),
      };
      const steps = streamRecords(
        source,
        { start: 32, expected: 0n, version: 3, windowBytes: 64 },
        {
          record: () => expect.fail('it is longer than the window'),
          *longRecord(_, payload) {
            size = kept;
            for (const piece of payload.pieces()) {
              expect(Buffer.compare(piece, long.records[0]!.payload)).to.equal(0);
              yield 0;
            }
          },
          damage: () => expect.fail('nothing is damaged'),
        },
      );
      const work = () => {
        for (const _ of steps);
      };
      if (kept === long.log.length) work();
      else {
        expect(work)
          .to.throw(ReadFailure, 'the file ended before the size it had')
          .that.includes({ code: 'SHRANK', position: kept });
      }
    }
  });

  it('yields before each window, so that what was made of one need not be held with the next', () => {
    const many = buildSegment({ records: sequence(0n, [400]) });
    let since = 0;
    let most = 0;
    const steps = streamRecords(
      new MemorySource(many.log),
      { start: 32, expected: 0n, version: 3, windowBytes: 1024 },
      {
        record: ({ recordBytes }) => {
          since += recordBytes;
          most = Math.max(most, since);
        },
        *longRecord() {},
        damage: () => {},
      },
    );
    for (const _ of steps) since = 0;
    expect(most).to.be.within(1, 1024);
  });

  it('ends at bytes that cannot be read, with everything in front of them shown', () => {
    const many = buildSegment({ records: sequence(0n, [400]) });
    const source = new UnreadableSource(many.log, 8192, many.log.length);
    const positions: number[] = [];
    const steps = streamRecords(
      source,
      { start: 32, expected: null, version: 3, windowBytes: 1024 },
      { record: ({ position }) => positions.push(position), *longRecord() {}, damage: () => expect.fail('not damage') },
    );
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.stopped).to.include({ code: 'EIO' });
    expect(positions).to.deep.equal(many.positions.filter((_, i) => (many.positions[i + 1] ?? 1e9) <= 8192));
  });
});
