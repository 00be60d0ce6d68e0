/**
 * Replicas of one shard held against each other: reads each once, record by record, and puts together what follows.
 */

import type {
  DifferingRecord,
  HistoryState,
  RecordComparison,
  RecordDifference,
  ReplicaDiff,
  ReplicaSummary,
} from '../domain/replica-diff.js';
import { fail } from '../domain/result.js';
import { decodeBallot } from '../format/ballot.js';
import { u64From } from '../format/bytes.js';
import { hex32 } from '../format/checksum.js';
import { decodeEpochs, type EpochEntry } from '../format/epochs.js';
import { parseShardName } from '../format/names.js';
import { LENGTH_MASK, RECORD_HEADER_LEN, RECORD_TAG_LEN, recordKind } from '../format/record.js';
import { decodeReplica } from '../format/replica.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { isShard, type Listing, listDirectory, statPath } from '../store/walk.js';
import { openLog } from './log-files.js';
import { type MetDifference, type MetRecord, type PairTally, RecordMerge } from './replica-merge.js';
import { ReplicaStream } from './replica-stream.js';
import { ascends, comparePair, cutVerdict, generationsOf, leaderOf } from './replicas.js';
import type { SidecarFile } from './shard-facts.js';
import { sortShardFiles } from './shard-files.js';
import { readSidecar } from './sidecar-files.js';

/** One letter for each. */
const MOST_REPLICAS = 26;
/** Offsets merged before others have their turn. */
const STEPS = 20_000;
const TOLD_DAMAGE = 100;

/** Compares the shards in two or more directories; null when interrupted. Fails for a path that is no shard. */
export async function diffEpochs(paths: readonly string[], goOn: () => Promise<boolean>): Promise<ReplicaDiff | null> {
  if (paths.length < 2) fail({ reason: 'usage', message: 'name two replicas of a shard, or more' });
  if (paths.length > MOST_REPLICAS) fail({ reason: 'usage', message: `name at most ${MOST_REPLICAS} replicas` });
  const replicas = paths.map((path, at) => new Replica(String.fromCharCode(65 + at), listingOf(path)));
  oneShard(replicas);
  const places = [...new Set(replicas.flatMap(({ entries }) => entries.map(({ startOffset }) => startOffset)))];
  const merge = new RecordMerge(
    replicas.map(({ stream }) => stream),
    places.sort((a, b) => (a < b ? -1 : 1)),
  );
  try {
    while (merge.advance(STEPS)) if (!(await goOn())) return null;
  } finally {
    for (const { stream } of replicas) stream.close();
  }
  return diffOf(replicas, merge);
}

function listingOf(path: string): Listing {
  const at = statPath(path);
  if (at === null) fail({ reason: 'usage', message: `${path}: no such directory` });
  if ('code' in at) fail({ reason: 'unreadable', message: `${path}: ${at.message}` });
  const listing = listDirectory(path);
  if (at.type === 'directory' && listing.problem !== null) {
    fail({ reason: 'unreadable', message: `${path}: ${listing.problem.message}` });
  }
  if (at.type !== 'directory' || !isShard(listing)) {
    fail({ reason: 'usage', message: `${path}: not the directory of a shard` });
  }
  return listing;
}

/** Replicas of one shard have directories of one name, where these are names of shards at all. */
function oneShard(replicas: readonly Replica[]): void {
  const named = replicas.filter(({ listing }) => parseShardName(listing.name) !== null);
  const other = named.find(({ listing }) => listing.name !== named[0]!.listing.name);
  if (other === undefined) return;
  const message = `${other.listing.path} is not a replica of ${named[0]!.listing.path}: the names of their directories differ`;
  fail({ reason: 'usage', message });
}

/** A replica while it is read. */
class Replica {
  readonly name: string;
  readonly listing: Listing;
  readonly stream: ReplicaStream;
  readonly entries: readonly EpochEntry[];
  readonly #historyState: HistoryState;
  readonly #accepted: ReplicaSummary['accepted'];
  readonly #ballot: ReplicaSummary['ballot'];

