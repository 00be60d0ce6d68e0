/**
 * One segment file and the index beside it, looked at on their own: header, index as it loads, and every record.
 *
 * A whole scan is the work of {@link scanSegmentFile}; the pool takes the same steps apart ({@link readHead},
 * {@link rangesOf}) to let several threads share one file.
 */

import type { Corruption } from '../domain/finding.js';
import { decodeSegmentHeader, SEGMENT_HEADER_LEN, type SegmentHeader } from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { type IndexScan, type KeptEntry, scanIndex } from './index-scan.js';
import type { RangeScan } from './range-scan.js';
import { type RangeRequest, scanRange } from './segment-scan.js';
import { Window } from './window.js';

export interface ReadProblem {
  readonly code: string;
  readonly message: string;
  readonly position: number;
}

export interface SegmentHead {
  readonly header: SegmentHeader | null;
  readonly headerDamage: Corruption | null;
  /** The first 32 bytes or fewer, as they are. */
  readonly headerBytes: Uint8Array;
  readonly problem: ReadProblem | null;
  /** Null when there is no index, or it could not be read. */
  readonly index: IndexScan | null;
  readonly indexProblem: ReadProblem | null;
  /** The index as a broker would load it: header sound and of this segment. */
  readonly indexUsable: boolean;
}

export interface SegmentScan {
  readonly head: SegmentHead;
  readonly size: number;
  /** Null when the records were not looked at: the header cannot be read, or names a version of another build. */
  readonly records: RangeScan | null;
  /** A broker's own scan from the last entry of the index; null when it begins at the first record. */
  readonly resumed: ResumedScan | null;
}

/** What a broker meets that believes the last index entry and scans from there. */
export interface ResumedScan {
  readonly position: number;
  /** Of the whole segment when its scan was at hand; else as far as the broker comes. */
  readonly nextOffset: bigint;
  readonly failure: { readonly corruption: Corruption; readonly position: number } | null;
  /** Set when a read failed before the end. */
  readonly stopped: boolean;
}

export interface ScanSettings {
  readonly nowMicros: bigint;
  readonly windowBytes?: number;
  /** Only what a broker looks at on opening: from the last index entry on. */
  readonly quick?: boolean;
}

export function readHead(source: ByteSource, index: ByteSource | null): SegmentHead {
  const { bytes, problem } = firstBytes(source);
  const decoded = problem === null ? decodeSegmentHeader(bytes) : null;
  const header = decoded?.ok ? decoded.value : null;
  const loaded = index === null ? { scan: null, problem: null } : loadIndex(index);
  return {
    header,
    headerDamage: decoded !== null && !decoded.ok ? decoded.error : null,
    headerBytes: bytes,
    problem,
    index: loaded.scan,
    indexProblem: loaded.problem,
    indexUsable: header !== null && loaded.scan?.header != null && loaded.scan.header.baseOffset === header.baseOffset,
  };
}

function firstBytes(source: ByteSource): { bytes: Uint8Array; problem: ReadProblem | null } {
  const length = Math.min(SEGMENT_HEADER_LEN, source.size);
  try {
    return { bytes: new Uint8Array(new Window(source, 64).view(0, length)), problem: null };
  } catch (failure) {
    return { bytes: new Uint8Array(), problem: problemOf(failure) };
  }
}

function loadIndex(index: ByteSource): { scan: IndexScan | null; problem: ReadProblem | null } {
  try {
    return { scan: scanIndex(index), problem: null };
  } catch (failure) {
    return { scan: null, problem: problemOf(failure) };
  }
}

function problemOf(failure: unknown): ReadProblem {
  if (!(failure instanceof ReadFailure)) throw failure;
  return { code: failure.code, message: failure.message, position: failure.position };
}

/** The last entry that a broker would begin its scan of a sealed segment at. */
export function resumeEntry(head: SegmentHead): KeptEntry | null {
  return head.indexUsable ? (head.index?.lastKept ?? null) : null;
}

