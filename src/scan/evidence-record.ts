/**
 * What damaged records look like when they are held against the records that should be there.
 *
 * Where a checksum can prove the story (bytes put in, bytes taken out, line ends translated, a length written over), the
 * claim is made only when it does.
 */

import { bytesOf } from '../domain/wording.js';
import { readU32, readU64, writeU32, writeU64 } from '../format/bytes.js';
import { crc32 } from '../format/checksum.js';
import {
  CONTINUES_BIT,
  decodeRecord,
  decodeRecordHeader,
  GENERATION_START_BIT,
  MAX_PAYLOAD_BYTES,
  OPENS_BIT,
  RECORD_HEADER_LEN,
  RECORD_TAG_LEN,
} from '../format/record.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { insertionPoints, missingByte } from './crc-splice.js';
import { boundaryOf, printableRun, SECTOR_BYTES } from './evidence-bytes.js';
import type { Evidence, View } from './evidence-view.js';
import { bytesAt } from './pieces.js';
import { allZeros, startOfZeros } from './zeros.js';

/** Zeros fewer than these end many a healthy payload. */
const TORN_ZEROS = 16;
/** Good bytes may end in this many zeros in front of a boundary. */
const SLACK_BYTES = 16;
const DUPLICATE_BYTES = 16;
const COMPARED_BYTES = 128 * 1024;
/** How far header fields are looked for behind their place. */
const DISPLACED_BYTES = 64;
/** How far line feeds in a segment header may move the first record. */
const MOVED_BYTES = 16;
/** A missing byte is claimed only in bodies so short that chance has less than one part in a thousand. */
const MISSING_BYTE_BODY = 16 * 1024;

/** True when the bytes hold the offset that is due in its place: a header that is a header for the most part. */
export function isMostlyHeader({ own, context }: View): boolean {
  return own.length >= RECORD_HEADER_LEN && context.expectedOffset === readU64(own, 4);
}

/** A record cut off by the end of the file, or by the next one. `own` begins with its verified header. */
export function cutOffEvidence({ own, range, context }: View): Evidence | null {
  const header = decodeRecordHeader(own);
  if (!header.ok) return partOfHeader(own, context.expectedOffset);
  const { resumedAt } = context;
  const end = range.from + header.value.totalLen;
  if (resumedAt != null && resumedAt < end) return endsEarly(range.from, end, resumedAt);
  if (end <= range.to) return null;
  const there = `${bytesOf(range.to - range.from)} out of ${bytesOf(header.value.totalLen)}`;
  return { slug: 'torn-write', phrase: `a record that was never finished: ${there} are there` };
}

function endsEarly(from: number, end: number, resumedAt: number): Evidence {
  const missing = bytesOf(end - resumedAt);
  const phrase = `a record cut short: ${bytesOf(resumedAt - from)} of it are there, ${missing} fewer than its length says, and the next record follows`;
  return { slug: 'torn-write', phrase };
}

/** The first bytes of the header that is due, as far as they go; five at least, so that the offset has a say. */
function partOfHeader(bytes: Uint8Array, expectedOffset: bigint | null): Evidence | null {
  if (expectedOffset === null || bytes.length < 5 || bytes.length >= RECORD_HEADER_LEN) return null;
  const due = new Uint8Array(12);
  writeU64(due, 4, expectedOffset);
  for (let at = 4; at < Math.min(12, bytes.length); at++) if (bytes[at] !== due[at]) return null;
  const word = readU32(bytes, 0);
  if (!isLengthWord(word) || bytes.every((byte) => byte === 0)) return null;
  return {
    slug: 'torn-write',
    phrase: `the first ${bytesOf(bytes.length)} of a record header that was never finished`,
  };
}

function isLengthWord(word: number): boolean {
  const bits = word >>> 29;
  return (bits <= 2 || bits === 4) && (word & 0x1fffffff) <= MAX_PAYLOAD_BYTES;
}

/** A header that stops at a sector boundary, with zeros from there to the end of the range. */
export function tornHeaderEvidence({ source, own, range, context }: View): Evidence | null {
  const boundary = (Math.floor(range.from / SECTOR_BYTES) + 1) * SECTOR_BYTES;
  const part = own.subarray(0, boundary - range.from);
  if (boundary >= range.to || partOfHeader(part, context.expectedOffset) === null) return null;
  if (!allZeros(source, boundary, range.to)) return null;
  return {
    slug: 'torn-write',
    phrase: `${bytesOf(part.length)} of a record header, and zeros from ${sectorText(boundary)} on`,
  };
}

