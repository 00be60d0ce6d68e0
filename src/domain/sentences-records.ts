/** What is said of records. */

import type { FindingContext } from './catalogue-row.js';
import type { FindingDetails, ScanContext } from './finding.js';
import { intactBehind, isZeroTail } from './next-steps.js';
import type { Sentences } from './sentences.js';
import { bitFlipWords, likenessWords } from './sentences-segments.js';
import { byteCount } from './units.js';
import { bytesOf, counted, grouped, lostWords, offsetsOf, printable, sentenceOf } from './wording.js';

const FIRST_RECORD = 32;

function place(context: FindingContext): string {
  const position = context.site.position ?? context.damagedRange?.from;
  return position === undefined ? '' : ` at position ${position}`;
}

/** Zeros to the end of the file are space that was never written, whatever check they fail first. */
function zeroTailSentence(context: FindingContext): string {
  const { damagedRange: range, lostOffsets: lost } = context;
  const start = range?.from ?? context.site.position;
  const behind = start === FIRST_RECORD ? 'the segment header' : 'the last record';
  const count = range === null ? 'Zero bytes to the end of the file' : counted(byteCount(range), 'zero byte');
  return sentenceOf(
    `${count} after ${behind}: unwritten space, nothing follows${context.newest ? '' : ' in this segment'}`,
    lost === null || lost.to <= lost.from ? null : lostWords(lost),
  );
}

function damagedWords(context: FindingContext): string | null {
  const range = context.damagedRange;
  if (range === null || byteCount(range) === 0) return null;
  return `${bytesOf(byteCount(range))} damaged, positions ${range.from}..${range.to}`;
}

function resumptionWords(detail: ScanContext, context: FindingContext): string | null {
  const intact = intactBehind(detail, context);
  if (typeof detail.resumedAt === 'number') {
    const many = intact > 0 ? ` (${counted(intact, 'intact record')} in this file)` : '';
    return `intact again from position ${detail.resumedAt}${many}`;
  }
  if (intact > 0) return `${counted(intact, 'intact record')} ${intact === 1 ? 'follows' : 'follow'} in this file`;
  if (detail.resumedAt === undefined) return null;
  return context.newest ? 'nothing intact follows' : 'nothing intact follows in this segment';
}

/** A record's damage: what is wrong, what it looks like, where intact records begin again, and what is lost. */
function damageSentence(what: string, detail: ScanContext, context: FindingContext): string {
  if (isZeroTail(detail, context)) return zeroTailSentence(context);
  return sentenceOf(
    what,
    bitFlipWords(detail.bitFlip),
    likenessWords(context),
    damagedWords(context),
    resumptionWords(detail, context),
    lostWords(context.lostOffsets),
  );
}

function truncatedSentence(detail: FindingDetails['Truncated'], context: FindingContext): string {
  const sizes = `${bytesOf(detail.needed)} needed, ${bytesOf(detail.available)} there`;
  if (context.file?.endsWith('.index')) return sentenceOf(`The index header is short: ${sizes}`);
  if (context.site.position === 0) return sentenceOf(`The segment header is short: ${sizes}`, 'no record is in it');
  if (isZeroTail(detail, context)) return zeroTailSentence(context);
  const followed = typeof detail.resumedAt === 'number' || intactBehind(detail, context) > 0;
  if (!context.newest || followed) {
    return damageSentence(`The record${place(context)} is not whole: ${sizes}`, detail, context);
  }
  const lost = context.lostOffsets;
  const known = lost === null ? null : `${counted(lost.to - lost.from, 'record')} unfinished: ${offsetsOf(lost)}`;
  return sentenceOf(
    `The last record${place(context)} is an unfinished write: ${sizes}`,
    'nothing intact follows',
    known,
  );
}

