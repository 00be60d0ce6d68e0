/**
 * Donors: where the records of a heal may come from. A replica's directory, the runs of a salvage, or segments that are
 * plain files, such as objects of an object store; everything that belongs to one directory is one donor.
 */

import { fail } from '../domain/result.js';
import { greater } from '../domain/units.js';
import { crc32 } from '../format/checksum.js';
import type { EpochEntry } from '../format/epochs.js';
import { decodeEpochs } from '../format/epochs.js';
import type { ManifestEntry } from '../format/manifest.js';
import { parseShardName } from '../format/names.js';
import { pieces } from '../scan/pieces.js';
import { ReadFailure } from '../store/byte-source.js';
import { realPath } from '../store/path-facts.js';
import { discover, isShard, joinShown, type Listing, listDirectory, statPath } from '../store/walk.js';
import { contentOf } from './shard-facts.js';
import { sortShardFiles } from './shard-files.js';
import { readSidecar } from './sidecar-files.js';
import {
  extentsOf,
  isSegment,
  openFile,
  readStrand,
  type Strand,
  type StrandEntry,
  type StrandExtent,
  type StrandOptions,
  type StrandSpec,
  strandsOf,
} from './strands.js';

export interface DonorSpec {
  /** As given or found. */
  readonly name: string;
  readonly spec: StrandSpec;
  /** Null when the donor has no history that can be read. */
  readonly epochs: readonly EpochEntry[] | null;
}

export interface Donor extends ExtentIndex {
  readonly name: string;
  readonly strand: Strand;
  readonly epochs: readonly EpochEntry[] | null;
  /** Files that the target's own manifest names, byte for byte. */
  readonly vouched: ReadonlySet<StrandEntry>;
}

/** How deep below the argument files are looked for. */
const MAX_DEPTH = 16;

/**
 * What each path gives. Throws a failure for a path that is not there, gives nothing, or is the target itself. Below a
 * directory that holds many shards, those are passed over that are not the target's by their names.
 */
export function donorSpecs(paths: readonly string[], targetReal: string): DonorSpec[] {
  const isOurs = sameShardAs(targetReal.slice(targetReal.lastIndexOf('/') + 1));
  const specs: DonorSpec[] = [];
  const loose = new Map<string, StrandEntry[]>();
  for (const path of paths) {
    const at = statPath(path);
    if (at === null) fail({ reason: 'usage', message: `${path}: no such file or directory` });
    if ('code' in at) fail({ reason: 'unreadable', message: `${path}: ${at.message}` });
    const found =
      at.type === 'directory' ? inDirectory(path, isOurs) : [{ directory: parentOf(path), entry: soleFile(path) }];
    let count = 0;
    for (const each of found) {
      count++;
      if ('listing' in each) specs.push(shardDonor(each.listing, targetReal));
      else loose.set(each.directory, [...(loose.get(each.directory) ?? []), each.entry]);
    }
    if (count === 0)
      fail({ reason: 'usage', message: `${path}: no replica of the shard is here, and no segment of it` });
  }
  for (const [directory, entries] of loose) {
    const spec: StrandSpec = { kind: 'objects', path: directory, entries };
    specs.push({ name: entries.length === 1 ? entries[0]!.path : directory, spec, epochs: null });
  }
  return specs;
}

type Found = { readonly listing: Listing } | { readonly directory: string; readonly entry: StrandEntry };

/** Shards, and segments that lie in no shard, at and below a directory. */
function* inDirectory(path: string, isOurs: (name: string) => boolean): Generator<Found> {
  for (const item of discover(path, { includeDeleted: false })) {
    if (item.what === 'shard' && isOurs(item.listing.name)) yield { listing: item.listing };
    if (item.what === 'problem') fail({ reason: 'unreadable', message: `${item.path}: ${item.problem.message}` });
  }
  yield* looseFiles(path, isOurs, 0);
}

/** True for the name of a directory that may belong to the same shard: one that says nothing may. */
function sameShardAs(target: string): (name: string) => boolean {
  const own = parseShardName(target);
  return (name) => {
    const other = parseShardName(name);
    return own === null || other === null || (own.hash === other.hash && own.incarnation === other.incarnation);
  };
}

