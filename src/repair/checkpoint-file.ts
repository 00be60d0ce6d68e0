/**
 * A checkpoint on disk: what `verify` found clean, a line of JSON for each segment, and a digest over all of them.
 *
 * It never lies among what is checked, and takes the place of nothing but another checkpoint. One that is cut short, was
 * edited, or was written by another version of the tool is not believed: everything is read then, and a note says why. The
 * digest guards against accidents, not against somebody who forges checkpoints.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';
import { CHECKPOINT_SCHEMA, type Remembered, type RememberedSegment } from '../domain/checkpoint.js';
import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { decodeUtf8 } from '../format/bytes.js';
import { ReadFailure } from '../store/byte-source.js';
import { readSmallFile } from '../store/file-digest.js';
import { pathFacts, realPath } from '../store/path-facts.js';
import { OutputFile } from './output-file.js';

/** Segments of tens of terabytes; what goes beyond is read anew each time. */
const MAX_CHECKPOINT_BYTES = 32 * 1024 * 1024;

export interface CheckpointOptions {
  readonly tool: { readonly name: string; readonly version: string };
  readonly nowMicros: bigint;
  /** Segments that were read longer ago are not kept. */
  readonly recheckAfterMicros: bigint;
  /** The paths that are checked. */
  readonly checked: readonly string[];
  /** Of the longest file that is read or written; 32 MiB when left out. */
  readonly maxBytes?: number;
}

type Decode = (value: unknown) => RememberedSegment | null;

/** A shard's remembered segments: file to its line. */
type Lines = Map<string, string>;

export class Checkpoint implements Remembered {
  /** Why nothing is remembered though there is a file; null otherwise. */
  readonly note: string | null;
  readonly #options: CheckpointOptions;
  readonly #output: OutputFile;
  readonly #before: ReadonlyMap<string, Lines>;
  readonly #now = new Map<string, Lines>();
  readonly #decode: Decode;

  private constructor(options: CheckpointOptions, output: OutputFile, read: ReadLines, decode: Decode) {
    this.#options = options;
    this.#output = output;
    this.#before = read.shards;
    this.note = read.note;
    this.#decode = decode;
  }

  /** Takes up the checkpoint of an earlier run, if there is one. Throws a failure when the file may not be used. */
  static async open(file: string, options: CheckpointOptions): Promise<Checkpoint> {
    refuseAmong(file, options.checked);
    const read = readLines(file, options);
    const decode = read.shards.size === 0 ? () => null : await loadDecoder();
    return new Checkpoint(options, new OutputFile(file), read, decode);
  }

  recall(shard: string, file: string): RememberedSegment | null {
    const line = this.#before.get(shard)?.get(file);
    return line === undefined ? null : this.#decode(JSON.parse(line));
  }

  keep(shard: string, segments: ReadonlyMap<string, RememberedSegment>): void {
    const lines: Lines = new Map();
    for (const [file, segment] of segments) lines.set(file, toLine(shard, file, segment));
    this.#now.set(shard, lines);
  }

  /** Writes what was kept, and of shards that were not looked at what is young enough. How many segments had no room. */
  commit(): number {
    const { tool, nowMicros, maxBytes = MAX_CHECKPOINT_BYTES } = this.#options;
    const hash = createHash('sha256');
    let room = maxBytes;
    const write = (line: string) => {
      hash.update(line);
      this.#output.write(line);
      room -= Buffer.byteLength(line);
    };
    write(`${JSON.stringify({ schema: CHECKPOINT_SCHEMA, tool, writtenAtMicros: String(nowMicros) })}\n`);
    let segments = 0;
    let leftOut = 0;
    for (const line of this.#lines()) {
      if (Buffer.byteLength(line) > room - 1024) leftOut++;
      else {
        write(line);
        segments++;
      }
    }
    this.#output.write(`${JSON.stringify({ segments, sha256: hash.digest('hex') })}\n`);
    this.#output.commit();
    return leftOut;
  }

  /** After a failure, and harmless after the end: the old checkpoint stays. */
  discard(): void {
    this.#output.discard();
  }

