/**
 * What of a shard's damage the donors can make good, range by range, and the segments as they are then.
 *
 * Reads the shard and the donors and writes nothing. A record is taken from a donor only when everything around it agrees;
 * what cannot be healed stays as it is, and is said with the reason. Segments keep their boundaries.
 */

import type { HealedRange } from '../domain/heal.js';
import { shellPath } from '../domain/shell-words.js';
import { greater, lesser } from '../domain/units.js';
import type { EpochEntry } from '../format/epochs.js';
import type { ManifestEntry } from '../format/manifest.js';
import { segmentFileName } from '../format/names.js';
import { allZeros } from '../scan/zeros.js';
import type { Entry } from '../store/walk.js';
import { type Donor, type ExtentIndex, extentIndex, overlapping } from './heal-donors.js';
import { regionFlip } from './heal-flips.js';
import { type DonorVerdict, isSameRecord, judgeDonors, mayGive } from './heal-judge.js';
import { Lengths } from './heal-lengths.js';
import {
  type Cure,
  curedBytes,
  isMissing,
  type MissingRange,
  missingRanges,
  type Place,
  type Region,
  regionsOf,
} from './heal-regions.js';
import { endOfOwn, type Layout, layoutOf, ownEnd, type Slot } from './heal-slots.js';
import { type Gathered, gather } from './heal-walk.js';
import type { ReaderPool } from './reader-pool.js';
import type { Strand, StrandExtent } from './strands.js';

export interface HealInput {
  /** The shard's own segments. */
  readonly target: Strand;
  readonly entries: readonly Entry[];
  readonly manifest: readonly ManifestEntry[];
  readonly epochs: readonly EpochEntry[] | null;
  /** One past the last record known committed; 0 when nothing says. */
  readonly commit: bigint;
  readonly donors: readonly Donor[];
  readonly acceptBitFlip: boolean;
}

export interface Healing {
  /** Every segment of the log, with a cure for each region. */
  readonly places: readonly NonNullable<Place>[];
  /** Segments that were left as they are, and offsets that nobody has. */
  readonly left: readonly HealedRange[];
  readonly notes: readonly string[];
}

/** Decides on every region. Yields bytes passed now and then. Throws `ReadFailure`. */
export function* heal(input: HealInput, pool: ReaderPool): Generator<number, Healing> {
  return yield* new Heal(input, pool).run();
}

class Heal {
  readonly #input: HealInput;
  readonly #pool: ReaderPool;
  readonly #lengths: Lengths;
  readonly #own: ExtentIndex;
  readonly #notes = new Set<string>();
  /** Offsets behind the end of the log that something speaks of and no donor holds. */
  #unheld: HealedRange | null = null;

  constructor(input: HealInput, pool: ReaderPool) {
    this.#input = input;
    this.#pool = pool;
    this.#lengths = new Lengths(input.donors, pool);
    this.#own = extentIndex(input.target);
  }

