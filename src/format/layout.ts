/**
 * Byte layouts as data, and the one walker that names the bytes of a file by them.
 *
 * Every format file holds a table of this shape, `as const satisfies Layout`. Decoders are held to it by tests; hexdump,
 * inspect and the man page read it. Within a table, `at` counts from the start of the layout, or of one element for
 * items of a repeat, and is given as long as everything in front of it has a fixed size.
 *
 * The walker takes bytes as they are: it checks neither magic, version nor checksum, and ends where the bytes end. A
 * count or length from disk moves it forward, and sizes nothing. It knows nothing of what a reader would refuse.
 */

import { assertNever, invariant } from '../domain/result.js';
import { type ByteFeed, decodeUtf8, feedOf, hexOf, readU16, readU32, readU32Le, readU64, readU64Le } from './bytes.js';
import { hex32 } from './checksum.js';

/** Big-endian integers, but for the ones in `le`. `magic`, `crc32` and `crc32c` are shown as `0x` and eight digits. */
export type FieldType =
  | 'magic'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'u32le'
  | 'u64le'
  | 'i64le'
  | 'crc32'
  | 'crc32c'
  | 'utf8'
  | 'bytes';

/** The bytes of a type of fixed size; `utf8` and `bytes` have none. */
export const FIELD_SIZES = {
  magic: 4,
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  u32le: 4,
  u64le: 8,
  i64le: 8,
  crc32: 4,
  crc32c: 4,
} as const satisfies Partial<Record<FieldType, number>>;

export type FieldUnit = 'bytes' | 'microseconds' | 'milliseconds' | 'records' | 'entries' | 'offset';

/** The value of an integer field met earlier, in this element or around it; with `mask`, those bits of it alone. */
export interface FieldRef {
  readonly field: string;
  readonly mask?: number;
}

/** Bits of an integer of 32 bits or less that have a meaning of their own; the value is shifted down to bit 0. */
export interface FieldBits {
  readonly name: string;
  readonly mask: number;
  readonly meaning: string;
}

export interface LayoutField {
  /** As the format page spells it. */
  readonly name: string;
  readonly type: FieldType;
  /** `'rest'` takes every byte that is left. */
  readonly size: number | FieldRef | 'rest';
  readonly at?: number;
  /** One short sentence, without a full stop. */
  readonly meaning: string;
  readonly unit?: FieldUnit;
  /** For a checksum, the bytes it is over. */
  readonly covers?: string;
  readonly bits?: readonly FieldBits[];
}

export interface LayoutRepeat {
  readonly repeat: string;
  /** `'rest'` goes on to the end of the bytes. */
  readonly count: FieldRef | 'rest';
  readonly items: readonly LayoutItem[];
}

/** Items that are there only when the field, or the masked bits of it, equals the number. */
export interface LayoutWhen {
  readonly when: FieldRef & { readonly equals: number };
  readonly items: readonly LayoutItem[];
}

export type LayoutItem = LayoutField | LayoutRepeat | LayoutWhen;

export interface Layout {
  /** The kind of file or structure: `epochs`, `segment-header`, `record`. */
  readonly name: string;
  readonly title: string;
  /** The section of the format page that defines it. */
  readonly section: string;
  readonly items: readonly LayoutItem[];
}

export interface FieldSpan {
  /** A path: `entries[3].offset`. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly type: FieldType;
  /**
   * A number up to 32 bits, a bigint for 64, `0x…` for a magic or checksum, text for `utf8`, hex digits for `bytes`.
   * Null when the bytes end inside the field, are not UTF-8, or are too many to show.
   */
  readonly value: bigint | number | string | null;
  readonly meaning: string;
  /** The bytes end inside this field; it is the last span. */
  readonly partial: boolean;
  readonly unit?: FieldUnit;
  readonly covers?: string;
  readonly bits?: readonly { readonly name: string; readonly value: number; readonly meaning: string }[];
}

/** Longer `bytes` have no shown value. */
const SHOWN_BYTES = 64;
/** Longer `utf8` has no shown value. Holds any length that a u16 can give. */
const SHOWN_TEXT = 65_535;
const DEFAULT_SPANS = 4096;

