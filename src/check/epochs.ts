/**
 * `epochs` on its own, and against the log and `replica` (format page, "epochs: the generation history").
 *
 * A generation that the log starts and `epochs` does not name is no contradiction when it may be older than what is kept
 * or newer than what was recorded; between two that are named, or out of their order, it is.
 */

import { EPOCHS_LAYOUT, type EpochEntry } from '../format/epochs.js';
import { fixedLength } from '../format/layout.js';
import { fieldAt, groupLength } from '../format/layout-places.js';
import { REPLICA_LAYOUT } from '../format/replica.js';
import { Judge, type Judgement } from './judgement.js';
import { logSegments, unreadWords } from './log.js';
import type { Subject } from './make-finding.js';
import type { ShardFacts } from './shard-facts.js';

/** FACTS, "Versions": newest kept. */
const MAX_EPOCHS = 512;
const ENTRIES_AT = fixedLength(EPOCHS_LAYOUT);
const ENTRY_LENGTH = groupLength(EPOCHS_LAYOUT, 'entries');
const START_AT = fieldAt(EPOCHS_LAYOUT, 'start_offset');

export function checkEpochs(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const file = facts.sidecars.epochs?.file ?? 'epochs';
  const entries = judge.contentOf(facts.sidecars.epochs, 'its generations were not held against the log')?.entries;
  if (entries === undefined) return judge.judgement;
  if (entries.length > MAX_EPOCHS) {
    judge.report({
      kind: 'EpochCount',
      severity: 'warning',
      file,
      position: fieldAt(EPOCHS_LAYOUT, 'count'),
      detail: { count: entries.length, limit: MAX_EPOCHS },
    });
  }
  const ordered = checkOrder(judge, file, entries);
  checkTail(judge, file, entries, facts.tail);
  checkGenerationStarts(judge, file, entries, ordered, facts);
  checkAccepted(judge, entries, facts);
  return judge.judgement;
}

function positionOf(entry: number): number {
  return ENTRIES_AT + entry * ENTRY_LENGTH;
}

/** Each entry against the one before; true when all are in order. */
function checkOrder(judge: Judge, file: string, entries: readonly EpochEntry[]): boolean {
  let ordered = true;
  entries.forEach(({ generation, startOffset }, entry) => {
    const before = entries[entry - 1];
    if (before === undefined) return;
    const descends = generation <= before.generation;
    const falls = startOffset < before.startOffset;
    if (!descends && !falls) return;
    ordered = false;
    const why = [
      descends ? `its generation is not above ${before.generation}, that of the entry before` : null,
      falls ? `its start is under ${before.startOffset}, that of the entry before` : null,
    ];
    judge.report({
      kind: 'EpochOrder',
      severity: 'error',
      file,
      position: positionOf(entry) + (descends ? 0 : START_AT),
      detail: { entry, generation, start: startOffset, why: why.filter((part) => part !== null).join(', and ') },
    });
  });
  return ordered;
}

function checkTail(judge: Judge, file: string, entries: readonly EpochEntry[], tail: bigint | null): void {
  if (tail === null) {
    judge.skip('The end of the log is not known, so the starts in epochs were not held against it.');
    return;
  }
  entries.forEach(({ generation, startOffset }, entry) => {
    if (startOffset <= tail) return;
    judge.report({
      kind: 'EpochBeyondTail',
      severity: 'error',
      file,
      position: positionOf(entry) + START_AT,
      detail: { generation, start: startOffset, tail },
    });
  });
}

function checkGenerationStarts(
  judge: Judge,
  file: string,
  entries: readonly EpochEntry[],
  ordered: boolean,
  facts: ShardFacts,
): void {
  const unread = unreadWords(facts);
  if (unread !== null) judge.skip(`Generation starts that were not read were not held against epochs: ${unread}.`);
  const byGeneration = new Map<bigint, number[]>();
  entries.forEach(({ generation }, entry) => {
    byGeneration.set(generation, [...(byGeneration.get(generation) ?? []), entry]);
  });
  for (const segment of logSegments(facts)) {
    for (const { generation, offset } of segment.scan?.records?.generationStarts ?? []) {
      if (generation === null) continue;
      const named = byGeneration.get(generation);
      if (named === undefined ? !ordered || mayBeAbsent(entries, generation, offset) : agrees(entries, named, offset)) {
        continue;
      }
      const entry = named?.[0];
      judge.report({
        kind: 'EpochGenerationStart',
        severity: 'error',
        file,
        ...(entry === undefined ? {} : { position: positionOf(entry) + START_AT }),
        detail: {
          generation,
          recordOffset: offset,
          epochStart: entry === undefined ? null : entries[entry]!.startOffset,
        },
      });
    }
  }
}

function agrees(entries: readonly EpochEntry[], named: readonly number[], offset: bigint): boolean {
  return named.some((entry) => entries[entry]!.startOffset === offset);
}

/** For entries in order: older than all of them and in front, or newer than all and behind. */
function mayBeAbsent(entries: readonly EpochEntry[], generation: bigint, offset: bigint): boolean {
  const oldest = entries[0];
  const newest = entries.at(-1);
  if (oldest === undefined || newest === undefined) return true;
  if (generation < oldest.generation) return offset < oldest.startOffset;
  return generation > newest.generation && offset >= newest.startOffset;
}

/** The accepted generation: that of `replica`, or of a ballot ahead of it, which an open takes over. */
function checkAccepted(judge: Judge, entries: readonly EpochEntry[], facts: ShardFacts): void {
  const { replica, ballot } = facts.sidecars;
  const accepted = judge.contentOf(replica, 'the generations in epochs were not held against it')?.generation;
  if (replica === null || accepted === undefined) return;
  const balloted = ballot === null ? 0n : ballot.reading?.value?.generation;
  if (ballot !== null && balloted === undefined) {
    judge.skip(`${ballot.file} cannot be used, so epochs was held against the generation in replica alone.`);
  }
  let newest = 0n;
  for (const { generation } of entries) if (generation > newest) newest = generation;
  if (newest <= accepted || newest <= (balloted ?? 0n)) return;
  judge.report({
    kind: 'ReplicaBehindEpochs',
    severity: 'error',
    file: replica.file,
    position: fieldAt(REPLICA_LAYOUT, 'generation'),
    detail: { accepted, newest },
  });
}
