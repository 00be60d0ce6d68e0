/**
 * Shows the records of a shard that somebody asks for: finds where to begin, walks, and says which offsets are not there.
 */

import type { RecordSink } from '../domain/record-view.js';
import { U64_MAX } from '../domain/units.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { type Seek, seekOffset, seekPosition } from '../scan/index-seek.js';
import { LongChecksums } from '../scan/long-checksum.js';
import { recordAt } from '../scan/record-at.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { type LogFiles, type LogSegment, openSegment } from './log-files.js';
import { listening } from './record-listener.js';
import { type RecordQuery, RecordWalk, type StartPoint } from './record-walk.js';
import { belowBase, outsideFile, pastTail, readOffloaded } from './whereabouts.js';

export interface DumpQuery extends RecordQuery {
  /** Only the last so many of the records that match. */
  readonly tail: number | null;
}

export interface DumpOutcome {
  records: number;
  damaged: number;
  unreadable: number;
  missing: number;
  /** Sentences about the way there: indexes that did not hold. */
  notes: string[];
}

const FIRST_STEP_BYTES = 64 * 1024;
const STEP_FACTOR = 8;

/** Yields often. `outcome` is kept up to date all along, so that an interrupted dump can tell what it showed. */
export function* dumpLog(
  log: LogFiles,
  asked: DumpQuery,
  sink: RecordSink,
  outcome: DumpOutcome,
): Generator<number, void> {
  const query = { ...asked, useIndex: asked.useIndex && basesAscend(log.segments) };
  showMissingFront(log, query, sink, outcome);
  const { notes } = outcome;
  let start = startFor(log, query.from, query, notes);
  let skip = 0;
  if (query.tail !== null) ({ start, skip } = yield* tailStart(log, query, start, query.tail));
  const walk = new RecordWalk(log, query, sink, skip);
  const before = { ...outcome };
  const count = () => {
    outcome.records = before.records + walk.shown;
    outcome.damaged = before.damaged + walk.damaged;
    outcome.unreadable = before.unreadable + walk.unreadable;
  };
  try {
    yield* walk.run(start);
  } finally {
    count();
  }
  if (!walk.full) showMissingEnd(query, walk.nextOffset, sink, outcome);
}

export function noOutcome(): DumpOutcome {
  return { records: 0, damaged: 0, unreadable: 0, missing: 0, notes: [] };
}

function showMissingFront(log: LogFiles, query: DumpQuery, sink: RecordSink, outcome: DumpOutcome): void {
  const base = log.segments[0]?.header?.baseOffset ?? null;
  const { from, to } = query;
  if (from === null || base === null || from >= base || query.segment !== null) return;
  const range = { from, to: to !== null && to < base ? to : base };
  if (range.to <= range.from) return;
  const rows = log.sole ? [outsideFile(range, base)] : belowBase(range, base, readOffloaded(log));
  for (const row of rows) sink.missing(row);
  outcome.missing += rows.length;
}

function showMissingEnd(query: DumpQuery, tail: bigint | null, sink: RecordSink, outcome: DumpOutcome): void {
  const { from, to, segment } = query;
  if (tail === null || segment !== null) return;
  const isBeyond = (from !== null && from >= tail) || (to !== null && to > tail);
  if (!isBeyond || (to !== null && from !== null && to <= from)) return;
  sink.missing(pastTail(from !== null && from > tail ? from : tail, to, tail));
  outcome.missing++;
}

/** The first place to read from for records from `offset` on; whole batches where that is to be had. */
export function startFor(
  log: LogFiles,
  offset: bigint | null,
  query: Pick<RecordQuery, 'segment' | 'useIndex'>,
  notes: string[],
): StartPoint {
  const { segments } = log;
  const only = query.segment === null ? -1 : segments.findIndex(({ id }) => id === query.segment);
  const first = Math.max(0, only);
  if (offset === null || !query.useIndex || segments.length === 0) return startOfSegment(segments, first);
  const at = only >= 0 ? only : lastBeginningAt(segments, offset);
  const seek = seekIn(segments[at]!, (files) => seekOffset(files, offset), notes);
  return settled(log, { segment: at, ...placeOf(seek, segments[at]!) }, first, notes);
}

/** Where they do not, no segment can be passed over for what another one's header says. */
function basesAscend(segments: readonly LogSegment[]): boolean {
  const bases = segments.flatMap(({ header }) => (header === null ? [] : [header.baseOffset]));
  return bases.every((base, i) => i === 0 || base > bases[i - 1]!);
}

/** The last segment that begins at or under the offset; the first when the bases do not ascend. */
function lastBeginningAt(segments: readonly LogSegment[], offset: bigint): number {
  if (!basesAscend(segments)) return 0;
  return Math.max(
    0,
    segments.findLastIndex(({ header }) => header !== null && header.baseOffset <= offset),
  );
}

