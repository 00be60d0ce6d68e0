/**
 * The data root: its identity and state, and what was passed over on the way to the shards.
 */

import type { Finding } from '../domain/finding.js';
import type { RootReport } from '../domain/report.js';
import type { Listing } from '../store/walk.js';
import { makeFinding, type Subject } from './make-finding.js';
import type { ShardCheckOptions } from './shard.js';
import { describeType } from './strays.js';
import type { PassedOver } from './targets.js';

export function checkRoot(listing: Listing, _options: Omit<ShardCheckOptions, 'sole'>, _sole: boolean): RootReport {
  return emptyRoot(listing.path, []);
}

/** What could not be listed, or was left alone, where there is no data root to tell it at. */
export function passedOverReport(path: string, items: readonly PassedOver[]): RootReport {
  return emptyRoot(path, items.map(passedOverFinding));
}

function passedOverFinding(item: PassedOver): Finding {
  const subject: Subject = { label: item.path, path: item.path };
  if (item.what === 'problem') {
    return makeFinding(subject, {
      kind: 'Unreadable',
      severity: 'error',
      file: null,
      detail: { reason: item.problem.message, code: item.problem.code },
    });
  }
  const { type } = item.entry;
  return makeFinding(subject, {
    kind: 'StrayFile',
    severity: 'info',
    file: null,
    detail: { looksLike: type === 'file' ? 'a file' : describeType(type), bytes: item.entry.size },
  });
}

function emptyRoot(path: string, findings: Finding[]): RootReport {
  return {
    path,
    findings,
    storageId: null,
    runState: null,
    registration: null,
    nodeId: null,
    layouts: {},
    streams: [],
    deleted: [],
  };
}
