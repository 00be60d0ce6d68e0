/**
 * What a salvage did not save: offsets that are known to have held records, by what the files of the sources say.
 *
 * A record is known to have existed when an offset behind it is: a later record, the base of a later segment, the commit
 * offset, an entry of the manifest. Below the oldest base nothing is lost: retention removed it. Offsets that may lie in
 * what could not be read are told apart, because another disk or another attempt may still give them.
 */

import type { UncertainEnd } from '../domain/salvage.js';
import { greater, lesser, type OffsetRange, spanOf } from '../domain/units.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { allZeros } from '../scan/zeros.js';
import { ReadFailure } from '../store/byte-source.js';
import type { MergeOutcome } from './record-merge.js';
import { contentOf, type Sidecars } from './shard-facts.js';
import { openFile, type Strand, type StrandFile } from './strands.js';

export interface Losses {
  readonly lost: readonly OffsetRange[];
  readonly unread: readonly OffsetRange[];
  readonly uncertain: readonly UncertainEnd[];
  /** Something could not be read, whether or not offsets are missing for it. */
  readonly anyUnread: boolean;
}

/** `sidecars` are those of the shards that were given. */
export function lossesOf(strands: readonly Strand[], sidecars: readonly Sidecars[], merged: MergeOutcome): Losses {
  const saved = spanOf(merged.runs);
  const known = knownEnds(strands, sidecars);
  const missing = [...merged.gaps];
  if (saved === null) {
    if (known.from !== null && known.to !== null) missing.push({ from: known.from, to: known.to });
  } else {
    if (known.from !== null) missing.unshift({ from: known.from, to: saved.from });
    if (known.to !== null) missing.push({ from: saved.to, to: known.to });
  }
  const blind = strands.flatMap(unreadSpans);
  const split = missing.filter(({ from, to }) => from < to).flatMap((range) => splitAt(range, blind));
  return {
    lost: split.filter(({ unread }) => !unread).map(({ from, to }) => ({ from, to })),
    unread: split.filter(({ unread }) => unread).map(({ from, to }) => ({ from, to })),
    uncertain: strands.flatMap((strand) => uncertainEnds(strand, (offset) => isSaved(offset, saved, merged.gaps))),
    anyUnread: strands.some(({ files }) => files.some(isUnread)),
  };
}

/** The oldest base, and the end that anything speaks of. */
function knownEnds(
  strands: readonly Strand[],
  sidecars: readonly Sidecars[],
): { readonly from: bigint | null; readonly to: bigint | null } {
  const starts: bigint[] = [];
  const ends: bigint[] = [];
  for (const { files } of strands) {
    for (const { map } of files) {
      if (map === null) continue;
      if (map.header !== null) {
        starts.push(map.header.baseOffset);
        ends.push(map.header.baseOffset);
      }
      for (const { lost, corruption, offset } of map.damages) {
        if (lost !== null) ends.push(lost.to);
        else if (corruption.kind === 'RecordChecksum' && offset !== null) ends.push(offset + 1n);
      }
      if (map.nextOffset !== null && map.records > 0) ends.push(map.nextOffset);
    }
  }
  for (const { replica, manifest } of sidecars) {
    const commit = contentOf(replica)?.commit ?? 0n;
    if (commit > 0n) ends.push(commit);
    for (const { lastOffset } of contentOf(manifest)?.entries ?? []) ends.push(lastOffset + 1n);
  }
  return {
    from: starts.length === 0 ? null : starts.reduce(lesser),
    to: ends.length === 0 ? null : ends.reduce(greater),
  };
}

function isUnread({ map }: StrandFile): boolean {
  return map === null || map.stopped !== null || map.otherBuild;
}

/** Offsets that files which could not be read may hold, by what stands around them. */
function unreadSpans({ files }: Strand): { readonly from: bigint; readonly to: bigint | null }[] {
  return files.flatMap((file, i) => {
    if (!isUnread(file)) return [];
    const own = file.map?.nextOffset ?? file.map?.header?.baseOffset ?? null;
    const before = files.slice(0, i).findLast(({ map }) => map?.nextOffset != null)?.map?.nextOffset ?? 0n;
    const after = files.slice(i + 1).find(({ map }) => map?.header != null)?.map?.header?.baseOffset ?? null;
    return [{ from: own ?? before, to: after }];
  });
}

type Part = OffsetRange & { readonly unread: boolean };

function splitAt(range: OffsetRange, blind: readonly { from: bigint; to: bigint | null }[]): Part[] {
  const parts: Part[] = [];
  let at = range.from;
  const inside = blind
    .map(({ from, to }) => ({ from: greater(from, range.from), to: to === null ? range.to : lesser(to, range.to) }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  for (const { from, to } of inside) {
    if (to <= at) continue;
    if (from > at) parts.push({ from: at, to: from, unread: false });
    parts.push({ from: greater(from, at), to, unread: true });
    at = to;
  }
  if (at < range.to) parts.push({ from: at, to: range.to, unread: false });
  return parts;
}

function isSaved(offset: bigint, saved: OffsetRange | null, gaps: readonly OffsetRange[]): boolean {
  if (saved === null || offset < saved.from || offset >= saved.to) return false;
  return !gaps.some(({ from, to }) => offset >= from && offset < to);
}

/**
 * Damage to the end of a strand's last file, unless it is space that was never written or a record that was never finished:
 * neither held anything that was acknowledged.
 */
function uncertainEnds({ files }: Strand, isSavedAt: (offset: bigint) => boolean): UncertainEnd[] {
  const file = files.findLast(({ map }) => map !== null && map.size > SEGMENT_HEADER_LEN);
  const map = file?.map ?? null;
  if (file === undefined || map === null || map.stopped !== null || map.otherBuild) return [];
  const last = map.damages.at(-1);
  if (last === undefined || last.end !== map.size || last.lost !== null) return [];
  if (last.corruption.kind === 'Truncated') return [];
  if (last.offset !== null && isSavedAt(last.offset)) return [];
  if (isZeroEnd(file, last.position, map.size)) return [];
  return [{ path: file.path, position: last.position, bytes: map.size - last.position, offset: last.offset }];
}

function isZeroEnd(file: StrandFile, from: number, to: number): boolean {
  try {
    const source = openFile(file);
    try {
      return allZeros(source, from, to);
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return false;
  }
}
