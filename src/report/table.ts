/**
 * The report of `verify` for people in a hurry: the verdict, the findings worst first, then the facts.
 *
 * One shard is shown in full. Among several, those with a finding of warning or worse get a block each, the others a line
 * each, and past twenty a number. Lines are wrapped to the width and never cut, and nothing needs colour to be understood.
 */

import { type Finding, type FindingKind, SEVERITIES, type Severity, worstSeverity } from '../domain/finding.js';
import type { BrokerSettings, RootReport, ShardReport, Summary, Verdict, VerifyReport } from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import { exitTexts } from './exit-text.js';
import { type FindingListOptions, renderFindings } from './finding-list.js';
import { joined, type Page, pageOf } from './page.js';
import { rootFactLines } from './root-facts.js';
import { renderShardFacts } from './shard-facts.js';
import type { Style } from './style.js';
import { listed, renderVerdict } from './verdict.js';
import { opposite, wrap } from './wrap.js';

export interface VerifyOptions {
  /** Folds nothing and leaves nothing out. */
  readonly all: boolean;
  /** Says only what is a warning or worse: no facts, no healthy shard, and nothing at all when all is well. */
  readonly quiet: boolean;
  /** The broker whose open is predicted. */
  readonly settings: BrokerSettings;
}

/** The same report, a shard at a time and in the order of calls, for stores that are too many to hold. */
export interface VerifyStream {
  /** The text of one shard, which may be empty. */
  shard(report: ShardReport): string;
  /** What is left to say: healthy shards, data roots, the summary. */
  end(roots: readonly RootReport[], summary: Summary, partial: boolean): string;
}

/** Shards with a finding of warning or worse, by verdict: how many, and the first names. */
type Troubled = Map<Verdict, { count: number; names: string[] }>;

const HEALTHY_LINES = 20;
const NAMED_SHARDS = 5;

/** The whole report. */
export function renderVerify(report: VerifyReport, style: Style, options: VerifyOptions): string {
  const stream = verifyStream(style, options, report.shards.length);
  const worstFirst = [...report.shards].sort((a, b) => weight(b) - weight(a));
  return (
    worstFirst.map((shard) => stream.shard(shard)).join('') + stream.end(report.roots, report.summary, report.partial)
  );
}

/** `expected` is how many shards there will be, as far as is known: a single one is shown in full even when it is sound. */
export function verifyStream(style: Style, options: VerifyOptions, expected: number): VerifyStream {
  const page = pageOf(style);
  const healthy: string[] = [];
  let healthyCount = 0;
  let blocks = 0;
  const troubled: Troubled = new Map();
  const spaced = (lines: readonly string[]) => {
    if (lines.length === 0) return '';
    blocks += 1;
    return joined(blocks === 1 ? lines : ['', ...lines]);
  };
  return {
    shard(report) {
      const sound = isSound(report);
      if (!sound) remember(troubled, report);
      if (sound && options.quiet) return '';
      if (!sound || expected === 1) return spaced(renderShard(report, page, options, expected > 1));
      healthyCount += 1;
      if (options.all || healthyCount <= HEALTHY_LINES) healthy.push(...healthyLine(report, page));
      return '';
    },
    end(roots, summary, partial) {
      const unlisted = options.all ? 0 : healthyCount - HEALTHY_LINES;
      const more =
        unlisted <= 0 ? [] : wrap(`and ${counted(unlisted, 'more sound shard')} (--all lists them)`, page.width);
      const closing =
        options.quiet && summary.exitCode === 0 && !partial ? [] : summaryLines(summary, partial, troubled, page);
      return [
        spaced([...healthy, ...more]),
        ...roots.map((root) => spaced(renderRoot(root, page, options))),
        spaced(closing),
      ].join('');
    },
  };
}

/** Nothing that an operator has to do or to know now. */
function isSound(shard: ShardReport): boolean {
  return shard.prediction.verdict === 'opens' && weight(shard) < SEVERITIES.indexOf('warning') + 1;
}

/** 0 for no finding, up to 4 for fatal; a shard that is refused is never lighter than one that opens. */
function weight(shard: ShardReport): number {
  const worst = worstSeverity(shard.findings);
  const found = worst === null ? 0 : SEVERITIES.indexOf(worst) + 1;
  return Math.max(found, { refuses: SEVERITIES.length, repairs: 2, opens: 0 }[shard.prediction.verdict]);
}

function remember(troubled: Troubled, shard: ShardReport): void {
  const { verdict } = shard.prediction;
  const entry = troubled.get(verdict) ?? { count: 0, names: [] };
  entry.count += 1;
  if (entry.names.length < NAMED_SHARDS) entry.names.push(shard.key ?? shard.name);
  troubled.set(verdict, entry);
}

/** A shard in full; its path too where the key alone may not tell which it is. */
export function renderShard(shard: ShardReport, page: Page, options: VerifyOptions, withPath = false): string[] {
  const lines = [...titleLines(shard, page, withPath), ...renderVerdict(shard, options.settings, page)];
  for (const block of findingBlocks(shard.findings, shard.omitted, page, options)) lines.push('', ...block);
  if (!options.quiet) lines.push('', ...renderShardFacts(shard, page, options.all));
  return lines;
}

