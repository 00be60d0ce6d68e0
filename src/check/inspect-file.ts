/**
 * One file as `inspect` shows it, told by its name where that is one of the format, else by its first bytes.
 */

import type { Finding, FindingDetails } from '../domain/finding.js';
import type { FileInspection, InspectedFact, InspectedState } from '../domain/inspection.js';
import { fail } from '../domain/result.js';
import { type ByteFeed, decodeUtf8 } from '../format/bytes.js';
import { INDEX_ENTRY_LEN, INDEX_HEADER_LEN, INDEX_LAYOUT } from '../format/index.js';
import { indexIdOf, parseShardName } from '../format/names.js';
import { SEGMENT_HEADER_LAYOUT } from '../format/segment-header.js';
import { scanIndex } from '../scan/index-scan.js';
import type { Scanner } from '../scan/scanner.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { fileKind, fileName } from './file-kind.js';
import {
  type InspectOptions,
  inspectedDamage,
  inspectedSegment,
  segmentFindings,
  shardOptions,
} from './inspect-shard.js';
import { inspectSidecar, SIDECAR_FORMS } from './inspect-sidecar.js';
import { layoutFacts } from './layout-facts.js';
import { makeFinding, type Subject } from './make-finding.js';
import { readShard } from './shard.js';
import { targetsOf } from './targets.js';

const FEED_BYTES = 64 * 1024;
const TOLD_ENTRIES = 16;
const TOLD_ENTRIES_FULL = 4096;
const SHOWN_TEXT = 200;

/** What a regular file is and holds; null when interrupted. Fails for a path that is no regular file. */
export async function inspectFile(
  path: string,
  size: number,
  scanner: Scanner,
  options: InspectOptions,
): Promise<FileInspection | null> {
  const name = fileName(path);
  const subject: Subject = subjectOf(path);
  const known = withFeed(path, (feed) => fileKind(name, feed));
  if (known === null) return unreadable(path, name, size, subject);
  const { kind, identity } = known;
  const named = kind === identity.kind ? '' : `, under the name of ${NAMES[kind] ?? `the file ${kind}`}`;
  const common = {
    type: 'file' as const,
    path,
    identity: { kind: identity.kind, description: identity.description + named },
    size,
  };
  if (kind === 'segment') return segmentFile(path, common, scanner, options);
  if (kind === 'segment-index') return { ...common, ...indexFile(path, name, subject, options) };
  if (SIDECAR_FORMS.has(kind)) {
    const { sidecar, judgement } = inspectSidecar(path, kind, size, { ...subject }, options.full);
    return {
      ...common,
      state: sidecar.state,
      facts: sidecar.facts,
      damage: inspectedDamage(judgement.findings),
      notVerified: [BESIDE],
    };
  }
  const facts = name === 'node-id' ? nodeIdFacts(path) : [];
  return { ...common, state: 'not verified', facts, damage: [], notVerified: [NOT_OF_THE_FORMAT] };
}

const BESIDE = 'what the other files of the shard say of it (felix-fsck verify does)';
const NOT_OF_THE_FORMAT = 'anything beyond its first bytes: it is no file that has a layout here';
const AGAINST_SEGMENT = 'its entries against the records of the segment (felix-fsck verify does)';
const NAMES: Readonly<Record<string, string>> = { segment: 'a segment', 'segment-index': 'an index' };

function subjectOf(path: string): Subject {
  const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) || '/' : '.';
  const parent = directory.slice(directory.lastIndexOf('/') + 1) || directory;
  const key = parseShardName(parent)?.key;
  const label = key == null ? parent : `${key.tenant}/${key.namespace}/${key.stream}/${key.shard}`;
  return { label, path: directory };
}

/** Null when the file cannot be read. */
function withFeed<T>(path: string, use: (feed: ByteFeed, source: FileSource) => T): T | null {
  let source: FileSource | null = null;
  try {
    source = FileSource.open(path);
    return use(new Window(source, FEED_BYTES), source);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    if (failure.code === 'ENOTFILE') fail({ reason: 'usage', message: `${path}: neither a file nor a directory` });
    return null;
  } finally {
    source?.close();
  }
}

function unreadable(path: string, name: string, size: number, subject: Subject): FileInspection {
  let [code, reason] = ['EUNKNOWN', 'it could not be read'];
  try {
    FileSource.open(path).close();
  } catch (failure) {
    if (failure instanceof ReadFailure) [code, reason] = [failure.code, failure.message];
  }
  const finding = makeFinding(subject, { kind: 'Unreadable', severity: 'error', file: name, detail: { reason, code } });
  return {
    type: 'file',
    path,
    identity: { kind: 'unknown', description: 'a file that cannot be read' },
    size,
    state: 'unreadable',
    facts: [],
    damage: inspectedDamage([finding]),
    notVerified: ['anything: no byte of it was read'],
  };
}

type Common = Pick<FileInspection, 'type' | 'path' | 'identity' | 'size'>;

