/** What is said of segment headers, and of the files of a shard as files. */

import type { FindingContext } from './catalogue-row.js';
import type { BitFlip } from './finding.js';
import type { Sentences } from './sentences.js';
import { bytesOf, chanceWords, counted, lostWords, offsetsOf, printable, quoted, sentenceOf } from './wording.js';

/** A flipped bit that alone explains the damage, and how likely that is to be chance. */
export function bitFlipWords(flip: BitFlip | null | undefined): string | null {
  if (flip === null || flip === undefined) return null;
  const place = `bit ${flip.bit} of the byte at position ${flip.position} (field ${printable(flip.field)})`;
  return `one flipped bit explains it: ${place}; the chance that random damage looks so is ${chanceWords(flip.chance)}`;
}

/** The names that a scan gives to what it recognises; another one is shown as it is. */
const LIKENESS: ReadonlyMap<string, string> = new Map([
  ['zeros', 'the bytes are all zero'],
  ['partly-zeros', 'a part of the bytes is all zero'],
  ['torn-write', 'the bytes look like a torn write'],
  ['segment-header', 'the bytes look like the header of another segment'],
  ['repeated', 'the bytes repeat one pattern'],
  ['duplicate', 'it is a copy of an earlier record'],
  ['foreign', 'foreign bytes lie within it'],
  ['shifted', 'the bytes are those of a segment, moved from their place'],
  ['ones', 'bytes of 0xff lie there'],
  ['text', 'the bytes look like text'],
  ['json', 'the bytes look like JSON text'],
  ['index', 'the bytes look like an index'],
  ['sidecar', 'the bytes look like another small file of a shard'],
  ['apple-double', 'the bytes look like an AppleDouble file'],
  ['overwritten', 'other bytes were written over its start'],
  ['random', 'the bytes show no pattern'],
  ['crlf', 'line ends were converted, as a transfer in text mode does'],
  ['felix-wire', 'the bytes look like a frame of the network protocol (FLX1)'],
]);

/** What the damaged bytes look like; a flipped bit has words of its own. */
export function likenessWords(context: FindingContext): string | null {
  const { looksLike, likeness } = context;
  if (looksLike === null || looksLike === 'bit-flip') return null;
  if (likeness !== undefined && likeness !== null) return `it looks like ${printable(likeness)}`;
  return LIKENESS.get(looksLike) ?? `the bytes look like ${printable(looksLike)}`;
}

/** What becomes of the records behind a damaged header. */
function lostWithHeader(context: FindingContext): string {
  if (context.lostOffsets !== null) return lostWords(context.lostOffsets);
  return 'the records behind it are judged by their own checksums';
}

/** What the journal of a repair says of the shard beside it, by its state. */
const JOURNAL_WORDS: Readonly<Record<string, string>> = {
  preparing: 'A repair was begun and stopped before it changed anything',
  applying: 'A repair of this shard was not finished: some of its files are as before and others as after',
  applied: 'A repair of this shard was carried out, and its journal keeps the old bytes',
  undoing: 'A repair of this shard was not taken back to the end: some files are as before it and others as after',
  unknown: 'The journal of a repair lies here and cannot be read: how far the repair came is not known',
};

export const SEGMENT_SENTENCES = {
  SegmentMagic: ({ found }, context) =>
    sentenceOf(
      `The segment header begins with ${found} instead of 0x464c5347 ("FLSG")`,
      likenessWords(context),
      context.lostOffsets === null ? null : lostWords(context.lostOffsets),
    ),
  SegmentVersion: ({ found }) =>
    sentenceOf(
      `The segment header has version ${found}: written by another build`,
      'versions 2, 3 and 4 are known here, so nothing behind the header was judged',
    ),
  SegmentFlags: ({ found }) =>
    sentenceOf(
      `The segment header has flags ${found} where 0x0000 is the only value known`,
      'nothing behind it was judged',
    ),
  SegmentHeaderChecksum: ({ expected, found, bitFlip }, context) =>
    sentenceOf(
      `The segment header does not match its checksum (stored ${expected}, computed ${found})`,
      bitFlipWords(bitFlip),
      likenessWords(context),
      lostWithHeader(context),
    ),
  ReservedNotZero: ({ found }) =>
    sentenceOf(
      `The reserved word of the segment header holds ${printable(found)} instead of zero; no reader looks at it`,
    ),
  AbandonedSegment: ({ why, bytes }) =>
    why === 'headerless'
      ? sentenceOf(
          `The newest segment has ${bytesOf(bytes)}, fewer than the 32 bytes of a header`,
          'it holds no record',
        )
      : sentenceOf(
          `The newest segment has a header and no record (${bytesOf(bytes)})`,
          'it does not begin at the tail',
        ),
  BlankFirstSegment: ({ bytes }) =>
    sentenceOf(
      bytes === 0
        ? 'The only segment is empty (0 bytes): its creation was never finished'
        : `The only segment is ${counted(bytes, 'zero byte')}, no longer than a header: its creation was never finished`,
      'it held no record',
    ),
  NoSegments: ({ files }) => {
    const named = files.slice(0, 8).map((file) => quoted(file, 60));
    const rest = files.length > named.length ? ` and ${counted(files.length - named.length, 'other')}` : '';
    return sentenceOf(
      `The directory holds no segment, but ${counted(files.length, 'other file')} of a shard${named.length > 0 ? `: ${named.join(', ')}${rest}` : ''}`,
      'a broker would begin an empty log at offset 0',
    );
  },
  SegmentFileName: ({ id, opened }, context) =>
    sentenceOf(
      `${context.file === null ? 'The name' : `The name ${quoted(context.file)}`} counts as segment ${id}, but the file that is then opened is ${quoted(opened)}`,
      'its content was not judged as a segment',
    ),
  StrayFile: ({ looksLike, bytes, offsets, records, note, journal }) =>
    sentenceOf(
      journal !== undefined
        ? `${JOURNAL_WORDS[journal.state] ?? JOURNAL_WORDS['unknown']!}${journal.changedAt === null ? '' : ` (${journal.state} since ${journal.changedAt})`}`
        : bytes === 0
          ? 'No reader opens this file: it is empty (0 bytes)'
          : `No reader opens this file: ${bytesOf(bytes)} that ${bytes === 1 ? 'looks' : 'look'} like ${printable(looksLike)}`,
      offsets === undefined
        ? null
        : `it holds ${records === undefined ? '' : `${counted(records, 'intact record')} in `}${offsetsOf(offsets)}`,
      note === undefined ? null : printable(note),
    ),
} satisfies Sentences<
  | 'SegmentMagic'
  | 'SegmentVersion'
  | 'SegmentFlags'
  | 'SegmentHeaderChecksum'
  | 'ReservedNotZero'
  | 'AbandonedSegment'
  | 'BlankFirstSegment'
  | 'NoSegments'
  | 'SegmentFileName'
  | 'StrayFile'
>;
