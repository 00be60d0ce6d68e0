import { expect } from 'chai';
import { checkCommit } from '../../src/check/commit.js';
import { encodeReplica } from '../../src/format/replica.js';
import { damaged, truncate } from '../builders/damage.js';
import { factsOf, SUBJECT, told, withFiles } from '../builders/facts.js';
import { logName, threeSegments } from '../builders/shards.js';

const { image, segments } = threeSegments();
const committing = (commit: bigint) => withFiles(image, { replica: encodeReplica({ generation: 1n, commit }) });

describe('checkCommit', () => {
  it('CommitBeyondTail: a commit past the tail, with how many records that is', () => {
    const { findings } = checkCommit(factsOf(committing(25n)), SUBJECT);
    expect(told({ findings })).to.deep.equal(['error CommitBeyondTail replica@16']);
    expect(findings[0]?.detail).to.deep.equal({ commit: 25n, tail: 21n, missing: 4n });
    expect(findings[0]?.lostOffsets).to.deep.equal({ from: 21n, to: 25n });
  });

  it('a commit at the tail or under it is normal', () => {
    for (const commit of [0n, 20n, 21n])
      expect(told(checkCommit(factsOf(committing(commit)), SUBJECT))).to.deep.equal([]);
    expect(checkCommit(factsOf(image), SUBJECT)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
  });

  it('the tail is the one that recovery leaves', () => {
    const torn = damaged(committing(21n), truncate(logName(2), segments[2]!.log.length - 1));
    const { findings } = checkCommit(factsOf(torn), SUBJECT);
    expect(findings[0]?.detail).to.deep.equal({ commit: 21n, tail: 20n, missing: 1n });
  });

  it('the largest commit is subtracted exactly', () => {
    const commit = 0xffff_ffff_ffff_ffffn;
    const { findings } = checkCommit(factsOf(committing(commit)), SUBJECT);
    expect(findings[0]?.detail).to.deep.equal({ commit, tail: 21n, missing: commit - 21n });
  });

  it('says what it could not judge', () => {
    expect(checkCommit(factsOf(committing(25n), { tail: null }), SUBJECT).notChecked).to.have.lengthOf(1);
    const short = withFiles(image, { replica: new Uint8Array(12) });
    expect(checkCommit(factsOf(short), SUBJECT)).to.deep.equal({
      findings: [],
      notChecked: ['replica was not decoded, so no commit offset was held against the log.'],
      omitted: [],
    });
  });
});
