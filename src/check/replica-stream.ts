/**
 * The intact records of one replica, one offset after the other, whatever its segment boundaries are.
 *
 * Every record is verified on the way, and of each no more is kept than its header: two records with the same headers and
 * checksums are taken for the same record. Damage is noted and passed. A record whose offset does not ascend is passed
 * over, and counted. One window of headers is held at a time.
 */

import type { ReplicaDamage } from '../domain/replica-diff.js';
import { u64From } from '../format/bytes.js';
import { RECORD_HEADER_LEN } from '../format/record.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage, RangeScan } from '../scan/range-scan.js';
import { type RecordConsumer, type StreamedRecord, streamRecords } from '../scan/record-stream.js';
import { ReadFailure } from '../store/byte-source.js';
import { type LogFiles, type LogSegment, type OpenSegment, openSegment } from './log-files.js';
import type { RecordCursor } from './replica-merge.js';

/** Words of a record's header. */
const HEADER_WORDS = RECORD_HEADER_LEN / 4;
const KEPT_DAMAGE = 1000;

export class ReplicaStream implements RecordConsumer, RecordCursor {
  readonly log: LogFiles;
  readonly damageFound: ReplicaDamage[] = [];
  damageCount = 0;
  unreadable = false;
  /** Records whose offset was not above the one before. */
  passedOver = 0;
  /** The record at hand, until the next call of {@link next}. */
  offsetHigh = 0;
  offsetLow = 0;
  position = 0;
  recordBytes = 0;
  /** False before the first record and behind the last. */
  current = false;
  begun = false;
  ended = false;
  records = 0;
  base: bigint | null;
  #words = new Int32Array(4096 * HEADER_WORDS);
  #places = new Float64Array(4096 * 2);
  #filled = 0;
  #at = -1;
  #nextSegment = 0;
  #segment: LogSegment | null = null;
  #open: OpenSegment | null = null;
  #scan: Generator<number, RangeScan> | null = null;

  constructor(log: LogFiles) {
    this.log = log;
    this.base = log.segments[0]?.header?.baseOffset ?? null;
  }

  get offset(): bigint {
    return u64From(this.offsetHigh, this.offsetLow);
  }

  /** The name of the file that holds the record at hand. */
  get file(): string {
    return this.#segment!.file;
  }

  /** One past the last record seen; where the log would begin while there was none. */
  get tail(): bigint | null {
    return this.begun ? this.offset + 1n : (this.log.segments.at(-1)?.header?.baseOffset ?? null);
  }

  /** A header word of the record at hand, 0 to 6, signed. */
  word(index: number): number {
    return this.#words[this.#at * HEADER_WORDS + index]!;
  }

  /** Goes to the next record; false behind the last one. */
  next(): boolean {
    while (!this.ended) {
      if (this.#at + 1 < this.#filled) {
        this.#at++;
        if (this.#take()) return true;
      } else if (!this.#fill()) {
        this.current = false;
        this.ended = true;
      }
    }
    return false;
  }

  #take(): boolean {
    const high = this.word(1) >>> 0;
    const low = this.word(2) >>> 0;
    if (this.begun && (high < this.offsetHigh || (high === this.offsetHigh && low <= this.offsetLow))) {
      this.passedOver++;
      return false;
    }
    this.offsetHigh = high;
    this.offsetLow = low;
    this.position = this.#places[this.#at * 2]!;
    this.recordBytes = this.#places[this.#at * 2 + 1]!;
    if (!this.begun) this.base ??= this.offset;
    this.begun = true;
    this.current = true;
    this.records++;
    return true;
  }

  /** Reads on until there are records to take; false at the end of the log. */
  #fill(): boolean {
    this.#filled = 0;
    this.#at = -1;
    while (this.#filled === 0) {
      if (this.#scan === null && !this.#begin()) return false;
      try {
        const step = this.#scan!.next();
        if (!step.done) continue;
        const { stopped, end } = step.value;
        if (stopped !== null) this.#unreadable(end);
      } catch (failure) {
        if (!(failure instanceof ReadFailure)) throw failure;
        this.#unreadable(failure.position);
      }
      this.close();
    }
    return true;
  }

  /** Opens the next segment whose records can be read; false when there is none. */
  #begin(): boolean {
    for (let segment = this.log.segments[this.#nextSegment]; segment; segment = this.log.segments[this.#nextSegment]) {
      this.#nextSegment++;
      this.#segment = segment;
      const { headerDamage, problem, header, size } = segment;
      if (problem !== null) this.#unreadable(problem.position);
      else if (headerDamage !== null)
        this.#note({ kind: headerDamage.kind, file: segment.file, position: 0, lost: null });
      const isOther = headerDamage?.kind === 'SegmentVersion' || size < SEGMENT_HEADER_LEN;
      if (problem !== null || isOther) continue;
      try {
        this.#open = openSegment(segment, false);
      } catch (failure) {
        if (!(failure instanceof ReadFailure)) throw failure;
        this.#unreadable(failure.position);
        continue;
      }
      const request = {
        start: SEGMENT_HEADER_LEN,
        expected: header?.baseOffset ?? null,
        version: header?.version ?? 4,
      };
      this.#scan = streamRecords(this.#open.source, request, this);
      return true;
    }
    return false;
  }

  close(): void {
    this.#open?.close();
    this.#open = null;
    this.#scan = null;
  }

  record(record: StreamedRecord): void {
    const { at, data, position, recordBytes } = record;
    if ((this.#filled + 1) * HEADER_WORDS > this.#words.length) this.#grow();
    const from = this.#filled * HEADER_WORDS;
    for (let index = 0; index < HEADER_WORDS; index++) this.#words[from + index] = data.getInt32(at + index * 4);
    this.#places[this.#filled * 2] = position;
    this.#places[this.#filled * 2 + 1] = recordBytes;
    this.#filled++;
  }

  // biome-ignore lint/correctness/useYield: a long record is taken by its header, as every other one is.
  *longRecord(record: StreamedRecord): Generator<number, void> {
    this.record(record);
  }

  damage({ corruption, position, lost }: Damage): void {
    this.#note({ kind: corruption.kind, file: this.#segment!.file, position, lost });
  }

  #unreadable(position: number): void {
    this.unreadable = true;
    this.#note({ kind: 'Unreadable', file: this.#segment!.file, position, lost: null });
  }

  #note(damage: ReplicaDamage): void {
    this.damageCount++;
    if (this.damageFound.length < KEPT_DAMAGE) this.damageFound.push(damage);
  }

  #grow(): void {
    const words = new Int32Array(this.#words.length * 2);
    words.set(this.#words);
    this.#words = words;
    const places = new Float64Array(this.#places.length * 2);
    places.set(this.#places);
    this.#places = places;
  }
}
