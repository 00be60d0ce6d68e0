/**
 * What a broker would do once a plan has been carried out, told from what was read before it.
 *
 * The facts of the segments are changed as the plan changes the files, and the same prediction is asked. The fatal findings
 * that a cut answers are left out; all others still stand.
 */

import type { Finding } from '../domain/finding.js';
import type { ShardChange } from '../domain/plan-facts.js';
import type { BrokerSettings, Prediction } from '../domain/report.js';
import { INDEX_ENTRY_LEN, INDEX_HEADER_LEN } from '../format/index.js';
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

/** Of what is removed, begun anew or indexed anew, no finding is a reason to refuse that the facts do not tell. */
function isAnswered({ site }: Finding, { cut: at }: ShardChange): boolean {
  return at !== null && site.segment === at.segment && (site.position ?? 0) >= at.position;
}

function begun(segment: SegmentFacts, { begun: anew }: ShardChange): SegmentFacts {
  if (anew?.segment !== segment.id) return segment;
  const scanning = scanSegmentFile(new MemorySource(anew.header), null, { nowMicros: 0n });
  for (;;) {
    const step = scanning.next();
    if (step.done) return { ...segment, role: 'newest', size: anew.header.length, scan: step.value };
  }
}

/** The newest segment, up to its first damage. */
function cut(segment: SegmentFacts, { cut: at }: ShardChange): SegmentFacts {
  if (at?.segment !== segment.id) return segment;
  const scan = segment.scan!;
  const records = scan.records!;
  const kept = { end: at.position, nextOffset: at.nextOffset, records: records.damages[0]!.recordsBefore };
  const whole = { damages: [], omitted: new Map(), afterMark: null };
  return {
    ...segment,
    size: at.position,
    scan: { ...scan, size: at.position, records: { ...records, ...kept, ...whole } },
  };
}

/** Of an index that is a writer's, all but its size: a broker asks no more of it. */
const WRITTEN_INDEX = {
  header: null,
  headerDamage: null,
  firstKept: null,
  lastKept: null,
  dropped: [],
  droppedOmitted: 0,
  tornBytes: 0,
  marks: [],
};

/** A broker that believes the new index meets the same as one that scans the whole segment. */
function reindexed(segment: SegmentFacts, change: ShardChange): SegmentFacts {
  const made = change.reindexed.find(({ segment: id }) => id === segment.id);
  if (made === undefined) return segment;
  const { entries } = made;
  const bytes = INDEX_HEADER_LEN + entries * INDEX_ENTRY_LEN;
  const scan = segment.scan!;
  const index = { ...WRITTEN_INDEX, bytes, entries, kept: entries };
  const head = { ...scan.head, index, indexProblem: null, indexUsable: true };
  return { ...segment, indexSize: bytes, scan: { ...scan, head, resumed: null } };
}
