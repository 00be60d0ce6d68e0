import { expect } from 'chai';
import { checkGenerations } from '../../src/check/generations.js';
import { copyFile, damaged, truncate } from '../builders/damage.js';
import { factsOf, SUBJECT, told } from '../builders/facts.js';
import { generationStart, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  logName,
  type ShardImage,
  shardOf,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
} from '../builders/shards.js';

const judged = (image: ShardImage, quick = false) => checkGenerations(factsOf(image, { quick }), SUBJECT);

describe('checkGenerations', () => {
  it('says nothing of marks in v3 and generation starts in v4', () => {
    for (const { image } of [threeV3SegmentsWithBatches(), v4WithGenerations()]) {
      expect(judged(image)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
    }
  });

  it('RecordKindForVersion: a mark in v2, a generation start in v3', () => {
    const tag = { producerId: 7n, sequence: 0n, len: 2 };
    const { image } = shardOf([
      { version: 2, parts: [1, tag] },
      { version: 3, parts: [tag, { generation: 2n }] },
    ]);
    const judgement = judged(image);
    expect(
      judgement.findings.map(({ kind, severity, detail, file }) => ({ kind, severity, file, ...detail })),
    ).to.deep.equal([
      {
        kind: 'RecordKindForVersion',
        severity: 'error',
        file: logName(0),
        recordKind: 'opens',
        version: 2,
        offset: 1n,
      },
      {
        kind: 'RecordKindForVersion',
        severity: 'error',
        file: logName(0),
        recordKind: 'continues',
        version: 2,
        offset: 2n,
      },
      {
        kind: 'RecordKindForVersion',
        severity: 'error',
        file: logName(1),
        recordKind: 'generation-start',
        version: 3,
        offset: 5n,
      },
    ]);
    expect(judgement.findings[2]?.site.segment).to.equal(1n);
  });

  it('GenerationStartPayload: eight bytes and no other length', () => {
    for (const [length, expected] of [
      [7, 1],
      [8, 0],
      [9, 1],
      [0, 1],
    ] as const) {
      const record = generationStart(3n, 2n, { payload: new Uint8Array(length).fill(1) });
      const segment = buildSegment({ version: 4, records: [...plainRun(0n, 3), record] });
      const { findings } = judged(buildShard({ segments: [segment] }));
      expect(findings).to.have.lengthOf(expected);
      if (expected === 0) continue;
      expect(findings[0]?.kind).to.equal('GenerationStartPayload');
      expect(findings[0]?.detail).to.deep.equal({ offset: 3n, payloadLen: length });
      expect(findings[0]?.site.position).to.equal(segment.positions[3]);
    }
  });

  it('GenerationStartOrder: equal and falling generations, across segments too', () => {
    const { image, segments } = shardOf([
      { version: 4, parts: [{ generation: 2n }, 2, { generation: 5n }] },
      { version: 4, parts: [2, { generation: 5n }, 1, { generation: 3n }, { generation: 4n }] },
    ]);
    const { findings } = judged(image);
    expect(told({ findings })).to.deep.equal([
      `error GenerationStartOrder ${logName(1)}@${segments[1]!.positions[2]}`,
      `error GenerationStartOrder ${logName(1)}@${segments[1]!.positions[4]}`,
    ]);
    expect(findings[1]?.detail).to.deep.equal({ offset: 8n, generation: 3n, previous: 5n });
  });

  it('a second copy of the same offsets is no falling generation, and said to be not judged', () => {
    const { image } = shardOf([{ version: 4, parts: [{ generation: 2n }, 2] }]);
    const judgement = judged(damaged(image, copyFile(logName(0), logName(1))));
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('goes on behind damage and over segments that were not read', () => {
    const { image } = shardOf([
      { version: 4, parts: [{ generation: 5n }, 6] },
      { version: 4, parts: [2] },
      { version: 4, parts: [{ generation: 3n }, 2] },
    ]);
    const torn = damaged(image, truncate(logName(1), 20));
    const judgement = judged(torn);
    expect(judgement.findings.map(({ kind }) => kind)).to.deep.equal(['GenerationStartOrder']);
    expect(judgement.notChecked).to.have.lengthOf(1);
    const quick = judged(image, true);
    expect(told(quick)).to.deep.equal([]);
    expect(quick.notChecked[0]).to.match(/not every record of 2 segments was read \(0 is the first\)/);
  });
});
