import type { Finding } from '../domain/finding.js';
import type { CoverageRange } from '../domain/report.js';
import type { Subject } from './make-finding.js';
import type { ShardFacts } from './shard-facts.js';

export interface Relations {
  readonly findings: Finding[];
  readonly notChecked: string[];
  readonly coverage: CoverageRange[] | null;
  readonly objectFor: (offset: bigint) => string | null;
}

export function checkRelations(_facts: ShardFacts, _subject: Subject): Relations {
  return { findings: [], notChecked: [], coverage: null, objectFor: () => null };
}
