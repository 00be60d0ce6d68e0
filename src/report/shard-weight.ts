/**
 * How bad a shard is, for putting the worst first.
 */

import { SEVERITIES, worstSeverity } from '../domain/finding.js';
import type { ShardReport } from '../domain/report.js';

/** 0 for no finding, up to 4 for fatal; a shard that is refused is never lighter than one that opens. */
export function shardWeight(shard: ShardReport): number {
  const worst = worstSeverity(shard.findings);
  const found = worst === null ? 0 : SEVERITIES.indexOf(worst) + 1;
  return Math.max(found, { refuses: SEVERITIES.length, repairs: 2, opens: 0 }[shard.prediction.verdict]);
}

/** Nothing that an operator has to do or to know now. */
export function isSound(shard: ShardReport): boolean {
  return shard.prediction.verdict === 'opens' && shardWeight(shard) < SEVERITIES.indexOf('warning') + 1;
}

/** Worst first, else in the order given. */
export function worstFirst(shards: readonly ShardReport[]): ShardReport[] {
  return [...shards].sort((a, b) => shardWeight(b) - shardWeight(a));
}
