/**
 * Manual pages: a page as a value, and that value as roff with the man macros, which groff and mandoc both render.
 *
 * Text may hold words `between backticks`, which become bold. Everything else in it is taken as it is: no character of a
 * text can become a request. Lines of the source stay within 80 bytes where words allow it.
 */

export type Block =
  | { readonly is: 'text'; readonly text: string }
  /** A term, and what it means. */
  | { readonly is: 'terms'; readonly terms: readonly Term[] }
  /** Lines to be typed or read as they are. */
  | { readonly is: 'lines'; readonly lines: readonly string[] }
  | { readonly is: 'steps'; readonly steps: readonly (readonly Block[])[] }
  | { readonly is: 'table'; readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly is: 'heading'; readonly text: string };

export interface Term {
  readonly term: string;
  readonly text: string;
  /** Further blocks below the text. */
  readonly more?: readonly Block[];
}

export interface ManSection {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface ManPage {
  readonly name: string;
  /** Section of the manual: 1, 5 or 7. */
  readonly section: number;
  /** What it is, in a few words. */
  readonly purpose: string;
  readonly sections: readonly ManSection[];
}

/** What the foot of a page says. */
export interface Imprint {
  /** `2026-11-29`. */
  readonly date: string;
  readonly source: string;
  readonly manual: string;
}

const SOURCE_WIDTH = 78;

export function fileNameOf(page: ManPage): string {
  return `${page.name}.${page.section}`;
}

/** The whole page; ends with a newline. */
export function renderRoff(page: ManPage, imprint: Imprint): string {
  const tables = page.sections.some(({ blocks }) => blocks.some(hasTable));
  const head = [page.name.toUpperCase(), String(page.section), imprint.date, imprint.source, imprint.manual];
  const lines = [
    ...(tables ? ['\'\\" t'] : []),
    `.TH ${head.map(quotedArgument).join(' ')}`,
    '.SH NAME',
    ...nameLines(page),
    ...page.sections.flatMap(({ title, blocks }) => [
      `.SH ${quotedArgument(title.toUpperCase())}`,
      ...blocksOf(blocks, false),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function nameLines({ name, purpose }: ManPage): string[] {
  return linesOf([escaped(name), '\\-', ...wordsOf(purpose)], SOURCE_WIDTH);
}

function hasTable(block: Block): boolean {
  if (block.is === 'terms') return block.terms.some(({ more = [] }) => more.some(hasTable));
  return block.is === 'table' || (block.is === 'steps' && block.steps.some((blocks) => blocks.some(hasTable)));
}

/** `inside` a term or a step, where a new paragraph has to keep the indent. */
function blocksOf(blocks: readonly Block[], inside: boolean): string[] {
  return blocks.flatMap((block, at) => blockLines(block, at === 0 || blocks[at - 1]?.is === 'heading', inside));
}

function blockLines(block: Block, first: boolean, inside: boolean): string[] {
  const gap = inside ? '.IP' : '.PP';
  switch (block.is) {
    case 'text':
      return [...(first ? [] : [gap]), ...filled(block.text)];
    case 'heading':
      return [`.SS ${quotedArgument(block.text)}`];
    case 'lines':
      return [...(first && !inside ? [] : [gap]), '.EX', ...block.lines.map(literal), '.EE'];
    case 'terms':
      return inside ? ['.RS', ...block.terms.flatMap(termLines), '.RE'] : block.terms.flatMap(termLines);
    case 'steps':
      return block.steps.flatMap((step, at) => [`.IP ${at + 1}. 4`, ...blocksOf(step, true)]);
    case 'table':
      return [...(first && !inside ? [] : [gap]), ...tableLines(block.titles, block.rows)];
  }
}

function termLines({ term, text, more = [] }: Term): string[] {
  return [
    '.TP',
    ...filled(term, Number.POSITIVE_INFINITY),
    ...filled(text),
    ...blocksOf([{ is: 'text', text: '' }, ...more], true),
  ];
}

/** The last column takes the room that is left, and wraps. */
function tableLines(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const format = titles.map((_, at) => (at === titles.length - 1 ? 'lx' : 'l')).join(' ');
  return [
    '.TS',
    `${titles.map(() => 'lb').join(' ')}`,
    `${format}.`,
    titles.map(cell).join('\t'),
    ...rows.flatMap((row) => {
      const last = row.length - 1;
      return [`${row.slice(0, last).map(cell).join('\t')}\tT{`, ...filled(row[last] ?? ''), 'T}'];
    }),
    '.TE',
  ];
}

function cell(text: string): string {
  return guarded(escaped(text.replaceAll('\t', ' ')));
}

/** Text as lines of source, broken between words. */
function filled(text: string, width = SOURCE_WIDTH): string[] {
  return linesOf(wordsOf(text), width);
}

function linesOf(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (joined.length > width && line !== '') {
      lines.push(guarded(line));
      line = word;
    } else {
      line = joined;
    }
  }
  if (line !== '') lines.push(guarded(line));
  return lines;
}

/** Words that must stay on one line of source: what is bold may hold spaces. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let open = '';
  text.split('`').forEach((part, at) => {
    if (at % 2 === 1) {
      open += `\\fB${escaped(part, true)}\\fR`;
      return;
    }
    const [before = '', ...rest] = part.split(/\s+/);
    open += escaped(before);
    for (const next of rest) {
      if (open !== '') words.push(open);
      open = escaped(next);
    }
  });
  if (open !== '') words.push(open);
  return words;
}

function literal(line: string): string {
  return guarded(escaped(line, true));
}

/** A line that cannot be taken for a request. */
function guarded(line: string): string {
  return /^(?:[.']|T[{}])/.test(line) ? `\\&${line}` : line;
}

function quotedArgument(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}

const NAMED: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '“': '\\(lq',
  '”': '\\(rq',
  '‘': '\\(oq',
  '’': '\\(cq',
  '–': '\\(en',
  '—': '\\(em',
  '×': '\\(mu',
};

/** Any text; in `code` every quote, hyphen, caret and tilde stays the character that a shell knows. */
function escaped(text: string, code = false): string {
  const plain = code
    ? text
    : text.replace(
        /(^|[\s(,/])(-[\w-]*)/g,
        (_, before: string, flag: string) => before + flag.replaceAll('-', '\u0001'),
      );
  return plain.replace(/[\\\u0001]|[^ -~]|[-'`^~]/gu, (character) => {
    if (character === '\u0001') return '\\-';
    if (character < ' ' || character === '\u007f') return ' ';
    if (NAMED[character] !== undefined) return NAMED[character];
    if (character > '~') return `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
    if (!code) return character;
    return { '-': '\\-', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti' }[character] ?? character;
  });
}
