/** Rows of the catalogue: the small files beside the segments and at the root, each judged by itself. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, COMPARE_REPLICAS, DECODE_MANIFEST, KEEP_EVIDENCE, LOOK_AT_BYTES } from './remedies.js';
import { SIDECAR_SENTENCES } from './sentences-files.js';
import { prose } from './wording.js';

const SEVERITIES = ['fatal', 'error', 'warning'] as const;

const SEVERITY_RULE = prose`In replica, ballot and offload.manifest fatal: a broker cannot rebuild them and refuses to guess. In
  storage-id, run-state and registration an error. In epochs, producers and keys.idx a warning: the broker goes on without.`;

const BROKER = prose`A replica, ballot or offload.manifest that is present and does not decode fails the open. epochs is ignored
  and reads as empty ("the generation history is unreadable and was ignored"): a divergence can then not be settled
  automatically. producers is ignored and its state replayed from the log ("the producer snapshot is unreadable; rebuilding
  producer state from the log"). keys.idx is ignored and the whole log replayed. Settings change none of this.`;

const REMEDIES = [
  byHand(
    prose`For replica and ballot: keep the broker stopped and rebuild this replica from the others. Removing the file reads as
      "nothing accepted, nothing committed", which accepts any leader and lets committed records be cut.`,
    'Nothing, when another replica is whole.',
  ),
  byHand(
    prose`For offload.manifest: bring the file back from a backup. Removing it reads as "nothing offloaded", and the offsets
      whose local segment is gone are then lost to every reader.`,
    'What was offloaded since the backup, until it is found in the object store.',
  ),
  byHand('For producers and keys.idx: do nothing, the broker makes them again.', 'Nothing but a longer open.'),
  COMPARE_REPLICAS,
  LOOK_AT_BYTES,
  DECODE_MANIFEST,
  KEEP_EVIDENCE,
];

export const SIDECAR_ROWS = {
  SidecarMagic: {
    title: 'small file with the wrong first bytes',
    severities: SEVERITIES,
    severityRule: SEVERITY_RULE,
    sentence: SIDECAR_SENTENCES.SidecarMagic,
    cause: 'The file was zeroed by a crash without a flush, overwritten, or is another file under this name.',
    evidence:
      'All zeros where the name was on disk before the content; another FL magic where two files were mixed up.',
    broker: BROKER,
    remedies: REMEDIES,
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarMagic,
  },
  SidecarVersion: {
    title: 'small file written by another build',
    severities: SEVERITIES,
    severityRule: SEVERITY_RULE,
    sentence: SIDECAR_SENTENCES.SidecarVersion,
    cause:
      'A newer build wrote the file and the broker was downgraded since; seldom, rot in the two bytes of the version.',
    evidence: prose`Several files of the shard with newer versions speak for a newer build. One file alone, whose checksum fails
      under the known layout too, speaks for rot.`,
    broker: BROKER,
    remedies: [
      byHand('Start a build that knows the version; nothing needs repair then.', 'Nothing.'),
      LOOK_AT_BYTES,
      KEEP_EVIDENCE,
    ],
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarVersion,
  },
  SidecarTruncated: {
    title: 'short small file',
    severities: SEVERITIES,
    severityRule: SEVERITY_RULE,
    sentence: SIDECAR_SENTENCES.SidecarTruncated,
    cause: prose`These files are written to a temporary and renamed, so a crash of the broker alone does not shorten them: a file
      system without ordering, a full disk during a copy, or a wrong count in the file does.`,
    evidence: 'An empty file, a cut at a block boundary, or a count that asks for more bytes than there are.',
    broker: BROKER,
    remedies: REMEDIES,
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarTruncated,
  },
  SidecarTrailingBytes: {
    title: 'bytes behind the end of a small file',
    severities: SEVERITIES,
    severityRule: `${SEVERITY_RULE} A reader of epochs ignores what follows the counted entries.`,
    sentence: SIDECAR_SENTENCES.SidecarTrailingBytes,
    cause: 'Something was appended, two files were joined, or a count in the file became too small.',
    evidence: 'The content is decoded up to its counted end; what follows is shown by hexdump.',
    broker: BROKER,
    remedies: REMEDIES,
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarTrailingBytes,
  },
  SidecarChecksum: {
    title: 'small file that fails its checksum',
    severities: SEVERITIES,
    severityRule: SEVERITY_RULE,
    sentence: SIDECAR_SENTENCES.SidecarChecksum,
    cause: 'Bit rot, a partial overwrite, or an edit by hand.',
    evidence:
      'The lengths fit and the checksum over the content does not. What can be read is shown, and is not verified.',
    broker: BROKER,
    remedies: REMEDIES,
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarChecksum,
  },
  SidecarField: {
    title: 'impossible value in a small file',
    severities: SEVERITIES,
    severityRule: SEVERITY_RULE,
    sentence: SIDECAR_SENTENCES.SidecarField,
    cause: prose`A limit on a length or a count is looked at before the checksum, and may be rot. For any other field the
      checksum holds, so these bytes were written: a faulty or newer writer, or an edit that made the checksum anew.`,
    evidence:
      'The finding names the field and what is impossible about it: a length over its limit, text that is not UTF-8.',
    broker: BROKER,
    remedies: REMEDIES,
    section: 'Directory layout',
    next: NEXT_STEPS.SidecarField,
  },
} satisfies Pick<
  Catalogue,
  'SidecarMagic' | 'SidecarVersion' | 'SidecarTruncated' | 'SidecarTrailingBytes' | 'SidecarChecksum' | 'SidecarField'
>;
