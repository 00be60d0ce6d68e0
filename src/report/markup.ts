/**
 * HTML that is safe by construction: the only way to make it is a template whose values are escaped.
 *
 * A value may stand between tags or inside a double-quoted attribute. Text from the data has its control, invisible and
 * bidirectional characters made visible first, so that a name can neither end a tag nor change what a person reads.
 */

import { printable } from '../domain/wording.js';

/** A piece of HTML. Only {@link markup} makes one that holds data. */
export class Markup {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

export type Value = Markup | string | number | bigint | null | readonly Markup[];

/** The template as it stands, its values escaped; null is nothing. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let html = parts[0] ?? '';
  values.forEach((value, at) => {
    html += htmlOf(value) + (parts[at + 1] ?? '');
  });
  return new Markup(html);
}

/** Pieces one behind the other, with a text between them. */
export function joinedMarkup(pieces: readonly Markup[], between = ''): Markup {
  return new Markup(pieces.map(({ html }) => html).join(escaped(between)));
}

function htmlOf(value: Value): string {
  if (value === null) return '';
  if (value instanceof Markup) return value.html;
  if (typeof value === 'object') return value.map(({ html }) => html).join('');
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** A text cut after so many characters, with the whole length named. */
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${Array.from(text.slice(0, limit)).slice(0, limit).join('')}… (${text.length} characters)`;
}
