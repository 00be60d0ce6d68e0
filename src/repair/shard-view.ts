/**
 * A shard as a planner sees it: every file of the format with its checksum, and the small files that a cut rewrites.
 *
 * Read in one go, so that a plan rests on what it names. Nothing is written.
 */

import type { FileState, PlanFile } from '../domain/plan.js';
import type { SidecarReading } from '../domain/sidecar.js';
import type { ByteFeed } from '../format/bytes.js';
import { decodeEpochs, type EpochEntry } from '../format/epochs.js';
import { decodeManifest, type ManifestEntry } from '../format/manifest.js';
import { decodeReplica } from '../format/replica.js';
import { ReadFailure } from '../store/byte-source.js';
import { digestFile, PinnedFile } from '../store/file-digest.js';
import { joinShown, type Listing } from '../store/walk.js';
import { concernsBroker } from './shard-file.js';

export interface ShardView {
  /** Absolute, without a link in it. */
  readonly path: string;
  readonly name: string;
  readonly key: string | null;
  /** Every file of the format, by name. */
  readonly files: ReadonlyMap<string, PlanFile>;
  /** One past the last record known committed; 0 without a `replica` that can be read as one. */
  readonly commit: bigint;
  /** Null when the file is not there, or reads as empty because it is damaged. */
  readonly epochs: readonly EpochEntry[] | null;
  readonly manifest: { readonly entries: readonly ManifestEntry[]; readonly reserved: number } | null;
}

/** A file of the shard is not what the listing said, or no file that a repair can deal with. */
export class ShardChanged extends Error {}

const FEED_BYTES = 1 << 20;

/**
 * Reads everything that a plan depends on, and holds it to the listing that the check was made from. Throws
 * {@link ReadFailure} for a file that cannot be read, {@link ShardChanged} for one that has changed since.
 */
export function viewShard(listing: Listing, path: string, key: string | null): ShardView {
  const files = new Map<string, PlanFile>();
  for (const entry of listing.entries) {
    if (!concernsBroker(entry.name)) continue;
    if (entry.type !== 'file') throw new ReadFailure('ENOTFILE', 0, `${entry.name} is not a regular file`);
    const { size, crc32, facts } = digestFile(joinShown(path, entry.name));
    const same = facts.inode === entry.inode && size === entry.size && facts.mtimeNs === entry.mtimeNs;
    if (!same) throw new ShardChanged(`${entry.name} has changed while it was looked at`);
    files.set(entry.name, { file: entry.name, size, crc32, mtimeNs: facts.mtimeNs });
  }
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    key,
    files,
    commit: files.has('replica') ? commitIn(joinShown(path, 'replica')) : 0n,
    epochs: files.has('epochs') ? epochsIn(joinShown(path, 'epochs')) : null,
    manifest: files.has('offload.manifest') ? manifestIn(joinShown(path, 'offload.manifest')) : null,
  };
}

/** What the plan says of a file; null when it is not there. */
export function stateIn(view: ShardView, file: string): FileState | null {
  const known = view.files.get(file);
  return known === undefined ? null : { size: known.size, crc32: known.crc32 };
}

function commitIn(path: string): bigint {
  return decoded(path, decodeReplica)?.commit ?? 0n;
}

function epochsIn(path: string): readonly EpochEntry[] | null {
  return decoded(path, decodeEpochs)?.entries ?? null;
}

function manifestIn(path: string): ShardView['manifest'] {
  const entries: ManifestEntry[] = [];
  const value = decoded(path, (feed) => decodeManifest(feed, (entry) => entries.push(entry)));
  return value === null ? null : { entries, reserved: value.reserved ?? 0 };
}

/** What a reader takes the file for; null when it takes it for nothing. */
function decoded<T>(path: string, decode: (feed: ByteFeed) => SidecarReading<T>): T | null {
  const file = PinnedFile.open(path);
  try {
    return decode(feedOver(file)).value;
  } finally {
    file.close();
  }
}

/** Views of a file, a megabyte at a time or as long as one view is. */
function feedOver(file: PinnedFile): ByteFeed {
  let start = 0;
  let bytes: Uint8Array = new Uint8Array(0);
  return {
    size: file.size,
    view(position, length) {
      if (position < start || position + length > start + bytes.length) {
        bytes = new Uint8Array(Math.min(Math.max(length, FEED_BYTES), file.size - position));
        start = position;
        let at = 0;
        for (const piece of file.pieces(position, position + bytes.length)) {
          bytes.set(piece, at);
          at += piece.length;
        }
      }
      return bytes.subarray(position - start, position - start + length);
    },
  };
}
