/**
 * Several threads over segments, and over ranges of large segments, with the outcome of one thread.
 *
 * Threads are made when the work is worth it: small files are scanned on the calling thread. A large segment is split at
 * entries of its index; the split points are believed only as far as the range in front of each ends exactly there, with
 * the offset expected there. Where that fails the segment is scanned again in order.
 */

import type { Worker } from 'node:worker_threads';
import type { ReadPace } from '../store/read-pace.js';
import { joinRange } from './range-join.js';
import type { RangeScan } from './range-scan.js';
import { drive, InlineScanner, type Scanner, type SegmentAnswer, type SegmentJob, withSources } from './scanner.js';
import { rangesOf, readHead, resumedScan, type SegmentHead, type SegmentScan } from './segment-file.js';
import type { RangeRequest } from './segment-scan.js';
import { type SharedState, sharedState, type Task, type TaskAnswer } from './task.js';

/** From which sizes on threads are worth their while. */
export interface WorthIt {
  /** A segment of this size is worth a thread by itself. */
  readonly largeBytes: number;
  /** So many bytes in small files are worth threads too. */
  readonly manyBytes: number;
  /** Smaller files never leave the calling thread. */
  readonly smallBytes: number;
  /** The least size of a range that is split off. */
  readonly rangeBytes: number;
}

const WORTH_IT: WorthIt = {
  largeBytes: 32 << 20,
  manyBytes: 64 << 20,
  smallBytes: 256 << 10,
  rangeBytes: 16 << 20,
};

/** The code of a thread as text, where everything is in one file; put there when that file is made. */
declare const FELIX_FSCK_WORKER: string | undefined;

