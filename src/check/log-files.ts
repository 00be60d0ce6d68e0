/**
 * The segments of a shard by their headers alone: what a reader of records needs to know before it reads any.
 *
 * Nothing is judged here. Segments that recovery would delete for holding no record are left out, so that what is empty
 * by design is never taken for damage.
 */

import type { Corruption } from '../domain/finding.js';
import { keyLabel, parseShardName, type ShardKey } from '../format/names.js';
import { SEGMENT_HEADER_LEN, type SegmentHeader } from '../format/segment-header.js';
import { type ReadProblem, readHead } from '../scan/segment-file.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource, type RawPath } from '../store/file-source.js';
import type { Entry, Listing } from '../store/walk.js';
import type { Subject } from './make-finding.js';
import { sortShardFiles } from './shard-files.js';
import type { SoleFile } from './targets.js';

export interface LogSegment {
  readonly id: bigint;
  readonly file: string;
  readonly path: RawPath;
  /** The prefix to read. */
  readonly size: number;
  readonly index: { readonly file: string; readonly path: RawPath; readonly size: number } | null;
  /** Null when it does not decode or was not read. */
  readonly header: SegmentHeader | null;
  readonly headerDamage: Corruption | null;
  readonly problem: ReadProblem | null;
  /** No longer than a header, and every byte is zero. */
  readonly blank: boolean;
}

export interface LogFiles {
  readonly subject: Subject;
  readonly path: string;
  readonly name: string;
  /** By id, ascending. */
  readonly segments: readonly LogSegment[];
  /** `offload.manifest`, when there is one. */
  readonly manifest: Entry | null;
  /** One file was named, and the rest of the shard is not looked at. */
  readonly sole: boolean;
}

export function openLog(listing: Listing, sole: SoleFile | null, key: ShardKey | null): LogFiles {
  const files = sortShardFiles(listing.entries);
  const known = key ?? parseShardName(listing.name)?.key ?? null;
  const segments = files.segments.map(({ id, entry, index }) => ({
    id,
    file: entry.name,
    path: entry.path,
    size: entry.size,
    index: index === null ? null : { file: index.name, path: index.path, size: index.size },
    ...headerOf(entry),
  }));
  return {
    subject: { label: known === null ? listing.name : keyLabel(known), path: listing.path },
    path: listing.path,
    name: listing.name,
    segments: sole === null ? withRecords(segments) : segments,
    manifest: files.sidecars.get('offload.manifest') ?? null,
    sole: sole !== null,
  };
}

function headerOf(entry: Entry): Pick<LogSegment, 'header' | 'headerDamage' | 'problem' | 'blank'> {
  try {
    const source = FileSource.open(entry.path, entry.size);
    try {
      const { header, headerDamage, problem, headerBytes } = readHead(source, null);
      const blank = problem === null && entry.size <= SEGMENT_HEADER_LEN && headerBytes.every((byte) => byte === 0);
      return { header, headerDamage, problem, blank };
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, message, position } = failure;
    return { header: null, headerDamage: null, problem: { code, message, position }, blank: false };
  }
}

/** Leaves out the newest ones that never held a record: a roll that was not finished, a first segment that is blank. */
function withRecords(segments: readonly LogSegment[]): LogSegment[] {
  let count = segments.length;
  while (count > 1 && isEmpty(segments[count - 1]!)) count--;
  if (count === 1 && segments[0]!.id === 0n && segments[0]!.blank) count = 0;
  return segments.slice(0, count);
}

function isEmpty({ size, header, problem }: LogSegment): boolean {
  return problem === null && (size < SEGMENT_HEADER_LEN || (size === SEGMENT_HEADER_LEN && header !== null));
}

export interface OpenSegment {
  readonly source: ByteSource;
  /** Null when there is none; one that cannot be opened fails at every read. */
  readonly index: ByteSource | null;
  close(): void;
}

/** Throws `ReadFailure` when the segment itself cannot be opened. */
export function openSegment(segment: LogSegment, withIndex: boolean): OpenSegment {
  const source = FileSource.open(segment.path, segment.size);
  const index = withIndex && segment.index !== null ? openIndex(segment.index) : null;
  return {
    source,
    index,
    close: () => {
      source.close();
      index?.close();
    },
  };
}

function openIndex(index: NonNullable<LogSegment['index']>): ByteSource & { close(): void } {
  try {
    return FileSource.open(index.path, index.size);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const readAt = (): number => {
      throw failure;
    };
    return { size: index.size, readAt, close: () => {} };
  }
}
