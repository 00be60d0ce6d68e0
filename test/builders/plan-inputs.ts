/**
 * What planners are given, made by hand: nothing is read, and every value is given here or by the test.
 */

import type { FileState, PlanFile } from '../../src/domain/plan.js';
import type { CutFacts, IndexImage, NewestFacts } from '../../src/domain/plan-facts.js';
import { crc32, hex32 } from '../../src/format/checksum.js';
import type { ShardView } from '../../src/repair/shard-view.js';
import { DEFAULTS, TOOL } from './reports.js';
import { logName, SHARD_DIR_NAME, SHARD_KEY } from './shards.js';

/** What every plan says of the run that made it. */
export const FRAME = { tool: TOOL, createdAtMicros: 1_780_000_000_000_000n, settings: DEFAULTS };

/** The state of a file that holds these bytes. */
export function stateOf(bytes: Uint8Array): FileState {
  return { size: bytes.length, crc32: hex32(crc32(bytes)) };
}

/** Content that a plan holds. */
export function held(bytes: Uint8Array) {
  return [{ from: 'plan', base64: Buffer.from(bytes).toString('base64') }] as const;
}

/** A shard with these files, of which the planners know no more than size and checksum. */
export function shardView(files: Readonly<Record<string, FileState>>, parts: Partial<ShardView> = {}): ShardView {
  const entries = Object.entries(files).map(([file, { size, crc32: crc }]): [string, PlanFile] => [
    file,
    { file, size, crc32: crc, mtimeNs: 1n },
  ]);
  return {
    path: `/data/${SHARD_DIR_NAME}`,
    name: SHARD_DIR_NAME,
    key: SHARD_KEY,
    files: new Map(entries),
    commit: 0n,
    epochs: null,
    manifest: null,
    ...parts,
  };
}

/** The index that a segment gets, up to `end`; its bytes are nothing but told apart by `fill`. */
export function indexImage(id: number, end: number, fill = id): IndexImage {
  const bytes = new Uint8Array(40).fill(fill);
  return { segment: logName(id), end, spacing: 4096, entries: 1, bytes, state: stateOf(bytes) };
}

/** Segment 2 of 500 bytes and offsets 15..21, cut at byte 300 in front of offset 18. */
export function cutFacts(parts: Partial<CutFacts> = {}): CutFacts {
  return {
    position: 300,
    nextOffset: 18n,
    recordsKept: 3,
    kept: { size: 300, crc32: '0x00000300' },
    index: indexImage(2, 300),
    intactRecords: 2,
    records: 3,
    offsets: { from: 18n, to: 21n },
    fromTimestampMicros: 1019n,
    toTimestampMicros: 1020n,
    zeros: false,
    ...parts,
  };
}

export function newestFacts(parts: Partial<NewestFacts> = {}): NewestFacts {
  return {
    id: 2n,
    file: logName(2),
    size: 500,
    unreadable: null,
    firstDamage: { kind: 'RecordChecksum', position: 300 },
    cut: cutFacts(),
    ...parts,
  };
}
