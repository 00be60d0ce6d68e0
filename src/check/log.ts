/**
 * The segments of a shard as one log: the ones that recovery keeps, in order, and how far each was read.
 */

import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** The segments that make the log, by id; what recovery deletes is not among them. */
export function logSegments(facts: ShardFacts): SegmentFacts[] {
  return facts.segments.filter(({ role }) => role === 'sealed' || role === 'newest');
}

/** First offset of a segment; null when it cannot be told. */
export function baseOf({ scan }: SegmentFacts): bigint | null {
  return scan?.head.header?.baseOffset ?? scan?.records?.firstOffset ?? null;
}

/** What the end of a segment leads to expect next; null when it cannot be told. */
export function endOf(segment: SegmentFacts): bigint | null {
  const { scan } = segment;
  if (scan === null) return null;
  return scan.records?.nextOffset ?? scan.resumed?.nextOffset ?? null;
}

/** True when every record of the segment was looked at, whatever was found. */
export function wasReadWhole({ scan }: SegmentFacts): boolean {
  return scan?.records != null && scan.records.stopped === null;
}

/** Names the segments of the log whose records were not all looked at; null when there are none. */
export function unreadWords(facts: ShardFacts): string | null {
  const unread = logSegments(facts).filter((segment) => !wasReadWhole(segment));
  if (unread.length === 0) return null;
  if (unread.length === 1) return `not every record of segment ${unread[0]!.id} was read`;
  return `not every record of ${unread.length} segments was read (${unread[0]!.id} is the first)`;
}

/** The smaller of two offsets. */
export function lower(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}
