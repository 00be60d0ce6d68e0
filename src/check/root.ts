/**
 * The data root as it is found by a walk: its own files, and what was passed over on the way to the shards.
 */

import type { Finding } from '../domain/finding.js';
import type { RootReport } from '../domain/report.js';
import { FileSource } from '../store/file-source.js';
import { joinShown, type Listing, listDirectory } from '../store/walk.js';
import { makeFinding, type Subject } from './make-finding.js';
import { checkRootFiles, type RootInput } from './root-files.js';
import { describeType } from './strays.js';
import type { PassedOver } from './targets.js';

/** Stream markers and deleted directories beyond these are not listed. */
const LISTED = 1000;

/** Checks the files of a data root. Reads the stream markers, and only the names of what is deleted. */
export function checkRoot(listing: Listing): RootReport {
  const byName = new Map(listing.entries.map((entry) => [entry.name, entry]));
  const namesIn = (name: string): string[] => {
    const entry = byName.get(name);
    if (entry?.type !== 'directory') return [];
    const below = listDirectory(joinShown(listing.path, name), entry.path);
    return below.entries.map((found) => found.name).slice(0, LISTED);
  };
  const input: RootInput = {
    path: listing.path,
    streams: namesIn('.streams'),
    deleted: namesIn('.deleted'),
    read(name) {
      const entry = byName.get(name);
      if (entry !== undefined) return entry.type === 'directory' ? null : FileSource.open(entry.path);
      return name.startsWith('.streams/') ? FileSource.open(joinShown(String(listing.raw), name)) : null;
    },
  };
  return checkRootFiles(input).report;
}

/** What could not be listed, or was left alone, below a path. */
export function passedOverReport(path: string, items: readonly PassedOver[]): RootReport {
  return {
    path,
    findings: items.map(passedOverFinding),
    storageId: null,
    runState: null,
    registration: null,
    nodeId: null,
    layouts: {},
    streams: [],
    deleted: [],
  };
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
