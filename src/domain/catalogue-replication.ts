/** Rows of the catalogue: generations, the commit offset and the ballot, held against the log and each other. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, COMPARE_REPLICAS, HEAL, KEEP_EVIDENCE, SALVAGE } from './remedies.js';
import { REPLICATION_SENTENCES } from './sentences-relations.js';
import { prose } from './wording.js';

const EPOCHS = 'epochs: the generation history';
const BALLOT = 'ballot: whom the generation was accepted from';

const EPOCHS_USED = prose`It opens the shard. When replication settles a divergence it takes the start of a generation from
  epochs for a truncation point, so a wrong start may cut too much or keep records that the leader does not have.`;

export const REPLICATION_ROWS = {
  EpochOrder: {
    title: 'generation history out of order',
    severities: ['error'],
    severityRule: 'Always an error: the file verifies and contradicts itself.',
    sentence: REPLICATION_SENTENCES.EpochOrder,
    cause: 'The checksum holds, so it was written so: a faulty writer, or a file put together by hand.',
    evidence: 'A generation that is not above the one before it, or a start offset under the one before it.',
    broker: EPOCHS_USED,
    remedies: [COMPARE_REPLICAS, KEEP_EVIDENCE],
    section: EPOCHS,
    next: NEXT_STEPS.EpochOrder,
  },
  EpochBeyondTail: {
    title: 'generation that begins past the end of the log',
    severities: ['error'],
    severityRule:
      'Always an error. A start equal to the tail is normal: a generation of which no record was written yet.',
    sentence: REPLICATION_SENTENCES.EpochBeyondTail,
    cause: prose`The log lost its end: segments gone or cut without their sidecars, an old copy of the segments beside a newer
      epochs, or unsynced records lost in a crash.`,
    evidence: 'The start names an offset that the log once reached: at least that many records are missing here.',
    broker: EPOCHS_USED,
    remedies: [COMPARE_REPLICAS, HEAL, KEEP_EVIDENCE],
    section: EPOCHS,
    next: NEXT_STEPS.EpochBeyondTail,
  },
  EpochCount: {
    title: 'generation history over its limit',
    severities: ['warning'],
    severityRule: 'Always a warning: the newest entries are the ones that count.',
    sentence: REPLICATION_SENTENCES.EpochCount,
    cause: 'A writer that does not know the limit of 512 entries.',
    evidence: 'The count at position 6 is above 512, and the checksum holds.',
    broker: 'It keeps at most the newest 512 entries when it next writes the file.',
    remedies: [],
    section: EPOCHS,
    next: NEXT_STEPS.EpochCount,
  },
  EpochGenerationStart: {
    title: 'log and generation history disagree',
    severities: ['error'],
    severityRule: 'Always an error: the record in the log is the stronger witness.',
    sentence: REPLICATION_SENTENCES.EpochGenerationStart,
    cause:
      'An epochs file of another copy of the shard, a write of it that was lost, or a truncation that left it alone.',
    evidence: prose`The generation-start record carries its own checksum and offset. epochs is derived from the batches and may be
      lost without losing a record.`,
    broker: EPOCHS_USED,
    remedies: [COMPARE_REPLICAS, KEEP_EVIDENCE],
    section: EPOCHS,
    next: NEXT_STEPS.EpochGenerationStart,
  },
  CommitBeyondTail: {
    title: 'committed records that are missing',
    severities: ['error'],
    severityRule: 'Always an error: a majority acknowledged these records, and this copy does not hold them.',
    sentence: REPLICATION_SENTENCES.CommitBeyondTail,
    cause: prose`Records lost after they were acknowledged: a broker that acknowledges before it syncs, a device that lied about a
      flush, segments deleted or restored from an older copy, or a cut under the commit offset.`,
    evidence: 'replica is written behind the commit, so at least these records were committed; there may be more.',
    broker: prose`It opens the shard with the shorter log. As a follower it is sent the missing records again; were it elected
      leader, committed records could be lost for good.`,
    remedies: [
      HEAL,
      byHand(
        prose`Keep this replica from becoming leader, and let it catch up from one that holds the records.`,
        'Nothing, when another replica holds them.',
      ),
      COMPARE_REPLICAS,
      SALVAGE,
    ],
    section: 'replica: the accepted generation and the commit offset',
    next: NEXT_STEPS.CommitBeyondTail,
  },
  ReplicaBehindEpochs: {
    title: 'generation known that was never accepted',
    severities: ['error'],
    severityRule: 'Always an error: a generation is accepted, on disk, before anything of it is stored.',
    sentence: REPLICATION_SENTENCES.ReplicaBehindEpochs,
    cause: 'A replica file from an older copy of the directory, or a device that lost a flushed write.',
    evidence: 'Both files verify. epochs is the one that moved on, so replica is the older.',
    broker: prose`It opens the shard, and would accept a leader of a generation that it has already seen replaced.`,
    remedies: [
      byHand('Keep this replica stopped, and rebuild it from the others.', 'Nothing, when another replica is whole.'),
      COMPARE_REPLICAS,
      KEEP_EVIDENCE,
    ],
    section: 'replica: the accepted generation and the commit offset',
    next: NEXT_STEPS.ReplicaBehindEpochs,
  },
  BallotBehind: {
    title: 'ballot of an older generation',
    severities: ['info'],
    severityRule: 'Always info: such a ballot names no leader.',
    sentence: REPLICATION_SENTENCES.BallotBehind,
    cause: 'The accepted generation was raised by a build that keeps no ballots, or without a leader being named.',
    evidence: 'The generation in ballot is under the one in replica.',
    broker: 'It opens the shard and takes no leader to be named for the accepted generation.',
    remedies: [],
    section: BALLOT,
    next: NEXT_STEPS.BallotBehind,
  },
  BallotAhead: {
    title: 'ballot ahead of the accepted generation',
    severities: ['info'],
    severityRule: 'Always info: ballot is written before replica, and a crash between the two leaves this.',
    sentence: REPLICATION_SENTENCES.BallotAhead,
    cause: 'The broker stopped between writing ballot and writing replica.',
    evidence: 'The generation in ballot is above the one in replica.',
    broker: 'It opens the shard and takes the generation of the ballot.',
    remedies: [],
    section: BALLOT,
    next: NEXT_STEPS.BallotAhead,
  },
  GenerationGivenUp: {
    title: 'generation given up after a crash',
    severities: ['info'],
    severityRule: 'Always info: the broker wrote it on purpose.',
    sentence: REPLICATION_SENTENCES.GenerationGivenUp,
    cause: 'A broker came back from a crash that may have cost it records it had acknowledged.',
    evidence: 'ballot has an empty leader.',
    broker:
      'It opens the shard and accepts no leader at that generation, itself included; only a newer one replaces it.',
    remedies: [],
    section: BALLOT,
    next: NEXT_STEPS.GenerationGivenUp,
  },
} satisfies Pick<
  Catalogue,
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
