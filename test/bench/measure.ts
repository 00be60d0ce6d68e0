/**
 * Measuring ratios: what is compared runs interleaved in one go, several times, so that a noisy machine is noisy to all.
 */

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, least: sorted[0]!, most: sorted.at(-1)! };
}

/** Milliseconds of each run of each piece of work, in turns; one round in front warms up and does not count. */
export async function inTurns<K extends string>(
  works: Readonly<Record<K, () => Promise<void> | void>>,
  rounds: number,
): Promise<Record<K, number[]>> {
  const names = Object.keys(works) as K[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const startedAt = performance.now();
      await works[name]();
      if (round >= 0) times[name].push(performance.now() - startedAt);
    }
  }
  return times;
}

/** How many times as fast `work` is as `yardstick`, round by round. */
export function ratioOf(yardstick: readonly number[], work: readonly number[]): Spread {
  return spreadOf(work.map((time, round) => yardstick[round]! / time));
}
