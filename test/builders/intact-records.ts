/**
 * The intact records of a segment by the plain reading of the scan's rules, for tests of what is made of them.
 */

import { referenceScan } from '../properties/reference-scan.js';

export interface IntactRecord {
  readonly offset: bigint;
  readonly bytes: Uint8Array;
}

/** Of a segment whose header is, or was, of this base. */
export function intactRecords(log: Uint8Array, base: bigint): IntactRecord[] {
  if (log.length <= 32) return [];
  const { damages } = referenceScan(log, base);
  const ends = new Map(
    damages.filter(({ position, end }) => end > position).map(({ position, end }) => [position, end]),
  );
  const data = new DataView(log.buffer, log.byteOffset, log.length);
  const records: IntactRecord[] = [];
  for (let at = 32; at < log.length; ) {
    const damagedTo = ends.get(at);
    if (damagedTo !== undefined) {
      at = damagedTo;
      continue;
    }
    const end = at + 28 + (data.getUint8(at) >= 128 ? 20 : 0) + (data.getUint32(at) % 2 ** 29);
    records.push({ offset: data.getBigUint64(at + 4), bytes: log.subarray(at, end) });
    at = end;
  }
  return records;
}

/** The same record is the same text. */
export function recordKey({ offset, bytes }: IntactRecord): string {
  return `${offset} ${Buffer.from(bytes).toString('base64')}`;
}
