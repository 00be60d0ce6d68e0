/**
 * The check of one shard: reads every file of it once, and puts together what the parts say.
 *
 * Order matters where a broker may be writing: small files are read before the segments whose tails they speak of. When
 * something worse than info is found and the directory has changed meanwhile, the shard is looked at again, and what does
 * not show twice is told as a change, not as damage.
 */

import type { Finding, FindingKind } from '../domain/finding.js';
import { SEVERITIES } from '../domain/finding.js';
import type { BrokerSettings, IndexReport, SegmentReport, ShardReport } from '../domain/report.js';
import { counted } from '../domain/wording.js';
import { indexFileName, indexIdOf, keyLabel, parseShardName, type ShardKey, segmentIdOf } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Scanner, SegmentAnswer } from '../scan/scanner.js';
import type { ReadProblem, ScanSettings } from '../scan/segment-file.js';
import { FileSource } from '../store/file-source.js';
import { type Entry, joinShown, type Listing } from '../store/walk.js';
import { fullOutcome } from './broker.js';
import { coverage, objectKeys } from './coverage.js';
import { EvidenceReader } from './evidence.js';
import { checkIndexes } from './indexes.js';
import { KeptDamages } from './kept-damages.js';
import { makeFinding, type Subject } from './make-finding.js';
import { type MemoryOptions, ShardMemory } from './memory.js';
import { predict } from './prediction.js';
import { checkRelations } from './relations.js';
import { assignRoles } from './roles.js';
import { checkDirectoryName } from './root-files.js';
import { checkSegments } from './segments.js';
import { contentOf, type SegmentFacts, type ShardFacts, type Sidecars } from './shard-facts.js';
import { type SegmentEntry, type ShardFiles, sortShardFiles } from './shard-files.js';
import { sidecarReports } from './sidecar-facts.js';
import { readSidecars } from './sidecar-files.js';
import { checkStrays, describeType } from './strays.js';
import type { SoleFile } from './targets.js';

export interface ShardCheckOptions {
  readonly settings: BrokerSettings;
  /** Only what a broker looks at on opening. */
  readonly quick: boolean;
  /** The key that the operator names. */
  readonly key: ShardKey | null;
  /** Directories of replicas, for the way out. */
  readonly replicas: readonly string[];
  readonly nowMicros: bigint;
  readonly windowBytes?: number;
  /** How long to wait for a directory that was written to just now to show that it is still at work. */
  readonly patienceMs?: number;
  /** Set when one file was named, and the rest of the shard is not looked at. */
  readonly sole: SoleFile | null;
  /** What earlier runs found clean, and this one need not read. */
  readonly memory?: MemoryOptions;
}

/** One shard as it was read, before anything is said of it. */
export interface ShardReading {
  readonly facts: ShardFacts;
  readonly subject: Subject;
  readonly files: ShardFiles;
  readonly key: ShardKey | null;
  /** 16 hex digits, or null. */
  readonly incarnation: string | null;
  readonly memory: ShardMemory | null;
}

/** Reads the small files and scans the segments; null when interrupted before anything could be said. */
export async function readShard(listing: Listing, scanner: Scanner, options: ShardCheckOptions): Promise<ShardReading> {
  const files = sortShardFiles(listing.entries, options.sole);
  const parsed = parseShardName(listing.name);
  const key = options.key ?? parsed?.key ?? null;
  const subject: Subject = {
    label: key === null ? listing.name : keyLabel(key),
    path: listing.path,
    replicas: options.replicas,
  };
  const sidecars = readSidecars(files.sidecars);
  const memory = memoryOf(listing, files, options);
  const segments = await scanSegments(files, sidecars, scanner, options, memory);
  const facts = factsOf(listing, subject, segments, sidecars, options, memory);
  return { facts, subject, files, key, incarnation: parsed?.incarnation ?? null, memory };
}

/** Checks the shard in a listed directory. When interrupted, what was not read yet counts as unread and not judged. */
export async function checkShard(listing: Listing, scanner: Scanner, options: ShardCheckOptions): Promise<ShardReport> {
  const reading = await readShard(listing, scanner, options);
  const report = await judgeShard(listing, reading, scanner, options);
  reading.memory?.keep(reading.facts.segments);
  return report;
}

