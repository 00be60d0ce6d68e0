/** Rows of the catalogue: segment headers, and the files of a shard as files. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import {
  byHand,
  CUT_BY_DEFAULT,
  HEAL,
  HEAL_FROM_OBJECTS,
  KEEP_EVIDENCE,
  LOOK_AT_BYTES,
  SALVAGE,
  SEGMENT_HEADER,
  TURN_BIT_BACK,
} from './remedies.js';
import { SEGMENT_SENTENCES } from './sentences-segments.js';
import { prose } from './wording.js';

export const SEGMENT_ROWS = {
  SegmentMagic: {
    title: 'not a segment by its first bytes',
    severities: ['fatal'],
    severityRule: 'Always fatal: a broker reads the header of every segment at open.',
    sentence: SEGMENT_SENTENCES.SegmentMagic,
    cause: prose`The first block was zeroed or overwritten, the file was replaced by another (compressed, an index, a network
      frame), or bit rot hit the first four bytes.`,
    evidence: prose`All zeros where the first block was lost; a foreign magic where another file lies under the name (1f 8b is
      gzip, FLSI an index, FLX1 a network frame). When the rest of the header verifies but for one bit, that bit is named.`,
    broker: prose`${SEGMENT_HEADER} The one exception is a blank first segment (BlankFirstSegment).`,
    remedies: [
      HEAL,
      HEAL_FROM_OBJECTS,
      byHand(
        'When the file is whole under another form (compressed, or another file moved over it), put the true file back.',
        'Nothing, if verify then finds the segment sound.',
      ),
      SALVAGE,
      LOOK_AT_BYTES,
    ],
    section: 'Magic numbers',
    next: NEXT_STEPS.SegmentMagic,
  },
  SegmentVersion: {
    title: 'segment written by another build',
    severities: ['fatal'],
    severityRule: 'Always fatal: a reader that does not know a version refuses the file and never guesses.',
    sentence: SEGMENT_SENTENCES.SegmentVersion,
    cause: prose`The broker was downgraded after a newer build had written here, or the segment is version 1, which only
      unreleased builds wrote. Seldom, bit rot in the two bytes of the version.`,
    evidence: prose`A version just above the known ones, in the later segments of the shard, speaks for a newer build. A lone
      segment with an unlikely version (256, 771) amid segments that are known speaks for bit rot; the header's own checksum,
      bytes 24..28 over bytes 0..24, then fails too.`,
    broker: prose`It refuses to open the shard and leaves the file as it is, with any settings. A build that knows the version
      opens it. Versions 2, 3 and 4 are known here.`,
    remedies: [
      byHand(
        'Start a build that knows the version, or use a felix-fsck that does; nothing needs repair.',
        'Nothing: the records are as they were written.',
      ),
      {
        what: 'Look at the header, to tell a newer version from a flipped bit.',
        loses: 'Nothing: it only reads.',
        command: 'felix-fsck hexdump FILE --at 4',
      },
    ],
    section: 'Versioning policy',
    next: NEXT_STEPS.SegmentVersion,
  },
  SegmentFlags: {
    title: 'unknown flags in a segment header',
    severities: ['fatal'],
    severityRule: 'Always fatal: unknown bits may change the layout behind them, so they are not masked off.',
    sentence: SEGMENT_SENTENCES.SegmentFlags,
    cause: 'A build with a feature that this one does not know wrote the segment, or bit rot hit bytes 6..8.',
    evidence: prose`The header's checksum (bytes 24..28, over bytes 0..24) decides: when it verifies, a writer set the flags on
      purpose; when it fails, they are rot. The flags are looked at before the checksum, so this kind is named either way.`,
    broker: SEGMENT_HEADER,
    remedies: [
      byHand(
        'When the header checksum verifies: open the shard with the build that wrote it.',
        'Nothing: the records are as they were written.',
      ),
      HEAL,
      HEAL_FROM_OBJECTS,
      LOOK_AT_BYTES,
    ],
    section: 'Compatibility and corruption behaviour',
    next: NEXT_STEPS.SegmentFlags,
  },
  SegmentHeaderChecksum: {
    title: 'damaged segment header',
    severities: ['fatal'],
    severityRule: 'Always fatal: nothing in the header can be believed, and it is never a torn write.',
    sentence: SEGMENT_SENTENCES.SegmentHeaderChecksum,
    cause:
      'Bit rot or a partial overwrite within the first 28 bytes of the file, long after they were written and synced.',
    evidence: prose`Magic, version and flags still read well, so the base offset, the creation time or the checksum itself is
      hit. Where one flipped bit explains the failure, the finding names it. The records behind the header carry their own
      offsets and checksums and are usually sound; the first of them tells the base offset.`,
    broker: SEGMENT_HEADER,
    remedies: [HEAL, HEAL_FROM_OBJECTS, TURN_BIT_BACK, SALVAGE, LOOK_AT_BYTES],
    section: 'Segment header (32 bytes)',
    next: NEXT_STEPS.SegmentHeaderChecksum,
  },
  ReservedNotZero: {
    title: 'reserved word of a segment header in use',
    severities: ['warning'],
    severityRule: 'Always a warning: no reader looks at these four bytes.',
    sentence: SEGMENT_SENTENCES.ReservedNotZero,
    cause: 'Bit rot, or a stray write; the header checksum does not cover bytes 28..32.',
    evidence: prose`One odd bit is rot. More suggests that neighbouring bytes were written too: see whether the first record,
      at position 32, verifies.`,
    broker: 'It opens the shard and never notices.',
    remedies: [
      byHand('Leave it, and watch the disk: bytes changed that nobody wrote.', 'Nothing.'),
      { ...LOOK_AT_BYTES, command: 'felix-fsck hexdump FILE --at 28' },
    ],
    section: 'Segment header (32 bytes)',
    next: NEXT_STEPS.ReservedNotZero,
  },
  AbandonedSegment: {
    title: 'newest segment left behind by an unfinished rollover',
    severities: ['warning'],
    severityRule: 'Always a warning: recovery deletes the file by itself.',
    sentence: SEGMENT_SENTENCES.AbandonedSegment,
    cause: prose`A rollover prepares the file of the next segment ahead of use. A crash or a full disk left it without a whole
      header, or with a header that does not begin where the log ends.`,
    evidence: 'Fewer than 32 bytes, or exactly a header; the segment before it ends in good order.',
    broker: prose`While more than one segment is left, it deletes a newest segment that is shorter than a header, and an empty
      one whose base offset is not the end of the segment before it, each with its index. It logs "discarding a headerless
      segment left behind by an uninstalled rollover" or "discarding an empty segment left behind by an uninstalled
      rollover". An empty newest segment that begins at the tail stays.`,
    remedies: [
      byHand('Do nothing: the next open deletes the file.', 'No record.'),
      { ...CUT_BY_DEFAULT, loses: 'No record: the file holds none.' },
    ],
    section: 'What recovery may repair',
    next: NEXT_STEPS.AbandonedSegment,
  },
  BlankFirstSegment: {
    title: 'blank first segment',
    severities: ['warning'],
    severityRule: prose`Always a warning, and only when all of it holds: segment 0 is the only segment, it is no longer than a
      header, every byte present is zero, and replica commits nothing. Else the header is damaged and the open fails.`,
    sentence: SEGMENT_SENTENCES.BlankFirstSegment,
    cause:
      'The creation of the log failed, on a full disk say, before the header was synced and before any record could be.',
    evidence: 'At most 32 bytes, all of them zero, and no other segment in the directory.',
    broker: prose`It deletes the file and begins the log again, empty or at its placed base. A first segment longer than a header
      had a durable header: zeros there are damage to acknowledged records, and the open fails.`,
    remedies: [
      byHand('Do nothing: the next open deletes the file.', 'No record.'),
      { ...CUT_BY_DEFAULT, loses: 'No record: the file held none.' },
    ],
    section: 'What recovery may repair',
    next: NEXT_STEPS.BlankFirstSegment,
  },
  NoSegments: {
    title: 'shard directory without a segment',
    severities: ['error'],
    severityRule: 'Always an error: the shard opens, and what it held is not there.',
    sentence: SEGMENT_SENTENCES.NoSegments,
    cause: prose`The segments were moved or deleted by hand, a copy or a restore left them out, or a mount is missing. Offload
      is no explanation: only sealed segments are copied, so the newest always stays.`,
    evidence: prose`Sidecars or indexes without a segment: replica then shows how far the log was committed, epochs where its
      generations began, offload.manifest which offsets have a copy elsewhere.`,
    broker: prose`It creates segment 0 and begins an empty log at offset 0. Do not start it: the new log would stand beside
      sidecars that tell of another.`,
    remedies: [
      byHand('Keep the broker stopped and bring the segments back from where they went.', 'Nothing, if all are found.'),
      HEAL,
      KEEP_EVIDENCE,
    ],
    section: null,
    next: NEXT_STEPS.NoSegments,
  },
  SegmentFileName: {
    title: 'name that counts as a segment and cannot be opened as one',
    severities: ['fatal'],
    severityRule: 'Always fatal: the broker lists the name, opens another, and fails.',
    sentence: SEGMENT_SENTENCES.SegmentFileName,
    cause: 'A file was renamed or copied by hand or by a script, without the padding to 20 digits or with a sign.',
    evidence: prose`A name such as 7.log or +7.log. When the 20-digit file of the same id is there too, compare the two before
      either is moved.`,
    broker: prose`Any name that reads as a number before .log counts as that segment id; the file that is then opened is the
      20-digit one, and the open fails with a bare "not found".`,
    remedies: [
      byHand(
        prose`With the broker stopped, copy the file elsewhere and run inspect on the copy. When its offsets fill a gap and the
          20-digit file does not exist, rename it to the 20-digit name; otherwise move it out of the shard.`,
        'Nothing, as long as the file is moved and not deleted.',
      ),
      {
        what: 'Find out what the file holds.',
        loses: 'Nothing: it only reads.',
        command: 'felix-fsck inspect FILE',
      },
    ],
    section: 'Directory layout',
    next: NEXT_STEPS.SegmentFileName,
  },
  StrayFile: {
    title: 'file that no reader opens',
    severities: ['warning', 'info'],
    severityRule:
      'Info: a broker passes over the file. Warning for the journal of a repair by this tool that was not finished.',
    sentence: SEGMENT_SENTENCES.StrayFile,
    cause: prose`A temporary of a write that a crash stopped (.tmp), a copy or rename of a repair that was never finished (.bak,
      .repair, .broken), an index whose segment is gone, or what file systems and other systems leave (lost+found, ._*, .nfs*).
      Beside the shard, the journal of a repair by this tool (.SHARD.felix-fsck-TIME).`,
    evidence: prose`Its content, not its name, tells: a segment under another name is scanned for its offsets, and when those are
      missing from the log the finding of the gap names this file.`,
    broker:
      'It passes over the file; a temporary of its own is overwritten by the next write of the file it belongs to.',
    remedies: [
      byHand(
        'Leave it until the shard is sound: it may hold the only copy of records that the log misses.',
        'Nothing.',
      ),
      byHand(
        'Finish a repair by this tool that was cut short with apply --resume and its journal, or take it back with undo.',
        'What the plan in the journal says, and nothing more; undo brings every old byte back.',
      ),
      {
        what: 'Find out what the file holds.',
        loses: 'Nothing: it only reads.',
        command: 'felix-fsck inspect FILE',
      },
    ],
    section: 'Directory layout',
    next: NEXT_STEPS.StrayFile,
  },
} satisfies Pick<
  Catalogue,
  | 'SegmentMagic'
  | 'SegmentVersion'
  | 'SegmentFlags'
  | 'SegmentHeaderChecksum'
  | 'ReservedNotZero'
  | 'AbandonedSegment'
  | 'BlankFirstSegment'
  | 'NoSegments'
  | 'SegmentFileName'
  | 'StrayFile'
>;
