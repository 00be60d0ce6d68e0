/**
 * `diff-epochs`: replicas of one shard held against each other.
 */

import { diffEpochs } from '../check/diff-epochs.js';
import { renderReplicaDiff, renderReplicaDiffJson, renderReplicaDiffLines } from '../report/replica-diff.js';
import type { CommandContext } from './context.js';
import { colorOf, formatOf, type Options } from './options.js';
import { shardAt } from './shard-at.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const { out, signal, tool } = context;
  const diff = await diffEpochs(
    paths.map((path) => shardAt(path).path),
    async () => {
      await new Promise(setImmediate);
      return !signal.aborted;
    },
  );
  if (diff === null) return context.signalCode() ?? 0;
  switch (formatOf(options)) {
    case 'json':
      await out.write(renderReplicaDiffJson(diff, tool));
      break;
    case 'ndjson':
      await out.write(renderReplicaDiffLines(diff, tool));
      break;
    case 'table':
      await out.write(renderReplicaDiff(diff, context.style(colorOf(options))));
      break;
  }
  return diff.exitCode;
}