/** The first `limit` spans of the layout whose first byte is `bytes[start]`; positions are indexes into `bytes`. */
export function walkLayout(layout: Layout, bytes: Uint8Array, start = 0, limit = DEFAULT_SPANS): FieldSpan[] {
  const spans: FieldSpan[] = [];
  if (limit <= 0) return spans;
  for (const span of walkFields(layout, feedOf(bytes), start)) {
    spans.push(span);
    if (spans.length >= limit) break;
  }
  return spans;
}

/**
 * The spans of the layout that begins at `start`, one at a time, so that a caller may look for a place in a file of any
 * size and stop. Ends with the layout, or with the field in which the bytes end. Elements of repeats that end at or in
 * front of `from` are passed over without a span.
 */
export function* walkFields(
  layout: Layout,
  feed: ByteFeed,
  start = 0,
  from = 0,
): Generator<FieldSpan, void, undefined> {
  const cursor: Cursor = { feed, position: start, from };
  yield* walkItems(layout.items, { path: '', values: new Map(), outer: null }, cursor);
}

/** The bytes of a layout up to its first repeat, condition or field of a size known from disk only. */
export function fixedLength(layout: { readonly items: readonly LayoutItem[] }): number {
  let length = 0;
  for (const item of layout.items) {
    if (!('type' in item) || typeof item.size !== 'number') break;
    length += item.size;
  }
  return length;
}

interface Cursor {
  readonly feed: ByteFeed;
  position: number;
  /** Elements that end here or before have no spans. */
  readonly from: number;
}

interface Scope {
  readonly path: string;
  readonly values: Map<string, bigint>;
  readonly outer: Scope | null;
}

/** Yields the spans of `items`, and returns false once the bytes have ended. */
function* walkItems(items: readonly LayoutItem[], scope: Scope, cursor: Cursor): Generator<FieldSpan, boolean> {
  for (const item of items) {
    if ('repeat' in item) {
      const count = item.count === 'rest' ? null : valueAt(item.count, scope);
      for (let index = passOver(item, count, scope, cursor); count === null || index < count; index++) {
        const element: Scope = { path: `${scope.path}${item.repeat}[${index}].`, values: new Map(), outer: scope };
        if (!(yield* walkItems(item.items, element, cursor))) return false;
      }
    } else if ('when' in item) {
      if (valueAt(item.when, scope) !== BigInt(item.when.equals)) continue;
      if (!(yield* walkItems(item.items, scope, cursor))) return false;
    } else {
      const span = spanOf(item, scope, cursor);
      if (span === null) return false;
      yield span;
      if (span.partial) return false;
    }
  }
  return true;
}

/** Moves over the elements that end in front of what is asked for; returns how many they are. */
function passOver(repeat: LayoutRepeat, count: bigint | null, outer: Scope, cursor: Cursor): number {
  if (cursor.position >= cursor.from) return 0;
  const most = count === null ? Number.POSITIVE_INFINITY : Number(count);
  const length = fixedLength(repeat);
  if (repeat.items.every((item) => 'type' in item && typeof item.size === 'number')) {
    const passed = Math.min(most, Math.floor((Math.min(cursor.from, cursor.feed.size) - cursor.position) / length));
    cursor.position += passed * length;
    return passed;
  }
  const needed = new Set(referencesIn(repeat.items));
  for (let index = 0; index < most; index++) {
    const scope: Scope = { path: '', values: new Map(), outer };
    const end = endOfItems(repeat.items, scope, cursor.feed, cursor.position, needed);
    if (end === null || end > cursor.from) return index;
    cursor.position = end;
  }
  return most;
}

function referencesIn(items: readonly LayoutItem[]): string[] {
  return items.flatMap((item) => {
    if ('repeat' in item) return [...(item.count === 'rest' ? [] : [item.count.field]), ...referencesIn(item.items)];
    if ('when' in item) return [item.when.field, ...referencesIn(item.items)];
    return typeof item.size === 'object' ? [item.size.field] : [];
  });
}

