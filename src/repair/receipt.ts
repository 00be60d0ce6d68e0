/**
 * What was done, by whom and when, with the checksums before and after: printed, and kept in the journal.
 */

import type { FileState, PlanLoss, PlanPrediction, StepAction } from '../domain/plan.js';
import type { Prediction } from '../domain/report.js';
import type { Journal } from './journal.js';
import type { Who } from './journal-record.js';
import { inShort } from './plan-parts.js';

export const RECEIPT_SCHEMA = 'felix-fsck.receipt/1';

export interface Receipt {
  readonly schema: typeof RECEIPT_SCHEMA;
  readonly tool: { readonly name: string; readonly version: string };
  readonly who: Who;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly command: string;
  readonly shard: { readonly path: string; readonly name: string; readonly key: string | null };
  /** SHA-256 of the plan. */
  readonly plan: string;
  readonly journal: string;
  readonly files: readonly {
    readonly file: string;
    readonly action: StepAction;
    readonly before: FileState | null;
    readonly after: FileState | null;
  }[];
  readonly loses: PlanLoss;
  /** Predicted before the repair. */
  readonly before: PlanPrediction;
  /** Found by a check of the shard afterwards. */
  readonly after: PlanPrediction;
  /** What was found is what the plan had said. */
  readonly asPlanned: boolean;
}

/** `found` comes of a check after the last step. */
export function receiptOf({ plan, record, path }: Journal, found: Prediction): Receipt {
  const after = inShort(found);
  return {
    schema: RECEIPT_SCHEMA,
    tool: record.tool,
    who: record.who,
    startedAt: record.startedAt,
    finishedAt: record.changedAt,
    command: plan.command,
    shard: plan.shard,
    plan: record.plan,
    journal: path,
    files: plan.steps.map(({ file, action, before, after: state }) => ({ file, action, before, after: state })),
    loses: plan.loses,
    before: plan.before,
    after,
    asPlanned: after.verdict === plan.after.verdict && after.tailOffset === plan.after.tailOffset,
  };
}