  *#lines(): Generator<string> {
    for (const lines of this.#now.values()) yield* lines.values();
    const { nowMicros, recheckAfterMicros } = this.#options;
    for (const [shard, lines] of this.#before) {
      if (this.#now.has(shard)) continue;
      for (const [file, line] of lines) {
        const known = this.recall(shard, file);
        const age = known === null ? -1n : nowMicros - known.verifiedAtMicros;
        if (age >= 0n && age <= recheckAfterMicros) yield line;
      }
    }
  }
}

function toLine(shard: string, file: string, segment: RememberedSegment): string {
  const value = { shard, file, ...segment };
  return `${JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item))}\n`;
}

async function loadDecoder(): Promise<Decode> {
  const { REMEMBERED } = await import('./checkpoint-schema.js');
  return (value) => {
    const { shard: _shard, file: _file, ...segment } = value as { readonly [key: string]: unknown };
    return REMEMBERED.safeParse(segment).data ?? null;
  };
}

interface ReadLines {
  readonly shards: ReadonlyMap<string, Lines>;
  readonly note: string | null;
}

function readLines(file: string, { tool, maxBytes = MAX_CHECKPOINT_BYTES }: CheckpointOptions): ReadLines {
  const refuse = (why: string): never => fail({ reason: 'usage', message: `${printable(file)}: ${why}` });
  let bytes: Uint8Array;
  try {
    if (pathFacts(file) === null) return { shards: new Map(), note: null };
    bytes = readSmallFile(file, maxBytes);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return refuse(`cannot be read as a checkpoint: ${failure.message}`);
  }
  const text = decodeUtf8(bytes) ?? '';
  const head = fieldsIn(text.slice(0, text.indexOf('\n') + 1));
  if (typeof head?.['schema'] !== 'string' || !head['schema'].startsWith('felix-fsck.checkpoint/')) {
    return refuse('is not a checkpoint, and is not replaced by one');
  }
  const none = (why: string): ReadLines => ({
    shards: new Map(),
    note: `${printable(file)} ${why}: nothing in it is used, and every segment is read`,
  });
  const writer = (head['tool'] as { readonly version?: unknown } | undefined)?.version;
  if (head['schema'] !== CHECKPOINT_SCHEMA || writer !== tool.version) return none('was written by another version');
  const lastAt = text.lastIndexOf('\n', text.length - 2) + 1;
  const body = text.slice(0, lastAt);
  const digest = createHash('sha256').update(body).digest('hex');
  if (fieldsIn(text.slice(lastAt))?.['sha256'] !== digest) return none('is cut short or was changed');
  return { shards: shardsIn(body), note: null };
}

/** The lines that name a segment; the head names none. */
function shardsIn(text: string): ReadonlyMap<string, Lines> {
  const shards = new Map<string, Lines>();
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1;
    const line = text.slice(at, end);
    const value = fieldsIn(line);
    at = end;
    if (typeof value?.['shard'] !== 'string' || typeof value['file'] !== 'string') continue;
    const lines = shards.get(value['shard']) ?? new Map<string, string>();
    shards.set(value['shard'], lines.set(value['file'], line));
  }
  return shards;
}

/** What a line of JSON holds, to be asked for a field: what is no object has none. */
function fieldsIn(text: string): { readonly [key: string]: unknown } | null {
  try {
    return JSON.parse(text) as { readonly [key: string]: unknown } | null;
  } catch {
    return null;
  }
}

/** What is looked at stays as it is: no checkpoint at or below a path that is checked. */
function refuseAmong(file: string, checked: readonly string[]): void {
  const own = realOf(path.dirname(file));
  if (own === null) return;
  for (const given of checked) {
    const real = realOf(given);
    if (real === null) continue;
    const directory = pathFacts(real)?.type === 'directory' ? real : path.dirname(real);
    if (own !== directory && !own.startsWith(directory.endsWith('/') ? directory : `${directory}/`)) continue;
    const message = `${printable(file)} lies in ${printable(given)}, which is checked: a checkpoint is kept elsewhere`;
    fail({ reason: 'usage', message });
  }
}

function realOf(name: string): string | null {
  try {
    return realPath(name);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return null;
  }
}
