/** What the scan of a range found, made by hand. */

import type { RangeScan } from '../../src/scan/range-scan.js';

/** The answer of a scan from position 32 that met nothing, but for what is given. */
export function rangeScan(found: Partial<RangeScan> = {}): RangeScan {
  return {
    start: 32,
    end: 32,
    nextOffset: null,
    stopped: null,
    records: 0,
    damagedBytes: 0,
    firstOffset: null,
    lastOffset: null,
    firstTimestampMicros: null,
    lastTimestampMicros: null,
    damages: [],
    omitted: new Map(),
    afterMark: null,
    markHolds: false,
    generationStarts: [],
    generationStartsOmitted: 0,
    kindViolations: [],
    kindViolationsOmitted: 0,
    oddities: [],
    batches: { leading: null, first: null, events: [], omitted: 0, open: null, orphan: null, unknown: false },
    entryMismatches: [],
    entryMismatchesOmitted: 0,
    checkedEntries: 0,
    notJudgedEntries: 0,
    bytesRead: 0,
    ...found,
  };
}
