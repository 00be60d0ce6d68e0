/**
 * Timestamps that look wrong: facts, not corruption. One finding a segment and oddity.
 */

import { Judge, type Judgement } from './judgement.js';
import { logSegments, unreadWords } from './log.js';
import type { Subject } from './make-finding.js';
import type { ShardFacts } from './shard-facts.js';

export function checkTimestamps(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const unread = unreadWords(facts);
  if (unread !== null) judge.skip(`Timestamps were judged only where read: ${unread}.`);
  for (const { file, id, scan } of logSegments(facts)) {
    for (const { what, count, offset, position, timestampMicros } of scan?.records?.oddities ?? []) {
      const detail = { what, count, offset, timestampMicros };
      judge.report({ kind: 'TimestampOddity', severity: 'info', file, segment: id, position, detail });
    }
  }
  return judge.judgement;
}
