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
import { INDEX_LAYOUT } from '../format/index.js';
import { type FieldSpan, type Layout, walkFields } from '../format/layout.js';
import { indexIdOf, segmentIdOf } from '../format/names.js';
import { RECORD_LAYOUT } from '../format/record.js';
import { SEGMENT_HEADER_LAYOUT, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { scanIndex } from '../scan/index-scan.js';
import { bytesAt } from '../scan/pieces.js';
import { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { joinShown } from '../store/walk.js';
import { type NamedBytes, walkAround } from './hex-view.js';
import { SIDECAR_FORMS } from './inspect-sidecar.js';

const ROW = 8;
const IN_FRONT = 5 * ROW;
const BEHIND = 19 * ROW;
const WINDOW_BYTES = 64 * 1024;

/** Null when the finding names no place in a file, or the file is not the one that was checked. */
export function readNeighbourhood(finding: Finding, checkedBytes: number | null): NamedBytes | null {
  const at = finding.damagedRange?.from ?? finding.site.position;
  if (finding.file === null || at === undefined) return null;
  return withFile<NamedBytes | null>(finding.path, null, (source) => {
    if (at >= source.size || (checkedBytes !== null && checkedBytes !== source.size)) return null;
    const base = Math.max(0, at - (at % ROW) - IN_FRONT);
    const end = Math.min(source.size, base + IN_FRONT + BEHIND);
    const damaged = finding.damagedRange === null ? [] : [finding.damagedRange];
    return {
      path: finding.path,
      size: source.size,
      base,
      bytes: bytesAt(source, base, end),
      at,
      fields: fieldsWithin(finding, at, { from: base, to: end }, source),
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
function fieldsWithin(finding: Finding, at: number, range: ByteRange, source: ByteSource): FieldSpan[] {
  const file = finding.file ?? '';
  if (segmentIdOf(file) !== null) {
    const resumed = resumedAt(finding);
    return [
      ...(range.from < SEGMENT_HEADER_LEN ? spansOf(SEGMENT_HEADER_LAYOUT, 0, range, source) : []),
      ...(at < SEGMENT_HEADER_LEN ? [] : spansOf(RECORD_LAYOUT, at, range, source)),
      ...(resumed === null || resumed >= range.to ? [] : spansOf(RECORD_LAYOUT, resumed, range, source)),
    ];
  }
  const layout =
    indexIdOf(file) === null ? SIDECAR_FORMS.get(file)?.layoutOf(new Window(source, WINDOW_BYTES)) : INDEX_LAYOUT;
  if (layout === undefined) return [];
  return walkAround(layout, source, at, IN_FRONT + BEHIND).fields.filter((span) => within(span.start, range));
}

function spansOf(layout: Layout, start: number, range: ByteRange, source: ByteSource): FieldSpan[] {
  const spans: FieldSpan[] = [];
  for (const span of walkFields(layout, new Window(source, WINDOW_BYTES), start)) {
    if (span.start >= range.to) break;
    if (within(span.start, range)) spans.push(span);
  }
  return spans;
}

function within(position: number, { from, to }: ByteRange): boolean {
  return position >= from && position < to;
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
  ].filter(({ position }) => within(position, range));
  if (damaged !== null && damaged.to > range.to) {
    notes.push({ position: range.to - 1, text: `the damage goes on up to byte ${damaged.to}` });
  }
  return notes;
}
