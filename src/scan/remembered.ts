/**
 * Between the scan of a clean segment and what is remembered of it from one run to the next.
 *
 * A recalled segment costs its header and its index; both are read anew, and the header must be what it was. Whether the
 * files are still the same ones is for the caller to know.
 */

import type { RememberedRecords, RememberedSegment } from '../domain/checkpoint.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import type { BatchSummary } from './batches.js';
import type { RangeScan } from './range-scan.js';
import { type SegmentJob, withSources } from './scanner.js';
import { readHead, resumedScan, resumeEntry, type SegmentHead, type SegmentScan } from './segment-file.js';

/** A segment with more generation starts or batch events than this is read anew each time. */
const KEPT_OF_EACH = 200;

/** What to remember of a segment; null unless all of it and of its index is as a writer leaves it. */
export function rememberable({ head, size, records, resumed }: SegmentScan): RememberedRecords | null {
  if (records === null || !isCleanHead(head) || !isClean(records, size)) return null;
  if (resumeEntry(head) !== null && (!records.markHolds || resumed === null || resumed.failure !== null)) return null;
  const zeros = records.oddities[0] ?? null;
  const { leading, first, events, open, orphan } = records.batches;
  return {
    records: records.records,
    nextOffset: records.nextOffset,
    firstOffset: records.firstOffset,
    lastOffset: records.lastOffset,
    firstTimestampMicros: records.firstTimestampMicros,
    lastTimestampMicros: records.lastTimestampMicros,
    markHolds: records.markHolds,
    checkedEntries: records.checkedEntries,
    generationStarts: records.generationStarts,
    zeroTimestamps: zeros && { offset: zeros.offset, position: zeros.position, count: zeros.count },
    batches: { leading, first: first === null ? null : 'record', events, open, orphan },
  };
}

function isCleanHead({ header, problem, index, indexProblem, indexUsable }: SegmentHead): boolean {
  if (header === null || header.reserved !== 0 || problem !== null || indexProblem !== null) return false;
  if (index === null) return true;
  return indexUsable && index.dropped.length === 0 && index.droppedOmitted === 0 && index.tornBytes === 0;
}

function isClean(records: RangeScan, size: number): boolean {
  const { batches } = records;
  return (
    records.stopped === null &&
    records.end === size &&
    records.damages.length + records.omitted.size + records.damagedBytes === 0 &&
    records.kindViolations.length + records.kindViolationsOmitted === 0 &&
    records.entryMismatches.length + records.entryMismatchesOmitted + records.notJudgedEntries === 0 &&
    records.generationStarts.length <= KEPT_OF_EACH &&
    records.generationStartsOmitted === 0 &&
    records.oddities.every(({ what }) => what === 'zero') &&
    batches.events.length <= KEPT_OF_EACH &&
    batches.omitted === 0 &&
    !batches.unknown &&
    batches.first !== 'damage'
  );
}

/** The first bytes of a segment as they are remembered. */
export function headerText({ headerBytes }: SegmentHead): string {
  return Buffer.from(headerBytes).toString('hex');
}

/** The scan that a whole look at an unchanged segment would give; null when it must be read after all. */
export async function recalledScan(job: SegmentJob, remembered: RememberedSegment): Promise<SegmentScan | null> {
  const answer = await withSources(job, async (source, index) => {
    const head = readHead(source, index);
    if (!isCleanHead(head) || headerText(head) !== remembered.header) return null;
    return scanOf(source, head, remembered.records, job);
  });
  return answer === null || 'is' in answer ? null : answer;
}

function scanOf(
  source: ByteSource,
  head: SegmentHead,
  remembered: RememberedRecords,
  { settings }: SegmentJob,
): SegmentScan | null {
  if (resumeEntry(head) !== null && !remembered.markHolds) return null;
  const records = rangeScanOf(remembered, source.size);
  const resumed = resumedScan(new NothingToRead(source.size), head, records, settings).next();
  return resumed.done ? { head, size: source.size, records, resumed: resumed.value } : null;
}

/** A clean segment's resumed scan follows from the records alone. */
class NothingToRead implements ByteSource {
  readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  readAt(_target: Uint8Array, position: number): number {
    throw new ReadFailure('EUNKNOWN', position, 'a remembered segment is not read');
  }
}

function rangeScanOf(remembered: RememberedRecords, size: number): RangeScan {
  const { zeroTimestamps: zeros } = remembered;
  return {
    start: SEGMENT_HEADER_LEN,
    end: size,
    nextOffset: remembered.nextOffset,
    stopped: null,
    records: remembered.records,
    damagedBytes: 0,
    firstOffset: remembered.firstOffset,
    lastOffset: remembered.lastOffset,
    firstTimestampMicros: remembered.firstTimestampMicros,
    lastTimestampMicros: remembered.lastTimestampMicros,
    damages: [],
    omitted: new Map(),
    afterMark: null,
    markHolds: remembered.markHolds,
    generationStarts: [...remembered.generationStarts],
    generationStartsOmitted: 0,
    kindViolations: [],
    kindViolationsOmitted: 0,
    oddities: zeros === null ? [] : [{ what: 'zero', ...zeros, timestampMicros: 0n }],
    batches: batchesOf(remembered.batches),
    entryMismatches: [],
    entryMismatchesOmitted: 0,
    checkedEntries: remembered.checkedEntries,
    notJudgedEntries: 0,
    bytesRead: 0,
  };
}

/** Copies, because joining summaries changes them. */
function batchesOf({ leading, first, events, open, orphan }: RememberedRecords['batches']): BatchSummary {
  return {
    leading: leading && { ...leading },
    first,
    events: events.map((event) =>
      event.event === 'orphan'
        ? { event: 'orphan', run: { ...event.run }, order: event.order }
        : { event: 'abandoned', batch: { ...event.batch }, order: event.order },
    ),
    omitted: 0,
    open: open && { ...open },
    orphan: orphan && { ...orphan },
    unknown: false,
  };
}
