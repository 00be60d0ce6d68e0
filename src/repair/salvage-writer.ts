/**
 * Writing the runs of a salvage as shards that a broker opens: segments as a writer makes them, each with its index.
 *
 * A run is written under a dotted name, which no walk takes for a shard, and renamed when all of it is durable; a segment is
 * written under a temporary name and renamed likewise. What is there already under its final name is not written again but
 * held to the bytes that would have been written, so that an interrupted salvage is taken up where it stopped.
 *
 * A segment is v3, and v4 from a generation start on: as a broker does, the writer rolls to a new segment in front of one.
 */

import { createHash } from 'node:crypto';
import { fail } from '../domain/result.js';
import type { RunSink, RunStart, SalvagedRecord, SavedFile, SavedRun, SavedSegment } from '../domain/salvage.js';
import { printable } from '../domain/wording.js';
import { writeU64 } from '../format/bytes.js';
import { encodeIndexHeader, INDEX_ENTRY_LEN, INDEX_VERSION_WRITTEN } from '../format/index.js';
import { indexFileName, segmentFileName } from '../format/names.js';
import { versionForKind } from '../format/record.js';
import { encodeSegmentHeader } from '../format/segment-header.js';
import { PinnedFile } from '../store/file-digest.js';
import { pathFacts } from '../store/path-facts.js';
import { joinShown } from '../store/walk.js';
import type { DurableFs, FileWriter } from './durable-fs.js';
import { removeIfThere } from './steps.js';

export interface SalvageSettings {
  /** An empty directory, or one of an interrupted salvage. Absolute. */
  readonly target: string;
  /** The directory of each run has this name, inside one that names the run. */
  readonly shardName: string;
  /** A segment is rolled in front of the record that would make it longer. */
  readonly segmentBytes: number;
  readonly indexSpacing: number;
  readonly createdAtMicros: bigint;
  readonly directoryMode: number;
  readonly fileMode: number;
}

/** Where a record was written in its run. */
export interface RecordSpot {
  readonly segment: bigint;
  readonly position: number;
}

/** Records in another form, beside each run. */
export interface RecordText {
  /** Of the file, behind a dot. */
  readonly extension: string;
  open(run: RunStart): void;
  /** Each piece is valid until the next; `place` is where the record was written. */
  textOf(run: number, record: SalvagedRecord, place: RecordSpot): Iterable<Uint8Array>;
}

/** What the writer knows of a run when it is closed. */
export type WrittenRun = Pick<SavedRun, 'directory' | 'segments' | 'ndjson'>;

const LEAST_VERSION = 3;
const BUFFER_BYTES = 256 * 1024;

/** Begins the name of what is not complete. */
const PARTIAL_PREFIX = '.partial-';

export class SalvageWriter implements RunSink {
  readonly #fs: DurableFs;
  readonly #settings: SalvageSettings;
  readonly #text: RecordText | null;
  readonly #open = new Map<number, RunWriter>();
  readonly #forks = new Map<bigint, number>();
  /** By run. */
  readonly written = new Map<number, WrittenRun>();

  constructor(fs: DurableFs, settings: SalvageSettings, text: RecordText | null) {
    this.#fs = fs;
    this.#settings = settings;
    this.#text = text;
  }

  open(start: RunStart): void {
    this.#text?.open(start);
    this.#open.set(start.run, new RunWriter(this.#fs, this.#settings, this.#nameOf(start), this.#text));
  }

  #nameOf({ from, fork }: RunStart): string {
    const name = `from-${from.toString().padStart(20, '0')}`;
    if (!fork) return name;
    const number = (this.#forks.get(from) ?? 0) + 1;
    this.#forks.set(from, number);
    return `${name}.fork-${number}`;
  }

  record(run: number, record: SalvagedRecord): void {
    this.#open.get(run)!.record(run, record);
  }

