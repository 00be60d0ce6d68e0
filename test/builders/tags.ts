/**
 * A small reader of HTML for tests: the tags, attributes and text of a page, by the rules of a browser's tokenizer as far
 * as pages of this tool need them. It throws for what a browser would have to repair.
 */

export interface Tag {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Token extends Tag {
  readonly closes: boolean;
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const VOID = ['meta', 'br', 'link', 'img', 'input', 'base', 'hr', '!doctype'];

function plain(text: string): string {
  return text.replace(/&([^;]*);/g, (_, name: string) => {
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`unknown entity ${name}`);
    return character;
  });
}

function* tokens(html: string): Generator<Token> {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    const text = html.slice(at, end);
    if (text.includes('>')) throw new Error(`a stray > in ${text}`);
    if (text !== '') yield { tag: '', attributes: {}, closes: false, text: plain(text) };
    if (open < 0) return;
    const head = /^<(\/?)([a-zA-Z!][a-zA-Z0-9]*)/.exec(html.slice(open, open + 40));
    if (head === null) throw new Error(`no tag at ${html.slice(open, open + 40)}`);
    const tag = head[2]!.toLowerCase();
    at = open + head[0].length;
    const attributes: Record<string, string> = {};
    for (;;) {
      const attribute = /^\s+([^\s=<>"'/]+)(?:="([^"]*)")?/.exec(html.slice(at, at + 100_000));
      if (attribute === null) break;
      attributes[attribute[1]!] = plain(attribute[2] ?? '');
      at += attribute[0].length;
    }
    const close = /^\s*(\/?)>/.exec(html.slice(at, at + 10));
    if (close === null) throw new Error(`a tag without end at ${html.slice(open, at + 40)}`);
    at += close[0].length;
    yield { tag, attributes, closes: head[1] === '/', text: '' };
    if (close[1] === '/' && head[1] !== '/') yield { tag, attributes: {}, closes: true, text: '' };
    if (tag === 'style' && head[1] !== '/') at = html.indexOf('</style>', at);
  }
}

/** Every tag in order, closing ones with a slash; throws when they are not nested. */
export function tagsOf(html: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  for (const { tag, closes } of tokens(html)) {
    if (tag === '') continue;
    names.push(closes ? `/${tag}` : tag);
    if (VOID.includes(tag)) continue;
    if (!closes) open.push(tag);
    else if (open.pop() !== tag) throw new Error(`</${tag}> closes another tag`);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join()}`);
  return names;
}

export function attributesOf(html: string): Tag[] {
  return [...tokens(html)].filter(({ tag, closes }) => tag !== '' && !closes);
}

/** All text, without the style sheet. */
export function textOf(html: string): string {
  return [...tokens(html)].map(({ text }) => text).join('');
}
