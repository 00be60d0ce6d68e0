/** What a heal does to segments and their indexes, and what it says of the ranges it leaves: told from facts made by hand. */
import { expect } from 'chai';
import type { HealedRange, HealedSegment, HealFacts } from '../../src/domain/heal.js';
import { NO_LOSS } from '../../src/domain/plan.js';
import { planHeal } from '../../src/repair/plan-heal.js';
import { FRAME, held, indexImage, shardView } from '../builders/plan-inputs.js';
import { finding, prediction, shardReport } from '../builders/reports.js';
import { indexName, logName } from '../builders/shards.js';

const OLD = { size: 500, crc32: '0x00000500' };
const NEW = { size: 480, crc32: '0x00000480' };
const SALVAGE = 'felix-fsck salvage SHARD --to DIR';

function segment(parts: Partial<HealedSegment> = {}): HealedSegment {
  return {
    id: 1n,
    file: logName(1),
    state: NEW,
    content: [{ from: 'itself', start: 0, end: 480 }],
    ranges: [
      { from: 86, to: 171 },
      { from: 300, to: 320 },
    ],
    why: 'one record comes back',
    index: indexImage(1, 480),
    ...parts,
  };
}

function range(parts: Partial<HealedRange> = {}): HealedRange {
  return {
    offsets: { from: 9n, to: 11n },
    file: logName(1),
    position: 86,
    healed: true,
    why: 'from a replica',
    instead: null,
    ...parts,
  };
}

const FILES = { [logName(1)]: OLD, [indexName(1)]: OLD };

function plan(facts: Partial<HealFacts>, files = FILES, findings: ReturnType<typeof finding>[] = []) {
  return planHeal({
    view: shardView(files),
    report: shardReport({ findings, prediction: prediction({ verdict: 'refuses' }) }),
    facts: { segments: [], ranges: [], notes: [], ...facts },
    frame: FRAME,
    after: prediction({ tailOffsetAfter: 99n }),
  });
}

function planned(...args: Parameters<typeof plan>) {
  const outcome = plan(...args);
  if (!outcome.ok) throw new Error(outcome.error.why);
  return outcome.value;
}

function refusal(facts: Partial<HealFacts>) {
  const outcome = plan(facts);
  if (outcome.ok) throw new Error('it was planned');
  return outcome.error;
}

describe('a segment that is healed', () => {
  const at = (position: number | null, file = logName(1), from: number | null = null) =>
    finding('RecordChecksum', 'fatal', {
      file,
      site: position === null ? { segment: 1n } : { segment: 1n, position },
      damagedRange: from === null ? null : { from, to: from + 9 },
    });
  const findings = [
    at(0),
    at(85),
    at(86),
    at(170),
    at(171),
    at(300),
    at(319),
    at(320),
    at(86, logName(2)),
    at(null),
    at(null, logName(1), 87),
    at(null, logName(1), 200),
    at(24, indexName(1)),
    at(86, indexName(2)),
  ];

  it('is written anew with its index, and answers what was found in the ranges that change, or of all of it', () => {
    const { steps } = planned({ segments: [segment()], ranges: [range()] }, FILES, findings);
    const answer = (position: number | null, file = logName(1)) => ({ kind: 'RecordChecksum', file, position });
    expect(steps.map(({ why: _, ...step }) => step)).to.deep.equal([
      {
        action: 'rewrite',
        file: logName(1),
        before: OLD,
        after: NEW,
        content: segment().content,
        ranges: segment().ranges,
        answers: [...[0, 86, 170, 300, 319, null, null].map((position) => answer(position))],
      },
      {
        action: 'rebuild-index',
        file: indexName(1),
        before: OLD,
        after: indexImage(1, 480).state,
        content: held(indexImage(1, 480).bytes),
        ranges: [{ from: 0, to: 500 }],
        answers: [answer(24, indexName(1))],
      },
    ]);
    expect(steps[0]!.why).to.equal('one record comes back');
    expect(steps[1]!.why).to.match(/: 1 entry$/);
  });

  it('is made when it is not there', () => {
    const { steps } = planned(
      { segments: [segment({ content: held(new Uint8Array(9)), ranges: [] })] },
      {} as typeof FILES,
    );
    expect(steps.map(({ action, before }) => ({ action, before }))).to.deep.equal([
      { action: 'create', before: null },
      { action: 'rebuild-index', before: null },
    ]);
  });

  it('keeps an index that stays right, and one that is a writer’s already', () => {
    const files = { ...FILES, [indexName(1)]: indexImage(1, 480).state };
    for (const outcome of [
      planned({ segments: [segment({ index: null })] }),
      planned({ segments: [segment()] }, files),
    ]) {
      expect(outcome.steps.map(({ file }) => file)).to.deep.equal([logName(1)]);
    }
  });
});

describe('the plan of a heal', () => {
  it('loses nothing, and says what the broker does then', () => {
    const { command, loses, before, after, notes } = planned({ segments: [segment()], ranges: [range()] });
    expect([command, loses, before.verdict, after.verdict, after.tailOffset]).to.deep.equal([
      'heal',
      NO_LOSS,
      'refuses',
      'opens',
      99n,
    ]);
    expect(notes).to.deep.equal([]);
  });

  it('is empty when nothing is damaged', () => {
    expect(planned({}).steps).to.deep.equal([]);
    expect(planned({ ranges: [range()] }).steps).to.deep.equal([]);
  });

  it('notes what stays damaged, then what else is to know, then each bit that is turned back', () => {
    const { notes } = planned({
      segments: [segment()],
      ranges: [
        range({ why: 'bit 3 of byte 120 is turned back' }),
        range({ healed: false, why: 'nobody has it', position: null, offsets: { from: 9n, to: 10n } }),
        range({ healed: false, why: 'bit by bit it went', offsets: null }),
        range(),
      ],
      notes: ['A note.'],
    });
    expect(notes).to.deep.equal([
      `${logName(1)}, offset 9: not healed: nobody has it.`,
      `${logName(1)} at byte 86: not healed: bit by bit it went.`,
      'A note.',
      `${logName(1)} at byte 86, offsets 9..11: bit 3 of byte 120 is turned back.`,
    ]);
  });

  it('names forty ranges, and counts those beyond', () => {
    const notesFor = (count: number) =>
      planned({ segments: [segment()], ranges: new Array(count).fill(range({ healed: false })) }).notes;
    expect(notesFor(40)).to.have.lengthOf(40);
    expect(notesFor(41).slice(39)).to.deep.equal([notesFor(1)[0], 'And 1 more range.']);
    expect(notesFor(42).slice(40)).to.deep.equal(['And 2 more ranges.']);
  });
});

describe('a heal that can heal nothing', () => {
  it('is refused with the reasons, what could help each range, and a salvage', () => {
    const { why, instead } = refusal({
      ranges: [
        range({ healed: false, why: 'nobody has it' }),
        range({ healed: false, why: 'they differ', instead: 'felix-fsck diff-epochs' }),
      ],
      notes: ['A note.'],
    });
    const where = `${logName(1)} at byte 86, offsets 9..11: not healed:`;
    expect(why).to.equal(`${where} nobody has it. ${where} they differ. A note.`);
    expect(instead).to.deep.equal(['felix-fsck diff-epochs', SALVAGE]);
  });
});
