/**
 * What damaged bytes look like, so that a person can tell where they came from.
 *
 * Proofs come before resemblances: a story that a checksum bears out goes before what the bytes merely look like. No more
 * than a mebibyte of the range is looked at, except where every byte counts: zeros, and the checksum behind a flipped bit.
 * Zeros are claimed only when no byte is anything else. Nothing is said when nothing can be said.
 */

import type { BitFlip, CorruptionKind, FindingKind } from '../domain/finding.js';
import type { ByteRange } from '../domain/units.js';
import { bytesOf } from '../domain/wording.js';
import { readU64 } from '../format/bytes.js';
import { decodeRecordHeader, RECORD_HEADER_LEN } from '../format/record.js';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  SEGMENT_HEADER_LEN,
  SEGMENT_VERSIONS,
} from '../format/segment-header.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { recordBitFlip, segmentHeaderBitFlip } from './bit-flip.js';
import {
  magicEvidence,
  onesEvidence,
  partlyZerosEvidence,
  randomEvidence,
  repeatedEvidence,
  textEvidence,
} from './evidence-bytes.js';
import {
  betweenRecordsEvidence,
  CRLF,
  crlfRecordEvidence,
  cutOffEvidence,
  displacedHeaderEvidence,
  duplicateEvidence,
  endsEarlyEvidence,
  isMostlyHeader,
  movedBodyEvidence,
  repeatedRecordEvidence,
  tornHeaderEvidence,
  withoutCarriageReturns,
  zeroEndEvidence,
} from './evidence-record.js';
import {
  type Evidence,
  type EvidenceContext,
  type EvidenceSlug,
  lookAt,
  type Recogniser,
  type View,
} from './evidence-view.js';
import { allZeros, isZero } from './zeros.js';

const RESEMBLANCES: readonly Recogniser[] = [
  onesEvidence,
  magicEvidence,
  partlyZerosEvidence,
  textEvidence,
  repeatedEvidence,
  randomEvidence,
];

/** The start of a file whose header does not decode. */
const AT_START: readonly Recogniser[] = [
  segmentFlipEvidence,
  crlfSegmentEvidence,
  displacedSegmentEvidence,
  foreignStart,
];

/** A record header that fails: nothing in it can be believed. */
const AT_HEADER: readonly Recogniser[] = [
  recordFlipEvidence,
  segmentHeaderEvidence,
  crlfRecordEvidence,
  displacedHeaderEvidence,
  tornHeaderEvidence,
  onesEvidence,
  partlyZerosEvidence,
  (view) => (isMostlyHeader(view) ? null : notAHeader(view)),
];

/** A header that verifies, with a tag or payload that does not. What a payload looks like is its writer's business. */
const AT_BODY: readonly Recogniser[] = [
  recordFlipEvidence,
  crlfRecordEvidence,
  movedBodyEvidence,
  endsEarlyEvidence,
  zeroEndEvidence,
];

/**
 * What the damage looks like, or null. `range` is the damaged one; empty for an offset out of order, where the record
 * itself is intact. Bytes that cannot be read are no evidence of anything.
 */
export function looksLike(
  source: ByteSource,
  range: ByteRange,
  kind: FindingKind,
  context: EvidenceContext,
): Evidence | null {
  const within = { from: range.from, to: Math.min(range.to, source.size) };
  try {
    return judge(source, within, kind, context);
  } catch (failure) {
    if (failure instanceof ReadFailure) return null;
    throw failure;
  }
}

/**
 * True when every byte from `from` to the end is zero, also when there is none: nothing was ever written there, or what was
 * is gone. Reads them all, and throws `ReadFailure` when it cannot.
 */
export function zeroTail(source: ByteSource, from: number): boolean {
  return allZeros(source, from, source.size);
}

function judge(source: ByteSource, range: ByteRange, kind: FindingKind, context: EvidenceContext): Evidence | null {
  if (kind === 'RecordFlags' || kind === 'RecordTooLarge') return null;
  if (range.from >= range.to && kind !== 'OffsetOutOfOrder') return null;
  const view = lookAt(source, range, kind, context);
  if (kind === 'OffsetOutOfOrder') return repeatedRecordEvidence(view);
  if (isZero(view.own) && allZeros(source, range.from + view.own.length, range.to)) {
    return { slug: 'zeros', phrase: `zeros: all ${bytesOf(range.to - range.from)}` };
  }
  for (const recognise of recognisers(view)) {
    const evidence = recognise(view);
    if (evidence !== null) return evidence;
  }
  return null;
}

function recognisers({ kind, range }: View): readonly Recogniser[] {
  if (range.from < SEGMENT_HEADER_LEN) return AT_START;
  switch (kind) {
    case 'RecordHeaderChecksum':
      return AT_HEADER;
    case 'RecordChecksum':
      return AT_BODY;
    case 'Truncated':
      return [cutOffEvidence, ...RESEMBLANCES];
    default:
      return RESEMBLANCES;
  }
}

