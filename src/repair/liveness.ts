/**
 * Signs that a broker is at work on a shard: what `run-state` says, who holds files open, when they were last written.
 *
 * None of them proves that nothing runs. What could not be asked is told as unknown, never as none.
 */

import { feedOf } from '../format/bytes.js';
import { decodeRunState } from '../format/run-state.js';
import { ReadFailure } from '../store/byte-source.js';
import { readSmallFile } from '../store/file-digest.js';
import { holdersOf } from '../store/open-files.js';
import { type PathFacts, pathFacts } from '../store/path-facts.js';
import { joinShown } from '../store/walk.js';

/** A file written to within this time is taken to be in use. */
const QUIET_NS = 5_000_000_000n;
/** How many directories above the shard `run-state` is looked for in: `groups/<…>/<shard>` is two below its root. */
const LEVELS_ABOVE = 4;
const RUN_STATE_LIMIT = 4096;
const NAMED_HOLDERS = 3;

export interface Signs {
  /** Each a reason to refuse, as a sentence. */
  readonly live: readonly string[];
  /** What could not be told. */
  readonly unknown: readonly string[];
}

const NONE: Signs = { live: [], unknown: [] };

export interface SignOptions {
  readonly ownPid: number;
  readonly nowNs: bigint;
  /** Files that we wrote ourselves a moment ago are not held against the shard. */
  readonly ignoreTimes: boolean;
  /** Where the system shows its processes; `/proc` when left out. */
  readonly proc?: string;
}

/** All signs together. `files` are those of the shard, by name. */
export function signsOfLife(shard: string, files: ReadonlyMap<string, PathFacts>, options: SignOptions): Signs {
  const signs = [
    runStateSigns(shard),
    holderSigns(files, options),
    options.ignoreTimes ? NONE : timeSigns(files, options.nowNs),
  ];
  return { live: signs.flatMap(({ live }) => live), unknown: signs.flatMap(({ unknown }) => unknown) };
}

/** The nearest `run-state` above the shard. */
function runStateSigns(shard: string): Signs {
  let directory = shard;
  for (let level = 0; level < LEVELS_ABOVE && directory !== '/'; level++) {
    directory = directory.slice(0, directory.lastIndexOf('/')) || '/';
    const path = joinShown(directory, 'run-state');
    try {
      if (pathFacts(path) !== null) return runStateIn(path);
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      return { live: [], unknown: [`${path} could not be read (${failure.message})`] };
    }
  }
  return NONE;
}

function runStateIn(path: string): Signs {
  const { value, claimed } = decodeRunState(feedOf(readSmallFile(path, RUN_STATE_LIMIT)));
  if ((value ?? claimed).state === 'running') {
    return {
      live: [
        `${path} says that the broker is running, which is also what a crash leaves behind. Stop the broker cleanly; if ` +
          'it cannot start, move the shard directory out of the data root, repair it there and move it back',
      ],
      unknown: [],
    };
  }
  if (value === null)
    return { live: [], unknown: [`${path} is damaged, so that it does not say whether a broker runs`] };
  return NONE;
}

function holderSigns(files: ReadonlyMap<string, PathFacts>, { ownPid, proc }: SignOptions): Signs {
  const { holders, unknown } = holdersOf(files, ownPid, proc);
  const live = holders
    .slice(0, NAMED_HOLDERS)
    .map(({ pid, program, file }) => `process ${pid} (${program ?? 'program unknown'}) holds ${file} open`);
  if (unknown === null) return { live, unknown: ['this system does not show which processes hold files open'] };
  if (unknown === 0) return { live, unknown: [] };
  const what = unknown === 1 ? '1 process could not be looked into' : `${unknown} processes could not be looked into`;
  return { live, unknown: [`${what}: whether it holds files of the shard open is unknown`] };
}

function timeSigns(files: ReadonlyMap<string, PathFacts>, nowNs: bigint): Signs {
  for (const [file, { mtimeNs }] of files) {
    const age = nowNs - mtimeNs;
    if (age < QUIET_NS && age > -QUIET_NS) {
      const seconds = QUIET_NS / 1_000_000_000n;
      return { live: [`${file} was written to within the last ${seconds} seconds; wait, and try again`], unknown: [] };
    }
  }
  return NONE;
}
