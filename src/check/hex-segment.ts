/**
 * What stands at a place of a segment: its header, a record, or damage.
 *
 * The place is reached by the scan that `verify` uses, from the nearest index entry at which an intact record starts, so
 * that both tell the same damage in the same bytes.
 */

import type { Corruption } from '../domain/finding.js';
import { fail } from '../domain/result.js';
import { type ByteRange, byteCount } from '../domain/units.js';
import { bytesOf, chanceWords, lostWords } from '../domain/wording.js';
import { readU32, u64From } from '../format/bytes.js';
import { crc32, hex32 } from '../format/checksum.js';
import { type FieldSpan, type Layout, walkFields } from '../format/layout.js';
import { indexFileName, segmentIdOf } from '../format/names.js';
import { RECORD_HEADER_LEN, RECORD_LAYOUT } from '../format/record.js';
import { SEGMENT_HEADER_LAYOUT, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { recordBitFlip, segmentHeaderBitFlip } from '../scan/bit-flip.js';
import { type Seek, seekOffset, seekPosition } from '../scan/index-seek.js';
import type { Damage } from '../scan/range-scan.js';
import { type RecordConsumer, type StreamedRecord, streamRecords } from '../scan/record-stream.js';
import { drive } from '../scan/scanner.js';
import { readHead, type SegmentHead } from '../scan/segment-file.js';
import { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { fileName } from './file-kind.js';
import type { HexRequest, Piece, PlacedNote } from './hex-view.js';

const FEED_BYTES = 64 * 1024;

/** Null when interrupted. Fails for an offset that is not in the segment. Reads throw `ReadFailure`. */
export async function segmentPiece(
  request: HexRequest,
  source: ByteSource,
  goOn: () => Promise<boolean>,
): Promise<Piece | null> {
  const { place, path } = request;
  const head = readHead(source, null);
  if ('at' in place && place.at < SEGMENT_HEADER_LEN) return headerPiece(place.at, source, head);
  if (head.headerDamage?.kind === 'SegmentVersion') {
    const { found } = head.headerDamage;
    const text = `The segment is of version ${found}, written by another build: its records are not decoded`;
    if ('record' in place) fail({ reason: 'usage', message: `${path}: ${text}` });
    return {
      at: place.at,
      range: { from: place.at, to: place.at + 1 },
      fields: [],
      damaged: [],
      notes: [{ position: place.at, text }],
    };
  }
  const base = head.header?.baseOffset ?? null;
  if ('record' in place && base !== null && place.record < base) {
    const message = `${path}: offset ${place.record} is not in this segment: it begins at offset ${base}`;
    fail({ reason: 'usage', message });
  }
  const seek = withIndex(path, (index) => {
    const files = { source, index, baseOffset: base };
    return 'at' in place ? seekPosition(files, place.at) : seekOffset(files, place.record);
  });
  const finder = new Finder(place, request.context);
  const request0 = { start: seek.position, expected: seek.expected, version: head.header?.version ?? 4 };
  const scan = await drive(streamRecords(source, request0, finder), async () => !finder.done && (await goOn()));
  if (scan === null && !finder.done) return null;
  if (finder.found === null) return notFound(request, finder, scan?.stopped?.message ?? null);
  return foundPiece(source, finder, seek);
}

function withIndex<T>(path: string, use: (index: ByteSource | null) => T): T {
  const id = segmentIdOf(fileName(path));
  let index: FileSource | null = null;
  try {
    if (id !== null) index = FileSource.open(path.slice(0, path.length - fileName(path).length) + indexFileName(id));
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
  }
  try {
    return use(index);
  } finally {
    index?.close();
  }
}

function headerPiece(at: number, source: ByteSource, head: SegmentHead): Piece {
  const { headerBytes, headerDamage } = head;
  const fields = [...walkFields(SEGMENT_HEADER_LAYOUT, new Window(source, FEED_BYTES))];
  const notes: PlacedNote[] = [];
  if (headerBytes.length === SEGMENT_HEADER_LEN) {
    const [stored, computed] = [readU32(headerBytes, 24), crc32(headerBytes.subarray(0, 24))];
    notes.push({ position: 24, text: checksumText(hex32(stored), hex32(computed)) });
  }
  const damaged: ByteRange[] = [];
  if (headerDamage !== null) {
    notes.push({ position: 0, text: corruptionText(headerDamage) });
    const flip = segmentHeaderBitFlip(headerBytes);
    if (flip !== null) {
      damaged.push({ from: flip.position, to: flip.position + 1 });
      notes.push({ position: flip.position, text: flipText(flip) });
    } else damaged.push(headerRange(headerDamage, headerBytes.length));
  }
  return { at, range: { from: 0, to: Math.min(SEGMENT_HEADER_LEN, source.size) }, fields, damaged, notes };
}

function headerRange({ kind }: Corruption, size: number): ByteRange {
  switch (kind) {
    case 'SegmentMagic':
      return { from: 0, to: Math.min(4, size) };
    case 'SegmentVersion':
      return { from: 4, to: 6 };
    case 'SegmentFlags':
      return { from: 6, to: 8 };
    case 'SegmentHeaderChecksum':
      return { from: 0, to: 28 };
    default:
      return { from: 0, to: size };
  }
}

interface Found {
  readonly range: ByteRange;
  /** Null for an intact record. */
  readonly damage: Damage | null;
  readonly offset: bigint | null;
}

/** Watches a scan for what covers the place, and remembers what begins near it. */
class Finder implements RecordConsumer {
  readonly #place: HexRequest['place'];
  readonly #context: number;
  readonly #starts: { position: number; offset: bigint }[] = [];
  /** The position asked for; null when a record was. */
  readonly at: number | null;
  found: Found | null = null;
  done = false;
  /** Offsets of the records that were seen. */
  first: bigint | null = null;
  last: bigint | null = null;
  outOfOrder: Damage | null = null;

  constructor(place: HexRequest['place'], context: number) {
    this.#place = place;
    this.#context = context;
    this.at = 'at' in place ? place.at : null;
  }

  record(record: StreamedRecord): void {
    const { position, recordBytes } = record;
    if (this.found !== null && position > this.found.range.to + this.#context) {
      this.done = true;
      return;
    }
    const offset = u64From(record.offsetHigh, record.offsetLow);
    this.first ??= offset;
    this.last = offset;
    this.#remember(position, offset);
    const place = this.#place;
    const end = position + recordBytes;
    const covers = 'at' in place ? position <= place.at && place.at < end : offset === place.record;
    if (covers && this.found === null) this.found = { range: { from: position, to: end }, damage: null, offset };
  }

  // biome-ignore lint/correctness/useYield: a long record is taken like any other, and its payload is not asked for.
  *longRecord(record: StreamedRecord): Generator<number, void> {
    this.record(record);
  }

  damage(damage: Damage): void {
    const { position, end, lost, offset } = damage;
    if (end === position) {
      this.outOfOrder ??= damage;
      return;
    }
    const place = this.#place;
    const covers =
      'at' in place
        ? position <= place.at && place.at < end
        : lost === null
          ? offset !== null && place.record >= offset && damage.resumedAt === null
          : lost.from <= place.record && place.record < lost.to;
    if (covers && this.found === null) this.found = { range: { from: position, to: end }, damage, offset };
  }

  /** Beginnings of other records near what was found. */
  neighbours(): readonly { position: number; offset: bigint }[] {
    const { from, to } = this.found!.range;
    return this.#starts.filter(
      ({ position }) => position !== from && position >= from - this.#context && position < to + this.#context,
    );
  }

  #remember(position: number, offset: bigint): void {
    this.#starts.push({ position, offset });
    const horizon = (this.found?.range.from ?? position) - this.#context;
    while (this.#starts.length > 0 && this.#starts[0]!.position < horizon) this.#starts.shift();
  }
}

function notFound({ path, place }: HexRequest, finder: Finder, stopped: string | null): Piece {
  if ('record' in place) {
    const { first, last } = finder;
    if (stopped !== null) fail({ reason: 'unreadable', message: `${path}: ${stopped}` });
    const held = first === null || last === null ? 'no record was found' : `it ends at offset ${last + 1n}`;
    fail({ reason: 'usage', message: `${path}: offset ${place.record} is not in this segment: ${held}` });
  }
  const why = stopped === null ? 'nothing that is known stands here' : `the way here could not be read: ${stopped}`;
  const notes = [{ position: place.at, text: `Not known what this is part of: ${why}` }];
  return { at: place.at, range: { from: place.at, to: place.at + 1 }, fields: [], damaged: [], notes };
}

function foundPiece(source: ByteSource, finder: Finder, seek: Seek): Piece {
  const { range, damage, offset } = finder.found!;
  const at = finder.at ?? range.from;
  const fields = fieldsWithin(RECORD_LAYOUT, source, range, damage);
  const notes: PlacedNote[] = [{ position: range.from, text: titleText(finder.found!, seek) }];
  const crc = fields.find(({ name, partial }) => name === 'header_crc' && !partial);
  if (crc !== undefined) {
    const window = new Window(source, FEED_BYTES);
    const computed = hex32(crc32(window.view(range.from, 20)));
    notes.push({ position: crc.start, text: checksumText(String(crc.value), computed) });
  }
  notes.push(...bodyChecksum(fields, damage));
  if (damage !== null) notes.push(...damageNotes(source, damage, offset));
  for (const { position, offset: other } of finder.neighbours()) {
    notes.push({ position, text: `the record with offset ${other} begins` });
  }
  return { at, range, fields, damaged: damage === null ? [] : [range], notes };
}

/** Fields of the record that stands, or should stand, at the start of the range, as far as the range goes. */
function fieldsWithin(layout: Layout, source: ByteSource, range: ByteRange, damage: Damage | null): FieldSpan[] {
  const fields: FieldSpan[] = [];
  for (const span of walkFields(layout, new Window(source, FEED_BYTES), range.from)) {
    if (span.start >= range.to && span.start > range.from + RECORD_HEADER_LEN) break;
    // A length that nothing vouches for would name bytes that are none of its own.
    if (damage !== null && damage.claimedEnd === null && span.start >= range.from + RECORD_HEADER_LEN) break;
    fields.push(span);
  }
  return fields;
}

/** The checksum over the whole record, where it is known what it is over. */
function bodyChecksum(fields: readonly FieldSpan[], damage: Damage | null): PlacedNote[] {
  const field = fields.find(({ name, partial }) => name === 'checksum' && !partial);
  if (field === undefined) return [];
  if (damage === null) return [{ position: field.start, text: checksumText(String(field.value), String(field.value)) }];
  const { corruption } = damage;
  if (corruption.kind !== 'RecordChecksum') return [];
  return [{ position: field.start, text: checksumText(corruption.expected, corruption.found) }];
}

function checksumText(stored: string, computed: string): string {
  return `stored ${stored}, computed ${computed}: it ${stored === computed ? 'holds' : 'does not hold'}`;
}

function titleText({ range, damage, offset }: Found, seek: Seek): string {
  const length = bytesOf(byteCount(range));
  const way =
    seek.entry === null
      ? `found from the start of the segment${seek.unusable === null ? '' : ` (${seek.unusable})`}`
      : `found from index entry ${seek.entry.entry} at byte ${seek.position}`;
  if (damage === null) return `the record with offset ${offset} begins, ${length}; ${way}`;
  return `damage begins, ${length}; ${way}`;
}

function damageNotes(source: ByteSource, damage: Damage, offset: bigint | null): PlacedNote[] {
  const { corruption, position, end, resumedAt, lost } = damage;
  const due = offset === null ? '' : `; offset ${offset} is due here`;
  const notes = [{ position, text: corruptionText(corruption) + due }];
  const flip = recordBitFlip(source, position, source.size, offset, corruption.kind, end);
  if (flip !== null) notes.push({ position: flip.position, text: flipText(flip) });
  const then = resumedAt === null ? 'nothing intact follows in this file' : `intact again from byte ${resumedAt}`;
  const cost = lost === null ? '' : `; ${lostWords(lost)}`;
  notes.push({ position: end - 1, text: `damage ends: ${then}${cost}` });
  return notes;
}

function flipText(flip: { readonly bit: number; readonly field: string; readonly chance: number }): string {
  return `bit ${flip.bit} of this byte (field ${flip.field}), turned back, explains it; the chance that random damage looks so is ${chanceWords(flip.chance)}`;
}

function corruptionText(corruption: Corruption): string {
  const { kind, ...fields } = corruption;
  const parts = Object.entries(fields)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    .map(([name, value]) => `${name} ${value}`);
  return `${kind}: ${parts.join(', ')}`;
}