function notAHeader(view: View): Evidence | null {
  for (const recognise of [duplicateEvidence, magicEvidence, textEvidence, repeatedEvidence, betweenRecordsEvidence]) {
    const evidence = recognise(view);
    if (evidence !== null) return evidence;
  }
  return randomEvidence(view);
}

function recordFlipEvidence({ source, range, kind, context }: View): Evidence | null {
  const flip =
    context.bitFlip === undefined
      ? recordBitFlip(
          source,
          range.from,
          source.size,
          context.expectedOffset,
          kind as CorruptionKind,
          range.to,
          context.checksums,
        )
      : context.bitFlip;
  return flip === null ? null : flipEvidence(flip);
}

function segmentFlipEvidence({ ahead, context }: View): Evidence | null {
  const flip = context.bitFlip === undefined ? segmentHeaderBitFlip(ahead) : context.bitFlip;
  return flip === null ? null : flipEvidence(flip);
}

function flipEvidence({ position, bit, field }: BitFlip): Evidence {
  return { slug: 'bit-flip', phrase: `one flipped bit: bit ${bit} of byte ${position}, in ${field}` };
}

function crlfSegmentEvidence({ ahead }: View): Evidence | null {
  const undone = withoutCarriageReturns(ahead.subarray(0, 2 * SEGMENT_HEADER_LEN));
  if (undone === null || undone.firstAt >= SEGMENT_HEADER_LEN) return null;
  return decodeSegmentHeader(undone.bytes).ok ? CRLF : null;
}

/** A segment header that begins further on, or has lost bytes of its magic, version and flags. */
function displacedSegmentEvidence({ ahead }: View): Evidence | null {
  const later = findSegmentHeader(ahead, 1);
  if (later !== null && ahead.length - later.at > SEGMENT_HEADER_LEN) {
    return { slug: 'shifted', phrase: `a segment behind ${bytesOf(later.at)} of something else` };
  }
  for (const version of SEGMENT_VERSIONS) {
    const start = encodeSegmentHeader({ version, baseOffset: 0n, createdAtMicros: 0n, reserved: 0 }).subarray(0, 8);
    for (let lost = 1; lost <= 8; lost++) {
      const header = Buffer.concat([start, ahead.subarray(8 - lost, SEGMENT_HEADER_LEN)]);
      if (decodeSegmentHeader(header).ok) {
        return { slug: 'shifted', phrase: `a segment that lost ${bytesOf(lost)} at its start: with them it verifies` };
      }
    }
  }
  return null;
}

/** What a file is that is no segment or index: its own magic would say nothing. */
function foreignStart(view: View): Evidence | null {
  const wide: View = { ...view, own: view.ahead };
  for (const recognise of RESEMBLANCES) {
    const evidence = recognise(wide);
    if (evidence === null) continue;
    return evidence.slug === ownMagic(view.kind) ? null : evidence;
  }
  return null;
}

function ownMagic(kind: FindingKind): EvidenceSlug | null {
  if (kind === 'SidecarMagic') return null;
  return kind.startsWith('Sidecar') ? 'sidecar' : kind.startsWith('Index') ? 'index' : 'segment-header';
}

/** Another segment's header at the start of the damage or inside it: two files joined. */
function segmentHeaderEvidence({ ahead, own, range, source }: View): Evidence | null {
  const found = findSegmentHeader(own, 0);
  if (found === null) return null;
  const behind = found.at + SEGMENT_HEADER_LEN;
  const next = decodeRecordHeader(ahead.subarray(behind, behind + RECORD_HEADER_LEN));
  const goesOn = next.ok && readU64(ahead, behind + 4) === found.baseOffset;
  // A payload may hold a whole segment; one that begins where a record should begin is no payload.
  if (found.at > 0 && !goesOn && range.from + behind < source.size) return null;
  const where = found.at === 0 ? '' : `, ${bytesOf(found.at)} further on`;
  const phrase = `the header of a segment of base offset ${found.baseOffset}${where}: two files joined`;
  return { slug: 'segment-header', phrase };
}

/** The first place from `from` on where a segment header decodes. */
function findSegmentHeader(bytes: Buffer, from: number): { readonly at: number; readonly baseOffset: bigint } | null {
  for (let at = bytes.indexOf('FLSG', from); at >= 0; at = bytes.indexOf('FLSG', at + 1)) {
    const header = decodeSegmentHeader(bytes.subarray(at, at + SEGMENT_HEADER_LEN));
    if (header.ok) return { at, baseOffset: header.value.baseOffset };
  }
  return null;
}
