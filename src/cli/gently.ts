/**
 * Being a good neighbour on a machine that serves: reads held to a pace, and the processor left to others.
 */

import { constants, setPriority } from 'node:os';
import { fail } from '../domain/result.js';
import { paceReads, type ReadPace, readPace } from '../store/read-pace.js';
import { flag, type Options } from './options.js';

const MEGABYTE = 1_000_000;

/** Takes up what `--io-limit` and `--nice` say, before any thread is made. Ends with {@link setFree}. */
export function tread(options: Options): ReadPace | null {
  const limit = options['ioLimit'] as number | undefined;
  if (limit !== undefined && limit < 1) fail({ reason: 'usage', message: '--io-limit is at least 1 MB/s' });
  if (flag(options, 'nice')) leaveProcessorToOthers();
  const pace = limit === undefined ? null : readPace(limit * MEGABYTE);
  paceReads(pace);
  return pace;
}

export function setFree(): void {
  paceReads(null);
}

/** Threads made later inherit it. A system that refuses is no reason not to check. */
function leaveProcessorToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    return;
  }
}