/** Where the items that begin at `at` end; null when the bytes end first. Only fields in `needed` are read. */
function endOfItems(
  items: readonly LayoutItem[],
  scope: Scope,
  feed: ByteFeed,
  at: number,
  needed: ReadonlySet<string>,
): number | null {
  let end = at;
  for (const item of items) {
    if ('repeat' in item) {
      const count = item.count === 'rest' ? null : valueAt(item.count, scope);
      for (let index = 0; count === null || index < count; index++) {
        if (count === null && end >= feed.size) break;
        const element: Scope = { path: '', values: new Map(), outer: scope };
        const next = endOfItems(item.items, element, feed, end, needed);
        if (next === null) return null;
        end = next;
      }
    } else if ('when' in item) {
      if (valueAt(item.when, scope) !== BigInt(item.when.equals)) continue;
      const next = endOfItems(item.items, scope, feed, end, needed);
      if (next === null) return null;
      end = next;
    } else {
      const length = item.size === 'rest' ? BigInt(feed.size - end) : sizeOf(item.size, scope);
      if (length > BigInt(feed.size - end)) return null;
      if (needed.has(item.name)) {
        const value = fieldValue(item.type, feed, end, Number(length));
        if (typeof value === 'number' || typeof value === 'bigint') scope.values.set(item.name, BigInt(value));
      }
      end += Number(length);
    }
  }
  return end;
}

function spanOf(field: LayoutField, scope: Scope, cursor: Cursor): FieldSpan | null {
  const start = cursor.position;
  const left = Math.max(0, cursor.feed.size - start);
  const length = field.size === 'rest' ? BigInt(left) : sizeOf(field.size, scope);
  if (left === 0 && length > 0n) return null;
  const partial = length > BigInt(left);
  const end = start + (partial ? left : Number(length));
  cursor.position = end;
  const value = partial ? null : fieldValue(field.type, cursor.feed, start, end - start);
  if (typeof value === 'number' || typeof value === 'bigint') scope.values.set(field.name, BigInt(value));
  return {
    name: scope.path + field.name,
    start,
    end,
    type: field.type,
    value,
    meaning: field.meaning,
    partial,
    ...(field.unit === undefined ? {} : { unit: field.unit }),
    ...(field.covers === undefined ? {} : { covers: field.covers }),
    ...(field.bits === undefined || typeof value !== 'number' ? {} : { bits: bitsOf(field.bits, value) }),
  };
}

function sizeOf(size: number | FieldRef, scope: Scope): bigint {
  return typeof size === 'number' ? BigInt(size) : valueAt(size, scope);
}

function valueAt(ref: FieldRef, scope: Scope): bigint {
  for (let at: Scope | null = scope; at !== null; at = at.outer) {
    const value = at.values.get(ref.field);
    if (value !== undefined) return ref.mask === undefined ? value : value & BigInt(ref.mask);
  }
  invariant(false, `the layout refers to ${ref.field}, which no field in front of it names`);
}

function bitsOf(bits: readonly FieldBits[], value: number): { name: string; value: number; meaning: string }[] {
  return bits.map(({ name, mask, meaning }) => {
    const lowest = mask & -mask;
    return { name, value: ((value & mask) >>> 0) / (lowest >>> 0), meaning };
  });
}

function fieldValue(type: FieldType, feed: ByteFeed, start: number, length: number): FieldSpan['value'] {
  switch (type) {
    case 'utf8':
      return length <= SHOWN_TEXT ? decodeUtf8(feed.view(start, length)) : null;
    case 'bytes':
      return length <= SHOWN_BYTES ? hexOf(feed.view(start, length)) : null;
    default:
      invariant(length === FIELD_SIZES[type], `a field of type ${type} has the size of its type`);
      return fixedValue(type, feed.view(start, length));
  }
}

function fixedValue(type: keyof typeof FIELD_SIZES, bytes: Uint8Array): bigint | number | string {
  switch (type) {
    case 'u8':
      return bytes[0]!;
    case 'u16':
      return readU16(bytes, 0);
    case 'u32':
      return readU32(bytes, 0);
    case 'u64':
      return readU64(bytes, 0);
    case 'u32le':
      return readU32Le(bytes, 0);
    case 'u64le':
      return readU64Le(bytes, 0);
    case 'i64le':
      return BigInt.asIntN(64, readU64Le(bytes, 0));
    case 'magic':
    case 'crc32':
    case 'crc32c':
      return hex32(readU32(bytes, 0));
    default:
      return assertNever(type);
  }
}
