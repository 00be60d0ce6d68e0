import type { EvidenceOf } from './segments.js';
import type { ShardFacts } from './shard-facts.js';

export function evidenceReader(_facts: ShardFacts): EvidenceOf {
  return () => ({ looksLike: null, bitFlip: null });
}
