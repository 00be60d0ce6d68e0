/**
 * Manifest entries against the local segments of the same id (format page, "offload.manifest").
 *
 * Only what was verified of a segment is held against its entry: where local bytes are damaged or were not read, a
 * difference is theirs to explain, and a sentence says what was left out.
 */

import { concatBytes } from '../format/bytes.js';
import { crc32, hex32 } from '../format/checksum.js';
import { fixedLength } from '../format/layout.js';
import { fieldAt } from '../format/layout-places.js';
import { MANIFEST_LAYOUT, type ManifestEntry } from '../format/manifest.js';
import { SEGMENT_HEADER_LAYOUT, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { Window } from '../scan/window.js';
import type { ByteSource } from '../store/byte-source.js';
import type { Judge } from './judgement.js';
import { logSegments, wasReadWhole } from './log.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

type Field = 'base' | 'last' | 'size' | 'oldest' | 'newest' | 'checksum';

const FIELD_AT: Readonly<Record<Field, number>> = {
  base: fieldAt(MANIFEST_LAYOUT, 'base_offset'),
  last: fieldAt(MANIFEST_LAYOUT, 'last_offset'),
  size: fieldAt(MANIFEST_LAYOUT, 'size'),
  oldest: fieldAt(MANIFEST_LAYOUT, 'oldest'),
  newest: fieldAt(MANIFEST_LAYOUT, 'newest'),
  checksum: fieldAt(MANIFEST_LAYOUT, 'checksum'),
};

interface Numbered {
  readonly entry: number;
  readonly manifest: ManifestEntry;
}

/** What is known of a segment's content; null where it was not verified. */
interface Verified {
  readonly base: bigint | null;
  readonly first: { readonly oldest: bigint | null } | null;
  readonly end: { readonly last: bigint | null; readonly newest: bigint | null } | null;
  /** Every byte was read and found sound. */
  readonly whole: boolean;
}

export function checkLocalSegments(
  judge: Judge,
  file: string,
  entries: readonly ManifestEntry[],
  facts: ShardFacts,
): void {
  const segments = logSegments(facts);
  const byId = new Map<bigint, Numbered[]>(segments.map(({ id }) => [id, []]));
  for (const [entry, manifest] of entries.entries()) byId.get(manifest.segmentId)?.push({ entry, manifest });
  for (const segment of segments) {
    const described = byId.get(segment.id)!;
    if (described.length > 0) compareSegment(judge, file, segment, described, facts);
  }
}

function compareSegment(
  judge: Judge,
  file: string,
  segment: SegmentFacts,
  described: readonly Numbered[],
  facts: ShardFacts,
): void {
  const differs = ({ entry, manifest }: Numbered, field: Field, words: () => readonly [string, string]): void => {
    if (!judge.hasRoom(file, 'ManifestLocal')) {
      judge.omit(file, 'ManifestLocal', 1);
      return;
    }
    const [says, local] = words();
    const detail = { entry, segmentId: manifest.segmentId, field, manifest: says, local };
    const position = manifest.position + FIELD_AT[field];
    judge.report({ kind: 'ManifestLocal', severity: 'error', file, position, detail });
  };
  const toSum: Numbered[] = [];
  for (const numbered of described) {
    const { manifest } = numbered;
    const verified = verifiedOf(segment, manifest);
    const compare = (field: Field, says: bigint, local: bigint | null): void => {
      if (says === local) return;
      differs(numbered, field, () => [String(says), local === null ? 'no record' : String(local)]);
    };
    if (verified.base !== null) compare('base', manifest.baseOffset, verified.base);
    if (verified.first !== null) compare('oldest', manifest.oldestMicros, verified.first.oldest);
    if (!grewSince(segment, manifest, verified)) {
      if (verified.end !== null) {
        compare('last', manifest.lastOffset, verified.end.last);
        compare('newest', manifest.newestMicros, verified.end.newest);
      }
      if (verified.whole) compare('size', manifest.size, BigInt(segment.size));
    }
    if (verified.whole && manifest.size <= BigInt(segment.size)) toSum.push(numbered);
    else if (!verified.whole) judge.skip(leftOut(segment, file));
  }
  if (toSum.length === 0) return;
  compareChecksums(judge, segment, toSum, facts, (numbered, local) =>
    differs(numbered, 'checksum', () => [hex32(numbered.manifest.checksum), hex32(local)]),
  );
}

function leftOut(segment: SegmentFacts, file: string): string {
  const state = wasReadWhole(segment) ? 'damaged' : 'not read whole';
  return `Segment ${segment.id} is ${state}, so its entry in ${file} was compared only where the segment was verified.`;
}

function verifiedOf({ scan, size }: SegmentFacts, manifest: ManifestEntry): Verified {
  const header = scan?.head.header ?? null;
  const records = scan?.records ?? null;
  const base = header?.baseOffset ?? null;
  if (base === null || records === null) return { base, first: null, end: null, whole: false };
  const first = records.damages[0];
  const whole = first === undefined && records.stopped === null;
  const firstHolds = records.firstOffset === base && (first === undefined || first.position > SEGMENT_HEADER_LEN);
  const isEmpty = whole && records.records === 0;
  const last = records.damages.at(-1);
  // Behind damage that changed no length, a record that ends with the file is the last one that was written.
  const endHolds =
    whole ||
    (records.stopped === null &&
      records.omitted.size === 0 &&
      BigInt(size) === manifest.size &&
      last !== undefined &&
      last.end < size &&
      records.damages.every(({ corruption }) => corruption.kind !== 'OffsetOutOfOrder'));
  return {
    base,
    first: firstHolds || isEmpty ? { oldest: records.firstTimestampMicros } : null,
    end: endHolds ? { last: records.lastOffset, newest: records.lastTimestampMicros } : null,
    whole,
  };
}

/** The newest segment may have been sealed before and taken up again: what was copied then is its beginning. */
function grewSince({ role, size }: SegmentFacts, manifest: ManifestEntry, { whole, end }: Verified): boolean {
  if (role !== 'newest' || !whole || end === null || end.last === null) return false;
  return BigInt(size) > manifest.size && end.last > manifest.lastOffset;
}

function compareChecksums(
  judge: Judge,
  segment: SegmentFacts,
  described: readonly Numbered[],
  facts: ShardFacts,
  differs: (numbered: Numbered, local: number) => void,
): void {
  const sizes = described.map(({ manifest }) => Number(manifest.size));
  const isKnown = ({ size, checksum }: ManifestEntry) => facts.sums?.sumOf(segment.file, Number(size)) === checksum;
  if (described.every(({ manifest }) => isKnown(manifest))) return;
  try {
    const source = facts.open(segment.file);
    try {
      const sums = prefixChecksums(source, sizes, (head) => head);
      for (const [size, crc32] of sums) facts.sums?.keepSum(segment.file, { size, crc32 });
      const reserved = segment.scan?.head.header?.reserved ?? 0;
      const cleared = reserved === 0 ? null : prefixChecksums(source, sizes, withoutReserved);
      for (const numbered of described) {
        const size = Number(numbered.manifest.size);
        const local = sums.get(size)!;
        if (local === numbered.manifest.checksum) continue;
        if (cleared?.get(size) === numbered.manifest.checksum) {
          judge.skip(`Segment ${segment.id} differs from its offloaded copy in the reserved word of its header alone.`);
        } else differs(numbered, local);
      }
    } finally {
      source.close();
    }
  } catch (failure) {
    judge.readFailed(segment.file, failure, 'its checksum was not held against the manifest');
  }
}

/** The header's last word is under no checksum of its own, and is 0 when it is written. */
function withoutReserved(head: Uint8Array): Uint8Array {
  const at = fieldAt(SEGMENT_HEADER_LAYOUT, 'reserved');
  if (head.length < fixedLength(SEGMENT_HEADER_LAYOUT)) return head;
  return concatBytes([head.subarray(0, at), new Uint8Array(SEGMENT_HEADER_LEN - at)]);
}

/** CRC-32 of the first bytes of a file for each of `sizes`, in one pass; `edit` may change the segment's header. */
function prefixChecksums(
  source: ByteSource,
  sizes: readonly number[],
  edit: (head: Uint8Array) => Uint8Array,
): Map<number, number> {
  const sums = new Map<number, number>();
  const window = new Window(source);
  let done = 0;
  let crc = 0;
  for (const size of [...new Set(sizes)].sort((a, b) => a - b)) {
    while (done < size) {
      const isHead = done < SEGMENT_HEADER_LEN;
      window.ensure(done, 1);
      const end = Math.min(size, isHead ? SEGMENT_HEADER_LEN : window.end);
      const bytes = window.view(done, end - done);
      crc = crc32(isHead && done === 0 ? edit(bytes) : bytes, crc);
      done = end;
    }
    sums.set(size, crc);
  }
  return sums;
}
