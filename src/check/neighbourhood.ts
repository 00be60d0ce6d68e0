/**
 * The bytes around the place of a finding, with the fields that the layouts name there, and where an index points: what a
 * picture of a shard shows beside the report.
 *
 * The files are read again, a few hundred bytes of each, and nothing is judged. A file that cannot be read now, or has
 * another size than the one that was checked, is left out: a picture of other bytes would be worse than none.
 */

import type { Finding } from '../domain/finding.js';
import type { SegmentReport } from '../domain/report.js';
import type { ByteRange } from '../domain/units.js';
import { BALLOT_LAYOUT } from '../format/ballot.js';
import type { ByteFeed } from '../format/bytes.js';
import { EPOCHS_LAYOUT } from '../format/epochs.js';
import { INDEX_LAYOUT } from '../format/index.js';
import { KEYS_INDEX_LAYOUT } from '../format/keys-index.js';
import { type FieldSpan, type Layout, walkFields } from '../format/layout.js';
import { MANIFEST_LAYOUT } from '../format/manifest.js';
import { indexIdOf, segmentIdOf } from '../format/names.js';
import { PRODUCERS_LAYOUT } from '../format/producers.js';
import { RECORD_LAYOUT } from '../format/record.js';
import { REPLICA_LAYOUT } from '../format/replica.js';
import { SEGMENT_HEADER_LAYOUT, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { scanIndex } from '../scan/index-scan.js';
import { bytesAt } from '../scan/pieces.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { joinShown } from '../store/walk.js';

/** A piece of a file; all positions count in the file. */
export interface Neighbourhood {
  readonly path: string;
  /** Size of the whole file. */
  readonly size: number;
  /** Position of the first byte. */
  readonly base: number;
  readonly bytes: Uint8Array;
  /** The place of the finding. */
  readonly at: number;
  readonly fields: readonly FieldSpan[];
  readonly damaged: readonly ByteRange[];
  readonly notes: readonly { readonly position: number; readonly text: string }[];
}

const ROW = 8;
const IN_FRONT = 5 * ROW;
const BEHIND = 19 * ROW;
/** Fields in front of the place that are walked over to reach it. */
const WALKED_FIELDS = 300_000;
const WINDOW_BYTES = 64 * 1024;
const SIDECAR_LAYOUTS: Readonly<Record<string, Layout>> = {
  epochs: EPOCHS_LAYOUT,
  replica: REPLICA_LAYOUT,
  ballot: BALLOT_LAYOUT,
  'offload.manifest': MANIFEST_LAYOUT,
  producers: PRODUCERS_LAYOUT,
  'keys.idx': KEYS_INDEX_LAYOUT,
};

/** Null when the finding names no place in a file, or the file is not the one that was checked. */
export function readNeighbourhood(finding: Finding, checkedBytes: number | null): Neighbourhood | null {
  const at = finding.damagedRange?.from ?? finding.site.position;
  if (finding.file === null || at === undefined) return null;
  return withFile(finding.path, null, (source) => {
    if (at >= source.size || (checkedBytes !== null && checkedBytes !== source.size)) return null;
    const base = Math.max(0, at - (at % ROW) - IN_FRONT);
    const end = Math.min(source.size, base + IN_FRONT + BEHIND);
    const damaged = finding.damagedRange === null ? [] : [finding.damagedRange];
    const feed = new Window(source, WINDOW_BYTES);
    return {
      path: finding.path,
      size: source.size,
      base,
      bytes: bytesAt(source, base, end),
      at,
      fields: fieldsWithin(finding, at, { from: base, to: end }, feed),
      damaged,
      notes: notesWithin(finding, { from: base, to: end }),
    };
  });
}

/** Where the entries of a segment's index point, in the segment: all of them, or a sample spread evenly. */
export function readIndexPositions(directory: string, { index, bytes }: SegmentReport): readonly number[] {
  if (index === null) return [];
  return withFile<readonly number[]>(joinShown(directory, index.file), [], (source) => {
    const { marks, lastKept } = scanIndex(source);
    const told = lastKept === null ? marks : [...marks, lastKept];
    const positions = told.flatMap(({ position }) => (position < BigInt(bytes) ? [Number(position)] : []));
    return [...new Set(positions)];
  });
}

function withFile<T>(path: string, otherwise: T, work: (source: FileSource) => T): T {
  let source: FileSource | null = null;
  try {
    source = FileSource.open(path);
    return work(source);
  } catch (failure) {
    if (failure instanceof ReadFailure) return otherwise;
    throw failure;
  } finally {
    source?.close();
  }
}

/** The fields of what begins at the place, as the bytes claim them, and of the intact record behind the damage. */
function fieldsWithin(finding: Finding, at: number, range: ByteRange, feed: ByteFeed): FieldSpan[] {
  const file = finding.file ?? '';
  if (segmentIdOf(file) !== null) {
    const resumed = resumedAt(finding);
    return [
      ...(range.from < SEGMENT_HEADER_LEN ? spansOf(SEGMENT_HEADER_LAYOUT, 0, range, feed) : []),
      ...(at < SEGMENT_HEADER_LEN ? [] : spansOf(RECORD_LAYOUT, at, range, feed)),
      ...(resumed === null || resumed >= range.to ? [] : spansOf(RECORD_LAYOUT, resumed, range, feed)),
    ];
  }
  const layout = indexIdOf(file) === null ? SIDECAR_LAYOUTS[file] : INDEX_LAYOUT;
  return layout === undefined ? [] : spansOf(layout, 0, range, feed);
}

function spansOf(layout: Layout, start: number, range: ByteRange, feed: ByteFeed): FieldSpan[] {
  const spans: FieldSpan[] = [];
  let walked = 0;
  for (const span of walkFields(layout, feed, start)) {
    if (span.start >= range.to || ++walked > WALKED_FIELDS) break;
    if (span.start >= range.from) spans.push(span);
  }
  return spans;
}

function resumedAt(finding: Finding): number | null {
  return 'resumedAt' in finding.detail ? (finding.detail.resumedAt ?? null) : null;
}

function notesWithin(finding: Finding, range: ByteRange): { position: number; text: string }[] {
  const { damagedRange: damaged } = finding;
  const flip = 'bitFlip' in finding.detail ? (finding.detail.bitFlip ?? null) : null;
  const resumed = resumedAt(finding);
  const notes = [
    ...(flip === null ? [] : [{ position: flip.position, text: `bit ${flip.bit} flipped, and all would be well` }]),
    ...(resumed === null ? [] : [{ position: resumed, text: 'the next intact record begins here' }]),
  ].filter(({ position }) => position >= range.from && position < range.to);
  if (damaged !== null && damaged.to > range.to) {
    notes.push({ position: range.to - 1, text: `the damage goes on up to byte ${damaged.to}` });
  }
  return notes;
}
