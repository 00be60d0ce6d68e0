import { expect } from 'chai';
import { checkTimestamps } from '../../src/check/timestamps.js';
import { factsOf, SUBJECT, told } from '../builders/facts.js';
import { plain, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, logName, threeSegments } from '../builders/shards.js';

const YEAR_MICROS = 31_557_600_000_000n;

describe('checkTimestamps', () => {
  it('ordinary times say nothing', () => {
    expect(checkTimestamps(factsOf(threeSegments().image), SUBJECT)).to.deep.equal({
      findings: [],
      notChecked: [],
      omitted: [],
    });
  });

  it('TimestampOddity: one finding a segment and oddity, with the first of them', () => {
    const now = timestampOf(0n);
    const times = [0n, now, now / 1000n, 0n, now + 2n * YEAR_MICROS, 5n];
    const segmentOf = (base: bigint) =>
      buildSegment({ records: times.map((timestampMicros, i) => plain(base + BigInt(i), { timestampMicros })) });
    const segments = [segmentOf(0n), segmentOf(6n)];
    const { findings } = checkTimestamps(factsOf(buildShard({ segments })), SUBJECT);
    const of = (segment: number) => {
      const at = (record: number) => `info TimestampOddity ${logName(segment)}@${segments[segment]!.positions[record]}`;
      return [at(0), at(2), at(4), at(5)];
    };
    expect(told({ findings })).to.deep.equal([...of(0), ...of(1)]);
    expect(findings[4]?.detail).to.deep.equal({ what: 'zero', count: 2, offset: 6n, timestampMicros: 0n });
  });

  it('says what it did not read', () => {
    expect(checkTimestamps(factsOf(threeSegments().image, { quick: true }), SUBJECT).notChecked).to.have.lengthOf(1);
  });
});
