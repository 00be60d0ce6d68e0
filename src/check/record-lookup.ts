/**
 * Finding one record of the log by its offset, through the index where it holds and from the segment's start where not.
 */

import { err, ok, type Result } from '../domain/result.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { HeaderWalk } from './header-walk.js';
import { baseOf, logSegments } from './log.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

export interface FoundRecord {
  readonly segment: SegmentFacts;
  readonly position: number;
  /** As stored, and verified over the whole record. */
  readonly checksum: number;
}

interface Start {
  readonly position: number;
  readonly offset: bigint;
}

/**
 * The intact record at `offset`, or a sentence part saying why it cannot be shown. Throws `ReadFailure`, with the name of
 * the file in `reading` beforehand.
 */
export function findRecord(
  facts: ShardFacts,
  offset: bigint,
  reading: (file: string) => void,
): Result<FoundRecord, string> {
  const segment = logSegments(facts).findLast((candidate) => {
    const base = baseOf(candidate);
    return base !== null && base <= offset;
  });
  if (segment === undefined) return err(`no segment holds offset ${offset}`);
  reading(segment.file);
  const source = facts.open(segment.file);
  try {
    let why = '';
    for (const start of startsFor(segment, offset)) {
      const walk = new HeaderWalk(source, start.position, start.offset);
      const steps = Number(offset - start.offset) + 1;
      let done = 0;
      while (done < steps && walk.next()) done++;
      if (done < steps) why = walk.failure ?? 'the segment ends in front of it';
      else if (walk.verifies()) return ok({ segment, position: walk.position, checksum: walk.checksum });
      else why = 'the record does not match its checksum';
    }
    return err(`the record at offset ${offset} was not found whole in ${segment.file}: ${why}`);
  } finally {
    source.close();
  }
}

/** Where to begin: the best entry of the index, then the best place that the scan vouches for. */
function startsFor({ scan }: SegmentFacts, offset: bigint): Start[] {
  const starts: Start[] = [];
  const marks = scan?.head.indexUsable ? (scan.head.index?.marks ?? []) : [];
  const mark = marks.findLast((entry) => entry.offset <= offset);
  if (mark !== undefined && mark.position <= BigInt(scan!.size)) {
    starts.push({ position: Number(mark.position), offset: mark.offset });
  }
  const base = scan?.head.header?.baseOffset;
  let known: Start | null = base === undefined || base > offset ? null : { position: SEGMENT_HEADER_LEN, offset: base };
  for (const { resumedAt, lost } of scan?.records?.damages ?? []) {
    if (resumedAt === null || lost === null || lost.to > offset) continue;
    if (known === null || lost.to >= known.offset) known = { position: resumedAt, offset: lost.to };
  }
  if (known !== null) starts.push(known);
  return starts;
}
