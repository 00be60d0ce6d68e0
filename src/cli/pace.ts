/**
 * Lets long work on this thread be interrupted and be seen: hands control back every few milliseconds, and counts.
 */

const SLICE_MS = 25;

export class Pace {
  readonly #signal: AbortSignal;
  #sliceEnd = 0;
  /** Bytes so far. */
  passed = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** False when the work is to stop. */
  goOn(bytes: number): boolean | Promise<boolean> {
    this.passed += bytes;
    if (performance.now() < this.#sliceEnd) return !this.#signal.aborted;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#sliceEnd = performance.now() + SLICE_MS;
        resolve(!this.#signal.aborted);
      });
    });
  }
}
