import { expect } from 'chai';
import fc from 'fast-check';
import { checkProducers } from '../../src/check/producers.js';
import { feedOf } from '../../src/format/bytes.js';
import { decodeProducers, encodeProducers, type Producers } from '../../src/format/producers.js';
import type { LogRecord } from '../../src/format/record.js';
import { damaged, flipBit } from '../builders/damage.js';
import { type FactsOptions, factsOf, SUBJECT, told, withFiles, withoutFiles } from '../builders/facts.js';
import { batch, continues, generationStart, plainRun, sequence } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, type ShardImage } from '../builders/shards.js';
import { producersAsOf } from '../builders/sidecars.js';

const judged = (image: ShardImage, options: FactsOptions = {}) => checkProducers(factsOf(image, options), SUBJECT);

/** Splits consecutive records at these offsets into segments of small payloads. */
function logOf(records: readonly LogRecord[], ...cuts: readonly number[]): ShardImage {
  const edges = [0, ...cuts, records.length];
  const segments = edges.slice(1).map((end, i) => {
    const part = records.slice(edges[i], end);
    return buildSegment({ version: 4, baseOffset: BigInt(edges[i]!), records: part });
  });
  return buildShard({ segments });
}

function snapshotOf(records: readonly LogRecord[], asOf: bigint): Producers {
  const { value } = decodeProducers(feedOf(producersAsOf(records, asOf)));
  return value!;
}

function withSnapshot(image: ShardImage, snapshot: Producers): ShardImage {
  return withFiles(image, { producers: encodeProducers(snapshot) });
}

const tag = (producerId: bigint, sequenceNumber: bigint, len: number) => ({
  producerId,
  sequence: sequenceNumber,
  len,
});

/** Producer 7: sequences 0 and 1; producer 9: 40; then an open batch from offset 12, cut at 10 and 14. */
const records = [
  ...sequence(0n, [2, tag(7n, 0n, 3), tag(9n, 40n, 1), tag(7n, 1n, 4), 2]),
  ...batch(12n, tag(9n, 41n, 5)),
  ...plainRun(17n, 3),
];
const image = logOf(records, 10, 14);
const snapshot = snapshotOf(records, 14n);
const wrong = (change: Partial<Producers>) => judged(withSnapshot(image, { ...snapshot, ...change }));

