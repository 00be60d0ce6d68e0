/**
 * The rules by which a broker decides what damage it may cut off, as they bear on one segment ("What recovery may
 * repair").
 */

import type { Corruption } from '../domain/finding.js';
import type { BrokerSettings } from '../domain/report.js';
import { RECORD_HEADER_LEN } from '../format/record.js';
import type { Damage } from '../scan/range-scan.js';
import type { SegmentFacts } from './shard-facts.js';

export interface Failure {
  readonly corruption: Corruption;
  readonly position: number;
}

/** True when recovery may truncate the newest segment at `damage`, the first that its scan meets. */
export function isRepairable(damage: Damage, size: number, repairChecksumTail: boolean): boolean {
  switch (damage.corruption.kind) {
    case 'Truncated':
      return true;
    case 'RecordHeaderChecksum':
      return repairChecksumTail && damage.position + RECORD_HEADER_LEN >= size;
    case 'RecordChecksum':
    case 'OffsetOutOfOrder':
      return repairChecksumTail && (damage.claimedEnd ?? 0) >= size;
    case 'RecordTooLarge':
      return repairChecksumTail && (damage.claimedEnd ?? 0) > size;
    default:
      return false;
  }
}

/** What came of a broker's scan of a segment. */
export type Outcome =
  | { readonly is: 'whole'; readonly nextOffset: bigint; readonly records: number }
  | { readonly is: 'cut'; readonly nextOffset: bigint; readonly records: number; readonly damage: Damage }
  | { readonly is: 'fails'; readonly failure: Failure }
  | { readonly is: 'unknown' };

/** A scan from the first record, cutting a repairable tail as the newest segment's scan does. */
export function fullOutcome(segment: SegmentFacts, settings: BrokerSettings, mayCut: boolean): Outcome {
  const { scan } = segment;
  if (scan === null || scan.head.problem !== null) return { is: 'unknown' };
  if (scan.head.header === null) {
    return { is: 'fails', failure: { corruption: scan.head.headerDamage!, position: 0 } };
  }
  if (scan.records === null) return { is: 'unknown' };
  const { baseOffset } = scan.head.header;
  const first = scan.records.damages[0];
  if (first === undefined) {
    if (scan.records.stopped !== null) return { is: 'unknown' };
    return { is: 'whole', nextOffset: scan.records.nextOffset ?? baseOffset, records: scan.records.records };
  }
  if (mayCut && isRepairable(first, segment.size, settings.repairChecksumTail)) {
    const records = first.recordsBefore;
    return { is: 'cut', nextOffset: baseOffset + BigInt(records), records, damage: first };
  }
  return { is: 'fails', failure: first };
}

/** The scan of a sealed segment: from its last index entry where there is one, and never cut. */
export function sealedOutcome(segment: SegmentFacts, settings: BrokerSettings): Outcome {
  const { scan } = segment;
  if (settings.verifyAllOnOpen || scan === null || scan.resumed === null) return fullOutcome(segment, settings, false);
  const { resumed, records } = scan;
  if (resumed.failure !== null) return { is: 'fails', failure: resumed.failure };
  if (resumed.stopped) return { is: 'unknown' };
  return { is: 'whole', nextOffset: resumed.nextOffset, records: records?.records ?? 0 };
}

/**
 * True for a segment that is scanned whole because the newest, right behind it, holds no record: its end decides whether
 * that one stays.
 */
export function isAheadOfEmpty(
  segments: readonly SegmentFacts[],
  segment: SegmentFacts,
  settings: BrokerSettings,
): boolean {
  const newestAt = segments.findLastIndex(({ role }) => role === 'newest');
  if (segments[newestAt - 1] !== segment) return false;
  const outcome = fullOutcome(segments[newestAt]!, settings, true);
  return (outcome.is === 'whole' || outcome.is === 'cut') && outcome.records === 0;
}
