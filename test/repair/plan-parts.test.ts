/** A plan holds what is small, and has large indexes made of the records when their step is done. */
import { expect } from 'chai';
import type { IndexImage } from '../../src/domain/plan-facts.js';
import { IndexContents } from '../../src/repair/plan-parts.js';
import { logName } from '../builders/shards.js';

function image(bytes: number): IndexImage {
  const state = { size: bytes, crc32: '0x00000000' };
  return { segment: logName(3), end: 900, spacing: 64, entries: 1, bytes: new Uint8Array(bytes), state };
}

const FROM_RECORDS = [{ from: 'records', segment: logName(3), end: 900, spacing: 64 }];

describe('the content of an index in a plan', () => {
  it('is in the plan up to a quarter of a mebibyte, and made of the records beyond', () => {
    const contents = new IndexContents();
    const [held] = contents.of(image(256 * 1024));
    expect(held).to.have.property('from', 'plan');
    expect(contents.of(image(256 * 1024 + 1))).to.deep.equal(FROM_RECORDS);
  });

  it('is made of the records once the plan holds four mebibytes', () => {
    const contents = new IndexContents();
    for (let at = 0; at < 16; at++) expect(contents.of(image(256 * 1024))[0]).to.have.property('from', 'plan');
    expect(contents.of(image(24))).to.deep.equal(FROM_RECORDS);
  });
});
