/**
 * What a broker prints about damage, as data, and a parser that finds it in a line of any log.
 *
 * Errors read `corruption detected: <what> (shard=<label>, segment=<id>, position=<byte>)`, with unknown parts left out.
 * A line may hold anything before and behind; parts that are missing, or too large to be true, are left out of the
 * answer. The parser never throws, and its time grows with the length of the line alone.
 */

import type { FindingKind } from './finding.js';

/** What a line says. Numbers of 64 bits are bigint; magics, flags and checksums are hex text of their full width. */
export interface BrokerLine {
  readonly kind: FindingKind;
  /** The phrase that was found. */
  readonly phrase: string;
  /** The small file that the phrase is about, when it is about one. */
  readonly file?: string;
  readonly shard?: string;
  readonly segment?: bigint;
  readonly position?: number;
  readonly expected?: string | bigint;
  readonly found?: string | bigint | number;
  readonly needed?: number;
  readonly available?: number;
  readonly payloadLen?: number;
  readonly limit?: number;
}

type Fields = Pick<BrokerLine, 'expected' | 'found' | 'needed' | 'available' | 'payloadLen' | 'limit'>;

type FieldType = 'hex16' | 'hex32' | 'count' | 'offset';

export interface BrokerPhrase {
  readonly kind: FindingKind;
  /** As the broker prints it, for people; `N`, `M` and `0x…` stand for numbers. */
  readonly text: string;
  /** The same as a pattern. Its groups are the fields, and may all be missing. */
  readonly pattern: RegExp;
  readonly fields: Readonly<Partial<Record<keyof Fields, FieldType>>>;
  readonly file?: string;
}

const CHECKSUMS = { expected: 'hex32', found: 'hex32' } as const;

