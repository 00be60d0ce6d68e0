/**
 * What a broker would do on opening a shard, told from what was read, without opening it (FACTS, "What a broker does when
 * it opens a shard").
 *
 * The steps are followed in a broker's order, so that the first refusal is the one it would print; the others are every
 * further reason that alone would be enough.
 */

import type { Finding, FindingKind, Site } from '../domain/finding.js';
import type { FailingRead, PredictedRepair, Prediction, Refusal } from '../domain/report.js';
import { segmentFileName } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage } from '../scan/range-scan.js';
import { fullOutcome, isAheadOfEmpty, type Outcome, sealedOutcome } from './broker.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';
import type { SoleFile } from './targets.js';

/** Names that a broker takes for segments and cannot open. */
export interface UnopenableName {
  readonly id: bigint;
}

/** `findings` are those of the shard: the fatal ones are reasons to refuse. */
export function predict(
  facts: ShardFacts,
  unopenable: readonly UnopenableName[],
  findings: readonly Finding[],
  sole: SoleFile | null = null,
): Prediction {
  const refusals = new RefusalList(facts.label);
  const kept = facts.segments.filter(({ role }) => role === 'sealed' || role === 'newest');
  const newest = kept.at(-1) ?? null;
  const outcome = newest === null ? null : fullOutcome(newest, facts.settings, true);
  meetNewest(facts, kept, outcome, unopenable, refusals);
  chain(facts, kept, outcome, unopenable, refusals);
  for (const finding of inOrderOfOpening(findings)) {
    if (finding.severity === 'fatal' && finding.kind !== 'IndexEntry') refusals.add(finding.kind, finding.site);
  }
  const notJudged = unjudged(facts, findings);
  if (sole !== null) notJudged.push(`only ${sole.name} was looked at, not the rest of its shard`);
  if (refusals.list.length > 0) {
    return {
      verdict: 'refuses',
      refusals: refusals.list,
      repairs: [],
      tailOffsetAfter: null,
      readsThatFail: [],
      notJudged,
    };
  }
  // A small file by itself tells nothing of the log.
  const noLog = sole !== null && newest === null;
  const repairs = noLog ? [] : repairsOf(facts, newest, outcome);
  return {
    verdict: repairs.some(({ action }) => action !== 'rebuild-index') ? 'repairs' : 'opens',
    refusals: [],
    repairs,
    tailOffsetAfter: noLog ? null : tailAfter(outcome),
    readsThatFail: failingReads(facts, kept),
    notJudged,
  };
}

/** Where a log ends that opens; null when that is not known. A log without a segment is begun at 0. */
function tailAfter(outcome: Outcome | null): bigint | null {
  if (outcome === null) return 0n;
  return outcome.is === 'whole' || outcome.is === 'cut' ? outcome.nextOffset : null;
}

class RefusalList {
  readonly list: Refusal[] = [];
  readonly #shard: string;
  readonly #seen = new Set<string>();

  constructor(shard: string) {
    this.#shard = shard;
  }