  close(run: number): void {
    this.written.set(run, this.#open.get(run)!.close());
    this.#open.delete(run);
  }

  /** Lets go of what is open; what is not complete stays under its temporary name. */
  abandon(): void {
    for (const writer of this.#open.values()) writer.abandon();
    this.#open.clear();
  }
}

class RunWriter {
  readonly #fs: DurableFs;
  readonly #settings: SalvageSettings;
  readonly #name: string;
  readonly #text: RecordText | null;
  readonly #textFile: CheckedFile | null;
  readonly #complete: boolean;
  /** Of the run's segments while they are written. */
  readonly #directory: string;
  readonly #segments: SavedSegment[] = [];
  #segment: SegmentWriter | null = null;

  constructor(fs: DurableFs, settings: SalvageSettings, name: string, text: RecordText | null) {
    const { target, shardName, directoryMode } = settings;
    this.#fs = fs;
    this.#settings = settings;
    this.#name = name;
    this.#text = text;
    this.#complete = pathFacts(joinShown(target, name)) !== null;
    const parent = joinShown(target, this.#complete ? name : PARTIAL_PREFIX + name);
    this.#directory = joinShown(parent, shardName);
    for (const path of [parent, this.#directory]) if (pathFacts(path) === null) fs.makeDirectory(path, directoryMode);
    this.#textFile = text === null ? null : this.#openText(text);
  }

  #openText({ extension }: RecordText): CheckedFile {
    const { target, fileMode } = this.#settings;
    const name = `${this.#name}.${extension}`;
    const temporary = joinShown(target, PARTIAL_PREFIX + name);
    return new CheckedFile(this.#fs, joinShown(target, name), temporary, fileMode);
  }

  record(run: number, record: SalvagedRecord): void {
    if (this.#segment?.isFull(record) !== false) this.#roll(record);
    const position = this.#segment!.append(record);
    if (this.#textFile === null) return;
    const spot = { segment: BigInt(this.#segments.length), position };
    for (const piece of this.#text!.textOf(run, record, spot)) this.#textFile.write(piece);
  }

  #roll(first: SalvagedRecord): void {
    this.#finishSegment();
    const id = BigInt(this.#segments.length);
    this.#segment = new SegmentWriter(this.#fs, this.#settings, this.#directory, id, first);
  }

  #finishSegment(): void {
    if (this.#segment === null) return;
    this.#segments.push(this.#segment.close());
    this.#segment = null;
  }

  close(): WrittenRun {
    this.#finishSegment();
    const { target, shardName } = this.#settings;
    const text = this.#textFile?.close() ?? null;
    if (!this.#complete) {
      const partial = joinShown(target, PARTIAL_PREFIX + this.#name);
      this.#fs.syncDirectory(this.#directory);
      this.#fs.syncDirectory(partial);
      this.#fs.rename(partial, joinShown(target, this.#name));
      this.#fs.syncDirectory(target);
    }
    return { directory: `${this.#name}/${shardName}`, segments: this.#segments, ndjson: text };
  }

  abandon(): void {
    this.#segment?.abandon();
    this.#textFile?.abandon();
  }
}

class SegmentWriter {
  readonly #log: CheckedFile;
  readonly #index: CheckedFile;
  readonly #settings: SalvageSettings;
  readonly #version: number;
  readonly #base: bigint;
  readonly #entry = new Uint8Array(INDEX_ENTRY_LEN);
  #records = 0;
  #due = 0;

  constructor(fs: DurableFs, settings: SalvageSettings, directory: string, id: bigint, first: SalvagedRecord) {
    const { createdAtMicros, fileMode } = settings;
    this.#settings = settings;
    this.#version = Math.max(LEAST_VERSION, versionForKind(first.kind));
    this.#base = first.offset;
    const file = (name: string) => {
      const path = joinShown(directory, name);
      return new CheckedFile(fs, path, `${path}.tmp`, fileMode);
    };
    this.#log = file(segmentFileName(id));
    this.#index = file(indexFileName(id));
    const header = { version: this.#version, baseOffset: this.#base, createdAtMicros, reserved: 0 };
    this.#log.write(encodeSegmentHeader(header));
    this.#index.write(encodeIndexHeader({ version: INDEX_VERSION_WRITTEN, flags: 0, baseOffset: this.#base }));
  }

  /** True when a writer would put the record into a new segment; this one holds a record already. */
  isFull({ kind, length }: SalvagedRecord): boolean {
    return versionForKind(kind) > this.#version || this.#log.bytes + length > this.#settings.segmentBytes;
  }

  /** Returns where the record begins. */
  append(record: SalvagedRecord): number {
    const position = this.#log.bytes;
    if (position >= this.#due) {
      writeU64(this.#entry, 0, record.offset);
      writeU64(this.#entry, 8, BigInt(position));
      this.#index.write(this.#entry);
      this.#due = position + this.#settings.indexSpacing;
    }
    for (const piece of record.pieces()) this.#log.write(piece);
    this.#records++;
    return position;
  }

  /** The index is in place before the segment is, so that a segment under its name is complete. */
  close(): SavedSegment {
    const index = this.#index.close();
    const log = this.#log.close();
    return {
      ...log,
      version: this.#version,
      baseOffset: this.#base,
      nextOffset: this.#base + BigInt(this.#records),
      records: this.#records,
      index,
    };
  }

  abandon(): void {
    this.#index.abandon();
    this.#log.abandon();
  }
}

/**
 * A new file that takes its name when it is whole; or one that has its name already, and is held to what would have been
 * written.
 */
class CheckedFile {
  readonly #fs: DurableFs;
  readonly #path: string;
  readonly #temporary: string;
  readonly #writer: FileWriter | null;
  readonly #hash = createHash('sha256');
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #isOpen: boolean;
  #filled = 0;
  bytes = 0;

  constructor(fs: DurableFs, path: string, temporary: string, mode: number) {
    this.#fs = fs;
    this.#path = path;
    this.#temporary = temporary;
    const isThere = pathFacts(path) !== null;
    removeIfThere(fs, temporary);
    this.#writer = isThere ? null : fs.createFile(temporary, mode);
    this.#isOpen = !isThere;
  }

  write(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + BUFFER_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === BUFFER_BYTES) this.#empty();
    }
  }

  #empty(): void {
    const filled = this.#buffer.subarray(0, this.#filled);
    this.#hash.update(filled);
    this.#writer?.write(filled);
    this.#filled = 0;
  }

  close(): SavedFile {
    this.#empty();
    const sha256 = this.#hash.digest('hex');
    if (this.#writer === null) {
      if (sha256OfFile(this.#path) !== sha256) {
        const message = `${printable(this.#path)} is not what this salvage wrote: it was changed since. Nothing of it was touched.`;
        fail({ reason: 'refused', message });
      }
    } else {
      this.#writer.sync();
      this.abandon();
      this.#fs.rename(this.#temporary, this.#path);
    }
    return { file: this.#path.slice(this.#path.lastIndexOf('/') + 1), bytes: this.bytes, sha256 };
  }

  /** Closes what is open, and leaves it under its temporary name. */
  abandon(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#writer!.close();
  }
}

function sha256OfFile(path: string): string {
  const file = PinnedFile.open(path);
  try {
    const hash = createHash('sha256');
    for (const piece of file.pieces(0, file.size)) hash.update(piece);
    return hash.digest('hex');
  } finally {
    file.close();
  }
}
