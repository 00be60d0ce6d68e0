/**
 * Runs a command line in this process and tells, on standard error, how much memory it took at the most: the peak of the
 * whole process, threads included. Arguments are those of the command line.
 */

import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

const STATUS = '/proc/self/status';

/** The system's own figure; where it gives none, Node's, which may still hold the peak of the process that started this. */
function peakKib(): number {
  const peak = existsSync(STATUS) ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8')) : null;
  return peak === null ? process.resourceUsage().maxRSS : Number(peak[1]);
}

const entry = new URL('../../../bin/felix-fsck.js', import.meta.url);
process.on('exit', () => {
  process.stderr.write(`peak ${peakKib()} KiB\n`);
});
await import(entry.href);
