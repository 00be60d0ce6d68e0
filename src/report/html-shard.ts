/**
 * One shard in full: verdict, losses, what to run next, pictures, findings, and the facts below them.
 *
 * Lists and pictures are cut at the limits handed in, each time saying how much is left out.
 */

import { atLeast, type Finding } from '../domain/finding.js';
import type { BrokerSettings, FactValue, SegmentReport, ShardReport } from '../domain/report.js';
import { bytesOf, counted, grouped, offsetsOf } from '../domain/wording.js';
import type { HexView } from './hexdump.js';
import { bySeverity, command, findingsList, severityBadge } from './html-findings.js';
import { offsetsFigure, offsetsTables } from './html-offsets.js';
import { marksOf, segmentFigure } from './html-segments.js';
import { htmlTable } from './html-table.js';
import { verdictTexts } from './html-text.js';
import { type Losses, lossesOf } from './losses.js';
import { clipped, joinedMarkup, type Markup, markup } from './markup.js';
import { faultsByFile, indexText, timesText } from './shard-facts.js';
import { isSound, shardWeight } from './shard-weight.js';

export interface ShardSectionOptions {
  readonly settings: BrokerSettings;
  readonly id: string;
  /** Findings told in full. */
  readonly findings: number;
  /** Segments drawn. */
  readonly pictures: number;
  /** About as many pieces a picture has at most. */
  readonly pieces: number;
  /** Segments in the table. */
  readonly rows: number;
  readonly hexdumps: ReadonlyMap<Finding, HexView>;
  readonly indexPositions: ReadonlyMap<SegmentReport, readonly number[]>;
  /** The page is about this shard alone: its verdict is the page's title. */
  readonly alone: boolean;
}

const LISTED_LOSSES = 12;
const LISTED_COMMANDS = 5;
const SHOWN_FACT = 200;

export type Tone = 'good' | 'info' | 'warning' | 'error' | 'fatal';

/** How a shard is, as the page shows it. */
export function toneOf(shard: ShardReport): Tone {
  const { prediction, findings } = shard;
  if (prediction.verdict === 'refuses') return 'fatal';
  const intactLost = prediction.repairs.some(({ intactRecordsLost }) => intactRecordsLost > 0);
  if (intactLost || findings.some(({ severity }) => atLeast(severity, 'error'))) return 'error';
  return isSound(shard) ? (shardWeight(shard) > 0 ? 'info' : 'good') : 'warning';
}

const VERDICTS = { opens: '✓ opens', repairs: '! opens after a repair', refuses: '✕ refused' } as const;

/** What a broker would do, as sign and words. */
export function verdictBadge(shard: ShardReport): Markup {
  const { verdict } = shard.prediction;
  const tone = verdict === 'refuses' ? 'fatal' : verdict === 'repairs' ? 'warning' : 'good';
  return markup`<span class="badge ${tone}">${VERDICTS[verdict]}</span>`;
}

export function shardSection(shard: ShardReport, options: ShardSectionOptions): Markup {
  const { id, alone } = options;
  const shown = bySeverity(shard.findings).slice(0, options.findings);
  const anchors = new Map(shown.map((finding, at) => [finding, `${id}-f${at + 1}`]));
  const body = joinedMarkup([
    ...(alone ? [] : [verdictBox(shard, options.settings)]),
    lossesBlock(lossesOf(shard.findings), shard),
    nextBlock(shard, id),
    heading(`${id}-offsets`, 'History'),
    offsetsFigure(shard, `${id}-o`, options.pieces) ?? markup`<p>No offset of this shard is known.</p>`,
    offsetsTables(shard) ?? markup``,
    heading(`${id}-segments`, 'Segments'),
    segmentPictures(shard, options, anchors),
    segmentTable(shard, options.rows),
    heading(`${id}-findings`, `Findings (${grouped(shard.findings.length)})`),
    findingsList(shard.findings, {
      shown,
      omitted: shard.omitted,
      hexdumps: options.hexdumps,
      id,
      level: 4,
      first: commandsOf(shard)[0] ?? null,
    }),
    sidecarTable(shard),
    notCheckedBlock(shard),
  ]);
  const name = shard.key ?? shard.name;
  if (!alone && isSound(shard)) {
    return markup`<details class="shard" id="${id}"><summary>${verdictBadge(shard)} ${name} <span class="muted small">${factsLine(shard)}</span></summary><div class="inside">${namesOf(shard)}${body}</div></details>
`;
  }
  return markup`<section class="shard" id="${id}" aria-labelledby="${id}-h"><h2 id="${id}-h">${alone ? `Shard ${name}` : name}</h2>${namesOf(shard)}${body}</section>
`;
}

