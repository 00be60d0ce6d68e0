/**
 * The page of `verify --report`: loaded only when one is asked for.
 */

import { readIndexPositions, readNeighbourhood } from '../check/neighbourhood.js';
import { renderHtml, wantedBy } from '../report/html.js';
import type { RunReport } from '../report/worst-shards.js';
import type { CommandContext } from './context.js';
import { type Options, settingsOf } from './options.js';

/** The page, with the bytes that it has room for read again. */
export function pageOf(report: RunReport, context: CommandContext, options: Options): string {
  const wanted = wantedBy(report);
  const hexdumps = new Map(
    wanted.findings.flatMap(({ finding, checkedBytes }) => {
      const view = readNeighbourhood(finding, checkedBytes);
      return view === null ? [] : [[finding, view] as const];
    }),
  );
  const indexPositions = new Map(
    wanted.segments.map(({ shard, segment }) => [segment, readIndexPositions(shard.path, segment)] as const),
  );
  return renderHtml(report, {
    tool: context.tool,
    settings: settingsOf(options),
    checkedAtMicros: context.nowMicros,
    hexdumps,
    indexPositions,
  });
}
