/**
 * A broker's writer in small: appends records in two pieces each, writes the index behind them, rolls, and deletes what is
 * old. Run as a process of its own: directory, milliseconds and how many segments to keep as arguments.
 */

import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodeIndexHeader } from '../../src/format/index.js';
import { indexFileName, segmentFileName } from '../../src/format/names.js';
import { encodeRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { seededRandom } from '../builders/random.js';
import { plain } from '../builders/records.js';

const SEGMENT_BYTES = 60_000;
const SPACING = 4096;

interface Active {
  readonly id: bigint;
  readonly log: number;
  readonly index: number;
  position: number;
  sinceEntry: number;
}

function roll(directory: string, id: bigint, base: bigint): Active {
  const log = openSync(join(directory, segmentFileName(id)), 'w');
  const header = encodeSegmentHeader({ version: 3, baseOffset: base, createdAtMicros: 1n, reserved: 0 });
  // A header may reach the file in two pieces as well.
  writeSync(log, header.subarray(0, 7));
  writeSync(log, header.subarray(7));
  const index = openSync(join(directory, indexFileName(id)), 'w');
  writeSync(index, encodeIndexHeader({ version: 3, flags: 0, baseOffset: base }));
  return { id, log, index, position: header.length, sinceEntry: SPACING };
}

function append(active: Active, offset: bigint, cut: number): void {
  const record = encodeRecord(plain(offset, { payloadLength: 40 + Number(offset % 200n) }));
  const split = cut % record.length;
  writeSync(active.log, record.subarray(0, split));
  writeSync(active.log, record.subarray(split));
  if (active.sinceEntry >= SPACING) {
    const entry = Buffer.alloc(16);
    entry.writeBigUInt64BE(offset, 0);
    entry.writeBigUInt64BE(BigInt(active.position), 8);
    writeSync(active.index, entry);
    active.sinceEntry = 0;
  }
  active.position += record.length;
  active.sinceEntry += record.length;
}

function commit(directory: string, offset: bigint): void {
  const temporary = join(directory, 'replica.tmp');
  writeFileSync(temporary, encodeReplica({ generation: 1n, commit: offset }));
  renameSync(temporary, join(directory, 'replica'));
}

function write(directory: string, milliseconds: number, keptSegments: bigint): void {
  const until = Date.now() + milliseconds;
  const random = seededRandom(5);
  mkdirSync(directory, { recursive: true });
  let offset = 0n;
  let active = roll(directory, 0n, offset);
  while (Date.now() < until) {
    append(active, offset++, random.below(1000));
    if (random.below(20) === 0) commit(directory, offset);
    if (active.position < SEGMENT_BYTES) continue;
    closeSync(active.log);
    closeSync(active.index);
    active = roll(directory, active.id + 1n, offset);
    const old = active.id - keptSegments;
    if (old < 0n) continue;
    rmSync(join(directory, segmentFileName(old)));
    rmSync(join(directory, indexFileName(old)), { force: true });
  }
}

write(process.argv[2]!, Number(process.argv[3]), BigInt(process.argv[4]!));
