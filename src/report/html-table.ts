/**
 * Tables of the HTML report: they scroll in a box of their own where the page is narrow, with the keyboard too.
 */

import { type Markup, markup } from './markup.js';

export interface HtmlColumn {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly number?: true;
}

export interface HtmlTable {
  /** What the box is called to those who hear the page. */
  readonly label: string;
  readonly caption?: Markup | string;
  readonly columns: readonly HtmlColumn[];
  readonly rows: readonly Markup[];
}

export function htmlTable({ label, caption, columns, rows }: HtmlTable): Markup {
  const head = columns.map(({ title, number }) =>
    number === true ? markup`<th scope="col" class="n">${title}</th>` : markup`<th scope="col">${title}</th>`,
  );
  const above = caption === undefined ? null : markup`<caption><span>${caption}</span></caption>`;
  return markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>${above}<thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
