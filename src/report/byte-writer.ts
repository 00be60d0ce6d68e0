/**
 * A growing buffer of output that is used again and again, for what is too much to be made of strings.
 *
 * Numbers, hex, base64 and text for JSON are written by hand: at millions of lines a second every string made on the way
 * would cost more than the line. A test holds each of these to the plain way of saying the same.
 */

import { invariant } from '../domain/result.js';
import { isUnsafe, toJson } from './json.js';

const INITIAL_BYTES = 1 << 20;
/** Writing whole words may touch so many bytes behind what was written. */
const SLACK = 64;
const EIGHT_DIGITS = 100_000_000;

/** Two decimal digits of 0..99. */
const DIGITS = pairsOf('0123456789');
/** Two hex digits of a byte. */
const HEX = pairsOf('0123456789abcdef');
/** Two characters of base64 for twelve bits. */
const BASE64 = pairsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
/** Of each ASCII character the first four bytes of what it is inside a JSON string; two hex digits follow in an escape of six. */
const ESCAPES = Int32Array.from({ length: 128 }, (_, code) => packed(escapeOf(code).slice(0, 4)));
const ESCAPED_LENGTHS = Uint8Array.from({ length: 128 }, (_, code) => escapeOf(code).length);
const UNICODE_ESCAPE = packed('\\u');

/** What two ASCII characters are inside a JSON string, and how long that is; 0 when it is not known, or more than four. */
const PAIRS = new Int32Array(128 * 128);
const PAIR_LENGTHS = new Uint8Array(128 * 128);
/** Of four bytes, whether one is no ASCII. */
const NOT_ASCII = 0x80808080;

/** The tables of pairs are filled as pairs are met: all of them at once would delay a start. */
function learnPair(first: number, second: number): void {
  const [firstLength, secondLength] = [ESCAPED_LENGTHS[first]!, ESCAPED_LENGTHS[second]!];
  if (firstLength > 2 || secondLength > 2) return;
  const pair = first | (second << 7);
  PAIRS[pair] = ESCAPES[first]! | (ESCAPES[second]! << (8 * firstLength));
  PAIR_LENGTHS[pair] = firstLength + secondLength;
}

/** Four decimal digits of 0..9999, the first in the lowest byte. */
function fourDigits(value: number): number {
  const hundreds = (value / 100) | 0;
  return DIGITS[hundreds]! | (DIGITS[value - 100 * hundreds]! << 16);
}

/** Every two digits of an alphabet, the first in the lower byte. */
function pairsOf(alphabet: string): Uint16Array {
  const codes = Buffer.from(alphabet, 'latin1');
  const table = new Uint16Array(codes.length * codes.length);
  let at = 0;
  for (const first of codes) for (const second of codes) table[at++] = first | (second << 8);
  return table;
}

function packed(ascii: string): number {
  let word = 0;
  for (let i = 0; i < ascii.length; i++) word |= ascii.charCodeAt(i) << (8 * i);
  return word;
}

/** What an ASCII character is inside a JSON string. */
function escapeOf(code: number): string {
  return toJson(String.fromCharCode(code)).slice(1, -1);
}

/** A view of the same bytes for loading words. */
export function dataOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** An ASCII text that is written often, eight characters at a time: taken for a float64 none of them is ever a NaN. */
export class Literal {
  readonly words: Float64Array;
  readonly length: number;

  constructor(text: string) {
    invariant(/^[ -~]*$/.test(text), 'a literal is printable ASCII');
    const bytes = new Uint8Array((text.length + 7) & ~7).fill(0x20);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const data = dataOf(bytes);
    this.words = Float64Array.from({ length: bytes.length / 8 }, (_, i) => data.getFloat64(8 * i, true));
    this.length = text.length;
  }
}

/** A short ASCII text that was written once and is to be written again, as it stands. */
export class Excerpt {
  readonly words: Float64Array;
  length = 0;

  constructor(most: number) {
    this.words = new Float64Array((most + 7) >> 3);
  }
}

