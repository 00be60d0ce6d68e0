/**
 * Payloads taken for cache or counter records, as far as these are known; what does not fit is said to, never guessed.
 */

import type { DecodedPayload, Disclosure, RecordView } from '../domain/record-view.js';
import type { Result } from '../domain/result.js';
import { encodeUtf8, readU32Le } from '../format/bytes.js';
import {
  CACHE_RECORD_LAYOUT,
  type CacheRecord,
  COUNTER_RECORD_LAYOUT,
  type CounterRecord,
  decodeCacheRecord,
  decodeCounterRecord,
} from '../format/cache-record.js';
import { fixedLength } from '../format/layout.js';
import { fieldAt } from '../format/layout-places.js';
import type { LongPayload } from '../scan/record-stream.js';

export type DecodeAs = 'cache' | 'counter';

export interface Decoding {
  readonly decode: DecodeAs | null;
  readonly disclosure: Disclosure;
}

const HEAD_LENGTH = fixedLength(CACHE_RECORD_LAYOUT);
const KEY_LENGTH_AT = fieldAt(COUNTER_RECORD_LAYOUT, 'key_len');
/** A longer key is not shown. */
const LONGEST_KEY = 64 * 1024;

/** Null for a generation start, which no reader of cache or counter records looks at. */
export function decodePayload(record: RecordView, payload: Uint8Array, how: Decoding): DecodedPayload | null {
  if (record.kind === 'generation-start') return null;
  if (how.decode === 'cache') return shown(decodeCacheRecord(payload), how, cacheRecord);
  return shown(decodeCounterRecord(payload), how, counterRecord);
}

/** The same for a payload that is read piece by piece: its head alone. Reads throw `ReadFailure`. */
export function decodeLongPayload(record: RecordView, payload: LongPayload, how: Decoding): DecodedPayload | null {
  if (record.kind === 'generation-start') return null;
  const head = firstBytes(payload, HEAD_LENGTH);
  const keyLength = readU32Le(head, KEY_LENGTH_AT);
  const rest = payload.length - HEAD_LENGTH - keyLength;
  if (rest < 0 || (how.decode === 'counter' && rest > 0) || keyLength > LONGEST_KEY) {
    // The head alone decides: what is wrong with it comes first, and then the length of the key.
    const decoded = decodeCacheRecord(withKeyLength(head, 0));
    const why = decoded.ok ? keyTrouble(keyLength, rest, payload.length) : decoded.error;
    return undecodable(why, how);
  }
  const front = firstBytes(payload, HEAD_LENGTH + keyLength);
  return shown(decodeCacheRecord(front), how, (record) => ({ ...cacheRecord(record), valueBytes: rest }));
}

function keyTrouble(keyLength: number, rest: number, length: number): string {
  if (rest < 0) return `claims a key of ${keyLength} bytes, and has ${length - HEAD_LENGTH}`;
  if (keyLength > LONGEST_KEY) return `has a key of ${keyLength} bytes, longer than is decoded here`;
  return `has ${rest} bytes after the key`;
}

function withKeyLength(head: Uint8Array, length: number): Uint8Array {
  return head.slice().fill(length, KEY_LENGTH_AT, KEY_LENGTH_AT + 4);
}

function firstBytes(payload: LongPayload, length: number): Uint8Array {
  for (const piece of payload.pieces(length)) return piece.slice();
  return new Uint8Array();
}

type Known = Exclude<DecodedPayload, { as: 'undecodable' }>;

function shown<T>(decoded: Result<T, string>, how: Decoding, known: (record: T) => Known): DecodedPayload {
  if (!decoded.ok) return undecodable(decoded.error, how);
  const record = known(decoded.value);
  if (how.disclosure === 'whole') return record;
  return record.as === 'cache'
    ? { ...record, key: null, expiresAtMillis: null }
    : { ...record, key: null, value: null };
}

/** The reason may quote the payload. */
function undecodable(why: string, { decode, disclosure }: Decoding): DecodedPayload {
  return { as: 'undecodable', why: disclosure === 'whole' ? why : `is not a ${decode} record of version 1` };
}

function cacheRecord({ op, expiresAtMillis, key, value }: CacheRecord): Known & { as: 'cache' } {
  return { as: 'cache', op, expiresAtMillis, key, keyBytes: encodeUtf8(key).length, valueBytes: value.length };
}

function counterRecord({ op, value, key }: CounterRecord): Known {
  return { as: 'counter', op, value, key, keyBytes: encodeUtf8(key).length };
}
