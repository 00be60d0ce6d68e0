/**
 * Segments as they are once their regions are cured: put together out of their own bytes and the donors', read as a whole,
 * and held to what they must be before a plan names them.
 */

import type { HealedRange, HealedSegment } from '../domain/heal.js';
import type { ContentPart } from '../domain/plan.js';
import type { IndexImage } from '../domain/plan-facts.js';
import { invariant } from '../domain/result.js';
import { type ByteRange, greater } from '../domain/units.js';
import { chanceWords, counted, offsetsOf } from '../domain/wording.js';
import { readU16, readU32, readU64 } from '../format/bytes.js';
import { crc32, hex32 } from '../format/checksum.js';
import { recordKind, versionForKind } from '../format/record.js';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  SEGMENT_HEADER_LEN,
  SEGMENT_VERSIONS,
} from '../format/segment-header.js';
import { buildIndex } from '../scan/index-build.js';
import { bytesAt, pieces } from '../scan/pieces.js';
import { mapRecords, type RecordMap } from '../scan/record-map.js';
import type { RecordVisitor } from '../scan/record-visitor.js';
import { scanRange } from '../scan/segment-scan.js';
import { type ByteSource, MemorySource } from '../store/byte-source.js';
import { ComposedSource, type SourcePart } from '../store/composed-source.js';
import { realPath } from '../store/path-facts.js';
import { curedBytes, isMissing, type Place, type Region } from './heal-regions.js';
import { ownEnd, type Slot } from './heal-slots.js';
import type { ReaderPool } from './reader-pool.js';
import type { StrandFile } from './strands.js';

/** Bytes of the new segment, in order. */
type Piece =
  | { readonly from: 'itself'; readonly start: number; readonly end: number }
  | { readonly from: 'plan'; readonly bytes: Uint8Array }
  | { readonly from: 'file'; readonly file: StrandFile; readonly start: number; readonly end: number };

export interface HealedContent {
  readonly segment: HealedSegment;
  /** The segment as it is then. */
  readonly source: ByteSource;
}

const LEAST_VERSION = 3;
const NEVER_AHEAD = 1n << 63n;

/** The new content of one segment; null when it stays as it is. Throws `ReadFailure`. */
export function healedContent(
  place: NonNullable<Place>,
  isLast: boolean,
  pool: ReaderPool,
  spacing: number,
): HealedContent | null {
  const { slot, regions } = place;
  const body = bodyOf(place, pool);
  const records = slot.own.length + regions.reduce((sum, region) => sum + partsOf(region).length, 0);
  if (records === 0) return null;
  const changed = regions.some((region) => region.cure!.how !== 'keep');
  if (!changed && slot.headerSound) return null;
  const header: Piece = slot.headerSound
    ? { from: 'itself', start: 0, end: SEGMENT_HEADER_LEN }
    : { from: 'plan', bytes: newHeader(slot, body, pool) };
  const all = merged([header, ...body]);
  const source = composed(all, slot, pool);
  const end = hold(place, source, isLast);
  const stays = regions.some(({ cure, atEnd }) => cure!.how === 'keep' && !(isLast && atEnd));
  return {
    source,
    segment: {
      id: slot.id,
      file: slot.name,
      state: { size: source.size, crc32: hex32(crcOf(source, 0, source.size)) },
      content: all.map((piece) => contentPart(piece, pool)),
      ranges: rangesOf(place),
      why: whyOf(place),
      index: stays ? null : indexOf(source, slot.name, end, spacing),
    },
  };
}

function partsOf({ cure }: Region) {
  return cure?.how === 'donors' ? cure.parts : [];
}

/** Everything behind the header. */
function bodyOf({ slot, regions }: NonNullable<Place>, pool: ReaderPool): Piece[] {
  const items: { readonly at: number; readonly order: number; readonly pieces: Piece[] }[] = [
    ...slot.own.map(({ start, end }) => ({ at: start, order: 1, pieces: [{ from: 'itself', start, end } as const] })),
    ...regions.map((region) => ({ at: region.start, order: 0, pieces: curedPieces(region, pool) })),
  ];
  return items.sort((a, b) => a.at - b.at || a.order - b.order).flatMap((item) => item.pieces);
}

function curedPieces(region: Region, pool: ReaderPool): Piece[] {
  const { cure, start, end, slot } = region;
  const itself: Piece = { from: 'itself', start, end };
  switch (cure!.how) {
    case 'keep':
      return [itself];
    case 'drop':
      return [];
    case 'donors':
      return cure!.parts.map(({ file, start: from, end: to }) => ({ from: 'file', file, start: from, end: to }));
    case 'flip': {
      const { position, bit } = cure!.flip;
      const turned = bytesAt(pool.sourceOf(slot.file!), position, position + 1);
      turned[0]! ^= 1 << bit;
      return [
        { from: 'itself', start, end: position },
        { from: 'plan', bytes: turned },
        { from: 'itself', start: position + 1, end },
      ];
    }
  }
}

