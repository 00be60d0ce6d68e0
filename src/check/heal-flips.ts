/**
 * Regions that one flipped bit explains: turning it back makes a record of exactly these bytes, with the offset that is due.
 */

import type { BitFlip } from '../domain/finding.js';
import { decodeRecordHeader, RECORD_HEADER_LEN, RECORD_TAG_LEN } from '../format/record.js';
import { RangeChecksums, recordBitFlip } from '../scan/bit-flip.js';
import { bytesAt } from '../scan/pieces.js';
import type { ByteSource } from '../store/byte-source.js';
import type { Region } from './heal-regions.js';

/** Null when one bit does not explain all of the region. Throws `ReadFailure`. */
export function regionFlip(source: ByteSource, { slot, start, end, from }: Region): BitFlip | null {
  const damage = slot.file?.map?.damages.find(({ position }) => position === start);
  if (damage === undefined || damage.end !== end) return null;
  const { kind } = damage.corruption;
  const flip = recordBitFlip(source, start, slot.size, from, kind, end, new RangeChecksums(source));
  if (flip === null) return null;
  const head = bytesAt(source, start, Math.min(end, start + RECORD_HEADER_LEN + RECORD_TAG_LEN));
  if (flip.position - start < head.length) head[flip.position - start]! ^= 1 << flip.bit;
  const header = decodeRecordHeader(head);
  if (!header.ok || header.value.offset !== from || start + header.value.totalLen !== end) return null;
  return flip;
}
