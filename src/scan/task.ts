/**
 * The work that can be handed to a thread: a whole segment, or a range of one.
 */

import type { ReadPace } from '../store/read-pace.js';
import type { RangeScan } from './range-scan.js';
import { drive, type SegmentAnswer, type SegmentJob, withSources } from './scanner.js';
import { scanSegmentFile } from './segment-file.js';
import { type RangeRequest, scanRange } from './segment-scan.js';

export type Task =
  | { readonly what: 'segment'; readonly job: SegmentJob }
  | { readonly what: 'range'; readonly job: SegmentJob; readonly request: RangeRequest };

export interface RangeAnswer {
  readonly is: 'range';
  readonly scan: RangeScan;
}

export type TaskAnswer = SegmentAnswer | RangeAnswer;

/** Memory that all threads see. */
export interface SharedState {
  /** `[0]`: bytes passed by all threads. */
  readonly passed: BigInt64Array;
  /** `[0]`: not 0 once the run is to stop. */
  readonly stop: Int32Array;
  /** What reads are held to. */
  readonly pace: ReadPace | null;
}

export function sharedState(pace: ReadPace | null): SharedState {
  return {
    passed: new BigInt64Array(new SharedArrayBuffer(8)),
    stop: new Int32Array(new SharedArrayBuffer(4)),
    pace,
  };
}

/** Runs a task to its end, or to the next window once `shared.stop` is set. */
export async function runTask(task: Task, shared: SharedState): Promise<TaskAnswer> {
  const { job } = task;
  const start = task.what === 'range' ? task.request.start : 0;
  const end = task.what === 'range' ? Math.min(task.request.until, job.size) : job.size;
  let last = start;
  const pass = (position: number) => {
    if (position > last) Atomics.add(shared.passed, 0, BigInt(Math.min(position, end) - Math.min(last, end)));
    last = Math.max(last, position);
  };
  const goOn = (position: number) => {
    pass(position);
    return Atomics.load(shared.stop, 0) === 0;
  };
  const answer = await withSources<TaskAnswer>(job, async (source, index) => {
    const scan =
      task.what === 'range'
        ? await drive(scanRange(source, index, task.request), goOn)
        : await drive(scanSegmentFile(source, index, job.settings), goOn);
    if (scan === null) return { is: 'interrupted' };
    return 'head' in scan ? { is: 'scanned', scan } : { is: 'range', scan };
  });
  pass(end);
  return answer;
}
