/**
 * What `rebuild-index` plans: indexes as a writer would have made them of the records.
 *
 * Pure. Unless told otherwise, only those that are missing or wrong; never one of a segment whose records are damaged, unless
 * asked for up to the first damage, and never so that a broker that opens the shard now would then refuse to.
 */

import type { Finding } from '../domain/finding.js';
import { NO_LOSS, type Plan, type PlanStep } from '../domain/plan.js';
import type { IndexImage, ShardChange } from '../domain/plan-facts.js';
import type { Prediction, SegmentReport, ShardReport } from '../domain/report.js';
import { counted } from '../domain/wording.js';
import { indexFileName } from '../format/names.js';
import {
  answersOf,
  IndexContents,
  indexStep,
  type PlanFrame,
  type Planned,
  planned,
  planOf,
  refuse,
} from './plan-parts.js';
import type { ShardView } from './shard-view.js';

export interface IndexRequest {
  /** Which segments: those whose index is missing or wrong, all, or these. */
  readonly segments: 'wrong' | 'all' | readonly bigint[];
  /** Up to the first damage, where there is some. */
  readonly partial: boolean;
}

/** A segment's index up to its first damage, or its end. */
export interface MadeIndex extends IndexImage {
  readonly id: bigint;
  /** Position of the first damage, or null when every record is intact. */
  readonly damagedAt: number | null;
}

export interface IndexInput {
  readonly view: ShardView;
  readonly report: ShardReport;
  /** Of the segments that {@link wantedIndexes} names; null for one whose header cannot be read. */
  readonly made: ReadonlyMap<bigint, MadeIndex | null>;
  readonly request: IndexRequest;
  readonly frame: Omit<PlanFrame, 'before' | 'after' | 'command' | 'notes'>;
  readonly predictAfter: (change: ShardChange) => Prediction;
}

/** The segments whose indexes have to be made before the plan can be. */
export function wantedIndexes(report: ShardReport, { segments }: IndexRequest): bigint[] {
  const kept = report.segments.filter((segment) => !isDeletedAtOpen(report, segment));
  const wanted = typeof segments === 'object' ? kept.filter(({ id }) => segments.includes(id)) : kept;
  return wanted.filter((segment) => segments !== 'wrong' || isWrong(report, segment)).map(({ id }) => id);
}

function isDeletedAtOpen({ findings }: ShardReport, { id }: SegmentReport): boolean {
  return findings.some(
    ({ kind, site }) => site.segment === id && (kind === 'AbandonedSegment' || kind === 'BlankFirstSegment'),
  );
}

function isWrong({ findings }: ShardReport, { id, index, records }: SegmentReport): boolean {
  const file = indexFileName(id);
  if (findings.some((finding) => finding.file === file)) return true;
  return index?.usable === true && index.entries === 0 && records > 0;
}

export function planIndexes(input: IndexInput): Planned<Plan> {
  const { view, report, request, made } = input;
  const missing = typeof request.segments === 'object' ? request.segments.filter((id) => !made.has(id)) : [];
  if (missing.length > 0) return refuse(`the shard has no segment ${missing.join(', ')} that a broker would keep`);
  const damaged: string[] = [];
  const notes: string[] = [];
  const steps: PlanStep[] = [];
  const reindexed: { segment: bigint; entries: number }[] = [];
  const contents = new IndexContents();
  for (const [id, index] of made) {
    if (index === null) {
      damaged.push(`the header of segment ${id} cannot be read, so that its index cannot be made`);
      continue;
    }
    if (index.damagedAt !== null && !request.partial) {
      damaged.push(`segment ${id} is damaged at byte ${index.damagedAt}`);
      continue;
    }
    if (index.damagedAt !== null)
      notes.push(`The index of segment ${id} ends at its first damage, byte ${index.damagedAt}.`);
    const said = saidOf(report.findings, index);
    const step = indexStep(view, index, contents, said);
    if (step === null) continue;
    steps.push(step);
    reindexed.push({ segment: id, entries: index.entries });
  }
  if (damaged.length > 0) return refuseDamaged(damaged, made);
  const after = input.predictAfter({ removed: [], cut: null, begun: null, reindexed });
  if (report.prediction.verdict !== 'refuses' && after.verdict === 'refuses') return refuseWorse(after);
  const frame = { ...input.frame, command: 'rebuild-index', before: report.prediction, after, notes };
  return planned(planOf(view, frame, steps, NO_LOSS));
}

function saidOf(findings: readonly Finding[], { id, entries, end }: MadeIndex): Pick<PlanStep, 'why' | 'answers'> {
  const file = indexFileName(id);
  const answers = answersOf(findings, (finding) => finding.file === file);
  return { why: `made of the records up to byte ${end}: ${counted(entries, 'entry', 'entries')}`, answers };
}

function refuseDamaged<T>(damaged: readonly string[], made: IndexInput['made']): Planned<T> {
  const some = [...made.values()].some((index) => index !== null && index.damagedAt !== null);
  const sound = [...made].filter(([, index]) => index !== null && index.damagedAt === null).map(([id]) => id);
  return refuse(
    `${damaged.join('; ')}. An index over damage would lead past it.`,
    ...(some ? ['felix-fsck rebuild-index --partial SHARD'] : []),
    ...sound.slice(0, 3).map((id) => `felix-fsck rebuild-index --segment ${id} SHARD`),
    'felix-fsck heal SHARD --from REPLICA',
  );
}

function refuseWorse<T>({ refusals }: Prediction): Planned<T> {
  const { kind, site } = refusals[0]!;
  const where = site.segment === undefined ? '' : ` in segment ${site.segment}`;
  return refuse(
    `a broker opens the shard as it is, and would refuse to with that index: it would meet ${kind}${where}, ` +
      'which the index as it is leads past',
    'felix-fsck heal SHARD --from REPLICA',
  );
}
