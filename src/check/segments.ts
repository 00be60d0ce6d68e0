/**
 * What is wrong with the segments of a shard, and with their order ("Compatibility and corruption behaviour").
 *
 * Severities are those of the contract: fatal is what alone makes a broker refuse to open the shard under the given
 * settings. Damage in a segment whose header cannot be read is told once, at the header.
 */

import type { BitFlip, Corruption, Finding, FindingDetails, Severity } from '../domain/finding.js';
import type { OffsetRange } from '../domain/units.js';
import { hex32 } from '../format/checksum.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { Damage } from '../scan/range-scan.js';
import { isAheadOfEmpty, isRepairable } from './broker.js';
import { makeFinding, type Subject } from './make-finding.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** What the bytes of damage look like. */
export interface DamageEvidence {
  readonly looksLike: string | null;
  /** The same in words, to stand after "looks like". */
  readonly likeness: string | null;
  readonly bitFlip: BitFlip | null;
}

/** Looks at the bytes of damage; null in place of damage means the segment header. */
export type EvidenceOf = (segment: SegmentFacts, damage: Damage | null) => DamageEvidence;

/** A file under another name that holds records, and which. */
export interface StraySegment {
  readonly file: string;
  readonly from: bigint;
  readonly to: bigint;
}

export interface SegmentCheckInput {
  readonly facts: ShardFacts;
  readonly subject: Subject;
  readonly evidence: EvidenceOf;
  readonly strays: readonly StraySegment[];
  /** The object that holds an offset by the manifest. */
  readonly objectFor: (offset: bigint) => string | null;
}

/** Findings of all segments, in the order of their ids and positions. */
export function checkSegments(input: SegmentCheckInput): Finding[] {
  const findings: Finding[] = [];
  const gaps = gapsOf(input.facts.segments);
  for (const segment of input.facts.segments) {
    if (segment.problem?.code === 'INTERRUPTED') continue;
    if (segment.problem !== null || segment.scan?.head.problem) {
      findings.push(unreadable(input, segment, segment.problem ?? segment.scan!.head.problem!));
    } else if (segment.role === 'abandoned') findings.push(abandoned(input, segment));
    else if (segment.role === 'blank-first') findings.push(blankFirst(input, segment));
    else findings.push(...segmentFindings(input, segment, gaps));
  }
  return findings;
}

function unreadable(
  { subject }: SegmentCheckInput,
  segment: SegmentFacts,
  problem: { code: string; message: string; position?: number },
): Finding {
  const { code, position } = problem;
  if (code === 'SHRANK' || code === 'ENOENT') {
    return makeFinding(subject, {
      kind: 'ChangedWhileReading',
      severity: 'info',
      file: segment.file,
      segment: segment.id,
      detail: { change: code === 'SHRANK' ? 'shrank' : 'vanished', judgedBytes: position ?? 0 },
    });
  }
  return makeFinding(subject, {
    kind: 'Unreadable',
    severity: 'error',
    file: segment.file,
    segment: segment.id,
    ...(position === undefined ? {} : { position }),
    detail: { reason: problem.message, code },
  });
}

function abandoned({ subject }: SegmentCheckInput, segment: SegmentFacts): Finding {
  return makeFinding(subject, {
    kind: 'AbandonedSegment',
    severity: 'warning',
    file: segment.file,
    segment: segment.id,
    position: 0,
    detail: { why: segment.size < SEGMENT_HEADER_LEN ? 'headerless' : 'empty', bytes: segment.size },
  });
}

function blankFirst({ subject }: SegmentCheckInput, segment: SegmentFacts): Finding {
  return makeFinding(subject, {
    kind: 'BlankFirstSegment',
    severity: 'warning',
    file: segment.file,
    segment: segment.id,
    position: 0,
    detail: { bytes: segment.size },
    damagedRange: { from: 0, to: segment.size },
    looksLike: segment.size === 0 ? null : 'zeros',
  });
}

