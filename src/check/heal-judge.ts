/**
 * Which donors may give the records of a range, and why others may not.
 *
 * A donor must hold the records on both sides of the range, byte for byte as the shard does, and its history must not name
 * another generation for it. A file that the shard's own manifest names by checksum needs no neighbours.
 */

import { offsetsOf } from '../domain/wording.js';
import type { EpochEntry } from '../format/epochs.js';
import { type Donor, overlapping } from './heal-donors.js';
import { contradictionOver } from './heal-history.js';
import type { MissingRange, Side } from './heal-regions.js';
import type { MayGive } from './heal-walk.js';
import type { ReaderPool } from './reader-pool.js';
import type { StrandExtent } from './strands.js';

/** How a donor's neighbour compares. */
type Neighbour = 'equal' | 'absent' | 'differs' | 'unknown';

export interface DonorVerdict {
  readonly donor: Donor;
  /** `vouched`: only files that the manifest names may give. */
  readonly may: 'all' | 'vouched' | 'nothing';
  /** Why not all; null when they may. */
  readonly why: string | null;
  /** It holds something else than the shard does. */
  readonly contradicts: boolean;
}

/** Judges every donor. Throws `ReadFailure`. */
export function judgeDonors(
  range: MissingRange,
  donors: readonly Donor[],
  epochs: readonly EpochEntry[] | null,
  pool: ReaderPool,
): DonorVerdict[] {
  return donors.map((donor) => {
    const offset = contradictionOver(epochs, donor.epochs, range);
    if (offset !== null) {
      const why = `its epochs name another generation for offset ${offset}`;
      return { donor, may: 'nothing', why, contradicts: true };
    }
    const sides = [range.left, range.right].map((side) => ({ side, is: neighbourOf(side, donor, pool) }));
    const differs = sides.find(({ is }) => is === 'differs');
    if (differs !== undefined) {
      return {
        donor,
        may: 'nothing',
        why: `its record at ${sideWords(differs.side)}, beside the range, is not the shard's`,
        contradicts: true,
      };
    }
    const short = sides.find(({ is }) => is !== 'equal');
    if (short === undefined) return { donor, may: 'all', why: null, contradicts: false };
    const why =
      short.is === 'absent'
        ? `it does not hold ${sideWords(short.side)}, beside the range, so that nothing ties it to the shard`
        : 'a segment that cannot be judged lies beside the range';
    return { donor, may: donor.vouched.size > 0 ? 'vouched' : 'nothing', why, contradicts: false };
  });
}

export function mayGive(verdicts: readonly DonorVerdict[]): MayGive {
  const byDonor = new Map(verdicts.map((verdict) => [verdict.donor, verdict.may]));
  return (donor: Donor, { file }: StrandExtent) => {
    const may = byDonor.get(donor) ?? 'nothing';
    return may === 'all' || (may === 'vouched' && donor.vouched.has(file));
  };
}

function neighbourOf(side: Side, donor: Donor, pool: ReaderPool): Neighbour {
  if (side.is === 'none') return 'equal';
  if (side.is === 'unknown') return 'unknown';
  const held = overlapping(donor, side.offset, side.offset + 1n);
  if (held.length === 0) return 'absent';
  const own: StrandExtent = { file: side.slot.file!, extent: side.extent };
  return held.every((each) => isSameRecord(pool, own, each, side.offset)) ? 'equal' : 'differs';
}

/** True when two extents hold the same bytes at an offset that both have. Throws `ReadFailure`. */
export function isSameRecord(pool: ReaderPool, a: StrandExtent, b: StrandExtent, offset: bigint): boolean {
  const place = ({ file, extent }: StrandExtent) => {
    const reader = pool.readerOf(file);
    const position = reader.positionOf(file.map!, extent, offset);
    return { position, length: reader.endOf(position, offset) - position };
  };
  const [inA, inB] = [place(a), place(b)];
  if (inA.length !== inB.length) return false;
  return pool.readerOf(a.file).isSame(inA.position, pool.readerOf(b.file), inB.position, inA.length);
}

function sideWords(side: Side): string {
  return side.is === 'record' ? offsetsOf({ from: side.offset, to: side.offset + 1n }) : '';
}