/** Of one file by itself, or in a quick look, nothing is remembered and nothing recalled. */
function memoryOf(listing: Listing, files: ShardFiles, options: ShardCheckOptions): ShardMemory | null {
  if (options.memory === undefined || options.sole !== null || options.quick) return null;
  return ShardMemory.of(options.memory, listing, options.nowMicros, files);
}

/** Says what is to be said of a shard that was read. */
export async function judgeShard(
  listing: Listing,
  { facts, subject, files, key, incarnation }: ShardReading,
  scanner: Scanner,
  options: ShardCheckOptions,
): Promise<ShardReport> {
  const { segments, sidecars } = facts;
  const strays = await checkStrays(files.strays, subject, scanner, scanSettings(options));
  const relations = checkRelations(facts, subject);
  const naming =
    options.sole === null ? checkDirectoryName(listing.name, options.key, subject) : { findings: [], notChecked: [] };
  const evidence = new EvidenceReader(facts);
  const objectFor = objectKeys(facts);
  const findings = [
    ...naming.findings,
    ...namesFindings(files, subject),
    ...checkSegments({ facts, subject, evidence: evidence.of, strays: strays.segments, objectFor }),
    ...(isCopy(options.sole) ? [] : checkIndexes(facts, subject).filter((finding) => !isHidden(finding, files))),
    ...relations.findings,
    ...strays.findings,
    ...(options.sole === null ? noSegments(files, subject) : []),
  ].sort(byWeight);
  evidence.close();
  return {
    path: listing.path,
    name: listing.name,
    key: key === null ? null : keyLabel(key),
    incarnation,
    baseOffset: facts.base,
    tailOffset: intactTail(facts),
    segments: segments.map(segmentReport),
    sidecars: sidecarReports(sidecars),
    coverage: coverage(facts),
    findings,
    omitted: [...namesOmitted(files), ...omittedOf(segments), ...relations.omitted],
    notChecked: [...interruptedWords(segments), ...naming.notChecked, ...relations.notChecked],
    prediction: predict(facts, files.unopenable.slice(0, NAMED), findings, options.sole),
    bytesRead: segments.reduce((sum, { size, skippedSinceMicros: since }) => sum + (since === undefined ? size : 0), 0),
  };
}

/** A segment under a name of its own, beside which no index is to be expected. */
function isCopy(sole: SoleFile | null): boolean {
  return sole !== null && sole.segment !== null && segmentIdOf(sole.name) === null && indexIdOf(sole.name) === null;
}

function scanSettings(options: ShardCheckOptions): ScanSettings {
  return {
    nowMicros: options.nowMicros,
    ...(options.windowBytes === undefined ? {} : { windowBytes: options.windowBytes }),
  };
}

/** Scans every segment, the largest first. */
async function scanSegments(
  files: ShardFiles,
  sidecars: Sidecars,
  scanner: Scanner,
  options: ShardCheckOptions,
  memory: ShardMemory | null,
): Promise<SegmentFacts[]> {
  const order = files.segments.toSorted((a, b) => b.entry.size - a.entry.size);
  const full = fullyScanned(files, options);
  const answers = new Map<bigint, SegmentAnswer>();
  const kept = new KeptDamages();
  await Promise.all(
    order.map(async (segment) => {
      const { id, entry, index } = segment;
      const settings = { ...scanSettings(options), quick: !full.has(id) };
      const paths = { path: entry.path, index: index && { path: index.path, size: index.size } };
      const job = { ...paths, size: entry.size, settings };
      const answer = (await memory?.recall(segment, job)) ?? (await scanner.scan(job));
      answers.set(id, answer);
      if (answer.is === 'scanned' && answer.scan.records !== null) kept.add(id, answer.scan.records);
    }),
  );
  kept.settle();
  const segments = files.segments.map((segment) => segmentFacts(segment, answers.get(segment.id)!, memory));
  if (options.sole?.segment?.sealed) return segments;
  return assignRoles(segments, options.settings, contentOf(sidecars.replica)?.commit ?? null);
}

/** In a quick look only those segments are read whole that a broker may take for the newest. */
function fullyScanned(files: ShardFiles, options: ShardCheckOptions): Set<bigint> {
  const ids = files.segments.map(({ id }) => id);
  if (!options.quick || options.settings.verifyAllOnOpen) return new Set(ids);
  const full = new Set<bigint>();
  for (const { id, entry } of files.segments.toReversed()) {
    full.add(id);
    if (entry.size > SEGMENT_HEADER_LEN && full.size > 1) break;
  }
  return full;
}

