/**
 * One record at a place that somebody claims: an index entry, a report. It counts when the whole of it verifies.
 */

import { crc32Loop } from '../format/checksum.js';
import {
  LENGTH_MASK,
  MAX_PAYLOAD_BYTES,
  OPENS_BIT,
  RECORD_HEADER_LEN,
  RECORD_TAG_LEN,
  type RecordKind,
  recordKind,
} from '../format/record.js';
import type { LongChecksums } from './long-checksum.js';
import type { Window } from './window.js';

export interface PlacedRecord {
  readonly position: number;
  readonly end: number;
  readonly offset: bigint;
  readonly kind: RecordKind;
}

/** The intact record that starts at `position`, or null. Reads throw `ReadFailure`; leaves the window anywhere. */
export function recordAt(window: Window, checksums: LongChecksums, position: number): PlacedRecord | null {
  if (position < 0 || position + RECORD_HEADER_LEN > window.size) return null;
  window.ensure(position, RECORD_HEADER_LEN);
  const { data } = window;
  const at = position - window.start;
  if (crc32Loop(data, at, at + 20, 0) !== data.getInt32(at + 20)) return null;
  const lengthWord = data.getInt32(at);
  const kind = recordKind(lengthWord);
  const payloadLen = lengthWord & LENGTH_MASK;
  if (kind === null || payloadLen > MAX_PAYLOAD_BYTES) return null;
  const end = position + RECORD_HEADER_LEN + ((lengthWord & OPENS_BIT) === 0 ? 0 : RECORD_TAG_LEN) + payloadLen;
  if (end > window.size) return null;
  const offset = data.getBigUint64(at + 4);
  const stored = data.getInt32(at + 24);
  const seed = crc32Loop(data, at, at + 24, 0);
  const computed = checksums.continued(window, position + RECORD_HEADER_LEN, end, seed);
  return computed === stored ? { position, end, offset, kind } : null;
}
