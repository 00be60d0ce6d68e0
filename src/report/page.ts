/**
 * What every text for people is made with: the width, the colours, and the ways in which data is shown.
 */

import type { Site } from '../domain/finding.js';
import type { ByteRange, OffsetRange } from '../domain/units.js';
import { offsetCount } from '../domain/units.js';
import { counted, offsetsOf, printable } from '../domain/wording.js';
import { type Paints, paintsOf, type Style, widthOf } from './style.js';

export interface Page {
  readonly width: number;
  readonly paint: Paints;
  readonly unicode: boolean;
  /** Any text from the data, safe for a terminal. */
  show(text: string): string;
}

export function pageOf(style: Style): Page {
  const { unicode } = style;
  return {
    width: widthOf(style),
    paint: paintsOf(style),
    unicode,
    show: (text) => (unicode ? printable(text) : asciiOnly(printable(text))),
  };
}

function asciiOnly(text: string): string {
  return text.replace(/[^ -~]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Lines as text; empty for no lines. */
export function joined(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

const LOG_NAME = /^[0-9]{20}\.log$/;
const INDEX_NAME = /^[0-9]{20}\.index$/;

/** `segment 2`, `index of segment 2`, or the name of another file; null when the place is the directory as a whole. */
export function fileText(page: Page, file: string | null, segment: bigint | undefined): string | null {
  if (file !== null && INDEX_NAME.test(file)) return `index of segment ${BigInt(file.slice(0, 20))}`;
  if (file !== null && LOG_NAME.test(file)) return `segment ${BigInt(file.slice(0, 20))}`;
  if (file !== null) return page.show(file);
  return segment === undefined ? null : `segment ${segment}`;
}

/** `in segment 2 at byte 426`, in the file when it is known. */
export function siteText(page: Page, site: Site, file: string | null): string {
  const where = file ?? fileText(page, null, site.segment);
  const parts = [
    ...(where === null ? [] : [`in ${where}`]),
    ...(site.position === undefined ? [] : [`at byte ${site.position}`]),
  ];
  return parts.length === 0 ? 'in the directory' : parts.join(' ');
}

/** `426..4522`, half-open, without separators: it is meant to be copied. */
export function rangeText(range: ByteRange | OffsetRange): string {
  return `${range.from}..${range.to}`;
}

/** `no record`, `1 record, offset 16`, `5 records, offsets 16..21`. */
export function lostText(range: OffsetRange): string {
  const lost = offsetCount(range);
  return lost === 0n ? 'no record' : `${counted(lost, 'record')}, ${offsetsOf(range)}`;
}
