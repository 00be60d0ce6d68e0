/** The builders of healthy things, held to what a broker's storage wrote and to the small values one can check by hand. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { feedOf, hexOf } from '../../src/format/bytes.js';
import { decodeProducers } from '../../src/format/producers.js';
import { decodeRecord, type LogRecord } from '../../src/format/record.js';
import { decodeSegmentHeader } from '../../src/format/segment-header.js';
import { batch, continues, generationStart, opens, plain, plainRun, sequence } from './records.js';
import { buildSegment } from './segments.js';
import {
  readShard,
  threeSegments,
  threeV2Segments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  wellIndexed,
} from './shards.js';
import { producersAsOf } from './sidecars.js';
import { describeWithCorpus } from './trees.js';

/** Offsets and positions of an index, read by hand. */
function entriesOf(index: Uint8Array): (readonly [bigint, bigint])[] {
  const view = new DataView(index.buffer, index.byteOffset, index.length);
  const count = (index.length - 24) / 16;
  return Array.from(
    { length: count },
    (_, i) => [view.getBigUint64(24 + 16 * i), view.getBigUint64(32 + 16 * i)] as const,
  );
}

describe('built segments', () => {
  it('say where each record starts and what comes next', () => {
    const segment = buildSegment({ records: [plain(5n, { payloadLength: 10 }), plain(6n, { payloadLength: 20 })] });
    expect(segment.positions).to.deep.equal([32, 70]);
    expect(segment.log).to.have.length(118);
    expect([segment.baseOffset, segment.nextOffset]).to.deep.equal([5n, 7n]);
    expect(entriesOf(segment.index)).to.deep.equal([[5n, 32n]]);
  });

  it('may be without records', () => {
    const segment = buildSegment({ baseOffset: 9n, records: [] });
    expect([segment.log.length, segment.index.length, segment.nextOffset]).to.deep.equal([32, 24, 9n]);
  });

  it('have an index entry at the first record that starts the spacing or more behind the last one with an entry', () => {
    const records = plainRun(0n, 6, { payloadLength: 72 });
    const spaced = (indexSpacing: number) =>
      entriesOf(buildSegment({ records, indexSpacing }).index).map(([offset]) => offset);
    expect(spaced(1)).to.deep.equal([0n, 1n, 2n, 3n, 4n, 5n]);
    expect(spaced(200)).to.deep.equal([0n, 2n, 4n]);
    expect(spaced(201)).to.deep.equal([0n, 3n]);
    expect(spaced(4096)).to.deep.equal([0n]);
  });

  it('hold marks and generation starts where they were asked for', () => {
    const tag = { producerId: 1n, sequence: 2n, len: 3 };
    const records = sequence(4n, [1, tag, { generation: 9n }, 1]);
    expect(records.map(({ kind, offset }) => `${kind} ${offset}`)).to.deep.equal([
      'plain 4',
      'opens 5',
      'continues 6',
      'continues 7',
      'generation-start 8',
      'plain 9',
    ]);
    expect(batch(5n, tag, 2)).to.deep.equal([opens(5n, tag), continues(6n)]);
    expect(hexOf(generationStart(8n, 9n).payload)).to.equal('0000000000000009');
  });

  it('are the same in every run', () => {
    expect(new TextDecoder().decode(plain(3n).payload)).to.match(/^order 3 [a-z]+$/);
    expect(threeSegments().image).to.deep.equal(threeSegments().image);
    expect(new TextDecoder().decode(plain(3n, { payloadLength: 16 }).payload)).to.equal('order 3 oxgpkklm');
  });
});

describe('preset shards', () => {
  it('decode to the records they were made of, one after the other', () => {
    for (const shard of [
      threeSegments(),
      threeV2Segments(),
      threeV3SegmentsWithBatches(),
      v4WithGenerations(),
      wellIndexed(),
    ]) {
      let expected = 0n;
      for (const segment of shard.segments) {
        const header = decodeSegmentHeader(segment.log);
        expect(header.ok && header.value.baseOffset).to.equal(expected);
        segment.positions.forEach((position, i) => {
          const decoded = decodeRecord(segment.log.subarray(position, segment.positions[i + 1] ?? segment.log.length));
          expect(decoded).to.deep.equal({ ok: true, value: segment.records[i] });
          expect(segment.records[i]?.offset).to.equal(expected);
          expected++;
        });
      }
      expect(shard.tail).to.equal(expected);
    }
  });

  it('have the producer state that their marks say', () => {
    const { segments } = threeV3SegmentsWithBatches();
    const snapshot = producersAsOf(
      segments.flatMap(({ records }) => records),
      19n,
    );
    expect(decodeProducers(feedOf(snapshot)).value).to.deep.equal({
      asOf: 19n,
      open: { producerId: 7n, sequence: 2n, len: 4, first: 17n, held: 2 },
      producers: [
        {
          id: 7n,
          lastSequence: 1n,
          batches: [
            { first: 2n, len: 3 },
            { first: 11n, len: 5 },
          ],
        },
        { id: 9n, lastSequence: 40n, batches: [{ first: 5n, len: 1 }] },
      ],
    });
  });
});

describeWithCorpus('built indexes', (corpus) => {
  it('are those that a broker wrote for the same records', () => {
    const bases = path.join(corpus, 'observed-recovery/base');
    const spacings: Readonly<Record<string, number>> = { 'three-segments': 256, 'mixed-sizes': 512 };
    let compared = 0;
    for (const base of readdirSync(bases)) {
      const image = readShard(path.join(bases, base));
      for (const [name, log] of image) {
        if (!name.endsWith('.log')) continue;
        const header = decodeSegmentHeader(log);
        if (!header.ok) expect.fail(name);
        const indexSpacing = spacings[base] ?? 4096;
        const rebuilt = buildSegment({ ...header.value, records: recordsOf(log), indexSpacing });
        expect(hexOf(rebuilt.log), `${base}/${name}`).to.equal(hexOf(log));
        expect(hexOf(rebuilt.index), `${base}/${name}`).to.equal(hexOf(image.get(name.replace('.log', '.index'))!));
        compared++;
      }
    }
    expect(compared).to.be.greaterThan(5);
  });
});

function recordsOf(log: Uint8Array): LogRecord[] {
  const records: LogRecord[] = [];
  for (let at = 32; at < log.length; ) {
    const decoded = decodeRecord(log.subarray(at));
    if (!decoded.ok) expect.fail(decoded.error.kind);
    records.push(decoded.value);
    at += 28 + decoded.value.payload.length + (decoded.value.tag === null ? 0 : 20);
  }
  return records;
}
