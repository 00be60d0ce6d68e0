/**
 * The records around each damage of a segment, for somebody who does not have the segment.
 *
 * The segment is scanned once more and never held. Without payloads, a byte is shown only where it is known to belong to a
 * header or a tag: of verified records, of a header that verifies over a body that does not, and of one that a single
 * flipped bit explains. Everything else may be content of records and is left out.
 */

import type { BundledBytes, BundledPiece, Surroundings } from '../domain/evidence-bundle.js';
import { OPENS_BIT, RECORD_HEADER_LEN, RECORD_TAG_LEN } from '../format/record.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage } from '../scan/range-scan.js';
import type { RecordVisitor } from '../scan/record-visitor.js';
import { scanRange } from '../scan/segment-scan.js';
import type { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';

/** Records in front of a damage and behind it. */
const AROUND = 4;
/** Of a payload, where payloads are wanted. */
const SHOWN_PAYLOAD = 1024;
/** Of a damaged range: its beginning, and its end where there is more. */
const SHOWN_DAMAGE = 4096;
const SHOWN_END = 512;

export interface SurroundingsRequest {
  readonly file: string;
  readonly version: number;
  readonly baseOffset: bigint | null;
  readonly nowMicros: bigint;
  readonly withPayloads: boolean;
  /** Damages beyond these are passed over. */
  readonly limit: number;
  /** Positions of damages whose header is one flipped bit away from a sound one. */
  readonly flipped: ReadonlySet<number>;
}

const KIND_OPENS = OPENS_BIT >>> 29;

/** Yields what lies around each damage, or null where there is nothing yet and the driver may stop. */
export function* surroundings(source: ByteSource, request: SurroundingsRequest): Generator<Surroundings | null, void> {
  const collector = new Collector(source, request);
  const scan = scanRange(source, null, {
    start: SEGMENT_HEADER_LEN,
    until: Number.POSITIVE_INFINITY,
    expected: request.baseOffset,
    version: request.version,
    mark: null,
    firstEntry: null,
    nowMicros: request.nowMicros,
    visitor: collector,
  });
  for (let step = scan.next(); !step.done && !collector.isFull; step = scan.next()) {
    yield null;
    yield* collector.taken();
  }
  collector.finish();
  yield* collector.taken();
}

interface Open {
  readonly damage: Damage;
  readonly pieces: BundledPiece[];
  missing: number;
}

class Collector implements RecordVisitor {
  readonly #source: ByteSource;
  readonly #request: SurroundingsRequest;
  #before: BundledPiece[] = [];
  #open: Open[] = [];
  #done: Surroundings[] = [];
  #met = 0;

  constructor(source: ByteSource, request: SurroundingsRequest) {
    this.#source = source;
    this.#request = request;
  }

  /** True once the last damage that is wanted has everything around it. */
  get isFull(): boolean {
    return this.#met >= this.#request.limit && this.#open.length === 0;
  }

  record(window: Window, at: number, kind: number, end: number): void {
    this.#pass(window.start + at, window.start + end, kind);
  }

  longRecord(head: DataView, position: number, end: number): void {
    this.#pass(position, end, head.getInt32(0) >>> 29);
  }

  damage(damage: Damage): void {
    if (this.#met >= this.#request.limit) return;
    this.#met++;
    const pieces = damage.end > damage.position ? [this.#damaged(damage)] : [];
    for (const open of this.#open) this.#add(open, pieces);
    this.#open.push({
      damage,
      pieces: [...this.#before.map((piece) => this.#read(piece)), ...pieces],
      missing: AROUND,
    });
    this.#settle();
    this.#before = [];
  }

  /** Nothing follows any more. */
  finish(): void {
    for (const open of this.#open) open.missing = 0;
    this.#settle();
  }

  *taken(): Generator<Surroundings> {
    yield* this.#done.splice(0);
  }

  #pass(from: number, to: number, kind: number): void {
    const piece = recordPiece(from, to, kind);
    if (this.#open.length > 0) {
      const read = this.#read(piece);
      for (const open of this.#open) this.#add(open, [read]);
      this.#settle();
    }
    this.#before.push(piece);
    if (this.#before.length > AROUND) this.#before.shift();
  }

  #add(open: Open, pieces: readonly BundledPiece[]): void {
    open.pieces.push(...pieces);
    open.missing -= pieces.length;
  }

  #settle(): void {
    const { file } = this.#request;
    const full = this.#open.filter(({ missing }) => missing <= 0);
    this.#open = this.#open.filter(({ missing }) => missing > 0);
    for (const { damage, pieces } of full) {
      const { corruption, position, end } = damage;
      this.#done.push({ file, kind: corruption.kind, position, end, pieces });
    }
  }

  /** The bytes of a verified record. */
  #read(piece: BundledPiece): BundledPiece {
    const bytes = piece.bytes.flatMap((part) => {
      if (part.what !== 'payload') return [this.#shown(part)];
      return this.#request.withPayloads ? this.#split(part, SHOWN_PAYLOAD, 0) : [part];
    });
    return { ...piece, bytes };
  }

  #damaged({ corruption, position, end }: Damage): BundledPiece {
    const known = Math.min(end, position + this.#knownBytes(corruption.kind, position, end));
    const rest: BundledBytes = { what: 'bytes', from: known, to: end, hex: null };
    return {
      what: 'damage',
      from: position,
      to: end,
      bytes: [
        ...(known > position ? [this.#shown({ what: 'header', from: position, to: known, hex: null })] : []),
        ...(this.#request.withPayloads ? this.#split(rest, SHOWN_DAMAGE, SHOWN_END) : [rest]),
      ],
    };
  }

  /** How many bytes at the start of a damaged range are a record's header beyond doubt. */
  #knownBytes(kind: Damage['corruption']['kind'], position: number, end: number): number {
    if (kind === 'RecordHeaderChecksum') return this.#request.flipped.has(position) ? RECORD_HEADER_LEN : 0;
    return end - position < RECORD_HEADER_LEN ? 0 : RECORD_HEADER_LEN;
  }

  /** The first and the last bytes of a range, and what lies between left out. */
  #split({ what, from, to }: BundledBytes, first: number, last: number): BundledBytes[] {
    if (to - from <= first + last) return [this.#shown({ what, from, to, hex: null })];
    return [
      this.#shown({ what, from, to: from + first, hex: null }),
      { what, from: from + first, to: to - last, hex: null },
      ...(last === 0 ? [] : [this.#shown({ what, from: to - last, to, hex: null })]),
    ];
  }

  #shown(part: BundledBytes): BundledBytes {
    const bytes = Buffer.alloc(part.to - part.from);
    try {
      for (let at = 0; at < bytes.length; ) {
        const got = this.#source.readAt(bytes.subarray(at), part.from + at);
        if (got === 0) return part;
        at += got;
      }
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      return part;
    }
    return { ...part, hex: bytes.toString('hex') };
  }
}

function recordPiece(from: number, to: number, kind: number): BundledPiece {
  const header = from + RECORD_HEADER_LEN;
  const tag = kind === KIND_OPENS ? header + RECORD_TAG_LEN : header;
  const parts: BundledBytes[] = [
    { what: 'header', from, to: header, hex: null },
    { what: 'tag', from: header, to: tag, hex: null },
    { what: 'payload', from: tag, to, hex: null },
  ];
  return { what: 'record', from, to, bytes: parts.filter((part) => part.to > part.from) };
}