  *run(): Generator<number, Healing> {
    const layout = this.#layout();
    let slots: (Slot | null)[] = this.#withBarriers(layout);
    for (;;) {
      const places = this.#places(slots, layout.lostNewest);
      const split = yield* this.#decide(places);
      if (split !== null) {
        slots = [...slots, split];
        continue;
      }
      const judged = places.filter((place) => place !== null);
      const left = layout.left.map(({ file, why }) => ({
        offsets: null,
        file,
        position: 0,
        healed: false,
        why: `the segment is left as it is: ${why}`,
        instead: null,
      }));
      const unheld = this.#unheld === null ? [] : [this.#unheld];
      return { places: judged, left: [...left, ...unheld], notes: [...this.#notes] };
    }
  }

  #layout(): Layout {
    const { target, entries, manifest, donors, acceptBitFlip } = this.#input;
    const layout = layoutOf({ files: target.files, entries, manifest, acceptBitFlip, lengths: this.#lengths });
    if (layout.slots.length > 0 || target.files.length > 0) return layout;
    // Nothing is left of the log: it is laid out as the first donor's.
    const files = donors[0]?.strand.files ?? [];
    const slots = files
      .filter(({ map }) => map?.header != null && map.records > 0)
      .map(({ id, map }, i): Slot => {
        const own = id ?? BigInt(i);
        const base = map!.header!.baseOffset;
        return {
          id: own,
          name: segmentFileName(own),
          file: null,
          size: 0,
          base,
          headerSound: false,
          own: [],
          dropped: [],
        };
      });
    if (slots.length > 0) this.#notes.add('No segment is left, so that no record of the shard could be compared.');
    return { slots, left: [], lostNewest: slots.length > 0 };
  }

  /** Segments in order, with a null where one cannot be judged. */
  #withBarriers({ slots, left }: Layout): (Slot | null)[] {
    const names = new Set(left.map(({ file }) => file));
    const placed = slots.map((slot) => ({ id: slot.id, slot: names.has(slot.name) ? null : slot }));
    const others = this.#input.target.files
      .filter(({ id }) => names.has(segmentFileName(id!)) && !slots.some((slot) => slot.id === id))
      .map(({ id }) => ({ id: id!, slot: null }));
    return [...placed, ...others].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ slot }) => slot);
  }

  #places(slots: readonly (Slot | null)[], lostNewest: boolean): Place[] {
    return slots.map((slot, i) => {
      if (slot === null) return null;
      const next = slots[i + 1];
      const bound = next === undefined ? this.#tailOf(slot, lostNewest) : (next?.base ?? ownEnd(slot));
      const regions = regionsOf(slot, bound);
      if (this.#input.acceptBitFlip) {
        for (const region of regions) region.flip = this.#flipOf(region);
      }
      const last = regions.at(-1);
      // A flipped bit at the very end tells of one more record than anything else does.
      if (next === undefined && last?.atEnd && last.flip !== null && !isMissing(last)) {
        return { slot, regions: regions.with(-1, { ...last, to: last.from + 1n }) };
      }
      return { slot, regions };
    });
  }

  /** Where the log is to end: as far as something says that there were records, and as far as donors have them. */
  #tailOf(slot: Slot, lostNewest: boolean): bigint {
    const { commit, donors } = this.#input;
    const own = ownEnd(slot);
    const { from, to } = endOfOwn(slot);
    const known = (slot.file?.map?.damages ?? []).flatMap(({ lost, corruption, offset }) =>
      lost !== null ? [lost.to] : corruption.kind === 'RecordChecksum' && offset !== null ? [offset + 1n] : [],
    );
    const fitting = lostNewest
      ? this.#lengths.forward(own, Number.POSITIVE_INFINITY)
      : this.#lengths.forward(own, to - from);
    const demanded = [...known, commit].reduce(greater, own);
    const held = donors.length === 0 ? own : this.#lengths.forward(own, Number.POSITIVE_INFINITY);
    const reachable = lesser(demanded, held);
    this.#unheld = demanded > held ? unheldRange(slot, held, demanded) : null;
    return [own, fitting, reachable].reduce(greater);
  }

  #flipOf(region: Region) {
    const { file } = region.slot;
    if (file === null || region.end === region.start) return null;
    return regionFlip(this.#pool.sourceOf(file), region);
  }

  /** Gives every region its cure; a slot that has to be added for it first is returned instead. */
  *#decide(places: readonly Place[]): Generator<number, Slot | null> {
    for (const range of missingRanges(places)) {
      const split = yield* this.#decideRange(range, places);
      if (split !== null) return split;
    }
    const last = places.at(-1) ?? null;
    for (const place of places) {
      for (const region of place?.regions ?? []) {
        region.cure ??= region.atEnd && place === last ? this.#leftover(region) : { how: 'drop' };
        if (region.cure.how !== 'keep') this.#holdDropped(region);
      }
      if (place !== null) keepPositions(place, place === last);
    }
    return null;
  }

  /** Bytes behind the last record of the newest segment that no donor has records for. */
  #leftover({ start, end, from, slot }: Region): Cure {
    const why = `no donor holds offset ${from}, which is due there: the ${end - start} bytes at the end are no record, and a cut of them is for repair-tail`;
    const isZero = slot.file !== null && allZeros(this.#pool.sourceOf(slot.file), start, end);
    return keep(why, `felix-fsck repair-tail${isZero ? ' --allow zero-tail' : ''} SHARD`);
  }

  *#decideRange(range: MissingRange, places: readonly Place[]): Generator<number, Slot | null> {
    const { donors, epochs } = this.#input;
    const verdicts = judgeDonors(range, donors, epochs, this.#pool);
    const cuts = new Set(range.regions.map(({ from }) => from));
    const gathered = yield* gather(donors, this.#pool, range, cuts, mayGive(verdicts));
    const atTail = range.right.is === 'none' && range.regions.at(-1)!.slot === places.at(-1)?.slot;
    const whole = gathered.reached === range.to || (atTail && gathered.reached > range.regions.at(-1)!.from);
    if (gathered.disagreement !== null || !whole) {
      refuseRange(range, gathered, verdicts);
      return null;
    }
    const higher = gathered.versions.find(({ offset, version }) => {
      const { slot } = regionAt(range, offset);
      return slot.headerSound && version > slot.file!.map!.header!.version;
    });
    if (higher !== undefined) {
      const { slot, atEnd } = regionAt(range, higher.offset);
      if (atTail && atEnd && slot === places.at(-1)?.slot && higher.offset > slot.base)
        return slotBehind(slot, higher.offset);
      const why = `the record of offset ${higher.offset} may only stand in a segment of version ${higher.version} or later, and ${slot.name} is of version ${slot.file!.map!.header!.version}`;
      for (const region of range.regions) region.cure = keep(why);
      return null;
    }
    for (const region of range.regions) {
      const parts = gathered.parts.filter(({ from }) => from >= region.from && from < region.to);
      region.cure = { how: 'donors', parts };
    }
    return null;
  }

  /** Intact records in a region that goes must be somewhere else too. */
  #holdDropped(region: Region): void {
    const { slot, start, end } = region;
    for (const extent of slot.dropped) {
      if (extent.start < start || extent.end > end) continue;
      const own: StrandExtent = { file: slot.file!, extent };
      for (let offset = extent.from; offset < extent.to; offset++) {
        if (this.#isElsewhere(own, offset)) continue;
        region.cure = keep(`an intact record of offset ${offset} lies in the damaged bytes, and nowhere else`);
        return;
      }
    }
  }

  #isElsewhere(own: StrandExtent, offset: bigint): boolean {
    const inShard = overlapping(this.#own, offset, offset + 1n).filter(({ extent }) => extent !== own.extent);
    const inDonors = this.#input.donors.flatMap((donor) => overlapping(donor, offset, offset + 1n));
    return [...inShard, ...inDonors].some((each) => isSameRecord(this.#pool, own, each, offset));
  }
}

function unheldRange({ name }: Slot, from: bigint, to: bigint): HealedRange {
  const why = 'the commit offset or a damaged record says that they were there, and no donor holds them';
  return { offsets: { from, to }, file: name, position: null, healed: false, why, instead: null };
}

function regionAt({ regions }: MissingRange, offset: bigint): Region {
  return regions.find(({ from, to }) => offset >= from && offset < to)!;
}

function slotBehind({ id }: Slot, base: bigint): Slot {
  const next = id + 1n;
  return { id: next, name: segmentFileName(next), file: null, size: 0, base, headerSound: false, own: [], dropped: [] };
}

function keep(why: string, instead: string | null = null): Cure {
  return { how: 'keep', why, instead };
}

/** Turns bits back where that is all there is to do, or says why nothing is. */
function refuseRange(range: MissingRange, gathered: Gathered, verdicts: readonly DonorVerdict[]): void {
  if (range.regions.every(({ flip, from, to }) => flip !== null && to - from === 1n)) {
    for (const region of range.regions) region.cure = { how: 'flip', flip: region.flip! };
    return;
  }
  const why = refusalWords(gathered, verdicts);
  const instead =
    gathered.disagreement === null && !verdicts.some(({ contradicts }) => contradicts) ? null : compared(verdicts);
  for (const region of range.regions) region.cure = keep(why, instead);
}

/** Where histories differ, their comparison tells who went which way. */
function compared(verdicts: readonly DonorVerdict[]): string | null {
  const replicas = verdicts.filter(({ donor }) => donor.strand.kind === 'segments').map(({ donor }) => donor.name);
  return replicas.length === 0 ? null : `felix-fsck diff-epochs SHARD ${replicas.map(shellPath).join(' ')}`;
}

function refusalWords({ disagreement, reached }: Gathered, verdicts: readonly DonorVerdict[]): string {
  if (disagreement !== null) {
    return `the donors disagree on offset ${disagreement.offset}: ${disagreement.names.join(' and ')} hold different records`;
  }
  const reasons = verdicts.filter(({ why }) => why !== null).map(({ donor, why }) => `${donor.name}: ${why}`);
  const missing = `no donor may give offset ${reached}`;
  if (verdicts.length === 0) return 'no donor was named';
  return reasons.length === 0 ? `no donor holds offset ${reached}` : `${missing} (${reasons.join('; ')})`;
}

/**
 * While some damage stays inside a segment, its index must too: then nothing else of the segment may move. What is left at
 * the end of the newest segment moves nothing.
 */
function keepPositions({ regions }: NonNullable<Place>, isLast: boolean): void {
  const stays = regions.some(({ cure, atEnd }) => cure!.how === 'keep' && !(isLast && atEnd));
  if (!stays) return;
  for (const region of regions) {
    if (region.cure!.how === 'keep' || curedBytes(region) === region.end - region.start) continue;
    region.cure = keep('other damage in the same segment cannot be healed, and this would move it');
  }
}
