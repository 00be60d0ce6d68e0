/**
 * `locate`: tells where the record with an offset is, or the first one at or after a time.
 */

import { locateOffset, locateTime } from '../check/locate.js';
import { type LogFiles, openLog } from '../check/log-files.js';
import { targetsOf } from '../check/targets.js';
import type { Location } from '../domain/location.js';
import { fail } from '../domain/result.js';
import { U64_MAX } from '../domain/units.js';
import { someOf } from '../domain/wording.js';
import { renderLocation, renderLocationJson, renderLocationLine } from '../report/location.js';
import type { CommandContext } from './context.js';
import { parseInstant } from './instant.js';
import { colorOf, flag, formatOf, type Options, shardKeyOf } from './options.js';

/** How long is searched before signals get their turn. */
const SLICE_MS = 25;

export async function run(context: CommandContext, args: readonly string[], options: Options): Promise<number> {
  const [path, offset] = args;
  const search = searchOf(offset, options['time']);
  const location = await driven(context, search(shardAt(path!, options)));
  if (location === null) return context.signalCode() ?? 0;
  switch (formatOf(options)) {
    case 'json':
      await context.out.write(renderLocationJson(location, context.tool));
      break;
    case 'ndjson':
      await context.out.write(renderLocationLine(location, context.tool));
      break;
    case 'table':
      await context.out.write(renderLocation(location, context.style(colorOf(options))));
  }
  return location.exitCode;
}

type Search = (log: LogFiles) => Generator<number, Location>;

function searchOf(offset: string | undefined, time: unknown): Search {
  if (offset !== undefined && time !== undefined) usage('an offset and --time are not given together');
  if (typeof time === 'string') {
    const timeMicros = parseInstant(time, '--time');
    return (log) => locateTime(log, timeMicros);
  }
  if (offset === undefined) usage('which record: an offset, or --time');
  if (!/^[0-9]{1,20}$/.test(offset) || BigInt(offset) > U64_MAX) {
    usage(`${offset}: an offset is a whole number of up to 64 bits`);
  }
  return (log) => locateOffset(log, BigInt(offset));
}

function usage(message: string): never {
  fail({ reason: 'usage', message });
}

function shardAt(path: string, options: Options): LogFiles {
  const targets = [...targetsOf(path, { includeDeleted: flag(options, 'includeDeleted') })];
  const shards = targets.filter((target) => target.what === 'shard');
  const [shard] = shards;
  if (shard === undefined) usage(`${path}: no shard is here`);
  if (shards.length > 1) {
    const names = someOf(shards.map(({ listing }) => listing.path));
    usage(`${path}: ${shards.length} shards are below, name one: ${names}`);
  }
  return openLog(shard.listing, shard.sole, shardKeyOf(options));
}

/** Null when interrupted. */
async function driven(context: CommandContext, search: Generator<number, Location>): Promise<Location | null> {
  let sliceEnd = 0;
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
    if (performance.now() < sliceEnd) continue;
    await new Promise(setImmediate);
    sliceEnd = performance.now() + SLICE_MS;
    if (context.signal.aborted) return null;
  }
}