/** So many names that cannot be opened, and so many that are no files, are told one by one. */
const NAMED = 1000;

/** Why a segment has no scan when the run was told to stop. */
const INTERRUPTED: ReadProblem = { code: 'INTERRUPTED', message: 'the run was interrupted', position: 0 };

function segmentFacts(
  { id, entry, index }: SegmentEntry,
  answer: SegmentAnswer,
  memory: ShardMemory | null,
): SegmentFacts {
  const skippedSinceMicros = memory?.verifiedAt(entry.name) ?? null;
  return {
    id,
    file: entry.name,
    size: entry.size,
    role: 'sealed',
    scan: answer.is === 'scanned' ? answer.scan : null,
    problem: answer.is === 'scanned' ? null : answer.is === 'unreadable' ? answer.problem : INTERRUPTED,
    indexFile: indexFileName(id),
    indexSize: index?.size ?? null,
    ...(skippedSinceMicros === null ? {} : { skippedSinceMicros }),
  };
}

function factsOf(
  listing: Listing,
  subject: Subject,
  segments: SegmentFacts[],
  sidecars: Sidecars,
  options: ShardCheckOptions,
  memory: ShardMemory | null,
): ShardFacts {
  const kept = segments.filter(({ role }) => role === 'sealed' || role === 'newest');
  // Of a small file that was named by itself, the log was not looked at.
  const begun = kept.length === 0 && (options.sole === null || segments.length > 0) ? 0n : null;
  const entries = new Map(listing.entries.map((entry) => [entry.name, entry]));
  const facts: ShardFacts = {
    label: subject.label,
    name: listing.name,
    path: listing.path,
    segments,
    sidecars,
    base: kept[0]?.scan?.head.header?.baseOffset ?? begun,
    tail: null,
    settings: options.settings,
    quick: options.quick,
    ...(memory === null ? {} : { sums: memory }),
    open: (file) => {
      const entry = entries.get(file);
      return FileSource.open(entry?.path ?? joinShown(listing.path, file), entry?.size);
    },
  };
  return { ...facts, tail: recoveredTail(facts) ?? begun };
}

/** The end of intact history in the newest segment after recovery's own cut. */
function recoveredTail(facts: ShardFacts): bigint | null {
  const newest = facts.segments.find(({ role }) => role === 'newest');
  if (newest === undefined) return null;
  const outcome = fullOutcome(newest, facts.settings, true);
  return outcome.is === 'whole' || outcome.is === 'cut' ? outcome.nextOffset : intactTail(facts);
}

/** What a reader of intact records sees as the next offset in the newest segment. */
export function intactTail(facts: ShardFacts): bigint | null {
  const newest = facts.segments.find(({ role }) => role === 'newest');
  if (newest === undefined) return facts.segments.some(({ role }) => role === 'blank-first') ? 0n : null;
  const { scan } = newest;
  if (scan === null || scan.records === null || scan.records.stopped !== null) return null;
  if (scan.records.lastOffset !== null) return scan.records.lastOffset + 1n;
  return scan.head.header?.baseOffset ?? null;
}

/** Entries under names of the format that a broker cannot open. */
export function namesFindings(files: ShardFiles, subject: Subject): Finding[] {
  const unopenable = files.unopenable.slice(0, NAMED).map(({ id, entry }) =>
    makeFinding(subject, {
      kind: 'SegmentFileName',
      severity: 'fatal',
      file: entry.name,
      segment: id,
      detail: { id, opened: indexFileName(id).replace(/index$/, 'log') },
    }),
  );
  const notFiles = files.notFiles.slice(0, NAMED).map((entry) =>
    makeFinding(subject, {
      kind: 'Unreadable',
      severity: 'error',
      file: entry.name,
      detail: { reason: entry.type === 'file' ? 'unknown' : describeType(entry.type), code: 'ENOTFILE' },
    }),
  );
  return [...unopenable, ...notFiles];
}

/** An index that is a link or the like is told as unreadable; it is not missing as well. */
function isHidden({ kind, file }: Finding, files: ShardFiles): boolean {
  return kind === 'IndexMissing' && files.notFiles.some(({ name }) => name === file);
}

/** A directory that holds files of a shard, and no log. */
export function noSegments(files: ShardFiles, subject: Subject): Finding[] {
  if (files.segments.length > 0 || files.unopenable.length > 0) return [];
  if (files.notFiles.some(({ name }) => name.endsWith('.log'))) return [];
  const names = [...files.sidecars.keys(), ...files.strays.map(({ name }) => name)].slice(0, 20);
  return [makeFinding(subject, { kind: 'NoSegments', severity: 'error', file: null, detail: { files: names } })];
}

