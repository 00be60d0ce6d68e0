/**
 * What a broker would do once a plan has been carried out, told from what was read before it.
 *
 * The facts of the segments are changed as the plan changes the files, and the same prediction is asked. The fatal findings
 * that the plan answers are left out; all others still stand.
 */

import type { Finding } from '../domain/finding.js';
import type { ShardChange } from '../domain/plan-facts.js';
import type { BrokerSettings, Prediction } from '../domain/report.js';
import { indexFileName } from '../format/names.js';
import { scanSegmentFile } from '../scan/segment-file.js';
import { MemorySource } from '../store/byte-source.js';
import { predict } from './prediction.js';
import type { ShardReading } from './shard.js';
import type { SegmentFacts } from './shard-facts.js';

/** `findings` are those of the shard as it is. */
export function predictAfter(
  { facts, files }: ShardReading,
  findings: readonly Finding[],
  change: ShardChange,
  settings: BrokerSettings = facts.settings,
): Prediction {
  const segments = facts.segments
    .filter(({ id }) => !change.removed.includes(id))
    .map((segment) => reindexed(cut(begun(segment, change), change), change));
  const left = findings.filter((finding) => !isAnswered(finding, change));
  return predict({ ...facts, settings, segments }, files.unopenable, left);
}

function isAnswered({ site, file, damagedRange }: Finding, change: ShardChange): boolean {
  if (site.segment !== undefined && change.removed.includes(site.segment)) return true;
  if (change.begun !== null && site.segment === change.begun.segment) return true;
  if (change.reindexed.some(({ segment }) => file === indexFileName(segment))) return true;
  const position = site.position ?? damagedRange?.from;
  return change.cut !== null && site.segment === change.cut.segment && (position ?? -1) >= change.cut.position;
}

function begun(segment: SegmentFacts, { begun: anew }: ShardChange): SegmentFacts {
  if (anew === null || anew.segment !== segment.id) return segment;
  const scanning = scanSegmentFile(new MemorySource(anew.header), null, { nowMicros: 0n });
  for (;;) {
    const step = scanning.next();
    if (step.done) return { ...segment, role: 'newest', size: anew.header.length, scan: step.value };
  }
}

function cut(segment: SegmentFacts, { cut: at }: ShardChange): SegmentFacts {
  const records = segment.scan?.records ?? null;
  if (at === null || at.segment !== segment.id || segment.scan === null || records === null) return segment;
  const kept = records.damages.filter(({ position }) => position < at.position);
  const first = records.damages.find(({ position }) => position >= at.position);
  const after = {
    ...records,
    end: at.position,
    nextOffset: at.nextOffset,
    records: first?.recordsBefore ?? records.records,
    damages: kept,
    omitted: new Map(),
    afterMark: null,
  };
  const scan = { ...segment.scan, size: at.position, records: after, resumed: null };
  return { ...segment, size: at.position, scan };
}

/** A broker that believes the new index meets the same as one that scans the whole segment. */
function reindexed(segment: SegmentFacts, change: ShardChange): SegmentFacts {
  const made = change.reindexed.find(({ segment: id }) => id === segment.id);
  if (made === undefined || segment.scan === null) return segment;
  const { head } = segment.scan;
  const index = { ...head.index, header: null, headerDamage: null, entries: made.entries, kept: made.entries };
  const known = { firstKept: null, lastKept: null, dropped: [], droppedOmitted: 0, tornBytes: 0, marks: [] };
  const newHead = { ...head, index: { ...known, bytes: 0, ...index }, indexProblem: null, indexUsable: true };
  return { ...segment, scan: { ...segment.scan, head: newHead, resumed: null } };
}
