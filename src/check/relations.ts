/**
 * All relations of a shard, in the order in which they are reported.
 */

import type { CoverageRange } from '../domain/report.js';
import { checkBallot } from './ballot.js';
import { checkBatches } from './batches.js';
import { checkCommit } from './commit.js';
import { coverage, objectKeys } from './coverage.js';
import { checkEpochs } from './epochs.js';
import { checkGenerations } from './generations.js';
import type { Judgement } from './judgement.js';
import { checkKeys } from './keys.js';
import type { Subject } from './make-finding.js';
import { checkManifest } from './manifest.js';
import { checkProducers } from './producers.js';
import type { ShardFacts } from './shard-facts.js';
import { checkSidecarDamage } from './sidecar-damage.js';
import { checkTimestamps } from './timestamps.js';

const RELATIONS: readonly ((facts: ShardFacts, subject: Subject) => Judgement)[] = [
  checkSidecarDamage,
  checkCommit,
  checkEpochs,
  checkBallot,
  checkGenerations,
  checkManifest,
  checkProducers,
  checkKeys,
  checkBatches,
  checkTimestamps,
];

export interface Relations extends Judgement {
  /** Where each range of offsets is; null without a manifest. */
  readonly coverage: CoverageRange[] | null;
  /** The key of the object that holds an offset by the manifest. */
  readonly objectFor: (offset: bigint) => string | null;
}

/** What the files of a shard say of each other, and the small ones on their own. */
export function checkRelations(facts: ShardFacts, subject: Subject): Relations {
  const judgements = RELATIONS.map((check) => check(facts, subject));
  return {
    findings: judgements.flatMap(({ findings }) => findings),
    notChecked: [...new Set(judgements.flatMap(({ notChecked }) => notChecked))],
    omitted: judgements.flatMap(({ omitted }) => omitted),
    coverage: coverage(facts),
    objectFor: objectKeys(facts),
  };
}
