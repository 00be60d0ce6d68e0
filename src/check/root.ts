/**
 * The data root as it is found by a walk: its own files, and what was passed over on the way to the shards.
 */

import type { Finding } from '../domain/finding.js';
import type { RootReport } from '../domain/report.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { type Entry, joinShown, type Listing, listDirectory } from '../store/walk.js';
import { makeFinding, type Subject } from './make-finding.js';
import { checkRootFiles, type RootInput } from './root-files.js';
import { describeType } from './strays.js';
import type { PassedOver } from './targets.js';

/** Stream markers and deleted directories beyond these are not listed. */
const LISTED = 1000;

/** Checks the files of a data root. Reads the stream markers, and only the names of what is deleted. */
export function checkRoot(listing: Listing): RootReport {
  const byName = new Map(listing.entries.map((entry) => [entry.name, entry]));
  const entriesIn = (name: string): readonly Entry[] => {
    const entry = byName.get(name);
    if (entry?.type !== 'directory') return [];
    return listDirectory(joinShown(listing.path, name), entry.path).entries.slice(0, LISTED);
  };
  const streams = entriesIn('.streams');
  const input: RootInput = {
    path: listing.path,
    streams: streams.map(({ name }) => name),
    deleted: entriesIn('.deleted').map(({ name }) => name),
    read(name) {
      const entry = byName.get(name);
      if (entry !== undefined) return openFile(entry);
      const marker = streams.find((found) => `.streams/${found.name}` === name);
      return marker === undefined ? null : openFile(marker);
    },
  };
  return checkRootFiles(input).report;
}

/** Throws {@link ReadFailure} for what is no regular file: links are not followed here. */
function openFile({ type, path }: Entry): FileSource {
  if (type !== 'file') throw new ReadFailure('ENOTFILE', 0, describeType(type));
  return FileSource.open(path);
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
