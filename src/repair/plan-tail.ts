/**
 * What `repair-tail` plans: the cut and the deletions that recovery would make, or, when asked to, a cut that it would not.
 *
 * Pure. Only the newest segment is ever cut, only at its first damage, and only when the broker opens the shard afterwards; a
 * cut that takes intact records needs their number, and one under the commit offset is never made. Where this command
 * cannot help, it says what stands in the way and what can.
 */

import type { Finding, Severity } from '../domain/finding.js';
import { NO_LOSS, type Plan, type PlanLoss, type PlanStep } from '../domain/plan.js';
import type { CutFacts, IndexImage, NewestFacts, ShardChange } from '../domain/plan-facts.js';
import type { Prediction, ShardReport } from '../domain/report.js';
import { shellPath } from '../domain/shell-words.js';
import { counted, offsetsOf } from '../domain/wording.js';
import { encodeIndex } from '../format/index.js';
import { indexFileName, indexIdOf, segmentFileName } from '../format/names.js';
import { encodeSegmentHeader } from '../format/segment-header.js';
import { type CutPlan, planCut } from './plan-cut.js';
import {
  answersOf,
  bytesStep,
  deleteStep,
  IndexContents,
  indexStep,
  type PlanFrame,
  type Planned,
  planned,
  planOf,
  refuse,
} from './plan-parts.js';
import type { ShardView } from './shard-view.js';

export interface TailRequest {
  /** Also the cut that a broker with `repair_checksum_tail` makes; the report is one for such a broker then. */
  readonly checksumTail: boolean;
  /** Also a tail of which every byte is zero. */
  readonly zeroTail: boolean;
  /** Also any other damage, when it begins there. */
  readonly cutAt: number | null;
  /** How many intact records may go. */
  readonly loseIntact: number;
}

export interface TailInput {
  readonly view: ShardView;
  readonly report: ShardReport;
  readonly newest: NewestFacts | null;
  /** Indexes of the sealed segments that have none that loads, by the segment's file. */
  readonly indexes: ReadonlyMap<string, IndexImage>;
  readonly request: TailRequest;
  readonly frame: Omit<PlanFrame, 'before' | 'after' | 'command' | 'notes'>;
  /** What a broker with default settings does once the change is made. */
  readonly predictAfter: (change: ShardChange) => Prediction;
}

/** Every part of the plan has steps, and says beside them what they mean for a broker's open. */
type Steps = Pick<CutPlan, 'steps'>;

const MANIFEST = 'offload.manifest';
const NO_CUT: CutPlan = { steps: [], loses: NO_LOSS };

export function planTail(input: TailInput): Planned<Plan> {
  const { report, newest } = input;
  if (report.segments.length === 0) return nothingToCut(report);
  const decided = decideCut(input);
  if (!decided.ok) return decided;
  const contents = new IndexContents();
  const cut = decided.value;
  const cutPlan = cut === null ? planned(NO_CUT) : planCutOf(input, newest!, cut, contents);
  if (!cutPlan.ok) return cutPlan;
  const { steps: cutSteps, loses } = cutPlan.value;
  const removal = removals(input);
  const beginning = blankFirst(input);
  const change = {
    removed: removal.removed,
    begun: beginning.begun,
    cut: cut === null ? null : { segment: newest!.id, position: cut.position, nextOffset: cut.nextOffset },
    reindexed: [],
  };
  const sealed = sealedIndexes(input, change, contents);
  const after = input.predictAfter({ ...change, reindexed: sealed.reindexed });
  if (after.verdict === 'refuses') return stillRefused(input, after);
  const steps = [
    // Entries of the manifest go before any segment is touched, whichever it is.
    ...cutSteps.filter(({ file }) => file === MANIFEST),
    ...removal.steps,
    ...beginning.steps,
    ...cutSteps.filter(({ file }) => file !== MANIFEST),
    ...sealed.steps,
  ];
  const frame = {
    ...input.frame,
    command: 'repair-tail',
    before: report.prediction,
    after,
    notes: notesOf(cut, loses),
  };
  return planned(planOf(input.view, frame, steps, loses));
}

