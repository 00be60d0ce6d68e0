/**
 * What the generation histories of replicas say of each other, held against their records (FACTS of replication: a
 * generation ends where the next one starts; the newest one that two replicas hold is the last they cannot disagree
 * within; a conflict may be dropped only above the commit offset and within a generation that the history knows).
 *
 * Pure: it is given summaries and what the comparison of records came to, and reads nothing.
 */

import type {
  CutVerdict,
  Generation,
  PairDiff,
  RecordComparison,
  Relation,
  ReplicaSummary,
} from '../domain/replica-diff.js';
import type { OffsetRange } from '../domain/units.js';
import { counted, offsetsOf } from '../domain/wording.js';
import type { EpochEntry } from '../format/epochs.js';
import type { Stretch } from './replica-merge.js';

/** The generations of a history with their ends; the newest one ends at the tail. */
export function generationsOf(entries: readonly EpochEntry[], tail: bigint | null): Generation[] {
  return entries.map(({ generation, startOffset: start }, at) => {
    const next = entries[at + 1]?.startOffset ?? null;
    const end = next ?? (tail === null ? null : tail > start ? tail : start);
    return { generation, start, end };
  });
}

/** True when generations ascend strictly and starts do not fall. */
export function ascends(entries: readonly EpochEntry[]): boolean {
  return entries.every(({ generation, startOffset }, at) => {
    const before = entries[at - 1];
    return before === undefined || (generation > before.generation && startOffset >= before.startOffset);
  });
}

/** True when there is a history to go by. */
function hasHistory({ history }: ReplicaSummary): boolean {
  return history.state === 'sound' && history.generations.length > 0;
}

function newest({ history }: ReplicaSummary): Generation | undefined {
  return history.generations.at(-1);
}

/** Two replicas by their histories, and then by what their records say. */
export function comparePair(a: ReplicaSummary, b: ReplicaSummary, records: RecordComparison): PairDiff {
  const byHistory = hasHistory(a) && hasHistory(b);
  const shared = byHistory ? sharedGeneration(a, b) : null;
  const startsDiffer = byHistory ? differingStarts(a, b) : [];
  const ends = shared === null ? [null, null] : [shared.a.end, shared.b.end];
  const agreedTo = ends[0] === null || ends[1] === null ? null : smaller(ends[0]!, ends[1]!);
  const partial = { a: a.name, b: b.name, shared, agreedTo, startsDiffer, records };
  const relation = relationOf(a, b, partial);
  const behind = relation !== 'behind' ? null : (a.tail ?? 0n) < (b.tail ?? 0n) ? a.name : b.name;
  return { ...partial, relation, behind, notes: notesOf(a, b, partial, relation) };
}

type Partial = Omit<PairDiff, 'relation' | 'behind' | 'notes'>;

function sharedGeneration(a: ReplicaSummary, b: ReplicaSummary): PairDiff['shared'] {
  const inB = new Map(b.history.generations.map((each) => [each.generation, each]));
  const found = a.history.generations.findLast(({ generation }) => inB.has(generation));
  return found === undefined ? null : { generation: found.generation, a: found, b: inB.get(found.generation)! };
}

function differingStarts(a: ReplicaSummary, b: ReplicaSummary): PairDiff['startsDiffer'] {
  const inB = new Map(b.history.generations.map(({ generation, start }) => [generation, start]));
  return a.history.generations.flatMap(({ generation, start }) => {
    const other = inB.get(generation);
    return other === undefined || other === start ? [] : [{ generation, a: start, b: other }];
  });
}

function relationOf(a: ReplicaSummary, b: ReplicaSummary, pair: Partial): Relation {
  const { firstDifference, compared } = pair.records;
  const { agreedTo, shared } = pair;
  if (firstDifference !== null) return agreedTo !== null && firstDifference.offset < agreedTo ? 'forked' : 'diverged';
  if (pair.startsDiffer.length > 0) return 'diverged';
  const older = olderOf(a, b);
  if (agreedTo !== null && older !== null && older.tail !== null && older.tail > agreedTo) return 'diverged';
  if (compared === 0 && shared === null && !touches(a, b)) return 'not comparable';
  return a.tail === b.tail ? 'identical' : 'behind';
}

