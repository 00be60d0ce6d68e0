/**
 * The ballot against the accepted generation (format page, "ballot: whom the generation was accepted from").
 */

import { BALLOT_LAYOUT } from '../format/ballot.js';
import { fieldAt } from '../format/layout-places.js';
import { Judge, type Judgement } from './judgement.js';
import type { Subject } from './make-finding.js';
import { isAlone, type ShardFacts } from './shard-facts.js';

export function checkBallot(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const { ballot: sidecar } = facts.sidecars;
  const ballot = judge.contentOf(sidecar, 'it was not held against the accepted generation');
  if (sidecar === null || ballot === null) return judge.judgement;
  const accepted = acceptedIn(facts, judge);
  const { generation, leader } = ballot;
  const { file } = sidecar;
  const position = fieldAt(BALLOT_LAYOUT, 'generation');
  const detail = { ballot: generation, accepted: accepted ?? 0n, leader };
  if (accepted !== undefined && generation < accepted) {
    judge.report({ kind: 'BallotBehind', severity: 'info', file, position, detail });
    return judge.judgement;
  }
  if (accepted !== undefined && generation > accepted) {
    judge.report({ kind: 'BallotAhead', severity: 'info', file, position, detail });
  }
  if (leader === '') {
    judge.report({
      kind: 'GenerationGivenUp',
      severity: 'info',
      file,
      position: fieldAt(BALLOT_LAYOUT, 'leader_len'),
      detail: { generation },
    });
  }
  return judge.judgement;
}

/** An absent `replica` reads as generation 0: nothing accepted. Undefined when it is not known, which has been said. */
function acceptedIn(facts: ShardFacts, judge: Judge): bigint | undefined {
  const { replica } = facts.sidecars;
  if (replica !== null) return judge.contentOf(replica, 'the ballot was not held against it')?.generation;
  if (!isAlone(facts)) return 0n;
  judge.skip('replica was not looked at, so the ballot was not held against the accepted generation.');
  return undefined;
}
