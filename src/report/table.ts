/**
 * The report of `verify` for people in a hurry: the verdict, the findings worst first, then the facts.
 *
 * One shard is shown in full. Among several, those with a finding of warning or worse get a block each, the others a line
 * each, and past twenty a number. Lines are wrapped to the width and never cut, and nothing needs colour to be understood.
 */

import { type Finding, type FindingKind, SEVERITIES, type Severity } from '../domain/finding.js';
import type { BrokerSettings, RootReport, ShardReport, Summary, Verdict, VerifyReport } from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import { exitTexts } from './exit-text.js';
import { type FindingListOptions, renderFindings } from './finding-list.js';
import type { VerifyWriter } from './json.js';
import { joined, type Page, pageOf } from './page.js';
import { rootFactLines } from './root-facts.js';
import { renderShardFacts } from './shard-facts.js';
import { isSound, worstFirst } from './shard-weight.js';
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

/** What the end of a report still has to name. Two shards of one label, as of replicas, are told apart by their paths. */
interface Remembered {
  readonly label: string;
  readonly path: string;
}

interface Memory {
  /** Shards by label. */
  readonly labels: Map<string, number>;
  /** Sound shards that get a line, with their facts. */
  readonly healthy: (Remembered & { readonly facts: string })[];
  healthyCount: number;
  /** Shards with a finding of warning or worse, by verdict: how many, and the first of them. */
  readonly troubled: Map<Verdict, { count: number; first: Remembered[] }>;
}

const HEALTHY_LINES = 20;
const NAMED_SHARDS = 5;

/** The whole report. */
export function renderVerify(report: VerifyReport, style: Style, options: VerifyOptions): string {
  const writer = verifyTableWriter(style, options);
  for (const shard of report.shards) writer.shard(shard);
  for (const root of report.roots) writer.root(root);
  return writer.end(report.summary, report.partial);
}

/** The report as it comes in. Sound shards are told or counted at once; the others are held to be told worst first. */
export function verifyTableWriter(style: Style, options: VerifyOptions): VerifyWriter {
  const troubled: ShardReport[] = [];
  const roots: RootReport[] = [];
  let first: ShardReport | null = null;
  let stream: VerifyStream | null = null;
  const accept = (shard: ShardReport, into: VerifyStream) => {
    if (isSound(shard)) return into.shard(shard);
    troubled.push(shard);
    return '';
  };
  return {
    shard(report) {
      if (stream === null && first === null) {
        first = report;
        return '';
      }
      if (stream === null) {
        stream = verifyStream(style, options, 2);
        accept(first!, stream);
      }
      return accept(report, stream);
    },
    root(report) {
      roots.push(report);
      return '';
    },
    end(summary, partial) {
      const into: VerifyStream = stream ?? verifyStream(style, options, 1);
      const sound = stream === null && first !== null ? accept(first, into) : '';
      const told = worstFirst(troubled).map((shard) => into.shard(shard));
      return sound + told.join('') + into.end(roots, summary, partial);
    },
  };
}

/** `expected` is how many shards there will be, as far as is known: a single one is shown in full even when it is sound. */
export function verifyStream(style: Style, options: VerifyOptions, expected: number): VerifyStream {
  const page = pageOf(style);
  const memory: Memory = { labels: new Map(), healthy: [], healthyCount: 0, troubled: new Map() };
  let blocks = 0;
  const spaced = (lines: readonly string[]) => {
    if (lines.length === 0) return '';
    blocks += 1;
    return joined(blocks === 1 ? lines : ['', ...lines]);
  };
  return {
    shard(report) {
      const sound = isSound(report);
      remember(memory, report, sound, options);
      if (sound && (options.quiet || expected !== 1)) return '';
      return spaced(renderShard(report, page, options, expected > 1));
    },
    end(roots, summary, partial) {
      const silent = options.quiet && summary.exitCode === 0 && !partial;
      return [
        spaced(options.quiet || expected === 1 ? [] : healthyLines(memory, page)),
        ...roots.map((root) => spaced(renderRoot(root, page, options))),
        spaced(silent ? [] : summaryLines(summary, partial, memory, page)),
      ].join('');
    },
  };
}

