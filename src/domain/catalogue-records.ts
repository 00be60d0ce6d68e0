/** Rows of the catalogue: records. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import {
  byHand,
  COMPARE_REPLICAS,
  CUT_AT,
  CUT_BY_DEFAULT,
  CUT_WITH_OPT_IN,
  CUT_ZEROS,
  HEAL,
  HEAL_FROM_OBJECTS,
  LOOK_AT_BYTES,
  SALVAGE,
  SEALED_RECORD,
  TURN_BIT_BACK,
} from './remedies.js';
import { RECORD_SENTENCES } from './sentences-records.js';
import { prose } from './wording.js';

const SEALED_SEVERITY = prose`In a sealed segment: fatal when the open meets it (at or after the last index entry, no usable
  index, or verify_all_on_open), else error.`;

export const RECORD_ROWS = {
  Truncated: {
    title: 'unfinished record or header',
    severities: ['fatal', 'error', 'warning'],
    severityRule: prose`In the newest segment a warning, and an error when intact records follow, since recovery would cut them
      off. In a sealed segment fatal. Of an index header a warning.`,
    sentence: RECORD_SENTENCES.Truncated,
    cause: prose`The process or the machine stopped in the middle of a write: the ordinary crash. With intact records behind it,
      a full disk or a lost block in the middle of the file. In a sealed segment, a file cut short by a copy, a restore or a
      file system check.`,
    evidence: prose`The record's header verifies, so its length is the one intended, and the file ends before it; or fewer than
      28 bytes are left. Nothing can have acknowledged a record whose write was never finished.`,
    broker: prose`In the newest segment it cuts the file at the start of the record, always, and logs "repaired a torn tail in
      the active segment"; whatever follows the record goes with it. A sealed segment with a torn tail makes the open fail.
      A short index is rebuilt.`,
    remedies: [
      byHand(
        'In the newest segment with nothing intact behind: do nothing, the next open cuts it.',
        'No acknowledged record.',
      ),
      CUT_BY_DEFAULT,
      HEAL,
      HEAL_FROM_OBJECTS,
      SALVAGE,
    ],
    section: 'What recovery may repair',
    next: NEXT_STEPS.Truncated,
  },
  RecordHeaderChecksum: {
    title: 'damaged record header',
    severities: ['fatal', 'error', 'warning'],
    severityRule: prose`In the newest segment fatal, unless the broker is set to cut it: then an error, or a warning when nothing
      intact is lost. ${SEALED_SEVERITY}`,
    sentence: RECORD_SENTENCES.RecordHeaderChecksum,
    cause: prose`Unwritten space after a power loss (zeros), bit rot, or foreign bytes written over the record. The length cannot
      be trusted, so an unfinished write and a complete, acknowledged record whose header rotted look alike.`,
    evidence: prose`Zeros to the end of the file are unwritten space and no record. One flipped bit that repairs the checksum is
      named with the chance of that in random bytes. Text, a segment header or another file's magic show foreign bytes.
      The next intact record is searched for to the end of the file.`,
    broker: prose`In the newest segment it refuses to open by default. With repair_checksum_tail it cuts only when at most 28
      bytes are left from the record on, so a longer tail of zeros is never cut. ${SEALED_RECORD}`,
    remedies: [CUT_ZEROS, HEAL, HEAL_FROM_OBJECTS, TURN_BIT_BACK, CUT_WITH_OPT_IN, SALVAGE, CUT_AT, LOOK_AT_BYTES],
    section: 'What recovery may repair',
    next: NEXT_STEPS.RecordHeaderChecksum,
  },
  RecordChecksum: {
    title: 'damaged record',
    severities: ['fatal', 'error'],
    severityRule: `In the newest segment fatal, unless the broker is set to cut it: then an error. ${SEALED_SEVERITY}`,
    sentence: RECORD_SENTENCES.RecordChecksum,
    cause: prose`Bit rot, a lost or misplaced write within the record, or a page that never reached the disk. The header
      verified, so the record was written whole: it may have been acknowledged.`,
    evidence: prose`The header reads well and only tag, payload or the checksum itself differ. A block of zeros within the
      payload, at a multiple of 512 or 4,096 bytes, points to a page that was never written. One flipped bit that explains
      the failure is named.`,
    broker: prose`In the newest segment it refuses to open by default. With repair_checksum_tail it cuts the record when it is
      the last of the file. ${SEALED_RECORD}`,
    remedies: [HEAL, HEAL_FROM_OBJECTS, TURN_BIT_BACK, SALVAGE, CUT_WITH_OPT_IN, CUT_AT, LOOK_AT_BYTES],
    section: 'What recovery may repair',
    next: NEXT_STEPS.RecordChecksum,
  },
  RecordFlags: {
    title: 'impossible kind of record',
    severities: ['fatal', 'error'],
    severityRule: `In the newest segment fatal: no setting makes a broker cut it. ${SEALED_SEVERITY}`,
    sentence: RECORD_SENTENCES.RecordFlags,
    cause: prose`At most one of bits 29, 30 and 31 of the length is ever set. The header's checksum verified all the same, so a
      faulty or unknown writer made it, or damage that a 32-bit checksum did not catch.`,
    evidence: 'Two or three of the top bits of the first byte of the record are set.',
    broker: `In the newest segment it refuses to open, with repair_checksum_tail too. ${SEALED_RECORD}`,
    remedies: [HEAL, HEAL_FROM_OBJECTS, SALVAGE, CUT_AT, LOOK_AT_BYTES],
    section: 'Producer marks',
    next: NEXT_STEPS.RecordFlags,
  },
  RecordTooLarge: {
    title: 'impossible length of a record',
    severities: ['fatal', 'error'],
    severityRule: `In the newest segment fatal, unless the broker is set to cut it: then an error. ${SEALED_SEVERITY}`,
    sentence: RECORD_SENTENCES.RecordTooLarge,
    cause: prose`A writer refuses payloads over 64 MiB, and the header's checksum verified: damage that the checksum did not
      catch, or a foreign writer.`,
    evidence: 'The low 29 bits of the first four bytes exceed 67,108,864. The length is named, never used.',
    broker: prose`In the newest segment it refuses to open by default. With repair_checksum_tail it cuts the record when the
      length reaches past the end of the file. ${SEALED_RECORD}`,
    remedies: [HEAL, HEAL_FROM_OBJECTS, SALVAGE, CUT_WITH_OPT_IN, CUT_AT, LOOK_AT_BYTES],
    section: 'Limits',
    next: NEXT_STEPS.RecordTooLarge,
  },
  OffsetOutOfOrder: {
    title: 'offsets that do not continue',
    severities: ['fatal', 'error'],
    severityRule: prose`Between segments always fatal, at position 0 of the later one. In the newest segment fatal, unless the
      broker is set to cut it: then an error. ${SEALED_SEVERITY}`,
    sentence: RECORD_SENTENCES.OffsetOutOfOrder,
    cause: prose`Between segments: a segment is missing, was renamed, or survived a truncation that replaced it. Within one: two
      files were joined, a block was written to the wrong place, or a part of the file comes from another copy.`,
    evidence: prose`The record itself is intact; only its offset is not the next one. A greater offset is a gap, a smaller one
      means that offsets come twice: the same bytes are a harmless duplicate, other bytes a fork. A file beside the segments
      that would fill a gap is named.`,
    broker: prose`Between segments it refuses to open, with any settings. Within the newest segment it refuses by default; with
      repair_checksum_tail it cuts the record when it is the last of the file. ${SEALED_RECORD}`,
    remedies: [
      byHand(
        'When a file beside the segments holds the gap, look at it with inspect, and put it back under its 20-digit name.',
        'Nothing, if verify then finds the bases to continue.',
      ),
      HEAL,
      HEAL_FROM_OBJECTS,
      SALVAGE,
      CUT_WITH_OPT_IN,
      CUT_AT,
    ],
    section: 'Record',
    next: NEXT_STEPS.OffsetOutOfOrder,
  },
  RecordKindForVersion: {
    title: 'record of a kind that its segment may not hold',
    severities: ['error'],
    severityRule: 'Always an error: builds of that version may misread the record and cut it off.',
    sentence: RECORD_SENTENCES.RecordKindForVersion,
    cause: prose`A writer did not roll the segment before its first marked or generation-start record, a segment was put together
      from two, or rot hit the version of the header or a kind bit and no checksum caught it.`,
    evidence: prose`A producer mark in a segment of version 2, or a generation-start record in one of version 2 or 3. The record
      verifies otherwise.`,
    broker: prose`A current build reads the record. A build of the segment's own version sees a length past the limit, and may
      take the record for a torn tail and cut it off: do not downgrade.`,
    remedies: [
      byHand('Stay on a build that knows the kind of record, and let the log roll on.', 'Nothing.'),
      LOOK_AT_BYTES,
    ],
    section: 'Producer marks',
    next: NEXT_STEPS.RecordKindForVersion,
  },
  GenerationStartPayload: {
    title: 'generation-start record without a generation',
    severities: ['error'],
    severityRule: 'Always an error: replication reads 8 bytes there.',
    sentence: RECORD_SENTENCES.GenerationStartPayload,
    cause: 'A faulty writer: the record verifies, so these are the bytes that were written.',
    evidence: 'Bit 29 of the length is set, and the length is not 8.',
    broker: prose`It opens the shard: opening does not look into payloads, and every reader but replication skips the record.
      Which generation it starts is not known.`,
    remedies: [COMPARE_REPLICAS, LOOK_AT_BYTES],
    section: 'Generation-start records',
    next: NEXT_STEPS.GenerationStartPayload,
  },
  GenerationStartOrder: {
    title: 'generations that do not ascend along the log',
    severities: ['error'],
    severityRule: 'Always an error: a leader only ever begins a generation above the ones before it.',
    sentence: RECORD_SENTENCES.GenerationStartOrder,
    cause: 'A deposed leader wrote on, segments of two replicas were mixed, or a restored copy was continued.',
    evidence: 'Two generation-start records, each intact, the later one with the same or a lower generation.',
    broker: 'It opens the shard: the order is not looked at. Replication may settle a divergence at the wrong offset.',
    remedies: [COMPARE_REPLICAS, LOOK_AT_BYTES],
    section: 'Generation-start records',
    next: NEXT_STEPS.GenerationStartOrder,
  },
  BatchAbandoned: {
    title: 'batch cut off by another record',
    severities: ['info'],
    severityRule: 'Always info: a leader that stops partway leaves such a batch, and readers know it.',
    sentence: RECORD_SENTENCES.BatchAbandoned,
    cause: 'The leader stopped, or gave way to another, after it had written a part of the batch.',
    evidence: 'The record after the last one held does not continue the batch.',
    broker: 'It opens the shard, and does not count the batch for its producer, who may send it again.',
    remedies: [],
    section: 'Producer marks',
    next: NEXT_STEPS.BatchAbandoned,
  },
  BatchIncomplete: {
    title: 'batch still open at the tail',
    severities: ['info'],
    severityRule: 'Always info: the batch may still be completed.',
    sentence: RECORD_SENTENCES.BatchIncomplete,
    cause: 'The process stopped while it wrote the batch, or the end of the log was cut within it.',
    evidence: 'The batch opens with a length that the log ends short of.',
    broker:
      'It opens the shard, and keeps the batch waiting for its records; a record that does not continue it abandons it.',
    remedies: [],
    section: 'Producer marks',
    next: NEXT_STEPS.BatchIncomplete,
  },
  BatchOrphan: {
    title: 'continuing record with nothing to continue',
    severities: ['info'],
    severityRule: 'Always info: the record is intact and is read like any other.',
    sentence: RECORD_SENTENCES.BatchOrphan,
    cause:
      'Retention or offload removed the segment in which the batch opened, or its opening record is damaged or lost.',
    evidence: 'Bit 30 is set on the first record kept, or on one whose predecessor belongs to no open batch.',
    broker: 'It opens the shard; for the state of producers the record is unusable and is passed over.',
    remedies: [],
    section: 'Producer marks',
    next: NEXT_STEPS.BatchOrphan,
  },
  TimestampOddity: {
    title: 'odd timestamp',
    severities: ['info'],
    severityRule: 'Always info: a timestamp is a fact about a clock.',
    sentence: RECORD_SENTENCES.TimestampOddity,
    cause: 'A clock that was not set, was set wrong, or a client that counts milliseconds instead of microseconds.',
    evidence: 'Zero, before the year 2000, over a year ahead, or a thousandth of what its neighbours have.',
    broker: 'It opens the shard. Retention by age and look-up by time follow the timestamp as it is.',
    remedies: [
      {
        what: 'List the records with their times.',
        loses: 'Nothing: it only reads.',
        command: 'felix-fsck dump-records SHARD',
      },
    ],
    section: 'Record',
    next: NEXT_STEPS.TimestampOddity,
  },
} satisfies Pick<
  Catalogue,
  | 'Truncated'
  | 'RecordHeaderChecksum'
  | 'RecordChecksum'
  | 'RecordFlags'
  | 'RecordTooLarge'
  | 'OffsetOutOfOrder'
  | 'RecordKindForVersion'
  | 'GenerationStartPayload'
  | 'GenerationStartOrder'
  | 'BatchAbandoned'
  | 'BatchIncomplete'
  | 'BatchOrphan'
  | 'TimestampOddity'
>;