/** Ranges that together cover the records, at most `pieces` of them, split at entries of the index. */
export function rangesOf(head: SegmentHead, size: number, pieces: number, settings: ScanSettings): RangeRequest[] {
  if (head.problem !== null || head.headerDamage?.kind === 'SegmentVersion' || size < SEGMENT_HEADER_LEN) return [];
  const mark = resumeEntry(head);
  const shared = {
    version: head.header?.version ?? 4,
    mark: mark === null || mark.position > size ? null : { position: Number(mark.position), offset: mark.offset },
    nowMicros: settings.nowMicros,
    ...(settings.windowBytes === undefined ? {} : { windowBytes: settings.windowBytes }),
  };
  const splits = head.indexUsable ? splitsOf(head.index!.marks, size, pieces) : [];
  const starts: { start: number; expected: bigint | null; firstEntry: number | null }[] = [
    {
      start: SEGMENT_HEADER_LEN,
      expected: head.header?.baseOffset ?? null,
      firstEntry: head.indexUsable ? 0 : null,
    },
    ...splits.map((entry) => ({ start: Number(entry.position), expected: entry.offset, firstEntry: entry.entry })),
  ];
  return starts.map((range, i) => ({ ...shared, ...range, until: starts[i + 1]?.start ?? Number.POSITIVE_INFINITY }));
}

function splitsOf(marks: readonly KeptEntry[], size: number, pieces: number): KeptEntry[] {
  const splits: KeptEntry[] = [];
  let next = size / pieces;
  for (const mark of marks) {
    const position = Number(mark.position);
    if (position < next || position >= size) continue;
    splits.push(mark);
    next = (size / pieces) * (splits.length + 1);
  }
  return splits;
}

/** The broker's scan from the last index entry, when it does not follow from the full scan. */
export function* resumedScan(
  source: ByteSource,
  head: SegmentHead,
  records: RangeScan | null,
  settings: ScanSettings,
): Generator<number, ResumedScan | null> {
  const entry = resumeEntry(head);
  if (entry === null) return null;
  const position = Number(entry.position);
  if (entry.position > BigInt(source.size)) {
    const corruption = { kind: 'Truncated', needed: source.size, available: position } as const;
    return { position, nextOffset: entry.offset, failure: { corruption, position }, stopped: false };
  }
  if (records?.markHolds && records.nextOffset !== null) {
    return {
      position,
      nextOffset: records.nextOffset,
      failure: records.afterMark,
      stopped: records.stopped !== null,
    };
  }
  const scan = yield* scanRange(source, null, {
    start: position,
    until: Number.POSITIVE_INFINITY,
    expected: entry.offset,
    version: head.header!.version,
    mark: null,
    firstEntry: null,
    nowMicros: settings.nowMicros,
    stopAtDamage: true,
    windowBytes: settings.windowBytes ?? 64 * 1024,
  });
  const failure = scan.damages[0] ?? null;
  const reached = failure === null ? scan.nextOffset : entry.offset + BigInt(failure.recordsBefore);
  return { position, nextOffset: reached ?? entry.offset, failure, stopped: scan.stopped !== null };
}

/** Looks at a whole segment on the calling thread. */
export function* scanSegmentFile(
  source: ByteSource,
  index: ByteSource | null,
  settings: ScanSettings,
): Generator<number, SegmentScan> {
  const head = readHead(source, index);
  const [range] = rangesOf(head, source.size, 1, settings);
  if (settings.quick === true) {
    const resumed = yield* resumedScan(source, head, null, settings);
    // Where a broker would fail, the whole segment tells whether the records or the index are to blame, or the disk.
    if (resumed?.failure === null && !resumed.stopped) return { head, size: source.size, records: null, resumed };
  }
  const records = range === undefined ? null : yield* scanRange(source, index, range);
  const resumed = yield* resumedScan(source, head, records, settings);
  return { head, size: source.size, records, resumed };
}
