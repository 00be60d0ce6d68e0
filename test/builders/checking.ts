/**
 * Shards made in memory, written to a directory of their own, and checked as `verify` checks them.
 */

import type { BrokerSettings, FailingRead, PredictedRepair, Refusal, ShardReport } from '../../src/domain/report.js';
import type { OffsetRange } from '../../src/domain/units.js';
import { drive, InlineScanner, type Scanner, type SegmentAnswer, type SegmentJob } from '../../src/scan/scanner.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { FileSource } from '../../src/store/file-source.js';
import { type Checked, checked, DEFAULTS } from '../corpus/checked.js';
import { UnreadableSource } from '../scan/faulty-source.js';
import { type ShardImage, writeShardBelow } from './shards.js';
import { withTempDir } from './trees.js';

export interface CheckingOptions extends Partial<BrokerSettings> {
  readonly quick?: boolean;
  readonly scanner?: Scanner;
  readonly windowBytes?: number;
}

/** The report of a shard with these files. */
export async function reportOf(image: ShardImage, options: CheckingOptions = {}): Promise<ShardReport> {
  const { quick = false, scanner, windowBytes, ...settings } = options;
  return withTempDir(async (dir) => {
    const rest = windowBytes === undefined ? {} : { windowBytes };
    const { shards } = await checked(
      writeShardBelow(image, dir),
      { quick, settings: { ...DEFAULTS.settings, ...settings }, ...rest },
      scanner,
    );
    return shards[0]!;
  });
}

/** What is found in one file of a directory below which everything is checked. */
export function findingsIn({ shards, roots }: Checked) {
  return [...shards, ...roots].flatMap(({ findings }) => findings);
}

/** `8..15`, or null. */
export function range(offsets: OffsetRange | null): string | null {
  return offsets === null ? null : `${offsets.from}..${offsets.to}`;
}

/** `RecordChecksum in 2 at 86`. */
export function refused({ prediction }: Pick<ShardReport, 'prediction'>): string[] {
  return prediction.refusals.map(siteWords);
}

function siteWords({ kind, site }: Refusal | FailingRead): string {
  const segment = site.segment === undefined ? '' : ` in ${site.segment}`;
  return `${kind}${segment}${site.position === undefined ? '' : ` at ${site.position}`}`;
}

/** `truncate 00000000000000000002.log 391 -> 320, loses 2, 1 intact`. */
export function repaired({ prediction }: Pick<ShardReport, 'prediction'>): string[] {
  return prediction.repairs.map(
    ({ action, file, fromBytes, toBytes, recordsLost, intactRecordsLost }: PredictedRepair) =>
      `${action} ${file} ${fromBytes} -> ${toBytes}, loses ${recordsLost}, ${intactRecordsLost} intact`,
  );
}

/** `RecordChecksum in 0 at 86, 1..2`. */
export function failing({ prediction }: Pick<ShardReport, 'prediction'>): string[] {
  return prediction.readsThatFail.map((read) => `${siteWords(read)}, ${read.fromOffset}..${read.toOffset}`);
}

/** A scanner for which `[from, to)` of one file lies on a bad place of the disk. */
export class BadDisk implements Scanner {
  readonly #name: string;
  readonly #from: number;
  readonly #to: number;

  constructor(name: string, from: number, to: number) {
    this.#name = name;
    this.#from = from;
    this.#to = to;
  }

  async scan({ path, size, index, settings }: SegmentJob): Promise<SegmentAnswer> {
    const scan = await drive(
      scanSegmentFile(
        this.#open(path.toString(), size),
        index && this.#open(index.path.toString(), index.size),
        settings,
      ),
      () => true,
    );
    return { is: 'scanned', scan: scan! };
  }

  #open(path: string, size: number) {
    const file = FileSource.open(path, size);
    const bytes = new Uint8Array(size);
    file.readAt(bytes, 0);
    file.close();
    return path.endsWith(this.#name)
      ? new UnreadableSource(bytes, this.#from, this.#to)
      : new UnreadableSource(bytes, size, size);
  }

  passedBytes(): number {
    return 0;
  }

  async close(): Promise<void> {}
}

/** A scanner that lets something happen in front of a scan: `before` is told the file's path and how many came already. */
export class Interfering implements Scanner {
  readonly #inner = new InlineScanner(new AbortController().signal);
  readonly #before: (path: string, count: number) => void;
  #count = 0;

  constructor(before: (path: string, count: number) => void) {
    this.#before = before;
  }

  async scan(job: SegmentJob): Promise<SegmentAnswer> {
    this.#before(job.path.toString(), this.#count++);
    return this.#inner.scan(job);
  }

  passedBytes(): number {
    return this.#inner.passedBytes();
  }

  async close(): Promise<void> {}
}
