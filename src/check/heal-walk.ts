/**
 * The donors' records of one range of offsets: compared with each other byte for byte, and chosen from those that may give.
 */

import type { OffsetRange } from '../domain/units.js';
import { readU32 } from '../format/bytes.js';
import { recordKind, versionForKind } from '../format/record.js';
import { type Donor, overlapping } from './heal-donors.js';
import type { ReaderPool } from './reader-pool.js';
import type { StrandExtent, StrandFile } from './strands.js';

/** Whether the records of an extent may be taken. */
export type MayGive = (donor: Donor, extent: StrandExtent) => boolean;

/** Bytes of a donor's file: whole records. */
export interface DonorPart {
  readonly donor: Donor;
  readonly file: StrandFile;
  readonly start: number;
  end: number;
  readonly from: bigint;
  to: bigint;
}

export interface Gathered {
  readonly parts: readonly DonorPart[];
  /** The first offset that no donor may give, or the end of the range. */
  readonly reached: bigint;
  /** The first offset at which donors hold different records, and who. */
  readonly disagreement: { readonly offset: bigint; readonly names: readonly string[] } | null;
  /** Where, from the start or from a cut on, a record asks for a higher version than those before it. */
  readonly versions: readonly { readonly offset: bigint; readonly version: number }[];
}

interface Active extends StrandExtent {
  readonly donor: Donor;
  readonly may: boolean;
  position: number;
  end: number;
}

const STEP_RECORDS = 4096;
const LEAST_VERSION = 2;

/**
 * Walks `[from, to)` until a record is missing. A part ends at each of `cuts`. Yields now and then the bytes passed. Throws
 * `ReadFailure`.
 */
export function* gather(
  donors: readonly Donor[],
  pool: ReaderPool,
  { from, to }: OffsetRange,
  cuts: ReadonlySet<bigint>,
  mayGive: MayGive,
): Generator<number, Gathered> {
  const waiting = donors
    .flatMap((donor) => overlapping(donor, from, to).map((held) => ({ ...held, donor, may: mayGive(donor, held) })))
    .sort((a, b) => (a.extent.from < b.extent.from ? -1 : a.extent.from > b.extent.from ? 1 : 0));
  const parts: DonorPart[] = [];
  const versions: { offset: bigint; version: number }[] = [];
  let active: Active[] = [];
  let next = 0;
  let highest = LEAST_VERSION;
  let bytes = 0;
  let passed = 0;
  for (let offset = from; offset < to; offset++) {
    for (; next < waiting.length && waiting[next]!.extent.from <= offset; next++) {
      const held = waiting[next]!;
      const position = pool.readerOf(held.file).positionOf(held.file.map!, held.extent, offset);
      active.push({ ...held, position, end: position });
    }
    active = active.filter(({ extent }) => extent.to > offset);
    for (const each of active) each.end = pool.readerOf(each.file).endOf(each.position, offset);
    const other = active.find((each) => !isSame(pool, active[0]!, each));
    if (other !== undefined) {
      return { parts, reached: offset, disagreement: { offset, names: namesOf(active[0]!, other) }, versions };
    }
    const last = parts.at(-1);
    const giving =
      active.find(({ file, may, position }) => may && file === last?.file && position === last.end) ??
      active.find(({ may }) => may);
    if (giving === undefined) return { parts, reached: offset, disagreement: null, versions };
    if (cuts.has(offset)) highest = LEAST_VERSION;
    const version = versionOf(pool, giving);
    if (version > highest) versions.push({ offset, version });
    highest = Math.max(highest, version);
    if (last !== undefined && last.file === giving.file && last.end === giving.position && !cuts.has(offset)) {
      last.end = giving.end;
      last.to = offset + 1n;
    } else {
      const { donor, file, position, end } = giving;
      parts.push({ donor, file, start: position, end, from: offset, to: offset + 1n });
    }
    bytes += giving.end - giving.position;
    for (const each of active) each.position = each.end;
    if (++passed % STEP_RECORDS === 0) {
      yield bytes;
      bytes = 0;
    }
  }
  return { parts, reached: to, disagreement: null, versions };
}

function isSame(pool: ReaderPool, a: Active, b: Active): boolean {
  if (a === b) return true;
  const length = a.end - a.position;
  if (length !== b.end - b.position) return false;
  return pool.readerOf(a.file).isSame(a.position, pool.readerOf(b.file), b.position, length);
}

/** Two files of one donor are told apart. */
function namesOf(a: Active, b: Active): string[] {
  return a.donor === b.donor ? [a.file.path, b.file.path] : [a.donor.name, b.donor.name].sort();
}

/** The lowest version of a segment that may hold the record. */
function versionOf(pool: ReaderPool, { file, position }: Active): number {
  const kind = recordKind(readU32(pool.readerOf(file).view(position, 4), 0));
  return kind === null ? LEAST_VERSION : versionForKind(kind);
}
