import { expect } from 'chai';
import { KEYS_INDEX_LAYOUT } from '../../src/format/keys-index.js';
import { fieldAt, groupLength } from '../../src/format/layout-places.js';
import { MANIFEST_LAYOUT } from '../../src/format/manifest.js';
import { PRODUCERS_LAYOUT } from '../../src/format/producers.js';

describe('places in a layout', () => {
  it('a field stands where the format page says, counted from its element inside a repeat', () => {
    expect(fieldAt(MANIFEST_LAYOUT, 'count')).to.equal(8);
    expect(fieldAt(MANIFEST_LAYOUT, 'last_offset')).to.equal(16);
    expect(fieldAt(PRODUCERS_LAYOUT, 'open')).to.equal(24);
    expect(fieldAt(PRODUCERS_LAYOUT, 'last_sequence')).to.equal(8);
    expect(fieldAt(PRODUCERS_LAYOUT, 'len')).to.equal(8);
    expect(fieldAt(KEYS_INDEX_LAYOUT, 'last_checksum')).to.equal(31);
  });

  it('a group is as long as its fixed fields', () => {
    expect(groupLength(PRODUCERS_LAYOUT, 'open')).to.equal(32);
    expect(groupLength(PRODUCERS_LAYOUT, 'producers')).to.equal(18);
    expect(groupLength(PRODUCERS_LAYOUT, 'batches')).to.equal(12);
    expect(groupLength(MANIFEST_LAYOUT, 'entries')).to.equal(54);
  });

  it('a name that the layout does not have, or has at no fixed place, is a bug', () => {
    expect(() => fieldAt(MANIFEST_LAYOUT, 'nothing')).to.throw(/offload.manifest has a field nothing/);
    expect(() => fieldAt(MANIFEST_LAYOUT, 'crc')).to.throw();
    expect(() => groupLength(MANIFEST_LAYOUT, 'nothing')).to.throw(/has a group nothing/);
  });
});
