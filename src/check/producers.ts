/**
 * `producers` against the marks in the log (format page, "producers: the producer snapshot").
 *
 * The records from the oldest one up to `as_of` are replayed and the states compared. What a snapshot says of batches
 * below the oldest record can no longer be held against anything, and is left alone; all that lies above must agree.
 */

import { counted } from '../domain/wording.js';
import { fixedLength } from '../format/layout.js';
import { fieldAt, groupLength } from '../format/layout-places.js';
import {
  type OpenBatch,
  PRODUCERS_LAYOUT,
  type ProducerBatch,
  type ProducerState,
  type Producers,
} from '../format/producers.js';
import { CONTINUES_BIT, OPENS_BIT } from '../format/record.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage } from '../scan/range-scan.js';
import { HeaderWalk } from './header-walk.js';
import { Judge, type Judgement } from './judgement.js';
import { logSegments } from './log.js';
import type { Subject } from './make-finding.js';
import { ProducerReplay, type ReplayedProducer } from './producer-replay.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

const NOT_REPLAYED = 'the state in producers was not held against the marks';

export function checkProducers(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const { producers: sidecar } = facts.sidecars;
  const snapshot = judge.contentOf(sidecar, 'its state was not held against the marks');
  if (sidecar === null || snapshot === null) return judge.judgement;
  const { base, tail } = facts;
  const { asOf } = snapshot;
  if (base === null || tail === null) {
    judge.skip(`The log's ${base === null ? 'oldest offset' : 'end'} is not known, so ${NOT_REPLAYED}.`);
    return judge.judgement;
  }
  if (asOf < base || asOf > tail) {
    judge.report({
      kind: 'ProducersStale',
      severity: 'warning',
      file: sidecar.file,
      position: fieldAt(PRODUCERS_LAYOUT, 'as_of'),
      detail: { asOf, base, tail },
    });
    judge.skip(`producers is stale, so ${NOT_REPLAYED}.`);
    return judge.judgement;
  }
  const replay = replayed(judge, facts, base, asOf);
  if (replay !== null) new Comparison(judge, sidecar.file, snapshot, replay, base).run();
  return judge.judgement;
}

/** Replays the records `base..asOf`; null, with a sentence, when not every one of them is known to be whole. */
function replayed(judge: Judge, facts: ShardFacts, base: bigint, asOf: bigint): ProducerReplay | null {
  const replay = new ProducerReplay();
  let next = base;
  for (const segment of logSegments(facts)) {
    if (next >= asOf) break;
    const problem = problemBelow(segment, next, asOf);
    if (problem !== null) {
      judge.skip(`${problem}, so ${NOT_REPLAYED}.`);
      return null;
    }
    try {
      const source = facts.open(segment.file);
      try {
        const walk = new HeaderWalk(source, SEGMENT_HEADER_LEN, next);
        next = replaySegment(replay, walk, next, asOf);
        if (walk.failure !== null) {
          judge.skip(`${segment.file} cannot be followed to offset ${asOf}: ${walk.failure}; ${NOT_REPLAYED}.`);
          return null;
        }
      } finally {
        source.close();
      }
    } catch (failure) {
      judge.readFailed(segment.file, failure, NOT_REPLAYED);
      return null;
    }
  }
  if (next >= asOf) return replay;
  judge.skip(`The log does not hold every record below offset ${asOf}, so ${NOT_REPLAYED}.`);
  return null;
}

/** Replays until `asOf` is reached or the segment ends; returns the offset due next. */
function replaySegment(replay: ProducerReplay, walk: HeaderWalk, base: bigint, asOf: bigint): bigint {
  const records = Number(asOf - base);
  let quiet = false;
  let done = 0;
  for (; done < records && walk.next(); done++) {
    const kind = walk.kindBits;
    if (kind === OPENS_BIT >>> 29) replay.opens(walk.tag(), base + BigInt(done));
    else if (kind === CONTINUES_BIT >>> 29) replay.continues();
    else if (!quiet) replay.other();
    quiet = kind === 0;
  }
  return base + BigInt(done);
}

/** What keeps the records of a segment from `next` up to `asOf` from being replayed; null when nothing does. */
function problemBelow({ file, scan, problem }: SegmentFacts, next: bigint, asOf: bigint): string | null {
  if (problem !== null || scan === null || scan.head.problem !== null) return `${file} could not be read`;
  if (scan.head.header === null) return `The header of ${file} is damaged`;
  if (scan.head.header.baseOffset !== next) return `${file} does not begin at offset ${next}`;
  if (scan.records === null) return `The records of ${file} were not read`;
  const isBelow = ({ offset }: Damage): boolean => offset === null || offset < asOf;
  if (scan.records.damages.some(isBelow)) return `${file} has damage below offset ${asOf}`;
  if (scan.records.stopped !== null && (scan.records.nextOffset ?? next) < asOf)
    return `${file} could not be read whole`;
  return null;
}

/** A snapshot held against the state that the marks give. */
class Comparison {
  readonly #judge: Judge;
  readonly #file: string;
  readonly #snapshot: Producers;
  readonly #replay: ProducerReplay;
  readonly #base: bigint;
  /** Producers of which some batch lies below the oldest record. */
  #partly = 0;

  constructor(judge: Judge, file: string, snapshot: Producers, replay: ProducerReplay, base: bigint) {
    this.#judge = judge;
    this.#file = file;
    this.#snapshot = snapshot;
    this.#replay = replay;
    this.#base = base;
  }