async function segmentFile(
  path: string,
  common: Common,
  scanner: Scanner,
  options: InspectOptions,
): Promise<FileInspection | null> {
  const [target] = targetsOf(path, options);
  if (target?.what !== 'shard') fail({ reason: 'usage', message: `${path}: not part of a Felix store` });
  const reading = await readShard(target.listing, scanner, { ...shardOptions(options), sole: target.sole });
  const segment = reading?.facts.segments.find(({ scan, problem }) => scan !== null || problem !== null);
  if (reading === null || segment === undefined) return null;
  const seen = inspectedSegment(segment);
  const own = segmentFindings(reading).filter(({ file }) => file === segment.file);
  const header = withFeed(path, (feed) => layoutFacts(SEGMENT_HEADER_LAYOUT, feed, 0)) ?? [];
  const told = (name: string, value: InspectedFact['value'], unit: InspectedFact['unit'], meaning: string) => ({
    name,
    value,
    unit,
    meaning,
  });
  const whole = seen.records !== null;
  return {
    ...common,
    state: stateOf(own, whole),
    facts: [
      ...header,
      told('first_record', seen.firstTimestampMicros, 'microseconds', 'publish time of the first record'),
      told('last_record', seen.lastTimestampMicros, 'microseconds', 'publish time of the last intact record'),
      told('next_offset', seen.nextOffset, 'offset', 'one past the last record'),
      ...(whole ? [told('records', seen.records, 'records', 'intact records')] : []),
      told('verified_from', seen.verifiedFrom, null, 'every record from this position on was verified'),
      told('index', seen.index?.file ?? null, null, 'the index beside it'),
    ],
    damage: inspectedDamage(own),
    notVerified: whole ? [BESIDE] : [IN_FRONT, BESIDE],
  };
}

const IN_FRONT = 'the records in front of verified_from, the first one apart (--full reads all)';

function stateOf(findings: readonly Finding[], whole: boolean): InspectedState {
  const judged = findings.filter(({ severity }) => severity !== 'info');
  if (judged.some(({ kind }) => kind === 'Unreadable')) return 'unreadable';
  return judged.length > 0 ? 'damaged' : whole ? 'sound' : 'not verified';
}

function indexFile(
  path: string,
  name: string,
  subject: Subject,
  options: InspectOptions,
): Pick<FileInspection, 'state' | 'facts' | 'damage' | 'notVerified'> {
  const findings: Finding[] = [];
  const id = indexIdOf(name);
  const report = <
    K extends 'IndexMagic' | 'IndexVersion' | 'Truncated' | 'IndexEntry' | 'IndexTornEntry' | 'Unreadable',
  >(
    kind: K,
    position: number,
    detail: FindingDetails[K],
  ) => {
    const severity = kind === 'IndexTornEntry' ? 'info' : kind === 'Unreadable' ? 'error' : 'warning';
    const segment = id === null ? {} : { segment: id };
    findings.push(makeFinding(subject, { kind, severity, file: name, position, detail, ...segment }));
  };
  const facts: InspectedFact[] = [];
  try {
    withFeed(path, (feed, source) => {
      const index = scanIndex(source);
      if (index.headerDamage !== null) {
        const { kind, ...fields } = index.headerDamage;
        report(kind as 'IndexMagic', 0, fields as FindingDetails['IndexMagic']);
      }
      for (const { entry, offset, position, why } of index.dropped) {
        const detail = { entry, offset, entryPosition: position, why, dropped: true };
        report('IndexEntry', INDEX_HEADER_LEN + entry * INDEX_ENTRY_LEN, detail);
      }
      if (index.tornBytes > 0) {
        report('IndexTornEntry', INDEX_HEADER_LEN + index.entries * INDEX_ENTRY_LEN, { bytes: index.tornBytes });
      }
      const elements = layoutFacts(INDEX_LAYOUT, feed, options.full ? TOLD_ENTRIES_FULL : TOLD_ENTRIES);
      const isElement = ({ name: field }: InspectedFact) => field.includes('[');
      const { lastKept } = index;
      facts.push(
        ...elements.filter((fact) => !isElement(fact)),
        { name: 'entries', value: index.entries, unit: 'entries', meaning: 'whole entries in the file' },
        {
          name: 'usable_entries',
          value: index.kept,
          unit: 'entries',
          meaning: 'entries that a broker keeps on loading',
        },
        ...elements.filter(isElement),
      );
      if (lastKept === null) return;
      const value = { offset: lastKept.offset, position: lastKept.position };
      facts.push({
        name: 'last_usable',
        value,
        unit: null,
        meaning: 'where a broker begins its scan of a sealed segment',
      });
    });
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    report('Unreadable', failure.position, { reason: failure.message, code: failure.code });
  }
  return {
    state: findings.some(({ severity }) => severity !== 'info') ? 'damaged' : 'not verified',
    facts,
    damage: inspectedDamage(findings),
    notVerified: [`its checksum, as an index has none`, AGAINST_SEGMENT],
  };
}

function nodeIdFacts(path: string): InspectedFact[] {
  const text = withFeed(path, (feed) => decodeUtf8(feed.view(0, Math.min(SHOWN_TEXT, feed.size))));
  if (text === null) return [];
  return [{ name: 'node_id', value: text.trim(), unit: null, meaning: 'the id that offloaded keys start with' }];
}
