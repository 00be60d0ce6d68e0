/**
 * Producer batches along the records of a file: what one pass says, and that two halves joined say the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { type BatchSummary, BatchTracker, joinBatches, noBatches } from '../../src/scan/batches.js';

/** A record or damage: plain, a continuing one, or one that opens a batch of so many. */
type Met = 'plain' | 'continues' | 'damage' | number;

/** Record i has offset i and begins at byte 100 i; what it opens is told apart by its sequence, 10 i. */
function batchAt(i: number, len: number, held = 1) {
  return { producer: 7n, sequence: BigInt(10 * i), len, offset: BigInt(i), position: 100 * i, held };
}

const runAt = (i: number, count: number) => ({ offset: BigInt(i), position: 100 * i, count });

function tracked(met: readonly Met[], from = 0): BatchTracker {
  const tracker = new BatchTracker();
  met.forEach((each, index) => {
    const i = from + index;
    if (each === 'damage') tracker.damage();
    else if (each === 'continues') tracker.continues(BigInt(i), 100 * i);
    else if (each !== 'plain') tracker.opens(batchAt(i, each));
    else if (tracker.attentive) tracker.plain();
  });
  return tracker;
}

const NONE: BatchSummary = {
  leading: null,
  first: null,
  events: [],
  omitted: 0,
  open: null,
  orphan: null,
  unknown: false,
};

const abandoned = (i: number, len: number, held: number) =>
  ({ event: 'abandoned', batch: batchAt(i, len, held), order: 100 * i }) as const;
const orphan = (i: number, count: number) => ({ event: 'orphan', run: runAt(i, count), order: 100 * i }) as const;

const ROWS: readonly (readonly [title: string, met: readonly Met[], summary: Partial<BatchSummary>])[] = [
  ['nothing is met', [], {}],
  ['plain records alone', ['plain', 'plain'], { first: 'record' }],
  ['a batch of one record is whole at once', [1], { first: 'record' }],
  ['a batch of no records is whole at once', [0], { first: 'record' }],
  ['a batch waits for its last record', [3, 'continues'], { first: 'record', open: batchAt(0, 3, 2) }],
  ['a batch is whole with its last record', [3, 'continues', 'continues'], { first: 'record' }],
  [
    'a run in front of anything else is kept apart',
    ['continues', 'continues', 'plain'],
    { leading: runAt(0, 2), first: 'record' },
  ],
  [
    'a run behind a plain record is an orphan',
    ['plain', 'continues', 'continues'],
    { first: 'record', orphan: runAt(1, 2) },
  ],
  [
    'what goes on behind a whole batch is an orphan from there',
    [2, 'continues', 'continues', 'plain'],
    { first: 'record', events: [orphan(2, 1)] },
  ],
  ['a plain record cuts a batch off', [4, 'continues', 'plain'], { first: 'record', events: [abandoned(0, 4, 2)] }],
  [
    'another batch cuts a batch off, and is open itself',
    [4, 2],
    { first: 'record', events: [abandoned(0, 4, 1)], open: batchAt(1, 2) },
  ],
  ['another batch of one record cuts a batch off', [4, 1], { first: 'record', events: [abandoned(0, 4, 1)] }],
  [
    'damage makes it unknown whether a batch went on, and what follows it continues nobody knows what',
    ['plain', 3, 'damage', 'continues', 'continues'],
    { first: 'record', unknown: true },
  ],
  [
    'damage ends a run without a batch',
    ['plain', 'continues', 'damage'],
    { first: 'record', events: [orphan(1, 1)], unknown: true },
  ],
  [
    'damage comes first',
    ['continues', 'damage', 'continues'],
    { leading: runAt(0, 1), first: 'damage', unknown: true },
  ],
  [
    'a record behind damage makes it known again',
    ['damage', 'plain', 'continues'],
    { first: 'damage', orphan: runAt(2, 1) },
  ],
  ['a batch behind damage is followed', ['damage', 3, 'continues'], { first: 'damage', open: batchAt(1, 3, 2) }],
];

describe('producer batches along a file', () => {
  for (const [title, met, summary] of ROWS) {
    it(`are followed: ${title}`, () => {
      expect(tracked(met).summary).to.deep.equal({ ...NONE, ...summary });
    });
  }

  it('need no word of a plain record that changes nothing', () => {
    for (const [, met] of ROWS) {
      const tracker = tracked(met);
      const before = structuredClone(tracker.summary);
      const { attentive } = tracker;
      tracker.plain();
      if (!attentive) expect(tracker.summary, met.join()).to.deep.equal(before);
      expect(tracker.attentive).to.equal(false);
    }
    const attentive = (...met: readonly Met[]) => tracked(met).attentive;
    expect([
      attentive(),
      attentive(1),
      attentive(2),
      attentive('plain', 'continues'),
      attentive('plain', 'damage'),
    ]).to.deep.equal([true, false, true, true, true]);
  });

  it('are told up to ten thousand events, and counted beyond', () => {
    const met = Array.from({ length: 10_002 }, () => 2);
    const { summary } = tracked(met);
    expect(summary.events).to.have.lengthOf(10_000);
    expect(summary).to.deep.include({ omitted: 1, open: batchAt(10_001, 2) });
    const next = structuredClone(tracked(met, 10_002).summary);
    expect(joinBatches(summary, next)).to.equal(true);
    expect(summary.events.at(-1)).to.deep.equal(abandoned(9_999, 2, 1));
    // Those of the second half, the one that it cuts off, and the one left out before.
    expect(summary.omitted).to.equal(10_000 + 1 + 1 + 1);
  });
});

describe('producer batches of two neighbours', () => {
  const ALPHABET: readonly Met[] = ['plain', 'continues', 'damage', 1, 2, 3];

  function* sequences(length: number): Generator<Met[]> {
    if (length === 0) yield [];
    else for (const rest of sequences(length - 1)) for (const each of ALPHABET) yield [...rest, each];
  }

  /** The second half begins with more records than the batch that is open in front of it still waits for. */
  function overflows(met: readonly Met[], at: number): boolean {
    const { open, first } = tracked(met.slice(0, at)).summary;
    const run = met.slice(at).findIndex((each) => each !== 'continues');
    const leading = run < 0 ? met.length - at : run;
    return first !== null && open !== null && leading > open.len - open.held;
  }

  it('say the same joined as both in one pass, or leave it to one pass', () => {
    for (const met of sequences(4)) {
      const whole = tracked(met).summary;
      for (let at = 0; at <= met.length; at++) {
        const before = tracked(met.slice(0, at)).summary;
        const next = tracked(met.slice(at), at).summary;
        const [kept, given] = [structuredClone(before), structuredClone(next)];
        const joined = joinBatches(before, next);
        const where = `${met.join(' ')}, split at ${at}`;
        if (joined === overflows(met, at)) expect.fail(where);
        if (!isDeepStrictEqual(before, joined ? whole : kept))
          expect(before, where).to.deep.equal(joined ? whole : kept);
        if (!isDeepStrictEqual(next, given)) expect(next, where).to.deep.equal(given);
      }
    }
  });

  it('share nothing that goes on changing', () => {
    for (const met of [[4], ['plain', 'continues'], ['continues']] as const) {
      const next = tracked(met, 3).summary;
      const given = structuredClone(next);
      const joined = met[0] === 'continues' ? noBatches() : tracked(['plain']).summary;
      joinBatches(joined, next);
      expect(joinBatches(joined, tracked(['continues'], 5).summary)).to.equal(true);
      expect(next).to.deep.equal(given);
    }
  });
});
