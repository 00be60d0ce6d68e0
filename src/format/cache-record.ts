/**
 * Payloads of cache and counter records, as far as they are known.
 *
 * Best effort: the format page calls a payload "opaque bytes", and later builds may write another version. What does not
 * fit version 1 to the byte is an error with a reason, never a guess. Unlike the rest of the format, these integers are
 * little-endian.
 */

import { err, ok, type Result } from '../domain/result.js';
import { decodeUtf8, encodeUtf8, readU32Le, readU64Le, writeU32, writeU64 } from './bytes.js';
import type { Layout } from './layout.js';

const PAYLOAD_VERSION = 1;
/** Version, op, eight bytes of expiry or value, length of the key. */
const HEAD_LENGTH = 14;

const SECTION = 'Record';

/** The payload of a record in a shard under `caches/`. */
export const CACHE_RECORD_LAYOUT = {
  name: 'cache-record',
  title: 'Payload of a cache record',
  section: SECTION,
  items: [
    { name: 'version', at: 0, size: 1, type: 'u8', meaning: '1' },
    { name: 'op', at: 1, size: 1, type: 'u8', meaning: '0 put, 1 delete' },
    { name: 'expires_at_millis', at: 2, size: 8, type: 'u64le', unit: 'milliseconds', meaning: 'expiry; 0 for none' },
    { name: 'key_len', at: 10, size: 4, type: 'u32le', unit: 'bytes', meaning: 'length of the key' },
    { name: 'key', at: 14, size: { field: 'key_len' }, type: 'utf8', meaning: 'key' },
    { name: 'value', size: 'rest', type: 'bytes', meaning: 'value' },
  ],
} as const satisfies Layout;

/** The payload of a record in a shard under `counters/`. */
export const COUNTER_RECORD_LAYOUT = {
  name: 'counter-record',
  title: 'Payload of a counter record',
  section: SECTION,
  items: [
    { name: 'version', at: 0, size: 1, type: 'u8', meaning: '1' },
    { name: 'op', at: 1, size: 1, type: 'u8', meaning: '0 delta, 1 checkpoint' },
    { name: 'value', at: 2, size: 8, type: 'i64le', meaning: 'what is added, or the value reached' },
    { name: 'key_len', at: 10, size: 4, type: 'u32le', unit: 'bytes', meaning: 'length of the key' },
    { name: 'key', at: 14, size: { field: 'key_len' }, type: 'utf8', meaning: 'key' },
  ],
} as const satisfies Layout;

export interface CacheRecord {
  readonly op: 'put' | 'delete';
  /** 0 for none. */
  readonly expiresAtMillis: bigint;
  readonly key: string;
  /** A view into the payload. */
  readonly value: Uint8Array;
}

export interface CounterRecord {
  readonly op: 'delta' | 'checkpoint';
  readonly value: bigint;
  readonly key: string;
}

export function encodeCacheRecord({ op, expiresAtMillis, key, value }: CacheRecord): Uint8Array {
  const head = encodeHead(op === 'put' ? 0 : 1, expiresAtMillis, key, value.length);
  head.set(value, head.length - value.length);
  return head;
}

export function encodeCounterRecord({ op, value, key }: CounterRecord): Uint8Array {
  return encodeHead(op === 'delta' ? 0 : 1, BigInt.asUintN(64, value), key, 0);
}

/** The error is a sentence part: why this payload is not taken for a cache record. */
export function decodeCacheRecord(payload: Uint8Array): Result<CacheRecord, string> {
  const head = decodeHead(payload);
  if (!head.ok) return head;
  const { op, word, key, end } = head.value;
  return ok({ op: op === 0 ? 'put' : 'delete', expiresAtMillis: word, key, value: payload.subarray(end) });
}

/** The error is a sentence part: why this payload is not taken for a counter record. */
export function decodeCounterRecord(payload: Uint8Array): Result<CounterRecord, string> {
  const head = decodeHead(payload);
  if (!head.ok) return head;
  const { op, word, key, end } = head.value;
  if (end < payload.length) return err(`has ${payload.length - end} bytes after the key`);
  return ok({ op: op === 0 ? 'delta' : 'checkpoint', value: BigInt.asIntN(64, word), key });
}

interface Head {
  readonly op: number;
  readonly word: bigint;
  readonly key: string;
  readonly end: number;
}

function decodeHead(payload: Uint8Array): Result<Head, string> {
  if (payload.length < HEAD_LENGTH) return err(`ends after ${payload.length} of the ${HEAD_LENGTH} bytes of its head`);
  const version = payload[0]!;
  const op = payload[1]!;
  if (version !== PAYLOAD_VERSION) return err(`has version ${version}, and only ${PAYLOAD_VERSION} is known`);
  if (op > 1) return err(`has op ${op}, neither 0 nor 1`);
  const keyLength = readU32Le(payload, 10);
  const end = HEAD_LENGTH + keyLength;
  if (end > payload.length) return err(`claims a key of ${keyLength} bytes, and has ${payload.length - HEAD_LENGTH}`);
  const key = decodeUtf8(payload.subarray(HEAD_LENGTH, end));
  if (key === null) return err('has a key that is not UTF-8');
  return ok({ op, word: readU64Le(payload, 2), key, end });
}

function encodeHead(op: number, word: bigint, key: string, valueLength: number): Uint8Array {
  const keyBytes = encodeUtf8(key);
  const bytes = new Uint8Array(HEAD_LENGTH + keyBytes.length + valueLength);
  bytes[0] = PAYLOAD_VERSION;
  bytes[1] = op;
  writeU64(bytes, 2, word);
  bytes.subarray(2, 10).reverse();
  writeU32(bytes, 10, keyBytes.length);
  bytes.subarray(10, 14).reverse();
  bytes.set(keyBytes, HEAD_LENGTH);
  return bytes;
}
