/** An index made of the records is the one that a writer makes while it appends. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { encodeIndexHeader } from '../../src/format/index.js';
import { buildIndex } from '../../src/scan/index-build.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { plain, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { describeWithCorpus } from '../builders/trees.js';

function built(log: Uint8Array, spacing: number, end = log.length) {
  return buildIndex(new MemorySource(log), end, spacing)!;
}

describe('an index made of the records', () => {
  it('is byte for byte that of a writer, whatever the lengths and the spacing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 1500 }),
        (lengths, indexSpacing) => {
          const records = lengths.map((payloadLength, at) => plain(700n + BigInt(at), { payloadLength }));
          const { log, index } = buildSegment({ baseOffset: 700n, records, indexSpacing });
          expect(built(log, indexSpacing).image).to.deep.equal(index);
        },
      ),
    );
  });

  it('has an entry for a record that starts exactly the spacing behind the last one, and none a byte earlier', () => {
    // Records of 28 + 72 bytes: the third starts 200 bytes behind the first.
    const { log } = buildSegment({ records: plainRun(0n, 5, { payloadLength: 72 }) });
    expect(built(log, 200).entries).to.equal(3);
    expect(built(log, 201).entries).to.equal(2);
  });

  it('of a segment without records is a header', () => {
    const { log } = buildSegment({ baseOffset: 9n, records: [] });
    const { image, entries, nextOffset } = built(log, 4096);
    expect(image).to.deep.equal(encodeIndexHeader({ version: 3, flags: 0, baseOffset: 9n }));
    expect([entries, nextOffset]).to.deep.equal([0, 9n]);
  });

  it('stops in front of a record that the end cuts, and says where', () => {
    const { log, positions } = buildSegment({ records: plainRun(0n, 4) });
    expect(built(log, 1, positions[3]! + 5)).to.include({ reached: positions[3], entries: 3, nextOffset: 3n });
  });

  it('holds as many entries as there are', () => {
    for (const count of [254, 255, 256, 509, 510, 511, 2000]) {
      const { log, index } = buildSegment({ records: plainRun(0n, count, { payloadLength: 0 }), indexSpacing: 1 });
      const { image, entries, reached } = built(log, 1);
      expect([entries, reached]).to.deep.equal([count, log.length]);
      expect(image, `${count}`).to.deep.equal(index);
    }
  });

  it('takes a record that ends where it does, and none that ends a byte behind', () => {
    const { log, positions } = buildSegment({ records: [plain(0n), plain(1n, { payloadLength: 0 }), plain(2n)] });
    for (const [end, reached] of [
      [positions[1]!, positions[1]],
      [positions[1]! + 27, positions[1]],
      [positions[1]! + 28, positions[2]],
      [log.length - 1, positions[2]],
      [log.length, log.length],
      [32, 32],
    ] as const) {
      expect(built(log, 1, end).reached, `${end}`).to.equal(reached);
    }
  });

  it('stops in front of a header that does not verify, and of an offset that is not the next', () => {
    const { log, positions } = buildSegment({ records: [plain(5n), plain(6n), plain(8n), plain(9n)] });
    expect(built(log, 1)).to.include({ reached: positions[2], entries: 2, nextOffset: 7n });
    const rotten = log.slice();
    rotten[positions[1]! + 15]! ^= 1;
    expect(built(rotten, 1)).to.include({ reached: positions[1], entries: 1, nextOffset: 6n });
    const body = log.slice();
    body[positions[1]! + 30]! ^= 1;
    expect(built(body, 1)).to.include({ reached: positions[2], entries: 2, nextOffset: 7n });
  });

  it('is never asked for of bytes that are not there, or without a spacing', () => {
    const { log } = buildSegment({ records: plainRun(0n, 2) });
    expect(() => built(log, 1, log.length + 1)).to.throw('an index is built of bytes that are there');
    expect(() => built(log, 0)).to.throw('an index is built of bytes that are there');
    expect(built(log, 1, 0)).to.include({ reached: 32, entries: 0, nextOffset: 0n });
    expect(buildIndex(new MemorySource(log.subarray(0, 31)), 31, 1)).to.equal(null);
  });

  it('is not made of a file whose header is no segment header', () => {
    expect(buildIndex(new MemorySource(new Uint8Array(64)), 64, 4096)).to.equal(null);
  });
});

/** Spacings that the corpus names for cases that were not written with 4096. */
const SPACINGS: Readonly<Record<string, number>> = { 'healthy-other-spacing': 128 };
/** Of shards that a storage build wrote, by the cases that use them. */
function observedSpacings(file: string): Map<string, number> {
  const cases = readFileSync(file, 'utf8').trim().split('\n');
  return new Map(cases.map((line) => JSON.parse(line)).map(({ base, indexSpacing }) => [base, indexSpacing]));
}

describeWithCorpus('indexes that were written elsewhere', (corpus) => {
  const shards = (root: string) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.log'))
      .map((name) => path.join(root, name));

  /** Versions 2, 3 and 4 have one layout; what is made now says 3. */
  const expectSame = (log: string, spacing: number) => {
    const written = new Uint8Array(readFileSync(log.replace(/log$/, 'index')));
    const { image } = built(new Uint8Array(readFileSync(log)), spacing);
    expect(image.subarray(0, 8), log).to.deep.equal(Uint8Array.of(0x46, 0x4c, 0x53, 0x49, 0, 3, 0, 0));
    expect(image.subarray(8), log).to.deep.equal(written.subarray(8));
  };

  it('come out the same for every healthy case', () => {
    const healthy = readdirSync(path.join(corpus, 'cases')).filter((name) => name.startsWith('healthy-'));
    const logs = healthy.flatMap((name) => shards(path.join(corpus, 'cases', name)));
    expect(logs.length).to.be.above(20);
    for (const name of healthy) {
      for (const log of shards(path.join(corpus, 'cases', name))) expectSame(log, SPACINGS[name] ?? 4096);
    }
  });

  it('come out the same entry for entry for what a storage build wrote', () => {
    const root = path.join(corpus, 'observed-recovery');
    const spacings = observedSpacings(path.join(root, 'cases.ndjson'));
    for (const [base, spacing] of spacings) {
      for (const log of shards(path.join(root, 'base', base))) expectSame(log, spacing);
    }
  });
});
