/**
 * `inspect`: tells what each path is and what it holds.
 */

import { inspectPaths } from '../check/inspect.js';
import { exitCodeOf, type FailOn } from '../check/summary.js';
import type { InspectedDamage, Inspection } from '../domain/inspection.js';
import {
  renderInspections,
  renderInspectJson,
  renderInspectLine,
  renderInspectSummaryLine,
} from '../report/inspect.js';
import { InlineScanner } from '../scan/scanner.js';
import { TailScanner } from '../scan/tail-scanner.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, type Options } from './options.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const { out, signal, tool } = context;
  const full = flag(options, 'full');
  const scanner = full ? new InlineScanner(signal) : new TailScanner(signal);
  const format = formatOf(options);
  const kept: Inspection[] = [];
  const damage: Pick<InspectedDamage, 'kind' | 'severity'>[] = [];
  let count = 0;
  try {
    const inspectOptions = { full, nowMicros: context.nowMicros, includeDeleted: flag(options, 'includeDeleted') };
    for await (const inspection of inspectPaths(paths, scanner, inspectOptions)) {
      damage.push(...inspection.damage.map(({ kind, severity }) => ({ kind, severity })));
      if (format === 'json') kept.push(inspection);
      else if (!(await out.write(rendered(context, options, inspection, count)))) break;
      count++;
    }
  } finally {
    await scanner.close();
  }
  const partial = signal.aborted;
  if (format === 'json') await out.write(renderInspectJson(kept, tool, partial));
  if (format === 'ndjson') await out.write(renderInspectSummaryLine(count, tool, partial));
  return context.signalCode() ?? exitCodeOf(damage, options['failOn'] as FailOn);
}

function rendered(context: CommandContext, options: Options, inspection: Inspection, before: number): string {
  if (formatOf(options) === 'ndjson') return renderInspectLine(inspection);
  const style = context.style(colorOf(options));
  return (before > 0 ? '\n' : '') + renderInspections([inspection], style, { all: flag(options, 'all') });
}