function heading(id: string, text: string): Markup {
  return markup`<h3 id="${id}">${text}</h3>`;
}

/** Directory and path, which the key does not tell. */
function namesOf(shard: ShardReport): Markup {
  const told = shard.key === null || shard.path.endsWith(shard.name);
  const name = told ? null : markup`<dt>Directory</dt><dd class="mono">${shard.name}</dd>`;
  const incarnation =
    shard.incarnation === null ? null : markup`<dt>Incarnation</dt><dd class="mono">${shard.incarnation}</dd>`;
  return markup`<dl class="pairs small"><dt>Path</dt><dd class="mono">${shard.path}</dd>${name}${incarnation}</dl>`;
}

function factsLine(shard: ShardReport): string {
  const records = shard.segments.reduce((sum, segment) => sum + segment.records, 0);
  const notes = shard.findings.length === 0 ? '' : `, ${counted(shard.findings.length, 'note')}`;
  return `${counted(records, 'record')} in ${counted(shard.segments.length, 'segment')}, offsets ${offsetsRange(shard)}${notes}`;
}

export function offsetsRange({ baseOffset, tailOffset }: ShardReport): string {
  return `${baseOffset ?? '?'}..${tailOffset ?? '?'}`;
}

/** The verdict's sentence and what it rests on. */
function verdictBox(shard: ShardReport, settings: BrokerSettings): Markup {
  const [lead, ...more] = verdictTexts(shard, settings);
  return markup`<div class="verdict is-${toneOf(shard)}"><p class="lead">${verdictBadge(shard)} ${lead}</p>${more.map((text) => markup`<p>${text}</p>`)}</div>`;
}

function lossesBlock({ ranges, count, unknown }: Losses, shard: ShardReport): Markup {
  const cut = shard.prediction.repairs.reduce((sum, { intactRecordsLost }) => sum + intactRecordsLost, 0);
  const listed = ranges.slice(0, LISTED_LOSSES).map((range) => markup`<li>${offsetsOf(range)}</li>`);
  const hidden = ranges.length - listed.length;
  const unjudged = shard.omitted.length > 0 || shard.segments.some(({ unreadBytes }) => unreadBytes > 0);
  return markup`<h3>What is lost</h3>
<p>${count === 0n ? 'No record is known to be lost.' : markup`<strong>${counted(count, 'record')}</strong> cannot be read from this shard:`}</p>
${listed.length === 0 ? null : markup`<ul>${listed}${hidden > 0 ? markup`<li>and ${counted(hidden, 'more range')}</li>` : null}</ul>`}
${unknown === 0 ? null : markup`<p>Of ${counted(unknown, 'finding')} nobody can tell from this shard alone how many records they cost.</p>`}
${cut === 0 ? null : markup`<p><strong>Beyond that, opening the shard with a broker would cut off ${counted(cut, 'intact record')}.</strong></p>`}
${unjudged ? markup`<p class="muted">Bytes that were not read or not listed may hold more.</p>` : null}`;
}

/** The commands of the findings, each once, the worst one's first. */
export function commandsOf({ findings }: ShardReport): string[] {
  return [...new Set(bySeverity(findings).flatMap(({ next }) => (next === null ? [] : [next])))];
}

/** What an operator does now. */
function nextBlock(shard: ShardReport, id: string): Markup {
  const [first, ...rest] = commandsOf(shard);
  if (first === undefined) {
    return markup`<h3>What to do next</h3><p>${isSound(shard) ? 'Nothing has to be done.' : 'No command follows from these findings.'}</p>`;
  }
  const more = rest.slice(0, LISTED_COMMANDS - 1);
  return markup`<h3 id="${id}-next">What to do next</h3><p>Keep the broker stopped. One click selects the command whole.</p>${command(first)}
${more.length === 0 ? null : markup`<details><summary>Other commands that answer findings below</summary><div class="inside">${more.map(command)}</div></details>`}`;
}

function segmentPictures(
  shard: ShardReport,
  options: ShardSectionOptions,
  anchors: ReadonlyMap<Finding, string>,
): Markup {
  const { segments } = shard;
  if (segments.length === 0) return markup`<p>There is no segment.</p>`;
  const drawn = markedFirst(shard, options.pictures);
  const figures = drawn.map((segment) =>
    segmentFigure(segment, shard, {
      id: `${options.id}-s${segments.indexOf(segment)}`,
      pieces: options.pieces,
      indexPositions: options.indexPositions.get(segment) ?? [],
      anchorOf: (finding) => anchors.get(finding) ?? null,
    }),
  );
  const hidden = segments.length - drawn.length;
  const isMarked = marksOf(shard);
  const hurt = segments.filter(isMarked).length - drawn.filter(isMarked).length;
  const more =
    hidden === 0
      ? null
      : markup`<p class="muted">${counted(hidden, 'more segment')} not drawn${hurt > 0 ? `, ${grouped(hurt)} of them with findings` : ', each of them sound'}.</p>`;
  return markup`${figures}${more}`;
}

