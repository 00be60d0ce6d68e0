/**
 * The first record of a file that verifies, whatever its offset: for a file of which nothing else can be believed.
 *
 * A record that another one follows, or with which the file ends, is taken before one that stands alone, since a payload
 * may hold bytes of a record. Places are passed over by their length word, so that the time stays linear in the file.
 */

import { LENGTH_MASK, MAX_PAYLOAD_BYTES, RECORD_HEADER_LEN } from '../format/record.js';
import type { ByteSource } from '../store/byte-source.js';
import { LongChecksums } from './long-checksum.js';
import { type PlacedRecord, recordAt } from './record-at.js';
import { Window } from './window.js';

/** Places between two yields. */
const SLICE = 1 << 20;

/** The position at or behind `from`, or null. Yields how far it has come. Throws `ReadFailure`. */
export function* firstRecord(source: ByteSource, from: number): Generator<number, number | null> {
  const window = new Window(source);
  const checksums = new LongChecksums();
  const last = source.size - RECORD_HEADER_LEN;
  let alone: number | null = null;
  for (let at = from; at <= last; at++) {
    if ((at - from) % SLICE === SLICE - 1) yield at;
    window.ensure(at, RECORD_HEADER_LEN);
    if ((window.data.getInt32(at - window.start) & LENGTH_MASK) > MAX_PAYLOAD_BYTES) continue;
    const record = recordAt(window, checksums, at);
    if (record === null) continue;
    if (record.end === source.size || follows(window, checksums, record)) return at;
    alone ??= at;
  }
  return alone;
}

function follows(window: Window, checksums: LongChecksums, { end, offset }: PlacedRecord): boolean {
  return recordAt(window, checksums, end)?.offset === offset + 1n;
}