  constructor(name: string, listing: Listing) {
    const { sidecars } = sortShardFiles(listing.entries);
    this.name = name;
    this.listing = listing;
    this.stream = new ReplicaStream(openLog(listing, null, null));
    const epochs = readSidecar(sidecars.get('epochs'), 'epochs', decodeEpochs);
    const entries = epochs?.reading?.value?.entries ?? [];
    const state = stateOf(epochs);
    this.#historyState = state === 'sound' && !ascends(entries) ? 'contradictory' : state;
    this.entries = entries;
    const replica = readSidecar(sidecars.get('replica'), 'replica', decodeReplica);
    const accepted = replica?.reading?.value ?? null;
    this.#accepted = {
      state: stateOf(replica),
      generation: accepted?.generation ?? null,
      commit: accepted?.commit ?? null,
    };
    const ballot = readSidecar(sidecars.get('ballot'), 'ballot', decodeBallot);
    const cast = ballot?.reading?.value ?? null;
    this.#ballot = { state: stateOf(ballot), generation: cast?.generation ?? null, leader: cast?.leader ?? null };
  }

  summary(): ReplicaSummary {
    const { base, tail, records, damageFound, damageCount } = this.stream;
    return {
      name: this.name,
      path: this.listing.path,
      base,
      tail,
      records,
      history: { state: this.#historyState, generations: generationsOf(this.entries, tail) },
      accepted: this.#accepted,
      ballot: this.#ballot,
      damage: damageFound.slice(0, TOLD_DAMAGE),
      damageCount,
    };
  }
}

function stateOf(sidecar: SidecarFile<unknown> | null): HistoryState {
  if (sidecar === null) return 'missing';
  if (sidecar.reading === null) return 'unreadable';
  return sidecar.reading.value === null ? 'damaged' : 'sound';
}

function diffOf(replicas: readonly Replica[], merge: RecordMerge): ReplicaDiff {
  const summaries = replicas.map((replica) => replica.summary());
  const pairs = merge.pairs.map((tally) =>
    comparePair(summaries[tally.a]!, summaries[tally.b]!, recordsOf(tally, replicas)),
  );
  const leader = leaderOf(summaries);
  const followers = leader === null ? [] : summaries.filter((each) => each !== leader);
  const cuts = followers.map((follower) => {
    const names = [follower.name, leader!.name];
    const pair = pairs.find(({ a, b }) => names.includes(a) && names.includes(b))!;
    return cutVerdict(follower, leader!, pair, (offset) => merge.from(summaries.indexOf(follower), offset));
  });
  const unreadable = replicas.some(({ stream }) => stream.unreadable);
  return {
    shard: replicas[0]!.stream.log.subject.label,
    replicas: summaries,
    pairs,
    leader: leader?.name ?? null,
    cuts,
    exitCode: exitCodeFor(summaries, pairs, unreadable),
  };
}

/** 21 when they are not the same history, and no claim of sameness where damage or a failed read stands against it. */
function exitCodeFor(replicas: readonly ReplicaSummary[], pairs: ReplicaDiff['pairs'], unreadable: boolean): number {
  const apart = ['diverged', 'forked', 'not comparable'];
  if (pairs.some(({ relation }) => apart.includes(relation))) return 21;
  const is = (state: HistoryState) =>
    replicas.some(({ accepted, ballot }) => accepted.state === state || ballot.state === state);
  const history = (state: HistoryState) => replicas.some(({ history: { state: own } }) => own === state);
  if (replicas.some(({ damageCount, damage }) => damageCount > 0 && damage.some(({ kind }) => kind !== 'Unreadable'))) {
    return 21;
  }
  if (is('damaged') || history('contradictory')) return 21;
  if (unreadable || is('unreadable') || history('unreadable')) return 30;
  return history('damaged') ? 20 : 0;
}

