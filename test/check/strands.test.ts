import { expect } from 'chai';
import { turnedHeader } from '../../src/check/strands.js';
import { buildSegment } from '../builders/segments.js';

describe('a segment header that one flipped bit keeps from decoding', () => {
  const { log, createdAtMicros } = buildSegment({ baseOffset: 12n, records: [] });

  it('is known again with that bit turned back, in whatever memory it lies, and stays as it is', () => {
    for (const at of [0, 5, 15, 20, 24]) {
      const flipped = log.slice();
      flipped[at]! ^= 4;
      for (const bytes of [flipped, Buffer.from(flipped)]) {
        const header = { version: 3, baseOffset: 12n, createdAtMicros, reserved: 0 };
        expect(turnedHeader(bytes), `byte ${at}`).to.deep.equal(header);
        expect(Buffer.compare(bytes, flipped), `byte ${at}`).to.equal(0);
      }
    }
  });

  it('is not when more than one bit is wrong, or none', () => {
    const two = log.slice();
    two[9]! ^= 4;
    two[20]! ^= 1;
    expect(turnedHeader(two)).to.equal(null);
    expect(turnedHeader(log)).to.equal(null);
    expect(turnedHeader(log.slice(0, 31))).to.equal(null);
  });
});