function remember(memory: Memory, shard: ShardReport, sound: boolean, options: VerifyOptions): void {
  const { path } = shard;
  const label = shard.key ?? shard.name;
  memory.labels.set(label, (memory.labels.get(label) ?? 0) + 1);
  if (sound) {
    memory.healthyCount += 1;
    if (options.all || memory.healthyCount <= HEALTHY_LINES) {
      memory.healthy.push({ label, path, facts: healthyFacts(shard) });
    }
    return;
  }
  const { verdict } = shard.prediction;
  const entry = memory.troubled.get(verdict) ?? { count: 0, first: [] };
  entry.count += 1;
  if (entry.first.length < NAMED_SHARDS) entry.first.push({ label, path });
  memory.troubled.set(verdict, entry);
}

function nameOf({ label, path }: Remembered, memory: Memory, page: Page): string {
  return page.show(memory.labels.get(label) === 1 ? label : path);
}

/** A shard in full; its path too where the key alone may not tell which it is. */
function renderShard(shard: ShardReport, page: Page, options: VerifyOptions, withPath = false): string[] {
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

function healthyFacts(shard: ShardReport): string {
  const records = shard.segments.reduce((sum, segment) => sum + segment.records, 0);
  const offsets =
    shard.baseOffset === null || shard.tailOffset === null ? '' : `, offsets ${shard.baseOffset}..${shard.tailOffset}`;
  const infos = shard.findings.length === 0 ? '' : `, ${counted(shard.findings.length, 'finding')} of info`;
  return `${counted(records, 'record')} in ${counted(shard.segments.length, 'segment')}${offsets}${infos}`;
}

function healthyLines(memory: Memory, page: Page): string[] {
  const lines = memory.healthy.flatMap((shard) => {
    const text = `sound ${nameOf(shard, memory, page)}: ${shard.facts}`;
    const [first = '', ...rest] = wrap(text, page.width, { rest: '  ' });
    return [page.paint.good(first.slice(0, 5)) + first.slice(5), ...rest];
  });
  const unlisted = memory.healthyCount - memory.healthy.length;
  if (unlisted === 0) return lines;
  return [...lines, ...wrap(`and ${counted(unlisted, 'more sound shard')} (--all lists them)`, page.width)];
}

/** A data root, or another directory above shards: what is found of it as a whole, and what it is. */
function renderRoot(root: RootReport, page: Page, options: VerifyOptions): string[] {
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

function summaryLines(summary: Summary, partial: boolean, memory: Memory, page: Page): string[] {
  const say = (text: string) => wrap(text, page.width, { rest: '  ' });
  const notice = 'INTERRUPTED: this report covers what was read until then';
  const { shards, segments, records, bytes, verifiedBytes, damagedBytes, unreadBytes, skippedBytes } = summary;
  const totals =
    `${counted(shards, 'shard')}, ${counted(segments, 'segment')}, ${counted(records, 'record')}, ` +
    `${counted(bytes, 'byte')}: ${grouped(verifiedBytes)} verified, ${grouped(damagedBytes)} damaged, ` +
    `${grouped(unreadBytes - skippedBytes)} unread` +
    (skippedBytes === 0 ? '' : `, ${grouped(skippedBytes)} passed over as unchanged`);
  return [
    ...(partial ? say(notice).map(page.paint.warning) : []),
    ...(shards === 0 ? say('No shard was found: nothing was checked.') : []),
    ...(shards > 1 ? [...troubleLines(memory, page), ...say(totals)] : []),
    ...say(`Findings: ${countsText(summary)}`),
    ...exitTexts(summary.exitCode, summary.worst).flatMap(say),
  ];
}

function troubleLines(memory: Memory, page: Page): string[] {
  return TROUBLE.flatMap(({ verdict, words, severity }) => {
    const entry = memory.troubled.get(verdict);
    if (entry === undefined) return [];
    const names = entry.first.map((shard) => nameOf(shard, memory, page));
    const more = entry.count - names.length;
    if (more > 0) names.push(`${grouped(more)} more`);
    const text = `${words}: ${counted(entry.count, 'shard')}: ${listed(names)}`;
    const [first = '', ...rest] = wrap(text, page.width, { rest: '  ' });
    return [page.paint[severity](first.slice(0, words.length)) + first.slice(words.length), ...rest];
  });
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
