/**
 * The shards that a salvage reads: which directories they are, whether they are replicas of one shard, and everything
 * intact in them.
 */

import { fail } from '../domain/result.js';
import type { SalvageSource } from '../domain/salvage.js';
import { greater, spanOf } from '../domain/units.js';
import { someOf } from '../domain/wording.js';
import { keyLabel, parseShardName } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { ReadFailure } from '../store/byte-source.js';
import { realPath } from '../store/path-facts.js';
import type { Listing } from '../store/walk.js';
import type { Sidecars } from './shard-facts.js';
import { sortShardFiles } from './shard-files.js';
import { readSidecars } from './sidecar-files.js';
import { extentsOf, readStrand, type Strand, type StrandFile, type StrandOptions, strandsOf } from './strands.js';
import { targetsOf } from './targets.js';

export interface SourceShard {
  readonly listing: Listing;
  /** Without links. */
  readonly real: string;
}

/** The one shard at or below each path. Throws a failure when there is none, or several, or they are not of one shard. */
export function sourceShards(paths: readonly string[]): SourceShard[] {
  const shards = paths.map(shardAt);
  const names = shards.map(({ listing }) => ({ path: listing.path, parsed: parseShardName(listing.name) }));
  const [first] = names.filter(({ parsed }) => parsed !== null);
  for (const { path, parsed } of names) {
    if (parsed === null || first === undefined) continue;
    if (parsed.hash === first.parsed!.hash && parsed.incarnation === first.parsed!.incarnation) continue;
    fail({ reason: 'usage', message: `${path} and ${first.path} are not replicas of one shard, by their names` });
  }
  return shards;
}

function shardAt(path: string): SourceShard {
  const listings: Listing[] = [];
  for (const target of targetsOf(path, { includeDeleted: true })) {
    if (target.what !== 'shard') continue;
    if (target.sole !== null)
      fail({ reason: 'usage', message: `${path}: a shard's directory is meant, not a file of it` });
    listings.push(target.listing);
  }
  const [listing] = listings;
  if (listing === undefined) fail({ reason: 'usage', message: `${path}: there is no shard here` });
  if (listings.length > 1) {
    fail({
      reason: 'usage',
      message: `${path}: ${listings.length} shards are below, name one: ${someOf(listings.map((each) => each.path))}`,
    });
  }
  try {
    return { listing, real: realPath(listing.path) ?? listing.path };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return fail({ reason: 'unreadable', message: `${path}: ${failure.message}` });
  }
}

/** The name that a broker knows the shard by, as far as the directories tell, and the key when the name proves it. */
export function shardIdentity(shards: readonly SourceShard[]): { readonly name: string; readonly key: string | null } {
  const named = shards.find(({ listing }) => parseShardName(listing.name) !== null) ?? shards[0]!;
  const { name } = named.listing;
  const key = parseShardName(name)?.key ?? null;
  return { name, key: key === null ? null : keyLabel(key) };
}

export interface SalvageInput {
  readonly strands: readonly Strand[];
  readonly sidecars: readonly Sidecars[];
}

/** Reads everything; null when told to stop. */
export async function readSources(
  shards: readonly SourceShard[],
  options: StrandOptions,
): Promise<SalvageInput | null> {
  const strands: Strand[] = [];
  for (const { listing } of shards) {
    for (const spec of strandsOf(listing)) {
      const strand = await readStrand(spec, options);
      if (strand === null) return null;
      strands.push(strand);
    }
  }
  const sidecars = shards.map(({ listing }) => readSidecars(sortShardFiles(listing.entries).sidecars));
  return { strands, sidecars };
}

/** Bytes of all files that {@link readSources} would read, for showing progress. */
export function sourceBytes(shards: readonly SourceShard[]): number {
  const entries = shards.flatMap(({ listing }) => strandsOf(listing).flatMap((spec) => spec.entries));
  return entries.reduce((sum, { entry }) => sum + entry.size, 0);
}

/** What is said of each file. */
export function sourceReports({ strands }: SalvageInput): SalvageSource[] {
  return strands.flatMap(({ kind, files }) =>
    files.map((file): SalvageSource => {
      const { map, entry } = file;
      const extents = map?.extents ?? [];
      const intact = extents.reduce((sum, { start, end }) => sum + (end - start), 0);
      const read = map === null || map.otherBuild ? 0 : (map.stopped?.position ?? entry.size);
      const header = map?.header == null ? 0 : SEGMENT_HEADER_LEN;
      return {
        path: file.path,
        kind: kind === 'segments' ? 'segment' : 'stray',
        bytes: entry.size,
        mtimeNs: entry.mtimeNs,
        sha256: file.sha256,
        records: map?.records ?? 0,
        offsets: spanOf(extents),
        damagedBytes: Math.max(0, read - intact - header),
        unreadBytes: entry.size - read,
        problem: problemWords(file),
      };
    }),
  );
}

function problemWords({ map, problem }: StrandFile): string | null {
  if (problem !== null) return problem.message;
  return map?.otherBuild ? 'written by another build, in a version that this one does not read' : null;
}

/** About as many bytes as will be written, each offset counted once. */
export function expectedBytes(strands: readonly Strand[]): number {
  const extents = strands.flatMap(extentsOf).sort((a, b) => (a.extent.from < b.extent.from ? -1 : 1));
  let reached = extents[0]?.extent.from ?? 0n;
  let bytes = 0;
  for (const { extent } of extents) {
    const { from, to, start, end } = extent;
    if (to <= reached) continue;
    const fresh = Number(to - greater(from, reached));
    bytes += ((end - start) * fresh) / Number(to - from);
    reached = to;
  }
  return Math.ceil(bytes);
}
