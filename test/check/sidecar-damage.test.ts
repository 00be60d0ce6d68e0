import { expect } from 'chai';
import { checkSidecarDamage } from '../../src/check/sidecar-damage.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeReplica } from '../../src/format/replica.js';
import { append, damaged, flipBit } from '../builders/damage.js';
import { factsOf, SUBJECT, told, withFiles } from '../builders/facts.js';
import { logName, threeSegments } from '../builders/shards.js';

const { image } = threeSegments({
  sidecars: {
    epochs: encodeEpochs({ entries: [{ generation: 1n, startOffset: 0n }] }),
    replica: encodeReplica({ generation: 1n, commit: 3n }),
    ballot: encodeBallot({ generation: 1n, leader: 'n1' }),
  },
});

describe('checkSidecarDamage', () => {
  it('says nothing of sound files, and nothing of files that are not there', () => {
    expect(told(checkSidecarDamage(factsOf(image), SUBJECT))).to.deep.equal([]);
    expect(told(checkSidecarDamage(factsOf(threeSegments().image), SUBJECT))).to.deep.equal([]);
  });

  it('is fatal for what a broker must read, and a warning for what it works without', () => {
    const rotten = damaged(image, flipBit('replica', 8, 0), flipBit('ballot', 8, 0), flipBit('epochs', 12, 0));
    expect(told(checkSidecarDamage(factsOf(rotten), SUBJECT))).to.deep.equal([
      'fatal SidecarChecksum replica@24',
      'fatal SidecarChecksum ballot@18',
      'warning SidecarChecksum epochs@8',
    ]);
    const others = withFiles(image, { 'offload.manifest': new Uint8Array(3), producers: new Uint8Array(3) });
    expect(
      told(checkSidecarDamage(factsOf(withFiles(others, { 'keys.idx': new Uint8Array(3) })), SUBJECT)),
    ).to.deep.equal([
      'fatal SidecarTruncated offload.manifest@0',
      'warning SidecarTruncated producers@0',
      'warning SidecarTruncated keys.idx@0',
    ]);
  });

  it('takes bytes behind the entries of epochs for a warning, and the entries for good', () => {
    const facts = factsOf(damaged(image, append('epochs', new Uint8Array(5))));
    const { findings } = checkSidecarDamage(facts, SUBJECT);
    expect(told({ findings })).to.deep.equal(['warning SidecarTrailingBytes epochs@28']);
    expect(findings[0]?.detail).to.deep.equal({ extra: 5 });
    expect(facts.sidecars.epochs?.reading?.value?.entries).to.have.lengthOf(1);
  });

  it('never calls a file that cannot be read damaged', () => {
    const facts = factsOf(image);
    const replica = {
      file: 'replica',
      size: 28,
      reading: null,
      problem: { code: 'EIO', message: 'input/output error', position: 0 },
    };
    const judgement = checkSidecarDamage({ ...facts, sidecars: { ...facts.sidecars, replica } }, SUBJECT);
    expect(told(judgement)).to.deep.equal(['error Unreadable replica@0']);
    expect(judgement.findings[0]?.detail).to.deep.equal({ reason: 'input/output error', code: 'EIO' });
  });

  it('names each file by the path of the shard', () => {
    const [finding] = checkSidecarDamage(factsOf(damaged(image, flipBit('replica', 8, 0))), SUBJECT).findings;
    expect(finding?.path).to.equal(`${SUBJECT.path}/replica`);
    expect(finding?.site.shard).to.equal(SUBJECT.label);
    expect(image.has(logName(0))).to.equal(true);
  });
});
