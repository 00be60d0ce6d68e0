/**
 * Reads held to so many bytes a second, by all threads of the process together.
 *
 * Each read takes the next free stretch of time and sleeps until it begins. Time that nobody used is not saved up, so that a
 * disk which others need never sees a burst. A process reads for one run at a time: the pace is set for the whole of it.
 */

/** May be handed to other threads. */
export interface ReadPace {
  readonly bytesPerSecond: number;
  /** `[0]`: when the next read may begin, in microseconds since 1970. */
  readonly nextMicros: BigInt64Array;
}

let current: ReadPace | null = null;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

export function readPace(bytesPerSecond: number): ReadPace {
  return { bytesPerSecond, nextMicros: new BigInt64Array(new SharedArrayBuffer(8)) };
}

/** Holds the reads of this thread to a pace from now on; null sets them free. */
export function paceReads(pace: ReadPace | null): void {
  current = pace;
}

export function isPaced(): boolean {
  return current !== null;
}

/** Sleeps until `bytes` may be read. */
export function awaitTurn(bytes: number): void {
  if (current === null) return;
  const { nextMicros, bytesPerSecond } = current;
  const takes = BigInt(Math.ceil((bytes * 1e6) / bytesPerSecond));
  for (;;) {
    const now = nowMicros();
    const due = Atomics.load(nextMicros, 0);
    const wait = due - now;
    const start = wait > 0n ? due : now;
    if (Atomics.compareExchange(nextMicros, 0, due, start + takes) !== due) continue;
    if (wait > 0n) Atomics.wait(SLEEPER, 0, 0, Number(wait) / 1000);
    return;
  }
}

/** A clock that all threads share. */
function nowMicros(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000));
}