function orderSentence(detail: FindingDetails['OffsetOutOfOrder'], context: FindingContext): string {
  const { expected, found, fill } = detail;
  const filled = fill === undefined ? null : `a file beside it would fill the gap: ${printable(fill)}`;
  const skipped = found > expected ? (context.lostOffsets ?? { from: expected, to: found }) : context.lostOffsets;
  const twice =
    found < expected
      ? `${offsetsOf({ from: found, to: expected })} ${expected - found === 1n ? 'comes' : 'come'} a second time`
      : null;
  if (context.site.position === 0) {
    const segment = context.site.segment === undefined ? 'The segment' : `Segment ${context.site.segment}`;
    return sentenceOf(
      `${segment} begins at offset ${found} where the segment before it ends at offset ${expected}`,
      twice,
      skipped === null ? null : lostWords(skipped),
      filled,
    );
  }
  return sentenceOf(
    `The record${place(context)} has offset ${found} where offset ${expected} was expected`,
    twice,
    resumptionWords({ intactAfter: detail.intactAfter ?? 0 }, context),
    skipped === null ? null : lostWords(skipped),
    filled,
  );
}

function recordKindWords(kind: string): string {
  if (kind === 'opens') return 'opening a batch';
  if (kind === 'continues') return 'continuing a batch';
  return printable(kind);
}

export const RECORD_SENTENCES = {
  Truncated: truncatedSentence,
  RecordHeaderChecksum: (detail, context) =>
    damageSentence(
      `The record header${place(context)} does not match its checksum (stored ${detail.expected}, computed ${detail.found})`,
      detail,
      context,
    ),
  RecordChecksum: (detail, context) =>
    damageSentence(
      `The record${place(context)} does not match its checksum (stored ${detail.expected}, computed ${detail.found})`,
      detail,
      context,
    ),
  RecordFlags: (detail, context) =>
    damageSentence(
      `The record${place(context)} has more than one kind bit set (${printable(detail.found)})`,
      detail,
      context,
    ),
  RecordTooLarge: (detail, context) =>
    damageSentence(
      `The record${place(context)} claims a payload of ${bytesOf(detail.payloadLen)}, over the limit of ${bytesOf(detail.limit)}`,
      detail,
      context,
    ),
  OffsetOutOfOrder: orderSentence,
  RecordKindForVersion: ({ recordKind, version, offset }) =>
    sentenceOf(
      `The record at offset ${offset} is of a kind (${recordKindWords(recordKind)}) that a segment of version ${version} may not hold`,
    ),
  GenerationStartPayload: ({ offset, payloadLen }) =>
    sentenceOf(
      `The generation-start record at offset ${offset} has a payload of ${bytesOf(payloadLen)} instead of 8 bytes`,
      'the generation it starts is not known',
    ),
  GenerationStartOrder: ({ offset, generation, previous }) =>
    sentenceOf(
      `The generation-start record at offset ${offset} starts generation ${generation} after generation ${previous}`,
    ),
  BatchAbandoned: ({ producer, sequence, len, held, offset }) =>
    sentenceOf(
      `The batch at offset ${offset} (producer ${producer}, sequence ${sequence}) was cut off by another record after ${grouped(held)} of ${counted(len, 'record')}`,
    ),
  BatchIncomplete: ({ producer, sequence, len, held, offset }) =>
    sentenceOf(
      `The batch at offset ${offset} (producer ${producer}, sequence ${sequence}) is still open at the tail with ${grouped(held)} of ${counted(len, 'record')}`,
    ),
  BatchOrphan: ({ offset, count }) =>
    sentenceOf(
      `${counted(count, 'record')} from offset ${offset} on ${count === 1 ? 'continues' : 'continue'} a batch that nothing here opens`,
    ),
  TimestampOddity: ({ what, count, offset, timestampMicros }) =>
    sentenceOf(
      `${counted(count, 'record')} with an odd timestamp (${printable(what)}), the first at offset ${offset}: ${timestampMicros} microseconds`,
    ),
} satisfies Sentences<
  | 'Truncated'
  | 'RecordHeaderChecksum'
  | 'RecordChecksum'
  | 'RecordFlags'
  | 'RecordTooLarge'
  | 'OffsetOutOfOrder'
  | 'RecordKindForVersion'
  | 'GenerationStartPayload'
  | 'GenerationStartOrder'
  | 'BatchAbandoned'
  | 'BatchIncomplete'
  | 'BatchOrphan'
  | 'TimestampOddity'
>;
