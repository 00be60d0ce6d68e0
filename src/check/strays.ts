/**
 * Files that no reader of the format opens, told by their content: above all segments that lie under another name, as
 * interrupted repairs and copies leave them, and the offsets that these hold.
 */

import type { Finding } from '../domain/finding.js';
import { identify } from '../format/identify.js';
import { indexIdOf } from '../format/names.js';
import type { Scanner } from '../scan/scanner.js';
import type { ScanSettings } from '../scan/segment-file.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { isUnfinished, JournalsSeen } from '../store/journals.js';
import type { Entry } from '../store/walk.js';
import { makeFinding, type Subject } from './make-finding.js';
import type { StraySegment } from './segments.js';

const LOOKED_AT = 1024;
/** More strays than this are counted, not described. */
const DESCRIBED = 200;

export interface StrayFindings {
  readonly findings: Finding[];
  readonly segments: StraySegment[];
}

const TYPE_NAMES: Readonly<Record<Exclude<Entry['type'], 'file'>, string>> = {
  directory: 'a directory',
  link: 'a symbolic link, not followed',
  fifo: 'a FIFO',
  socket: 'a socket',
  device: 'a device',
};

/** What an entry is that is no regular file. */
export function describeType(type: Exclude<Entry['type'], 'file'>): string {
  return TYPE_NAMES[type];
}

export async function checkStrays(
  strays: readonly Entry[],
  subject: Subject,
  scanner: Scanner,
  settings: ScanSettings,
): Promise<StrayFindings> {
  const findings = repairJournals(subject, scanner);
  const segments: StraySegment[] = [];
  for (const entry of strays.slice(0, DESCRIBED)) {
    if (entry.type !== 'file') findings.push(stray(subject, entry, describeType(entry.type)));
    else findings.push(await checkFile(entry, subject, scanner, settings, segments));
  }
  if (strays.length > DESCRIBED) {
    const detail = { looksLike: `${strays.length - DESCRIBED} more files that no reader opens`, bytes: 0 };
    findings.push(makeFinding(subject, { kind: 'StrayFile', severity: 'info', file: null, detail }));
  }
  return { findings, segments };
}

/** Directories above the shards are listed once in a run; a scanner lives as long as that. */
const SEEN = new WeakMap<Scanner, JournalsSeen>();

/** Repairs by this tool whose journals lie beside the shard; those that were taken back leave nothing to say. */
function repairJournals(subject: Subject, scanner: Scanner): Finding[] {
  const seen = SEEN.get(scanner) ?? new JournalsSeen();
  SEEN.set(scanner, seen);
  return seen
    .beside(subject.path)
    .filter(({ state }) => state !== 'undone')
    .map((sighting) => {
      const { path, state, changedAt } = sighting;
      const detail = { looksLike: 'the journal of a repair', bytes: 0, journal: { path, state, changedAt } };
      const severity = isUnfinished(sighting) ? 'warning' : 'info';
      return { ...makeFinding(subject, { kind: 'StrayFile', severity, file: null, detail }), path };
    });
}

async function checkFile(
  entry: Entry,
  subject: Subject,
  scanner: Scanner,
  settings: ScanSettings,
  segments: StraySegment[],
): Promise<Finding> {
  let first: Uint8Array;
  try {
    first = firstBytes(entry);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const gone = failure.code === 'ENOENT';
    return gone
      ? makeFinding(subject, {
          kind: 'ChangedWhileReading',
          severity: 'info',
          file: entry.name,
          detail: { change: 'vanished', judgedBytes: 0 },
        })
      : makeFinding(subject, {
          kind: 'Unreadable',
          severity: 'error',
          file: entry.name,
          detail: { reason: failure.message, code: failure.code },
        });
  }
  const identity = identify(first, entry.size);
  if (identity.kind !== 'segment') {
    const note = indexIdOf(entry.name) === null ? undefined : 'there is no segment of that id beside it';
    return stray(subject, entry, identity.description, note === undefined ? {} : { note });
  }
  const answer = await scanner.scan({
    path: entry.path,
    size: entry.size,
    index: null,
    settings: { ...settings, quick: false },
  });
  const records = answer.is === 'scanned' ? answer.scan.records : null;
  if (records === null || records.firstOffset === null || records.lastOffset === null) {
    return stray(subject, entry, identity.description, { records: 0 });
  }
  const offsets = { from: records.firstOffset, to: records.lastOffset + 1n };
  segments.push({ file: entry.name, ...offsets });
  return stray(subject, entry, identity.description, { offsets, records: records.records });
}

function firstBytes(entry: Entry): Uint8Array {
  const source = FileSource.open(entry.path, entry.size);
  try {
    const bytes = new Uint8Array(Math.min(LOOKED_AT, entry.size));
    return bytes.subarray(0, source.readAt(bytes, 0));
  } finally {
    source.close();
  }
}

function stray(
  subject: Subject,
  entry: Entry,
  looksLike: string,
  more: { offsets?: { from: bigint; to: bigint }; records?: number; note?: string } = {},
): Finding {
  return makeFinding(subject, {
    kind: 'StrayFile',
    severity: 'info',
    file: entry.name,
    detail: { looksLike, bytes: entry.size, ...more },
  });
}
