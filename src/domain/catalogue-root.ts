/** Rows of the catalogue: the data directory, its names, and what could not be read. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, COMPARE_REPLICAS, HEAL, KEEP_EVIDENCE } from './remedies.js';
import { ROOT_SENTENCES } from './sentences-files.js';
import { prose } from './wording.js';

const IDENTITY = 'storage-id and run-state: the data directory’s identity';

export const ROOT_ROWS = {
  UncleanStop: {
    title: 'stopped without saying so',
    severities: ['warning', 'info'],
    severityRule: 'A warning when the run acknowledged records before it synced them (bit 0 of the flags), else info.',
    sentence: ROOT_SENTENCES.UncleanStop,
    cause: 'The broker or the machine crashed, or the broker is running at this moment.',
    evidence: prose`run-state says running. Where the shards end in torn tails it was a crash in the middle of writes; where the
      marker and the bytes disagree, the bytes are right.`,
    broker: prose`At the next start, with bit 0 set, it writes a new storage-id before anything else, because the crash may have
      lost records that were acknowledged. Without bit 0 every record was synced before it was acknowledged.`,
    remedies: [
      byHand('Make sure that no broker runs on this directory before anything is repaired.', 'Nothing.'),
      byHand('Do not edit run-state: it is what makes the next start safe.', 'Nothing.'),
      COMPARE_REPLICAS,
    ],
    section: IDENTITY,
    next: NEXT_STEPS.UncleanStop,
  },
  StorageIdMismatch: {
    title: 'run-state of another data directory',
    severities: ['warning'],
    severityRule: 'Always a warning: the shards are judged by themselves.',
    sentence: ROOT_SENTENCES.StorageIdMismatch,
    cause: 'A part of the directory was restored or copied from elsewhere, or a start stopped between its two writes.',
    evidence: 'Two ids of 16 bytes, each from a file that verifies.',
    broker: prose`No shard depends on it. storage-id is the identity of the directory; run-state only says under which id the last
      run started.`,
    remedies: [
      byHand(
        'Find out whether the directory was restored in part: files of two times may stand side by side.',
        'Nothing.',
      ),
      KEEP_EVIDENCE,
    ],
    section: IDENTITY,
    next: NEXT_STEPS.StorageIdMismatch,
  },
  DirectoryName: {
    title: 'directory under a name that is not its own',
    severities: ['error'],
    severityRule: 'Always an error: a broker looks for a shard under exactly one name.',
    sentence: ROOT_SENTENCES.DirectoryName,
    cause:
      'The directory was renamed or restored under another name, or the key given with --shard-key is not that of this shard.',
    evidence: prose`The last 16 hex digits are the FNV-1a hash of the exact key; behind them an incarnation may follow as 16 hex
      digits more. The readable part is lossy and proves nothing.`,
    broker: 'It never looks here for that shard, and would begin an empty one under the right name.',
    remedies: [
      byHand('Check the key first: tenant, namespace, stream and shard, as the broker writes them.', 'Nothing.'),
      byHand(
        'With the broker stopped, rename the directory to the name expected, unless one of that name exists.',
        'Nothing.',
      ),
    ],
    section: 'Directory layout',
    next: NEXT_STEPS.DirectoryName,
  },
  Unreadable: {
    title: 'could not be read',
    severities: ['error'],
    severityRule: 'Always an error; by itself it gives exit code 30: what was not read is not known to be bad.',
    sentence: ROOT_SENTENCES.Unreadable,
    cause: 'A failing device (EIO), a lack of permission (EACCES, EPERM), or something that is not a regular file.',
    evidence: prose`The error of the operating system, and the place. The system's log tells whether the device reports errors.
      What was read before and behind the place is judged as ever.`,
    broker: 'It meets the same error where it reads the same bytes, and fails the open or the read.',
    remedies: [
      byHand('With EACCES or EPERM: run again as a user who may read the file.', 'Nothing.'),
      byHand(
        prose`With EIO: stop the broker, and image the device before anything else touches it, for instance with GNU ddrescue;
          then work on the image. Every further read may cost more of a dying disk.`,
        'Nothing that can still be read.',
      ),
      { ...HEAL, what: 'When the device is replaced, take what could not be read from another replica of the shard.' },
    ],
    section: null,
    next: NEXT_STEPS.Unreadable,
  },
  ChangedWhileReading: {
    title: 'changed while it was read',
    severities: ['info'],
    severityRule: 'Always info: it says something of the moment, not of the data.',
    sentence: ROOT_SENTENCES.ChangedWhileReading,
    cause: 'A broker or another program writes here at this moment.',
    evidence:
      'The file grew, shrank or went between the start and the end of reading. Only what was there at first was judged.',
    broker: 'It is probably the one that writes; a last record in flight is no damage.',
    remedies: [
      byHand('Stop the broker, or take a snapshot of the volume, and verify again.', 'Nothing.'),
      { what: 'Look again.', loses: 'Nothing: it only reads.', command: 'felix-fsck verify SHARD' },
    ],
    section: null,
    next: NEXT_STEPS.ChangedWhileReading,
  },
} satisfies Pick<
  Catalogue,
  'UncleanStop' | 'StorageIdMismatch' | 'DirectoryName' | 'Unreadable' | 'ChangedWhileReading'
>;
