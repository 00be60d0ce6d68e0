/** A slip of the keyboard is one letter more, less, wrong, or swapped with its neighbour. */
import { expect } from 'chai';
import { closestNames } from '../../src/domain/closest-names.js';

const NAMES = ['Truncated', 'RecordChecksum', 'RecordFlags', 'EpochOrder', 'EpochCount'];

describe('closest names', () => {
  it('count each kind of slip once', () => {
    for (const wanted of ['Truncate', 'Truncatedd', 'Trumcated', 'Trnucated']) {
      expect(closestNames(wanted, NAMES), wanted).to.deep.equal(['Truncated']);
    }
  });

  it('take a beginning for the whole', () => {
    expect(closestNames('epoch', NAMES)).to.deep.equal(['EpochOrder', 'EpochCount']);
    expect(closestNames('e', NAMES)).to.deep.equal([]);
  });

  it('allow about one slip in four letters', () => {
    expect(closestNames('RecrdChckum', NAMES)).to.deep.equal([]);
    expect(closestNames('RecordChcksm', NAMES)).to.deep.equal(['RecordChecksum']);
  });
});
