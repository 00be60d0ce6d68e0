/**
 * Findings for people: worst first, each with its place, its sentence, what is lost and what to run next.
 *
 * Long lists of one kind in one file are folded with their count, and findings that are merely worth knowing take a line
 * each, unless everything is asked for. Nothing is left out without its number.
 */

import { type BitFlip, type Finding, type FindingKind, SEVERITIES, type Severity } from '../domain/finding.js';
import { bitFlipWords } from '../domain/sentences-segments.js';
import { chanceWords, counted, grouped, lostWords } from '../domain/wording.js';
import { fileText, lostText, type Page, rangeText } from './page.js';
import { displayWidth, opposite, wrap, wrapCommand } from './wrap.js';

export interface FindingListOptions {
  /** Folds nothing. */
  readonly all: boolean;
  /** Leaves out what is merely worth knowing. */
  readonly quiet: boolean;
}

/** A group longer than this is folded to `SHOWN_OF_GROUP`. */
const FOLD_OVER = 4;
const SHOWN_OF_GROUP = 3;
/** More findings worth knowing than this take a line a kind. */
const INFO_LINES = 5;
const NARROW = 60;
const LABEL = 8;

/** Blocks of lines, one a finding or a fold, without blank lines between. */
export function renderFindings(findings: readonly Finding[], page: Page, options: FindingListOptions): string[][] {
  const told = new Set<string>();
  const serious = options.all ? findings : findings.filter(({ severity }) => severity !== 'info');
  const blocks = groupsOf(serious).flatMap((group) => renderGroup(group, page, options, told));
  if (options.all || options.quiet) return blocks;
  const infos = infoLines(findings, page);
  return infos.length === 0 ? blocks : [...blocks, infos];
}