function titleLines(shard: ShardReport, page: Page, withPath: boolean): string[] {
  const name = page.show(shard.name);
  const path = withPath
    ? wrap(page.show(shard.path), page.width, { first: '  ', rest: '  ' }).map(page.paint.faint)
    : [];
  if (shard.key === null) return [...wrap(name, page.width).map(page.paint.strong), ...path];
  const key = page.show(shard.key);
  const [first = '', ...rest] = opposite(key, name, page.width, { rest: '  ' });
  const strong = first.startsWith(key) ? page.paint.strong(key) + first.slice(key.length) : page.paint.strong(first);
  return [strong, ...rest, ...path];
}

function findingBlocks(
  findings: readonly Finding[],
  omitted: readonly { readonly file: string; readonly kind: FindingKind; readonly count: number }[],
  page: Page,
  options: FindingListOptions,
): string[][] {
  const blocks = renderFindings(findings, page, options);
  const counts = omitted.flatMap(({ file, kind, count }) =>
    wrap(`and ${grouped(count)} more of ${kind} in ${page.show(file)}, counted only`, page.width, { rest: '  ' }),
  );
  return counts.length === 0 ? blocks : [...blocks, counts];
}

function healthyLine(shard: ShardReport, page: Page): string[] {
  const records = shard.segments.reduce((sum, segment) => sum + segment.records, 0);
  const offsets =
    shard.baseOffset === null || shard.tailOffset === null ? '' : `, offsets ${shard.baseOffset}..${shard.tailOffset}`;
  const infos = shard.findings.length === 0 ? '' : `, ${counted(shard.findings.length, 'note')}`;
  const facts = `${counted(records, 'record')} in ${counted(shard.segments.length, 'segment')}${offsets}${infos}`;
  const [first = '', ...rest] = wrap(`sound  ${page.show(shard.key ?? shard.name)}: ${facts}`, page.width, {
    rest: '  ',
  });
  return [page.paint.good(first.slice(0, 5)) + first.slice(5), ...rest];
}

/** A data root, or another directory above shards: what is found of it as a whole, and what it is. */
export function renderRoot(root: RootReport, page: Page, options: VerifyOptions): string[] {
  const blocks = findingBlocks(root.findings, [], page, options);
  const facts = options.quiet ? [] : rootFactLines(root, page);
  if (blocks.length === 0 && facts.length === 0) return [];
  const title = facts.length === 0 ? page.show(root.path) : `Data root ${page.show(root.path)}`;
  const lines = wrap(title, page.width, { rest: '  ' }).map(page.paint.strong);
  for (const block of blocks) lines.push('', ...block);
  if (facts.length > 0) lines.push(...(blocks.length > 0 ? [''] : []), ...facts);
  return lines;
}

const TROUBLE: readonly { readonly verdict: Verdict; readonly words: string; readonly severity: Severity }[] = [
  { verdict: 'refuses', words: 'Refused', severity: 'fatal' },
  { verdict: 'repairs', words: 'Opened after a repair', severity: 'warning' },
  { verdict: 'opens', words: 'Opened, with findings', severity: 'warning' },
];

function summaryLines(summary: Summary, partial: boolean, troubled: Troubled, page: Page): string[] {
  const lines: string[] = [];
  const say = (text: string) => lines.push(...wrap(text, page.width, { rest: '  ' }));
  if (partial) {
    lines.push(...wrap('INTERRUPTED: this report covers what was read until then', page.width).map(page.paint.warning));
  }
  if (summary.shards === 0) say('No shard was found: nothing was checked.');
  if (summary.shards > 1) {
    for (const { verdict, words, severity } of TROUBLE) {
      const entry = troubled.get(verdict);
      if (entry === undefined) continue;
      const names = entry.names.map((name) => page.show(name));
      const more = entry.count - names.length;
      if (more > 0) names.push(`${grouped(more)} more`);
      const [first = '', ...rest] = wrap(`${words}: ${counted(entry.count, 'shard')}: ${listed(names)}`, page.width, {
        rest: '  ',
      });
      lines.push(page.paint[severity](first.slice(0, words.length)) + first.slice(words.length), ...rest);
    }
    say(
      `${counted(summary.shards, 'shard')}, ${counted(summary.segments, 'segment')}, ` +
        `${counted(summary.records, 'record')}, ${counted(summary.bytes, 'byte')}: ${grouped(summary.verifiedBytes)} ` +
        `verified, ${grouped(summary.damagedBytes)} damaged, ${grouped(summary.unreadBytes)} unread`,
    );
  }
  say(`Findings: ${countsText(summary)}`);
  for (const text of exitTexts(summary.exitCode, summary.worst)) say(text);
  return lines;
}

/** `2 fatal, 1 error, no warning, no info`. */
function countsText(summary: Summary): string {
  const counts = [...SEVERITIES].reverse().map((severity) => {
    const count = summary.findings[severity];
    return count === 0 ? null : `${grouped(count)} ${severity}`;
  });
  const found = counts.filter((count) => count !== null);
  return found.length === 0 ? 'none' : found.join(', ');
}