function recordsOf(tally: PairTally, replicas: readonly Replica[]): RecordComparison {
  const { compared, differing, firstCompared, identicalTo, firstDifference, notCompared, firstNotCompared } = tally;
  const met = firstDifference;
  return {
    compared,
    differing,
    identical: firstCompared === null || identicalTo === null ? null : { from: firstCompared, to: identicalTo },
    firstDifference: met === null ? null : differenceOf(met, replicas[tally.a]!, replicas[tally.b]!),
    notCompared,
    firstNotCompared,
  };
}

function differenceOf(met: MetDifference, a: Replica, b: Replica): RecordDifference {
  const [one, other] = [differingRecord(met.a), differingRecord(met.b)];
  const what: string[] = [];
  if (one.kind !== other.kind) what.push('kind');
  if (one.timestampMicros !== other.timestampMicros) what.push('timestamp');
  if (one.payloadBytes !== other.payloadBytes) what.push('payload length');
  const content = contentDifference(met, a, b);
  what.push(...content.what);
  return { offset: met.offset, what, payloadByte: content.payloadByte, a: one, b: other };
}

function differingRecord({ file, position, words }: MetRecord): DifferingRecord {
  return {
    file,
    position,
    kind: recordKind(words[0]! >>> 0) ?? 'unknown',
    timestampMicros: u64From(words[3]! >>> 0, words[4]! >>> 0),
    payloadBytes: words[0]! & LENGTH_MASK,
    checksum: hex32(words[6]!),
  };
}

/** Tag and payload, read again for the one record at which both part. */
function contentDifference(
  met: MetDifference,
  a: Replica,
  b: Replica,
): { readonly what: readonly string[]; readonly payloadByte: number | null } {
  const sources: FileSource[] = [];
  try {
    for (const [replica, { file }] of [
      [a, met.a],
      [b, met.b],
    ] as const) {
      const entry = replica.listing.entries.find(({ name }) => name === file)!;
      sources.push(FileSource.open(entry.path, entry.size));
    }
    const windows = sources.map((source) => new Window(source, 64 * 1024)) as [Window, Window];
    const [headA, headB] = [headLength(met.a), headLength(met.b)];
    const tagged = headA !== RECORD_HEADER_LEN && headA === headB;
    const differs = tagged && !sameTag(windows, met);
    const payloadByte = firstDifferentByte(windows, met, headA, headB);
    return {
      what: [...(differs ? ['tag'] : []), ...(payloadByte === null ? [] : ['payload'])],
      payloadByte,
    };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return { what: [], payloadByte: null };
  } finally {
    for (const source of sources) source.close();
  }
}

function headLength({ words }: MetRecord): number {
  return recordKind(words[0]! >>> 0) === 'opens' ? RECORD_HEADER_LEN + RECORD_TAG_LEN : RECORD_HEADER_LEN;
}

function sameTag([a, b]: readonly [Window, Window], met: MetDifference): boolean {
  const tagOf = (window: Window, { position }: MetRecord) =>
    window.view(position + RECORD_HEADER_LEN, RECORD_TAG_LEN).slice();
  const [one, other] = [tagOf(a, met.a), tagOf(b, met.b)];
  return one.every((byte, at) => byte === other[at]);
}

/** From the start of the payload, as far as both go; null when there is none. */
function firstDifferentByte(
  [a, b]: readonly [Window, Window],
  met: MetDifference,
  headA: number,
  headB: number,
): number | null {
  const length = Math.min(met.a.recordBytes - headA, met.b.recordBytes - headB);
  for (let done = 0; done < length; ) {
    const count = Math.min(16 * 1024, length - done);
    const one = a.view(met.a.position + headA + done, count);
    const other = b.view(met.b.position + headB + done, count);
    for (let at = 0; at < count; at++) if (one[at] !== other[at]) return done + at;
    done += count;
  }
  return null;
}