/** Findings of one kind in one file and of one severity, in the order of their places; the worst and earliest group first. */
function groupsOf(findings: readonly Finding[]): Finding[][] {
  const groups = new Map<string, Finding[]>();
  for (const finding of [...findings].sort(bySeverityAndPlace)) {
    const key = JSON.stringify([finding.severity, finding.kind, finding.path, finding.file]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}

function bySeverityAndPlace(a: Finding, b: Finding): number {
  return (
    SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity) ||
    compare(a.site.segment ?? -1n, b.site.segment ?? -1n) ||
    compare(a.file ?? '', b.file ?? '') ||
    compare(startOf(a), startOf(b))
  );
}

function startOf(finding: Finding): number {
  return finding.site.position ?? finding.damagedRange?.from ?? -1;
}

function compare<T extends bigint | number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function renderGroup(
  group: readonly Finding[],
  page: Page,
  options: FindingListOptions,
  told: Set<string>,
): string[][] {
  const folds = !options.all && group.length > FOLD_OVER;
  const shown = folds ? group.slice(0, SHOWN_OF_GROUP) : group;
  const blocks = shown.map((finding) => renderFinding(finding, page, told));
  if (folds) blocks.push(foldLines(group.slice(SHOWN_OF_GROUP), page));
  return blocks;
}

function foldLines(folded: readonly Finding[], page: Page): string[] {
  const [first, last] = [folded[0]!, folded.at(-1)!];
  const lost = folded.reduce((sum, { lostOffsets }) => sum + rangeCount(lostOffsets), 0n);
  const where = fileText(page, first.file, first.site.segment) ?? 'the shard';
  const from = first.damagedRange?.from ?? first.site.position;
  const to = last.damagedRange?.to ?? last.site.position;
  const between = from === undefined || to === undefined ? '' : `, bytes ${from}..${to}`;
  const loss = lost === 0n ? '' : `; ${counted(lost, 'record')} lost in them`;
  const text = `and ${grouped(folded.length)} more of ${first.kind} in ${where}${between}${loss} (--all lists them)`;
  return labelled(first.severity, wrap(text, page.width, hanging(page, first.severity)), page);
}

function rangeCount(range: { readonly from: bigint; readonly to: bigint } | null): bigint {
  return range === null || range.to <= range.from ? 0n : range.to - range.from;
}

/** One finding in full. A command that was told before is not repeated. */
function renderFinding(finding: Finding, page: Page, told: Set<string> = new Set()): string[] {
  const { severity } = finding;
  const head = opposite(placeText(finding, page), finding.kind, page.width, hanging(page, severity));
  const body = hangingBody(page);
  const lines = labelled(severity, head, page);
  lines.push(...wrap(page.show(sentenceText(finding)), page.width, body));
  if (finding.lostOffsets !== null) lines.push(...wrap(`Lost: ${lostText(finding.lostOffsets)}.`, page.width, body));
  const looks = looksText(finding, page);
  if (looks !== null) lines.push(...wrap(looks, page.width, body));
  if (finding.next !== null && !told.has(finding.next)) {
    told.add(finding.next);
    lines.push(...nextLines(finding.next, page, body));
  }
  return lines;
}

function nextLines(command: string, page: Page, body: { readonly first: string; readonly rest: string }): string[] {
  const label = 'Next: ';
  const lines = wrapCommand(page.show(command), page.width, {
    first: `${body.first}${label}`,
    rest: `${body.rest}${' '.repeat(page.width < NARROW ? 2 : label.length)}`,
  });
  return lines.map((line, at) =>
    at === 0
      ? `${body.first}${page.paint.strong(label.trim())}${line.slice(body.first.length + label.length - 1)}`
      : line,
  );
}

/** `segment 2, bytes 426..4522`. */
export function placeText(finding: Finding, page: Page): string {
  const where = fileText(page, finding.file, finding.site.segment) ?? 'the directory';
  const range = finding.damagedRange;
  if (range !== null && range.to > range.from) return `${where}, bytes ${rangeText(range)}`;
  return finding.site.position === undefined ? where : `${where}, byte ${finding.site.position}`;
}

/** The sentence without the clauses that get lines of their own. */
export function sentenceText(finding: Finding): string {
  const own = [bitFlipWords(bitFlipOf(finding)), finding.lostOffsets === null ? null : lostWords(finding.lostOffsets)];
  return own.reduce<string>(
    (text, clause) => (clause === null ? text : text.replace(`; ${clause}`, () => '')),
    finding.message,
  );
}

/** What bytes may look like, and the word by which a sentence has said it already. */
const LOOKS: ReadonlyMap<string, readonly [words: string, said: string]> = new Map([
  ['zeros', ['zeros, as in space that was never written', 'zero']],
  ['partly-zeros', ['zeros in a part of it', 'zero']],
  ['bit-flip', ['a single flipped bit', 'flipped bit']],
  ['torn-write', ['a torn write', 'unfinished']],
  ['segment-header', ['the header of a segment', 'header of another']],
  ['repeated', ['one pattern repeated', 'pattern']],
  ['duplicate', ['a copy of an earlier record', 'a copy']],
  ['foreign', ['foreign bytes within it', 'foreign']],
  ['shifted', ['bytes of a segment, moved from their place', 'moved']],
  ['ones', ['bytes of 0xff', '0xff']],
  ['overwritten', ['other bytes written over its start', 'written over']],
  ['random', ['no pattern', 'no pattern']],
  ['crlf', ['line ends converted by a transfer in text mode', 'line ends']],
]);

/** What the bytes look like, unless the sentence says it already. */
export function looksText(finding: Finding, page: Page): string | null {
  const flip = bitFlipOf(finding);
  if (flip !== null) {
    return (
      `Looks like: one flipped bit. Bit ${flip.bit} of byte ${flip.position} (${page.show(flip.field)}) alone ` +
      `explains it; the chance that random damage looks so is ${chanceWords(flip.chance)}. ` +
      'Where no replica helps, felix-fsck heal --accept-bit-flip plans to turn it back.'
    );
  }
  const { looksLike, message } = finding;
  if (looksLike === null || / looks? like /.test(message)) return null;
  const [words, said] = LOOKS.get(looksLike) ?? [page.show(looksLike), null];
  return said !== null && message.includes(said) ? null : `Looks like: ${words}.`;
}

function bitFlipOf(finding: Finding): BitFlip | null {
  return 'bitFlip' in finding.detail ? (finding.detail.bitFlip ?? null) : null;
}

/** A line each while they are few, then a line a kind with its count. */
function infoLines(findings: readonly Finding[], page: Page): string[] {
  const infos = findings.filter(({ severity }) => severity === 'info').sort(bySeverityAndPlace);
  if (infos.length <= INFO_LINES) return infos.flatMap((finding) => infoLine(shortInfo(finding, page), page));
  const kinds = new Map<FindingKind, Finding[]>();
  for (const info of infos) {
    const group = kinds.get(info.kind);
    if (group === undefined) kinds.set(info.kind, [info]);
    else group.push(info);
  }
  return [...kinds.values()].flatMap((group) => {
    if (group.length === 1) return infoLine(shortInfo(group[0]!, page), page);
    const text = `${grouped(group.length)} of ${group[0]!.kind}, the first in ${placeText(group[0]!, page)}`;
    return infoLine(`${text} (--all lists them)`, page);
  });
}

function shortInfo(finding: Finding, page: Page): string {
  return `${finding.kind} in ${placeText(finding, page)}: ${page.show(finding.message)}`;
}

function infoLine(text: string, page: Page): string[] {
  return labelled('info', wrap(text, page.width, hanging(page, 'info')), page);
}

function hanging(page: Page, severity: Severity): { first: string; rest: string } {
  return { first: severity.toUpperCase().padEnd(LABEL), rest: hangingBody(page).rest };
}

function hangingBody(page: Page): { first: string; rest: string } {
  const indent = ' '.repeat(page.width < NARROW ? 2 : LABEL);
  return { first: indent, rest: indent };
}

/** Puts colour on the label that the first line begins with. */
function labelled(severity: Severity, lines: readonly string[], page: Page): string[] {
  const label = severity.toUpperCase();
  return lines.map((line, at) =>
    at === 0 && displayWidth(line) >= label.length
      ? page.paint[severity](line.slice(0, label.length)) + line.slice(label.length)
      : line,
  );
}