interface Waiting {
  readonly task: Task;
  readonly size: number;
  readonly resolve: (answer: TaskAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface PoolOptions {
  readonly jobs: number;
  readonly signal: AbortSignal;
  readonly worthIt?: WorthIt;
  /** What the reads of every thread are held to; those of the calling thread are its own business. */
  readonly pace?: ReadPace | null;
}

/** A scanner for so many threads. */
export function createScanner(options: PoolOptions): Scanner {
  return options.jobs <= 1 ? new InlineScanner(options.signal) : new ScanPool(options);
}

class ScanPool implements Scanner {
  readonly #options: PoolOptions;
  readonly #inline: InlineScanner;
  readonly #worthIt: WorthIt;
  readonly #shared: SharedState;
  readonly #threads: Thread[] = [];
  readonly #queue: Waiting[] = [];
  /** Each split holds its segment open on the calling thread. */
  readonly #splits: Gate;
  #seenBytes = 0;
  /** Loaded with the first task: most checks need no threads. */
  #threadModule: typeof import('node:worker_threads') | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#shared = sharedState(options.pace ?? null);
    this.#inline = new InlineScanner(options.signal);
    this.#worthIt = options.worthIt ?? WORTH_IT;
    this.#splits = new Gate(2 * options.jobs);
    options.signal.addEventListener('abort', () => Atomics.store(this.#shared.stop, 0, 1), { once: true });
  }

  async scan(job: SegmentJob): Promise<SegmentAnswer> {
    this.#seenBytes += job.size;
    const { largeBytes, manyBytes, smallBytes, rangeBytes } = this.#worthIt;
    const isWorthIt = job.size >= largeBytes || (this.#seenBytes >= manyBytes && job.size >= smallBytes);
    if (!isWorthIt || job.settings.quick) return this.#inline.scan(job);
    const answer = job.size >= 2 * rangeBytes ? await this.#splits.take(() => this.#scanSplit(job)) : null;
    if (answer !== null) return answer;
    return (await this.#run({ what: 'segment', job }, job.size)) as SegmentAnswer;
  }

  passedBytes(): number {
    return this.#inline.passedBytes() + Number(Atomics.load(this.#shared.passed, 0));
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.worker.terminate()));
  }

  /** Null when the segment has no index to split at. */
  async #scanSplit(job: SegmentJob): Promise<SegmentAnswer | null> {
    return withSources<SegmentAnswer | null>(job, async (source, index) => {
      const head = readHead(source, index);
      const pieces = Math.min(2 * this.#options.jobs, Math.floor(job.size / this.#worthIt.rangeBytes));
      const requests = rangesOf(head, job.size, pieces, job.settings);
      if (requests.length < 2) return null;
      const answers = await Promise.all(requests.map((request) => this.#range(job, request)));
      const problem = answers.find((answer) => answer.is !== 'range');
      if (problem !== undefined) return problem as SegmentAnswer;
      const scans = answers.map((answer) => (answer as { scan: RangeScan }).scan);
      const records = joined(scans, requests) ?? (await this.#inOrder(job, head));
      if ('is' in records) return records;
      const resumed = await drive(whole(resumedScan(source, head, records, job.settings)), async () => {
        await new Promise(setImmediate);
        return !this.#options.signal.aborted;
      });
      if (resumed === null) return { is: 'interrupted' };
      const scan: SegmentScan = { head, size: source.size, records, resumed: resumed.value };
      return { is: 'scanned', scan };
    });
  }

  #range(job: SegmentJob, request: RangeRequest): Promise<TaskAnswer> {
    const size = Math.min(request.until, job.size) - request.start;
    return this.#run({ what: 'range', job, request }, size);
  }

  async #inOrder(job: SegmentJob, head: SegmentHead): Promise<RangeScan | SegmentAnswer> {
    const [request] = rangesOf(head, job.size, 1, job.settings);
    const answer = await this.#range(job, request!);
    return answer.is === 'range' ? answer.scan : answer;
  }

  async #run(task: Task, size: number): Promise<TaskAnswer> {
    this.#threadModule ??= await import('node:worker_threads');
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, size, resolve, reject });
      this.#queue.sort((a, b) => b.size - a.size);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const idle = this.#threads.find((thread) => thread.waiting === null) ?? this.#newThread();
      if (idle === null) return;
      idle.start(this.#queue.shift()!);
    }
  }

  #newThread(): Thread | null {
    if (this.#threads.length >= this.#options.jobs) return null;
    const isText = typeof FELIX_FSCK_WORKER === 'string';
    const entry = isText ? FELIX_FSCK_WORKER! : new URL('./worker.js', import.meta.url);
    const worker = new this.#threadModule!.Worker(entry, {
      eval: isText,
      workerData: this.#shared,
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    const thread = new Thread(worker, (alive) => {
      if (!alive) this.#threads.splice(this.#threads.indexOf(thread), 1);
      this.#dispatch();
    });
    this.#threads.push(thread);
    return thread;
  }
}

/** Lets so many pieces of work through at a time, in the order in which they came. */
class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** The same generator, with its outcome told apart from having been stopped. */
function* whole<T>(generator: Generator<number, T>): Generator<number, { readonly value: T }> {
  return { value: yield* generator };
}

/** One worker and the task it is at. */
class Thread {
  readonly worker: Worker;
  waiting: Waiting | null = null;

  /** `onFree` is told when a task is done, and with false when the thread has died and takes no more. */
  constructor(worker: Worker, onFree: (alive: boolean) => void) {
    this.worker = worker;
    worker.on('message', (answer: TaskAnswer) => {
      const done = this.waiting;
      this.waiting = null;
      worker.unref();
      done?.resolve(answer);
      onFree(true);
    });
    worker.on('error', (error) => {
      const lost = this.waiting;
      this.waiting = null;
      lost?.reject(error instanceof Error ? error : new Error(String(error)));
      onFree(false);
    });
  }

  start(waiting: Waiting): void {
    this.waiting = waiting;
    this.worker.ref();
    this.worker.postMessage(waiting.task);
  }
}

/** All ranges as one; null when a split point does not hold. */
function joined(scans: readonly RangeScan[], requests: readonly RangeRequest[]): RangeScan | null {
  const [whole, ...rest] = scans;
  for (const [i, scan] of rest.entries()) {
    if (!joinRange(whole!, scan, requests[i + 1]!.expected)) return null;
  }
  return whole!;
}