/** Whether the newest segment is cut, and where; null when it is whole. */
function decideCut(input: TailInput): Planned<CutFacts | null> {
  const { newest, request, report } = input;
  const damage = newest?.firstDamage ?? null;
  if (newest === null || damage === null) {
    if (request.cutAt === null) return planned(null);
    return refuse(
      'the newest segment has no damage: a cut begins at its first damage, and intact records are never cut off',
      ...nextsOf(report, ['fatal', 'error']),
      'felix-fsck verify SHARD',
    );
  }
  if (newest.cut === null) return planned(null);
  if (request.cutAt !== null && request.cutAt !== damage.position) return wrongPlace(newest, request.cutAt);
  const finding = firstFinding(report, newest);
  const byBroker = finding !== undefined && finding.severity !== 'fatal';
  if (byBroker || (request.zeroTail && newest.cut.zeros) || request.cutAt !== null) return planned(newest.cut);
  return notByDefault(input, newest, newest.cut, finding);
}

function firstFinding({ findings }: ShardReport, { file, firstDamage }: NewestFacts): Finding | undefined {
  return findings.find(
    (finding) =>
      finding.file === file && finding.kind === firstDamage!.kind && finding.site.position === firstDamage!.position,
  );
}

function wrongPlace<T>({ firstDamage }: NewestFacts, cutAt: number): Planned<T> {
  const { kind, position } = firstDamage!;
  const why =
    cutAt < position
      ? `intact records lie between byte ${cutAt} and the first damage of the newest segment (${kind} at byte ${position})`
      : `the first damage of the newest segment is at byte ${position} (${kind}), and a cut at byte ${cutAt} would leave it`;
  return refuse(why, `felix-fsck repair-tail --cut-at ${position} SHARD`);
}

function notByDefault<T>(
  input: TailInput,
  { firstDamage, file }: NewestFacts,
  cut: CutFacts,
  finding: Finding | undefined,
): Planned<T> {
  const { kind, position } = firstDamage!;
  const asked = input.request.zeroTail ? ', and its bytes are not all zero' : '';
  const look = cut.zeros ? ' Every byte from there on is zero.' : '';
  const after = cut.intactRecords === 0 ? '' : ` ${counted(cut.intactRecords, 'intact record')} follow it.`;
  return refuse(
    `${file} is damaged at byte ${position} (${kind})${asked}: a broker refuses to open the shard rather than cut there, ` +
      `and so nothing is planned.${look}${after}`,
    ...[
      ...(cut.zeros ? ['felix-fsck repair-tail --allow zero-tail SHARD'] : healOrSalvage(input.view, finding)),
      ...(finding?.next == null ? [] : [finding.next]),
      `felix-fsck repair-tail --cut-at ${position} SHARD`,
    ],
  );
}

/** What keeps more records than a cut does: those of others, the one that a flipped bit hides, and those that are intact. */
function healOrSalvage({ path }: ShardView, finding: Finding | undefined): string[] {
  const flipped = finding !== undefined && 'bitFlip' in finding.detail && finding.detail.bitFlip != null;
  return [
    'felix-fsck heal SHARD --from REPLICA',
    ...(flipped ? ['felix-fsck heal SHARD --accept-bit-flip'] : []),
    `felix-fsck salvage ${shellPath(path)} --to DIR`,
  ];
}

/** The cut through all files, when no more intact records go than was allowed. */
function planCutOf(input: TailInput, newest: NewestFacts, cut: CutFacts, contents: IndexContents): Planned<CutPlan> {
  const { view, report, request } = input;
  const plan = planCut(view, newest, cut, report.baseOffset ?? 0n, report.findings, contents);
  if (!plan.ok) return plan;
  const { intactRecords, offsets } = plan.value.loses;
  if (intactRecords <= request.loseIntact) return plan;
  return refuse(
    `${counted(intactRecords, 'intact record')} (${offsetsOf(offsets!)}) would go with the cut. Heal the shard, or copy them out first with felix-fsck salvage. ` +
      `To cut all the same, say how many may go with --lose-intact ${intactRecords}.`,
    ...healOrSalvage(view, firstFinding(report, newest)),
  );
}

/** Empty and headerless segments behind the newest, and their indexes. */
function removals({ view, report }: TailInput): Steps & Pick<ShardChange, 'removed'> {
  const abandoned = report.findings.filter(({ kind }) => kind === 'AbandonedSegment');
  const steps = abandoned.flatMap((finding) => {
    const file = finding.file!;
    const why = 'an empty segment that an unfinished roll left behind; recovery deletes it, with its index';
    const answers = answersOf([finding], () => true);
    return [
      deleteStep(view, file, { why, answers }),
      deleteStep(view, indexFileName(finding.site.segment!), { why: `the index of ${file}`, answers }),
    ];
  });
  const removed = abandoned.map(({ site }) => site.segment!);
  return { steps: steps.filter((step) => step !== null), removed };
}

