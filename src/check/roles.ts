/**
 * Which segments recovery keeps, and which it deletes before it looks at the rest (FACTS, steps 2 and 3 of an open).
 */

import type { BrokerSettings } from '../domain/report.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { fullOutcome } from './broker.js';
import type { SegmentFacts, SegmentRole } from './shard-facts.js';

/**
 * Gives each segment its role; `segments` ascend by id. `committed` is the commit offset in `replica`, null without one
 * or when it cannot be read.
 */
export function assignRoles(
  segments: readonly SegmentFacts[],
  settings: BrokerSettings,
  committed: bigint | null,
): SegmentFacts[] {
  const roles = segments.map((): SegmentRole => 'sealed');
  let last = segments.length - 1;
  while (last > 0 && isAbandoned(segments[last]!, segments[last - 1]!, settings)) {
    roles[last] = 'abandoned';
    last--;
  }
  if (last >= 0) roles[last] = 'newest';
  if (segments.length === 1 && isBlankFirst(segments[0]!, committed)) roles[0] = 'blank-first';
  return segments.map((segment, i) => ({ ...segment, role: roles[i]! }));
}

function isAbandoned(newest: SegmentFacts, before: SegmentFacts, settings: BrokerSettings): boolean {
  if (newest.scan === null) return false;
  if (newest.size < SEGMENT_HEADER_LEN) return true;
  const outcome = fullOutcome(newest, settings, true);
  if ((outcome.is !== 'whole' && outcome.is !== 'cut') || outcome.records > 0) return false;
  const previous = fullOutcome(before, settings, true);
  if (previous.is !== 'whole' && previous.is !== 'cut') return false;
  return newest.scan.head.header!.baseOffset !== previous.nextOffset;
}

function isBlankFirst(segment: SegmentFacts, committed: bigint | null): boolean {
  if (segment.id !== 0n || segment.size > SEGMENT_HEADER_LEN || segment.scan === null) return false;
  if ((committed ?? 0n) > 0n) return false;
  const { headerBytes, problem } = segment.scan.head;
  return problem === null && headerBytes.every((byte) => byte === 0);
}
