/** Half-open ranges of offsets and bytes. */
import { expect } from 'chai';
import { byteCount, offsetCount, U64_MAX } from '../../src/domain/units.js';

describe('units', () => {
  it('counts offsets without rounding, and never below none', () => {
    expect(offsetCount({ from: 15n, to: 17n })).to.equal(2n);
    expect(offsetCount({ from: 0n, to: U64_MAX })).to.equal(18_446_744_073_709_551_615n);
    expect(offsetCount({ from: 17n, to: 17n })).to.equal(0n);
    expect(offsetCount({ from: 17n, to: 15n })).to.equal(0n);
  });

  it('counts bytes, and never below none', () => {
    expect(byteCount({ from: 86, to: 171 })).to.equal(85);
    expect(byteCount({ from: 86, to: 86 })).to.equal(0);
    expect(byteCount({ from: 171, to: 86 })).to.equal(0);
  });
});