  add(kind: FindingKind, site: Site): void {
    const key = `${kind} ${site.segment} ${site.position}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list.push({ kind, site: { ...site, shard: this.#shard } });
  }

  outcome(segment: SegmentFacts, outcome: Outcome): void {
    if (outcome.is !== 'fails') return;
    this.add(outcome.failure.corruption.kind, { segment: segment.id, position: outcome.failure.position });
  }
}

/**
 * Step 3: of several segments, the newest is scanned first, and the one before it when it holds no record. A name that
 * cannot be opened is met here when it would be the newest.
 */
function meetNewest(
  facts: ShardFacts,
  kept: readonly SegmentFacts[],
  outcome: Outcome | null,
  unopenable: readonly UnopenableName[],
  refusals: RefusalList,
): void {
  const newest = kept.at(-1) ?? null;
  for (const id of ascending(unopenable).reverse()) {
    if (newest === null || id > newest.id) refusals.add('SegmentFileName', { segment: id });
  }
  if (newest === null) return;
  refusals.outcome(newest, outcome!);
  const before = kept.at(-2);
  if (before !== undefined && isAheadOfEmpty(facts.segments, before, facts.settings)) {
    refusals.outcome(before, fullOutcome(before, facts.settings, true));
  }
}

/** Steps 4 to 6: sealed segments in order, each base against the end before it, then the newest. */
function chain(
  facts: ShardFacts,
  kept: readonly SegmentFacts[],
  newestOutcome: Outcome | null,
  unopenable: readonly UnopenableName[],
  refusals: RefusalList,
): void {
  let expected: bigint | null = null;
  const names = ascending(unopenable);
  for (const segment of kept) {
    for (; names[0] !== undefined && names[0] < segment.id; names.shift()) {
      refusals.add('SegmentFileName', { segment: names[0] });
      expected = null;
    }
    const isNewest = segment.role === 'newest';
    const outcome = isNewest ? newestOutcome! : sealedOutcome(segment, facts.settings);
    refusals.outcome(segment, outcome);
    const base = segment.scan?.head.header?.baseOffset ?? null;
    if (expected !== null && base !== null && base !== expected) {
      refusals.add('OffsetOutOfOrder', { segment: segment.id, position: 0 });
    }
    expected = outcome.is === 'whole' ? outcome.nextOffset : null;
  }
  for (const id of names) refusals.add('SegmentFileName', { segment: id });
}

function ascending(names: readonly UnopenableName[]): bigint[] {
  return names.map(({ id }) => id).sort((a, b) => Number(a - b));
}

/** Small files that fail an open, in the order in which a broker reads them (step 7). */
const READ_LAST: readonly (string | null)[] = ['replica', 'ballot', 'offload.manifest'];

function inOrderOfOpening(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => READ_LAST.indexOf(a.file) - READ_LAST.indexOf(b.file));
}

function repairsOf(facts: ShardFacts, newest: SegmentFacts | null, outcome: Outcome | null): PredictedRepair[] {
  const repairs: PredictedRepair[] = [];
  for (const segment of facts.segments.toReversed()) {
    if (segment.role === 'blank-first') repairs.push(wholeFile('delete-blank-first', segment.file, segment.size, 0));
    if (segment.role === 'abandoned') repairs.push(wholeFile('delete-segment', segment.file, segment.size, 0));
  }
  if (newest === null) repairs.push(wholeFile('create-segment', segmentFileName(0n), 0, SEGMENT_HEADER_LEN));
  if (outcome?.is === 'cut') repairs.push(cutOf(newest!, outcome.damage));
  for (const segment of facts.segments) {
    if (segment.role !== 'sealed' || segment.scan?.head.header == null || segment.scan.head.indexProblem) continue;
    const { index, indexUsable } = segment.scan.head;
    if (indexUsable && index!.kept > 0) continue;
    repairs.push(wholeFile('rebuild-index', segment.indexFile, segment.indexSize ?? 0, segment.indexSize ?? 0));
  }
  return repairs;
}

function wholeFile(
  action: PredictedRepair['action'],
  file: string,
  fromBytes: number,
  toBytes: number,
): PredictedRepair {
  return { action, file, fromBytes, toBytes, recordsLost: 0, intactRecordsLost: 0 };
}

/** The cut that recovery makes at the first damage of the newest segment, and what goes with it. */
function cutOf(newest: SegmentFacts, damage: Damage): PredictedRepair {
  const records = newest.scan!.records!;
  const intactRecordsLost = records.records - damage.recordsBefore;
  const told = records.damages.filter(({ corruption }) => corruption.kind === 'RecordChecksum').length;
  const damaged = told + (records.omitted.get('RecordChecksum') ?? 0);
  return {
    action: 'truncate',
    file: newest.file,
    fromBytes: newest.size,
    toBytes: damage.position,
    recordsLost: intactRecordsLost + damaged,
    intactRecordsLost,
  };
}

/** Damage in sealed segments that an open does not meet: reads that cross it fail, in the order of the log. */
function failingReads(facts: ShardFacts, kept: readonly SegmentFacts[]): FailingRead[] {
  const reads: FailingRead[] = [];
  for (const segment of kept) {
    if (segment.role !== 'sealed') continue;
    for (const damage of segment.scan?.records?.damages ?? []) {
      const from = damage.lost?.from ?? damage.offset ?? 0n;
      const to = damage.lost?.to ?? from;
      reads.push({
        kind: damage.corruption.kind,
        site: { shard: facts.label, segment: segment.id, position: damage.position },
        fromOffset: from,
        toOffset: to > from ? to : from + 1n,
      });
    }
  }
  return reads;
}

function unjudged(facts: ShardFacts, findings: readonly Finding[]): string[] {
  const reasons = findings
    .filter(({ kind }) => kind === 'Unreadable')
    .map(({ file }) => `${file ?? 'a directory'} could not be read`);
  if (facts.segments.some(({ problem }) => problem?.code === 'INTERRUPTED')) reasons.push('the run was interrupted');
  const { manifest, replica, ballot } = facts.sidecars;
  for (const sidecar of [replica, ballot, manifest]) {
    if (sidecar?.problem) reasons.push(`${sidecar.file} could not be read`);
  }
  return [...new Set(reasons)];
}
