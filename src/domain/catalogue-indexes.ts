/** Rows of the catalogue: sparse offset indexes. They are never trusted, and every one can be made again from its segment. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, REBUILD_INDEX } from './remedies.js';
import { INDEX_SENTENCES } from './sentences-files.js';
import { prose } from './wording.js';

const REBUILT = prose`It drops the index, scans the whole segment and writes a new one. In a sealed segment that whole scan may
  meet damage that a good index would have let it pass, and then the open fails.`;

export const INDEX_ROWS = {
  IndexMagic: {
    title: 'not an index by its first bytes',
    severities: ['warning'],
    severityRule: 'Always a warning: the broker rebuilds the index.',
    sentence: INDEX_SENTENCES.IndexMagic,
    cause: 'The file was zeroed, overwritten, or never flushed before a power loss.',
    evidence: 'All zeros are unwritten space; FLSG is a segment under the name of an index.',
    broker: REBUILT,
    remedies: [REBUILD_INDEX],
    section: 'Magic numbers',
    next: NEXT_STEPS.IndexMagic,
  },
  IndexVersion: {
    title: 'index written by another build',
    severities: ['warning'],
    severityRule: 'Always a warning: the broker rebuilds the index.',
    sentence: INDEX_SENTENCES.IndexVersion,
    cause: 'A newer build wrote the index, or rot hit its bytes 4..6.',
    evidence:
      'A version other than 2, 3 and 4. When the segment has an unknown version too, the shard belongs to a newer build.',
    broker: REBUILT,
    remedies: [REBUILD_INDEX],
    section: 'Index header (24 bytes)',
    next: NEXT_STEPS.IndexVersion,
  },
  IndexFlags: {
    title: 'flags in an index header',
    severities: ['warning'],
    severityRule: 'Always a warning: no reader looks at them.',
    sentence: INDEX_SENTENCES.IndexFlags,
    cause: 'Bit rot, or a build that this one does not know.',
    evidence:
      'Bytes 6..8 are not zero. An index has no checksum, so its entries deserve a look too; they are checked one by one.',
    broker: 'It loads the index and never notices.',
    remedies: [REBUILD_INDEX],
    section: 'Index header (24 bytes)',
    next: NEXT_STEPS.IndexFlags,
  },
  IndexMissing: {
    title: 'segment without an index',
    severities: ['warning'],
    severityRule: 'Always a warning: the broker makes a new index.',
    sentence: INDEX_SENTENCES.IndexMissing,
    cause: 'The index was deleted, left out of a copy, or lost to a crash.',
    evidence: 'No .index file with the number of the segment.',
    broker: REBUILT,
    remedies: [byHand('Do nothing: the next open makes it, at the cost of a whole scan.', 'Nothing.'), REBUILD_INDEX],
    section: 'Index file',
    next: NEXT_STEPS.IndexMissing,
  },
  IndexBaseOffset: {
    title: 'index of another segment',
    severities: ['warning'],
    severityRule: 'Always a warning: the broker rebuilds the index.',
    sentence: INDEX_SENTENCES.IndexBaseOffset,
    cause: 'An index was copied or renamed, or is left from a segment that was replaced after a truncation.',
    evidence: 'The base offset at position 8 is that of another segment, or one bit away from the right one.',
    broker: REBUILT,
    remedies: [REBUILD_INDEX],
    section: 'Index header (24 bytes)',
    next: NEXT_STEPS.IndexBaseOffset,
  },
  IndexEntry: {
    title: 'index entry that is not the start of its record',
    severities: ['fatal', 'error', 'warning'],
    severityRule: prose`Fatal for the last usable entry of a sealed index when the open would fail on it. A warning in the index
      of the newest segment, which is rewritten at every open, and for an entry that the loader drops. Else an error: reads
      that start from it fail or find the wrong place.`,
    sentence: INDEX_SENTENCES.IndexEntry,
    cause: prose`Bit rot, an index left from a segment that was truncated and written again, or an index that was flushed while
      its segment was not.`,
    evidence: prose`The entry names a position where no record starts, or the record there has another offset. Suspect the index
      first: it is derived, and the segment's records prove themselves.`,
    broker: prose`At open the last entry of a sealed index is believed: the scan starts at its position, and an entry off the
      start of a record makes the open fail, although the segment is sound. An entry whose position is under 32, or that
      does not ascend over the last one kept, is dropped in silence. The index of the newest segment is always rewritten.
      With verify_all_on_open sealed segments are scanned from their start.`,
    remedies: [REBUILD_INDEX],
    section: 'Index entry (16 bytes)',
    next: NEXT_STEPS.IndexEntry,
  },
  IndexTornEntry: {
    title: 'partial last entry of an index',
    severities: ['info'],
    severityRule: 'Always info: a crash in the middle of an append leaves it, and readers expect it.',
    sentence: INDEX_SENTENCES.IndexTornEntry,
    cause: 'The process stopped while it appended an entry.',
    evidence: 'The size of the file, less 24 bytes of header, is not a multiple of 16.',
    broker: 'It reads the file up to the last whole entry.',
    remedies: [],
    section: 'Index entry (16 bytes)',
    next: NEXT_STEPS.IndexTornEntry,
  },
} satisfies Pick<
  Catalogue,
  'IndexMagic' | 'IndexVersion' | 'IndexFlags' | 'IndexMissing' | 'IndexBaseOffset' | 'IndexEntry' | 'IndexTornEntry'
>;