/** The offsets between two segments: what the later one's base says of the earlier one's end. */
interface Gap {
  readonly expected: bigint;
  readonly found: bigint;
  /** Damage at the end of the earlier segment accounts for the missing offsets. */
  readonly explained: boolean;
}

interface Gaps {
  /** By the id of the later segment. */
  readonly at: ReadonlyMap<bigint, Gap>;
  /** By the id of the earlier one. */
  readonly behind: ReadonlyMap<bigint, Gap>;
}

function gapsOf(segments: readonly SegmentFacts[]): Gaps {
  const at = new Map<bigint, Gap>();
  const behind = new Map<bigint, Gap>();
  let before: SegmentFacts | null = null;
  for (const segment of segments) {
    if (segment.role === 'abandoned' || segment.role === 'blank-first') continue;
    const base = segment.scan?.head.header?.baseOffset ?? null;
    const expected = before === null ? null : endOf(before);
    if (before !== null && base !== null && expected !== null && base !== expected) {
      const explained = base > expected && endsInDamage(before);
      const gap = { expected, found: base, explained };
      at.set(segment.id, gap);
      behind.set(before.id, gap);
    }
    before = segment;
  }
  return { at, behind };
}

/** One past the last offset that the segment is known to have had; null when that cannot be told. */
function endOf(segment: SegmentFacts): bigint | null {
  const { scan } = segment;
  if (scan?.head.header == null || scan.records?.stopped) return null;
  if (scan.records !== null) return scan.records.nextOffset ?? scan.head.header.baseOffset;
  return scan.resumed?.nextOffset ?? null;
}

/** Damage runs to the end of the file, so that nobody knows how many records it swallowed. */
function endsInDamage(segment: SegmentFacts): boolean {
  const last = segment.scan?.records?.damages.at(-1);
  return last !== undefined && last.end === segment.size && last.end > last.position && last.lost === null;
}

function segmentFindings(input: SegmentCheckInput, segment: SegmentFacts, gaps: Gaps): Finding[] {
  const { subject, evidence } = input;
  const gap = gaps.at.get(segment.id) ?? null;
  const findings: Finding[] = [];
  if (segment.scan === null) return findings;
  const { head, records } = segment.scan;
  if (head.headerDamage !== null) {
    findings.push(headerDamage(input, segment, head.headerDamage));
    if (records?.stopped) findings.push(unreadable(input, segment, records.stopped));
    return findings;
  }
  if (gap !== null && !gap.explained) findings.push(outOfOrder(input, segment, gap));
  if (head.header!.reserved !== 0) {
    findings.push(
      makeFinding(subject, {
        kind: 'ReservedNotZero',
        severity: 'warning',
        file: segment.file,
        segment: segment.id,
        position: 28,
        detail: { found: hex32(head.header!.reserved) },
      }),
    );
  }
  const nextGap = gaps.behind.get(segment.id);
  for (const damage of records?.damages ?? []) {
    const isLast = damage === records?.damages.at(-1);
    const lost = damage.lost ?? (isLast && nextGap?.explained ? { from: nextGap.expected, to: nextGap.found } : null);
    findings.push(recordFinding(input, segment, damage, lost, evidence(segment, damage)));
  }
  if (records?.stopped) {
    findings.push(unreadable(input, segment, records.stopped));
  }
  return findings;
}

function headerDamage(input: SegmentCheckInput, segment: SegmentFacts, corruption: Corruption): Finding {
  const { kind, ...fields } = corruption;
  const { looksLike, likeness, bitFlip } = input.evidence(segment, null);
  const records = segment.scan?.records ?? null;
  const damaged = records !== null && records.records > 0 ? SEGMENT_HEADER_LEN : segment.size;
  return makeFinding(input.subject, {
    kind,
    severity: 'fatal',
    file: segment.file,
    segment: segment.id,
    position: 0,
    detail: (kind === 'SegmentHeaderChecksum' ? { ...fields, bitFlip } : fields) as FindingDetails[typeof kind],
    damagedRange: kind === 'SegmentVersion' ? null : { from: 0, to: Math.min(damaged, segment.size) },
    looksLike,
    context: { newest: segment.role === 'newest', likeness },
  });
}

