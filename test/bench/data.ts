/**
 * The data that is measured on: made once with the project's own encoders, the same bytes every time, and kept in a folder
 * outside of the repository.
 */

import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeIndex, type IndexEntry } from '../../src/format/index.js';
import { indexFileName, segmentFileName } from '../../src/format/names.js';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { seededRandom } from '../builders/random.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName } from '../builders/shards.js';

const MIB = 1 << 20;
const SPACING = 4096;
/** Raised when the data changes, so that old data is not measured on. */
const EDITION = 1;

const CACHE = join(process.env['FELIX_BENCH_DATA'] ?? tmpdir(), `felix-fsck-bench-${EDITION}`);

/** Makes a folder under the cache once; a run that breaks off leaves nothing that looks finished. */
function cached(name: string, make: (directory: string) => void): string {
  const directory = join(CACHE, name);
  if (existsSync(directory)) return directory;
  const temporary = `${directory}.part`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  make(temporary);
  renameSync(temporary, directory);
  return directory;
}

type MakeRecord = (offset: bigint) => LogRecord;

/** A shard of plain records with payloads of one size, in segments of 128 MiB. */
export function shardOfPayloads(payloadBytes: number, mebibytes: number): string {
  return cached(`payload-${payloadBytes}-${mebibytes}`, (directory) => {
    const payload = seededRandom(payloadBytes).bytes(payloadBytes);
    writeSegments(directory, mebibytes, (offset) => plain(offset, { payload }));
  });
}

/** A shard of records that each hold 128 bytes of JSON, written by one producer in batches of ten. */
export function shardOfJson(mebibytes: number): string {
  return cached(`json-128-${mebibytes}`, (directory) => {
    writeSegments(directory, mebibytes, (offset) => {
      const text = `{"id":${offset},"name":"user-${offset % 997n}","tags":["a","b","c"],"note":"hello there, world"}`;
      const place = Number(offset % 10n);
      const tag = place === 0 ? { producerId: 77n, sequence: offset, len: 10 } : null;
      return {
        kind: tag === null ? 'continues' : 'opens',
        offset,
        timestampMicros: 1_790_000_000_000_000n + 37n * offset,
        tag,
        payload: Buffer.from(text.padEnd(128).slice(0, 128)),
      };
    });
  });
}

function writeSegments(directory: string, mebibytes: number, make: MakeRecord): void {
  let offset = 0n;
  for (let id = 0n; id < BigInt(mebibytes / 128); id++) {
    offset = writeSegment(directory, id, offset, make, 128 * MIB);
  }
}

function writeSegment(directory: string, id: bigint, base: bigint, make: MakeRecord, bytes: number): bigint {
  const file = openSync(join(directory, segmentFileName(id)), 'w');
  const header = encodeSegmentHeader({ version: 3, baseOffset: base, createdAtMicros: 1n, reserved: 0 });
  let position = writeSync(file, header);
  let offset = base;
  let sinceEntry = SPACING;
  const entries: IndexEntry[] = [];
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  while (position < bytes) {
    if (sinceEntry >= SPACING) {
      entries.push({ offset, position: BigInt(position) });
      sinceEntry = 0;
    }
    const record = encodeRecord(make(offset++));
    waiting.push(record);
    waitingBytes += record.length;
    position += record.length;
    sinceEntry += record.length;
    if (waitingBytes > 4 * MIB || position >= bytes) {
      writeSync(file, Buffer.concat(waiting));
      waiting = [];
      waitingBytes = 0;
    }
  }
  closeSync(file);
  writeFileSync(join(directory, indexFileName(id)), encodeIndex(base, entries));
  return offset;
}

export type Filling = 'zeros' | 'random' | 'FLSG';

/** A segment of one record, damage of so many mebibytes, and one record more. */
export function damagedSegment(filling: Filling, mebibytes: number): string {
  return cached(`${filling}-${mebibytes}`, (directory) => {
    const { log } = buildSegment({ records: [plain(0n)] });
    const file = openSync(join(directory, logName(0)), 'w');
    writeSync(file, log);
    const random = seededRandom(7);
    for (let i = 0; i < mebibytes; i++) writeSync(file, pieceOf(filling, random));
    writeSync(file, encodeRecord(plain(1n)));
    closeSync(file);
  });
}

function pieceOf(filling: Filling, random: ReturnType<typeof seededRandom>): Uint8Array {
  if (filling === 'zeros') return Buffer.alloc(MIB);
  return filling === 'FLSG' ? Buffer.alloc(MIB, 'FLSG') : random.bytes(MIB);
}

/** A data root of many small shards. */
export function manyShards(count: number): string {
  return cached(`shards-${count}`, (directory) => {
    const { log, index } = buildSegment({ records: [plain(0n), plain(1n), plain(2n)] });
    for (let i = 0; i < count; i++) {
      const shard = join(directory, `acme_default_orders_${i}-${i.toString(16).padStart(16, '0')}`);
      mkdirSync(shard);
      writeFileSync(join(shard, logName(0)), log);
      writeFileSync(join(shard, indexName(0)), index);
    }
  });
}