/** The page's exception: a first segment that never came to hold anything begins anew, as recovery makes it. */
function blankFirst({ view, report, frame }: TailInput): Steps & Pick<ShardChange, 'begun'> {
  const finding = report.findings.find(({ kind }) => kind === 'BlankFirstSegment');
  if (finding === undefined) return { steps: [], begun: null };
  const file = finding.file!;
  const answers = answersOf([finding], () => true);
  const header = encodeSegmentHeader({
    version: 3,
    baseOffset: 0n,
    createdAtMicros: frame.createdAtMicros,
    reserved: 0,
  });
  const why = 'a blank first segment: recovery deletes it and begins an empty log at offset 0';
  const steps = [
    bytesStep(view, file, header, { action: 'rewrite', why, answers }),
    bytesStep(view, indexFileName(finding.site.segment!), encodeIndex(0n, []), {
      action: 'rebuild-index',
      why: 'the index of an empty segment',
      answers: [],
    }),
  ];
  return {
    steps: steps.filter((step) => step !== null),
    begun: { segment: finding.site.segment!, header },
  };
}

/** Indexes that a broker would make again while it opens the shard. */
function sealedIndexes(
  input: TailInput,
  change: ShardChange,
  contents: IndexContents,
): Steps & Pick<ShardChange, 'reindexed'> {
  const steps: PlanStep[] = [];
  const reindexed: { segment: bigint; entries: number }[] = [];
  for (const { action, file } of input.predictAfter(change).repairs) {
    if (action !== 'rebuild-index') continue;
    const segment = indexIdOf(file)!;
    const image = input.indexes.get(segmentFileName(segment));
    if (image === undefined) continue;
    const answers = answersOf(input.report.findings, (finding) => finding.file === file);
    const why = 'an index that does not load or has no entry; a broker makes it anew at open';
    const step = indexStep(input.view, image, contents, { why, answers });
    if (step === null) continue;
    steps.push(step);
    reindexed.push({ segment, entries: image.entries });
  }
  return { steps, reindexed };
}

function notesOf(cut: CutFacts | null, { epochs }: PlanLoss): string[] {
  const notes: string[] = [];
  if (cut !== null && cut.intactRecords > 0) {
    notes.push(
      `${counted(cut.intactRecords, 'intact record')} follow the damage and go with it; felix-fsck salvage copies them out first.`,
    );
  }
  if (epochs.length > 0) {
    notes.push(
      'Generations that began at or past the cut go from epochs: the broker learns of them again as a replica.',
    );
  }
  return notes;
}

/** Other damage keeps the shard shut: a cut would lose bytes and gain nothing. */
function stillRefused<T>({ report, view }: TailInput, after: Prediction): Planned<T> {
  const reasons = after.refusals.map(({ kind, site }) => {
    const segment = site.segment === undefined ? '' : ` in segment ${site.segment}`;
    return `${kind}${segment}${site.position === undefined ? '' : ` at byte ${site.position}`}`;
  });
  const shown = reasons.slice(0, 3).join('; ');
  const more = reasons.length > 3 ? `; and ${reasons.length - 3} more` : '';
  return refuse(
    `a repaired tail would not make a broker open the shard: ${shown}${more}. This command only ever cuts the ` +
      'newest segment, and cannot help with that.',
    ...nextsOf(report, ['fatal']),
    `felix-fsck salvage ${shellPath(view.path)} --to DIR`,
  );
}

/** What the worst findings propose, other than this command. */
function nextsOf({ findings }: ShardReport, severities: readonly Severity[]): string[] {
  const nexts = findings
    .filter(({ severity, next }) => severities.includes(severity) && next !== null)
    .map(({ next }) => next!)
    .filter((next) => !next.startsWith('felix-fsck repair-tail'));
  return [...new Set(nexts)].slice(0, 3);
}

function nothingToCut<T>(report: ShardReport): Planned<T> {
  const nexts = report.findings.filter(({ kind }) => kind === 'NoSegments').map(({ next }) => next);
  return refuse(
    'the shard has no segment: a broker would begin an empty log at offset 0, which no repair of a tail can better',
    ...nexts.filter((next) => next !== null),
  );
}