/** A gap or an overlap at the start of a segment. */
function outOfOrder(input: SegmentCheckInput, segment: SegmentFacts, gap: Gap): Finding {
  const { expected, found } = gap;
  const lost = found > expected ? { from: expected, to: found } : null;
  const fill = lost === null ? undefined : input.strays.find(({ from, to }) => from < lost.to && to > lost.from);
  return makeFinding(input.subject, {
    kind: 'OffsetOutOfOrder',
    severity: 'fatal',
    file: segment.file,
    segment: segment.id,
    position: 0,
    detail: { expected, found, ...(fill === undefined ? {} : { fill: fill.file }) },
    lostOffsets: lost,
    context: { objectKey: lost === null ? null : input.objectFor(lost.from) },
  });
}

function recordFinding(
  input: SegmentCheckInput,
  segment: SegmentFacts,
  damage: Damage,
  lost: OffsetRange | null,
  evidence: DamageEvidence,
): Finding {
  const { kind, ...fields } = damage.corruption;
  const intactAfter = (segment.scan?.records?.records ?? damage.recordsBefore) - damage.recordsBefore;
  const follows = damage.corruption.kind === 'OffsetOutOfOrder' ? intactAfter - 1 : intactAfter;
  const { settings } = input.facts;
  const unwritten = segment.role === 'newest' && evidence.looksLike === 'zeros' && damage.end === segment.size;
  const first = segment.scan?.records?.damages[0];
  const cutAtOpen =
    segment.role === 'newest' && first !== undefined && isRepairable(first, segment.size, settings.repairChecksumTail);
  const detail = {
    ...fields,
    resumedAt: damage.resumedAt,
    ...(damage.offset === null ? {} : { offset: damage.offset }),
    intactAfter: follows,
    ...(evidence.bitFlip === null ? {} : { bitFlip: evidence.bitFlip }),
  };
  return makeFinding(input.subject, {
    kind,
    severity: recordSeverity(input.facts, segment, damage, cutAtOpen, follows),
    file: segment.file,
    segment: segment.id,
    position: damage.position,
    detail: detail as FindingDetails[typeof kind],
    lostOffsets: unwritten && damage.offset !== null ? { from: damage.offset, to: damage.offset } : lost,
    damagedRange: damage.end > damage.position ? { from: damage.position, to: damage.end } : null,
    looksLike: evidence.looksLike,
    context: {
      newest: segment.role === 'newest',
      cutAtOpen,
      cutWithOptIn: segment.role === 'newest' && isRepairable(damage, segment.size, true),
      intactAfter: follows,
      likeness: evidence.likeness,
      objectKey: damage.offset === null ? null : input.objectFor(damage.offset),
    },
  });
}

function recordSeverity(
  facts: ShardFacts,
  segment: SegmentFacts,
  damage: Damage,
  cutAtOpen: boolean,
  intactAfter: number,
): Severity {
  const { kind } = damage.corruption;
  if (segment.role === 'sealed') {
    const resumed = segment.scan?.resumed ?? null;
    const wholeScan = facts.settings.verifyAllOnOpen || isAheadOfEmpty(facts.segments, segment, facts.settings);
    return kind === 'Truncated' || resumed === null || wholeScan || damage.position >= resumed.position
      ? 'fatal'
      : 'error';
  }
  if (!cutAtOpen) return 'fatal';
  const isFirst = damage === segment.scan?.records?.damages[0];
  const losesNothing = isFirst && intactAfter === 0 && (kind === 'Truncated' || kind === 'RecordHeaderChecksum');
  return losesNothing ? 'warning' : 'error';
}
