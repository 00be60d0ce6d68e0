/**
 * The top of the HTML report: what a reader has to know when nothing else is read, then the numbers, the first commands and
 * the table of all shards.
 */

import type { BrokerSettings, ShardReport } from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import { exitTexts } from './exit-text.js';
import { command } from './html-findings.js';
import { commandsOf, countBadges, offsetsRange, type Tone, toneOf, verdictBadge } from './html-shard.js';
import { htmlTable } from './html-table.js';
import { verdictTexts } from './html-text.js';
import { microsText } from './instants.js';
import type { ToolIdentity } from './json.js';
import { lossesOf } from './losses.js';
import { type Markup, markup } from './markup.js';
import { isSound } from './shard-weight.js';
import type { RunReport, ShardCounts } from './worst-shards.js';

export interface Headline {
  readonly text: string;
  readonly tone: Tone;
}

/** What the reader has to know when nothing else is read. */
export function headlineOf({ shards, counts, summary, partial }: RunReport, settings: BrokerSettings): Headline {
  const [worst] = shards;
  const said = counts.shards === 1 && worst !== undefined ? verdictTexts(worst, settings)[0] : headlineText(counts);
  const tone = worst === undefined ? 'warning' : toneOf(worst);
  if (partial)
    return {
      text: `Interrupted: ${said.replace(/:$/, '')}`,
      tone: tone === 'good' || tone === 'info' ? 'warning' : tone,
    };
  if (summary.exitCode !== 30) return { text: said.replace(/:$/, ''), tone };
  return { text: `${said}; something could not be read`, tone: 'warning' };
}

function headlineText({ shards, verdicts, troubled }: ShardCounts): string {
  const all = grouped(shards);
  if (shards === 0) return 'No shard was checked';
  if (verdicts.refuses > 0) return `A broker refuses to open ${grouped(verdicts.refuses)} of ${all} shards`;
  if (verdicts.repairs > 0)
    return `A broker opens all ${all} shards, ${grouped(verdicts.repairs)} of them after a repair`;
  if (troubled > 0) return `A broker opens all ${all} shards; ${grouped(troubled)} of them have findings`;
  return `A broker opens all ${all} shards with nothing to repair`;
}

const SIGNS: Readonly<Record<Tone, string>> = {
  good: '✓ sound',
  info: '✓ sound, with notes',
  warning: '! warning',
  error: '✕ error',
  fatal: '✕ fatal',
};

export function pageHeader(
  { summary }: RunReport,
  { tool, checkedAtMicros }: { readonly tool: ToolIdentity; readonly checkedAtMicros: bigint },
  headline: Headline,
): Markup {
  const when = microsText(checkedAtMicros)
    .replace(/\.[0-9]+Z$/, ' UTC')
    .replace('T', ' ');
  return markup`<header class="page"><p class="muted small">${tool.name} ${tool.version}, offline check of ${when}</p>
<p><span class="badge ${headline.tone}">${SIGNS[headline.tone]}</span></p>
<h1>${headline.text}</h1>
${exitTexts(summary.exitCode, summary.worst).map((text) => markup`<p>${text.replace(/\.?$/, '.')}</p>`)}</header>`;
}

/** For a single shard the title is the verdict's sentence; what it rests on follows here. */
export function grounds({ shards }: RunReport, settings: BrokerSettings): Markup | null {
  const [only] = shards;
  if (only === undefined || shards.length !== 1) return null;
  const [, ...more] = verdictTexts(only, settings);
  if (more.length === 0) return null;
  return markup`<div class="verdict is-${toneOf(only)}">${more.map((text) => markup`<p>${text}</p>`)}</div>`;
}

const FIRST_COMMANDS = 5;
const TABLE_ROWS = 2000;

/** Of many shards, the commands of the worst. */
export function firstCommands({ shards }: RunReport, sections: readonly ShardReport[]): Markup | null {
  if (shards.length < 2) return null;
  const items = sections.flatMap((shard, at) => {
    const [first] = isSound(shard) ? [] : commandsOf(shard);
    return first === undefined
      ? []
      : [markup`<li><a href="#s${at + 1}">${shard.key ?? shard.name}</a>${command(first)}</li>`];
  });
  if (items.length === 0) return null;
  const hidden = items.length - FIRST_COMMANDS;
  const more =
    hidden > 0 ? markup`<p class="muted">and ${counted(hidden, 'more shard')}, each with its command below</p>` : null;
  return markup`<section aria-labelledby="next"><h2 id="next">What to do next</h2><p>Keep the broker stopped. One click selects a command whole.</p><ol class="first">${items.slice(0, FIRST_COMMANDS)}</ol>${more}</section>`;
}

export function figuresOf({ shards, counts, summary }: RunReport): Markup {
  const { fatal, error, warning, info } = summary.findings;
  const figures: readonly (readonly [name: string, value: string])[] = [
    ...(shards.length === 1 ? [] : [['shards', grouped(summary.shards)] as const]),
    ['segments', grouped(summary.segments)],
    ['intact records', grouped(summary.records)],
    ['records lost', grouped(counts.lostOffsets)],
    ['bytes verified', grouped(summary.verifiedBytes)],
    ['bytes damaged', grouped(summary.damagedBytes)],
    ['bytes not read', grouped(summary.unreadBytes)],
    ['findings', `${grouped(fatal + error + warning + info)}`],
  ];
  return markup`<dl class="figures" aria-label="In numbers">${figures.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Many shards: one line each, worst first. */
export function summaryTable({ shards, counts }: RunReport, sections: readonly ShardReport[]): Markup | null {
  if (shards.length < 2) return null;
  const ids = new Map(sections.map((shard, at) => [shard, `s${at + 1}`]));
  const listed = shards.slice(0, TABLE_ROWS);
  const rows = listed.map((shard) => {
    const id = ids.get(shard);
    const name = shard.key ?? shard.name;
    const records = shard.segments.reduce((sum, segment) => sum + segment.records, 0);
    const damaged = shard.segments.reduce((sum, segment) => sum + segment.damagedBytes, 0);
    const link = id === undefined ? markup`${name}` : markup`<a href="#${id}">${name}</a>`;
    return markup`<tr><th scope="row" class="name">${link}<br><span class="muted small">${shard.path}</span></th><td>${verdictBadge(shard)}</td><td>${countBadges(shard.findings)}</td><td class="no">${offsetsRange(shard)}</td><td class="n">${grouped(records)}</td><td class="n">${grouped(lossesOf(shard.findings).count)}</td><td class="n">${grouped(damaged)}</td></tr>`;
  });
  const hidden = counts.shards - listed.length;
  const more = hidden > 0 ? `; ${counted(hidden, 'more shard')} left out, none of them worse than these` : '';
  const table = htmlTable({ label: 'All shards', caption: `Worst first${more}`, columns: SHARD_COLUMNS, rows });
  return markup`<section aria-labelledby="shards"><h2 id="shards">All shards</h2>${table}</section>`;
}

const SHARD_COLUMNS = [
  { title: 'shard' },
  { title: 'a broker' },
  { title: 'findings' },
  { title: 'offsets' },
  { title: 'records', number: true },
  { title: 'lost', number: true },
  { title: 'damaged bytes', number: true },
] as const;
