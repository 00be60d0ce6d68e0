/**
 * Sorting the entries of a shard's directory by what a broker would take them for.
 */

import { indexFileName, indexIdOf, segmentFileName, segmentIdOf } from '../format/names.js';
import type { Entry } from '../store/walk.js';
import { SHARD_SIDECARS } from '../store/walk.js';
import type { SoleFile } from './targets.js';

export interface SegmentEntry {
  readonly id: bigint;
  readonly entry: Entry;
  readonly index: Entry | null;
}

export interface ShardFiles {
  /** Regular files under the 20-digit name of a segment, by id. */
  readonly segments: readonly SegmentEntry[];
  /** Names that a broker takes for a segment id but does not open, of whatever type. */
  readonly unopenable: readonly { readonly id: bigint; readonly entry: Entry }[];
  readonly sidecars: ReadonlyMap<string, Entry>;
  /** Entries under a name of the format that are no regular file. */
  readonly notFiles: readonly Entry[];
  /** Everything else. */
  readonly strays: readonly Entry[];
}

/** `sole` is a file that was named by itself, and is taken for a segment whatever its name. */
export function sortShardFiles(entries: readonly Entry[], sole: SoleFile | null = null): ShardFiles {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const segments: SegmentEntry[] = [];
  const unopenable: { id: bigint; entry: Entry }[] = [];
  const sidecars = new Map<string, Entry>();
  const notFiles: Entry[] = [];
  const strays: Entry[] = [];
  for (const entry of entries) {
    const id = segmentIdOf(entry.name);
    const indexOf = indexIdOf(entry.name);
    const known = id !== null || indexOf !== null || SHARD_SIDECARS.includes(entry.name);
    if (sole?.segment && sole.name === entry.name && indexOf === null) {
      segments.push({ id: sole.segment.id, entry, index: byName.get(indexFileName(sole.segment.id)) ?? null });
    } else if (id !== null && entry.name !== segmentFileName(id)) unopenable.push({ id, entry });
    else if (known && entry.type !== 'file') notFiles.push(entry);
    else if (id !== null) {
      const index = byName.get(indexFileName(id)) ?? null;
      segments.push({ id, entry, index: index?.type === 'file' ? index : null });
    } else if (SHARD_SIDECARS.includes(entry.name)) sidecars.set(entry.name, entry);
    else if (indexOf === null || byName.get(segmentFileName(indexOf)) === undefined) strays.push(entry);
  }
  segments.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { segments, unopenable, sidecars, notFiles, strays };
}
