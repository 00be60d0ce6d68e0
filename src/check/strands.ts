/**
 * Strands: files that tell one history between them, as sources of records. The segments of a shard are one strand; every
 * segment that lies beside them under another name is one of its own, because nobody knows where it belongs.
 *
 * Files are taken by their content, never by their name alone. What could not be read is kept beside what could.
 */

import { identify } from '../format/identify.js';
import { decodeIndexHeader, INDEX_HEADER_LEN } from '../format/index.js';
import { decodeSegmentHeader, SEGMENT_HEADER_LEN, type SegmentHeader } from '../format/segment-header.js';
import { segmentHeaderBitFlip } from '../scan/bit-flip.js';
import { type Extent, mapRecords, type RecordMap } from '../scan/record-map.js';
import { drive } from '../scan/scanner.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource, type RawPath } from '../store/file-source.js';
import { HashedSource } from '../store/hashed-source.js';
import { type Entry, joinShown, type Listing } from '../store/walk.js';
import { sortShardFiles } from './shard-files.js';

/** A file as it was listed. */
export interface StrandEntry {
  /** For showing. */
  readonly path: string;
  readonly entry: Entry;
  /** The segment id, for a file under the name of a segment. */
  readonly id: bigint | null;
  readonly index: Entry | null;
}

export interface StrandFile extends StrandEntry {
  /** Null when not one byte could be read. */
  readonly map: RecordMap | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Null unless it was asked for, and when it could not be read to its end. */
  readonly sha256: string | null;
}

export type StrandKind = 'segments' | 'stray' | 'objects';

export interface StrandSpec {
  readonly kind: StrandKind;
  /** The directory, or the one file. */
  readonly path: string;
  readonly entries: readonly StrandEntry[];
}

export interface Strand {
  readonly kind: StrandKind;
  readonly path: string;
  readonly files: readonly StrandFile[];
}

/** Intact records of a strand, in a file of it. */
export interface StrandExtent {
  readonly file: StrandFile;
  readonly extent: Extent;
}

const LOOKED_AT = 1024;

/** The strands of a listed shard: its segments, and each segment under another name. */
export function strandsOf(listing: Listing): StrandSpec[] {
  const files = sortShardFiles(listing.entries);
  const entryOf = (entry: Entry, id: bigint | null, index: Entry | null): StrandEntry => ({
    path: joinShown(listing.path, entry.name),
    entry,
    id,
    index,
  });
  const own = files.segments.map(({ id, entry, index }) => entryOf(entry, id, index));
  const others = [...files.unopenable.map(({ entry }) => entry), ...files.strays]
    .filter((entry) => entry.type === 'file' && isSegment(entry))
    .map((entry) => entryOf(entry, null, null));
  return [
    { kind: 'segments', path: listing.path, entries: own },
    ...others.map((entry): StrandSpec => ({ kind: 'stray', path: entry.path, entries: [entry] })),
  ];
}

/** True when the file begins as a segment does; one that cannot be read counts, so that it is told of. */
export function isSegment({ path, size }: Entry): boolean {
  try {
    const source = FileSource.open(path, size);
    try {
      const bytes = new Uint8Array(Math.min(LOOKED_AT, size));
      return identify(bytes.subarray(0, source.readAt(bytes, 0)), size).kind === 'segment';
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return failure.code !== 'ENOENT';
  }
}

export interface StrandOptions {
  readonly hashed: boolean;
  /** Asked after each window; false ends the work. */
  goOn(bytes: number): Promise<boolean> | boolean;
}

/** Maps every file of a strand; null when told to stop. */
export async function readStrand(spec: StrandSpec, options: StrandOptions): Promise<Strand | null> {
  const files: StrandFile[] = [];
  let end: bigint | null = null;
  for (const entry of spec.entries) {
    const file = await readFile(entry, end, options);
    if (file === null) return null;
    files.push(file);
    end = file.map === null || file.map.stopped !== null ? null : file.map.nextOffset;
  }
  return { kind: spec.kind, path: spec.path, files };
}

async function readFile(
  own: StrandEntry,
  endBefore: bigint | null,
  { hashed, goOn }: StrandOptions,
): Promise<StrandFile | null> {
  const { entry } = own;
  let source: FileSource;
  try {
    source = FileSource.open(entry.path, entry.size);
  } catch (failure) {
    return { ...own, map: null, problem: problemOf(failure), sha256: null };
  }
  try {
    const reading = hashed ? new HashedSource(source) : source;
    let last = 0;
    const map = await drive(mapRecords(reading, { hints: hintsFor(reading, own, endBefore) }), (position) => {
      const passed = Math.max(0, position - last);
      last = Math.max(last, position);
      return goOn(passed);
    });
    if (map === null) return null;
    return { ...own, map, problem: map.stopped, sha256: reading instanceof HashedSource ? digestOf(reading) : null };
  } catch (failure) {
    return { ...own, map: null, problem: problemOf(failure), sha256: null };
  } finally {
    source.close();
  }
}

function digestOf(source: HashedSource): string | null {
  try {
    return source.sha256();
  } catch (failure) {
    problemOf(failure);
    return null;
  }
}

function problemOf(failure: unknown): { code: string; message: string } {
  if (!(failure instanceof ReadFailure)) throw failure;
  return { code: failure.code, message: failure.message };
}

/** Offsets that the first record may have, for a file whose own header does not say. */
function hintsFor(source: ByteSource, { index }: StrandEntry, endBefore: bigint | null): bigint[] {
  const bytes = new Uint8Array(SEGMENT_HEADER_LEN);
  const turned = turnedHeader(bytes.subarray(0, source.readAt(bytes, 0)))?.baseOffset ?? null;
  const indexed = index === null ? null : indexBase(index);
  return [turned, indexed, endBefore].filter((hint) => hint !== null);
}

/** The header that one flipped bit keeps from decoding; null when there is more to it. */
export function turnedHeader(bytes: Uint8Array): SegmentHeader | null {
  const flip = segmentHeaderBitFlip(bytes);
  if (flip === null) return null;
  const turned = new Uint8Array(bytes);
  turned[flip.position]! ^= 1 << flip.bit;
  const decoded = decodeSegmentHeader(turned);
  return decoded.ok ? decoded.value : null;
}

/** The base that an index names; null when it cannot be read as one. */
export function indexBase({ path, size }: Entry): bigint | null {
  try {
    const source = FileSource.open(path, size);
    try {
      const bytes = new Uint8Array(INDEX_HEADER_LEN);
      const header = decodeIndexHeader(bytes.subarray(0, source.readAt(bytes, 0)));
      return header.ok ? header.value.baseOffset : null;
    } finally {
      source.close();
    }
  } catch (failure) {
    problemOf(failure);
    return null;
  }
}

/** All intact records of a strand, by their first offset. */
export function extentsOf(strand: Strand): StrandExtent[] {
  const extents = strand.files.flatMap((file) => (file.map?.extents ?? []).map((extent) => ({ file, extent })));
  return extents.sort((a, b) => (a.extent.from < b.extent.from ? -1 : a.extent.from > b.extent.from ? 1 : 0));
}

/** Where the raw bytes of a file are read from. */
export function openFile({ entry }: StrandEntry): FileSource {
  return FileSource.open(entry.path as RawPath, entry.size);
}
