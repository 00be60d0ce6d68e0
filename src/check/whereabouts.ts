/**
 * Where offsets are that the local log does not hold: trimmed, in the object store by the manifest, or not written yet.
 *
 * What the object store holds is the manifest's word alone: no object is looked at.
 */

import type { MissingRow } from '../domain/record-view.js';
import type { OffsetRange } from '../domain/units.js';
import { counted, offsetsOf, quoted } from '../domain/wording.js';
import { decodeManifest, type ManifestEntry } from '../format/manifest.js';
import { lower } from './log.js';
import type { LogFiles } from './log-files.js';
import { readSidecar } from './sidecar-files.js';

/** The entries of `offload.manifest`, and what keeps them from being known. */
export interface Offloaded {
  /** By base offset. */
  readonly entries: readonly ManifestEntry[];
  /** A sentence part; null when the manifest was read, or there is none. */
  readonly unknown: string | null;
}

export function readOffloaded(log: LogFiles): Offloaded {
  const file = 'offload.manifest';
  const sidecar = readSidecar(log.manifest ?? undefined, file, (feed) => decodeManifest(feed));
  if (sidecar === null) return { entries: [], unknown: null };
  const manifest = sidecar.reading?.value ?? null;
  if (manifest === null) {
    const state = sidecar.reading === null ? 'cannot be read' : 'does not decode';
    return { entries: [], unknown: `${file} ${state}, so whether a copy was offloaded is not known` };
  }
  const entries = manifest.entries.toSorted((a, b) => (a.baseOffset < b.baseOffset ? -1 : 1));
  const unknown = manifest.count > entries.length ? `only ${entries.length} entries of ${file} were looked at` : null;
  return { entries, unknown };
}

/** The entry that holds an offset, or null. */
export function objectOf(offloaded: Offloaded, offset: bigint): ManifestEntry | null {
  return offloaded.entries.find(({ baseOffset, lastOffset }) => baseOffset <= offset && offset <= lastOffset) ?? null;
}

/** What became of a range of offsets below the oldest local record, in pieces. */
export function belowBase(range: OffsetRange, base: bigint, offloaded: Offloaded): MissingRow[] {
  const rows: MissingRow[] = [];
  const touching = offloaded.entries.filter(
    ({ baseOffset, lastOffset }) => baseOffset < range.to && lastOffset >= range.from,
  );
  let at = range.from;
  for (const run of runsOf(touching)) {
    const to = lower(run.to, range.to);
    if (run.from > at) {
      rows.push(nowhereRow({ from: at, to: run.from }, base, offloaded));
      at = run.from;
    }
    rows.push(offloadedRow({ from: at, to }, run.keys));
    at = to;
  }
  if (at < range.to) rows.push(nowhereRow({ from: at, to: range.to }, base, offloaded));
  return rows;
}

interface Run {
  readonly from: bigint;
  to: bigint;
  readonly keys: string[];
}

/** Objects that follow each other without a gap. */
function runsOf(entries: readonly ManifestEntry[]): Run[] {
  const runs: Run[] = [];
  for (const { baseOffset, lastOffset, key } of entries) {
    const last = runs.at(-1);
    if (last === undefined || baseOffset > last.to) runs.push({ from: baseOffset, to: lastOffset + 1n, keys: [key] });
    else {
      if (lastOffset >= last.to) last.to = lastOffset + 1n;
      last.keys.push(key);
    }
  }
  return runs;
}

const NAMED_OBJECTS = 8;

/** Older offsets are still in the object store, so that nothing was trimmed up to there. */
export function isHole({ entries }: Offloaded, offset: bigint): boolean {
  return entries.some(({ lastOffset }) => lastOffset < offset);
}

function nowhereRow(range: OffsetRange, base: bigint, offloaded: Offloaded): MissingRow {
  const why = offloaded.unknown === null ? '' : `; ${offloaded.unknown}`;
  const isInHole = isHole(offloaded, range.from);
  const what = isInHole ? 'the manifest leaves these out' : 'what was in front of it was trimmed';
  return {
    ...range,
    where: isInHole ? 'hole' : 'trimmed',
    objects: [],
    objectCount: 0,
    message: `${sentenceStart(range)} not here: the log begins at ${base}, and ${what}${why}.`,
  };
}

function offloadedRow(range: OffsetRange, keys: readonly string[]): MissingRow {
  const first = quoted(keys[0]!, 200);
  const which = keys.length === 1 ? `object ${first}` : `${counted(keys.length, 'object')}, the first is ${first}`;
  return {
    ...range,
    where: 'offloaded',
    objects: keys.slice(0, NAMED_OBJECTS),
    objectCount: keys.length,
    message: `${sentenceStart(range)} not here but offloaded: ${which}.`,
  };
}

function sentenceStart(range: OffsetRange): string {
  const words = offsetsOf(range);
  return `${words[0]!.toUpperCase()}${words.slice(1)} ${range.to - range.from === 1n ? 'is' : 'are'}`;
}

/** Offsets at or behind the tail; `to` is null without an end. */
export function pastTail(from: bigint, to: bigint | null, tail: bigint): MissingRow {
  const words = to === null ? `Offsets from ${from} on are` : sentenceStart({ from, to });
  const message = `${words} not here: the log ends at ${tail}.`;
  return { from, to, where: 'past-tail', objects: [], objectCount: 0, message };
}

/** Offsets that one file of a shard, named by itself, does not hold. */
export function outsideFile(range: OffsetRange, base: bigint): MissingRow {
  const message = `${sentenceStart(range)} not in this file: it begins at ${base}.`;
  return { ...range, where: 'other-file', objects: [], objectCount: 0, message };
}
