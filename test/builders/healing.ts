/**
 * Heals a shard in this process as far as the plan, without the command line around it.
 */

import { donorSpecs } from '../../src/check/heal-donors.js';
import type { CommandContext } from '../../src/cli/context.js';
import { healPlan } from '../../src/cli/heal.js';
import { Pace } from '../../src/cli/pace.js';
import { examine } from '../../src/cli/planning.js';
import type { Plan } from '../../src/domain/plan.js';
import { DEFAULT_INDEX_SPACING } from '../../src/domain/report.js';

export type HealOutcome =
  | { readonly plan: Plan; readonly refused: null; readonly instead: readonly [] }
  | { readonly plan: null; readonly refused: string; readonly instead: readonly string[] };

export interface HealOptions {
  readonly acceptBitFlip?: boolean;
  readonly indexSpacing?: number;
}

export async function healed(
  shard: string,
  donors: readonly string[],
  options: HealOptions = {},
): Promise<HealOutcome> {
  const { acceptBitFlip = false, indexSpacing = DEFAULT_INDEX_SPACING } = options;
  const signal = new AbortController().signal;
  const tool = { name: 'felix-fsck', version: '0' };
  const context = { tool, nowMicros: 1_780_000_000_000_000n, signal } as unknown as CommandContext;
  const settings = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing };
  const examined = await examine(context, shard, { jobs: 1 }, settings);
  const specs = donorSpecs(donors, examined!.view.path);
  const plan = await healPlan(context, examined!, specs, acceptBitFlip, new Pace(signal));
  if (plan!.ok) return { plan: plan!.value, refused: null, instead: [] };
  const { why, instead } = plan!.error;
  return { plan: null, refused: why, instead };
}