describe('checkProducers', () => {
  it('says nothing of a snapshot that the marks give, wherever it was taken', () => {
    for (let asOf = 0n; asOf <= 20n; asOf++) {
      const judgement = judged(withFiles(image, { producers: producersAsOf(records, asOf) }));
      expect(judgement).to.deep.equal({ findings: [], notChecked: [], omitted: [] }, `as of ${asOf}`);
    }
    expect(told(judged(image))).to.deep.equal([]);
  });

  it('ProducersStale: as_of outside the log, and not at its ends', () => {
    const { findings } = judged(withFiles(image, { producers: producersAsOf(records, 21n) }));
    expect(told({ findings })).to.deep.equal(['warning ProducersStale producers@8']);
    expect(findings[0]?.detail).to.deep.equal({ asOf: 21n, base: 0n, tail: 20n });
    const trimmed = withoutFiles(image, logName(0), indexName(0));
    expect(told(judged(withFiles(trimmed, { producers: producersAsOf(records, 9n) })))).to.deep.equal([
      'warning ProducersStale producers@8',
    ]);
    for (const asOf of [10n, 20n]) {
      expect(told(judged(withFiles(trimmed, { producers: producersAsOf(records, asOf) })))).to.deep.equal([]);
    }
  });

  it('ProducersMismatch: names the producer, what differs, and its place in the file', () => {
    const [seven, nine] = snapshot.producers as [Producers['producers'][0], Producers['producers'][0]];
    const open = snapshot.open!;
    const at = { seven: 57, nine: 57 + 18 + 24 };
    const last = wrong({ producers: [{ ...seven, lastSequence: 6n }, nine] });
    expect(told(last)).to.deep.equal([`error ProducersMismatch producers@${at.seven}`]);
    expect(last.findings[0]?.detail).to.deep.equal({ producer: 7n, why: 'its last sequence is 6, and 1 in the log' });
    expect(told(wrong({ producers: [seven] }))).to.deep.equal(['error ProducersMismatch producers@16']);
    expect(told(wrong({ producers: [seven, nine, nine] }))).to.have.lengthOf(1);
    expect(told(wrong({ producers: [seven, nine, { ...nine, id: 8n }] }))).to.have.lengthOf(1);
    expect(told(wrong({ producers: [seven, { ...nine, batches: [] }] }))).to.deep.equal([
      `error ProducersMismatch producers@${at.nine}`,
    ]);
    expect(told(wrong({ open: null }))).to.deep.equal([`error ProducersMismatch producers@24`]);
    expect(told(wrong({ open: { ...open, held: 1 } }))).to.deep.equal([`error ProducersMismatch producers@24`]);
    const closed = snapshotOf(records, 10n);
    expect(told(judged(withSnapshot(image, { ...closed, open })))).to.deep.equal([
      'error ProducersMismatch producers@24',
    ]);
  });

  it('the order in which producers are listed is nobody’s business', () => {
    expect(told(wrong({ producers: snapshot.producers.toReversed() }))).to.deep.equal([]);
  });

  it('a batch of length 0 holds one record, as one of length 1', () => {
    const short = sequence(0n, [tag(7n, 0n, 1), 2]).map((record) =>
      record.tag === null ? record : { ...record, tag: { ...record.tag, len: 0 } },
    );
    const shard = logOf(short);
    for (const len of [0, 1]) {
      const producers = [{ id: 7n, lastSequence: 0n, batches: [{ first: 0n, len }] }];
      expect(told(judged(withSnapshot(shard, { asOf: 3n, open: null, producers })))).to.deep.equal([]);
    }
    const producers = [{ id: 7n, lastSequence: 0n, batches: [{ first: 0n, len: 2 }] }];
    expect(told(judged(withSnapshot(shard, { asOf: 3n, open: null, producers })))).to.have.lengthOf(1);
  });

  it('damage below as_of leaves it unjudged, damage behind it does not', () => {
    const bad = withSnapshot(image, { ...snapshot, producers: [] });
    expect(told(judged(bad))).to.have.lengthOf(2);
    const below = judged(damaged(bad, flipBit(logName(0), 70, 1)));
    expect(told(below)).to.deep.equal([]);
    expect(below.notChecked).to.have.lengthOf(1);
    expect(told(judged(damaged(bad, flipBit(logName(2), 70, 1)), { tail: 20n }))).to.have.lengthOf(2);
  });

  it('what cannot be replayed whole is not judged, and why is said', () => {
    const bad = withSnapshot(image, { ...snapshot, producers: [] });
    const facts: readonly [ShardImage, FactsOptions, RegExp][] = [
      [bad, { quick: true }, /were not read/],
      [bad, { tail: null }, /end is not known/],
      [bad, { base: null }, /oldest offset is not known/],
      [withoutFiles(bad, logName(1), indexName(1)), {}, /does not begin at offset 10/],
      [
        withoutFiles(bad, logName(2), indexName(2), logName(1), indexName(1)),
        { tail: 20n },
        /does not hold every record/,
      ],
      [damaged(bad, flipBit(logName(1), 9, 1)), {}, /header of .* is damaged/],
      [withFiles(image, { producers: new Uint8Array(9) }), {}, /was not decoded/],
    ];
    for (const [files, options, why] of facts) {
      const judgement = judged(files, options);
      expect(told(judgement)).to.deep.equal([], String(why));
      expect(judgement.notChecked.join()).to.match(why);
    }
    const failing = judged(bad, { failing: [logName(0)] });
    expect(failing.findings.map(({ kind }) => kind)).to.deep.equal(['Unreadable']);
  });

  it('generation starts cut a batch off, and orphans change nothing', () => {
    const mixed = [
      ...batch(0n, tag(7n, 0n, 4), 2),
      generationStart(2n, 3n),
      continues(3n),
      continues(4n),
      ...batch(5n, tag(7n, 0n, 2)),
    ];
    const shard = logOf(mixed, 3);
    expect(told(judged(withFiles(shard, { producers: producersAsOf(mixed, 7n) })))).to.deep.equal([]);
    expect(snapshotOf(mixed, 7n).producers).to.deep.equal([
      { id: 7n, lastSequence: 0n, batches: [{ first: 5n, len: 2 }] },
    ]);
  });
});

