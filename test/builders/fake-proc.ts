/**
 * A directory that shows processes as `/proc` of Linux does.
 */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface FakeProcess {
  /** Files that it holds open; `hidden` when it may not be looked into. */
  readonly holds: readonly string[] | 'hidden';
  readonly program?: string;
}

/** Makes `dir` and the processes in it, by their number. */
export function fakeProc(dir: string, processes: Readonly<Record<number, FakeProcess>>): string {
  for (const [pid, { holds, program }] of Object.entries(processes)) {
    const home = path.join(dir, pid);
    mkdirSync(home, { recursive: true });
    if (program !== undefined) symlinkSync(program, path.join(home, 'exe'));
    // Listing what is no directory fails, and not because it went.
    if (holds === 'hidden') writeFileSync(path.join(home, 'fd'), '');
    else mkdirSync(path.join(home, 'fd'));
    if (holds !== 'hidden') holds.forEach((file, at) => void symlinkSync(file, path.join(home, 'fd', String(at))));
  }
  return dir;
}

/** One process that holds nothing: the system can be asked, and has nothing to say. */
export function quietProc(dir: string): string {
  return fakeProc(dir, { 1: { holds: [] } });
}