/** Neighbours that are one piece of their file become one. */
function merged(list: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of list) {
    if (lengthOf(piece) === 0) continue;
    const last = result.at(-1);
    if (last?.from === 'itself' && piece.from === 'itself' && last.end === piece.start) {
      result[result.length - 1] = { ...last, end: piece.end };
    } else result.push(piece);
  }
  return result;
}

function lengthOf(piece: Piece): number {
  return piece.from === 'plan' ? piece.bytes.length : piece.end - piece.start;
}

function composed(list: readonly Piece[], slot: Slot, pool: ReaderPool): ComposedSource {
  return new ComposedSource(
    list.map((piece): SourcePart => {
      if (piece.from === 'plan') {
        const held = new MemorySource(piece.bytes);
        return { source: () => held, start: 0, end: piece.bytes.length };
      }
      const file = piece.from === 'itself' ? slot.file! : piece.file;
      return { source: () => pool.sourceOf(file), start: piece.start, end: piece.end };
    }),
  );
}

function contentPart(piece: Piece, pool: ReaderPool): ContentPart {
  if (piece.from === 'itself') return piece;
  if (piece.from === 'plan') return { from: 'plan', base64: Buffer.from(piece.bytes).toString('base64') };
  const { file, start, end } = piece;
  const path = realPath(file.path) ?? file.path;
  return { from: 'file', path, start, end, crc32: hex32(crcOf(pool.sourceOf(file), start, end)) };
}

function crcOf(source: ByteSource, start: number, end: number): number {
  let crc = 0;
  for (const piece of pieces(source, start, end)) crc = crc32(piece, crc);
  return crc;
}

/** The base is what the chain demands; the rest of the old header is kept where its checksum bears it out. */
function newHeader(slot: Slot, body: readonly Piece[], pool: ReaderPool): Uint8Array {
  const provisional = encodeSegmentHeader({ version: 4, baseOffset: slot.base, createdAtMicros: 0n, reserved: 0 });
  const source = composed([{ from: 'plan', bytes: provisional }, ...merged(body)], slot, pool);
  const facts = recordFacts(source, slot.base);
  const old = slot.file?.map?.headerBytes ?? new Uint8Array();
  const kept = old.length < SEGMENT_HEADER_LEN ? null : keptHeader(old, slot.base, facts.version);
  if (kept !== null) return kept;
  // A donor's segment that begins with the same record is the likeliest twin; else only the first record has a time.
  const [first] = body;
  const isTwin = first?.from === 'file' && first.start === SEGMENT_HEADER_LEN && first.file.map?.header != null;
  const twin = isTwin && first.file.map!.header!.baseOffset === slot.base ? first.file.map!.header! : null;
  return encodeSegmentHeader({
    version: Math.max(twin?.version ?? LEAST_VERSION, facts.version),
    baseOffset: slot.base,
    createdAtMicros: twin?.createdAtMicros ?? facts.firstMicros,
    reserved: 0,
  });
}

/** The header that was there, when putting right its magic, version, flags and base makes its checksum hold. */
function keptHeader(old: Uint8Array, baseOffset: bigint, leastVersion: number): Uint8Array | null {
  const createdAtMicros = readU64(old, 16);
  for (const version of new Set([readU16(old, 4), ...SEGMENT_VERSIONS])) {
    if (!SEGMENT_VERSIONS.includes(version) || version < leastVersion) continue;
    const candidate = encodeSegmentHeader({ version, baseOffset, createdAtMicros, reserved: 0 });
    if (readU32(candidate, 24) === readU32(old, 24)) return candidate;
  }
  return null;
}

/** The lowest version that may hold all records, and the time of the first. */
function recordFacts(source: ByteSource, base: bigint): { version: number; firstMicros: bigint } {
  let version = 2;
  let firstMicros: bigint | null = null;
  const meet = (word: number, micros: bigint) => {
    version = Math.max(version, versionForKind(recordKind(word) ?? 'plain'));
    firstMicros ??= micros;
  };
  const visitor: RecordVisitor = {
    record: ({ data }, at) => meet(data.getUint32(at), data.getBigUint64(at + 12)),
    longRecord: (head) => meet(head.getUint32(0), head.getBigUint64(12)),
    damage: () => undefined,
  };
  drained(
    scanRange(source, null, {
      start: SEGMENT_HEADER_LEN,
      until: Number.POSITIVE_INFINITY,
      expected: base,
      version: 4,
      mark: null,
      firstEntry: null,
      nowMicros: NEVER_AHEAD,
      visitor,
    }),
  );
  return { version, firstMicros: firstMicros ?? 0n };
}

function drained<T>(generator: Generator<number, T>): T {
  for (;;) {
    const step = generator.next();
    if (step.done) return step.value;
  }
}

/**
 * Reads the new segment as a whole: every record that the cures promise must be there, in order. Returns where the last one
 * of an unbroken row from the start ends.
 */