describe('checkProducers after retention', () => {
  const trimmed = (shard: ShardImage, ...ids: number[]) =>
    withoutFiles(shard, ...ids.flatMap((id) => [logName(id), indexName(id)]));

  it('batches below the oldest record are not compared, and said so', () => {
    const judgement = judged(trimmed(withSnapshot(image, snapshot), 0));
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.deep.equal([
      'Batches below offset 10, the oldest in the log, were not compared: producers has some of 2 producers.',
    ]);
  });

  it('what lies above is compared all the same', () => {
    const straddling = logOf(records, 5, 10);
    const after = trimmed(withFiles(straddling, { producers: producersAsOf(records, 10n) }), 0);
    expect(told(judged(after))).to.deep.equal([]);
    const [seven, nine] = snapshotOf(records, 10n).producers as [Producers['producers'][0], Producers['producers'][0]];
    const asOf10 = (...producers: Producers['producers']) =>
      told(judged(withSnapshot(after, { asOf: 10n, open: null, producers })));
    expect(asOf10({ ...seven, lastSequence: 2n }, nine)).to.have.lengthOf(1);
    expect(asOf10({ ...seven, batches: seven.batches.slice(0, 1) }, nine)).to.have.lengthOf(1);
    expect(asOf10({ ...seven, batches: seven.batches.slice(1) }, nine)).to.deep.equal([]);
    expect(asOf10(nine)).to.have.lengthOf(1);
    expect(asOf10(seven)).to.have.lengthOf(1);
    expect(asOf10(seven, nine, { id: 1n, lastSequence: 5n, batches: [{ first: 1n, len: 2 }] })).to.deep.equal([]);
    expect(asOf10(seven, nine, { id: 1n, lastSequence: 5n, batches: [{ first: 3n, len: 4 }] })).to.have.lengthOf(1);
    expect(asOf10(seven, nine, { id: 1n, lastSequence: 5n, batches: [{ first: 6n, len: 2 }] })).to.have.lengthOf(1);
  });

  it('a batch that began below is borne out by the records that continue it', () => {
    const across = [...batch(0n, tag(7n, 0n, 6)), ...plainRun(6n, 2)];
    const shard = trimmed(logOf(across, 3), 0);
    expect(told(judged(withFiles(shard, { producers: producersAsOf(across, 8n) })))).to.deep.equal([]);
    const producers = [{ id: 7n, lastSequence: 0n, batches: [{ first: 0n, len: 7 }] }];
    expect(told(judged(withSnapshot(shard, { asOf: 8n, open: null, producers })))).to.have.lengthOf(1);
  });

  it('an open batch that began below must reach as_of', () => {
    const across = batch(0n, tag(7n, 0n, 9), 6);
    const shard = trimmed(logOf(across, 3), 0);
    const opened = snapshotOf(across, 6n);
    expect(told(judged(withSnapshot(shard, opened)))).to.deep.equal([]);
    for (const change of [{ held: 5 }, { len: 6 }]) {
      expect(told(judged(withSnapshot(shard, { ...opened, open: { ...opened.open!, ...change } })))).to.have.lengthOf(
        1,
      );
    }
    const plain = trimmed(logOf(plainRun(0n, 6), 3), 0);
    expect(told(judged(withSnapshot(plain, opened)))).to.have.lengthOf(1);
  });

  it('a window that was emptied in what is left holds nothing from below', () => {
    const jumped = [...sequence(0n, [tag(7n, 0n, 2), tag(7n, 1n, 2), tag(7n, 5n, 2)])];
    const shard = trimmed(logOf(jumped, 2), 0);
    const producers = (batches: Producers['producers'][0]['batches']) =>
      judged(withSnapshot(shard, { asOf: 6n, open: null, producers: [{ id: 7n, lastSequence: 5n, batches }] }));
    expect(told(producers([{ first: 4n, len: 2 }]))).to.deep.equal([]);
    expect(
      told(
        producers([
          { first: 0n, len: 2 },
          { first: 4n, len: 2 },
        ]),
      ),
    ).to.have.lengthOf(1);
  });
});

/** One step of a random log. */
type Step =
  | { readonly what: 'plain' | 'orphan' | 'start' }
  | {
      readonly what: 'batch';
      readonly producer: number;
      readonly len: number;
      /** Records of it that are written. */
      readonly held: number;
      /** Added to the sequence due next. */
      readonly jump: number;
    };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Step>({ what: 'plain' }, { what: 'orphan' }, { what: 'start' }) },
  {
    weight: 5,
    arbitrary: fc
      .record({
        producer: fc.integer({ min: 1, max: 3 }),
        len: fc.integer({ min: 1, max: 4 }),
        missing: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 })),
        jump: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, fc.integer({ min: -1, max: 2 })),
      })
      .map(({ producer, len, missing, jump }): Step => {
        return { what: 'batch', producer, len, held: Math.max(1, len - missing), jump };
      }),
  },
);

function randomLog(steps: readonly Step[]): LogRecord[] {
  const log: LogRecord[] = [];
  const due = new Map<number, bigint>();
  const options = { payload: new Uint8Array(1) };
  let generation = 1n;
  for (const step of steps) {
    const next = BigInt(log.length);
    if (step.what === 'batch') {
      const at = (due.get(step.producer) ?? 10n) + BigInt(step.jump);
      // A batch that was cut off is sent again under its own sequence.
      due.set(step.producer, step.held === step.len ? at + 1n : at);
      log.push(...batch(next, tag(BigInt(step.producer), at, step.len), step.held, options));
    } else if (step.what === 'plain') log.push(...plainRun(next, 1, options));
    else if (step.what === 'orphan') log.push(continues(next, options));
    else log.push(generationStart(next, ++generation));
  }
  return log;
}

