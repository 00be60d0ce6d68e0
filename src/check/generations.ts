/**
 * What the records say of generations and of their own kind ("Generation-start records", "Producer marks").
 */

import { Judge, type Judgement } from './judgement.js';
import { logSegments, unreadWords } from './log.js';
import type { Subject } from './make-finding.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** Kinds that a segment's version does not allow, payloads of generation starts, and their order along the log. */
export function checkGenerations(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const unread = unreadWords(facts);
  if (unread !== null) judge.skip(`Kinds of records and generation starts were judged only where read: ${unread}.`);
  const order = new GenerationOrder(judge);
  for (const segment of logSegments(facts)) {
    checkKinds(judge, segment);
    checkStarts(judge, order, segment);
  }
  return judge.judgement;
}

function checkKinds(judge: Judge, { file, id, scan }: SegmentFacts): void {
  if (scan?.records == null || scan.head.header === null) return;
  const { version } = scan.head.header;
  for (const { offset, position, recordKind } of scan.records.kindViolations) {
    judge.report({
      kind: 'RecordKindForVersion',
      severity: 'error',
      file,
      segment: id,
      position,
      detail: { recordKind, version, offset },
    });
  }
  judge.omit(file, 'RecordKindForVersion', scan.records.kindViolationsOmitted);
}

function checkStarts(judge: Judge, order: GenerationOrder, segment: SegmentFacts): void {
  const { file, id, scan } = segment;
  if (scan?.records == null) return;
  for (const { offset, position, payloadLen, generation } of scan.records.generationStarts) {
    if (generation === null) {
      const detail = { offset, payloadLen };
      judge.report({ kind: 'GenerationStartPayload', severity: 'error', file, segment: id, position, detail });
    } else order.meet(segment, offset, position, generation);
  }
  if (scan.records.generationStartsOmitted > 0) {
    judge.skip(`${file} has more generation starts than were kept, and the rest were not compared.`);
  }
}

/** Follows generations along ascending offsets; of two segments that hold the same offsets, the first counts. */
class GenerationOrder {
  readonly #judge: Judge;
  #last: { readonly offset: bigint; readonly generation: bigint } | null = null;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  meet({ file, id }: SegmentFacts, offset: bigint, position: number, generation: bigint): void {
    const last = this.#last;
    if (last !== null && offset <= last.offset) {
      this.#judge.skip(`The order of generations was not judged where offsets go back, as they do in ${file}.`);
      return;
    }
    this.#last = { offset, generation };
    if (last === null || generation > last.generation) return;
    this.#judge.report({
      kind: 'GenerationStartOrder',
      severity: 'error',
      file,
      segment: id,
      position,
      detail: { offset, generation, previous: last.generation },
    });
  }
}
