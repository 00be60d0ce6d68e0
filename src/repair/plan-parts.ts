/**
 * What all planners share: steps made of a view, the content of an index, and the plan as a whole.
 *
 * Pure. A step that would leave its file as it is, is not made.
 */

import type { Finding } from '../domain/finding.js';
import { type AnsweredFinding, PLAN_SCHEMA, type Plan, type PlanPrediction, type PlanStep } from '../domain/plan.js';
import type { IndexImage } from '../domain/plan-facts.js';
import type { BrokerSettings, Prediction } from '../domain/report.js';
import { err, invariant, ok, type Result } from '../domain/result.js';
import { crc32, hex32 } from '../format/checksum.js';
import { indexFileName, segmentIdOf } from '../format/names.js';
import { contradictionIn, isState } from './plan-file.js';
import { type ShardView, stateIn } from './shard-view.js';

/** Why no plan is made: a sentence or more, and the commands that could help instead. */
export interface PlanRefusal {
  readonly why: string;
  readonly instead: readonly string[];
}

export type Planned<T> = Result<T, PlanRefusal>;

export function refuse<T>(why: string, ...instead: readonly string[]): Planned<T> {
  return err({ why, instead });
}

export const planned = ok;

/** Indexes up to this size are held by the plan; larger ones are made again of the records when the step is done. */
const HELD_INDEX_BYTES = 256 * 1024;
/** More bytes of indexes than this are never held by one plan. */
const HELD_BYTES_IN_ALL = 4 * 1024 * 1024;

/** Gives indexes their content, and remembers how much a plan holds already. */
export class IndexContents {
  #held = 0;

  of({ segment, end, spacing, bytes }: IndexImage): PlanStep['content'] {
    if (bytes.length <= HELD_INDEX_BYTES && this.#held + bytes.length <= HELD_BYTES_IN_ALL) {
      this.#held += bytes.length;
      return [heldBytes(bytes)];
    }
    return [{ from: 'records', segment, end, spacing }];
  }
}

function heldBytes(bytes: Uint8Array): PlanStep['content'][number] {
  return { from: 'plan', base64: Buffer.from(bytes).toString('base64') };
}

/** A step that gives an index its content; null when it has it already. */
export function indexStep(
  view: ShardView,
  image: IndexImage,
  contents: IndexContents,
  said: Pick<PlanStep, 'why' | 'answers'>,
): PlanStep | null {
  const file = indexFileName(segmentIdOf(image.segment)!);
  const before = stateIn(view, file);
  if (isState(before, image.state)) return null;
  const ranges = before === null ? [] : [{ from: 0, to: before.size }];
  return { action: 'rebuild-index', file, before, after: image.state, content: contents.of(image), ranges, ...said };
}

/** A step that writes a small file anew from bytes that the plan holds; null when it has them already. */
export function bytesStep(
  view: ShardView,
  file: string,
  bytes: Uint8Array,
  said: Pick<PlanStep, 'action' | 'why' | 'answers'>,
): PlanStep | null {
  const before = stateIn(view, file);
  const after = { size: bytes.length, crc32: hex32(crc32(bytes)) };
  if (isState(before, after)) return null;
  const ranges = before === null ? [] : [{ from: 0, to: before.size }];
  return { file, before, after, content: [heldBytes(bytes)], ranges, ...said };
}

/** A step that takes a file away; null when it is not there. */
export function deleteStep(view: ShardView, file: string, said: Pick<PlanStep, 'why' | 'answers'>): PlanStep | null {
  const before = stateIn(view, file);
  if (before === null) return null;
  return { action: 'delete', file, before, after: null, content: [], ranges: [{ from: 0, to: before.size }], ...said };
}

/** The findings that a step answers, as the plan names them. */
export function answersOf(findings: readonly Finding[], answered: (finding: Finding) => boolean): AnsweredFinding[] {
  return findings
    .filter(answered)
    .map(({ kind, file, site }) => ({ kind, file, position: site.position ?? null }))
    .slice(0, MOST_ANSWERS);
}

/** A file full of damage is named by its first findings; the cut answers the rest with them. */
const MOST_ANSWERS = 100;

export function inShort(prediction: Prediction): PlanPrediction {
  return {
    verdict: prediction.verdict,
    refusals: prediction.refusals.map(({ kind, site }) => ({
      kind,
      segment: site.segment ?? null,
      position: site.position ?? null,
    })),
    repairs: prediction.repairs.map(({ action, file }) => ({ action, file })),
    tailOffset: prediction.tailOffsetAfter,
    failingReads: prediction.readsThatFail.length,
  };
}

/** What a plan says of itself and of the shard. */
export interface PlanFrame {
  readonly tool: { readonly name: string; readonly version: string };
  readonly createdAtMicros: bigint;
  readonly command: string;
  readonly settings: BrokerSettings;
  readonly before: Prediction;
  readonly after: Prediction;
  readonly notes: readonly string[];
}

/** The plan; its steps fit the files of the view. */
export function planOf(view: ShardView, frame: PlanFrame, steps: readonly PlanStep[], loses: Plan['loses']): Plan {
  const { tool, createdAtMicros, command, settings, before, after, notes } = frame;
  const plan: Plan = {
    schema: PLAN_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    createdAtMicros,
    command,
    shard: { path: view.path, name: view.name, key: view.key },
    settings,
    files: [...view.files.values()],
    steps,
    loses,
    before: inShort(before),
    after: inShort(after),
    notes,
  };
  const broken = contradictionIn(plan);
  invariant(broken === null, `a plan agrees with itself, but ${broken}`);
  return plan;
}
