/**
 * The rules of the scan as they are written down, in the plainest code: no window, no search that skips, every checksum
 * taken anew. Nothing is shared with the scan that it judges, which is what it is for.
 *
 * What the rules leave open is decided here as follows. The "next offset" behind a record whose checksum fails is the one
 * after the offset in its verified header. `resumedAt` is a place where a header verified: null at the end of the file,
 * and null where the scan goes on at a claimed end that nothing bears out. Behind the last offset of a u64 none is next.
 */

import { crc32 } from 'node:zlib';

export interface ReferenceDamage {
  readonly kind: string;
  readonly position: number;
  readonly end: number;
  readonly resumedAt: number | null;
  /** Null where what is lost cannot be known. */
  readonly lost: readonly [from: bigint, to: bigint] | null;
}

export interface ReferenceScan {
  readonly damages: readonly ReferenceDamage[];
  /** Intact records, those out of order included. */
  readonly records: number;
  readonly nextOffset: bigint;
}

const LIMIT = 64 * 1024 * 1024;

class Bytes {
  readonly size: number;
  readonly #view: DataView;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.size = bytes.length;
  }

  headerVerifies(at: number): boolean {
    if (at + 28 > this.size) return false;
    return crc32(this.#bytes.subarray(at, at + 20)) === this.#view.getUint32(at + 20);
  }

  kindBits(at: number): number {
    const top = this.#view.getUint8(at) >> 5;
    return (top & 1) + ((top >> 1) & 1) + (top >> 2);
  }

  payloadLength(at: number): number {
    return this.#view.getUint32(at) % 2 ** 29;
  }

  /** Where the record ends by its own length. */
  claimedEnd(at: number): number {
    return at + 28 + (this.#view.getUint8(at) >= 128 ? 20 : 0) + this.payloadLength(at);
  }

  offset(at: number): bigint {
    return this.#view.getBigUint64(at + 4);
  }

  checksumHolds(at: number): boolean {
    const covered = Buffer.concat([
      this.#bytes.subarray(at, at + 24),
      this.#bytes.subarray(at + 28, this.claimedEnd(at)),
    ]);
    return crc32(covered) === this.#view.getUint32(at + 24);
  }

  recordVerifies(at: number): boolean {
    return (
      this.headerVerifies(at) &&
      this.kindBits(at) <= 1 &&
      this.payloadLength(at) <= LIMIT &&
      this.claimedEnd(at) <= this.size &&
      this.checksumHolds(at)
    );
  }
}

/** The first place behind `from` where a record verifies whose offset may stand there; null if there is none. */
function resync(bytes: Bytes, from: number, expected: bigint): number | null {
  for (let at = from + 1; at + 28 <= bytes.size; at++) {
    if (!bytes.recordVerifies(at)) continue;
    const offset = bytes.offset(at);
    if (offset >= expected && offset <= expected + BigInt(Math.floor((at - from) / 28))) return at;
  }
  return null;
}

/** Scans the records of a segment whose header, of 32 bytes, names `base`. */
export function referenceScan(file: Uint8Array, base: bigint): ReferenceScan {
  const bytes = new Bytes(file);
  const damages: ReferenceDamage[] = [];
  let records = 0;
  let expected = base;
  let position = 32;
  const skip = (kind: string) => {
    const next = resync(bytes, position, expected);
    const lost = next === null ? null : ([expected, bytes.offset(next)] as const);
    damages.push({ kind, position, end: next ?? bytes.size, resumedAt: next, lost });
    if (next !== null) expected = bytes.offset(next);
    position = next ?? bytes.size;
  };
  while (position < bytes.size) {
    const end = position + 28 <= bytes.size ? bytes.claimedEnd(position) : 0;
    if (position + 28 > bytes.size) {
      damages.push({ kind: 'Truncated', position, end: bytes.size, resumedAt: null, lost: null });
      position = bytes.size;
    } else if (!bytes.headerVerifies(position)) skip('RecordHeaderChecksum');
    else if (bytes.kindBits(position) > 1) skip('RecordFlags');
    else if (bytes.payloadLength(position) > LIMIT) skip('RecordTooLarge');
    else if (end > bytes.size) skip('Truncated');
    else if (!bytes.checksumHolds(position)) {
      const offset = bytes.offset(position);
      const bornOut = end < bytes.size && bytes.headerVerifies(end) && bytes.offset(end) === offset + 1n;
      const inside = end === bytes.size || bornOut ? null : resync(bytes, position, expected);
      if (inside !== null && inside < end) skip('RecordChecksum');
      else {
        const ascends = offset >= expected;
        const lost = [ascends ? expected : offset, offset + 1n] as const;
        const resumedAt = bornOut ? end : null;
        damages.push({ kind: 'RecordChecksum', position, end, resumedAt, lost });
        expected = offset + 1n;
        position = end;
      }
    } else {
      const offset = bytes.offset(position);
      if (offset !== expected) {
        const lost = offset > expected ? ([expected, offset] as const) : null;
        damages.push({ kind: 'OffsetOutOfOrder', position, end: position, resumedAt: position, lost });
      }
      records++;
      expected = offset + 1n;
      position = end;
    }
  }
  return { damages, records, nextOffset: expected };
}
