/** What all plans are made of: steps that change something, what they answer, and indexes that are held or made again. */
import { expect } from 'chai';
import { NO_LOSS, type PlanStep } from '../../src/domain/plan.js';
import type { IndexImage } from '../../src/domain/plan-facts.js';
import { answersOf, bytesStep, deleteStep, IndexContents, inShort, planOf } from '../../src/repair/plan-parts.js';
import { FRAME, held, shardView, stateOf } from '../builders/plan-inputs.js';
import { finding, prediction } from '../builders/reports.js';
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

describe('a step of a plan', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const said = { action: 'rewrite', why: 'because', answers: [] } as const;

  it('gives a file its bytes, unless it has them already', () => {
    const after = stateOf(bytes);
    const made = { ...said, file: 'epochs', after, content: held(bytes) };
    const before = { size: 9, crc32: '0x00000009' };
    expect(bytesStep(shardView({}), 'epochs', bytes, said)).to.deep.equal({ ...made, before: null, ranges: [] });
    expect(bytesStep(shardView({ epochs: before }), 'epochs', bytes, said)).to.deep.equal({
      ...made,
      before,
      ranges: [{ from: 0, to: 9 }],
    });
    expect(bytesStep(shardView({ epochs: after }), 'epochs', bytes, said)).to.equal(null);
  });

  it('takes a file away, unless it is not there', () => {
    const before = { size: 9, crc32: '0x00000009' };
    const { action: _, ...rest } = said;
    expect(deleteStep(shardView({}), 'epochs', rest)).to.equal(null);
    expect(deleteStep(shardView({ epochs: before }), 'epochs', rest)).to.deep.equal({
      ...rest,
      action: 'delete',
      file: 'epochs',
      before,
      after: null,
      content: [],
      ranges: [{ from: 0, to: 9 }],
    });
  });

  it('names the first hundred findings that it answers, with their place where they have one', () => {
    const findings = Array.from({ length: 103 }, (_, position) =>
      finding('RecordChecksum', 'fatal', { site: position === 1 ? {} : { position }, file: position < 2 ? null : 'f' }),
    );
    const answers = answersOf(findings, ({ site }) => site.position !== 0);
    expect(answers).to.have.lengthOf(100);
    expect(answers.slice(0, 2)).to.deep.equal([
      { kind: 'RecordChecksum', file: null, position: null },
      { kind: 'RecordChecksum', file: 'f', position: 2 },
    ]);
    expect(answers.at(-1)!.position).to.equal(100);
  });
});

describe('what a plan says of a broker’s open', () => {
  it('is the prediction without the details', () => {
    const repair = { fromBytes: 9, toBytes: 1, recordsLost: 1, intactRecordsLost: 0 };
    const site = { shard: 's', segment: 2n, position: 86 };
    const read = { kind: 'RecordChecksum', site, fromOffset: 1n, toOffset: 2n } as const;
    const whole = prediction({
      verdict: 'refuses',
      refusals: [
        { kind: 'RecordChecksum', site },
        { kind: 'SidecarMagic', site: {} },
      ],
      repairs: [{ action: 'truncate', file: logName(2), ...repair }],
      tailOffsetAfter: null,
      readsThatFail: [read, read],
    });
    expect(inShort(whole)).to.deep.equal({
      verdict: 'refuses',
      refusals: [
        { kind: 'RecordChecksum', segment: 2n, position: 86 },
        { kind: 'SidecarMagic', segment: null, position: null },
      ],
      repairs: [{ action: 'truncate', file: logName(2) }],
      tailOffset: null,
      failingReads: 2,
    });
  });
});

describe('a plan', () => {
  it('never leaves the planner when its steps do not fit its files', () => {
    const frame = { ...FRAME, command: 'heal', before: prediction(), after: prediction(), notes: [] };
    const step: PlanStep = {
      action: 'delete',
      file: 'epochs',
      before: { size: 1, crc32: '0x00000001' },
      after: null,
      content: [],
      ranges: [],
      why: '',
      answers: [],
    };
    expect(() => planOf(shardView({}), frame, [step], NO_LOSS)).to.throw('do not agree on epochs');
  });
});