function startOfSegment(segments: readonly LogSegment[], at: number): StartPoint {
  return { segment: at, position: SEGMENT_HEADER_LEN, expected: segments[at]?.header?.baseOffset ?? null };
}

/** A batch may have been opened in the segment in front: goes back to where its opening record is met. */
function settled(log: LogFiles, start: StartPoint, first: number, notes: string[]): StartPoint {
  let point = start;
  while (point.segment > first && point.position === SEGMENT_HEADER_LEN) {
    const segment = log.segments[point.segment]!;
    const front = log.segments[point.segment - 1]!;
    if (!beginsInsideBatch(segment) || front.header === null) break;
    const seek = seekIn(front, (files) => seekPosition(files, front.size), notes);
    point = { segment: point.segment - 1, ...placeOf(seek, front) };
  }
  return point;
}

/** Where a seek leads; the first record when the segment could not be looked at. */
export function placeOf(seek: Seek | null, { header }: LogSegment): Omit<StartPoint, 'segment'> {
  return seek ?? { position: SEGMENT_HEADER_LEN, expected: header?.baseOffset ?? null };
}

function beginsInsideBatch(segment: LogSegment): boolean {
  const first = lookIn(segment, ({ source }) =>
    recordAt(new Window(source, FIRST_STEP_BYTES), new LongChecksums(), SEGMENT_HEADER_LEN),
  );
  return first?.kind === 'continues';
}

type SeekFiles = Parameters<typeof seekOffset>[0];

function seekIn(segment: LogSegment, how: (files: SeekFiles) => Seek, notes: string[]): Seek | null {
  const seek = lookIn(segment, how);
  for (const { entry, offset, position, why } of seek?.refused.slice(0, 1) ?? []) {
    const more = seek!.refused.length > 1 ? `, and ${seek!.refused.length - 1} more do not hold` : '';
    notes.push(
      `${segment.index!.file}: entry ${entry} (offset ${offset}, position ${position}) does not hold, ${why}${more}; ` +
        `reading began at position ${seek!.position}`,
    );
  }
  return seek;
}

/** Looks at a segment and its index; null when the segment cannot be read. */
export function lookIn<T>(segment: LogSegment, look: (files: SeekFiles) => T): T | null {
  try {
    const opened = openSegment(segment, true);
    try {
      return look({ ...opened, baseOffset: segment.header?.baseOffset ?? null });
    } finally {
      opened.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return null;
  }
}

/**
 * Where the last `tail` records that match begin: counts from farther and farther in front of the end, so that nothing has
 * to be remembered, and the time is a small multiple of reading what there is to show.
 */
function* tailStart(
  log: LogFiles,
  query: DumpQuery,
  floor: StartPoint,
  tail: number,
): Generator<number, { start: StartPoint; skip: number }> {
  const counting: RecordQuery = { ...query, limit: null, disclosure: 'none', decode: null };
  const end = endOf(log, query);
  for (let back = FIRST_STEP_BYTES; ; back *= STEP_FACTOR) {
    const start = pointBefore(log, query, end, back, floor);
    const walk = new RecordWalk(log, counting, listening({}));
    yield* walk.run(start);
    const isFloor = start.segment === floor.segment && start.position === floor.position;
    if (walk.shown >= tail || isFloor) return { start, skip: Math.max(0, walk.shown - tail) };
  }
}

interface Place {
  readonly segment: number;
  readonly position: number;
}

/** Behind the last record that can match. */
function endOf(log: LogFiles, query: DumpQuery): Place {
  const { segments } = log;
  if (query.to !== null && query.useIndex && query.to <= U64_MAX) return startFor(log, query.to, query, []);
  const only = query.segment === null ? -1 : segments.findIndex(({ id }) => id === query.segment);
  const last = only >= 0 ? only : Math.max(0, segments.length - 1);
  return { segment: last, position: segments[last]?.size ?? 0 };
}

function pointBefore(log: LogFiles, query: DumpQuery, end: Place, back: number, floor: StartPoint): StartPoint {
  const { segments } = log;
  let { segment, position } = end;
  let left = back;
  while (position - SEGMENT_HEADER_LEN < left && segment > floor.segment) {
    left -= Math.max(0, position - SEGMENT_HEADER_LEN);
    segment--;
    position = segments[segment]!.size;
  }
  const wanted = position - left;
  if (segment < floor.segment || (segment === floor.segment && wanted <= floor.position)) return floor;
  if (!query.useIndex) return segment === floor.segment ? floor : startOfSegment(segments, segment);
  const seek = seekIn(segments[segment]!, (files) => seekPosition(files, wanted), []);
  const point = settled(log, { segment, ...placeOf(seek, segments[segment]!) }, floor.segment, []);
  const isInFront = point.segment === floor.segment && point.position <= floor.position;
  return isInFront ? floor : point;
}
