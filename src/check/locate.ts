/**
 * Finds the record with an offset, or the first one at or after a time, and tells how a reader comes to it.
 *
 * An offset is found through the index, every step verified. A time is found by reading from the oldest record on, since
 * nothing says that timestamps ascend; whether they did on the way is told.
 */

import type { HoldingObject, IndexUse, LocatedRecord, Location, LocationState, TimeWalk } from '../domain/location.js';
import type { DamageRow, RecordSink, RecordView } from '../domain/record-view.js';
import { u64From } from '../format/bytes.js';
import type { ManifestEntry } from '../format/manifest.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { seekOffset, seekPosition } from '../scan/index-seek.js';
import { lookIn, placeOf, startFor } from './dump.js';
import { type LogExtent, offsetMessage, offsetNotes, timeMessage, timeNotes } from './location-words.js';
import type { LogFiles } from './log-files.js';
import { listening, locatedRecord } from './record-listener.js';
import { type RecordQuery, RecordWalk, type StartPoint } from './record-walk.js';
import { isHole, objectOf, readOffloaded } from './whereabouts.js';

const EVERYTHING: RecordQuery = {
  from: null,
  to: null,
  sinceMicros: null,
  untilMicros: null,
  kind: null,
  producer: null,
  contains: null,
  segment: null,
  limit: null,
  disclosure: 'none',
  decode: null,
  useIndex: true,
};

/** What a search for an offset has seen. */
interface Seen {
  readonly records: LocatedRecord[];
  before: LocatedRecord | null;
  after: LocatedRecord | null;
  /** Damage that the record may lie in, and what could not be read. */
  damage: DamageRow | null;
  unreadable: DamageRow | null;
}

/** Finds an offset. Yields often. */
export function* locateOffset(log: LogFiles, offset: bigint): Generator<number, Location> {
  const seen = yield* around(log, offset);
  yield* addOverlaps(log, offset, seen);
  const extent = yield* extentOf(log);
  const found = seen.records[0] ?? null;
  const damage = found === null ? (seen.damage ?? seen.unreadable) : null;
  const object = holding(objectOf(extent.offloaded, offset));
  const state = found === null ? stateWithout(offset, seen, extent, object) : 'here';
  return {
    ...common(log, extent),
    asked: { offset },
    state,
    records: seen.records,
    index: found === null ? null : indexUse(log, found),
    before: seen.before,
    after: seen.after,
    damage,
    object,
    time: null,
    message: offsetMessage({ offset, state, found, damage, object }, extent),
    notes: offsetNotes(seen.records, extent),
    exitCode: exitCodeOf(state, damage),
  };
}

/** Finds the first record at or after a time. Yields often. */
export function* locateTime(log: LogFiles, timeMicros: bigint): Generator<number, Location> {
  const search = new TimeSearch(timeMicros);
  yield* walk(log, EVERYTHING, startFor(log, null, EVERYTHING, []), search.sink, () => search.found !== null);
  const { found, damage, unreadable } = search;
  const seen = found === null ? null : yield* around(log, found.offset);
  const extent = yield* extentOf(log);
  const time = search.summary();
  const object = holding(earlierObject(extent, timeMicros));
  const state: LocationState = found !== null ? 'here' : unreadable !== null ? 'unreadable' : 'past-tail';
  return {
    ...common(log, extent),
    asked: { timeMicros },
    state,
    records: found === null ? [] : [found],
    index: found === null ? null : indexUse(log, found),
    before: seen?.before ?? null,
    after: seen?.after ?? null,
    damage: damage ?? unreadable,
    object,
    time,
    message: timeMessage(timeMicros, state, found, time),
    notes: timeNotes(time, damage ?? unreadable, object, extent),
    exitCode: exitCodeOf(state, damage ?? unreadable),
  };
}

function common(log: LogFiles, { baseOffset, tailOffset }: LogExtent) {
  return { path: log.path, name: log.name, shard: log.subject.label, baseOffset, tailOffset };
}

function exitCodeOf(state: LocationState, damage: DamageRow | null): number {
  if (state === 'lost' || (damage !== null && damage.kind !== 'Unreadable')) return 21;
  return damage === null ? 0 : 30;
}

function* walk(
  log: LogFiles,
  query: RecordQuery,
  start: StartPoint,
  sink: RecordSink,
  isDone: () => boolean,
): Generator<number, void> {
  for (const position of new RecordWalk(log, query, sink).run(start)) {
    if (isDone()) return;
    yield position;
  }
}

/** The record with an offset, its neighbours, and the damage that may have taken it. */
function* around(log: LogFiles, offset: bigint): Generator<number, Seen> {
  const seen: Seen = { records: [], before: null, after: null, damage: null, unreadable: null };
  const sink = listening({
    record: (view) => {
      const at = u64From(view.offsetHigh, view.offsetLow);
      if (at === offset) seen.records.push(locatedRecord(view));
      else if (at < offset) seen.before = locatedRecord(view);
      else seen.after ??= locatedRecord(view);
    },
    damage: (row) => {
      if (row.kind === 'Unreadable') seen.unreadable ??= row;
      else if (mayHold(row, offset)) seen.damage ??= row;
    },
  });
  yield* walk(log, EVERYTHING, startFor(log, before(offset), EVERYTHING, []), sink, () => seen.after !== null);
  return seen;
}

function before(offset: bigint): bigint {
  return offset === 0n ? 0n : offset - 1n;
}

/** Damage whose extent in offsets is not known may hold every offset from its own on. */
function mayHold({ lostOffsets, offset }: DamageRow, asked: bigint): boolean {
  if (lostOffsets !== null) return lostOffsets.from <= asked && asked < lostOffsets.to;
  return offset !== null && offset <= asked;
}

