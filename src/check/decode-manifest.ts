/**
 * An offload manifest by itself, against the shard in whose directory it lies, and against the objects when they are given.
 *
 * Nothing is said of an object that was not looked for, nor of a log that is not beside the manifest.
 */

import type { LocalState, ManifestEntryReport, ManifestReport, ObjectState } from '../domain/manifest-report.js';
import { fail } from '../domain/result.js';
import { hex32 } from '../format/checksum.js';
import { decodeManifest, type ManifestEntry } from '../format/manifest.js';
import { parseObjectKey } from '../format/names.js';
import type { Scanner } from '../scan/scanner.js';
import { ReadFailure } from '../store/byte-source.js';
import { ObjectStore } from '../store/object-store.js';
import { discover, type Entry, type Listing, listDirectory, statPath } from '../store/walk.js';
import { coverage } from './coverage.js';
import { fileName, kindByName } from './file-kind.js';
import { shardOptions } from './inspect-shard.js';
import { Judge } from './judgement.js';
import { logSegments, wasReadWhole } from './log.js';
import { checkManifest } from './manifest.js';
import { checkObjects } from './objects.js';
import { readShard } from './shard.js';
import type { ShardFacts } from './shard-facts.js';
import { reportSidecarDamage } from './sidecar-damage.js';
import { readSidecar } from './sidecar-files.js';

export interface ManifestOptions {
  /** The directory of objects; null not to look for any. */
  readonly objects: string | null;
  readonly nowMicros: bigint;
  goOn(): Promise<boolean>;
}

const NAME = 'offload.manifest';

/** Decodes and checks; null when interrupted. Fails for a path where no manifest is. */
export async function decodeManifestAt(
  path: string,
  scanner: Scanner,
  options: ManifestOptions,
): Promise<ManifestReport | null> {
  const { listing, entry } = locate(path);
  const store = options.objects === null ? null : storeAt(options.objects);
  const inspect = { full: true, nowMicros: options.nowMicros, includeDeleted: false };
  const reading = await readShard(listing, scanner, shardOptions(inspect));
  if (reading === null) return null;
  const { subject } = reading;
  const manifest = readSidecar(entry, entry.name, (feed) => decodeManifest(feed));
  if (manifest === null) return null;
  const facts = factsWith(reading.facts, manifest);
  const judge = new Judge(subject);
  reportSidecarDamage(judge, manifest, 'fatal');
  const value = manifest.reading?.value ?? null;
  const entries = value?.entries ?? manifest.reading?.claimed.entries ?? [];
  const relations = checkManifest(facts, subject);
  let objects: ObjectState[] | null = entries.map(() => 'not checked');
  if (store === null) judge.skip('No directory of objects was given, so no object was looked for (--objects DIR).');
  else if (value === null) judge.skip('The manifest does not decode, so its objects were not looked for.');
  else objects = await checkObjects(judge, manifest.file, entries, { store, ...options });
  if (objects === null) return null;
  const alone = facts.segments.length === 0;
  if (alone) judge.skip('No segment lies beside the manifest, so it was held against no log.');
  const { findings, notChecked, omitted } = judge.judgement;
  const local = localStates(facts, entries, relations.findings);
  return {
    path: entry.name === fileName(path) ? path : `${listing.path.replace(/\/+$/, '')}/${entry.name}`,
    shard: subject.label,
    bytes: manifest.size,
    state: manifest.reading === null ? 'unreadable' : value === null ? 'damaged' : 'sound',
    count: value?.count ?? manifest.reading?.claimed.count ?? null,
    entries: entries.map((each, number) => entryReport(each, number, local[number]!, objects[number]!)),
    objects: options.objects,
    coverage: alone ? null : coverage(facts),
    findings: [...findings, ...relations.findings],
    omitted: [...omitted, ...relations.omitted],
    notChecked: [...new Set([...notChecked, ...relations.notChecked])],
  };
}