/** A record whose bytes turn into zeros at a sector boundary, or behind its header. */
export function zeroEndEvidence({ source, range, context }: View): Evidence | null {
  const end = context.claimedEnd ?? range.to;
  const body = range.from + RECORD_HEADER_LEN;
  if (end - body < TORN_ZEROS) return null;
  const zerosFrom = startOfZeros(source, body, end);
  if (zerosFrom === body)
    return { slug: 'torn-write', phrase: 'a record header, and zeros where its payload should be' };
  const boundary = Math.ceil(zerosFrom / SECTOR_BYTES) * SECTOR_BYTES;
  if (boundary - zerosFrom > SLACK_BYTES || end - boundary < TORN_ZEROS) return null;
  return { slug: 'torn-write', phrase: `a record whose bytes are zeros from ${sectorText(boundary)} on` };
}

function sectorText(position: number): string {
  return `byte ${position}, a boundary of ${bytesOf(boundaryOf(position))},`;
}

/** A record that ends where another, intact one begins. */
export function endsEarlyEvidence({ range, context }: View): Evidence | null {
  const end = context.claimedEnd ?? 0;
  const { resumedAt } = context;
  return resumedAt == null || resumedAt >= end ? null : endsEarly(range.from, end, resumedAt);
}

/** A record behind whose verified header bytes were put in, or one was taken out. */
export function movedBodyEvidence({ ahead, range, source }: View): Evidence | null {
  const header = decodeRecordHeader(ahead);
  if (!header.ok) return null;
  const { totalLen, checksum, kind, offset } = header.value;
  const seed = crc32(ahead.subarray(0, 24));
  for (const next of nextRecords(ahead, offset + 1n, range.from + ahead.length === source.size)) {
    const extra = next - totalLen;
    const body = ahead.subarray(RECORD_HEADER_LEN, next);
    if (extra > 0) {
      const points = insertionPoints(body, extra, seed, checksum);
      if (points.length > 0) return putIn(points, extra, range.from, kind === 'opens' ? RECORD_TAG_LEN : 0);
    } else if (extra === -1 && body.length <= MISSING_BYTE_BODY) {
      const at = missingByte(body, seed, checksum);
      if (at !== null) return lostBytes(1, range.from + RECORD_HEADER_LEN + at);
    }
  }
  return null;
}

/** Where, in bytes from the start, a header of `offset` verifies; at last the end of the file when it is in sight. */
function* nextRecords(ahead: Buffer, offset: bigint, toEnd: boolean): Generator<number> {
  const needle = new Uint8Array(8);
  writeU64(needle, 0, BigInt.asUintN(64, offset));
  let found = ahead.indexOf(needle, RECORD_HEADER_LEN);
  for (; found >= 0; found = ahead.indexOf(needle, found + 1)) {
    const at = found - 4;
    if (decodeRecordHeader(ahead.subarray(at, at + RECORD_HEADER_LEN)).ok) {
      yield at;
      return;
    }
  }
  if (toEnd) yield ahead.length;
}

function putIn(points: readonly number[], extra: number, from: number, tagLen: number): Evidence {
  // The same bytes on either side of a place move it about; where a writer would have stopped is the likeliest.
  if (points.some((point) => point === 0 || point === tagLen)) {
    const parts = tagLen === 0 ? 'header and payload' : 'tag and payload';
    const where = points.includes(tagLen) ? parts : 'header and tag';
    const phrase = `a record with ${bytesOf(extra)} of something else between its ${where}: without them it verifies`;
    return { slug: 'foreign', phrase };
  }
  const at = from + RECORD_HEADER_LEN + points[0]!;
  const phrase = `a record into which ${bytesOf(extra)} were put at byte ${at}: without them it verifies`;
  return { slug: 'shifted', phrase };
}

function lostBytes(count: number, at: number): Evidence {
  return { slug: 'shifted', phrase: `a record that lost ${bytesOf(count)} at byte ${at}: with them it verifies` };
}

/**
 * A header that verifies once the length and the offset that are due there are put back: its later fields stand in their
 * place, or some bytes in front of or behind it.
 */
export function displacedHeaderEvidence(view: View): Evidence | null {
  const { own, range, context } = view;
  const { expectedOffset } = context;
  if (expectedOffset === null) return null;
  const length = (context.resumedAt ?? range.to) - range.from;
  for (let shift = -11; shift <= DISPLACED_BYTES; shift++) {
    const header = restoredHeader(own.subarray(12 + shift, 24 + shift), expectedOffset, length - shift);
    if (header === null) continue;
    if (shift === 0) return overwritten(own, header, range.from);
    if (shift < 0) return lostBytes(-shift, range.from);
    const phrase = `a record with ${bytesOf(shift)} put into or in front of its header: without them it verifies`;
    return { slug: 'shifted', phrase };
  }
  return null;
}

