/**
 * What `heal` plans: segments made whole with verified records from elsewhere, and their indexes.
 *
 * Pure. Every small file stays as it is. What cannot be healed is said in the notes; when nothing can, no plan is made.
 */

import type { HealedRange, HealedSegment, HealFacts } from '../domain/heal.js';
import { NO_LOSS, type Plan, type PlanStep } from '../domain/plan.js';
import type { Prediction, ShardReport } from '../domain/report.js';
import { counted, offsetsOf } from '../domain/wording.js';
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
import { type ShardView, stateIn } from './shard-view.js';

export interface HealPlanInput {
  readonly view: ShardView;
  readonly report: ShardReport;
  readonly facts: HealFacts;
  readonly frame: Omit<PlanFrame, 'before' | 'after' | 'command' | 'notes'>;
  /** What a broker does once the segments are healed. */
  readonly after: Prediction;
}

/** More ranges than this are counted. */
const NAMED = 40;

export function planHeal(input: HealPlanInput): Planned<Plan> {
  const { view, report, facts, frame, after } = input;
  const contents = new IndexContents();
  const steps = facts.segments.flatMap((segment) => stepsOf(input, segment, contents));
  const open = facts.ranges.filter(({ healed }) => !healed);
  if (steps.length === 0 && open.length > 0) {
    return refuse(
      [...listed(open), ...facts.notes].join(' '),
      ...open.flatMap(({ instead }) => (instead === null ? [] : [instead])),
      'felix-fsck salvage SHARD --to DIR',
    );
  }
  const notes = [...listed(open), ...facts.notes, ...listed(facts.ranges.filter(isFlip))];
  const whole = { ...frame, command: 'heal', before: report.prediction, after, notes };
  return planned(planOf(view, whole, steps, NO_LOSS));
}

function stepsOf({ view, report }: HealPlanInput, segment: HealedSegment, contents: IndexContents): PlanStep[] {
  const { id, file, state, content, ranges, why, index } = segment;
  const before = stateIn(view, file);
  const isAnswered = ({ from, to }: { from: number; to: number }, position: number) =>
    position >= from && position < to;
  const rewrite: PlanStep = {
    action: before === null ? 'create' : 'rewrite',
    file,
    before,
    after: state,
    content,
    ranges,
    why,
    answers: answersOf(report.findings, (finding) => {
      const position = finding.site.position ?? finding.damagedRange?.from ?? 0;
      return finding.file === file && (position === 0 || ranges.some((range) => isAnswered(range, position)));
    }),
  };
  const indexed =
    index === null
      ? null
      : indexStep(view, index, contents, {
          why: `the index of the segment as it is then: ${counted(index.entries, 'entry', 'entries')}`,
          answers: answersOf(report.findings, (finding) => finding.file === indexFileName(id)),
        });
  return indexed === null ? [rewrite] : [rewrite, indexed];
}

function isFlip({ healed, why }: HealedRange): boolean {
  return healed && why.startsWith('bit ');
}

/** A sentence for each range, and one for those that are too many. */
function listed(ranges: readonly HealedRange[]): string[] {
  const sentences = ranges.slice(0, NAMED).map(({ offsets, file, position, healed, why }) => {
    const what = offsets === null ? '' : `, ${offsetsOf(offsets)}`;
    const where = position === null ? file : `${file} at byte ${position}`;
    return `${where}${what}: ${healed ? '' : 'not healed: '}${why}.`;
  });
  const more = ranges.length - NAMED;
  return more > 0 ? [...sentences, `And ${counted(more, 'more range')}.`] : sentences;
}