/** Every snapshot that differs in one field. */
function changed(one: Producers): Producers[] {
  const { open, producers } = one;
  const opens =
    open === null
      ? []
      : [
          null,
          { ...open, producerId: open.producerId + 1n },
          { ...open, sequence: open.sequence + 1n },
          { ...open, len: open.len + 1 },
          { ...open, first: open.first + 1n },
          { ...open, held: open.held + 1 },
        ];
  const states = producers.flatMap((state, i) => {
    const others = [
      { ...state, id: state.id + 100n },
      { ...state, lastSequence: state.lastSequence + 1n },
      ...state.batches.flatMap((one, j) => [
        { ...state, batches: state.batches.toSpliced(j, 1) },
        { ...state, batches: state.batches.toSpliced(j, 1, { ...one, first: one.first + 1n }) },
        { ...state, batches: state.batches.toSpliced(j, 1, { ...one, len: one.len + 1 }) },
      ]),
    ];
    return [...others.map((other) => producers.toSpliced(i, 1, other)), producers.toSpliced(i, 1)];
  });
  return [...opens.map((other) => ({ ...one, open: other })), ...states.map((other) => ({ ...one, producers: other }))];
}

const LOG = fc.record({
  steps: fc.array(STEP, { minLength: 1, maxLength: 300, size: 'max' }),
  cuts: fc.array(fc.nat(1000), { maxLength: 4 }),
  asOf: fc.nat(1000),
});

/** A window that overflows, and what follows in it after a jump. */
const MANY_BATCHES = {
  steps: [
    ...Array.from({ length: 70 }, (): Step => ({ what: 'batch', producer: 1, len: 2, held: 2, jump: 0 })),
    ...Array.from(
      { length: 70 },
      (_, i): Step => ({ what: 'batch', producer: 2, len: 1, held: 1, jump: i === 3 ? 1 : 0 }),
    ),
  ],
  cuts: [50, 130],
  asOf: 210,
};

describe('checkProducers over random logs', () => {
  const made = ({ steps, cuts, asOf }: { steps: Step[]; cuts: number[]; asOf: number }) => {
    const log = randomLog(steps);
    const at = (value: number) => value % (log.length + 1);
    const shard = logOf(log, ...cuts.map(at).sort((a, b) => a - b));
    return { log, shard, snapshot: snapshotOf(log, BigInt(at(asOf))), segments: cuts.length + 1 };
  };

  it('has a log among them with more batches than a window holds', () => {
    const { snapshot: honest } = made(MANY_BATCHES);
    expect(honest.producers.map(({ batches }) => batches.length)).to.deep.equal([64, 64]);
  });

  it('never reports what a plain replay gives, before retention and after', () => {
    fc.assert(
      fc.property(LOG, (plan) => {
        const { shard, snapshot: honest, segments } = made(plan);
        let files = withSnapshot(shard, honest);
        for (let id = 0; id < segments; id++) {
          expect(judged(files).findings.filter(({ kind }) => kind === 'ProducersMismatch')).to.deep.equal([]);
          files = withoutFiles(files, logName(id), indexName(id));
        }
      }),
      { numRuns: 150, examples: [[MANY_BATCHES]] },
    );
  });

  it('always reports a snapshot with one field changed', () => {
    fc.assert(
      fc.property(LOG, (plan) => {
        const { shard, snapshot: honest } = made(plan);
        const facts = factsOf(withSnapshot(shard, honest));
        const others = changed(honest);
        const step = Math.max(1, Math.floor(others.length / 20));
        for (let i = 0; i < others.length; i += step) {
          const other = { ...facts.sidecars.producers!, reading: { value: others[i]!, claimed: {}, damage: [] } };
          const { findings } = checkProducers({ ...facts, sidecars: { ...facts.sidecars, producers: other } }, SUBJECT);
          expect(findings.map(({ kind }) => kind)).to.include('ProducersMismatch');
        }
      }),
      { numRuns: 60, examples: [[MANY_BATCHES]] },
    );
  });

  it('reports another as_of whenever the replay up to there gives another state', () => {
    fc.assert(
      fc.property(LOG, fc.nat(1000), (plan, elsewhere) => {
        const { log, shard, snapshot: honest } = made(plan);
        const asOf = BigInt(elsewhere % (log.length + 1));
        const there = snapshotOf(log, asOf);
        const same = JSON.stringify(there, text) === JSON.stringify({ ...honest, asOf }, text);
        const { findings } = judged(withSnapshot(shard, { ...honest, asOf }));
        expect(findings.some(({ kind }) => kind === 'ProducersMismatch')).to.equal(!same);
      }),
      { numRuns: 100 },
    );
  });
});

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
