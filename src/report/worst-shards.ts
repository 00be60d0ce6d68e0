/**
 * The shards of a run, of which only the worst are held whole, so that no number of shards takes more memory than a page
 * has room for. All of them are counted.
 */

import type { RootReport, ShardReport, Summary, Verdict, VerifyReport } from '../domain/report.js';
import { lossesOf } from './losses.js';
import { isSound, shardWeight } from './shard-weight.js';

export interface ShardCounts {
  readonly shards: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** With something that an operator has to do or to know. */
  readonly troubled: number;
  readonly lostOffsets: bigint;
}

/** A report of a run in which shards that are no worse than others may be counted only. */
export interface RunReport {
  /** Worst first, else in the order in which they came. */
  readonly shards: readonly ShardReport[];
  readonly counts: ShardCounts;
  readonly roots: readonly RootReport[];
  readonly summary: Summary;
  readonly partial: boolean;
}

/** As many shards are held: more than any report has room for. */
const HELD_SHARDS = 2000;

export class WorstShards {
  readonly #limit: number;
  /** By weight. */
  readonly #held: ShardReport[][] = [];
  readonly #verdicts: Record<Verdict, number> = { opens: 0, repairs: 0, refuses: 0 };
  #count = 0;
  #holding = 0;
  #troubled = 0;
  #lostOffsets = 0n;

  constructor(limit: number = HELD_SHARDS) {
    this.#limit = limit;
  }

  add(shard: ShardReport): void {
    this.#count += 1;
    this.#verdicts[shard.prediction.verdict] += 1;
    if (!isSound(shard)) this.#troubled += 1;
    this.#lostOffsets += lossesOf(shard.findings).count;
    const weight = shardWeight(shard);
    this.#held[weight] ??= [];
    this.#held[weight].push(shard);
    this.#holding += 1;
    if (this.#holding <= this.#limit) return;
    this.#held.find((shards) => shards !== undefined && shards.length > 0)?.pop();
    this.#holding -= 1;
  }

  report(roots: readonly RootReport[], summary: Summary, partial: boolean): RunReport {
    return {
      shards: this.#held.toReversed().flatMap((shards) => shards ?? []),
      counts: {
        shards: this.#count,
        verdicts: { ...this.#verdicts },
        troubled: this.#troubled,
        lostOffsets: this.#lostOffsets,
      },
      roots,
      summary,
      partial,
    };
  }
}

/** The same of a report that is complete. */
export function runReportOf({ shards, roots, summary, partial }: VerifyReport): RunReport {
  const worst = new WorstShards();
  for (const shard of shards) worst.add(shard);
  return worst.report(roots, summary, partial);
}