function hold({ slot, regions }: NonNullable<Place>, source: ByteSource, isLast: boolean): number {
  const map: RecordMap = drained(mapRecords(source, { hints: [] }));
  const decoded = decodeSegmentHeader(map.headerBytes);
  invariant(decoded.ok && decoded.value.baseOffset === slot.base, 'a healed segment begins where it must');
  const kept = regions.filter(({ cure }) => cure!.how === 'keep');
  const open = kept.filter((region) => !(isLast && region.atEnd && !isMissing(region)));
  if (open.length > 0) return map.extents[0]?.end ?? SEGMENT_HEADER_LEN;
  const [first, ...more] = map.extents;
  const end = expectedEnd(slot, regions);
  const whole = first !== undefined && more.length === 0 && first.from === slot.base && first.to === end;
  invariant(whole, 'a healed segment holds every record of its range once');
  invariant(kept.length > 0 || first.end === source.size, 'a healed segment ends with its last record');
  return first.end;
}

function expectedEnd(slot: Slot, regions: readonly Region[]): bigint {
  const given = regions.flatMap((region) =>
    region.cure!.how === 'flip' ? [region.to] : partsOf(region).map(({ to }) => to),
  );
  return given.reduce(greater, ownEnd(slot));
}

function indexOf(source: ByteSource, segment: string, end: number, spacing: number): IndexImage {
  const built = buildIndex(source, end, spacing);
  invariant(built !== null && built.reached === end, 'an index reaches the end of a healed segment');
  const { image: bytes, entries } = built;
  return { segment, end, spacing, entries, bytes, state: { size: bytes.length, crc32: hex32(crc32(bytes)) } };
}

/** Bytes of the old file that go or change. */
function rangesOf({ slot, regions }: NonNullable<Place>): ByteRange[] {
  const ranges: ByteRange[] = [];
  if (slot.file !== null && !slot.headerSound && slot.size > 0) {
    ranges.push({ from: 0, to: Math.min(SEGMENT_HEADER_LEN, slot.size) });
  }
  for (const { cure, start, end } of regions) {
    if (cure!.how === 'flip') ranges.push({ from: cure!.flip.position, to: cure!.flip.position + 1 });
    else if (cure!.how !== 'keep' && end > start) ranges.push({ from: start, to: end });
  }
  return ranges;
}

function whyOf({ slot, regions }: NonNullable<Place>): string {
  const given = regions.filter((region) => partsOf(region).length > 0);
  const flips = regions.filter(({ cure }) => cure!.how === 'flip').length;
  const dropped = regions.filter(({ cure, end, start }) => cure!.how === 'drop' && end > start).length;
  const words = [
    ...(slot.file === null ? ['a missing segment is made'] : []),
    ...(slot.file !== null && !slot.headerSound ? [`its header is made anew, with base offset ${slot.base}`] : []),
    ...(given.length > 0 ? [`${given.map((region) => offsetsOf(gained(region))).join(', ')} from the donors`] : []),
    ...(flips > 0 ? [`${counted(flips, 'flipped bit')} turned back`] : []),
    ...(dropped > 0 ? ['bytes between records that follow each other go'] : []),
  ];
  const text = words.join('; ');
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

function gained(region: Region) {
  const list = partsOf(region);
  return { from: list[0]!.from, to: list.at(-1)!.to };
}

/** What became of each region, for the reader; `healed` is null when the segment stays as it is. */
export function rangeReports({ slot, regions }: NonNullable<Place>, healed: HealedContent | null): HealedRange[] {
  if (healed === null) {
    return regions
      .map((region) => rangeReport(slot, region))
      .map((report) => (report.healed ? { ...report, healed: false, why: 'the segment holds no record' } : report));
  }
  const header: HealedRange[] =
    slot.headerSound || slot.file === null
      ? []
      : [
          {
            offsets: null,
            file: slot.name,
            position: 0,
            healed: true,
            why: `the header is made anew, with base offset ${slot.base}`,
            instead: null,
          },
        ];
  return [...header, ...regions.map((region) => rangeReport(slot, region))];
}

function rangeReport(slot: Slot, region: Region): HealedRange {
  const { cure, start, from, to } = region;
  const about = { file: slot.name, position: slot.file === null ? null : start };
  const offsets = isMissing(region) ? { from, to } : null;
  switch (cure!.how) {
    case 'keep':
      return { ...about, offsets, healed: false, why: cure!.why, instead: cure!.instead };
    case 'drop':
      return {
        ...about,
        offsets: null,
        healed: true,
        why: 'the bytes hold no record, and none is missing',
        instead: null,
      };
    case 'flip': {
      const { position, bit, field, chance } = cure!.flip;
      const why = `bit ${bit} of byte ${position} (${field}) is turned back; the chance that other damage looks like this is ${chanceWords(chance)}`;
      return { ...about, offsets, healed: true, why, instead: null };
    }
    case 'donors': {
      const names = [...new Set(cure!.parts.map(({ donor }) => donor.name))];
      if (names.length === 0) {
        return { ...about, offsets, healed: false, why: 'no donor holds them', instead: null };
      }
      const more = curedBytes(region) === region.end - start ? '' : ', and the segment changes its length';
      return {
        ...about,
        offsets: gained(region),
        healed: true,
        why: `from ${names.join(' and ')}${more}`,
        instead: null,
      };
    }
  }
}
