/**
 * All records of several strands, once each, in the order of their offsets.
 *
 * Every strand that holds an offset is compared there, byte for byte. Equal records count once. Different ones are a fork:
 * each history becomes a run of its own, and stays one until the sources agree again. A source that spoke against another
 * one is not taken for its continuation afterwards. Memory is one window a file that is open, and the list of extents.
 */

import type { Fork, MergedRun, RunSink, SalvagedRecord } from '../domain/salvage.js';
import { lesser, type OffsetRange } from '../domain/units.js';
import { readU32, readU64 } from '../format/bytes.js';
import { RECORD_HEADER_LEN, recordKind } from '../format/record.js';
import type { RecordReader } from '../scan/record-reader.js';
import type { ReaderPool } from './reader-pool.js';
import { extentsOf, type Strand, type StrandExtent } from './strands.js';

export interface MergeOutcome {
  readonly runs: readonly MergedRun[];
  /** Offsets between the first and the last record that no strand holds. */
  readonly gaps: readonly OffsetRange[];
  readonly forks: readonly Fork[];
  readonly records: number;
  readonly bytes: number;
}

/** An extent that holds the offset at hand. */
interface Active extends StrandExtent {
  readonly strand: number;
  position: number;
  end: number;
}

/** A run that goes on. */
interface Lane {
  readonly run: number;
  readonly from: bigint;
  readonly fork: boolean;
  readonly strands: Set<number>;
  next: bigint;
  records: number;
  /** Who held its last record. */
  holders: readonly Active[];
}

const STEP_BYTES = 1 << 20;

/** Hands every record to the sink. Yields the bytes handed over since the last time. Throws `ReadFailure`. */
export function* mergeRecords(
  strands: readonly Strand[],
  pool: ReaderPool,
  sink: RunSink,
): Generator<number, MergeOutcome> {
  return yield* new Merge(strands, pool, sink).run();
}

class Merge {
  readonly #pool: ReaderPool;
  readonly #sink: RunSink;
  readonly #waiting: readonly (StrandExtent & { readonly strand: number })[];
  #next = 0;
  #active: Active[] = [];
  #lanes: Lane[] = [];
  /** Pairs of strands that held different records the last time they held the same offset. */
  readonly #quarrels = new Set<string>();
  readonly #runs: MergedRun[] = [];
  readonly #gaps: OffsetRange[] = [];
  readonly #forks: (Fork & { to: bigint })[] = [];
  readonly #record = new RecordOnItsWay();
  #records = 0;
  #bytes = 0;
  #begun = 0;

  constructor(strands: readonly Strand[], pool: ReaderPool, sink: RunSink) {
    this.#pool = pool;
    this.#sink = sink;
    this.#waiting = strands
      .flatMap((strand, number) => extentsOf(strand).map((own) => ({ ...own, strand: number })))
      .sort((a, b) => (a.extent.from < b.extent.from ? -1 : a.extent.from > b.extent.from ? 1 : a.strand - b.strand));
  }

  *run(): Generator<number, MergeOutcome> {
    let offset = this.#waiting[0]?.extent.from ?? 0n;
    let told = 0;
    for (;;) {
      if (this.#active.length === 0) {
        const next = this.#waiting[this.#next];
        if (next === undefined) break;
        const { from } = next.extent;
        if (from > offset) this.#gaps.push({ from: offset, to: from });
        offset = from;
      }
      this.#activate(offset);
      if (this.#active.length === 1) {
        const [only] = this.#active;
        const end = only!.extent.to;
        const to = lesser(end, this.#waiting[this.#next]?.extent.from ?? end);
        const lane = this.#laneFor([only!], offset, 1);
        for (; offset < to; offset++) {
          this.#hand(lane, only!, offset);
          if (this.#bytes - told >= STEP_BYTES) {
            yield this.#bytes - told;
            told = this.#bytes;
          }
        }
      } else {
        this.#step(offset);
        offset++;
        if (this.#bytes - told >= STEP_BYTES) {
          yield this.#bytes - told;
          told = this.#bytes;
        }
      }
      this.#active = this.#active.filter(({ extent }) => extent.to > offset);
      this.#closeBehind(offset);
    }
    this.#closeBehind(null);
    const runs = this.#runs.sort((a, b) => a.run - b.run);
    return { runs, gaps: this.#gaps, forks: this.#forks, records: this.#records, bytes: this.#bytes };
  }

  #activate(offset: bigint): void {
    for (;;) {
      const next = this.#waiting[this.#next];
      if (next === undefined || next.extent.from !== offset) return;
      this.#next++;
      this.#active.push({ ...next, position: next.extent.start, end: next.extent.start });
    }
  }

  /** One offset that several extents hold. */
  #step(offset: bigint): void {
    const versions: Active[][] = [];
    for (const active of this.#active) {
      active.end = this.#readerOf(active).endOf(active.position, offset);
      const version = versions.find(([first]) => this.#isSame(first!, active));
      if (version === undefined) versions.push([active]);
      else version.push(active);
    }
    if (versions.length > 1 || this.#quarrels.size > 0) this.#remember(versions);
    if (versions.length > 1) this.#forked(versions, offset);
    const lanes = this.#assign(versions, offset);
    for (const [i, version] of versions.entries()) this.#hand(lanes[i]!, version[0]!, offset);
    for (const active of this.#active) active.position = active.end;
  }

  #isSame(a: Active, b: Active): boolean {
    const length = a.end - a.position;
    if (length !== b.end - b.position) return false;
    return this.#readerOf(a).isSame(a.position, this.#readerOf(b), b.position, length);
  }

  #readerOf({ file }: Active): RecordReader {
    return this.#pool.readerOf(file);
  }

  /** Notes who agrees with whom at this offset, and who does not. */
  #remember(versions: readonly (readonly Active[])[]): void {
    versions.forEach((version, i) => {
      for (const a of version) {
        for (const b of version) this.#quarrels.delete(pairOf(a.strand, b.strand));
      }
      for (const other of versions.slice(i + 1)) {
        for (const a of version) {
          for (const b of other) if (a.strand !== b.strand) this.#quarrels.add(pairOf(a.strand, b.strand));
        }
      }
    });
  }

