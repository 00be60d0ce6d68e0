/**
 * Rows of cells as aligned columns.
 *
 * Drawn a page of rows at a time, because the time that the table library takes grows with the square of the rows; widths are taken over all
 * rows, so that pages join without a seam. When the columns do not fit, each row becomes a paragraph of `name value` pairs.
 */

import Table from 'cli-table3';
import { displayWidth, wrap } from './wrap.js';

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** The row's name when rows become paragraphs: its value leads them. */
  readonly leads?: boolean;
}

export interface ColumnsOptions {
  readonly width: number;
  /** Begins every line; it counts as columns. */
  readonly indent?: string;
  /** Puts colour on the line of titles. */
  readonly paintTitles?: (text: string) => string;
  /** Puts colour on one row's line, by its number. */
  readonly paintRow?: (text: string, row: number) => string;
}

const PAGE = 50;
const GAP = 2;
/** The last column is not wrapped to less than this. */
const LEAST_LAST = 12;
const BARE = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
} as const;

/** Cells must be printable and of one line each. The last column wraps when that is all that is needed to fit. */
export function renderColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: ColumnsOptions,
): string[] {
  const { indent = '', paintTitles = String, paintRow = String } = options;
  const widths = columns.map(({ title }, at) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[at] ?? '')), displayWidth(title)),
  );
  const over = total(widths) + displayWidth(indent) - options.width;
  const last = columns.length - 1;
  if (over > 0) {
    widths[last] = widths[last]! - over;
    if (columns[last]!.align !== 'left' || widths[last]! < LEAST_LAST) return paragraphs(columns, rows, options);
  }
  const lines = drawn(columns, widths, [columns.map(({ title }) => title)]).map((line) => indent + paintTitles(line));
  for (let from = 0; from < rows.length; from += PAGE) {
    const page = rows.slice(from, from + PAGE).flatMap((row, at) =>
      wrap(row[last] ?? '', widths[last]!).map((part, line) => ({
        number: from + at,
        cells: line === 0 ? [...row.slice(0, last), part] : [...row.slice(0, last).map(() => ''), part],
      })),
    );
    drawn(
      columns,
      widths,
      page.map(({ cells }) => cells),
    ).forEach((line, at) => {
      lines.push(indent + paintRow(line, page[at]!.number));
    });
  }
  return lines;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
}

function drawn(columns: readonly Column[], widths: readonly number[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: [...widths],
    colAligns: columns.map(({ align }) => align),
  });
  table.push(...rows.map((row) => columns.map((_, at) => row[at] ?? '')));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

function paragraphs(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: ColumnsOptions,
): string[] {
  const { width, indent = '', paintRow = (text: string) => text } = options;
  return rows.flatMap((row, number) => {
    const pairs = columns
      .map(({ title, leads }, at) => ({ title, leads: leads === true, value: row[at] ?? '' }))
      .filter(({ value }) => value !== '')
      .map(({ title, leads, value }) => (leads ? `${title} ${value}:` : `${title} ${value},`));
    const text = pairs.join(' ').replace(/[,:]$/, '');
    return wrap(text, width, { first: indent, rest: `${indent}  ` }).map((line) => paintRow(line, number));
  });
}
