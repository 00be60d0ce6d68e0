/**
 * Ways out that many kinds share, and the sentences on what a broker does that go with them.
 *
 * `SHARD`, `REPLICA`, `DIR`, `OBJECTS`, `FILE` and `POSITION` stand for the operator's own.
 */

import type { Remedy } from './catalogue-row.js';
import { prose } from './wording.js';

export const HEAL: Remedy = {
  what: 'Take the damaged ranges from another replica of the shard; every byte is verified before the plan names it.',
  loses: 'Nothing that the replica still holds: records at equal offsets are the same bytes on every replica.',
  command: 'felix-fsck heal SHARD --from REPLICA',
};

export const HEAL_FROM_OBJECTS: Remedy = {
  what: 'Take a sealed segment back from the object store, when the manifest names a copy of it.',
  loses: 'Nothing: the object is checked against the size and checksum in the manifest.',
  command: 'felix-fsck heal SHARD --from OBJECTS',
};

export const TURN_BIT_BACK: Remedy = {
  what: 'Where no replica helps and one flipped bit explains the damage, turn that bit back; the plan tells the chance of error.',
  loses: 'Nothing, unless other damage happens to look like one flipped bit.',
  command: 'felix-fsck heal SHARD --accept-bit-flip',
};

export const SALVAGE: Remedy = {
  what: 'Copy every intact record out into a new directory; the shard itself is not touched.',
  loses: 'The damaged records, in the copy.',
  command: 'felix-fsck salvage SHARD --to DIR',
};

export const CUT_BY_DEFAULT: Remedy = {
  what: 'Plan the cut or deletion that a broker with default settings makes, and see what goes with it first.',
  loses: 'The unfinished end of the log; the plan counts intact and committed records.',
  command: 'felix-fsck repair-tail SHARD',
};

export const CUT_WITH_OPT_IN: Remedy = {
  what: 'Plan the cut that a broker with repair_checksum_tail would make, when nothing intact follows the damage.',
  loses: 'The damaged record at the end, which may have been acknowledged.',
  command: 'felix-fsck repair-tail --allow checksum-tail SHARD',
};

export const CUT_ZEROS: Remedy = {
  what: 'Plan the cut of an end of file that is all zeros, which no broker makes by itself past 28 bytes.',
  loses: 'No record that is on this disk.',
  command: 'felix-fsck repair-tail --allow zero-tail SHARD',
};

export const CUT_AT: Remedy = {
  what: 'Plan a cut of the newest segment at the damage, when no other remedy is left.',
  loses: prose`Everything from that position on; the plan refuses when intact records would go, unless their number is given
    with --lose-intact, and always under the commit offset.`,
  command: 'felix-fsck repair-tail --cut-at POSITION SHARD',
};

export const REBUILD_INDEX: Remedy = {
  what: 'Plan new indexes, made from the records.',
  loses: 'Nothing: an index holds nothing that the segment does not.',
  command: 'felix-fsck rebuild-index SHARD',
};

export const LOOK_AT_BYTES: Remedy = {
  what: 'Look at the bytes, with every field named.',
  loses: 'Nothing: it only reads.',
  command: 'felix-fsck hexdump FILE --at POSITION',
};

export const COMPARE_REPLICAS: Remedy = {
  what: 'Compare the generation histories and records of the replicas, to see which of them agree and up to where.',
  loses: 'Nothing: it only reads.',
  command: 'felix-fsck diff-epochs SHARD REPLICA',
};

export const DECODE_MANIFEST: Remedy = {
  what: 'List the manifest and hold it against the shard beside it, and against the objects when they are at hand.',
  loses: 'Nothing: it only reads.',
  command: 'felix-fsck decode-manifest SHARD/offload.manifest --objects DIR',
};

export const KEEP_EVIDENCE: Remedy = {
  what: 'Bundle reports, headers, small files and damaged neighbourhoods for support, before anything is changed.',
  loses: 'Nothing: payloads are left out, and the shard is not touched.',
  command: 'felix-fsck evidence SHARD --to FILE',
};

/** A way out that no command of this tool takes. */
export function byHand(what: string, loses: string): Remedy {
  return { what, loses, command: null };
}

/** What a broker does about a damaged record in a sealed segment. */
export const SEALED_RECORD = prose`In a sealed segment the open fails when it meets the damage: at or after the last index
  entry, anywhere when the index does not load or has no entry, and always with verify_all_on_open. Otherwise the shard
  opens, and the first read that crosses the damage fails.`;

/** What a broker does about damage in any segment header. */
export const SEGMENT_HEADER = prose`It refuses to open the shard, in the newest segment as in a sealed one, with any
  settings: a header is synced before any record claims to live behind it, so damage there is never a torn write.`;
