/**
 * A shard as `inspect` shows it: what is in it, and what was met on the way.
 *
 * It rests on the reading that `verify` rests on, with a scanner that looks at tails alone unless all was asked for, and
 * leaves out what files say of each other.
 */

import type { Finding } from '../domain/finding.js';
import type {
  InspectedDamage,
  InspectedSegment,
  InspectedStranger,
  ListedShard,
  ShardInspection,
} from '../domain/inspection.js';
import { identify } from '../format/identify.js';
import { keyLabel } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Scanner } from '../scan/scanner.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import type { Entry, Listing } from '../store/walk.js';
import { EvidenceReader } from './evidence.js';
import { checkIndexes } from './indexes.js';
import { inspectSidecar } from './inspect-sidecar.js';
import { endOf } from './log.js';
import { checkSegments } from './segments.js';
import {
  intactTail,
  namesFindings,
  noSegments,
  readShard,
  type ShardCheckOptions,
  type ShardReading,
} from './shard.js';
import type { SegmentFacts } from './shard-facts.js';
import { describeType } from './strays.js';

export interface InspectOptions {
  /** Every record is read, and more elements of lists are told. */
  readonly full: boolean;
  readonly nowMicros: bigint;
  readonly includeDeleted: boolean;
}

const IDENTIFYING_BYTES = 1024;
/** Strangers beyond these are not opened. */
const TOLD_STRANGERS = 200;

export const NOT_HELD_TOGETHER = 'what the files say of each other (felix-fsck verify does)';
const TAILS_ONLY =
  'records in front of the last index entry of a segment, the first one apart: neither their checksums nor their number (--full reads all)';

/** What a shard holds; null when interrupted. */
export async function inspectShard(
  listing: Listing,
  scanner: Scanner,
  options: InspectOptions,
): Promise<ShardInspection | null> {
  const reading = await readShard(listing, scanner, shardOptions(options));
  if (reading === null) return null;
  const { facts, files, subject, key, incarnation } = reading;
  const small = [...files.sidecars].map(([name, entry]) =>
    inspectSidecar(entry.path, name, entry.size, subject, options.full),
  );
  const segments = facts.segments.map(inspectedSegment);
  const full = segments.every(({ records }) => records !== null);
  const findings = [...segmentFindings(reading), ...small.flatMap(({ judgement }) => judgement.findings)];
  const times = segments.filter(({ firstTimestampMicros }) => firstTimestampMicros !== null);
  return {
    type: 'shard',
    path: listing.path,
    name: listing.name,
    key: key === null ? null : keyLabel(key),
    incarnation,
    baseOffset: facts.base,
    nextOffset: intactTail(facts),
    firstTimestampMicros: times[0]?.firstTimestampMicros ?? null,
    lastTimestampMicros: segments.findLast((each) => each.lastTimestampMicros !== null)?.lastTimestampMicros ?? null,
    bytes: bytesOf(listing),
    full,
    segments,
    sidecars: small.map(({ sidecar }) => sidecar),
    strangers: strangersOf(reading),
    damage: inspectedDamage([...namesFindings(files, subject), ...noSegments(files, subject), ...findings]),
    notVerified: [...(full ? [] : [TAILS_ONLY]), NOT_HELD_TOGETHER],
  };
}

/** One line of a list of shards; null when interrupted. */
export async function listShard(
  listing: Listing,
  scanner: Scanner,
  options: InspectOptions,
): Promise<{ readonly shard: ListedShard; readonly worst: readonly InspectedDamage[] } | null> {
  const inspected = await inspectShard(listing, scanner, options);
  if (inspected === null) return null;
  const { path, name, key, segments, bytes, baseOffset, nextOffset, lastTimestampMicros, damage } = inspected;
  const shard = {
    path,
    name,
    key,
    segments: segments.length,
    bytes,
    baseOffset,
    nextOffset,
    lastTimestampMicros,
    damage: damage.length,
  };
  return { shard, worst: damage };
}

export function shardOptions(options: InspectOptions): ShardCheckOptions {
  return {
    settings: { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 },
    quick: false,
    key: null,
    replicas: [],
    nowMicros: options.nowMicros,
    sole: null,
  };
}

/** What is wrong with the segments and indexes as far as they were read. */
export function segmentFindings({ facts, subject }: ShardReading): Finding[] {
  const evidence = new EvidenceReader(facts);
  try {
    return [
      ...checkSegments({ facts, subject, evidence: evidence.of, strays: [], objectFor: () => null }),
      ...checkIndexes(facts, subject),
    ];
  } finally {
    evidence.close();
  }
}

/** Findings as what was met on the way; what is worth no more than knowing is left to `verify`. */
export function inspectedDamage(findings: readonly Finding[]): InspectedDamage[] {
  return findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ kind, severity, file, site, message }) => ({
      kind,
      severity,
      file,
      position: site.position ?? null,
      message,
    }));
}

/** The number of records is told only where each one was seen. */
export function inspectedSegment(segment: SegmentFacts): InspectedSegment {
  const { id, file, size, scan, indexFile, indexSize } = segment;
  const header = scan?.head.header ?? null;
  const records = scan?.records ?? null;
  const whole = records !== null && records.start === SEGMENT_HEADER_LEN && records.stopped === null;
  return {
    id,
    file,
    bytes: size,
    version: header?.version ?? null,
    baseOffset: header?.baseOffset ?? null,
    nextOffset: endOf(segment),
    records: whole ? records.records : null,
    createdAtMicros: header?.createdAtMicros ?? null,
    firstTimestampMicros: records?.firstTimestampMicros ?? null,
    lastTimestampMicros: records?.lastTimestampMicros ?? null,
    verifiedFrom: records?.start ?? null,
    index: indexSize === null ? null : { file: indexFile, bytes: indexSize, entries: scan?.head.index?.entries ?? 0 },
  };
}

function bytesOf(listing: Listing): number {
  return listing.entries.reduce((sum, { type, size }) => (type === 'file' ? sum + size : sum), 0);
}

function strangersOf({ files }: ShardReading): InspectedStranger[] {
  const entries = [...files.unopenable.map(({ entry }) => entry), ...files.notFiles, ...files.strays];
  return entries.map((entry, at) => ({
    file: entry.name,
    bytes: entry.type === 'file' ? entry.size : 0,
    description: at < TOLD_STRANGERS ? describedAs(entry) : 'not looked at',
  }));
}

function describedAs(entry: Entry): string {
  if (entry.type !== 'file') return describeType(entry.type);
  try {
    const source = FileSource.open(entry.path, entry.size);
    try {
      const bytes = new Uint8Array(Math.min(IDENTIFYING_BYTES, entry.size));
      return identify(bytes.subarray(0, source.readAt(bytes, 0)), entry.size).description;
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return `unreadable (${failure.code})`;
  }
}
