import { expect } from 'chai';
import { sidecarReports } from '../../src/check/sidecar-facts.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeReplica } from '../../src/format/replica.js';
import { factsOf, withFiles } from '../builders/facts.js';
import { threeSegments } from '../builders/shards.js';
import { cacheShard } from '../builders/sidecars.js';

const { image } = threeSegments();
const reportsOf = (files: Readonly<Record<string, Uint8Array>>) =>
  sidecarReports(factsOf(withFiles(image, files)).sidecars);

describe('sidecarReports', () => {
  it('tells what each small file says, and nothing of files that are not there', () => {
    expect(reportsOf({})).to.deep.equal([]);
    const told = reportsOf({
      epochs: encodeEpochs({
        entries: [
          { generation: 1n, startOffset: 0n },
          { generation: 4n, startOffset: 12n },
        ],
      }),
      replica: encodeReplica({ generation: 4n, commit: 20n }),
      ballot: encodeBallot({ generation: 4n, leader: 'node-1' }),
    });
    expect(told).to.deep.equal([
      {
        file: 'epochs',
        bytes: 44,
        state: 'sound',
        facts: {
          count: 2,
          entries: [
            { generation: 1n, startOffset: 0n },
            { generation: 4n, startOffset: 12n },
          ],
        },
      },
      { file: 'replica', bytes: 28, state: 'sound', facts: { generation: 4n, commit: 20n } },
      { file: 'ballot', bytes: 26, state: 'sound', facts: { generation: 4n, leader: 'node-1' } },
    ]);
  });

  it('tells nothing of a file that a reader would not take', () => {
    const bytes = encodeReplica({ generation: 4n, commit: 20n });
    bytes[16] = 1;
    expect(reportsOf({ replica: bytes })).to.deep.equal([{ file: 'replica', bytes: 28, state: 'damaged', facts: {} }]);
  });

  it('of a long history, tells the newest generations and how many there are', () => {
    const entries = Array.from({ length: 512 }, (_, i) => ({ generation: BigInt(i), startOffset: BigInt(i) }));
    const [epochs] = reportsOf({ epochs: encodeEpochs({ entries }) });
    expect(epochs?.facts['count']).to.equal(512);
    expect(epochs?.facts['entries']).to.deep.equal(entries.slice(448));
  });

  it('of a cache, tells how far its key index reaches', () => {
    const [keys] = sidecarReports(factsOf(cacheShard().image).sidecars);
    expect(keys).to.include({ file: 'keys.idx', state: 'sound' });
    expect(keys?.facts).to.have.all.keys('coveredThrough', 'count', 'logBytes');
    expect(keys?.facts['count']).to.be.a('bigint');
  });
});
