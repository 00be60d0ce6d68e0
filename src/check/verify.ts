/**
 * The check of many paths: has each shard and root checked, and gives what is said of them in the order of the walk.
 */

import type { RootReport, ShardReport } from '../domain/report.js';
import type { Scanner } from '../scan/scanner.js';
import { checkLiveShard } from './live.js';
import { checkRoot, passedOverReport } from './root.js';
import type { ShardCheckOptions } from './shard.js';
import { requirePaths, type Target, targetsOf } from './targets.js';

export interface VerifyOptions extends Omit<ShardCheckOptions, 'sole'> {
  readonly includeDeleted: boolean;
  /** How many shards may be under way at once. */
  readonly concurrency: number;
  /** Once aborted, nothing new is begun, and what is under way is reported as far as it got. */
  readonly signal?: AbortSignal;
}

export type VerifyEvent =
  | { readonly is: 'shard'; readonly report: ShardReport }
  | { readonly is: 'root'; readonly report: RootReport };

/** Throws a failure for a path that is not there, or holds nothing of the format. */
export async function* verifyPaths(
  paths: readonly string[],
  scanner: Scanner,
  options: VerifyOptions,
): AsyncGenerator<VerifyEvent> {
  requirePaths(paths);
  const pending: Promise<VerifyEvent>[] = [];
  for (const path of paths) {
    for (const target of targetsOf(path, options)) {
      if (options.signal?.aborted) break;
      const event = eventOf(target, scanner, options);
      // A rejection is met when its turn comes; until then it must not count as unhandled.
      event.catch(() => {});
      pending.push(event);
      if (pending.length >= options.concurrency) yield await pending.shift()!;
    }
  }
  for (const event of pending) yield await event;
}

async function eventOf(target: Target, scanner: Scanner, options: VerifyOptions): Promise<VerifyEvent> {
  if (target.what === 'root') return { is: 'root', report: checkRoot(target.listing) };
  if (target.what === 'passed-over') return { is: 'root', report: passedOverReport(target.path, target.items) };
  return { is: 'shard', report: await checkLiveShard(target.listing, scanner, { ...options, sole: target.sole }) };
}
