/**
 * What a broker would do with a shard once it is healed: the new segments are scanned as the old ones were, and everything
 * that is said of a shard is said again.
 */

import type { HealedSegment } from '../domain/heal.js';
import type { Prediction } from '../domain/report.js';
import { indexFileName } from '../format/names.js';
import { bytesAt } from '../scan/pieces.js';
import { type SegmentScan, scanSegmentFile } from '../scan/segment-file.js';
import { type ByteSource, MemorySource } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { joinShown } from '../store/walk.js';
import { fullOutcome } from './broker.js';
import { checkIndexes } from './indexes.js';
import { predict } from './prediction.js';
import { checkRelations } from './relations.js';
import { assignRoles } from './roles.js';
import { checkSegments } from './segments.js';
import { namesFindings, type ShardReading } from './shard.js';
import { contentOf, type SegmentFacts, type ShardFacts } from './shard-facts.js';

export interface HealedFile {
  readonly segment: HealedSegment;
  readonly source: ByteSource;
}

/** Throws `ReadFailure`. */
export function predictHealed(
  { facts, files, subject }: ShardReading,
  healed: readonly HealedFile[],
  nowMicros: bigint,
): Prediction {
  const sources = new Map(healed.map((each) => [each.segment.file, each]));
  const kept = facts.segments.filter(({ file }) => !sources.has(file));
  const made = healed.map((each) => segmentFacts(facts, each, nowMicros));
  const all = [...kept, ...made].sort((a, b) => (a.id < b.id ? -1 : 1));
  const commit = contentOf(facts.sidecars.replica)?.commit ?? null;
  const segments = assignRoles(all, facts.settings, commit);
  const after = withSegments(facts, segments, sources);
  const findings = [
    ...namesFindings(files, subject),
    ...checkSegments({
      facts: after,
      subject,
      evidence: () => ({ looksLike: null, likeness: null, bitFlip: null }),
      strays: [],
      objectFor: () => null,
    }),
    ...checkIndexes(after, subject),
    ...checkRelations(after, subject).findings,
  ];
  return predict(after, files.unopenable, findings);
}

function segmentFacts(facts: ShardFacts, { segment, source }: HealedFile, nowMicros: bigint): SegmentFacts {
  const { id, file, index } = segment;
  const indexFile = indexFileName(id);
  const before = facts.segments.find((each) => each.id === id);
  const made = index === null ? openIndex(facts, before ?? null) : new MemorySource(index.bytes);
  const scan = scanned(source, made, nowMicros);
  return {
    id,
    file,
    size: source.size,
    role: 'sealed',
    scan,
    problem: null,
    indexFile,
    indexSize: made?.size ?? null,
  };
}

function openIndex({ path }: ShardFacts, before: SegmentFacts | null): ByteSource | null {
  if (before === null || before.indexSize === null) return null;
  const source = FileSource.open(joinShown(path, before.indexFile), before.indexSize);
  try {
    return new MemorySource(bytesAt(source, 0, source.size));
  } finally {
    source.close();
  }
}

function scanned(source: ByteSource, index: ByteSource | null, nowMicros: bigint): SegmentScan {
  const scanning = scanSegmentFile(source, index, { nowMicros });
  for (;;) {
    const step = scanning.next();
    if (step.done) return step.value;
  }
}

function withSegments(
  facts: ShardFacts,
  segments: readonly SegmentFacts[],
  sources: ReadonlyMap<string, HealedFile>,
): ShardFacts {
  const kept = segments.filter(({ role }) => role === 'sealed' || role === 'newest');
  const newest = kept.find(({ role }) => role === 'newest');
  const outcome = newest === undefined ? null : fullOutcome(newest, facts.settings, true);
  const tail = outcome?.is === 'whole' || outcome?.is === 'cut' ? outcome.nextOffset : null;
  return {
    ...facts,
    segments,
    base: kept[0]?.scan?.head.header?.baseOffset ?? null,
    tail,
    open: (file) => {
      const made = sources.get(file);
      return made === undefined ? facts.open(file) : withClose(made.source);
    },
  };
}

function withClose(source: ByteSource): ByteSource & { close(): void } {
  return { size: source.size, readAt: (target, position) => source.readAt(target, position), close: () => undefined };
}
