/**
 * Who scans segments: the port that the check layer asks, and the scanner that does it on the calling thread.
 *
 * A scanner hands control back often enough for signals and progress to be seen, and stops at the next window when told.
 */

import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource, type RawPath } from '../store/file-source.js';
import { type ReadProblem, type ScanSettings, type SegmentScan, scanSegmentFile } from './segment-file.js';

export interface SegmentJob {
  readonly path: RawPath;
  /** The prefix to judge. */
  readonly size: number;
  readonly index: { readonly path: RawPath; readonly size: number } | null;
  readonly settings: ScanSettings;
}

export type SegmentAnswer =
  | { readonly is: 'scanned'; readonly scan: SegmentScan }
  | Unreadable
  | { readonly is: 'interrupted' };

export interface Unreadable {
  readonly is: 'unreadable';
  readonly problem: ReadProblem;
}

export interface Scanner {
  scan(job: SegmentJob): Promise<SegmentAnswer>;
  /** Bytes of segments passed so far, by all threads. */
  passedBytes(): number;
  close(): Promise<void>;
}

/** How long a scan may keep the thread to itself. */
const SLICE_MS = 25;

export class InlineScanner implements Scanner {
  readonly #signal: AbortSignal;
  #passed = 0;
  #sliceEnd = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** One file after another: however many are asked for at once, one window is held, and one file open. */
  scan(job: SegmentJob): Promise<SegmentAnswer> {
    const answer = this.#last.then(() => this.#scan(job));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #scan(job: SegmentJob): Promise<SegmentAnswer> {
    if (this.#signal.aborted) return { is: 'interrupted' };
    let last = 0;
    const goOn = async (position: number) => {
      this.#passed += Math.max(0, position - last);
      last = position;
      if (Date.now() >= this.#sliceEnd) {
        await new Promise(setImmediate);
        this.#sliceEnd = Date.now() + SLICE_MS;
      }
      return !this.#signal.aborted;
    };
    return withSources<SegmentAnswer>(job, async (source, index) => {
      const scan = await drive(scanSegmentFile(source, index, job.settings), goOn);
      this.#passed += Math.max(0, job.size - last);
      return scan === null ? { is: 'interrupted' } : { is: 'scanned', scan };
    });
  }

  passedBytes(): number {
    return this.#passed;
  }

  async close(): Promise<void> {}
}

/** Runs a generator to its end; null when `goOn` says no. `goOn` is asked after each window. */
export async function drive<T>(
  generator: Generator<number, T>,
  goOn: (position: number) => Promise<boolean> | boolean,
): Promise<T | null> {
  for (;;) {
    const step = generator.next();
    if (step.done) return step.value;
    const answer = goOn(step.value);
    if (!(typeof answer === 'boolean' ? answer : await answer)) return null;
  }
}

/** Opens a segment and its index for `work`, and closes them behind it. */
export async function withSources<T>(
  job: SegmentJob,
  work: (source: ByteSource, index: ByteSource | null) => Promise<T>,
): Promise<T | Unreadable> {
  let source: FileSource | null = null;
  let index: FileSource | FailedSource | null = null;
  try {
    source = FileSource.open(job.path, job.size);
    if (job.index !== null) index = openIndex(job.index);
    return await work(source, index);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, message, position } = failure;
    return { is: 'unreadable', problem: { code, message, position } };
  } finally {
    source?.close();
    index?.close();
  }
}

/** An index that cannot be opened takes nothing from the segment: every read of it fails as the opening did. */
function openIndex(index: { readonly path: RawPath; readonly size: number }): FileSource | FailedSource {
  try {
    return FileSource.open(index.path, index.size);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return new FailedSource(failure, index.size);
  }
}

class FailedSource implements ByteSource {
  readonly size: number;
  readonly #failure: ReadFailure;

  constructor(failure: ReadFailure, size: number) {
    this.#failure = failure;
    this.size = size;
  }

  readAt(): number {
    throw this.#failure;
  }

  close(): void {}
}
