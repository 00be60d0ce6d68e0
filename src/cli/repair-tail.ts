/**
 * `repair-tail`: plans the cut and the deletions that recovery would make, or one that it would not when asked to.
 */

import { newestFacts, segmentIndex } from '../check/repair-facts.js';
import type { IndexImage } from '../domain/plan-facts.js';
import { fail } from '../domain/result.js';
import { planTail, type TailRequest } from '../repair/plan-tail.js';
import type { CommandContext } from './context.js';
import { listOf, type Options } from './options.js';
import { deliver, type Examined, examine, frameOf, planningSettings, refusePlan, unreadable } from './planning.js';

const ALLOWED = ['checksum-tail', 'zero-tail'];

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const request = requestOf(options);
  const settings = planningSettings(options, request.checksumTail);
  const examined = await examine(context, paths[0]!, options, settings);
  if (examined === null) return context.signalCode() ?? 130;
  const plan = planTail({
    ...examined,
    newest: readFacts(() => newestFacts(examined.reading.facts, settings.indexSpacing, context.nowMicros)),
    indexes: readFacts(() => indexesAtOpen(examined)),
    request,
    frame: frameOf(context, settings),
    predictAfter: (change) => examined.predictAfter(change),
  });
  return plan.ok ? deliver(context, plan.value, options) : refusePlan(plan.error, examined.view.path);
}

function requestOf(options: Options): TailRequest {
  const allowed = listOf(options, 'allow');
  const unknown = allowed.find((what) => !ALLOWED.includes(what));
  if (unknown !== undefined) fail({ reason: 'usage', message: `--allow takes ${ALLOWED.join(' or ')}` });
  return {
    checksumTail: allowed.includes('checksum-tail'),
    zeroTail: allowed.includes('zero-tail'),
    cutAt: (options['cutAt'] as number | undefined) ?? null,
    loseIntact: (options['loseIntact'] as number | undefined) ?? 0,
  };
}

/** The indexes of sealed segments that a broker would make anew at open, because they do not load or have no entry. */
function indexesAtOpen({ reading, settings }: Examined): Map<string, IndexImage> {
  const images = new Map<string, IndexImage>();
  for (const segment of reading.facts.segments) {
    const head = segment.scan?.head;
    if (segment.role !== 'sealed' || head === undefined || (head.indexUsable && head.index!.kept > 0)) continue;
    const image = segmentIndex(reading.facts, segment, settings.indexSpacing);
    if (image !== null && image.damagedAt === null) images.set(segment.file, image);
  }
  return images;
}

function readFacts<T>(read: () => T): T {
  try {
    return read();
  } catch (failure) {
    return unreadable(failure);
  }
}