/** Twenty-four bytes that verify, of a record of `total` bytes whose last twelve, time and checksum, are `rest`. */
function restoredHeader(rest: Uint8Array, offset: bigint, total: number): Uint8Array | null {
  const header = new Uint8Array(24);
  header.set(rest, 12);
  writeU64(header, 4, offset);
  for (const bits of [0, OPENS_BIT, CONTINUES_BIT, GENERATION_START_BIT]) {
    const payloadLen = total - RECORD_HEADER_LEN - (bits === OPENS_BIT ? RECORD_TAG_LEN : 0);
    if (payloadLen < 0 || payloadLen > MAX_PAYLOAD_BYTES) continue;
    writeU32(header, 0, (bits | payloadLen) >>> 0);
    if (crc32(header.subarray(0, 20)) === readU32(header, 20)) return header;
  }
  return null;
}

function overwritten(own: Uint8Array, header: Uint8Array, from: number): Evidence {
  const wrong = Array.from({ length: 12 }, (_, at) => at).filter((at) => own[at] !== header[at]);
  const [first, end] = [wrong[0] ?? 0, (wrong.at(-1) ?? 0) + 1];
  const span = own.subarray(first, end);
  const where = `over bytes ${from + first}..${from + end} of a record header that is otherwise whole`;
  if (span.length >= 4 && printableRun(span) === span.length) return { slug: 'text', phrase: `text ${where}` };
  return { slug: 'overwritten', phrase: `${bytesOf(span.length)} of something else ${where}` };
}

/** Line feeds that became a carriage return and a line feed: undone, the header or the record verifies. */
export function crlfRecordEvidence({ own, ahead, kind }: View): Evidence | null {
  if (kind === 'RecordHeaderChecksum') return crlfHeader(own) ? CRLF : null;
  const undone = withoutCarriageReturns(ahead);
  return undone !== null && decodeRecord(undone.bytes).ok ? CRLF : null;
}

/** Pairs in front of the damage, in the segment's header, may have moved the record a few bytes up. */
function crlfHeader(own: Buffer): boolean {
  for (let at = 0; at < MOVED_BYTES; at++) {
    const undone = withoutCarriageReturns(own.subarray(at, at + 2 * RECORD_HEADER_LEN));
    if (undone === null) return false;
    if (undone.firstAt < RECORD_HEADER_LEN && decodeRecordHeader(undone.bytes).ok) return true;
  }
  return false;
}

export const CRLF: Evidence = {
  slug: 'crlf',
  phrase: 'bytes in which each line feed became a carriage return and a line feed: undone, they verify',
};

/** The bytes with one carriage return less in front of each line feed; null when there is no such pair. */
export function withoutCarriageReturns(bytes: Buffer): { readonly bytes: Uint8Array; readonly firstAt: number } | null {
  const firstAt = bytes.indexOf('\r\n');
  if (firstAt < 0) return null;
  const undone = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) continue;
    undone[length++] = bytes[at]!;
  }
  return { bytes: undone.subarray(0, length), firstAt };
}

/** The bytes of the range once more, as they stand just in front of it. */
export function duplicateEvidence({ source, range }: View): Evidence | null {
  const length = range.to - range.from;
  if (!isDuplicate(source, range.from, length)) return null;
  return { slug: 'duplicate', phrase: `the ${bytesOf(length)} just in front of it once more` };
}

/** An intact record that stands twice; `claimedEnd` is its end. */
export function repeatedRecordEvidence({ source, range, context }: View): Evidence | null {
  const length = (context.claimedEnd ?? range.to) - range.from;
  if (!isDuplicate(source, range.from, length)) return null;
  return { slug: 'duplicate', phrase: 'the record just in front of it once more' };
}

function isDuplicate(source: View['source'], from: number, length: number): boolean {
  const start = from - length;
  if (length < DUPLICATE_BYTES || length > COMPARED_BYTES || start < SEGMENT_HEADER_LEN) return false;
  return Buffer.compare(bytesAt(source, start, from), bytesAt(source, from, from + length)) === 0;
}

/** Bytes between two records that follow each other. */
export function betweenRecordsEvidence({ source, range, context }: View): Evidence | null {
  const next = decodeRecordHeader(bytesAt(source, range.to, Math.min(source.size, range.to + RECORD_HEADER_LEN)));
  if (!next.ok || next.value.offset !== context.expectedOffset) return null;
  const phrase = `${bytesOf(range.to - range.from)} that belong to no record: the record that is due follows them`;
  return { slug: 'foreign', phrase };
}
