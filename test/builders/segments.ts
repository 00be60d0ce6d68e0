/**
 * A healthy segment and its index, as a writer leaves them.
 *
 * Nothing here judges what it is given: a mark in a v2 segment or a gap between offsets is written as asked.
 */

import { concatBytes, writeU16 } from '../../src/format/bytes.js';
import { encodeIndex, type IndexEntry } from '../../src/format/index.js';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { timestampOf } from './records.js';

export interface SegmentPlan {
  /** 3 when left out. */
  readonly version?: number;
  /** The first record's offset when left out, 0 without records. */
  readonly baseOffset?: bigint;
  readonly records: readonly LogRecord[];
  readonly createdAtMicros?: bigint;
  /** 4096 when left out. */
  readonly indexSpacing?: number;
}

export interface BuiltSegment {
  readonly version: number;
  readonly baseOffset: bigint;
  /** One past the last record's offset; the base of a segment without records. */
  readonly nextOffset: bigint;
  readonly createdAtMicros: bigint;
  readonly records: readonly LogRecord[];
  /** Where each record starts. The end of record i is `positions[i + 1] ?? log.length`. */
  readonly positions: readonly number[];
  readonly log: Uint8Array;
  readonly index: Uint8Array;
}

export function buildSegment(plan: SegmentPlan): BuiltSegment {
  const { version = 3, records, indexSpacing = 4096 } = plan;
  const baseOffset = plan.baseOffset ?? records[0]?.offset ?? 0n;
  const createdAtMicros = plan.createdAtMicros ?? timestampOf(baseOffset) - 1000n;
  const parts = [encodeSegmentHeader({ version, baseOffset, createdAtMicros, reserved: 0 })];
  const positions: number[] = [];
  let end = 32;
  for (const record of records) {
    const bytes = encodeRecord(record);
    positions.push(end);
    parts.push(bytes);
    end += bytes.length;
  }
  return {
    version,
    baseOffset,
    nextOffset: (records.at(-1)?.offset ?? baseOffset - 1n) + 1n,
    createdAtMicros,
    records,
    positions,
    log: concatBytes(parts),
    index: writtenIndex(version === 2 ? 2 : 3, baseOffset, records, positions, indexSpacing),
  };
}

/**
 * An entry for the first record, and then for the first that starts `spacing` bytes or more after the start of the last
 * one with an entry.
 */
function writtenIndex(
  version: number,
  baseOffset: bigint,
  records: readonly LogRecord[],
  positions: readonly number[],
  spacing: number,
): Uint8Array {
  const entries: IndexEntry[] = [];
  let due = 0;
  records.forEach(({ offset }, i) => {
    const position = positions[i]!;
    if (position < due) return;
    entries.push({ offset, position: BigInt(position) });
    due = position + spacing;
  });
  const bytes = encodeIndex(baseOffset, entries);
  writeU16(bytes, 4, version);
  return bytes;
}