  run(): void {
    const { open, producers } = this.#snapshot;
    const openAt = fixedLength(PRODUCERS_LAYOUT);
    const openWhy = this.#openDiffers(open);
    if (openWhy !== null) {
      const producer = open?.producerId ?? this.#replay.open?.producerId ?? null;
      this.#mismatch(producer, openWhy, fieldAt(PRODUCERS_LAYOUT, 'open'));
    }
    const listed = new Set<bigint>();
    let position = openAt + (open === null ? 0 : groupLength(PRODUCERS_LAYOUT, 'open'));
    for (const producer of producers) {
      const why = listed.has(producer.id) ? 'it is listed twice' : this.#producerDiffers(producer);
      if (why !== null) this.#mismatch(producer.id, why, position);
      listed.add(producer.id);
      position += groupLength(PRODUCERS_LAYOUT, 'producers');
      position += producer.batches.length * groupLength(PRODUCERS_LAYOUT, 'batches');
    }
    for (const [id, { batches }] of this.#replay.producers) {
      if (listed.has(id)) continue;
      const newest = batches.at(-1)!;
      const why = `it is not listed, and the log has its batch at offset ${newest.first}`;
      this.#mismatch(id, why, fieldAt(PRODUCERS_LAYOUT, 'producers'));
    }
    if (this.#partly > 0) {
      const who = counted(this.#partly, 'producer');
      this.#judge.skip(
        `Batches below offset ${this.#base}, the oldest in the log, were not compared: producers has some of ${who}.`,
      );
    }
  }

  #openDiffers(open: OpenBatch | null): string | null {
    const replayedOpen = this.#replay.open;
    const { asOf } = this.#snapshot;
    if (open === null) {
      return replayedOpen === null ? null : `its batch at offset ${replayedOpen.first} waits for records in the log`;
    }
    if (open.first >= this.#base) {
      if (replayedOpen === null) return `no batch waits for records at offset ${asOf}`;
      return sameOpen(open, replayedOpen)
        ? null
        : `the batch that waits for records in the log is ${openWords(replayedOpen)}, not ${openWords(open)}`;
    }
    if (!this.#replay.onlyLeading || replayedOpen !== null) return `no batch waits for records at offset ${asOf}`;
    if (open.first + BigInt(open.held) !== asOf) return `its open batch does not reach offset ${asOf}`;
    return open.held < open.len ? null : 'its open batch has all of its records';
  }

  #producerDiffers(producer: ProducerState): string | null {
    const { batches, lastSequence } = producer;
    const order = this.#orderProblem(batches);
    if (order !== null) return order;
    const below = batches.filter(({ first }) => first < this.#base).length;
    const above = batches.slice(below);
    const known = this.#replay.producers.get(producer.id) ?? null;
    if (below > 0) this.#partly++;
    if (below > 0 && known?.emptied === true) return 'its sequence jumped behind batches that are still listed';
    if (known === null) return above.length === 0 ? null : `the log has no batch of it at offset ${above[0]!.first}`;
    if (known.lastSequence !== lastSequence) {
      return `its last sequence is ${lastSequence}, and ${known.lastSequence} in the log`;
    }
    return batchesDiffer(above, known);
  }

  /** What no log gives, wherever it begins. */
  #orderProblem(batches: readonly ProducerBatch[]): string | null {
    if (batches.length === 0) return 'it has no batch';
    const { asOf } = this.#snapshot;
    let due = 0n;
    for (const batch of batches) {
      const end = batch.first + BigInt(recordsOf(batch));
      if (batch.first < due) return `its batch at offset ${batch.first} does not come behind the one before it`;
      if (end > asOf) return `its batch at offset ${batch.first} goes beyond offset ${asOf}`;
      if (batch.first < this.#base && end > this.#base && end - this.#base > BigInt(this.#replay.leading)) {
        return `its batch at offset ${batch.first} is not continued at offset ${this.#base}`;
      }
      due = end;
    }
    return null;
  }

  #mismatch(producer: bigint | null, why: string, position: number): void {
    const detail = { producer, why };
    this.#judge.report({ kind: 'ProducersMismatch', severity: 'error', file: this.#file, position, detail });
  }
}

/** A batch of length 0 has one record, as one of length 1. */
function recordsOf({ len }: { readonly len: number }): number {
  return Math.max(1, len);
}

function sameOpen(one: OpenBatch, other: OpenBatch): boolean {
  return (
    one.producerId === other.producerId &&
    one.sequence === other.sequence &&
    one.first === other.first &&
    one.len === other.len &&
    one.held === other.held
  );
}

function openWords({ producerId, sequence, first, len, held }: OpenBatch): string {
  return `sequence ${sequence} of producer ${producerId} at offset ${first} with ${held} of ${len} records`;
}

function batchesDiffer(listed: readonly ProducerBatch[], { batches }: ReplayedProducer): string | null {
  if (listed.length !== batches.length) {
    return `it has ${counted(listed.length, 'batch', 'batches')}, and ${batches.length} in the log`;
  }
  for (const [i, batch] of batches.entries()) {
    const other = listed[i]!;
    if (other.first !== batch.first) return `batch ${i} begins at offset ${other.first}, and ${batch.first} in the log`;
    if (recordsOf(other) !== recordsOf(batch))
      return `batch ${i} has ${other.len} records, and ${batch.len} in the log`;
  }
  return null;
}
