/**
 * The report of `verify` as one HTML page for people who were not there: it asks nothing of any network, runs no script,
 * and can be mailed, printed and read on a phone.
 *
 * The verdict comes first, then what is lost and what to run next, then pictures, findings and facts. Its own policy lets
 * nothing in but its style sheet. Whatever the report holds, the page stays of a size that can be mailed: what is left out
 * is counted, and the JSON report has it.
 */

import type { Finding } from '../domain/finding.js';
import type { BrokerSettings, RootReport, SegmentReport, ShardReport } from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import type { HexView } from './hexdump.js';
import { legend, PATTERNS, STATES, TICK, TICK_CLASS, WRONG, WRONG_CLASS } from './html-drawing.js';
import { bySeverity, findingsList, kindsGlossary } from './html-findings.js';
import { figuresOf, firstCommands, grounds, headlineOf, pageHeader, summaryTable } from './html-overview.js';
import { markedFirst, shardSection } from './html-shard.js';
import { STYLE, STYLE_HASH } from './html-style.js';
import { TEXT } from './html-text.js';
import type { ToolIdentity } from './json.js';
import { Markup, markup } from './markup.js';
import { rootFactLines } from './root-facts.js';
import { isSound } from './shard-weight.js';
import type { RunReport } from './worst-shards.js';

export interface HtmlOptions {
  readonly tool: ToolIdentity;
  readonly settings: BrokerSettings;
  /** When the run began. */
  readonly checkedAtMicros: bigint;
  /** Bytes around the damage, for findings that the page tells in full. */
  readonly hexdumps: ReadonlyMap<Finding, HexView>;
  /** Positions that entries of a segment's index name: a sample of them. */
  readonly indexPositions: ReadonlyMap<SegmentReport, readonly number[]>;
}

const SECTIONS = 100;
const ROOT_SECTIONS = 20;
const ROOT_FINDINGS = 50;
const FINDINGS_OF_PAGE = 600;
const PICTURES_OF_PAGE = 240;
const HEXDUMPS_OF_PAGE = 100;
const FINDINGS_OF_SHARD = { least: 3, most: 50 };
const PICTURES_OF_SHARD = { least: 2, most: 24 };
const HEXDUMPS_OF_SHARD = { least: 1, most: 12 };
const PIECES_OF_PAGE = 4000;
const PIECES_OF_PICTURE = { least: 40, most: 400 };
const ROWS_OF_PAGE = 3000;
const ROWS_OF_SHARD = { least: 10, most: 200 };

/** What a page has room for: which shards in full, and how much of each. */
interface Room {
  readonly sections: readonly ShardReport[];
  readonly findings: number;
  readonly pictures: number;
  readonly hexdumps: number;
  readonly pieces: number;
  readonly rows: number;
}

function roomOf(report: RunReport): Room {
  const sections = report.shards.slice(0, SECTIONS);
  const troubled = Math.max(1, sections.filter((shard) => !isSound(shard)).length);
  const share = (all: number, { least, most }: { least: number; most: number }) =>
    Math.max(least, Math.min(most, Math.floor(all / troubled)));
  return {
    sections,
    findings: share(FINDINGS_OF_PAGE, FINDINGS_OF_SHARD),
    pictures: share(PICTURES_OF_PAGE, PICTURES_OF_SHARD),
    hexdumps: share(HEXDUMPS_OF_PAGE, HEXDUMPS_OF_SHARD),
    pieces: share(PIECES_OF_PAGE, PIECES_OF_PICTURE),
    rows: share(ROWS_OF_PAGE, ROWS_OF_SHARD),
  };
}

const QUIET_PICTURES = 2;

/** What the page would show if its bytes were handed in: findings with a place, and segments whose index is drawn. */
export interface Wanted {
  /** With the size of its file as it was checked, where the report tells it. */
  readonly findings: readonly { readonly finding: Finding; readonly checkedBytes: number | null }[];
  readonly segments: readonly { readonly shard: ShardReport; readonly segment: SegmentReport }[];
}

export function wantedBy(report: RunReport): Wanted {
  const room = roomOf(report);
  return {
    findings: room.sections.flatMap((shard) =>
      bySeverity(shard.findings)
        .slice(0, room.findings)
        .filter(({ file, site }) => file !== null && site.position !== undefined)
        .slice(0, room.hexdumps)
        .map((finding) => ({ finding, checkedBytes: sizeOf(shard, finding.file) })),
    ),
    segments: room.sections.flatMap((shard) =>
      markedFirst(shard, picturesOf(shard, room)).map((segment) => ({ shard, segment })),
    ),
  };
}

