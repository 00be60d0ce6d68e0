/**
 * `offload.manifest` on its own and against the log (format page, "offload.manifest: segments with a copy in the object
 * store").
 *
 * Local segments are compared entry by entry in `manifest-local.ts`.
 */

import { quoted } from '../domain/wording.js';
import { fieldAt } from '../format/layout-places.js';
import { MANIFEST_LAYOUT, type Manifest, type ManifestEntry } from '../format/manifest.js';
import { type ObjectKey, parseObjectKey, parseShardName } from '../format/names.js';
import { offloadedRanges } from './coverage.js';
import { Judge, type Judgement } from './judgement.js';
import { lower } from './log.js';
import type { Subject } from './make-finding.js';
import { checkLocalSegments } from './manifest-local.js';
import type { ShardFacts } from './shard-facts.js';

const BASE_AT = fieldAt(MANIFEST_LAYOUT, 'base_offset');
const LAST_AT = fieldAt(MANIFEST_LAYOUT, 'last_offset');
const KEY_AT = fieldAt(MANIFEST_LAYOUT, 'key');

export function checkManifest(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const sidecar = facts.sidecars.manifest;
  const manifest = judge.contentOf(sidecar, 'its entries were not held against the log');
  if (sidecar === null || manifest === null) return judge.judgement;
  const { file } = sidecar;
  const { entries, count } = manifest;
  if (entries.length < count) {
    judge.skip(`Only the first ${entries.length} of ${count} entries in ${file} were judged.`);
  }
  checkRanges(judge, file, entries);
  checkOverlaps(judge, file, entries);
  checkKeys(judge, file, entries, facts.name);
  checkTail(judge, file, entries, facts.tail);
  checkHoles(judge, file, manifest, facts.base);
  checkLocalSegments(judge, file, entries, facts);
  return judge.judgement;
}

function checkRanges(judge: Judge, file: string, entries: readonly ManifestEntry[]): void {
  for (const [entry, { segmentId, baseOffset: base, lastOffset: last, position }] of entries.entries()) {
    if (last < base) {
      const detail = { entry, segmentId, base, last };
      judge.report({ kind: 'ManifestRange', severity: 'error', file, position: position + LAST_AT, detail });
    }
    const before = entries[entry - 1];
    if (before !== undefined && base < before.baseOffset) {
      const detail = { entry, segmentId };
      judge.report({ kind: 'ManifestOrder', severity: 'error', file, position: position + BASE_AT, detail });
    }
  }
}

/** Along ascending bases, each entry against the one in front that reaches furthest: what overlaps anything is found. */
function checkOverlaps(judge: Judge, file: string, entries: readonly ManifestEntry[]): void {
  const numbers = [...entries.keys()].filter((entry) => entries[entry]!.lastOffset >= entries[entry]!.baseOffset);
  numbers.sort((a, b) => {
    const [one, other] = [entries[a]!.baseOffset, entries[b]!.baseOffset];
    return one === other ? a - b : one < other ? -1 : 1;
  });
  let furthest: number | null = null;
  for (const number of numbers) {
    const { baseOffset, lastOffset } = entries[number]!;
    const reach = furthest === null ? null : entries[furthest]!.lastOffset;
    if (furthest !== null && reach !== null && baseOffset <= reach) {
      const entry = Math.max(number, furthest);
      const { segmentId, position } = entries[entry]!;
      const overlap = { from: baseOffset, to: lower(lastOffset, reach) + 1n };
      const otherEntry = Math.min(number, furthest);
      const detail = { entry, segmentId, otherEntry, overlap };
      judge.report({ kind: 'ManifestOverlap', severity: 'error', file, position: position + BASE_AT, detail });
    }
    if (reach === null || lastOffset > reach) furthest = number;
  }
}

function checkKeys(judge: Judge, file: string, entries: readonly ManifestEntry[], name: string): void {
  const named = parseShardName(name) !== null;
  for (const [entry, { segmentId, baseOffset, key, position }] of entries.entries()) {
    const parts = parseObjectKey(key);
    if (parts !== null && parts.directory !== name && !named) {
      judge.skip(`The directory is not named as a shard's, so the one in the keys of ${file} was not compared.`);
    }
    const why = parts === null ? 'it has another shape' : keyProblem(parts, named ? name : null, baseOffset, segmentId);
    if (why === null) continue;
    const detail = { entry, segmentId, key, why };
    judge.report({ kind: 'ManifestKey', severity: 'warning', file, position: position + KEY_AT, detail });
  }
}

function keyProblem(key: ObjectKey, name: string | null, base: bigint, segmentId: bigint): string | null {
  const problems: string[] = [];
  if (name !== null && key.directory !== name) problems.push(`it names directory ${quoted(key.directory)}`);
  if (key.baseOffset !== base) problems.push(`it names base offset ${key.baseOffset}, not ${base}`);
  if (key.segmentId !== segmentId) problems.push(`it names segment ${key.segmentId}`);
  return problems.length === 0 ? null : problems.join(', and ');
}

function checkTail(judge: Judge, file: string, entries: readonly ManifestEntry[], tail: bigint | null): void {
  if (tail === null) {
    judge.skip(`The end of the log is not known, so the offsets in ${file} were not held against it.`);
    return;
  }
  for (const [entry, { segmentId, lastOffset: last, position }] of entries.entries()) {
    if (last < tail) continue;
    const detail = { entry, segmentId, last, tail };
    judge.report({ kind: 'ManifestBeyondTail', severity: 'error', file, position: position + LAST_AT, detail });
  }
}

/** From the oldest offloaded offset up to the oldest local one. */
function checkHoles(judge: Judge, file: string, manifest: Manifest, base: bigint | null): void {
  if (manifest.entries.length < manifest.count) {
    judge.skip(`Holes in the history were not looked for, as not every entry of ${file} was kept.`);
    return;
  }
  if (base === null) {
    judge.skip('The oldest offset of the log is not known, so holes in the history below it were not looked for.');
    return;
  }
  let end: bigint | null = null;
  for (const { from, to } of [...offloadedRanges(manifest.entries), { from: base, to: base }]) {
    const until = lower(from, base);
    if (end !== null && end < until) {
      judge.report({ kind: 'HistoryHole', severity: 'info', file, detail: { from: end, to: until } });
    }
    if (from >= base) return;
    end = to;
  }
}
