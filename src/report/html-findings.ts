/**
 * The findings of a shard or a root: worst first, each with its place, its sentence, what is lost, the command to run next
 * and the bytes around it.
 *
 * A long list is cut, with the rest counted by kind: the JSON report has all of them.
 */

import { CATALOGUE } from '../domain/catalogue.js';
import { type Finding, type FindingKind, SEVERITIES, type Severity } from '../domain/finding.js';
import { counted, grouped } from '../domain/wording.js';
import { looksText, placeText, sentenceText } from './finding-list.js';
import type { HexView } from './hexdump.js';
import { hexdumpTable } from './html-hexdump.js';
import { htmlTable } from './html-table.js';
import { TEXT } from './html-text.js';
import { clipped, type Markup, markup } from './markup.js';
import { fileText, lostText } from './page.js';

const SIGNS: Readonly<Record<Severity, string>> = { fatal: '✕', error: '✕', warning: '!', info: 'i' };
const SHOWN_TEXT = 1200;

/** A severity as sign and word. */
export function severityBadge(severity: Severity): Markup {
  return markup`<span class="badge ${severity}">${SIGNS[severity]} ${severity}</span>`;
}

/** Worst first, and in the order of the report within a severity. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
}

export interface FindingsOptions {
  /** Those that are told in full. */
  readonly shown: readonly Finding[];
  readonly omitted: readonly { readonly file: string; readonly kind: FindingKind; readonly count: number }[];
  readonly hexdumps: ReadonlyMap<Finding, HexView>;
  /** What the ids of the findings begin with. */
  readonly id: string;
  /** Level of the heading of each. */
  readonly level: 3 | 4;
  /** The command that stands above already, under `id` and `-next`. */
  readonly first: string | null;
}

export function findingsList(findings: readonly Finding[], options: FindingsOptions): Markup {
  if (findings.length === 0) return markup`<p>None.</p>`;
  const told = new Set<string>();
  const articles = options.shown.map((finding, at) => {
    const next = nextOf(finding, told, options);
    return article(finding, `${options.id}-f${at + 1}`, next, at === 0, options);
  });
  return markup`${articles}${restOf(findings, options)}`;
}

/** A command is told once; the one that stands above is referred to. */
function nextOf({ next }: Finding, told: Set<string>, { id, first }: FindingsOptions): Markup | null {
  if (next === null || told.has(next)) return null;
  told.add(next);
  if (next === first) return markup`<p class="small">Next: <a href="#${id}-next">the command above</a></p>`;
  return command(next);
}

function article(finding: Finding, id: string, next: Markup | null, open: boolean, options: FindingsOptions): Markup {
  const { severity, kind, lostOffsets } = finding;
  const looks = looksText(finding, TEXT);
  const view = options.hexdumps.get(finding);
  const pairs = [
    ...(lostOffsets === null ? [] : [markup`<dt>Lost</dt><dd>${lostText(lostOffsets)}</dd>`]),
    ...(looks === null ? [] : [markup`<dt>Looks like</dt><dd>${looks.replace(/^Looks like: /, '')}</dd>`]),
  ];
  const head = markup`${severityBadge(severity)} <a href="#kind-${kind}"><code>${kind}</code></a> in ${placeText(finding, TEXT)}`;
  const heading = options.level === 3 ? markup`<h3>${head}</h3>` : markup`<h4>${head}</h4>`;
  return markup`<article class="finding" id="${id}">${heading}<p>${clipped(sentenceText(finding), SHOWN_TEXT)}</p>
${pairs.length === 0 ? null : markup`<dl class="pairs">${pairs}</dl>`}${next}${view === undefined ? null : hexdumpBlock(view, finding, open)}</article>
`;
}

function hexdumpBlock(view: HexView, finding: Finding, open: boolean): Markup {
  const title = `Bytes around ${placeText(finding, TEXT)}`;
  const inside = markup`<summary>${title}</summary><div class="inside">${hexdumpTable(view, title)}</div>`;
  return open ? markup`<details open>${inside}</details>` : markup`<details>${inside}</details>`;
}

/** A line for a shell; one click selects it whole. */
export function command(text: string): Markup {
  return markup`<pre class="command" tabindex="0"><code>${text}</code></pre>`;
}

/** What is not told in full, counted. */
function restOf(findings: readonly Finding[], { shown, omitted }: FindingsOptions): Markup | null {
  const told = new Set(shown);
  const rest = new Map<string, { severity: Severity; kind: FindingKind; where: string; count: number }>();
  for (const finding of findings) {
    if (told.has(finding)) continue;
    const where = fileText(TEXT, finding.file, finding.site.segment) ?? 'the directory';
    const key = JSON.stringify([finding.severity, finding.kind, where]);
    const entry = rest.get(key) ?? { severity: finding.severity, kind: finding.kind, where, count: 0 };
    entry.count += 1;
    rest.set(key, entry);
  }
  const listed = [...rest.values()].slice(0, REST_ROWS);
  const rows = [
    ...listed.map(
      ({ severity, kind, where, count }) =>
        markup`<tr><td>${severityBadge(severity)}</td><td><code>${kind}</code></td><td>${where}</td><td class="n">${grouped(count)}</td></tr>`,
    ),
    ...omitted
      .slice(0, REST_ROWS)
      .map(
        ({ file, kind, count }) =>
          markup`<tr><td>counted only</td><td><code>${kind}</code></td><td>${fileText(TEXT, file, undefined)}</td><td class="n">${grouped(count)}</td></tr>`,
      ),
  ];
  if (rows.length === 0) return null;
  const hidden = rest.size - listed.length + Math.max(0, omitted.length - REST_ROWS);
  const more = hidden > 0 ? `; ${counted(hidden, 'more row')} left out` : '';
  return htmlTable({
    label: 'More findings',
    caption: `More findings, not told one by one here: the JSON report lists them${more}`,
    columns: [{ title: 'severity' }, { title: 'kind' }, { title: 'where' }, { title: 'how many', number: true }],
    rows,
  });
}

const REST_ROWS = 40;

/** What is ever said of the kinds that a page shows: cause, evidence, what a broker does, ways out. */
export function kindsGlossary(kinds: readonly FindingKind[]): Markup | null {
  if (kinds.length === 0) return null;
  const entries = [...kinds].sort().map((kind) => {
    const { title, cause, evidence, broker, remedies } = CATALOGUE[kind];
    const ways = remedies.map(({ what, loses, command: line }) => {
      return markup`<li>${what} <span class="muted">Loses: ${loses}</span>${line === null ? null : command(line)}</li>`;
    });
    return markup`<details><summary><code>${kind}</code> <span class="muted">${title}</span></summary><div class="inside" id="kind-${kind}">
<dl class="pairs"><dt>Cause</dt><dd>${cause}</dd><dt>Evidence</dt><dd>${evidence}</dd><dt>A broker</dt><dd>${broker}</dd></dl>
${ways.length === 0 ? null : markup`<p>Ways out, <span class="mono">SHARD</span>, <span class="mono">REPLICA</span> and the like standing for your paths:</p><ul>${ways}</ul>`}</div></details>`;
  });
  return markup`<section aria-labelledby="kinds"><h2 id="kinds">What the kinds of findings mean</h2>${entries}</section>`;
}