/** The manifest and the directory that it lies in. */
function locate(path: string): { listing: Listing; entry: Entry } {
  const at = statPath(path);
  if (at === null) fail({ reason: 'usage', message: `${path}: no such file or directory` });
  if ('code' in at) fail({ reason: 'unreadable', message: `${path}: ${at.message}` });
  if (at.type === 'directory') {
    const listing = listDirectory(path);
    if (listing.problem !== null) fail({ reason: 'unreadable', message: `${path}: ${listing.problem.message}` });
    const entry = listing.entries.find(({ name, type }) => name === NAME && type === 'file');
    if (entry !== undefined) return { listing, entry };
    return onlyBelow(path) ?? fail({ reason: 'usage', message: `${path}: there is no ${NAME} here` });
  }
  if (at.type !== 'file') fail({ reason: 'usage', message: `${path}: neither a file nor a directory` });
  const name = fileName(path);
  if (name !== NAME && kindByName(name) !== null) {
    fail({ reason: 'usage', message: `${path}: by its name no ${NAME}; felix-fsck inspect tells what it holds` });
  }
  const directory = path.slice(0, path.length - name.length).replace(/(?<=.)\/+$/, '');
  const listing = listDirectory(directory === '' ? '.' : directory);
  const entry: Entry = { name, path, type: 'file', size: at.size, inode: 0n, device: 0n, mtimeNs: 0n };
  return { listing, entry: { ...listing.entries.find((each) => each.name === name), ...entry } };
}

/** The manifest of the one shard below a directory that has any. */
function onlyBelow(path: string): { listing: Listing; entry: Entry } | null {
  const found: { listing: Listing; entry: Entry }[] = [];
  for (const item of discover(path, { includeDeleted: false })) {
    if (item.what !== 'shard') continue;
    const entry = item.listing.entries.find(({ name, type }) => name === NAME && type === 'file');
    if (entry !== undefined) found.push({ listing: item.listing, entry });
    if (found.length > 1) {
      const [first, second] = found.map(({ listing }) => listing.path);
      fail({
        reason: 'usage',
        message: `${path}: more than one ${NAME} is below: in ${first} and ${second}; name one`,
      });
    }
  }
  return found[0] ?? null;
}

function storeAt(directory: string): ObjectStore {
  try {
    const store = ObjectStore.at(directory);
    if (store !== null) return store;
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    fail({ reason: 'unreadable', message: `${directory}: ${failure.message}` });
  }
  return fail({ reason: 'usage', message: `${directory}: no such directory of objects` });
}

/** The shard with this manifest; without a segment beside it, nothing is known of a log. */
function factsWith(facts: ShardFacts, manifest: ShardFacts['sidecars']['manifest']): ShardFacts {
  const sidecars = { ...facts.sidecars, manifest };
  return facts.segments.length > 0 ? { ...facts, sidecars } : { ...facts, sidecars, base: null, tail: null };
}

function localStates(
  facts: ShardFacts,
  entries: readonly ManifestEntry[],
  findings: readonly ManifestReport['findings'][number][],
): LocalState[] {
  const differing = new Set(findings.flatMap((each) => (each.kind === 'ManifestLocal' ? [each.detail.entry] : [])));
  const segments = new Map(logSegments(facts).map((segment) => [segment.id, segment]));
  return entries.map(({ segmentId }, number) => {
    if (differing.has(number)) return 'differs';
    const segment = segments.get(segmentId);
    if (segment === undefined) return facts.segments.length === 0 ? 'not judged' : 'absent';
    const sound = wasReadWhole(segment) && segment.scan?.records?.damages.length === 0;
    return sound && segment.scan?.head.header !== null ? 'same' : 'not judged';
  });
}

function entryReport(
  entry: ManifestEntry,
  number: number,
  local: LocalState,
  object: ObjectState,
): ManifestEntryReport {
  const { position, segmentId, baseOffset, lastOffset, size, oldestMicros, newestMicros, checksum, key } = entry;
  return {
    entry: number,
    position,
    segmentId,
    baseOffset,
    lastOffset,
    bytes: size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size,
    oldestMicros,
    newestMicros,
    checksum: hex32(checksum),
    key,
    keyParts: parseObjectKey(key),
    local,
    object,
  };
}