/** In the order of Felix's kinds, then the warnings that it logs at open. */
export const BROKER_PHRASES: readonly BrokerPhrase[] = [
  {
    kind: 'SegmentMagic',
    text: 'bad segment magic 0x…',
    pattern: /bad segment magic(?: (?<found>0x[0-9a-f]+))?/i,
    fields: { found: 'hex32' },
  },
  {
    kind: 'SegmentVersion',
    text: 'unsupported segment version N',
    pattern: /unsupported segment version(?: (?<found>\d+))?/i,
    fields: { found: 'count' },
  },
  {
    kind: 'SegmentFlags',
    text: 'unknown segment flags 0x…',
    pattern: /unknown segment flags(?: (?<found>0x[0-9a-f]+))?/i,
    fields: { found: 'hex16' },
  },
  {
    kind: 'SegmentHeaderChecksum',
    text: 'segment header checksum mismatch (expected 0x…, found 0x…)',
    pattern:
      /segment header checksum mismatch(?: \(expected (?<expected>0x[0-9a-f]+)(?:, found (?<found>0x[0-9a-f]+))?)?/i,
    fields: CHECKSUMS,
  },
  {
    kind: 'IndexMagic',
    text: 'bad index magic 0x…',
    pattern: /bad index magic(?: (?<found>0x[0-9a-f]+))?/i,
    fields: { found: 'hex32' },
  },
  {
    kind: 'IndexVersion',
    text: 'unsupported index version N',
    pattern: /unsupported index version(?: (?<found>\d+))?/i,
    fields: { found: 'count' },
  },
  {
    kind: 'Truncated',
    text: 'truncated: needed N bytes, M available',
    pattern: /truncated: needed(?: (?<needed>\d+)(?: bytes?)?(?:, (?<available>\d+) available)?)?/i,
    fields: { needed: 'count', available: 'count' },
  },
  {
    kind: 'RecordChecksum',
    text: 'record checksum mismatch (expected 0x…, found 0x…)',
    pattern: /record checksum mismatch(?: \(expected (?<expected>0x[0-9a-f]+)(?:, found (?<found>0x[0-9a-f]+))?)?/i,
    fields: CHECKSUMS,
  },
  {
    kind: 'RecordHeaderChecksum',
    text: 'record header checksum mismatch (expected 0x…, found 0x…)',
    pattern:
      /record header checksum mismatch(?: \(expected (?<expected>0x[0-9a-f]+)(?:, found (?<found>0x[0-9a-f]+))?)?/i,
    fields: CHECKSUMS,
  },
  {
    kind: 'RecordTooLarge',
    text: 'record payload N exceeds limit M',
    pattern: /record payload (?:(?<payloadLen>\d+) )?exceeds limit(?: (?<limit>\d+))?/i,
    fields: { payloadLen: 'count', limit: 'count' },
  },
  {
    kind: 'RecordFlags',
    text: 'impossible record flags 0x…',
    pattern: /impossible record flags(?: (?<found>0x[0-9a-f]+))?/i,
    fields: { found: 'hex32' },
  },
  {
    kind: 'OffsetOutOfOrder',
    text: 'offset out of order (expected N, found M)',
    pattern: /offset out of order(?: \(expected (?<expected>\d+)(?:, found (?<found>\d+))?)?/i,
    fields: { expected: 'offset', found: 'offset' },
  },
  {
    kind: 'Truncated',
    text: 'repaired a torn tail in the active segment',
    pattern: /repaired a torn tail in the active segment/i,
    fields: {},
  },
  {
    kind: 'AbandonedSegment',
    text: 'discarding a headerless segment left behind by an uninstalled rollover',
    pattern: /discarding a headerless segment left behind by an uninstalled rollover/i,
    fields: {},
  },
  {
    kind: 'AbandonedSegment',
    text: 'discarding an empty segment left behind by an uninstalled rollover',
    pattern: /discarding an empty segment left behind by an uninstalled rollover/i,
    fields: {},
  },
  {
    kind: 'SidecarChecksum',
    text: 'the generation history is unreadable and was ignored',
    pattern: /the generation history is unreadable(?: and was ignored)?/i,
    fields: {},
    file: 'epochs',
  },
  {
    kind: 'SidecarChecksum',
    text: 'the producer snapshot is unreadable; rebuilding producer state from the log',
    pattern: /the producer snapshot is unreadable(?:; rebuilding producer state from the log)?/i,
    fields: {},
    file: 'producers',
  },
];

/** A line is judged up to this many characters: far beyond any that a broker prints. */
const LONGEST_LINE = 65_536;

/** How far behind a phrase its site may begin, and how long the site may be. */
const SITE_REACH = 4_096;

const ESCAPE_SEQUENCES =
  /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,256}(?:\u0007|\u001b\\)|\u001b[@-Z\\^_]/g;

const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** The damage that a line of a broker's log tells of, or null. Of several phrases the first in the line counts. */
export function parseBrokerLine(text: string): BrokerLine | null {
  const line = text.slice(0, LONGEST_LINE).replace(ESCAPE_SEQUENCES, '').replace(/\s+/g, ' ');
  let first: { readonly phrase: BrokerPhrase; readonly match: RegExpExecArray } | null = null;
  for (const phrase of BROKER_PHRASES) {
    const match = phrase.pattern.exec(line);
    if (match !== null && (first === null || match.index < first.match.index)) first = { phrase, match };
  }
  if (first === null) return null;
  const { phrase, match } = first;
  const end = match.index + match[0].length;
  return {
    kind: phrase.kind,
    phrase: phrase.text,
    ...(phrase.file === undefined ? {} : { file: phrase.file }),
    ...fieldsOf(phrase, match.groups ?? {}),
    ...(bracketedSite(line.slice(end, end + SITE_REACH)) ?? looseSite(line)),
  };
}

function fieldsOf(phrase: BrokerPhrase, groups: Readonly<Record<string, string | undefined>>): Fields {
  const fields: Record<string, string | number | bigint> = {};
  for (const [name, type] of Object.entries(phrase.fields)) {
    const value = fieldValue(groups[name], type);
    if (value !== null) fields[name] = value;
  }
  return fields;
}

function fieldValue(text: string | undefined, type: FieldType): string | number | bigint | null {
  if (text === undefined || text.length > 40) return null;
  const value = BigInt(text);
  switch (type) {
    case 'hex16':
    case 'hex32': {
      const digits = type === 'hex16' ? 4 : 8;
      const hex = value.toString(16);
      return hex.length > digits ? null : `0x${hex.padStart(digits, '0')}`;
    }
    case 'count':
      return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
    case 'offset':
      return value <= U64_MAX ? value : null;
  }
}

type LineSite = Pick<BrokerLine, 'shard' | 'segment' | 'position'>;

/** `(shard=…, segment=…, position=…)` as an error prints it. The label may hold commas, brackets and equals signs. */
function bracketedSite(rest: string): LineSite | null {
  const start = /\((?=(?:shard|segment|position)=)/.exec(rest);
  if (start === null) return null;
  const body = rest.slice(start.index + 1);
  if (!body.startsWith('shard=')) return numbersOf(/^[^)]*/.exec(body)?.[0] ?? '');
  const tail = /(?:, segment=\d+)?(?:, position=\d+)?\)/g;
  let end = tail.exec(body);
  // A bare bracket may belong to the label: a site with numbers in it, further on, is the better end.
  for (let next = end; next !== null && end !== null; next = tail.exec(body)) {
    if (body.slice(0, next.index).includes('(shard=')) break;
    if (next[0].length > 1) {
      end = next;
      break;
    }
  }
  const shard = body.slice('shard='.length, end?.index);
  return { ...(shard === '' ? {} : { shard }), ...numbersOf(end?.[0] ?? '') };
}

/** `shard=… segment=… position=…` or the same in JSON, as fields of a structured log. */
function looseSite(line: string): LineSite {
  const shard = /(?:^|[\s{,("])shard"?[=:] ?(?:"(?<quoted>[^"]{1,2000})"|(?<bare>[^\s",)}]{1,2000}))/.exec(
    line,
  )?.groups;
  const label = shard?.['quoted'] ?? shard?.['bare'];
  return { ...(label === undefined ? {} : { shard: label }), ...numbersOf(line) };
}

function numbersOf(text: string): LineSite {
  const segment = /\bsegment(?:_id)?"?[=:] ?"?(\d{1,20})\b/.exec(text)?.[1];
  const position = /\bposition"?[=:] ?"?(\d{1,16})\b/.exec(text)?.[1];
  const id = segment === undefined ? null : fieldValue(segment, 'offset');
  const byte = position === undefined ? null : fieldValue(position, 'count');
  return {
    ...(typeof id === 'bigint' ? { segment: id } : {}),
    ...(typeof byte === 'number' ? { position: byte } : {}),
  };
}
