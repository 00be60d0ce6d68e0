/**
 * What bytes look like by themselves, whatever was expected in their place.
 */

import { bytesOf } from '../domain/wording.js';
import { decodeUtf8, hexOf } from '../format/bytes.js';
import { type IdentityKind, identify } from '../format/identify.js';
import type { Evidence, EvidenceSlug, View } from './evidence-view.js';

/** Shorter runs of printable bytes turn up by chance. */
const TEXT_BYTES = 12;
/** A header has no more zeros in a row than this unless it is the first of a log, empty and without a time. */
const ZERO_BYTES = 20;
const REPEATED_BYTES = 32;
const LONGEST_PATTERN = 64;
const RANDOM_BYTES = 256;
export const SECTOR_BYTES = 512;

export function onesEvidence({ own, samples, range }: View): Evidence | null {
  const isOne = (byte: number) => byte === 0xff;
  if (own.length < 8 || !own.every(isOne) || !samples.every((sample) => sample.every(isOne))) return null;
  const count =
    samples.length === 0 ? bytesOf(own.length) : `${bytesOf(range.to - range.from)}, all that were looked at`;
  return { slug: 'ones', phrase: `${count} of 0xff` };
}

/** Zeros at the start that do not go on to the end. */
export function partlyZerosEvidence({ own, range }: View): Evidence | null {
  const zeros = own.findIndex((byte) => byte !== 0);
  if (zeros < ZERO_BYTES) return null;
  const end = range.from + zeros;
  const aligned = end % SECTOR_BYTES === 0 ? `, up to a boundary of ${bytesOf(boundaryOf(end))}` : '';
  return { slug: 'partly-zeros', phrase: `${bytesOf(zeros)} of zeros${aligned}, then other bytes` };
}

/** Of the sizes that a position which ends a sector may be a multiple of, the larger one. */
export function boundaryOf(position: number): number {
  return position % 4096 === 0 ? 4096 : SECTOR_BYTES;
}

const MAGIC_SLUGS: Partial<Record<IdentityKind, EvidenceSlug>> = {
  segment: 'segment-header',
  'segment-index': 'index',
  epochs: 'sidecar',
  replica: 'sidecar',
  ballot: 'sidecar',
  'offload.manifest': 'sidecar',
  producers: 'sidecar',
  'keys.idx': 'sidecar',
  'storage-id': 'sidecar',
  'run-state': 'sidecar',
  registration: 'sidecar',
  'felix-wire': 'felix-wire',
  gzip: 'gzip',
  zstd: 'zstd',
  lz4: 'lz4',
  xz: 'xz',
  bzip2: 'bzip2',
  zip: 'zip',
  elf: 'elf',
  'apple-double': 'apple-double',
};

/** A known magic at the very start. */
export function magicEvidence({ own }: View): Evidence | null {
  const { kind, description } = identify(own.subarray(0, 64), own.length);
  const slug = MAGIC_SLUGS[kind];
  if (slug === undefined || !bearsOut(slug, own)) return null;
  return { slug, phrase: description };
}

/** Short magics, and the one that could be a length, need more than their own bytes to count in the middle of a file. */
function bearsOut(slug: EvidenceSlug, bytes: Uint8Array): boolean {
  switch (slug) {
    case 'gzip':
      return bytes.length >= 10 && bytes[2] === 8 && (bytes[3]! & 0xe0) === 0;
    case 'bzip2':
      return bytes.length >= 10 && bytes[3]! >= 0x31 && bytes[3]! <= 0x39 && isBlockOrEnd(bytes[4]!);
    case 'apple-double':
      return hexOf(bytes.subarray(4, 8)) === '00020000';
    default:
      return true;
  }
}

/** The first byte of a block's magic, or of the one that ends a stream. */
function isBlockOrEnd(byte: number): boolean {
  return byte === 0x31 || byte === 0x17;
}

/** Text throughout, or at least in the place where a header should be. */
export function textEvidence({ own, samples }: View): Evidence | null {
  const run = printableRun(own);
  const all = [own, ...samples];
  const whole = own.length >= 8 && all.every(isText);
  if (!whole && run < TEXT_BYTES) return null;
  const where = whole ? '' : `, in its first ${bytesOf(run)}`;
  const json = /^\s*(\{\s*["}]|\[\s*[[{"\]])/.test(own.toString('latin1', 0, 256));
  return json ? { slug: 'json', phrase: `JSON text${where}` } : { slug: 'text', phrase: `text${where}` };
}

/** ASCII without control characters but white space, from the start. */
export function printableRun(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => !isPrintable(byte));
  return end < 0 ? bytes.length : end;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** UTF-8 without control characters; a piece may begin and end inside a character. */
function isText(bytes: Uint8Array): boolean {
  let start = 0;
  while (start < 3 && (bytes[start]! & 0xc0) === 0x80) start++;
  for (let cut = 0; cut <= 3; cut++) {
    const text = decodeUtf8(bytes.subarray(start, bytes.length - cut));
    if (text !== null) return !/[^\P{Cc}\t\n\r]/u.test(text);
  }
  return false;
}

/** A short pattern over and over, in at least half of what was looked at. */
export function repeatedEvidence({ own }: View): Evidence | null {
  let best = { period: 0, run: 0 };
  for (let period = 1; period <= LONGEST_PATTERN && best.run < own.length; period++) {
    let run = period;
    while (run < own.length && own[run] === own[run - period]) run++;
    if (run > best.run && run >= 4 * period) best = { period, run };
  }
  const { period, run } = best;
  if (run < REPEATED_BYTES || run * 2 < own.length) return null;
  const pattern = period <= 8 ? `0x${hexOf(own.subarray(0, period))}` : `a pattern of ${bytesOf(period)}`;
  const where = run === own.length ? '' : ` in its first ${bytesOf(run)}`;
  return { slug: 'repeated', phrase: `${pattern}, repeated${where}` };
}

/** Every value of a byte about as often as any other. */
export function randomEvidence({ own, samples }: View): Evidence | null {
  const counts = new Uint32Array(256);
  let length = 0;
  for (const bytes of [own, ...samples]) {
    length += bytes.length;
    for (const byte of bytes) counts[byte]!++;
  }
  if (length < RANDOM_BYTES) return null;
  const expected = length / 256;
  let deviation = 0;
  for (const count of counts) deviation += (count - expected) ** 2 / expected;
  // 255 degrees of freedom: five standard deviations on either side of the mean.
  if (Math.abs(deviation - 255) > 5 * Math.sqrt(510)) return null;
  return { slug: 'random', phrase: 'bytes without a pattern, as encrypted or compressed data has them' };
}
