/**
 * The one shard that a command works on: the directory named, or the only shard below it.
 */

import { fail } from '../domain/result.js';
import { printable, someOf } from '../domain/wording.js';
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
  const several = below.length > NAMED ? `more than ${NAMED} shards are` : `${below.length} shards are`;
  const names = someOf(below.map((shard) => shard.path));
  const message = below.length === 0 ? 'not the directory of a shard' : `${several} below, name one: ${names}`;
  return fail({ reason: 'usage', message: `${printable(path)}: ${message}` });
}
