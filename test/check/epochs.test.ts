import { expect } from 'chai';
import { checkEpochs } from '../../src/check/epochs.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeReplica } from '../../src/format/replica.js';
import { type FactsOptions, factsOf, SUBJECT, told, withFiles } from '../builders/facts.js';
import { type ShardImage, shardOf, threeSegments, v4WithGenerations } from '../builders/shards.js';

type Pair = readonly [generation: bigint, start: bigint];

function epochsOf(...pairs: readonly Pair[]): Uint8Array {
  return encodeEpochs({ entries: pairs.map(([generation, startOffset]) => ({ generation, startOffset })) });
}

function judged(image: ShardImage, files: Readonly<Record<string, Uint8Array>> = {}, options: FactsOptions = {}) {
  return checkEpochs(factsOf(withFiles(image, files), options), SUBJECT);
}

/** Plain records, offsets 0..21. */
const plain = threeSegments().image;
/** Generation 2 starts at offset 6, generation 4 at 14; the log ends at 20. */
const started = v4WithGenerations().image;

describe('checkEpochs', () => {
  it('says nothing of generations that agree with log, replica and ballot', () => {
    const judgement = judged(started);
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.deep.equal([]);
  });

  it('EpochOrder: a generation must be above the one before', () => {
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [4n, 5n], [3n, 9n]) }))).to.deep.equal([
      'error EpochOrder epochs@44',
    ]);
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [1n, 5n]) }))).to.deep.equal(['error EpochOrder epochs@28']);
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [2n, 5n]) }))).to.deep.equal([]);
  });

  it('EpochOrder: a start may not fall, and may stay', () => {
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [2n, 9n], [3n, 5n]) }))).to.deep.equal([
      'error EpochOrder epochs@52',
    ]);
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [2n, 9n], [3n, 9n]) }))).to.deep.equal([]);
  });

  it('EpochOrder: an entry wrong in both is one finding', () => {
    const { findings } = judged(plain, { epochs: epochsOf([2n, 9n], [1n, 5n]) });
    expect(findings).to.have.lengthOf(1);
    expect(findings[0]?.detail).to.deep.equal({
      entry: 1,
      generation: 1n,
      start: 5n,
      why: 'its generation is not above 2, that of the entry before, and its start is under 9, that of the entry before',
    });
  });

  it('EpochBeyondTail: a start past the tail, and not one at it', () => {
    const [finding, ...rest] = judged(plain, { epochs: epochsOf([1n, 0n], [2n, 22n]) }).findings;
    expect(rest).to.deep.equal([]);
    expect(finding?.detail).to.deep.equal({ generation: 2n, start: 22n, tail: 21n });
    expect(finding?.site.position).to.equal(36);
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [2n, 21n]) }))).to.deep.equal([]);
  });

  it('EpochBeyondTail is not judged against a tail that is not known', () => {
    const judgement = judged(plain, { epochs: epochsOf([1n, 0n], [2n, 99n]) }, { tail: null });
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('EpochCount: 512 entries are allowed, 513 are not', () => {
    const entries = (count: number) => Array.from({ length: count }, (_, i): Pair => [BigInt(i + 1), 0n]);
    expect(told(judged(plain, { epochs: epochsOf(...entries(512)) }))).to.deep.equal([]);
    expect(told(judged(plain, { epochs: epochsOf(...entries(513)) }))).to.deep.equal(['warning EpochCount epochs@6']);
  });

  it('EpochGenerationStart: the log says another start', () => {
    const { findings } = judged(started, { epochs: epochsOf([1n, 0n], [2n, 5n], [4n, 14n]) });
    expect(told({ findings })).to.deep.equal(['error EpochGenerationStart epochs@36']);
    expect(findings[0]?.detail).to.deep.equal({ generation: 2n, recordOffset: 6n, epochStart: 5n });
  });

  it('EpochGenerationStart: a generation that is not named between two that are', () => {
    const { findings } = judged(started, { epochs: epochsOf([1n, 0n], [4n, 14n]) });
    expect(told({ findings })).to.deep.equal(['error EpochGenerationStart epochs']);
    expect(findings[0]?.detail).to.deep.equal({ generation: 2n, recordOffset: 6n, epochStart: null });
  });

  it('EpochGenerationStart: older than the oldest kept, or newer than the newest recorded, is no contradiction', () => {
    expect(told(judged(started, { epochs: epochsOf([4n, 14n]) }))).to.deep.equal([]);
    expect(told(judged(started, { epochs: epochsOf([1n, 0n], [2n, 6n]) }))).to.deep.equal([]);
    expect(told(judged(started, { epochs: epochsOf() }))).to.deep.equal([]);
  });

  it('EpochGenerationStart: a generation out of its place is one, named or not', () => {
    expect(told(judged(started, { epochs: epochsOf([3n, 6n], [4n, 14n]) }))).to.deep.equal([
      'error EpochGenerationStart epochs',
    ]);
    expect(told(judged(started, { epochs: epochsOf([1n, 0n], [3n, 16n]) }))).to.deep.equal([
      'error EpochGenerationStart epochs',
      'error EpochGenerationStart epochs',
    ]);
  });

  it('what the log does not start is never held against it', () => {
    expect(told(judged(plain, { epochs: epochsOf([1n, 0n], [2n, 4n], [9n, 5n]) }))).to.deep.equal([]);
  });

  it('ReplicaBehindEpochs: a generation above the accepted one, and not one equal to it', () => {
    const epochs = epochsOf([1n, 0n], [6n, 5n]);
    const replica = (generation: bigint) => encodeReplica({ generation, commit: 4n });
    const judgement = judged(plain, { epochs, replica: replica(5n) });
    expect(told(judgement)).to.deep.equal(['error ReplicaBehindEpochs replica@8']);
    expect(judgement.findings[0]?.detail).to.deep.equal({ accepted: 5n, newest: 6n });
    expect(told(judged(plain, { epochs, replica: replica(6n) }))).to.deep.equal([]);
    expect(told(judged(plain, { epochs }))).to.deep.equal([]);
  });

  it('ReplicaBehindEpochs: an open takes over the generation of a ballot that is ahead', () => {
    const files = { epochs: epochsOf([6n, 5n]), replica: encodeReplica({ generation: 5n, commit: 4n }) };
    const ballot = (generation: bigint) => encodeBallot({ generation, leader: 'n1' });
    expect(told(judged(plain, { ...files, ballot: ballot(6n) }))).to.deep.equal([]);
    expect(told(judged(plain, { ...files, ballot: ballot(4n) }))).to.deep.equal([
      'error ReplicaBehindEpochs replica@8',
    ]);
  });

  it('a damaged file on either side is not judged, and said so', () => {
    const short = new Uint8Array(3);
    expect(judged(plain, { epochs: short })).to.deep.equal({
      findings: [],
      notChecked: ['epochs was not decoded, so its generations were not held against the log.'],
      omitted: [],
    });
    const epochs = epochsOf([6n, 5n]);
    const judgement = judged(plain, { epochs, replica: short });
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
    const replica = encodeReplica({ generation: 6n, commit: 4n });
    expect(judged(plain, { epochs, replica, ballot: short }).notChecked).to.have.lengthOf(1);
  });

  it('a quick look says that it did not read every generation start', () => {
    const { image } = shardOf([{ version: 4, parts: [{ generation: 2n }, 4] }, { parts: [3] }]);
    const files = { epochs: epochsOf([1n, 0n], [2n, 1n]) };
    expect(told(judged(image, files))).to.deep.equal(['error EpochGenerationStart epochs@36']);
    const quick = judged(image, files, { quick: true });
    expect(told(quick)).to.deep.equal([]);
    expect(quick.notChecked).to.have.lengthOf(1);
  });
});