function* looseFiles(path: string, isOurs: (name: string) => boolean, depth: number): Generator<Found> {
  const listing = listDirectory(path);
  if (!isOurs(listing.name)) return;
  const shard = isShard(listing);
  for (const entry of listing.entries) {
    const shown = joinShown(path, entry.name);
    if (entry.type === 'directory' && depth < MAX_DEPTH && !entry.name.startsWith('.'))
      yield* looseFiles(shown, isOurs, depth + 1);
    if (shard || entry.type !== 'file' || !isSegment(entry)) continue;
    yield { directory: path, entry: { path: shown, entry, id: null, index: null } };
  }
}

function soleFile(path: string): StrandEntry {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const entry = listDirectory(parentOf(path)).entries.find((candidate) => candidate.name === name);
  if (entry === undefined) fail({ reason: 'usage', message: `${path}: no such file` });
  if (entry.type !== 'file') fail({ reason: 'usage', message: `${path}: neither a directory nor a regular file` });
  if (!isSegment(entry)) fail({ reason: 'usage', message: `${path}: neither a directory nor a segment` });
  return { path, entry, id: null, index: null };
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : path.slice(0, slash) || '/';
}

function shardDonor(listing: Listing, targetReal: string): DonorSpec {
  if (realPath(listing.path) === targetReal) {
    fail({ reason: 'usage', message: `${listing.path}: it is the shard that is to be healed` });
  }
  const [spec] = strandsOf(listing);
  const epochs = readSidecar<{ entries: readonly EpochEntry[] }>(
    sortShardFiles(listing.entries).sidecars.get('epochs'),
    'epochs',
    decodeEpochs,
  );
  return { name: listing.path, spec: spec!, epochs: contentOf(epochs)?.entries ?? null };
}

/** Reads everything; null when told to stop. `manifest` is the target's own. */
export async function readDonors(
  specs: readonly DonorSpec[],
  manifest: readonly ManifestEntry[],
  options: StrandOptions,
): Promise<Donor[] | null> {
  const donors: Donor[] = [];
  for (const { name, spec, epochs } of specs) {
    const strand = await readStrand(spec, options);
    if (strand === null) return null;
    donors.push({ name, strand, epochs, ...extentIndex(strand), vouched: vouchedFiles(strand, manifest) });
  }
  return donors;
}

/** Extents by their first offset, to be looked up by {@link overlapping}. */
export interface ExtentIndex {
  readonly extents: readonly StrandExtent[];
  /** Of the extents up to each one, the end of the farthest. */
  readonly reaches: readonly bigint[];
}

export function extentIndex(strand: Strand): ExtentIndex {
  const extents = extentsOf(strand);
  let reach = 0n;
  const reaches = extents.map(({ extent }) => {
    reach = greater(reach, extent.to);
    return reach;
  });
  return { extents, reaches };
}

/** Files that an entry of the manifest describes: base, last offset, size and checksum are all its own. */
function vouchedFiles({ files }: Strand, manifest: readonly ManifestEntry[]): Set<StrandEntry> {
  const vouched = new Set<StrandEntry>();
  for (const file of files) {
    const { map, entry } = file;
    if (map?.header == null || map.nextOffset === null) continue;
    const described = manifest.find(
      ({ baseOffset, lastOffset, size }) =>
        baseOffset === map.header!.baseOffset && lastOffset + 1n === map.nextOffset && size === BigInt(entry.size),
    );
    if (described !== undefined && checksumOf(file) === described.checksum) vouched.add(file);
  }
  return vouched;
}

function checksumOf(file: StrandEntry): number | null {
  try {
    const source = openFile(file);
    try {
      let crc = 0;
      for (const piece of pieces(source, 0, source.size)) crc = crc32(piece, crc);
      return crc;
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return null;
  }
}

/** The extents that hold an offset of `[from, to)`. */
export function overlapping({ extents, reaches }: ExtentIndex, from: bigint, to: bigint): StrandExtent[] {
  let low = 0;
  let high = extents.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (extents[middle]!.extent.from < to) low = middle + 1;
    else high = middle;
  }
  const found: StrandExtent[] = [];
  for (let at = low - 1; at >= 0 && reaches[at]! > from; at--)
    if (extents[at]!.extent.to > from) found.push(extents[at]!);
  return found.reverse();
}

/** Bytes of donors, for showing progress. */
export function donorBytes(specs: readonly DonorSpec[]): number {
  return specs.reduce((sum, { spec }) => sum + spec.entries.reduce((all, { entry }) => all + entry.size, 0), 0);
}
