/**
 * Reading and writing the big-endian integers of the format ("Conventions" of the format page).
 *
 * A {@link ByteFeed} is how a decoder sees a file: a size, and views of ranges that it has checked against that size.
 * No length read from disk reaches {@link ByteFeed.view} before it was compared with the bytes left.
 */

import { isUtf8 } from 'node:buffer';
import { invariant } from '../domain/result.js';

export interface ByteFeed {
  /** Bytes in all. */
  readonly size: number;
  /** The bytes `[position, position + length)`, valid until the next call. The range must lie inside `size`. */
  view(position: number, length: number): Uint8Array;
}

/** A feed over bytes in memory. */
export function feedOf(bytes: Uint8Array): ByteFeed {
  return {
    size: bytes.length,
    view(position, length) {
      invariant(position >= 0 && length >= 0 && position + length <= bytes.length, 'a view lies inside its bytes');
      return bytes.subarray(position, position + length);
    },
  };
}

export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Unsigned. */
export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

export function readU64(bytes: Uint8Array, at: number): bigint {
  return u64From(readU32(bytes, at), readU32(bytes, at + 4));
}

/** Unsigned, least significant byte first: for payloads alone, the format itself is big-endian. */
export function readU32Le(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Least significant byte first: for payloads alone, the format itself is big-endian. */
export function readU64Le(bytes: Uint8Array, at: number): bigint {
  return u64From(readU32Le(bytes, at + 4), readU32Le(bytes, at));
}

/** Joins the two halves of a u64, each unsigned. */
export function u64From(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

export function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function writeU64(bytes: Uint8Array, at: number, value: bigint): void {
  writeU32(bytes, at, Number((value >> 32n) & 0xffffffffn));
  writeU32(bytes, at + 4, Number(value & 0xffffffffn));
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of `bytes`, or null when they are not UTF-8: asked first, for a decoder that throws takes fifty times as long. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? UTF8.decode(bytes) : null;
}

/** Lower-case hex digits, two a byte. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The bytes of an even number of hex digits. */
export function bytesOfHex(digits: string): Uint8Array {
  invariant(/^([0-9a-fA-F]{2})*$/.test(digits), 'hex digits come in pairs');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const TEXT = new TextEncoder();

export function encodeUtf8(text: string): Uint8Array {
  return TEXT.encode(text);
}
