/**
 * The one shard that a command works on: the directory named, or the only shard below it.
 */

import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { discover, isShard, type Listing, listDirectory } from '../store/walk.js';

const NAMED = 5;

/** Throws a failure where there is no shard, or more than one. */
export function shardAt(path: string): Listing {
  const listing = listDirectory(path);
  const code = listing.problem?.code;
  if (code === 'ENOENT') fail({ reason: 'usage', message: `${printable(path)}: no such file or directory` });
  if (code !== undefined && code !== 'ENOTDIR') {
    fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(listing.problem!.message)}` });
  }
  if (isShard(listing)) return listing;
  const below: Listing[] = [];
  for (const item of discover(path, { includeDeleted: false })) {
    if (item.what === 'shard') below.push(item.listing);
    if (below.length > NAMED) break;
  }
  if (below.length === 1) return below[0]!;
  const names = below.slice(0, NAMED).map((shard) => printable(shard.path));
  const several = below.length > NAMED ? `${names.join(', ')} and more` : names.join(', ');
  const message = below.length === 0 ? 'not the directory of a shard' : `more than one shard is below: ${several}`;
  return fail({ reason: 'usage', message: `${printable(path)}: ${message}` });
}