const NULL = new Literal('null');

export class ByteWriter {
  #bytes = Buffer.alloc(INITIAL_BYTES);
  #data = new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
  length = 0;

  /** What was written since the last {@link clear}; valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Makes room for `more` bytes; everything below that does not say otherwise relies on it. */
  ensure(more: number): void {
    if (this.length + more + SLACK <= this.#bytes.length) return;
    let size = this.#bytes.length;
    while (size < this.length + more + SLACK) size *= 2;
    const larger = Buffer.alloc(size);
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
    this.#data = new DataView(larger.buffer, larger.byteOffset);
  }

  literal({ words, length }: Literal | Excerpt): void {
    const data = this.#data;
    const at = this.length;
    for (let i = 0; i < words.length; i++) data.setFloat64(at + 8 * i, words[i]!, true);
    this.length = at + length;
  }

  /** Keeps what was written from `start` on, ASCII and not longer than the excerpt can be. */
  keep(start: number, excerpt: Excerpt): void {
    const { words } = excerpt;
    for (let i = 0; i < words.length; i++) words[i] = this.#data.getFloat64(start + 8 * i, true);
    excerpt.length = this.length - start;
  }

  /** Any text, making room itself. */
  text(text: string): void {
    this.ensure(3 * text.length);
    this.length += this.#bytes.write(text, this.length, 'utf8');
  }

  /** Bytes as they are, making room itself. */
  raw(bytes: Uint8Array): void {
    this.ensure(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A whole number from 0 to 2^53. */
  decimal(value: number): void {
    if (value < EIGHT_DIGITS) {
      this.#upToEight(value | 0);
      return;
    }
    const high = Math.floor(value / EIGHT_DIGITS);
    this.#upToEight(high);
    const low = (value - high * EIGHT_DIGITS) | 0;
    const upper = (low / 10_000) | 0;
    const data = this.#data;
    data.setInt32(this.length, fourDigits(upper), true);
    data.setInt32(this.length + 4, fourDigits(low - upper * 10_000), true);
    this.length += 8;
  }

  /** A u64 given as two unsigned halves. */
  u64(high: number, low: number): void {
    if (high < 0x20_0000) this.decimal(high * 0x1_0000_0000 + low);
    else this.text(String((BigInt(high) << 32n) | BigInt(low)));
  }

  #upToEight(value: number): void {
    const data = this.#data;
    if (value >= 10_000) {
      const upper = (value / 10_000) | 0;
      this.#upToFour(upper);
      data.setInt32(this.length, fourDigits(value - upper * 10_000), true);
      this.length += 4;
    } else this.#upToFour(value);
  }

  #upToFour(value: number): void {
    const zeros = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
    this.#data.setInt32(this.length, fourDigits(value) >>> (8 * zeros), true);
    this.length += 4 - zeros;
  }

  /** Eight hex digits. */
  hex32(value: number): void {
    const data = this.#data;
    const at = this.length;
    data.setInt32(at, HEX[value >>> 24]! | (HEX[(value >>> 16) & 255]! << 16), true);
    data.setInt32(at + 4, HEX[(value >>> 8) & 255]! | (HEX[value & 255]! << 16), true);
    this.length = at + 8;
  }

  /** Two hex digits. */
  hexByte(value: number): void {
    this.#data.setInt32(this.length, HEX[value]!, true);
    this.length += 2;
  }

  /** One ASCII character. */
  byte(code: number): void {
    this.#bytes[this.length++] = code;
  }

  /** Both views of the source cover the same bytes. */
  base64(source: Uint8Array, sourceData: DataView, start: number, end: number): void {
    this.ensure(4 * Math.ceil((end - start) / 3));
    const data = this.#data;
    let out = this.length;
    let at = start;
    // A load of four bytes serves three; the last ones are taken one by one.
    for (const quick = end - 3; at < quick; at += 3) {
      const bits = sourceData.getInt32(at);
      data.setInt32(out, BASE64[bits >>> 20]! | (BASE64[(bits >>> 8) & 4095]! << 16), true);
      out += 4;
    }
    if (at < end) {
      const bits =
        (source[at]! << 16) | (at + 1 < end ? source[at + 1]! << 8 : 0) | (at + 2 < end ? source[at + 2]! : 0);
      data.setInt32(out, BASE64[bits >> 12]! | (BASE64[bits & 4095]! << 16), true);
      for (let missing = at + 3 - end, pad = out + 3; missing > 0; missing--) this.#bytes[pad--] = 0x3d;
      out += 4;
    }
    this.length = out;
  }

  /** Bytes as a JSON string like that of {@link toJson}, or `null` when they are not UTF-8. */
  jsonText(source: Uint8Array, data: DataView, start: number, end: number): void {
    this.ensure(6 * (end - start) + 2);
    const begin = this.length;
    this.#bytes[this.length++] = 0x22;
    if (this.#jsonBody(source, data, start, end)) this.#bytes[this.length++] = 0x22;
    else {
      this.length = begin;
      this.literal(NULL);
    }
  }

  /** What stands between the quotes; false, with some of it written, when the bytes are not UTF-8. */
  #jsonBody(source: Uint8Array, sourceData: DataView, start: number, end: number): boolean {
    const data = this.#data;
    let out = this.length;
    let at = start;
    while (at < end) {
      for (; end - at >= 4; at += 4) {
        const word = sourceData.getInt32(at, true);
        const first = (word & 0x7f) | ((word >> 1) & 0x3f80);
        const second = ((word >> 16) & 0x7f) | ((word >> 17) & 0x3f80);
        const firstLength = PAIR_LENGTHS[first]!;
        const secondLength = PAIR_LENGTHS[second]!;
        if ((word & NOT_ASCII) !== 0 || firstLength === 0 || secondLength === 0) break;
        data.setInt32(out, PAIRS[first]!, true);
        data.setInt32(out + firstLength, PAIRS[second]!, true);
        out += firstLength + secondLength;
      }
      if (at === end) break;
      const code = source[at]!;
      if (code < 0x80) {
        data.setInt32(out, ESCAPES[code]!, true);
        data.setInt16(out + 4, HEX[code]!, true);
        out += ESCAPED_LENGTHS[code]!;
        at++;
        if (at < end && source[at]! < 0x80) learnPair(code, source[at]!);
      } else {
        const length = sequenceLength(source, at, end);
        if (length === 0) return false;
        out = this.#jsonSequence(source, at, length, out);
        at += length;
      }
    }
    this.length = out;
    return true;
  }

  /** A character that takes two to four bytes in UTF-8, at `out`; where it ends. */
  #jsonSequence(source: Uint8Array, at: number, length: number, out: number): number {
    const code =
      length === 2
        ? ((source[at]! & 0x1f) << 6) | (source[at + 1]! & 0x3f)
        : ((source[at]! & 0x0f) << 12) | ((source[at + 1]! & 0x3f) << 6) | (source[at + 2]! & 0x3f);
    if (length === 4 || !isUnsafe(code)) {
      for (let i = 0; i < length; i++) this.#bytes[out + i] = source[at + i]!;
      return out + length;
    }
    const data = this.#data;
    data.setInt16(out, UNICODE_ESCAPE, true);
    data.setInt16(out + 2, HEX[code >> 8]!, true);
    data.setInt16(out + 4, HEX[code & 255]!, true);
    return out + 6;
  }
}

/** Bytes of the UTF-8 sequence that begins with a byte from 0x80 on; 0 when it is none. */
function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at]!;
  const length = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length === 0 || at + length > end) return 0;
  // The second byte tells overlong forms, surrogates and what is past U+10FFFF.
  const second = bytes[at + 1]!;
  if (second < (lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80)) return 0;
  if (second > (lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf)) return 0;
  for (let i = 2; i < length; i++) if (bytes[at + i]! >> 6 !== 2) return 0;
  return length;
}
