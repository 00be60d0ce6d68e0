/**
 * The commit offset against the end of the log (format page, "replica: the accepted generation and the commit offset").
 */

import { fieldAt } from '../format/layout-places.js';
import { REPLICA_LAYOUT } from '../format/replica.js';
import { Judge, type Judgement } from './judgement.js';
import type { Subject } from './make-finding.js';
import type { ShardFacts } from './shard-facts.js';

export function checkCommit(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const { tail } = facts;
  const { replica } = facts.sidecars;
  const commit = judge.contentOf(replica, 'no commit offset was held against the log')?.commit;
  if (replica === null || commit === undefined) return judge.judgement;
  if (tail === null) {
    judge.skip('The end of the log is not known, so the commit offset in replica was not held against it.');
  } else if (commit > tail) {
    judge.report({
      kind: 'CommitBeyondTail',
      severity: 'error',
      file: replica.file,
      position: fieldAt(REPLICA_LAYOUT, 'commit'),
      detail: { commit, tail, missing: commit - tail },
      lostOffsets: { from: tail, to: commit },
    });
  }
  return judge.judgement;
}
