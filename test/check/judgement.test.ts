import { expect } from 'chai';
import { Judge } from '../../src/check/judgement.js';
import { ReadFailure } from '../../src/store/byte-source.js';
import { SUBJECT, told } from '../builders/facts.js';

describe('Judge', () => {
  it('keeps two thousand findings of a kind in a file, and counts the rest', () => {
    const judge = new Judge(SUBJECT);
    const detail = { count: 600, limit: 512 };
    for (let i = 0; i < 2_003; i++) judge.report({ kind: 'EpochCount', severity: 'warning', file: 'epochs', detail });
    judge.report({ kind: 'EpochCount', severity: 'warning', file: 'other', detail });
    judge.omit('epochs', 'EpochCount', 4);
    judge.omit('epochs', 'EpochOrder', 0);
    const { findings, omitted } = judge.judgement;
    expect(findings).to.have.lengthOf(2_001);
    expect(omitted).to.deep.equal([{ file: 'epochs', kind: 'EpochCount', count: 7 }]);
  });

  it('says a sentence once', () => {
    const judge = new Judge(SUBJECT);
    judge.skip('This was not judged.');
    judge.skip('This was not judged.');
    expect(judge.judgement.notChecked).to.deep.equal(['This was not judged.']);
  });

  it('a file that shrank meanwhile is not unreadable, and a bug is no read failure', () => {
    const judge = new Judge(SUBJECT);
    judge.readFailed('epochs', new ReadFailure('SHRANK', 9, 'it ended'), 'it was not judged');
    expect(told(judge.judgement)).to.deep.equal([]);
    judge.readFailed('epochs', new ReadFailure('EIO', 9, 'input/output error'), 'it was not judged');
    expect(told(judge.judgement)).to.deep.equal(['error Unreadable epochs@9']);
    expect(() => judge.readFailed('epochs', new TypeError('oops'), 'it was not judged')).to.throw(TypeError);
  });
});
