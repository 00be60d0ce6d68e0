/**
 * The bytes around a place of a file, with every field named from the layout that decodes it.
 *
 * Files of any size are fine: what is read is the neighbourhood of the place, and the way to it from where it can be told
 * what stands there. Stored checksums are shown beside computed ones. Nothing here is a verdict; `verify` gives that.
 */

import { fail } from '../domain/result.js';
import type { SidecarDamage } from '../domain/sidecar.js';
import type { ByteRange } from '../domain/units.js';
import { counted } from '../domain/wording.js';
import { INDEX_ENTRY_LEN, INDEX_HEADER_LEN, INDEX_LAYOUT } from '../format/index.js';
import { type FieldSpan, type Layout, walkFields } from '../format/layout.js';
import { indexIdOf, segmentFileName } from '../format/names.js';
import { type IndexScan, scanIndex } from '../scan/index-scan.js';
import { LongChecksums } from '../scan/long-checksum.js';
import { recordAt } from '../scan/record-at.js';
import { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { statPath } from '../store/walk.js';
import { fileKind, fileName } from './file-kind.js';
import { segmentPiece } from './hex-segment.js';
import { SIDECAR_FORMS } from './inspect-sidecar.js';

export interface HexRequest {
  readonly path: string;
  /** A byte position, or the offset of a record. */
  readonly place: { readonly at: number } | { readonly record: bigint };
  /** Bytes shown in front of and behind what stands at the place. */
  readonly context: number;
}

export interface PlacedNote {
  readonly position: number;
  readonly text: string;
}

/** A piece of a file. All positions count in the file. */
export interface NamedBytes {
  readonly path: string;
  readonly size: number;
  /** Position of the first byte. */
  readonly base: number;
  readonly bytes: Uint8Array;
  readonly at: number;
  /** In the order of their start; some may lie outside of the bytes. */
  readonly fields: readonly FieldSpan[];
  readonly damaged: readonly ByteRange[];
  readonly notes: readonly PlacedNote[];
}

/** What stands at a place: its range, its fields, and what is said of them. */
export interface Piece {
  readonly at: number;
  readonly range: ByteRange;
  readonly fields: readonly FieldSpan[];
  readonly damaged: readonly ByteRange[];
  readonly notes: readonly PlacedNote[];
}

/** A longer thing is shown around the place alone. */
const SHOWN_WHOLE = 1024;
const FEED_BYTES = 128 * 1024;
const MOST_FIELDS = 512;
/** Which entries of a larger index a broker drops is not worked out. */
const SCANNED_INDEX_BYTES = 64 * 1024 * 1024;

/** Fails for a place that is not in the file, and for a file that cannot be read there. */
export async function namedBytes(request: HexRequest, goOn: () => Promise<boolean>): Promise<NamedBytes | null> {
  const { path, place } = request;
  const facts = statPath(path);
  if (facts === null) fail({ reason: 'usage', message: `${path}: no such file` });
  if ('code' in facts) fail({ reason: 'unreadable', message: `${path}: ${facts.message}` });
  if (facts.type !== 'file') fail({ reason: 'usage', message: `${path}: not a file; name the file to look into` });
  let source: FileSource | null = null;
  try {
    source = FileSource.open(path);
    const { size } = source;
    if ('at' in place && place.at >= size) {
      fail({ reason: 'usage', message: `${path}: position ${place.at} is not in its ${counted(size, 'byte')}` });
    }
    const piece = await pieceAt(request, source, goOn);
    return piece === null ? null : shown(request, source, piece);
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return fail({ reason: 'unreadable', message: `${path}: ${failure.message} (byte ${failure.position})` });
  } finally {
    source?.close();
  }
}

async function pieceAt(request: HexRequest, source: ByteSource, goOn: () => Promise<boolean>): Promise<Piece | null> {
  const { path, place } = request;
  const feed = new Window(source, FEED_BYTES);
  const { kind, identity } = fileKind(fileName(path), feed);
  if (kind === 'segment') return segmentPiece(request, source, goOn);
  if ('record' in place) {
    fail({ reason: 'usage', message: `${path}: --record looks into segments; this is ${identity.description}` });
  }
  if (kind === 'segment-index') return indexPiece(request, place.at, source);
  const form = SIDECAR_FORMS.get(identity.kind) ?? SIDECAR_FORMS.get(kind);
  if (form === undefined) {
    const text = `This is ${identity.description}: no layout names its bytes`;
    return {
      at: place.at,
      range: { from: place.at, to: place.at + 1 },
      fields: [],
      damaged: [],
      notes: [{ position: place.at, text }],
    };
  }
  const layout = form.layoutOf(feed);
  const { damage } = (SIDECAR_FORMS.get(kind) ?? form).decode(feed);
  const walked = walkAround(layout, source, place.at, request.context);
  return {
    ...walked,
    damaged: damage.flatMap((each) => damagedBy(each, walked.fields, source.size)),
    notes: sidecarNotes(damage, walked.fields, source.size),
  };
}

/** The element or the fields that hold the place, by the layout of the whole file. */
export function walkAround(
  layout: Layout,
  source: ByteSource,
  at: number,
  context: number,
): Pick<Piece, 'at' | 'range' | 'fields'> {
  const spans: (FieldSpan & { readonly group: string })[] = [];
  const feed = new Window(source, FEED_BYTES);
  const from = Math.max(0, at - context);
  let [outside, end] = ['head', 0];
  for (const span of walkFields(layout, feed, 0, from)) {
    if (span.start > at + context + SHOWN_WHOLE || spans.length >= MOST_FIELDS) break;
    const element = elementOf(span.name);
    if (element !== null || span.start !== end) outside = 'tail';
    spans.push({ ...span, group: element ?? outside });
    end = span.end;
  }
  const holder = spans.find((span) => span.start <= at && at < span.end);
  const own = spans.filter(({ group }) => group === holder?.group);
  const range = holder === undefined ? { from: at, to: at + 1 } : { from: own[0]!.start, to: own.at(-1)!.end };
  const near = spans.filter((span) => span.end > range.from - context && span.start < range.to + context);
  return { at, range, fields: near.map(({ group: _, ...span }) => span) };
}

/** `entries[3]` of `entries[3].offset`; null for a field in no list. */
function elementOf(name: string): string | null {
  const end = name.indexOf(']');
  return end < 0 ? null : name.slice(0, end + 1);
}

function damagedBy(damage: SidecarDamage, fields: readonly FieldSpan[], size: number): ByteRange[] {
  const { position } = damage;
  const span = fields.find(({ start }) => start === position);
  switch (damage.kind) {
    case 'SidecarTruncated':
      return [];
    case 'SidecarTrailingBytes':
      return [{ from: position, to: size }];
    case 'SidecarMagic':
    case 'SidecarVersion':
    case 'SidecarChecksum':
    case 'SidecarField':
      return [{ from: position, to: span?.end ?? Math.min(size, position + 1) }];
  }
}

function sidecarNotes(damage: readonly SidecarDamage[], fields: readonly FieldSpan[], size: number): PlacedNote[] {
  const notes = damage.map((each) => ({ position: Math.min(each.position, size - 1), text: damageText(each) }));
  const crc = fields.find(({ name, partial }) => (name === 'crc' || name === 'body_crc') && !partial);
  const holds = damage.every(({ kind }) => kind === 'SidecarTrailingBytes');
  if (crc === undefined || !holds) return notes;
  return [...notes, { position: crc.start, text: `stored ${crc.value}, computed ${crc.value}: it holds` }];
}

function damageText(damage: SidecarDamage): string {
  switch (damage.kind) {
    case 'SidecarMagic':
      return `SidecarMagic: stored ${damage.found}, and this file begins with ${damage.expected}`;
    case 'SidecarVersion':
      return `SidecarVersion: stored ${damage.found}, and ${damage.known} is known: written by another build`;
    case 'SidecarTruncated':
      return `SidecarTruncated: needed ${counted(damage.needed, 'byte')} at byte ${damage.position}, ${damage.available} available`;
    case 'SidecarTrailingBytes':
      return `SidecarTrailingBytes: ${counted(damage.extra, 'byte')} behind the end of the content`;
    case 'SidecarChecksum':
      return `SidecarChecksum: stored ${damage.expected}, computed ${damage.found}: it does not hold`;
    case 'SidecarField':
      return `SidecarField: ${damage.field} ${damage.problem}`;
  }
}

function indexPiece(request: HexRequest, at: number, source: ByteSource): Piece {
  const walked = walkAround(INDEX_LAYOUT, source, at, request.context);
  const index = source.size <= SCANNED_INDEX_BYTES ? scanIndex(source) : null;
  if (index === null) {
    const text = 'whether a broker keeps this entry was not looked at: the index is very large';
    return { ...walked, damaged: [], notes: [{ position: at, text }] };
  }
  const damaged: ByteRange[] = [];
  const notes: PlacedNote[] = [];
  if (index.headerDamage !== null) {
    const { kind } = index.headerDamage;
    const range = kind === 'IndexMagic' ? { from: 0, to: 4 } : { from: 4, to: 6 };
    if (kind !== 'Truncated') damaged.push(range);
    notes.push({ position: kind === 'IndexVersion' ? 4 : 0, text: `${kind}: a broker rebuilds this index` });
  }
  const [first, last] = [walked.fields[0]?.start ?? at, walked.fields.at(-1)?.end ?? at];
  for (const { entry, why } of index.dropped) {
    const from = INDEX_HEADER_LEN + entry * INDEX_ENTRY_LEN;
    if (from + INDEX_ENTRY_LEN <= first || from >= last) continue;
    damaged.push({ from, to: from + INDEX_ENTRY_LEN });
    notes.push({ position: from, text: `IndexEntry: dropped on loading, ${why}` });
  }
  const note = index.headerDamage === null ? besideNote(request.path, walked, index) : null;
  return { ...walked, damaged, notes: note === null ? notes : [...notes, note] };
}

/** What the segment beside the index holds where the entry points. */
function besideNote(path: string, walked: Pick<Piece, 'range' | 'fields'>, index: IndexScan): PlacedNote | null {
  const id = indexIdOf(fileName(path));
  const { from } = walked.range;
  const fieldOf = (field: string) =>
    walked.fields.find(({ name, start }) => start >= from && start < from + INDEX_ENTRY_LEN && name.endsWith(field))
      ?.value;
  const [offset, position] = [fieldOf('].offset'), fieldOf('].position')];
  if (id === null || index.header === null || typeof offset !== 'bigint' || typeof position !== 'bigint') return null;
  let segment: FileSource | null = null;
  try {
    segment = FileSource.open(path.slice(0, path.length - fileName(path).length) + segmentFileName(id));
    const inside = position < BigInt(segment.size);
    const record = inside ? recordAt(new Window(segment, FEED_BYTES), new LongChecksums(), Number(position)) : null;
    const text =
      record === null
        ? `in the segment beside it no intact record starts at ${position}`
        : record.offset === offset
          ? 'the segment beside it holds this record there'
          : `in the segment beside it the record at ${position} has offset ${record.offset}`;
    return { position: from, text };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return { position: from, text: `the segment beside it was not read (${failure.code})` };
  } finally {
    segment?.close();
  }
}

/** Cuts the bytes to show out of the file. */
function shown({ path, context }: HexRequest, source: ByteSource, piece: Piece): NamedBytes {
  const { at, range, fields, damaged, notes } = piece;
  const { size } = source;
  const whole = range.to - range.from <= SHOWN_WHOLE;
  const from = Math.max(0, whole ? range.from - context : Math.max(range.from - context, at - Math.max(context, 256)));
  const to = Math.min(size, whole ? range.to + context : Math.min(range.to + context, at + Math.max(context, 256)));
  const bytes = new Window(source, Math.max(FEED_BYTES, to - from)).view(from, to - from).slice();
  const isNear = (position: number) => position >= from && position <= to;
  return {
    path,
    size,
    base: from,
    bytes,
    at,
    fields: [...fields].sort((a, b) => a.start - b.start),
    damaged: damaged.filter((each) => each.from < to && each.to > from),
    notes: notes.filter(({ position }) => isNear(position) || (position >= range.from && position < range.to)),
  };
}