function sizeOf({ segments, sidecars }: ShardReport, file: string | null): number | null {
  return [...segments, ...sidecars].find((each) => each.file === file)?.bytes ?? null;
}

function picturesOf(shard: ShardReport, { pictures, sections }: Room): number {
  return isSound(shard) && sections.length > 1 ? QUIET_PICTURES : pictures;
}

export function renderHtml(report: RunReport, options: HtmlOptions): string {
  const room = roomOf(report);
  const headline = headlineOf(report, options.settings);
  const told = new Set(room.sections.flatMap(({ findings }) => bySeverity(findings).slice(0, room.findings)));
  for (const root of report.roots) for (const finding of root.findings) told.add(finding);
  const kinds = [...new Set([...told].map(({ kind }) => kind))];
  const policy = `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="${options.tool.name} ${options.tool.version}">
<title>${headline.text}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
${PATTERNS}
${pageHeader(report, options, headline)}
<main id="main" tabindex="-1">
${grounds(report, options.settings)}${figuresOf(report)}
${firstCommands(report, room.sections)}
${summaryTable(report, room.sections)}
${sectionsOf(report, room, options)}
${report.roots.slice(0, ROOT_SECTIONS).map((root, at) => rootSection(root, `root${at + 1}`))}
${kindsGlossary(kinds)}
</main>
${pageFooter(report, options)}
</body>
</html>
`;
  return page.html;
}

function sectionsOf({ shards, counts }: RunReport, room: Room, options: HtmlOptions): Markup {
  const section = (shard: ShardReport): Markup =>
    shardSection(shard, {
      settings: options.settings,
      id: `s${room.sections.indexOf(shard) + 1}`,
      findings: room.findings,
      pictures: picturesOf(shard, room),
      pieces: room.pieces,
      rows: room.rows,
      hexdumps: options.hexdumps,
      indexPositions: options.indexPositions,
      alone: shards.length === 1,
    });
  const alone = shards.length === 1;
  const troubled = room.sections.filter((shard) => alone || !isSound(shard)).map(section);
  const sound = room.sections.filter((shard) => !alone && isSound(shard)).map(section);
  const hidden = counts.shards - room.sections.length;
  const more =
    hidden > 0 ? markup`<p class="muted">${counted(hidden, 'more shard')} without a section here.</p>` : null;
  const quiet =
    sound.length === 0
      ? null
      : markup`<section aria-labelledby="sound"><h2 id="sound">Sound shards</h2>${sound}</section>`;
  const drawn = markup`${troubled}${quiet}`;
  return markup`${legendFor(drawn)}${drawn}${more}`;
}

/** The patterns that the pictures use, explained. */
function legendFor(drawn: Markup): Markup | null {
  const states = STATES.filter((state) => drawn.html.includes(`url(#p-${state})`));
  return states.length === 0
    ? null
    : legend(states, [
        ...(drawn.html.includes(TICK_CLASS) ? [TICK] : []),
        ...(drawn.html.includes(WRONG_CLASS) ? [WRONG] : []),
      ]);
}

function rootSection(root: RootReport, id: string): Markup {
  const facts = rootFactLines(root, TEXT).map((line) => markup`<li>${line}</li>`);
  const shown = bySeverity(root.findings).slice(0, ROOT_FINDINGS);
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">Data root <span class="mono">${root.path}</span></h2>
${facts.length === 0 ? null : markup`<ul>${facts}</ul>`}${root.findings.length === 0 ? null : findingsList(root.findings, { shown, omitted: [], hexdumps: new Map(), id, level: 3, first: null })}</section>
`;
}

function pageFooter({ summary, partial }: RunReport, { hexdumps }: HtmlOptions): Markup {
  const payload =
    hexdumps.size === 0
      ? ''
      : ' The dumps of bytes show what is in the files, payloads included: mind who gets this page.';
  return markup`<footer><p>Looking wrote nothing to the store. The check took ${grouped(summary.elapsedMs)} ms${partial ? ' and was interrupted: what was not reached is not judged' : ''}.${payload}</p>
<p>Ranges are half-open: 16..19 is 16, 17 and 18. This page loads nothing and runs no script.</p></footer>`;
}
