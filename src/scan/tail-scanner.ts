/**
 * A cheap look at segments: header, index, first record, and the records from the last usable index entry to the end.
 *
 * It answers in the shape of a full scan, of which it is a part: damage in the middle of a segment is not met, and counts
 * of records rest on offsets and not on having seen each one. The position from which on every record was verified is
 * `records.start`. Where no index entry helps and the way from the start is too long, there are no records at all.
 */

import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { ByteSource } from '../store/byte-source.js';
import type { KeptEntry } from './index-scan.js';
import type { RangeScan } from './range-scan.js';
import { drive, type Scanner, type SegmentAnswer, type SegmentJob, withSources } from './scanner.js';
import {
  readHead,
  resumedScan,
  resumeEntry,
  type ScanSettings,
  type SegmentHead,
  type SegmentScan,
} from './segment-file.js';
import { scanRange } from './segment-scan.js';

/** The longest tail that is read: twice a segment of the default size. */
const LONGEST_TAIL = 512 * 1024 * 1024;
/** Index entries tried from the end before the start of the segment is. */
const TRIED_ENTRIES = 8;

export class TailScanner implements Scanner {
  readonly #signal: AbortSignal;
  #passed = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async scan(job: SegmentJob): Promise<SegmentAnswer> {
    const goOn = async () => {
      await new Promise(setImmediate);
      return !this.#signal.aborted;
    };
    if (!(await goOn())) return { is: 'interrupted' };
    return withSources<SegmentAnswer>(job, async (source, index) => {
      const scan = await drive(scanTail(source, index, job.settings), goOn);
      this.#passed += scan?.records?.bytesRead ?? 0;
      return scan === null ? { is: 'interrupted' } : { is: 'scanned', scan };
    });
  }

  passedBytes(): number {
    return this.#passed;
  }

  async close(): Promise<void> {}
}

/** Looks at a segment from its last usable index entry on. Never throws for what the bytes say. */
function* scanTail(
  source: ByteSource,
  index: ByteSource | null,
  settings: ScanSettings,
): Generator<number, SegmentScan> {
  const head = readHead(source, index);
  const none: SegmentScan = { head, size: source.size, records: null, resumed: null };
  if (head.problem !== null || head.headerDamage?.kind === 'SegmentVersion') return none;
  if (source.size < SEGMENT_HEADER_LEN) return none;
  const entry = yield* lastUsableEntry(source, head, settings);
  const start = entry === null ? SEGMENT_HEADER_LEN : Number(entry.position);
  if (source.size - start > LONGEST_TAIL) return none;
  const records = yield* scanRange(source, index, {
    ...common(head, settings),
    mark: markOf(head),
    start,
    until: Number.POSITIVE_INFINITY,
    expected: entry?.offset ?? head.header?.baseOffset ?? null,
    firstEntry: head.indexUsable ? (entry?.entry ?? 0) : null,
  });
  if (entry !== null) yield* joinFirst(source, head, settings, entry, records);
  const resumed = yield* resumedScan(source, head, records, settings);
  return { head, size: source.size, records, resumed };
}

/** The entry that a broker begins at. */
function markOf(head: SegmentHead): { position: number; offset: bigint } | null {
  const entry = resumeEntry(head);
  return entry && { position: Number(entry.position), offset: entry.offset };
}

function common(head: SegmentHead, settings: ScanSettings) {
  return {
    version: head.header?.version ?? 4,
    mark: null,
    nowMicros: settings.nowMicros,
    ...(settings.windowBytes === undefined ? {} : { windowBytes: settings.windowBytes }),
  };
}

/** The last entry at which an intact record with its offset begins; null when none of the last ones is such. */
function* lastUsableEntry(
  source: ByteSource,
  head: SegmentHead,
  settings: ScanSettings,
): Generator<number, KeptEntry | null> {
  if (!head.indexUsable || head.index === null || head.index.lastKept === null) return null;
  const { lastKept, marks } = head.index;
  const tried = [lastKept, ...marks.toReversed().filter(({ entry }) => entry !== lastKept.entry)];
  for (const entry of tried.slice(0, TRIED_ENTRIES)) {
    const start = Number(entry.position);
    if (start <= SEGMENT_HEADER_LEN) continue;
    const request = { start, until: start + 1, expected: entry.offset, firstEntry: null, stopAtDamage: true };
    const probe = yield* scanRange(source, null, { ...common(head, settings), ...request });
    if (probe.records === 1 && probe.damages.length === 0) return entry;
  }
  return null;
}

/** Adds what the first record says, and what the offsets in front of the tail count, to the scan of the tail. */
function* joinFirst(
  source: ByteSource,
  head: SegmentHead,
  settings: ScanSettings,
  entry: KeptEntry,
  records: RangeScan,
): Generator<number, void> {
  const base = head.header!.baseOffset;
  const request = { start: SEGMENT_HEADER_LEN, until: SEGMENT_HEADER_LEN + 1, expected: base, firstEntry: null };
  const first = yield* scanRange(source, null, { ...common(head, settings), ...request });
  const before = Number(entry.offset - base);
  records.records += before;
  for (const [at, damage] of records.damages.entries()) {
    records.damages[at] = { ...damage, recordsBefore: damage.recordsBefore + before };
  }
  records.damages.unshift(...first.damages);
  const sound = first.damages.length === 0;
  records.firstOffset = sound ? first.firstOffset : null;
  records.firstTimestampMicros = sound ? first.firstTimestampMicros : null;
}
