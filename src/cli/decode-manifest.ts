/**
 * `decode-manifest`: an offload manifest, held against the shard beside it and the objects.
 */

import { decodeManifestAt } from '../check/decode-manifest.js';
import { exitCodeOf, type FailOn } from '../check/summary.js';
import { renderManifest, renderManifestJson, renderManifestLines } from '../report/manifest.js';
import { InlineScanner } from '../scan/scanner.js';
import type { CommandContext } from './context.js';
import { colorOf, flag, formatOf, type Options } from './options.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const { out, signal, tool, nowMicros } = context;
  const scanner = new InlineScanner(signal);
  const objects = (options['objects'] as string | undefined) ?? null;
  const goOn = async () => {
    await new Promise(setImmediate);
    return !signal.aborted;
  };
  const report = await decodeManifestAt(paths[0]!, scanner, { objects, nowMicros, goOn });
  await scanner.close();
  if (report === null) return context.signalCode() ?? 0;
  const exitCode = exitCodeOf(report.findings, options['failOn'] as FailOn);
  switch (formatOf(options)) {
    case 'json':
      await out.write(renderManifestJson(report, tool, exitCode));
      break;
    case 'ndjson':
      await out.write(renderManifestLines(report, tool, exitCode));
      break;
    case 'table': {
      const table = { all: flag(options, 'all'), quiet: flag(options, 'quiet'), exitCode };
      await out.write(renderManifest(report, context.style(colorOf(options)), table));
      break;
    }
  }
  return exitCode;
}