function byWeight(a: Finding, b: Finding): number {
  const severity = SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity);
  if (severity !== 0) return severity;
  const [segmentA, segmentB] = [a.site.segment ?? -1n, b.site.segment ?? -1n];
  if (segmentA !== segmentB) return segmentA < segmentB ? -1 : 1;
  return (a.site.position ?? -1) - (b.site.position ?? -1);
}

function interruptedWords(segments: readonly SegmentFacts[]): string[] {
  const left = segments.filter(({ problem }) => problem === INTERRUPTED).length;
  return left === 0 ? [] : [`The run was interrupted: ${counted(left, 'segment')} of ${segments.length} not read.`];
}

/** What stands for the names that are counted only, under the first of them. */
function namesOmitted({ unopenable, notFiles }: ShardFiles): ShardReport['omitted'] {
  const counted = (kind: FindingKind, entries: readonly Entry[]) =>
    entries.slice(NAMED, NAMED + 1).map(({ name }) => ({ file: name, kind, count: entries.length - NAMED }));
  const refused = unopenable.map(({ entry }) => entry);
  return [...counted('SegmentFileName', refused), ...counted('Unreadable', notFiles)];
}

function omittedOf(segments: readonly SegmentFacts[]): ShardReport['omitted'] {
  return segments.flatMap(({ file, indexFile, scan }) => {
    const records = scan?.records;
    if (!records) return [];
    const damages = Array.from(records.omitted, ([kind, count]) => ({ file, kind, count }));
    const entries = records.entryMismatchesOmitted + (scan?.head.index?.droppedOmitted ?? 0);
    return entries === 0 ? damages : [...damages, { file: indexFile, kind: 'IndexEntry' as const, count: entries }];
  });
}

/** Every byte of a segment is verified, damaged or unread. */
function segmentReport(segment: SegmentFacts): SegmentReport {
  const { scan, size } = segment;
  const header = scan?.head.header ?? null;
  const records = scan?.records ?? null;
  const { damaged, unread } = accounts(segment);
  return {
    id: segment.id,
    file: segment.file,
    version: header?.version ?? null,
    baseOffset: header?.baseOffset ?? null,
    nextOffset: records?.nextOffset ?? scan?.resumed?.nextOffset ?? header?.baseOffset ?? null,
    createdAtMicros: header?.createdAtMicros ?? null,
    records: records?.records ?? 0,
    bytes: size,
    verifiedBytes: size - damaged - unread,
    damagedBytes: damaged,
    unreadBytes: unread,
    skippedSinceMicros: segment.skippedSinceMicros ?? null,
    firstTimestampMicros: records?.firstTimestampMicros ?? null,
    lastTimestampMicros: records?.lastTimestampMicros ?? null,
    index: indexReport(segment),
  };
}

function accounts({ role, scan, size, skippedSinceMicros }: SegmentFacts): { damaged: number; unread: number } {
  if (skippedSinceMicros !== undefined) return { damaged: 0, unread: size };
  if (scan === null || scan.head.problem !== null) return { damaged: 0, unread: size };
  if (role === 'blank-first' || size < SEGMENT_HEADER_LEN) return { damaged: size, unread: 0 };
  if (scan.head.headerDamage?.kind === 'SegmentVersion') return { damaged: 0, unread: size };
  const header = scan.head.header === null ? SEGMENT_HEADER_LEN : 0;
  if (scan.records === null) {
    // A quick look that met nothing: from the last index entry on every byte was verified.
    return { damaged: header, unread: (scan.resumed?.position ?? size) - SEGMENT_HEADER_LEN };
  }
  return { damaged: header + scan.records.damagedBytes, unread: size - scan.records.end };
}

function indexReport({ scan, role, indexFile }: SegmentFacts): IndexReport | null {
  const index = scan?.head.index ?? null;
  if (scan === null || index === null) return null;
  const judged = role === 'sealed' || role === 'newest' ? (scan.records?.checkedEntries ?? 0) : 0;
  return {
    file: indexFile,
    entries: index.entries,
    usable: scan.head.indexUsable,
    checkedEntries: judged,
    notJudgedEntries: index.kept - judged,
  };
}
