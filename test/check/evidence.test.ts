import { expect } from 'chai';
import { EvidenceReader } from '../../src/check/evidence.js';
import type { ShardFacts } from '../../src/check/shard-facts.js';
import { ReadFailure } from '../../src/store/byte-source.js';
import { damaged, flipBit, zero } from '../builders/damage.js';
import { factsOf } from '../builders/facts.js';
import { logName, threeSegments } from '../builders/shards.js';

const { image, segments } = threeSegments();
const NOTHING = { looksLike: null, likeness: null, bitFlip: null };

const broken = damaged(
  image,
  zero(logName(0), segments[0]!.positions[1]!, segments[0]!.positions[2]! - segments[0]!.positions[1]!),
  zero(logName(0), segments[0]!.positions[5]!, segments[0]!.positions[6]! - segments[0]!.positions[5]!),
  flipBit(logName(1), segments[1]!.positions[4]! + 2, 6),
  flipBit(logName(2), 9, 1),
);

/** The facts, and how many files are open or were opened. */
function counted(facts: ShardFacts) {
  const counts = { opened: 0, open: 0 };
  const open: ShardFacts['open'] = (file) => {
    const source = facts.open(file);
    counts.opened++;
    counts.open++;
    return { size: source.size, readAt: (...args) => source.readAt(...args), close: () => void counts.open-- };
  };
  return { facts: { ...facts, open }, counts };
}

describe('evidence of damage', () => {
  it('opens each damaged segment once, one at a time, and closes the last', () => {
    const { facts, counts } = counted(factsOf(broken));
    const evidence = new EvidenceReader(facts);
    const [zeros, flip, header] = facts.segments;
    const seen = zeros!.scan!.records!.damages.map((damage) => evidence.of(zeros!, damage).looksLike);
    expect(seen).to.deep.equal(['zeros', 'zeros']);
    expect(counts).to.deep.equal({ opened: 1, open: 1 });
    const { bitFlip, looksLike } = evidence.of(flip!, flip!.scan!.records!.damages[0]!);
    expect(bitFlip).to.include({ position: segments[1]!.positions[4]! + 2, bit: 6 });
    expect(looksLike).to.equal('bit-flip');
    expect(counts).to.deep.equal({ opened: 2, open: 1 });
    expect(evidence.of(header!, null).bitFlip).to.include({ position: 9, bit: 1 });
    evidence.close();
    expect(counts).to.deep.equal({ opened: 3, open: 0 });
  });

  it('is none where the segment cannot be opened again, and stops nothing', () => {
    const facts = factsOf(broken);
    const open = () => {
      throw new ReadFailure('ENOENT', 0, 'no such file');
    };
    const evidence = new EvidenceReader({ ...facts, open });
    const [segment] = facts.segments;
    expect(evidence.of(segment!, segment!.scan!.records!.damages[0]!)).to.deep.equal(NOTHING);
    expect(evidence.of(segment!, segment!.scan!.records!.damages[1]!)).to.deep.equal(NOTHING);
    evidence.close();
  });

  it('lets a mistake of ours through', () => {
    const facts = factsOf(broken);
    const open = () => {
      throw new Error('a mistake');
    };
    expect(() => new EvidenceReader({ ...facts, open }).of(facts.segments[0]!, null)).to.throw('a mistake');
  });
});
