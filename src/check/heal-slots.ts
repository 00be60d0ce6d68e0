/**
 * The segments that a shard should have, and what each still holds: those that are there, and those that are missing
 * between them or behind them.
 *
 * Where a segment begins is told by its header; for one without, by its first record, by the manifest or its index, or by
 * the end of the segment in front. Where nothing tells, the lengths of the donors' records may. A segment whose records
 * contradict that is left as it is.
 */

import { type ByteRange, greater, type OffsetRange } from '../domain/units.js';
import { INDEX_ENTRY_LEN, INDEX_HEADER_LEN } from '../format/index.js';
import type { ManifestEntry } from '../format/manifest.js';
import { indexIdOf, segmentFileName } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Extent } from '../scan/record-map.js';
import type { Entry } from '../store/walk.js';
import type { Lengths } from './heal-lengths.js';
import { indexBase, type StrandFile, turnedHeader } from './strands.js';

export interface Slot {
  readonly id: bigint;
  readonly name: string;
  /** Null when the segment is missing. */
  readonly file: StrandFile | null;
  readonly size: number;
  readonly base: bigint;
  readonly headerSound: boolean;
  /** Its intact records, ascending in positions and offsets. */
  own: readonly Extent[];
  /** Intact records that are not taken, because others stand in their place. */
  dropped: readonly Extent[];
}

export interface Layout {
  readonly slots: readonly Slot[];
  /** Segments that cannot be judged, and why. */
  readonly left: readonly { readonly file: string; readonly why: string }[];
  /** An index behind the last segment says that there was another one. */
  readonly lostNewest: boolean;
}

export interface LayoutInput {
  /** By id. */
  readonly files: readonly StrandFile[];
  readonly entries: readonly Entry[];
  readonly manifest: readonly ManifestEntry[];
  /** Believe a header once its one flipped bit is turned back. */
  readonly acceptBitFlip: boolean;
  readonly lengths: Lengths;
}

/** A slot whose base may still be unknown. */
interface Draft {
  readonly id: bigint;
  readonly file: StrandFile | null;
  base: bigint | null;
}

/** Where the part of a file behind its last intact record lies; empty when the file ends with a record. */
export function endOfOwn({ file, size, own }: Slot): ByteRange {
  if (file === null) return { from: 0, to: 0 };
  return { from: own.at(-1)?.end ?? Math.min(SEGMENT_HEADER_LEN, size), to: size };
}

/** One past the last record that the slot holds. */
export function ownEnd({ own, base }: Slot): bigint {
  return own.at(-1)?.to ?? base;
}

export function layoutOf(input: LayoutInput): Layout {
  const hints = hintsOf(input);
  const drafts = draftsOf(input, hints);
  const left: { file: string; why: string }[] = [];
  const slots: Slot[] = [];
  for (const [i, draft] of drafts.entries()) {
    const name = segmentFileName(draft.id);
    if (draft.file?.map?.otherBuild) {
      left.push({ file: name, why: 'it was written by another build, in a version that this one does not read' });
      continue;
    }
    const base = draft.base ?? baseByChain(draft, slots.at(-1) ?? null, drafts.slice(i + 1), input.lengths);
    if (base === null) {
      if (draft.file !== null) left.push({ file: name, why: 'nothing tells the offset that it begins at' });
      continue;
    }
    slots.push(slotOf(draft, base, boundOf(drafts.slice(i + 1), base)));
  }
  const kept = slots.filter(
    (slot, i) => slot.file !== null || isNeeded(slot, slots[i - 1] ?? null, slots[i + 1] ?? null),
  );
  const overlaps = kept.filter((slot, i) => ownEnd(slot) > (kept[i + 1]?.base ?? ownEnd(slot)));
  for (const { name } of overlaps) left.push({ file: name, why: 'its records and those of the next segment overlap' });
  const last = kept.at(-1);
  return { slots: kept, left, lostNewest: last !== undefined && isLostNewest(last, hints) };
}

/** A file that is not there is made only where offsets are missing; what lies behind the last one is for others to say. */
function isNeeded({ base }: Slot, before: Slot | null, next: Slot | null): boolean {
  if (before !== null && base < ownEnd(before)) return false;
  return next === null || next.base > base;
}

interface Hint {
  readonly base: bigint;
  readonly entries: number;
}

/** What the manifest and the indexes say of where segments begin. */
function hintsOf({ files, entries, manifest }: LayoutInput): Map<bigint, Hint> {
  const hints = new Map<bigint, Hint>();
  for (const entry of entries) {
    const id = entry.type === 'file' ? indexIdOf(entry.name) : null;
    const base = id === null ? null : indexBase(entry);
    const count = Math.max(0, Math.floor((entry.size - INDEX_HEADER_LEN) / INDEX_ENTRY_LEN));
    if (id !== null && base !== null) hints.set(id, { base, entries: count });
  }
  // Without any segment, nobody knows which of those in the manifest were still here.
  if (files.length === 0) return hints;
  for (const { segmentId, baseOffset } of manifest) hints.set(segmentId, { base: baseOffset, entries: 1 });
  return hints;
}

