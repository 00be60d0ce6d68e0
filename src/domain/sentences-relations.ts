/** What is said where two files of a shard contradict each other. */

import type { Sentences } from './sentences.js';
import { counted, offsetsOf, printable, quoted, sentenceOf } from './wording.js';

interface Entry {
  readonly entry: number;
  readonly segmentId: bigint;
}

function entryWords({ entry, segmentId }: Entry): string {
  return `Manifest entry ${entry} (segment ${segmentId})`;
}

function leaderWords(leader: string): string {
  return leader === '' ? 'no leader' : `leader ${quoted(leader)}`;
}

export const REPLICATION_SENTENCES = {
  EpochOrder: ({ entry, generation, start, why }) =>
    sentenceOf(
      `Entry ${entry} of epochs (generation ${generation}, start offset ${start}) is out of order: ${printable(why)}`,
    ),
  EpochBeyondTail: ({ generation, start, tail }) =>
    sentenceOf(`epochs says that generation ${generation} begins at offset ${start}, past the tail at offset ${tail}`),
  EpochCount: ({ count, limit }) =>
    sentenceOf(`epochs holds ${counted(count, 'entry', 'entries')}, over the limit of ${limit} entries`),
  EpochGenerationStart: ({ generation, recordOffset, epochStart }) =>
    sentenceOf(
      `The log starts generation ${generation} at offset ${recordOffset}, where epochs ${epochStart === null ? 'does not name that generation' : `says offset ${epochStart}`}`,
    ),
  CommitBeyondTail: ({ commit, tail, missing }) =>
    sentenceOf(
      `replica says that every offset under ${commit} is committed, but the log ends at offset ${tail}`,
      missing === 1n
        ? `1 committed record is missing: offset ${tail}`
        : `${counted(missing, 'committed record')} are missing: ${offsetsOf({ from: tail, to: commit })}`,
    ),
  ReplicaBehindEpochs: ({ accepted, newest }) =>
    sentenceOf(`epochs knows generation ${newest}, above generation ${accepted} that replica says was accepted`),
  BallotBehind: ({ ballot, accepted, leader }) =>
    sentenceOf(
      `ballot names ${leaderWords(leader)} at generation ${ballot}, behind the accepted generation ${accepted}`,
      'so no leader is named for the accepted one',
    ),
  BallotAhead: ({ ballot, accepted, leader }) =>
    sentenceOf(
      `ballot names ${leaderWords(leader)} at generation ${ballot}, ahead of the accepted generation ${accepted}`,
      'a raise stopped between the two writes, and the generation of the ballot is taken',
    ),
  GenerationGivenUp: ({ generation }) =>
    sentenceOf(`ballot names no leader at generation ${generation}: the generation was given up after a crash`),
} satisfies Sentences<
  | 'EpochOrder'
  | 'EpochBeyondTail'
  | 'EpochCount'
  | 'EpochGenerationStart'
  | 'CommitBeyondTail'
  | 'ReplicaBehindEpochs'
  | 'BallotBehind'
  | 'BallotAhead'
  | 'GenerationGivenUp'
>;

export const OFFLOAD_SENTENCES = {
  ManifestOrder: (detail) => sentenceOf(`${entryWords(detail)} does not follow the entry before it by base offset`),
  ManifestOverlap: (detail) =>
    sentenceOf(`${entryWords(detail)} shares ${offsetsOf(detail.overlap)} with entry ${detail.otherEntry}`),
  ManifestRange: (detail) =>
    sentenceOf(`${entryWords(detail)} has last offset ${detail.last} under its base offset ${detail.base}`),
  ManifestKey: (detail) =>
    sentenceOf(
      `${entryWords(detail)} has object key ${quoted(detail.key)}, which is not its own: ${printable(detail.why)}`,
    ),
  ManifestLocal: (detail) =>
    sentenceOf(
      `${entryWords(detail)} says ${printable(detail.field)} ${quoted(detail.manifest)} where the local segment has ${quoted(detail.local)}`,
    ),
  ManifestBeyondTail: (detail) =>
    sentenceOf(
      `${entryWords(detail)} holds offsets through ${detail.last}, but the local log ends at offset ${detail.tail}`,
      detail.last < detail.tail
        ? null
        : `the local log lacks ${offsetsOf({ from: detail.tail, to: detail.last + 1n })}`,
    ),
  HistoryHole: (range) =>
    sentenceOf(
      `${range.to - range.from === 1n ? 'Offset' : 'Offsets'} ${range.to - range.from === 1n ? range.from : `${range.from}..${range.to}`} (${counted(range.to - range.from, 'record')}) are neither in a local segment nor in the manifest`,
    ),
  ObjectMissing: (detail) =>
    sentenceOf(`${entryWords(detail)} names object ${quoted(detail.key)}, which is not among the objects given`),
  ObjectMismatch: (detail) =>
    sentenceOf(
      `${entryWords(detail)} says ${printable(detail.field)} ${quoted(detail.manifest)} where object ${quoted(detail.key)} has ${quoted(detail.object)}`,
    ),
} satisfies Sentences<
  | 'ManifestOrder'
  | 'ManifestOverlap'
  | 'ManifestRange'
  | 'ManifestKey'
  | 'ManifestLocal'
  | 'ManifestBeyondTail'
  | 'HistoryHole'
  | 'ObjectMissing'
  | 'ObjectMismatch'
>;

export const DERIVED_SENTENCES = {
  ProducersStale: ({ asOf, base, tail }) =>
    sentenceOf(
      `producers covers the log below offset ${asOf}, which is not within offsets ${base}..${tail} of the log`,
      'no record is lost with it',
    ),
  ProducersMismatch: ({ producer, why }) =>
    sentenceOf(
      `producers disagrees with the marks in the log${producer === null ? '' : ` about producer ${producer}`}: ${printable(why)}`,
    ),
  KeysStale: ({ coveredThrough, base, tail }) =>
    sentenceOf(
      `keys.idx covers the log below offset ${coveredThrough}, which is not within offsets ${base}..${tail} of the log`,
      'no record is lost with it',
    ),
  KeysEntry: ({ entry, why, count }) =>
    sentenceOf(
      `Entry ${entry} of keys.idx is wrong: ${printable(why)}`,
      count > 1 ? `${counted(count, 'entry', 'entries')} like it` : null,
    ),
  KeysLastChecksum: ({ offset, expected, found }) =>
    sentenceOf(
      found === null
        ? `keys.idx names checksum ${printable(expected)} for the record at offset ${offset}, which is not here`
        : `keys.idx names checksum ${printable(expected)} for the record at offset ${offset}, which has ${printable(found)}`,
    ),
} satisfies Sentences<'ProducersStale' | 'ProducersMismatch' | 'KeysStale' | 'KeysEntry' | 'KeysLastChecksum'>;
