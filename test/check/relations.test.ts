import { expect } from 'chai';
import { checkRelations } from '../../src/check/relations.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { factsOf, SUBJECT, told, withFiles } from '../builders/facts.js';
import { threeSegments, threeV3SegmentsWithBatches, v4WithGenerations } from '../builders/shards.js';
import { cacheShard, offloaded } from '../builders/sidecars.js';

describe('checkRelations', () => {
  it('healthy shards say nothing, and everything of them is judged', () => {
    for (const { image } of [threeSegments(), threeV3SegmentsWithBatches(), v4WithGenerations(), cacheShard()]) {
      const { findings, notChecked, omitted, coverage } = checkRelations(factsOf(image), SUBJECT);
      expect({ findings, notChecked, omitted, coverage }).to.deep.equal({
        findings: [],
        notChecked: [],
        omitted: [],
        coverage: null,
      });
    }
  });

  it('puts together what each relation says, with where the records are', () => {
    const { image, segments } = threeSegments();
    const entry = offloaded(segments[0]!, 0n);
    const files = withFiles(image, {
      epochs: encodeEpochs({ entries: [{ generation: 3n, startOffset: 30n }] }),
      replica: encodeReplica({ generation: 2n, commit: 22n }),
      'offload.manifest': encodeManifest({ entries: [entry] }),
      'keys.idx': new Uint8Array(4),
    });
    const relations = checkRelations(factsOf(files), SUBJECT);
    expect(told(relations)).to.deep.equal([
      'warning SidecarTruncated keys.idx@0',
      'error CommitBeyondTail replica@16',
      'error EpochBeyondTail epochs@20',
      'error ReplicaBehindEpochs replica@8',
    ]);
    expect(relations.notChecked).to.deep.equal([
      'keys.idx was not decoded, so its keys were not held against the log.',
    ]);
    expect(relations.coverage).to.deep.equal([
      { from: 0n, to: 8n, where: 'both' },
      { from: 8n, to: 21n, where: 'local' },
    ]);
    expect(relations.objectFor(3n)).to.equal(entry.key);
    expect(relations.objectFor(8n)).to.equal(null);
  });
});