function isLostNewest({ id, file, own }: Slot, hints: ReadonlyMap<bigint, Hint>): boolean {
  if (own.length > 0 || (file !== null && file.map?.header != null)) return false;
  return (hints.get(id)?.entries ?? 0) > 0;
}

/** The segments that are there and those that are missing, by id, with the bases that are known for certain. */
function draftsOf({ files, acceptBitFlip }: LayoutInput, hints: ReadonlyMap<bigint, Hint>): Draft[] {
  const drafts: Draft[] = files.map((file) => ({ id: file.id!, file, base: knownBase(file, acceptBitFlip) }));
  const newest = files.at(-1)?.id ?? -1n;
  const oldest = files[0]?.id ?? 0n;
  const known = new Set(files.map(({ id }) => id!));
  for (const [id, { base }] of hints) {
    const between = id > oldest && id < newest;
    if (!known.has(id) && (between || id > newest)) drafts.push({ id, file: null, base });
  }
  for (const { id } of files) {
    const next = id! + 1n;
    if (next < newest && !known.has(next) && !hints.has(next)) drafts.push({ id: next, file: null, base: null });
  }
  drafts.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const draft of drafts) draft.base ??= hintedBase(draft, hints, drafts);
  return drafts;
}

/** By the header, or by the first record where a segment's first record lies. */
function knownBase({ map }: StrandFile, acceptBitFlip: boolean): bigint | null {
  if (map === null) return null;
  if (map.header !== null) return map.header.baseOffset;
  const [first] = map.extents;
  if (first?.start === SEGMENT_HEADER_LEN) return first.from;
  const turned = acceptBitFlip ? turnedHeader(map.headerBytes) : null;
  return turned?.baseOffset ?? null;
}

/** A hint counts when it fits between the segments around and the records of its own. */
function hintedBase({ id, file }: Draft, hints: ReadonlyMap<bigint, Hint>, drafts: readonly Draft[]): bigint | null {
  const base = hints.get(id)?.base ?? null;
  if (base === null) return null;
  const own = file?.map?.extents[0]?.from ?? null;
  if (own !== null && base > own) return null;
  const fits = drafts.every(
    (other) => other.id === id || other.base === null || (other.id < id ? other.base <= base : other.base >= base),
  );
  return fits ? base : null;
}

/** The base that the segments around demand, or the lengths of the records that are missing. */
function baseByChain(draft: Draft, before: Slot | null, behind: readonly Draft[], lengths: Lengths): bigint | null {
  const own = draft.file?.map?.extents[0] ?? null;
  const next = own?.from ?? behind.find(({ base }) => base !== null)?.base ?? null;
  if (before === null) {
    if (draft.file === null || next === null) return null;
    return lengths.backward(next, (own?.start ?? draft.file.entry.size) - SEGMENT_HEADER_LEN);
  }
  const end = endOfOwn(before);
  const base = end.to > end.from ? lengths.forward(ownEnd(before), end.to - end.from) : ownEnd(before);
  return next !== null && base > next ? next : base;
}

function boundOf(behind: readonly Draft[], base: bigint): bigint | null {
  return behind.find((draft) => draft.base !== null && draft.base >= base && draft.file !== null)?.base ?? null;
}

function slotOf({ id, file }: Draft, base: bigint, bound: bigint | null): Slot {
  const extents = file?.map?.extents ?? [];
  const own = ascendingPart(extents, { from: base, to: bound ?? 1n << 64n });
  return {
    id,
    name: segmentFileName(id),
    file,
    size: file?.entry.size ?? 0,
    base,
    headerSound: file?.map?.header != null,
    own,
    dropped: extents.filter((extent) => !own.includes(extent)),
  };
}

/** More runs than this are taken as they come. */
const MOST_WEIGHED = 2000;

/** The extents of a file that ascend in offsets too and hold the most records; one that runs over the bound is among them. */
function ascendingPart(extents: readonly Extent[], bounds: OffsetRange): readonly Extent[] {
  const inside = extents.filter(({ from }) => from >= bounds.from && from < bounds.to);
  if (inside.length === extents.length && inside.every(({ from }, i) => i === 0 || from >= inside[i - 1]!.to))
    return extents;
  if (inside.length > MOST_WEIGHED) return asTheyCome(inside);
  const best = inside.map(({ from, to }) => ({ weight: to - from, before: -1 }));
  let last = -1;
  for (const [i, { from, to }] of inside.entries()) {
    for (let j = 0; j < i; j++) {
      if (inside[j]!.to > from || best[j]!.weight + (to - from) <= best[i]!.weight) continue;
      best[i] = { weight: best[j]!.weight + (to - from), before: j };
    }
    if (last < 0 || best[i]!.weight > best[last]!.weight) last = i;
  }
  const taken: Extent[] = [];
  for (let at = last; at >= 0; at = best[at]!.before) taken.push(inside[at]!);
  return taken.reverse();
}

function asTheyCome(extents: readonly Extent[]): Extent[] {
  const taken: Extent[] = [];
  let next = 0n;
  for (const extent of extents) {
    if (extent.from < next) continue;
    taken.push(extent);
    next = greater(next, extent.to);
  }
  return taken;
}
