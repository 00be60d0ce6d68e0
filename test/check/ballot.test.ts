import { expect } from 'chai';
import { checkBallot } from '../../src/check/ballot.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeReplica } from '../../src/format/replica.js';
import { factsOf, SUBJECT, told, withFiles } from '../builders/facts.js';
import { threeSegments } from '../builders/shards.js';

const { image } = threeSegments();

function judged(ballot: bigint, accepted: bigint | null, leader = 'broker-b') {
  const files = withFiles(image, { ballot: encodeBallot({ generation: ballot, leader }) });
  if (accepted === null) return checkBallot(factsOf(files), SUBJECT);
  return checkBallot(
    factsOf(withFiles(files, { replica: encodeReplica({ generation: accepted, commit: 0n }) })),
    SUBJECT,
  );
}

describe('checkBallot', () => {
  it('a ballot at the accepted generation names its leader, and nothing is said', () => {
    expect(judged(7n, 7n)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
    expect(told(checkBallot(factsOf(image), SUBJECT))).to.deep.equal([]);
  });

  it('BallotBehind and BallotAhead: on either side of the accepted generation', () => {
    expect(told(judged(6n, 7n))).to.deep.equal(['info BallotBehind ballot@8']);
    const { findings } = judged(8n, 7n);
    expect(told({ findings })).to.deep.equal(['info BallotAhead ballot@8']);
    expect(findings[0]?.detail).to.deep.equal({ ballot: 8n, accepted: 7n, leader: 'broker-b' });
  });

  it('an absent replica reads as generation 0', () => {
    expect(told(judged(1n, null))).to.deep.equal(['info BallotAhead ballot@8']);
    expect(told(judged(0n, null))).to.deep.equal([]);
  });

  it('GenerationGivenUp: an empty leader, unless a newer generation was accepted since', () => {
    expect(told(judged(7n, 7n, ''))).to.deep.equal(['info GenerationGivenUp ballot@6']);
    expect(told(judged(8n, 7n, ''))).to.deep.equal(['info BallotAhead ballot@8', 'info GenerationGivenUp ballot@6']);
    expect(told(judged(6n, 7n, ''))).to.deep.equal(['info BallotBehind ballot@8']);
  });

  it('says what it could not judge', () => {
    const short = new Uint8Array(5);
    const ballot = encodeBallot({ generation: 7n, leader: '' });
    const noReplica = checkBallot(factsOf(withFiles(image, { ballot, replica: short })), SUBJECT);
    expect(told(noReplica)).to.deep.equal(['info GenerationGivenUp ballot@6']);
    expect(noReplica.notChecked).to.have.lengthOf(1);
    const noBallot = checkBallot(factsOf(withFiles(image, { ballot: short })), SUBJECT);
    expect(told(noBallot)).to.deep.equal([]);
    expect(noBallot.notChecked).to.have.lengthOf(1);
  });
});