  #forked(versions: readonly (readonly Active[])[], offset: bigint): void {
    const parties = versions.map((version) => [...new Set(version.map(({ strand }) => strand))]);
    const last = this.#forks.at(-1);
    if (last !== undefined && last.to === offset && isSameParties(last.parties, parties)) last.to = offset + 1n;
    else this.#forks.push({ from: offset, to: offset + 1n, parties });
  }

  /** A lane for each version, those that plainly go on first, then those that more sources hold. */
  #assign(versions: readonly (readonly Active[])[], offset: bigint): Lane[] {
    const order = versions
      .map((version, i) => ({ version, i, score: Math.max(0, ...this.#lanes.map((lane) => scoreOf(version, lane))) }))
      .sort((a, b) => b.score - a.score || b.version.length - a.version.length || a.i - b.i);
    const lanes: Lane[] = [];
    for (const { version, i } of order) lanes[i] = this.#laneFor(version, offset, versions.length);
    return lanes;
  }

  /** The run that these records of `offset` go on, or a new one. */
  #laneFor(version: readonly Active[], offset: bigint, versions: number): Lane {
    const due = this.#lanes.filter((lane) => lane.next === offset);
    const open = due.filter((lane) => scoreOf(version, lane) > 0 || !this.#isAgainst(version, lane));
    const best = open.toSorted((a, b) => scoreOf(version, b) - scoreOf(version, a) || a.run - b.run)[0];
    const goesOn = best !== undefined && (scoreOf(version, best) > 0 || this.#lanes.length === 1);
    const lane = goesOn ? best : this.#begin(offset, versions > 1 || due.length > 0);
    lane.holders = version;
    lane.next = offset + 1n;
    for (const { strand } of version) lane.strands.add(strand);
    return lane;
  }

  #isAgainst(version: readonly Active[], lane: Lane): boolean {
    if (this.#quarrels.size === 0) return false;
    return version.some(({ strand }) =>
      lane.holders.some((holder) => this.#quarrels.has(pairOf(strand, holder.strand))),
    );
  }

  /** The first run of an offset is no fork, whatever comes beside it. */
  #begin(from: bigint, contested: boolean): Lane {
    const fork = contested && this.#lanes.some(({ next }) => next >= from);
    const lane: Lane = { run: this.#begun++, from, fork, strands: new Set(), next: from, records: 0, holders: [] };
    this.#lanes.push(lane);
    this.#sink.open({ run: lane.run, from, fork });
    return lane;
  }

  #hand(lane: Lane, active: Active, offset: bigint): void {
    const reader = this.#readerOf(active);
    if (active.end <= active.position) active.end = reader.endOf(active.position, offset);
    this.#record.take(reader, active.position, active.end, offset);
    this.#sink.record(lane.run, this.#record);
    this.#bytes += active.end - active.position;
    this.#records++;
    lane.records++;
    lane.next = offset + 1n;
    if (this.#active.length === 1) active.position = active.end;
  }

  /** Closes the runs that do not have the offset before this one; null closes all. */
  #closeBehind(offset: bigint | null): void {
    if (offset !== null && this.#lanes.every(({ next }) => next === offset)) return;
    const closed = this.#lanes.filter(({ next }) => next !== offset);
    this.#lanes = this.#lanes.filter(({ next }) => next === offset);
    for (const { run, from, fork, next, records, strands } of closed) {
      this.#sink.close(run);
      this.#runs.push({ run, from, to: next, fork, records, strands: [...strands].sort((a, b) => a - b) });
    }
  }
}

function pairOf(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

/** How plainly a record goes on from a run: the same extents before the same strands. */
function scoreOf(version: readonly Active[], lane: Lane): number {
  let score = 0;
  for (const holder of lane.holders) {
    if (version.includes(holder)) score += 1000;
    else if (version.some(({ strand }) => strand === holder.strand)) score++;
  }
  return score;
}

function isSameParties(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): boolean {
  return a.length === b.length && a.every((party, i) => party.join() === b[i]!.join());
}

class RecordOnItsWay implements SalvagedRecord {
  offset = 0n;
  timestampMicros = 0n;
  kind: SalvagedRecord['kind'] = 'plain';
  length = 0;
  #reader: RecordReader | null = null;
  #position = 0;

  take(reader: RecordReader, position: number, end: number, offset: bigint): void {
    const header = reader.view(position, RECORD_HEADER_LEN);
    this.offset = offset;
    this.timestampMicros = readU64(header, 12);
    this.kind = recordKind(readU32(header, 0)) ?? 'plain';
    this.length = end - position;
    this.#reader = reader;
    this.#position = position;
  }

  pieces(): Iterable<Uint8Array> {
    return this.#reader!.pieces(this.#position, this.#position + this.length);
  }
}
