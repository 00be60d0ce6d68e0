/**
 * The way in. A question for the version is answered before anything else is loaded.
 */

import type { Streams } from './context.js';
import { TOOL } from './version.js';

/** Runs one command line; returns the exit code. Never throws. */
export async function main(args: readonly string[], streams: Streams): Promise<number> {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    // A reader that has gone, or a full disk, takes nothing away from the answer.
    streams.stdout.on('error', () => {});
    streams.stdout.write(`${TOOL.name} ${TOOL.version}\n`);
    return 0;
  }
  const { runCommandLine } = await import('./command-line.js');
  return runCommandLine(args, streams);
}
