/**
 * `heal`: plans replacing what is damaged in a shard with verified records from replicas, a salvage or objects.
 */

import { type HealInput, heal } from '../check/heal.js';
import { predictHealed } from '../check/heal-after.js';
import { healedContent, rangeReports } from '../check/heal-content.js';
import { type Donor, donorBytes, donorSpecs, readDonors } from '../check/heal-donors.js';
import { ReaderPool } from '../check/reader-pool.js';
import { readStrand, strandsOf } from '../check/strands.js';
import type { Plan } from '../domain/plan.js';
import { fail } from '../domain/result.js';
import { planHeal } from '../repair/plan-heal.js';
import type { Planned } from '../repair/plan-parts.js';
import { drive } from '../scan/scanner.js';
import { listDirectory } from '../store/walk.js';
import type { CommandContext } from './context.js';
import { flag, listOf, type Options } from './options.js';
import { Pace } from './pace.js';
import { deliver, type Examined, examine, frameOf, planningSettings, refusePlan, unreadable } from './planning.js';
import { Progress } from './progress.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const from = listOf(options, 'from');
  const acceptBitFlip = flag(options, 'acceptBitFlip');
  if (from.length === 0 && !acceptBitFlip) {
    const message =
      '--from is needed: replicas, a salvage or objects to take records from. Without any, --accept-bit-flip turns back a ' +
      'single flipped bit where one explains the damage';
    fail({ reason: 'usage', message });
  }
  const settings = planningSettings(options, false);
  const examined = await examine(context, paths[0]!, options, settings);
  if (examined === null) return context.signalCode() ?? 130;
  const pace = new Pace(context.signal);
  const specs = donorSpecs(from, examined.view.path);
  const progress = new Progress(context.streams.stderr, options['progress'] !== false, {
    passed: () => pace.passed,
    total: () => donorBytes(specs),
    findings: () => 0,
  });
  try {
    const plan = await healPlan(context, examined, specs, acceptBitFlip, pace);
    progress.stop();
    if (plan === null) return context.signalCode() ?? 130;
    return plan.ok ? await deliver(context, plan.value, options) : refusePlan(plan.error, examined.view.path);
  } catch (failure) {
    return unreadable(failure);
  } finally {
    progress.stop();
  }
}

/** Null when interrupted. Throws `ReadFailure`. */
export async function healPlan(
  context: Pick<CommandContext, 'tool' | 'nowMicros'>,
  examined: Examined,
  specs: ReturnType<typeof donorSpecs>,
  acceptBitFlip: boolean,
  pace: Pace,
): Promise<Planned<Plan> | null> {
  const { reading, report, view, settings } = examined;
  const goOn = (bytes: number) => pace.goOn(bytes);
  const options = { hashed: false, goOn };
  const manifest = view.manifest?.entries ?? [];
  const listing = { ...listDirectory(view.path), path: view.path };
  const target = await readStrand(strandsOf(listing)[0]!, options);
  const donors = target === null ? null : await readDonors(specs, manifest, options);
  if (target === null || donors === null) return null;
  const { epochs, commit } = view;
  const input: HealInput = { target, entries: listing.entries, manifest, epochs, commit, donors, acceptBitFlip };
  const pool = new ReaderPool();
  try {
    const healing = await drive(heal(input, pool), goOn);
    if (healing === null) return null;
    const { places, left, notes } = healing;
    const last = places.at(-1);
    const cured = places.map((place) => {
      const healed = healedContent(place, place === last, pool, settings.indexSpacing);
      return { healed, ranges: rangeReports(place, healed) };
    });
    const healed = cured.flatMap((each) => (each.healed === null ? [] : [each.healed]));
    const ranges = [...left, ...cured.flatMap((each) => each.ranges)];
    const facts = { segments: healed.map(({ segment }) => segment), ranges, notes: [...notes, ...unreadNotes(donors)] };
    const after = predictHealed(reading, healed, context.nowMicros);
    return planHeal({ view, report, facts, frame: frameOf(context, settings), after });
  } finally {
    pool.close();
  }
}

/** What of the donors could not be asked. */
function unreadNotes(donors: readonly Donor[]): string[] {
  return donors.flatMap(({ strand }) =>
    strand.files.flatMap(({ path, map, problem }) => {
      if (problem !== null)
        return [`${path} could not be read to its end (${problem.message}), and gave what was read.`];
      return map?.otherBuild ? [`${path} was written by another build, and gave nothing.`] : [];
    }),
  );
}
