/**
 * Which records a dump shows.
 *
 * Asked once a record, millions of times: what nobody asked for costs one comparison, and a u64 is compared by halves.
 */

import type { RecordKindName, RecordView } from '../domain/record-view.js';

export interface RecordConditions {
  /** Offsets, half-open. */
  readonly from: bigint | null;
  readonly to: bigint | null;
  /** Timestamps, half-open. */
  readonly sinceMicros: bigint | null;
  readonly untilMicros: bigint | null;
  readonly kind: RecordKindName | null;
  readonly producer: bigint | null;
  /** Bytes that the payload contains. */
  readonly contains: Uint8Array | null;
}

interface Halves {
  readonly high: number;
  readonly low: number;
}

export class RecordFilter {
  readonly #from: Halves | null;
  readonly #to: Halves | null;
  readonly #since: Halves | null;
  readonly #until: Halves | null;
  readonly #kind: RecordKindName | null;
  readonly #producer: bigint | null;
  readonly #needle: Needle | null;
  readonly #all: boolean;

  constructor(conditions: RecordConditions) {
    this.#from = halvesOf(conditions.from);
    this.#to = halvesOf(conditions.to);
    this.#since = halvesOf(conditions.sinceMicros);
    this.#until = halvesOf(conditions.untilMicros);
    this.#kind = conditions.kind;
    this.#producer = conditions.producer;
    this.#needle = conditions.contains === null ? null : new Needle(conditions.contains);
    const asked = [this.#from, this.#to, this.#since, this.#until, this.#kind, this.#producer];
    this.#all = asked.every((condition) => condition === null);
  }

  /** True when the record lies behind the range of offsets. */
  isPast(record: RecordView): boolean {
    return this.#to !== null && !below(record.offsetHigh, record.offsetLow, this.#to);
  }

  /** Everything but the content, which {@link contains} and {@link Needle} look at. */
  admits(record: RecordView): boolean {
    if (this.#all) return true;
    const { offsetHigh, offsetLow, timestampHigh, timestampLow } = record;
    if (this.#from !== null && below(offsetHigh, offsetLow, this.#from)) return false;
    if (this.#to !== null && !below(offsetHigh, offsetLow, this.#to)) return false;
    if (this.#since !== null && below(timestampHigh, timestampLow, this.#since)) return false;
    if (this.#until !== null && !below(timestampHigh, timestampLow, this.#until)) return false;
    if (this.#kind !== null && record.kind !== this.#kind) return false;
    return this.#producer === null || record.batch?.producer === this.#producer;
  }

  /** Whether the payload at hand holds the bytes asked for. */
  contains({ bytes, payloadStart, payloadEnd }: RecordView): boolean {
    return this.#needle === null || this.#needle.isIn(bytes.subarray(payloadStart, payloadEnd));
  }

  /** To be shown the pieces of a long payload; null when nothing is asked of the content. */
  search(): PieceSearch | null {
    return this.#needle?.search() ?? null;
  }
}

function halvesOf(value: bigint | null): Halves | null {
  return value === null ? null : { high: Number(value >> 32n), low: Number(value & 0xffff_ffffn) };
}

function below(high: number, low: number, limit: Halves): boolean {
  return high < limit.high || (high === limit.high && low < limit.low);
}

class Needle {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  isIn(bytes: Uint8Array): boolean {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(this.#bytes);
  }

  search(): PieceSearch {
    return new PieceSearch(this.#bytes);
  }
}

/** Finds bytes in what comes piece by piece, also where they straddle two pieces. */
export class PieceSearch {
  readonly #needle: Buffer;
  #rest: Buffer = Buffer.alloc(0);

  constructor(needle: Buffer) {
    this.#needle = needle;
  }

  /** True when the bytes end in this piece. */
  isIn(piece: Uint8Array): boolean {
    const overlap = this.#needle.length - 1;
    const seam = Buffer.concat([this.#rest, piece.subarray(0, overlap)]);
    const whole = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (seam.includes(this.#needle) || whole.includes(this.#needle)) return true;
    const tail = Buffer.concat([this.#rest, piece.subarray(Math.max(0, piece.length - overlap))]);
    this.#rest = overlap === 0 ? tail.subarray(0, 0) : tail.subarray(Math.max(0, tail.length - overlap));
    return false;
  }
}
