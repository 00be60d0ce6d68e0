/** Rows of the catalogue: the two files derived from the log, the producer snapshot and a cache's key index. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, KEEP_EVIDENCE } from './remedies.js';
import { DERIVED_SENTENCES } from './sentences-relations.js';
import { prose } from './wording.js';

const PRODUCERS = 'producers: the producer snapshot';
const KEYS = 'keys.idx: a cache’s key index';

const KEYS_IGNORED =
  'It logs the failed check, ignores the file, and replays the whole log: a longer open, and no loss.';

const NOTHING_TO_DO = byHand('Do nothing: the broker makes the file again.', 'Nothing but a longer open.');

export const DERIVED_ROWS = {
  ProducersStale: {
    title: 'producer snapshot of another log',
    severities: ['warning'],
    severityRule: 'Always a warning: the snapshot is ignored.',
    sentence: DERIVED_SENTENCES.ProducersStale,
    cause: prose`Retention went past the snapshot, the log was cut and the file stayed, or the two come from different copies. The
      file is not flushed, so a crash may leave an old one.`,
    evidence: 'as_of lies under the oldest offset or past the tail of the log.',
    broker: 'It ignores the snapshot and replays the marks from the oldest record.',
    remedies: [NOTHING_TO_DO],
    section: PRODUCERS,
    next: NEXT_STEPS.ProducersStale,
  },
  ProducersMismatch: {
    title: 'producer snapshot that the log contradicts',
    severities: ['error'],
    severityRule: prose`Always an error, and only judged when the log still holds every batch that the snapshot rests on: the
      broker believes the snapshot.`,
    sentence: DERIVED_SENTENCES.ProducersMismatch,
    cause:
      'The log was truncated and written again while the snapshot stayed, or the file belongs to another copy of the shard.',
    evidence: 'Replaying the marks below as_of gives another state; the finding names the first producer that differs.',
    broker: prose`It uses the snapshot: a producer may have a new batch refused as a duplicate, or an old one accepted a second
      time.`,
    remedies: [
      byHand(
        prose`With the broker stopped, move the file producers out of the shard directory and keep it: the next open rebuilds
          the state from the log.`,
        'Nothing but a longer open.',
      ),
      KEEP_EVIDENCE,
    ],
    section: PRODUCERS,
    next: NEXT_STEPS.ProducersMismatch,
  },
  KeysStale: {
    title: 'key index of another log',
    severities: ['warning'],
    severityRule: 'Always a warning: the file is ignored.',
    sentence: DERIVED_SENTENCES.KeysStale,
    cause: 'A later pass trimmed records the file never saw, or records it did see are gone from the end of the log.',
    evidence: 'covered_through lies under the oldest offset or past the tail of the log.',
    broker: KEYS_IGNORED,
    remedies: [NOTHING_TO_DO],
    section: KEYS,
    next: NEXT_STEPS.KeysStale,
  },
  KeysEntry: {
    title: 'entry of the key index that cannot be',
    severities: ['warning'],
    severityRule: 'Always a warning: the file is ignored.',
    sentence: DERIVED_SENTENCES.KeysEntry,
    cause: 'The checksum holds, so it was written so: a faulty or newer writer, or a file of another cache shard.',
    evidence: 'An entry that points outside the log, a key that is not a cache key, or keys that are not in order.',
    broker: KEYS_IGNORED,
    remedies: [NOTHING_TO_DO],
    section: KEYS,
    next: NEXT_STEPS.KeysEntry,
  },
  KeysLastChecksum: {
    title: 'key index of another history',
    severities: ['warning'],
    severityRule: 'Always a warning: the file is ignored.',
    sentence: DERIVED_SENTENCES.KeysLastChecksum,
    cause: 'Replication cut the log back and refilled it to the same length, and the file stayed.',
    evidence: 'The record at covered_through - 1 has another checksum than the file names, or is not here.',
    broker: KEYS_IGNORED,
    remedies: [NOTHING_TO_DO],
    section: KEYS,
    next: NEXT_STEPS.KeysLastChecksum,
  },
} satisfies Pick<Catalogue, 'ProducersStale' | 'ProducersMismatch' | 'KeysStale' | 'KeysEntry' | 'KeysLastChecksum'>;