/** Segments that reading did not come to may claim the same offset: the one in front of its start, and later ones. */
function* addOverlaps(log: LogFiles, offset: bigint, seen: Seen): Generator<number, void> {
  const { segments } = log;
  const { segment: first } = startFor(log, before(offset), EVERYTHING, []);
  const after = seen.after?.segment;
  const last = after === undefined ? segments.length - 1 : segments.findIndex(({ id }) => id === after);
  for (const [at, { id, header }] of segments.entries()) {
    const wasRead = at >= first && at <= last;
    if (wasRead || at < first - 1 || header === null || header.baseOffset > offset) continue;
    const query = { ...EVERYTHING, from: offset, to: offset + 1n, segment: id };
    const sink = listening({ record: (view) => void seen.records.push(locatedRecord(view)) });
    yield* walk(log, query, startFor(log, offset, query, []), sink, () => false);
  }
}

function* extentOf(log: LogFiles): Generator<number, LogExtent> {
  const at = log.segments.length - 1;
  const newest = log.segments[at];
  const offloaded = readOffloaded(log);
  if (newest === undefined) return { baseOffset: null, tailOffset: null, offloaded, sole: log.sole };
  const seek = lookIn(newest, (files) => seekPosition(files, newest.size));
  const tail = new RecordWalk(log, EVERYTHING, listening({}));
  yield* tail.run({ segment: at, ...placeOf(seek, newest) });
  const baseOffset = log.segments[0]?.header?.baseOffset ?? null;
  return { baseOffset, tailOffset: tail.nextOffset, offloaded, sole: log.sole };
}

function stateWithout(
  offset: bigint,
  { damage, unreadable }: Seen,
  { baseOffset, tailOffset, offloaded, sole }: LogExtent,
  object: HoldingObject | null,
): LocationState {
  if (damage !== null && (damage.lostOffsets !== null || tailOffset === null || offset < tailOffset)) return 'lost';
  if (baseOffset !== null && offset < baseOffset) {
    if (object !== null) return 'offloaded';
    return !sole && isHole(offloaded, offset) ? 'hole' : 'trimmed';
  }
  if (unreadable !== null) return 'unreadable';
  return tailOffset !== null && offset >= tailOffset ? 'past-tail' : 'unknown';
}

function holding(entry: ManifestEntry | null): HoldingObject | null {
  if (entry === null) return null;
  const { key, segmentId, baseOffset, lastOffset } = entry;
  return { key, segmentId, baseOffset, lastOffset };
}

/** An object in front of the local log that may hold a record at or after the time. */
function earlierObject({ baseOffset, offloaded }: LogExtent, timeMicros: bigint): ManifestEntry | null {
  const isEarlier = (entry: ManifestEntry) => baseOffset !== null && entry.baseOffset < baseOffset;
  return offloaded.entries.find((entry) => isEarlier(entry) && entry.newestMicros >= timeMicros) ?? null;
}

/** How a reader that seeks comes to a record. */
function indexUse(log: LogFiles, record: LocatedRecord): IndexUse {
  const segment = log.segments.find(({ id }) => id === record.segment)!;
  const seek = lookIn(segment, (files) => seekOffset(files, record.offset));
  const position = Math.min(record.position, seek?.position ?? SEGMENT_HEADER_LEN);
  return {
    file: segment.index?.file ?? null,
    entry: seek?.entry ?? null,
    refused: seek?.refused ?? [],
    unusable: seek === null ? 'the segment cannot be read' : seek.unusable,
    position,
    steppedOver: record.position - position,
  };
}

/** Looks at every record until one is late enough, without keeping anything of the others. */
class TimeSearch {
  readonly sink: RecordSink;
  readonly #high: number;
  readonly #low: number;
  found: LocatedRecord | null = null;
  /** Met in front of what was found. */
  damage: DamageRow | null = null;
  unreadable: DamageRow | null = null;
  #records = 0;
  #lastHigh = 0;
  #lastLow = 0;
  #latestHigh = 0;
  #latestLow = 0;
  #descent: TimeWalk['descent'] = null;

  constructor(timeMicros: bigint) {
    this.#high = Number(timeMicros >> 32n);
    this.#low = Number(timeMicros & 0xffff_ffffn);
    this.sink = listening({
      record: (view) => this.#record(view),
      damage: (row) => {
        if (this.found !== null) return;
        if (row.kind === 'Unreadable') this.unreadable ??= row;
        else this.damage ??= row;
      },
    });
  }

  #record(view: RecordView): void {
    if (this.found !== null) return;
    const { timestampHigh: high, timestampLow: low } = view;
    if (this.#records > 0 && this.#descent === null && isBelow(high, low, this.#lastHigh, this.#lastLow)) {
      this.#descent = {
        offset: u64From(view.offsetHigh, view.offsetLow),
        timestampMicros: u64From(high, low),
        previousMicros: u64From(this.#lastHigh, this.#lastLow),
      };
    }
    this.#records++;
    this.#lastHigh = high;
    this.#lastLow = low;
    if (isBelow(this.#latestHigh, this.#latestLow, high, low)) {
      this.#latestHigh = high;
      this.#latestLow = low;
    }
    if (!isBelow(high, low, this.#high, this.#low)) this.found = locatedRecord(view);
  }

  summary(): TimeWalk {
    const latestMicros = this.#records === 0 ? null : u64From(this.#latestHigh, this.#latestLow);
    return { records: this.#records, descent: this.#descent, latestMicros };
  }
}

function isBelow(high: number, low: number, otherHigh: number, otherLow: number): boolean {
  return high < otherHigh || (high === otherHigh && low < otherLow);
}
