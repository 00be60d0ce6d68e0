/**
 * What a step of work may come to: a value, or an expected reason why there is none.
 *
 * Three families never mix. A *finding* is true of the data and is a value in a report. A *failure* is a run that cannot
 * do its job (no such path, stale plan, disk full): it travels as {@link FailureError} and is put into words by the
 * command line's boundary alone. A *bug* is a broken assumption of ours: {@link invariant} and {@link assertNever} throw
 * a plain `Error`, and the boundary reports it with exit code 1, saying nothing about the data.
 */

export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** Throws when a belief of ours does not hold. Never used for anything that bytes on disk can decide. */
export function invariant(condition: boolean, belief: string): asserts condition {
  if (!condition) throw new Error(`broken assumption: ${belief}`);
}

/** Makes a switch over a union exhaustive at compile time, and loud at run time. */
export function assertNever(value: never): never {
  throw new Error(`broken assumption: unexpected value ${JSON.stringify(value)}`);
}

/** Why a run cannot do its job. Closed: the boundary maps each to one sentence and one exit code. */
export type Failure =
  /** Wrong usage, or a path that does not exist or is not part of a store: exit 2. */
  | { readonly reason: 'usage'; readonly message: string }
  /** Looks live, stale plan, a cut under the commit offset, loss over the budget, no confirmation: exit 31. */
  | { readonly reason: 'refused'; readonly message: string }
  /** Something the run depends on could not be read or written: exit 30. */
  | { readonly reason: 'unreadable'; readonly message: string }
  /** `apply` or `undo` stopped part-way; the journal brings the old bytes back: exit 33. */
  | { readonly reason: 'part-way'; readonly message: string; readonly journal: string };

export class FailureError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'FailureError';
    this.failure = failure;
  }
}

/** The failure that an error carries, or null for a bug. By its shape: a command may be loaded from another bundle. */
export function failureIn(error: unknown): Failure | null {
  return error instanceof Error && error.name === 'FailureError' && 'failure' in error
    ? (error as FailureError).failure
    : null;
}

/** Stops the run with a sentence for the operator. */
export function fail(failure: Failure): never {
  throw new FailureError(failure);
}