/** As many segments as there is room for, those with something to see before the others, in the order of their ids. */
export function markedFirst(shard: ShardReport, room: number): SegmentReport[] {
  const { segments } = shard;
  if (segments.length <= room) return [...segments];
  const marked = segments.filter(marksOf(shard));
  const kept = new Set([...new Set([...marked, ...segments])].slice(0, room));
  return segments.filter((segment) => kept.has(segment));
}

function segmentTable(shard: ShardReport, room: number): Markup {
  const { segments } = shard;
  if (segments.length === 0) return markup``;
  const faults = faultsByFile(shard);
  const newest = segments.at(-1);
  const rows = markedFirst(shard, room).map((segment) => {
    const cells = markup`<th scope="row" class="n">${segment.id}</th><td class="n">${segment.version ?? '?'}</td><td class="no">${segment.baseOffset ?? '?'}..${segment.nextOffset ?? '?'}</td><td class="n">${grouped(segment.records)}</td><td class="n">${grouped(segment.bytes)}</td><td class="n">${grouped(segment.verifiedBytes)}</td><td class="n">${grouped(segment.damagedBytes)}</td><td class="n">${grouped(segment.unreadBytes)}</td><td class="no">${indexText(segment, segment === newest, faults)}</td>`;
    return segment.damagedBytes > 0 ? markup`<tr class="hurt">${cells}</tr>` : markup`<tr>${cells}</tr>`;
  });
  const hidden = segments.length - rows.length;
  const times = timesText(shard);
  return htmlTable({
    label: 'Segments',
    caption: `Every byte of a segment is verified, damaged or unread${hidden > 0 ? `; ${counted(hidden, 'more segment')} not listed` : ''}${times === null ? '' : `. ${times}`}`,
    columns: SEGMENT_COLUMNS,
    rows,
  });
}

const SEGMENT_COLUMNS = [
  { title: 'segment', number: true },
  { title: 'version', number: true },
  { title: 'offsets' },
  { title: 'records', number: true },
  { title: 'bytes', number: true },
  { title: 'verified', number: true },
  { title: 'damaged', number: true },
  { title: 'unread', number: true },
  { title: 'index' },
] as const;

function sidecarTable(shard: ShardReport): Markup {
  if (shard.sidecars.length === 0) return markup``;
  const rows = shard.sidecars.map(({ file, bytes, state, facts }) => {
    const badge = state === 'sound' ? markup`<span class="badge good">✓ sound</span>` : severityLike(state);
    return markup`<tr><th scope="row"><code>${file}</code></th><td>${badge}</td><td class="n">${bytesOf(bytes)}</td><td>${factsText(facts)}</td></tr>`;
  });
  const columns = [{ title: 'file' }, { title: 'state' }, { title: 'size', number: true }, { title: 'says' }] as const;
  return markup`<h3>Small files</h3>${htmlTable({ label: 'Small files', columns, rows })}`;
}

function severityLike(state: 'damaged' | 'unreadable'): Markup {
  return markup`<span class="badge error">✕ ${state}</span>`;
}

/** The plain facts; lists have pictures of their own. */
function factsText(facts: Readonly<Record<string, FactValue>>): string {
  return Object.entries(facts)
    .filter(([, value]) => typeof value !== 'object' || value === null)
    .map(([name, value]) => `${wordsOf(name)} ${clipped(value === '' ? '(empty)' : String(value), SHOWN_FACT)}`)
    .join(', ');
}

/** `coveredThrough` as `covered through`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

function notCheckedBlock(shard: ShardReport): Markup {
  if (shard.notChecked.length === 0) return markup``;
  const items = shard.notChecked.map((text) => markup`<li>${clipped(text, 1000)}</li>`);
  return markup`<h3>Not checked</h3><ul>${items}</ul>`;
}

/** `2 fatal, 1 error` as badges; a dash for none. */
export function countBadges(findings: readonly Finding[]): Markup {
  const badges = (['fatal', 'error', 'warning', 'info'] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [markup`<span class="no">${grouped(count)} ${severityBadge(severity)}</span>`];
  });
  return badges.length === 0 ? markup`none` : joinedMarkup(badges, ' ');
}
