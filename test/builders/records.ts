/**
 * Healthy records with payloads and timestamps that depend on the offset alone.
 *
 * A payload is text, so that a person who looks at a fixture sees where one begins: `order 12 ` and letters behind it.
 */

import type { LogRecord, RecordTag } from '../../src/format/record.js';
import { seededRandom } from './random.js';

/** 2026-01-01T00:00:00Z. */
const START_MICROS = 1_767_225_600_000_000n;
const STEP_MICROS = 250_000n;

export interface RecordOptions {
  readonly timestampMicros?: bigint;
  readonly payload?: Uint8Array;
  /** Bytes of payload when `payload` is not given; 12 to 59, by the offset, when left out. */
  readonly payloadLength?: number;
}

/** Four records a second from {@link START_MICROS} on; wraps after a million records, to stay in 2026. */
export function timestampOf(offset: bigint): bigint {
  return START_MICROS + BigInt.asUintN(20, offset) * STEP_MICROS;
}

function payloadOf(offset: bigint, length?: number): Uint8Array {
  const random = seededRandom(Number(BigInt.asUintN(32, offset)));
  const bytes = new Uint8Array(length ?? 12 + random.below(48));
  const text = `order ${offset} `;
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = at < text.length ? text.charCodeAt(at) : 97 + random.below(26);
  }
  return bytes;
}

export function plain(offset: bigint, options: RecordOptions = {}): LogRecord {
  return { kind: 'plain', tag: null, ...common(offset, options) };
}

/** A record that opens a batch of `tag.len` records. */
export function opens(offset: bigint, tag: RecordTag, options: RecordOptions = {}): LogRecord {
  return { kind: 'opens', tag, ...common(offset, options) };
}

export function continues(offset: bigint, options: RecordOptions = {}): LogRecord {
  return { kind: 'continues', tag: null, ...common(offset, options) };
}

/** The first record of a leader at `generation`: eight bytes of payload. */
export function generationStart(offset: bigint, generation: bigint, options: RecordOptions = {}): LogRecord {
  const payload = new Uint8Array(8);
  new DataView(payload.buffer).setBigUint64(0, generation);
  return { kind: 'generation-start', tag: null, ...common(offset, { payload, ...options }) };
}

/** `count` plain records from `first` on. */
export function plainRun(first: bigint, count: number, options: RecordOptions = {}): LogRecord[] {
  return Array.from({ length: count }, (_, index) => plain(first + BigInt(index), options));
}

/** The batch that `tag` names, from `first` on; only its first `held` records when that is given. */
export function batch(first: bigint, tag: RecordTag, held = tag.len, options: RecordOptions = {}): LogRecord[] {
  return Array.from({ length: held }, (_, index) =>
    index === 0 ? opens(first, tag, options) : continues(first + BigInt(index), options),
  );
}

/** A number is that many plain records; a tag is its whole batch; a generation is its start record. */
export type SequencePart = number | RecordTag | { readonly generation: bigint };

/** Consecutive records, part after part, from `first` on. */
export function sequence(first: bigint, parts: readonly SequencePart[], options: RecordOptions = {}): LogRecord[] {
  const records: LogRecord[] = [];
  for (const part of parts) {
    const next = first + BigInt(records.length);
    if (typeof part === 'number') records.push(...plainRun(next, part, options));
    else if ('generation' in part) records.push(generationStart(next, part.generation));
    else records.push(...batch(next, part, part.len, options));
  }
  return records;
}

function common(offset: bigint, options: RecordOptions) {
  return {
    offset,
    timestampMicros: options.timestampMicros ?? timestampOf(offset),
    payload: options.payload ?? payloadOf(offset, options.payloadLength),
  };
}