/** The one whose newest generation is older; null when both are the same, or a history is missing. */
function olderOf(a: ReplicaSummary, b: ReplicaSummary): ReplicaSummary | null {
  if (!hasHistory(a) || !hasHistory(b)) return null;
  const [inA, inB] = [newest(a)!.generation, newest(b)!.generation];
  return inA === inB ? null : inA < inB ? a : b;
}

/** Without a record that both hold: an empty log at an offset that the other one can begin to send from. */
function touches(a: ReplicaSummary, b: ReplicaSummary): boolean {
  const within = (one: ReplicaSummary, other: ReplicaSummary) =>
    one.tail !== null && other.base !== null && other.tail !== null && one.tail >= other.base && one.tail <= other.tail;
  return within(a, b) || within(b, a);
}

function notesOf(a: ReplicaSummary, b: ReplicaSummary, pair: Partial, relation: Relation): string[] {
  const notes: string[] = [];
  const { records, agreedTo, shared } = pair;
  const without = [a, b].filter((replica) => !hasHistory(replica));
  for (const replica of without) notes.push(`${replica.name} ${historyText(replica)}: compared by records alone.`);
  if (without.length === 0 && shared === null) {
    notes.push('They hold no generation in common: how far they agree is told by records alone.');
  }
  for (const { generation, a: inA, b: inB } of pair.startsDiffer) {
    notes.push(
      `Generation ${generation} starts at ${inA} on ${a.name} and at ${inB} on ${b.name}: one of the histories is wrong.`,
    );
  }
  if (relation === 'forked') {
    notes.push(
      `Their histories say that generation ${shared!.generation} or an older one wrote offset ${records.firstDifference!.offset} on both. A generation has one leader, so the rules of replication do not allow for this: nobody cuts, and which of the two is right must be settled by hand.`,
    );
  }
  const first = records.firstDifference?.offset ?? null;
  const limit = smallerOrNull(a.tail, b.tail);
  if (
    relation === 'diverged' &&
    agreedTo !== null &&
    limit !== null &&
    (first === null ? limit > agreedTo : first > agreedTo)
  ) {
    const to = first ?? limit;
    notes.push(`By their histories they part at ${agreedTo}, and their records are the same up to ${to} all the same.`);
  }
  if (records.notCompared > 0) {
    notes.push(
      `${counted(records.notCompared, 'offset')} between both ends, from ${records.firstNotCompared} on, ${records.notCompared === 1 ? 'is' : 'are'} held by one of them alone for damage or a gap, and not compared.`,
    );
  }
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    if (one.tail !== null && other.base !== null && one.tail < other.base) {
      notes.push(
        `${one.name} ends at ${one.tail}, below ${other.base} where ${other.name} begins: records alone cannot catch it up.`,
      );
    }
  }
  return notes;
}

/** Why a replica has no history to go by, to stand behind its name. */
function historyText({ history }: ReplicaSummary): string {
  switch (history.state) {
    case 'missing':
      return 'has no generation history';
    case 'damaged':
      return 'has a damaged generation history, which reads as none';
    case 'unreadable':
      return 'has a generation history that could not be read';
    case 'contradictory':
      return 'has a generation history that contradicts itself';
    case 'sound':
      return 'has a generation history without an entry';
  }
}

/** The one that the others would follow: the newest generation, then the longest log, then the first named. */
export function leaderOf(replicas: readonly ReplicaSummary[]): ReplicaSummary | null {
  let leader: ReplicaSummary | null = null;
  for (const replica of replicas.filter(hasHistory)) {
    if (leader === null) {
      leader = replica;
      continue;
    }
    const [own, best] = [newest(replica)!.generation, newest(leader)!.generation];
    if (own > best || (own === best && (replica.tail ?? 0n) > (leader.tail ?? 0n))) leader = replica;
  }
  return leader;
}

