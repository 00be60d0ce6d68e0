/**
 * The cut of a log at an offset, through every file of the shard (contract, section 7; FACTS, "Epochs").
 *
 * In the order that the format page demands: manifest entries at or past the offset go before any segment is touched, then
 * the segment is cut, then `producers` and `keys.idx` go, then the generations that began at or past it, then the index is
 * made anew. Pure; whether a cut may be made at all is decided in front of it, except for what only the parts can tell: a
 * cut under the commit offset, and manifest entries whose records are nowhere else.
 */

import type { Finding } from '../domain/finding.js';
import { type LostManifestEntry, NO_LOSS, type PlanLoss, type PlanStep } from '../domain/plan.js';
import type { CutFacts, NewestFacts } from '../domain/plan-facts.js';
import { greater, lesser, type OffsetRange, offsetCount, spanOf } from '../domain/units.js';
import { counted, offsetsOf } from '../domain/wording.js';
import { encodeEpochs } from '../format/epochs.js';
import { encodeManifest, type ManifestEntry } from '../format/manifest.js';
import { indexFileName } from '../format/names.js';
import {
  answersOf,
  bytesStep,
  deleteStep,
  type IndexContents,
  indexStep,
  type Planned,
  planned,
  refuse,
} from './plan-parts.js';
import { type ShardView, stateIn } from './shard-view.js';

export interface CutPlan {
  readonly steps: readonly PlanStep[];
  readonly loses: PlanLoss;
}

/** `localBase` is the oldest offset in the shard's segments. */
export function planCut(
  view: ShardView,
  newest: NewestFacts,
  cut: CutFacts,
  localBase: bigint,
  findings: readonly Finding[],
  contents: IndexContents,
): Planned<CutPlan> {
  const { nextOffset } = cut;
  const dropped = (view.manifest?.entries ?? []).filter(({ lastOffset }) => lastOffset >= nextOffset);
  const away = dropped.flatMap((entry) => notLocal(entry, localBase, cut));
  // Objects of a dropped entry may hold committed records that no local segment has any more.
  const first = away.reduce((least, { from }) => lesser(least, from), nextOffset);
  if (first < view.commit) return belowCommit(first, view.commit);
  const loses = lossOf(view, newest, cut, dropped, away);
  const steps = [
    manifestStep(view, dropped, findings),
    segmentStep(view, newest, cut, findings),
    derivedStep(view, 'producers', 'the producer snapshot may describe records that go'),
    derivedStep(view, 'keys.idx', 'the key index may describe records that go'),
    epochsStep(view, nextOffset, findings),
    indexStep(view, cut.index, contents, {
      why: `the index of the segment as it is then: ${counted(cut.index.entries, 'entry', 'entries')}`,
      answers: answersOf(findings, ({ file }) => file === indexFileName(newest.id)),
    }),
  ];
  return planned({ steps: steps.filter((step) => step !== null), loses });
}

function belowCommit<T>(nextOffset: bigint, commit: bigint): Planned<T> {
  const gone = { from: nextOffset, to: commit };
  return refuse(
    `BelowCommit: the log would end at offset ${nextOffset}, and replica commits everything below ${commit}: ` +
      `committed ${offsetsOf(gone)} (${counted(offsetCount(gone), 'record')}) would go. A cut under the commit offset is never made.`,
    'felix-fsck heal SHARD --from REPLICA',
    'felix-fsck salvage SHARD --to DIR',
  );
}

function manifestStep(
  view: ShardView,
  dropped: readonly ManifestEntry[],
  findings: readonly Finding[],
): PlanStep | null {
  if (view.manifest === null || dropped.length === 0) return null;
  const { entries, reserved } = view.manifest;
  const bytes = encodeManifest({ entries: entries.filter((entry) => !dropped.includes(entry)), reserved });
  return bytesStep(view, 'offload.manifest', bytes, {
    action: 'rewrite',
    why: `${counted(dropped.length, 'entry', 'entries')} for offsets at or past the cut go, before a segment is touched`,
    answers: answersOf(findings, ({ file }) => file === 'offload.manifest'),
  });
}

function segmentStep(
  view: ShardView,
  { file, size }: NewestFacts,
  cut: CutFacts,
  findings: readonly Finding[],
): PlanStep {
  const { position, kept } = cut;
  return {
    action: 'cut',
    file,
    before: stateIn(view, file),
    after: kept,
    content: [{ from: 'itself', start: 0, end: position }],
    ranges: [{ from: position, to: size }],
    why: `${counted(size - position, 'byte')}, from the first damage on, are cut off; the log then ends at offset ${cut.nextOffset}`,
    answers: answersOf(findings, (finding) => finding.file === file && (finding.site.position ?? 0) >= position),
  };
}

function derivedStep(view: ShardView, file: string, why: string): PlanStep | null {
  return deleteStep(view, file, { why: `${why}; a broker makes it anew`, answers: [] });
}

function epochsStep(view: ShardView, nextOffset: bigint, findings: readonly Finding[]): PlanStep | null {
  if (view.epochs === null) return null;
  const kept = view.epochs.filter(({ startOffset }) => startOffset < nextOffset);
  if (kept.length === view.epochs.length) return null;
  return bytesStep(view, 'epochs', encodeEpochs({ entries: kept }), {
    action: 'rewrite',
    why: `generations that began at or past offset ${nextOffset} go`,
    answers: answersOf(findings, ({ file }) => file === 'epochs'),
  });
}

function lossOf(
  view: ShardView,
  { size }: NewestFacts,
  cut: CutFacts,
  dropped: readonly ManifestEntry[],
  away: readonly OffsetRange[],
): PlanLoss {
  const { nextOffset, offsets } = cut;
  const offloaded = Number(away.reduce((sum, range) => sum + offsetCount(range), 0n));
  return {
    ...NO_LOSS,
    bytes: size - cut.position,
    records: cut.records + offloaded,
    intactRecords: cut.intactRecords + offloaded,
    offsets: spanOf([...(offsets === null ? [] : [offsets]), ...away]),
    fromTimestampMicros: cut.fromTimestampMicros,
    toTimestampMicros: cut.toTimestampMicros,
    manifestEntries: dropped.map(lostEntry),
    epochs: (view.epochs ?? []).filter(({ startOffset }) => startOffset >= nextOffset),
  };
}

/** Offsets of an object that are in no segment of the shard: with its entry, nothing leads to them any more. */
function notLocal(
  { baseOffset, lastOffset }: ManifestEntry,
  localBase: bigint,
  { nextOffset, offsets }: CutFacts,
): OffsetRange[] {
  const end = lastOffset + 1n;
  const localEnd = greater(nextOffset, offsets?.to ?? 0n);
  const below = { from: baseOffset, to: lesser(end, localBase) };
  const above = { from: greater(baseOffset, localEnd), to: end };
  return [below, above].filter(({ from, to }) => from < to);
}

function lostEntry({ segmentId, baseOffset, lastOffset, key }: ManifestEntry): LostManifestEntry {
  return { segmentId, baseOffset, lastOffset, key };
}
