/**
 * What is lost, over all findings: each offset counted once, however many findings name it.
 */

import type { Finding } from '../domain/finding.js';
import { type OffsetRange, offsetCount } from '../domain/units.js';
import { lostWords } from '../domain/wording.js';

export interface Losses {
  /** Ascending, apart from each other, none empty. */
  readonly ranges: readonly OffsetRange[];
  readonly count: bigint;
  /** Findings of which nobody can tell how many records they cost. */
  readonly unknown: number;
}

export function lossesOf(findings: readonly Finding[]): Losses {
  const named = findings.flatMap(({ lostOffsets }) =>
    lostOffsets !== null && lostOffsets.to > lostOffsets.from ? [lostOffsets] : [],
  );
  const ranges = joinedRanges(named);
  return {
    ranges,
    count: ranges.reduce((sum, range) => sum + offsetCount(range), 0n),
    unknown: findings.filter(({ lostOffsets, message }) => lostOffsets === null && message.includes(UNKNOWN)).length,
  };
}

/** The clause by which a sentence says it. */
const UNKNOWN = lostWords(null);

function joinedRanges(ranges: readonly OffsetRange[]): OffsetRange[] {
  const joined: OffsetRange[] = [];
  for (const range of [...ranges].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = joined.at(-1);
    if (last === undefined || range.from > last.to) joined.push(range);
    else if (range.to > last.to) joined[joined.length - 1] = { from: last.from, to: range.to };
  }
  return joined;
}
