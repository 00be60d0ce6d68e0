/**
 * The fields of a file as facts, straight from its layout table: name, value, unit and meaning.
 *
 * Nothing is judged here and nothing believed: a damaged file is told as far as its bytes go. Elements of a repeat are one
 * fact each, with their fields as parts; no more of them are told than asked for, and what follows them is told all the
 * same.
 */

import type { FactUnit, InspectedFact } from '../domain/inspection.js';
import type { FactValue } from '../domain/report.js';
import { type ByteFeed, bytesOfHex, decodeUtf8 } from '../format/bytes.js';
import { hex16 } from '../format/checksum.js';
import { COMPOSITE_KEY_LAYOUT, decodeCompositeKey } from '../format/keys-index.js';
import { type FieldSpan, type Layout, walkFields } from '../format/layout.js';

const CRC_LENGTH = 4;

/** The facts of the layout that begins at the first byte of `feed`, with the first `elements` elements. */
export function layoutFacts(layout: Layout, feed: ByteFeed, elements: number): InspectedFact[] {
  const facts: InspectedFact[] = [];
  let element: ElementFact | null = null;
  let told = 0;
  const finish = () => {
    if (element !== null) facts.push(element.fact(layout));
    element = null;
  };
  for (const span of walkFields(layout, feed)) {
    const path = elementOf(span.name);
    if (path === null) {
      finish();
      facts.push(...fieldFacts(span));
      continue;
    }
    if (element === null || (element as ElementFact).name !== path) {
      finish();
      if (told === elements) return [...facts, ...lastFacts(layout, feed)];
      told++;
      element = new ElementFact(path);
    }
    (element as ElementFact).add(span);
  }
  finish();
  return facts;
}

/** The fields behind the elements: the checksum at the end of the file, where a layout has one there. */
function lastFacts(layout: Layout, feed: ByteFeed): InspectedFact[] {
  const last = layout.items.at(-1);
  if (last === undefined || !('type' in last) || !last.type.startsWith('crc32') || feed.size < CRC_LENGTH) return [];
  const table: Layout = { ...layout, items: [last] };
  return [...walkFields(table, feed, feed.size - CRC_LENGTH)].flatMap(fieldFacts);
}

/** `entries[3]` of `entries[3].offset`; null for a field that is in no element. */
function elementOf(name: string): string | null {
  const end = name.indexOf(']');
  return end < 0 ? null : name.slice(0, end + 1);
}

function fieldFacts(span: FieldSpan): InspectedFact[] {
  const fact: InspectedFact = {
    name: span.name,
    value: shownValue(span),
    unit: span.unit ?? null,
    meaning: span.partial ? `cut off by the end of the file; ${span.meaning}` : meaningOf(span),
  };
  const bits = (span.bits ?? []).map(({ name, value, meaning }) => ({
    name: `${span.name}.${name}`,
    value,
    unit: null,
    meaning,
  }));
  return [fact, ...bits];
}

function meaningOf({ meaning, covers }: FieldSpan): string {
  return covers === undefined || meaning.includes('over') || meaning.includes(covers)
    ? meaning
    : `${meaning}, over ${covers}`;
}

/** Counts and sizes as numbers where they are exact, flags as hex digits, everything else as it was decoded. */
function shownValue(span: FieldSpan): FactValue {
  const { value, unit, name } = span;
  if (typeof value === 'number' && /(^|\.)flags$/.test(name)) return hex16(value);
  const counts = unit === 'bytes' || unit === 'entries' || unit === 'records';
  if (typeof value === 'bigint' && counts && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  return value;
}

/** One element of a repeat, its fields in order and the elements within it as lists. */
class ElementFact {
  readonly name: string;
  readonly #value: Record<string, FactValue> = {};
  readonly #units: Record<string, FactUnit> = {};

  constructor(name: string) {
    this.name = name;
  }

  add(span: FieldSpan): void {
    const steps = span.name.slice(this.name.length + 1).split('.');
    const isInner = steps.length > 1 && /\]$/.test(steps[0]!);
    const [at, path] = isInner ? [this.#inner(steps[0]!), steps.slice(1).join('.')] : [this.#value, steps.join('.')];
    at[path] = shownValue(span);
    if (span.unit !== undefined) this.#units[path] = span.unit;
  }

  /** The element `batches[1]` within this one; the list is `batches[]`, beside the field that counts it. */
  #inner(step: string): Record<string, FactValue> {
    const [, repeat, index] = /^(.*)\[([0-9]+)\]$/.exec(step)!;
    const name = `${repeat}[]`;
    const list = (this.#value[name] ?? []) as Record<string, FactValue>[];
    const inner = list[Number(index)] ?? {};
    list[Number(index)] = inner;
    this.#value[name] = list;
    return inner;
  }

  fact(layout: Layout): InspectedFact {
    const key = this.#value['key'];
    if (layout.name === 'keys.idx' && typeof key === 'string') Object.assign(this.#value, compositeKey(key));
    return { name: this.name, value: this.#value, unit: null, units: this.#units, meaning: null };
  }
}

/** What a composite key is made of, in words of its layout; nothing when it is none. */
function compositeKey(digits: string): Record<string, FactValue> {
  const decoded = decodeCompositeKey(bytesOfHex(digits));
  if (!decoded.ok) return { key_problem: decoded.error };
  const { kind, key, slot } = decoded.value;
  const text = decodeUtf8(key);
  const [kindField] = COMPOSITE_KEY_LAYOUT.items;
  return {
    [`key.${kindField.name}`]: kind,
    ...(text === null ? {} : { 'key.text': text }),
    ...(slot === null ? {} : { 'key.slot': slot }),
  };
}
