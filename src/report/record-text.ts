/**
 * Pieces of text about records that people read: times, batches, previews of payloads. All of it is safe for a terminal.
 */

import type { DamageRow, DecodedPayload, RecordView } from '../domain/record-view.js';
import { counted, grouped } from '../domain/wording.js';
import { microsText } from './instants.js';
import { type Page, rangeText } from './page.js';
import { displayWidth } from './wrap.js';

function u64Value(high: number, low: number): number | bigint {
  return high < 0x20_0000 ? high * 0x1_0000_0000 + low : (BigInt(high) << 32n) | BigInt(low);
}

export function offsetText({ offsetHigh, offsetLow }: RecordView): string {
  return String(u64Value(offsetHigh, offsetLow));
}

export function timeText({ timestampHigh, timestampLow }: RecordView): string {
  return microsText(BigInt(u64Value(timestampHigh, timestampLow)));
}

/** `plain`, `opens 7/0 1 of 3`: kind, producer, sequence, and the record's place in the batch; `generation-start 2`. */
export function kindText({ kind, batch, generation }: RecordView): string {
  if (kind === 'generation-start') return generation === null ? kind : `${kind} ${generation}`;
  if (kind === 'plain') return kind;
  if (batch === null) return `${kind} an unknown batch`;
  return `${kind} ${batch.producer}/${batch.sequence} ${batch.index + 1} of ${Math.max(1, batch.length)}`;
}

export function crcText(crc: number): string {
  return `crc 0x${crc.toString(16).padStart(8, '0')}`;
}

export function decodedText(decoded: DecodedPayload, page: Page): string {
  if (decoded.as === 'undecodable') return page.show(`not decoded: ${decoded.why}`);
  const key = decoded.key === null ? `key of ${counted(decoded.keyBytes, 'byte')}` : `"${page.show(decoded.key)}"`;
  if (decoded.as === 'counter') return [decoded.op, key, decoded.value ?? ''].join(' ').trimEnd();
  const value = decoded.op === 'put' ? `, ${counted(decoded.valueBytes, 'byte')}` : '';
  return `${decoded.op} ${key}${value}${expiryText(decoded.expiresAtMillis)}`;
}

function expiryText(millis: bigint | null): string {
  return millis === null || millis === 0n ? '' : `, expires ${microsText(millis * 1000n)}`;
}

/** The beginning of a payload in so many columns: text in quotes when it is UTF-8 as far as that goes, else hex digits. */
export function previewText(front: Uint8Array, isAll: boolean, columns: number, page: Page): string {
  const text = frontText(front, isAll);
  const mark = page.unicode ? '…' : '...';
  if (text === null) {
    const digits = Math.max(2, columns - 2 - mark.length) & ~1;
    const bytes = Array.from(front.subarray(0, digits / 2), (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `0x${bytes}${isAll && front.length * 2 <= digits ? '' : mark}`;
  }
  const whole = `"${page.show(text)}"`;
  if (isAll && displayWidth(whole) <= columns) return whole;
  return `${cut(page.show(text), columns - 2 - displayWidth(mark))}"${mark}`;
}

/** The first characters in so many columns, behind a quote. */
function cut(text: string, columns: number): string {
  let kept = '"';
  let width = 0;
  for (const character of text) {
    width += displayWidth(character);
    if (width > columns) break;
    kept += character;
  }
  return kept;
}

/** Null when the bytes are not UTF-8; a character that is cut off at their end does not count against them. */
function frontText(front: Uint8Array, isAll: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(front, { stream: !isAll });
  } catch {
    return null;
  }
}

/** How many bytes of a payload a preview of so many columns looks at. */
export function previewBytes(columns: number): number {
  return 4 * columns;
}

/** One paragraph about damage: where, what, and what it costs. */
export function damageText({ kind, segment, position, damagedRange, message }: DamageRow, page: Page): string {
  const place = damagedRange === null ? `byte ${position}` : `bytes ${rangeText(damagedRange)}`;
  return page.show(`${kind} in segment ${segment}, ${place}: ${message}`);
}

export function totalText(records: number, damaged: number, unreadable: number, partial: boolean): string {
  const parts = [counted(records, 'record')];
  if (damaged > 0) parts.push(`${grouped(damaged)} damaged ${damaged === 1 ? 'place' : 'places'}`);
  if (unreadable > 0) parts.push(`${grouped(unreadable)} unreadable`);
  return `${parts.join(', ')}${partial ? '; interrupted, there may be more' : ''}`;
}
