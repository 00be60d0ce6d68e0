/**
 * Producer batches along the whole log: abandoned, unfinished at its end, or continued with nothing to continue
 * ("Producer marks").
 *
 * The scans of the segments are joined in order. Damage, a gap, or records that were not read make it unknown what is
 * open behind them; nothing is said there until a record tells again.
 */

import { type BatchEvent, type BatchSummary, joinBatches, noBatches, type OpenBatch } from '../scan/batches.js';
import { HeaderWalk } from './header-walk.js';
import { Judge, type Judgement } from './judgement.js';
import { baseOf, endOf, logSegments, unreadWords, wasReadWhole } from './log.js';
import type { Subject } from './make-finding.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

export function checkBatches(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const unread = unreadWords(facts);
  if (unread !== null) judge.skip(`Batches were judged only where read: ${unread}.`);
  const log = new BatchLog(judge, facts);
  let due: bigint | null = null;
  for (const segment of logSegments(facts)) {
    const base = baseOf(segment);
    if (due !== null && base !== due) log.lose();
    const records = segment.scan?.records;
    if (records != null) log.append(segment, records.batches);
    if (!wasReadWhole(segment)) log.lose();
    due = endOf(segment);
    if (due === null) log.lose();
  }
  log.finish();
  return judge.judgement;
}

/** The state of the log so far, and which segment each open end of it began in. */
class BatchLog {
  readonly #judge: Judge;
  readonly #facts: ShardFacts;
  readonly #summary: BatchSummary = noBatches();
  /** Where the batch that is open was opened. */
  #opened: SegmentFacts | null = null;
  /** Where the run that continues nothing began. */
  #strayed: SegmentFacts | null = null;
  /** Where the run in front of everything began. */
  #led: SegmentFacts | null = null;

  constructor(judge: Judge, facts: ShardFacts) {
    this.#judge = judge;
    this.#facts = facts;
  }

  append(segment: SegmentFacts, next: BatchSummary): void {
    const summary = this.#summary;
    if (!joinBatches(summary, next)) {
      this.#split(segment, next);
      return;
    }
    if (summary.leading !== null) this.#led ??= segment;
    const inside = new Set(next.events);
    for (const event of summary.events.splice(0)) {
      const earlier = event.event === 'orphan' ? this.#strayed : this.#opened;
      this.#report(event, inside.has(event) ? segment : (earlier ?? segment));
    }
    if (summary.omitted > 0) {
      this.#judge.skip(`${segment.file} cuts off more batches than are kept; ${summary.omitted} more are not listed.`);
    }
    summary.omitted = 0;
    if (next.first !== null) {
      this.#opened = segment;
      this.#strayed = summary.orphan === null ? null : segment;
    } else if (summary.orphan !== null) this.#strayed ??= segment;
  }

  /** What follows is not what came before: nothing is known to be open. */
  lose(): void {
    joinBatches(this.#summary, { ...noBatches(), first: 'damage', unknown: true });
    for (const event of this.#summary.events.splice(0)) {
      if (this.#strayed !== null) this.#report(event, this.#strayed);
    }
    this.#opened = null;
    this.#strayed = null;
  }

  finish(): void {
    const { leading, orphan, open } = this.#summary;
    if (leading !== null && this.#led !== null) this.#orphan(this.#led, leading);
    if (orphan !== null && this.#strayed !== null) this.#orphan(this.#strayed, orphan);
    if (open !== null && this.#opened !== null) this.#batch('BatchIncomplete', this.#opened, open);
  }

  /** The run at the start of `next` is longer than the batch that it continues: the surplus continues nothing. */
  #split(segment: SegmentFacts, next: BatchSummary): void {
    const { open } = this.#summary;
    const { leading } = next;
    if (open === null || leading === null) return;
    const missing = open.len - open.held;
    this.#summary.open = null;
    const offset = leading.offset + BigInt(missing);
    const position = this.#positionAfter(segment, leading.position, leading.offset, missing);
    this.append(segment, { ...next, leading: { offset, position, count: leading.count - missing } });
  }

  /** Steps over intact records; the position of the first one when they cannot be read again. */
  #positionAfter(segment: SegmentFacts, position: number, offset: bigint, records: number): number {
    try {
      const source = this.#facts.open(segment.file);
      try {
        const walk = new HeaderWalk(source, position, offset);
        for (let i = 0; i < records; i++) if (!walk.next()) return position;
        return walk.end;
      } finally {
        source.close();
      }
    } catch (failure) {
      this.#judge.readFailed(segment.file, failure, 'the place of a run of continuing records is not exact');
      return position;
    }
  }

  #report(event: BatchEvent, segment: SegmentFacts): void {
    if (event.event === 'abandoned') this.#batch('BatchAbandoned', segment, event.batch);
    else this.#orphan(segment, event.run);
  }

  #batch(kind: 'BatchAbandoned' | 'BatchIncomplete', { file, id }: SegmentFacts, batch: OpenBatch): void {
    const { producer, sequence, len, held, offset, position } = batch;
    const detail = { producer, sequence, len, held, offset };
    this.#judge.report({ kind, severity: 'info', file, segment: id, position, detail });
  }

  #orphan({ file, id }: SegmentFacts, run: { offset: bigint; position: number; count: number }): void {
    const { offset, position, count } = run;
    this.#judge.report({
      kind: 'BatchOrphan',
      severity: 'info',
      file,
      segment: id,
      position,
      detail: { offset, count },
    });
  }
}
