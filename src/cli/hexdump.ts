/**
 * `hexdump`: the bytes around a place, with every field named.
 */

import { type HexRequest, namedBytes } from '../check/hex-view.js';
import { fail } from '../domain/result.js';
import { renderHexdump, renderHexdumpJson, renderHexdumpLine } from '../report/hexdump.js';
import type { CommandContext } from './context.js';
import { colorOf, formatOf, type Options } from './options.js';

/** More is a matter for other tools. */
const MOST_CONTEXT = 1024 * 1024;

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const request = { path: paths[0]!, place: placeOf(options), context: contextOf(options) };
  const view = await namedBytes(request, async () => {
    await new Promise(setImmediate);
    return !context.signal.aborted;
  });
  if (view === null) return context.signalCode() ?? 0;
  switch (formatOf(options)) {
    case 'json':
      await context.out.write(renderHexdumpJson(view, context.tool));
      break;
    case 'ndjson':
      await context.out.write(renderHexdumpLine(view, context.tool));
      break;
    case 'table':
      await context.out.write(renderHexdump(view, context.style(colorOf(options))));
      break;
  }
  return 0;
}

function placeOf(options: Options): HexRequest['place'] {
  const at = options['at'] as number | undefined;
  const record = options['record'] as bigint | undefined;
  if (at !== undefined && record === undefined) return { at };
  if (record !== undefined && at === undefined) return { record };
  return fail({ reason: 'usage', message: 'say either --at POSITION or --record OFFSET' });
}

function contextOf(options: Options): number {
  const bytes = options['context'] as number;
  if (bytes > MOST_CONTEXT) fail({ reason: 'usage', message: `--context is at most ${MOST_CONTEXT} bytes` });
  return bytes;
}