/** What `follower` would have to cut to follow `leader`; `lossFrom` counts its records from an offset on. */
export function cutVerdict(
  follower: ReplicaSummary,
  leader: ReplicaSummary,
  pair: PairDiff,
  lossFrom: (offset: bigint) => Stretch,
): CutVerdict {
  const none: CutVerdict = {
    replica: follower.name,
    leader: leader.name,
    verdict: 'undecided',
    cut: null,
    records: 0,
    bytes: 0,
    firstTimestampMicros: null,
    lastTimestampMicros: null,
    generations: [],
    underOwnCommit: null,
    underLeaderCommit: null,
    why: '',
  };
  const undecided = undecidedWhy(follower, leader, pair);
  if (undecided !== null) return { ...none, why: undecided };
  const at = pair.agreedTo!;
  const tail = follower.tail!;
  if (tail <= at) return { ...none, verdict: 'nothing', why: nothingText(follower, leader) };
  const loss = lossFrom(at);
  const generations = follower.history.generations
    .filter(({ start }) => start >= at)
    .map(({ generation }) => generation);
  const cut = { from: at, to: tail };
  const under = (commit: bigint | null): OffsetRange | null =>
    commit !== null && commit > at ? { from: at, to: smaller(commit, tail) } : null;
  const verdict: CutVerdict = {
    ...none,
    ...loss,
    verdict: 'cut',
    cut,
    generations,
    underOwnCommit: under(follower.accepted.commit),
    underLeaderCommit: under(leader.accepted.commit),
  };
  const refused = refusedWhy(follower, verdict);
  return refused === null
    ? { ...verdict, why: cutText(follower, leader, pair, verdict) }
    : { ...verdict, verdict: 'refused', why: refused };
}

function undecidedWhy(follower: ReplicaSummary, leader: ReplicaSummary, pair: PairDiff): string | null {
  if (pair.relation === 'forked') {
    return 'Records of one generation differ, which the rules do not allow for: nobody cuts.';
  }
  if (!hasHistory(follower))
    return `${follower.name} ${historyText(follower)}: a broker cannot settle a divergence by itself.`;
  if (pair.startsDiffer.length > 0) return 'The histories contradict each other about where a generation starts.';
  if (pair.shared === null) return `${follower.name} and ${leader.name} hold no generation in common.`;
  if (pair.agreedTo === null || follower.tail === null)
    return `The end of the log of ${follower.name} or ${leader.name} is not known.`;
  const { state } = follower.accepted;
  if (state !== 'sound' && state !== 'missing' && follower.tail > pair.agreedTo) {
    return `Its file replica is ${state}, so its commit offset is not known; a broker does not open the shard.`;
  }
  if (follower.base !== null && pair.agreedTo < follower.base && follower.tail > pair.agreedTo) {
    return `The cut at ${pair.agreedTo} lies below its first offset ${follower.base}: nothing would stay, which is a rebuild.`;
  }
  return null;
}

function nothingText(follower: ReplicaSummary, leader: ReplicaSummary): string {
  if (leader.tail === null || follower.tail === null || leader.tail <= follower.tail)
    return 'It holds all that is there.';
  return `It is behind: ${leader.name} would send it ${offsetsOf({ from: follower.tail, to: leader.tail })}.`;
}

/** The rules that stop a broker; null when none does. */
function refusedWhy(follower: ReplicaSummary, { cut, underOwnCommit }: CutVerdict): string | null {
  const { commit } = follower.accepted;
  if (underOwnCommit !== null) {
    return `BelowCommit: the cut at ${cut!.from} lies under its commit offset ${commit}; ${offsetsOf(underOwnCommit)} would be lost after a majority acknowledged it.`;
  }
  const older = follower.history.generations.findLast(({ start }) => start <= cut!.from);
  if (older !== undefined) return null;
  return `Its history does not tell which generation wrote offset ${cut!.from}, and a conflict may be dropped only at or after the start of its generation.`;
}

function cutText(follower: ReplicaSummary, leader: ReplicaSummary, pair: PairDiff, verdict: CutVerdict): string {
  const { generation } = pair.shared!;
  const { accepted } = follower;
  const commit =
    accepted.state === 'missing'
      ? 'it has no file replica, so nothing is known to be committed'
      : `its commit offset ${accepted.commit} is not above the cut`;
  const theirs =
    verdict.underLeaderCommit === null
      ? ''
      : ` ${leader.name} knows ${offsetsOf(verdict.underLeaderCommit)} to be committed, with its own records.`;
  const lacking =
    leader.accepted.commit === null || leader.tail === null || leader.accepted.commit <= leader.tail
      ? ''
      : ` But ${leader.name} lacks ${offsetsOf({ from: leader.tail, to: leader.accepted.commit })} of its own committed records: it should not lead.`;
  return `Generation ${generation} is the newest that both hold, and it ends at ${pair.agreedTo} on ${leader.name}; ${commit}.${theirs}${lacking}`;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function smallerOrNull(a: bigint | null, b: bigint | null): bigint | null {
  return a === null || b === null ? null : smaller(a, b);
}
