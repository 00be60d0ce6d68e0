/**
 * The segments of one shard that an earlier run found clean and that have not changed since.
 *
 * A segment is passed over only while it is sealed, device, inode, size and modification time of it and of its index are
 * what they were, its header is, and it was read whole not too long ago: rot changes no times, so that only reading again
 * finds it.
 */

import type { FileIdentity, PrefixSum, Remembered, RememberedSegment } from '../domain/checkpoint.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { headerText, recalledScan, rememberable } from '../scan/remembered.js';
import type { SegmentAnswer, SegmentJob } from '../scan/scanner.js';
import { ReadFailure } from '../store/byte-source.js';
import { realPath } from '../store/path-facts.js';
import type { Entry, Listing } from '../store/walk.js';
import type { SegmentFacts } from './shard-facts.js';
import type { SegmentEntry, ShardFiles } from './shard-files.js';

export interface MemoryOptions {
  readonly remembered: Remembered;
  /** A segment that was read longer ago than this is read again. */
  readonly recheckAfterMicros: bigint;
  /** Told of each segment that is passed over. */
  passOver?(bytes: number): void;
}

/** A file changed so lately may change again without its time showing it. */
const SETTLED_NS = 2_000_000_000n;

export class ShardMemory {
  readonly #options: MemoryOptions;
  readonly #shard: string;
  readonly #nowMicros: bigint;
  readonly #sealed: readonly SegmentEntry[];
  readonly #recalled = new Map<string, RememberedSegment>();
  readonly #sums = new Map<string, PrefixSum[]>();

  private constructor(options: MemoryOptions, shard: string, nowMicros: bigint, files: ShardFiles) {
    this.#options = options;
    this.#shard = shard;
    this.#nowMicros = nowMicros;
    this.#sealed = sealedOf(files);
  }

  /** Null where a shard cannot be told from others. */
  static of(options: MemoryOptions, listing: Listing, nowMicros: bigint, files: ShardFiles): ShardMemory | null {
    try {
      const shard = realPath(listing.path);
      return shard === null ? null : new ShardMemory(options, shard, nowMicros, files);
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      return null;
    }
  }

  /** The scan of a segment without reading it; null when it must be read. */
  async recall(segment: SegmentEntry, job: SegmentJob): Promise<SegmentAnswer | null> {
    if (!this.#sealed.includes(segment)) return null;
    const { name } = segment.entry;
    const known = this.#options.remembered.recall(this.#shard, name);
    if (known === null || !isUnchanged(known.log, segment.entry) || !isUnchanged(known.index, segment.index))
      return null;
    const age = this.#nowMicros - known.verifiedAtMicros;
    if (age < 0n || age > this.#options.recheckAfterMicros) return null;
    const scan = await recalledScan(job, known);
    if (scan === null) return null;
    this.#recalled.set(name, known);
    this.#sums.set(name, [...known.sums]);
    this.#options.passOver?.(segment.entry.size);
    return { is: 'scanned', scan };
  }

  /** When a segment that was recalled was read; null for one that was not recalled. */
  verifiedAt(file: string): bigint | null {
    return this.#recalled.get(file)?.verifiedAtMicros ?? null;
  }

  /** The CRC-32 of the first `size` bytes of a file, if it was taken when the file was read whole. */
  sumOf(file: string, size: number): number | null {
    return this.#sums.get(file)?.find((sum) => sum.size === size)?.crc32 ?? null;
  }

  keepSum(file: string, sum: PrefixSum): void {
    const sums = this.#sums.get(file);
    if (sums === undefined) this.#sums.set(file, [sum]);
    else if (sums.length < KEPT_SUMS) sums.push(sum);
  }

  /** Hands on what is clean of the shard as it was read. */
  keep(segments: readonly SegmentFacts[]): void {
    const kept = new Map<string, RememberedSegment>();
    const byName = new Map(segments.map((segment) => [segment.file, segment]));
    for (const { entry, index } of this.#sealed) {
      const sums = this.#sums.get(entry.name) ?? [];
      const recalled = this.#recalled.get(entry.name);
      const scan = byName.get(entry.name)?.scan ?? null;
      if (recalled !== undefined) kept.set(entry.name, { ...recalled, sums });
      else if (scan !== null && this.#isSettled(entry) && (index === null || this.#isSettled(index))) {
        const records = rememberable(scan);
        if (records === null) continue;
        kept.set(entry.name, {
          verifiedAtMicros: this.#nowMicros,
          log: identityOf(entry),
          index: index && identityOf(index),
          header: headerText(scan.head),
          records,
          sums,
        });
      }
    }
    this.#options.remembered.keep(this.#shard, kept);
  }

  #isSettled({ mtimeNs }: Entry): boolean {
    return mtimeNs < this.#nowMicros * 1000n - SETTLED_NS;
  }
}

/** Manifest entries that speak of one segment. */
const KEPT_SUMS = 4;

/** All but those that a broker may take for the newest. */
function sealedOf({ segments }: ShardFiles): SegmentEntry[] {
  const newest = segments.findLastIndex(({ entry }) => entry.size > SEGMENT_HEADER_LEN);
  return segments.slice(0, Math.max(0, newest));
}

function identityOf({ device, inode, size, mtimeNs }: Entry): FileIdentity {
  return { device, inode, size, mtimeNs };
}

function isUnchanged(known: FileIdentity | null, now: Entry | null): boolean {
  if (known === null || now === null) return known === now;
  return (
    known.device === now.device && known.inode === now.inode && known.size === now.size && known.mtimeNs === now.mtimeNs
  );
}
