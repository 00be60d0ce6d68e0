/**
 * Failures that a test expects.
 */

import { type Failure, FailureError } from '../../src/domain/result.js';

/** The failure that the work ends in; anything else that it throws is thrown on. */
export function failureOf(work: () => unknown): Failure {
  try {
    work();
  } catch (error) {
    if (error instanceof FailureError) return error.failure;
    throw error;
  }
  throw new Error('it did not fail');
}

/** The same for work that takes time. */
export async function failureOfAsync(work: () => Promise<unknown>): Promise<Failure> {
  const outcome = await work().then(
    () => () => undefined,
    (error: unknown) => () => {
      throw error;
    },
  );
  return failureOf(outcome);
}
