/**
 * A salvage for people and for scripts: what came out and where it lies, and what did not.
 */

import { SALVAGE_SCHEMA, type SalvageReport } from '../domain/salvage.js';
import { shellPath } from '../domain/shell-words.js';
import { type OffsetRange, offsetCount } from '../domain/units.js';
import { bytesOf, counted, grouped, offsetsOf } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { type ToolIdentity, toJsonDocument } from './json.js';
import { joined, type Page, pageOf, rangeText } from './page.js';
import type { Style } from './style.js';
import { opposite, wrap, wrapCommand } from './wrap.js';

const RUNS: readonly Column[] = [
  { title: 'run', align: 'left', leads: true },
  { title: 'offsets', align: 'left' },
  { title: 'records', align: 'right' },
  { title: 'segments', align: 'right' },
  { title: 'bytes', align: 'right' },
];
/** More of a list than this is counted. */
const NAMED = 20;

/** The document, as it is kept in the target too. */
export function renderSalvageJson(report: SalvageReport, tool: ToolIdentity): string {
  const { shard, createdAtMicros, sources, runs, lost, unread, uncertain, forks, summary } = report;
  return toJsonDocument({
    schema: SALVAGE_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    shard,
    createdAtMicros,
    sources,
    runs: runs.map(({ directory, from, to, records, fork, sources: from_, segments, ndjson }) => ({
      directory,
      offsets: { from, to },
      records,
      fork,
      sources: from_,
      segments,
      ndjson,
    })),
    lost,
    unread,
    uncertain,
    forks,
    summary,
  });
}

/** `target` is where it was written, as given. */
export function renderSalvage(report: SalvageReport, target: string, style: Style): string {
  const page = pageOf(style);
  const { shard, runs, summary } = report;
  const name = page.show(shard.name);
  const title = shard.key === null ? [name] : opposite(page.show(shard.key), name, page.width, { rest: '  ' });
  const lines = title.map(page.paint.strong);
  const saved = `${counted(summary.records, 'record')}, ${bytesOf(summary.bytes)}`;
  const where = `in ${counted(runs.length, 'run')} below ${page.show(target)}`;
  lines.push(...wrap(runs.length === 0 ? 'There is no intact record.' : `Saved: ${saved}, ${where}.`, page.width));
  lines.push(...forkLines(report, page), ...lossLines(report, page));
  if (runs.length > 0) lines.push('', ...runLines(report, page), ...nextLines(report, target, page));
  return joined(lines);
}

/** What to do with it. */
function nextLines({ lost }: SalvageReport, target: string, page: Page): string[] {
  const verify = `felix-fsck verify ${shellPath(target)}`;
  const fill =
    'What is lost may be on other replicas: felix-fsck heal SHARD --from REPLICA brings it back, or salvage again with ' +
    'those replicas named as well.';
  return [
    ...wrapCommand(page.show(verify), page.width, { first: 'Next: ', rest: '      ' }),
    ...wrap('Each run is the directory of a shard that a broker opens.', page.width),
    ...(lost.length === 0 ? [] : wrap(fill, page.width)),
  ];
}

function runLines({ runs }: SalvageReport, page: Page): string[] {
  const rows = runs
    .slice(0, NAMED)
    .map(({ directory, from, to, records, fork, segments }) => [
      page.show(directory) + (fork ? ' (fork)' : ''),
      rangeText({ from, to }),
      grouped(records),
      grouped(segments.length),
      grouped(segments.reduce((sum, { bytes }) => sum + bytes, 0)),
    ]);
  const lines = renderColumns(RUNS, rows, { width: page.width, paintTitles: page.paint.faint });
  return [...lines, ...moreLine(runs.length, 'run')];
}

function forkLines({ forks }: SalvageReport, page: Page): string[] {
  if (forks.length === 0) return [];
  const lines = wrap(
    `FORK: the sources hold different records at ${counted(forks.length, 'range')} of offsets. Every history was kept, each in a run of its own; which one is right is not for this tool to say (felix-fsck diff-epochs compares the generations).`,
    page.width,
    { rest: '      ' },
  ).map(page.paint.fatal);
  for (const { from, to, parties } of forks.slice(0, NAMED)) {
    const sides = parties.map((party) => party.map(page.show).join(' and ')).join(', against ');
    lines.push(...wrap(`${offsetsOf({ from, to })}: ${sides}`, page.width, { first: '  ', rest: '    ' }));
  }
  return [...lines, ...moreLine(forks.length, 'fork')];
}

function lossLines({ lost, unread, uncertain, sources, summary }: SalvageReport, page: Page): string[] {
  const lines: string[] = [];
  if (lost.length === 0) {
    const all = unread.length === 0 && uncertain.length === 0 && sources.every(({ problem }) => problem === null);
    const text = all ? 'Lost: no record that is known to have existed.' : 'Lost: no record, as far as could be read.';
    lines.push(...wrap(text, page.width).map(all ? page.paint.good : String));
  } else {
    const text = `Lost: ${counted(summary.lostRecords, 'record')}: ${ranges(lost)}.`;
    lines.push(...wrap(text, page.width, { rest: '      ' }).map(page.paint.error));
  }
  for (const { path, position, bytes, offset } of uncertain.slice(0, NAMED)) {
    const due = offset === null ? '' : `, where offset ${offset} was due`;
    const text = `Uncertain: ${bytesOf(bytes)} at the end of ${page.show(path)}, from byte ${position} on${due}: nothing intact lies there, and how many records they held is not known.`;
    lines.push(...wrap(text, page.width, { rest: '      ' }).map(page.paint.error));
  }
  if (unread.length > 0) {
    lines.push(...wrap(`Not read: ${ranges(unread)}.`, page.width, { rest: '      ' }).map(page.paint.warning));
  }
  for (const { path, problem, unreadBytes } of sources.filter((source) => source.problem !== null).slice(0, NAMED)) {
    const text = `Not read: ${bytesOf(unreadBytes)} of ${page.show(path)}: ${page.show(problem!)}.`;
    lines.push(...wrap(text, page.width, { rest: '      ' }).map(page.paint.warning));
  }
  return lines;
}

function ranges(list: readonly OffsetRange[]): string {
  const named = list.slice(0, NAMED).map(offsetsOf).join(', ');
  const more = list.slice(NAMED).reduce((sum, range) => sum + offsetCount(range), 0n);
  return more === 0n
    ? named
    : `${named}, and ${counted(more, 'more offset')} in ${grouped(list.length - NAMED)} more ranges`;
}

function moreLine(count: number, noun: string): string[] {
  return count > NAMED ? [`and ${counted(count - NAMED, `more ${noun}`)}; all of them are in salvage.json`] : [];
}
