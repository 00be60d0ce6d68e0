/**
 * What a heal came to, as a planner is told: the new content of segments, and what became of each damaged range.
 */

import type { ContentPart, FileState } from './plan.js';
import type { IndexImage } from './plan-facts.js';
import type { ByteRange, OffsetRange } from './units.js';

/** A segment that gets other content. */
export interface HealedSegment {
  readonly id: bigint;
  readonly file: string;
  readonly state: FileState;
  readonly content: readonly ContentPart[];
  /** Bytes of the file as it is that go or change. */
  readonly ranges: readonly ByteRange[];
  /** Half a sentence. */
  readonly why: string;
  /** Null when the index that is there stays right. */
  readonly index: IndexImage | null;
}

export interface HealedRange {
  /** Offsets that come back; null when only bytes go, or a header is made anew. */
  readonly offsets: OffsetRange | null;
  readonly file: string;
  /** Byte of the damage in the file as it is; null for a file that is not there. */
  readonly position: number | null;
  readonly healed: boolean;
  /** From where, or why not: a sentence without its full stop. */
  readonly why: string;
  /** A command that could help where this one cannot. */
  readonly instead: string | null;
}

export interface HealFacts {
  readonly segments: readonly HealedSegment[];
  readonly ranges: readonly HealedRange[];
  /** What the reader should know beside it, a sentence each. */
  readonly notes: readonly string[];
}
