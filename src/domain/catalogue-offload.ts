/** Rows of the catalogue: the offload manifest, held against itself, the log and the objects. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { byHand, DECODE_MANIFEST, HEAL, HEAL_FROM_OBJECTS, KEEP_EVIDENCE } from './remedies.js';
import { OFFLOAD_SENTENCES } from './sentences-relations.js';
import { prose } from './wording.js';

const MANIFEST = 'offload.manifest: segments with a copy in the object store';

const OPENS = prose`It opens the shard: the manifest decodes, and its entries are believed as they stand. Reads of offloaded
  offsets go where an entry says.`;

const KEEP = byHand(
  prose`Do not edit or remove the manifest: once a local segment is gone, its entry is the only record that the offsets still
    exist. Keep offload and retention off until the contradiction is settled.`,
  'Nothing.',
);

export const OFFLOAD_ROWS = {
  ManifestOrder: {
    title: 'manifest out of order',
    severities: ['error'],
    severityRule: 'Always an error: the file verifies and contradicts itself.',
    sentence: OFFLOAD_SENTENCES.ManifestOrder,
    cause: 'The checksum holds, so it was written so: a faulty writer, or a file put together by hand.',
    evidence: 'An entry whose base offset is not above that of the entry before it.',
    broker: OPENS,
    remedies: [KEEP, DECODE_MANIFEST, KEEP_EVIDENCE],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestOrder,
  },
  ManifestOverlap: {
    title: 'offsets in two entries of the manifest',
    severities: ['error'],
    severityRule: 'Always an error: entries never overlap, and a reader may be given either object.',
    sentence: OFFLOAD_SENTENCES.ManifestOverlap,
    cause: prose`A truncation left an entry that it had to drop, and the new segment with the same offsets was copied too; or two
      manifests were joined.`,
    evidence: prose`The objects of the two entries tell: the same records are a harmless duplicate, other records a fork, of which
      the log and the other replicas show which is true.`,
    broker: OPENS,
    remedies: [KEEP, DECODE_MANIFEST, KEEP_EVIDENCE],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestOverlap,
  },
  ManifestRange: {
    title: 'manifest entry that ends before it begins',
    severities: ['error'],
    severityRule: 'Always an error: the entry covers no offset.',
    sentence: OFFLOAD_SENTENCES.ManifestRange,
    cause: 'The checksum holds, so it was written so: a faulty writer, or an empty segment that was copied.',
    evidence: 'The last offset, which is inclusive, lies under the base offset.',
    broker: OPENS,
    remedies: [KEEP, DECODE_MANIFEST, KEEP_EVIDENCE],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestRange,
  },
  ManifestKey: {
    title: 'object key that does not fit its entry',
    severities: ['warning'],
    severityRule: 'Always a warning: an object is named by its full key, whatever the key seems to say.',
    sentence: OFFLOAD_SENTENCES.ManifestKey,
    cause:
      'The directory was renamed or copied from another shard, a node took over another data directory, or a faulty writer.',
    evidence: prose`A key is node id, shard directory, then base offset and segment id of 20 digits each. A key without a node
      id is of an older build and fine.`,
    broker: OPENS,
    remedies: [DECODE_MANIFEST],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestKey,
  },
  ManifestLocal: {
    title: 'manifest and local segment disagree',
    severities: ['error'],
    severityRule: 'Always an error: an entry records a verified copy of the sealed segment, byte for byte.',
    sentence: OFFLOAD_SENTENCES.ManifestLocal,
    cause: prose`The local segment was damaged or cut after it was copied, was replaced after a truncation that left the entry, or
      the segment was copied before it was sealed.`,
    evidence: prose`When only the checksum differs and the local segment has damage of its own, the object is the good copy. When
      the local segment is sound and its records differ, the entry belongs to another history.`,
    broker: prose`It opens the shard. Retention may unlink the local segment later, and readers are then served the object.`,
    remedies: [KEEP, DECODE_MANIFEST, HEAL_FROM_OBJECTS, KEEP_EVIDENCE],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestLocal,
  },
  ManifestBeyondTail: {
    title: 'offloaded records past the end of the local log',
    severities: ['error'],
    severityRule: 'Always an error: only sealed segments are copied, so the log once reached further.',
    sentence: OFFLOAD_SENTENCES.ManifestBeyondTail,
    cause: prose`The end of the log was lost or cut by hand and the manifest was not: a truncation drops such entries before it
      touches a segment. Or the segments come from an older copy than the manifest.`,
    evidence:
      'The last offset of the entry is at or past the tail. The object may hold the only copy of those records.',
    broker: prose`It opens the shard and gives new records the offsets that the objects hold already: two histories of one
      offset. Keep it stopped.`,
    remedies: [KEEP, HEAL, HEAL_FROM_OBJECTS, DECODE_MANIFEST, KEEP_EVIDENCE],
    section: MANIFEST,
    next: NEXT_STEPS.ManifestBeyondTail,
  },
  HistoryHole: {
    title: 'offsets that are nowhere',
    severities: ['info'],
    severityRule: 'Always info: retention while offload was off leaves such a gap, and the format allows it.',
    sentence: OFFLOAD_SENTENCES.HistoryHole,
    cause: 'Retention deleted a segment that was never copied; or a manifest entry, or a segment, was lost.',
    evidence: 'The hole lies below the oldest local record, between entries or behind the last.',
    broker: 'It opens the shard; a read in the hole finds no record.',
    remedies: [DECODE_MANIFEST],
    section: MANIFEST,
    next: NEXT_STEPS.HistoryHole,
  },
  ObjectMissing: {
    title: 'object that is gone',
    severities: ['error'],
    severityRule: 'An error, and only judged when the objects are given with --objects: without them nothing is said.',
    sentence: OFFLOAD_SENTENCES.ObjectMissing,
    cause:
      'The object was deleted or never arrived, a lifecycle rule of the store removed it, or another directory was given.',
    evidence:
      'No file with the full key under the directory given. When every object is missing, suspect the directory first.',
    broker: 'It opens the shard; a read of offsets that are only in the object fails.',
    remedies: [KEEP, DECODE_MANIFEST, HEAL],
    section: MANIFEST,
    next: NEXT_STEPS.ObjectMissing,
  },
  ObjectMismatch: {
    title: 'object that is not what was copied',
    severities: ['error'],
    severityRule: 'An error, and only judged when the objects are given with --objects.',
    sentence: OFFLOAD_SENTENCES.ObjectMismatch,
    cause:
      'A partial download or upload, rot in the store, or an object overwritten by another replica under the same key.',
    evidence:
      'Size and checksum are of the whole object, first and last record of its content; the finding names what differs.',
    broker: 'It opens the shard; a read of offsets that are only in the object fails, or is served what is there.',
    remedies: [KEEP, DECODE_MANIFEST, HEAL],
    section: MANIFEST,
    next: NEXT_STEPS.ObjectMismatch,
  },
} satisfies Pick<
  Catalogue,
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
