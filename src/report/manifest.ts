/**
 * What `decode-manifest` says, as a table for people and as JSON ("felix-fsck.decode-manifest/1").
 */

import { type Severity, worstSeverity } from '../domain/finding.js';
import type { ManifestEntryReport, ManifestReport } from '../domain/manifest-report.js';
import { bytesOf, counted, grouped } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { exitTexts } from './exit-text.js';
import { renderFindings } from './finding-list.js';
import { microsText } from './instants.js';
import { findingJson, type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf, rangeText } from './page.js';
import { WHERE } from './shard-facts.js';
import type { Style } from './style.js';
import { opposite, wrap } from './wrap.js';

const MANIFEST_SCHEMA = 'felix-fsck.decode-manifest/1';

export interface ManifestTableOptions {
  /** Lists everything. */
  readonly all: boolean;
  /** Says only what is a warning or worse. */
  readonly quiet: boolean;
  readonly exitCode: number;
}

const LISTED = 40;

export function renderManifestJson(report: ManifestReport, tool: ToolIdentity, exitCode: number): string {
  const { entries, ...rest } = manifestJson(report, exitCode);
  return toJsonDocument({ schema: MANIFEST_SCHEMA, tool: toolOf(tool), ...rest, entries });
}

/** A line for each entry, then one of type `summary` with everything else. */
export function renderManifestLines(report: ManifestReport, tool: ToolIdentity, exitCode: number): string {
  const { entries, ...rest } = manifestJson(report, exitCode);
  const lines = entries.map((entry) => toJsonLine({ type: 'entry', ...entry }));
  return lines.join('') + toJsonLine({ type: 'summary', schema: MANIFEST_SCHEMA, tool: toolOf(tool), ...rest });
}

function toolOf({ name, version }: ToolIdentity): object {
  return { name, version };
}

function manifestJson(report: ManifestReport, exitCode: number) {
  return {
    path: report.path,
    shard: report.shard,
    bytes: report.bytes,
    state: report.state,
    count: report.count,
    objects: report.objects,
    coverage: report.coverage?.map(({ from, to, where }) => ({ from, to, where })) ?? null,
    findings: report.findings.map(findingJson),
    omitted: report.omitted,
    notChecked: report.notChecked,
    exitCode,
    entries: report.entries,
  };
}

/** Text for people: what it is, what is wrong, then the entries. */
export function renderManifest(report: ManifestReport, style: Style, options: ManifestTableOptions): string {
  const page = pageOf(style);
  const worst = worstSeverity(report.findings);
  if (options.quiet && options.exitCode === 0) return '';
  const lines = [
    ...opposite(page.show(report.path), bytesOf(report.bytes), page.width, { rest: '  ' }),
    ...wrap(headline(report, page), page.width, { rest: '  ' }).map(paintOf(report, worst, page)),
  ];
  for (const block of renderFindings(report.findings, page, options)) lines.push('', ...block);
  for (const { file, kind, count } of report.omitted) {
    lines.push(...wrap(`and ${grouped(count)} more ${kind} in ${page.show(file)}`, page.width, { rest: '  ' }));
  }
  if (!options.quiet) lines.push(...entryLines(report, page, options), ...coverageLines(report, page, options));
  const notes = report.notChecked.map((text) => `Not checked: ${page.show(text)}`);
  if (!options.quiet && notes.length > 0) {
    lines.push('', ...notes.flatMap((text) => wrap(text, page.width, { rest: '  ' })));
  }
  lines.push('', ...endTexts(options.exitCode, worst).flatMap((text) => wrap(text, page.width, { rest: '  ' })));
  return joined(lines);
}

/** An error here is about the manifest, its objects and the log; nothing was said of how a broker opens the shard. */
function endTexts(code: number, worst: Severity | null): string[] {
  if (code !== 21) return exitTexts(code, worst);
  return [
    'Exit 21: what the manifest says is lost, or contradicted by the log or the objects',
    'Settle it before retention runs here or in the object store; felix-fsck explain KIND tells the ways out.',
  ];
}

function paintOf({ state }: ManifestReport, worst: Severity | null, page: Page): (text: string) => string {
  if (state !== 'sound') return page.paint.fatal;
  return worst === null || worst === 'info' ? page.paint.good : page.paint[worst];
}

function headline({ shard, state, count, entries, objects }: ManifestReport, page: Page): string {
  const whose = `Offload manifest of ${page.show(shard)}`;
  const many = count === null ? '' : `, ${counted(count, 'entry', 'entries')}`;
  if (state === 'unreadable') return `${whose}: it could not be read`;
  if (state === 'damaged') {
    return `${whose}${many}: DAMAGED, a broker refuses to open the shard; what is listed is claimed, not verified`;
  }
  const kept = count !== null && count > entries.length ? `, ${grouped(entries.length)} of them kept here` : '';
  const looked = objects === null ? 'objects not checked' : `objects in ${page.show(objects)}`;
  return `${whose}${many}${kept}: the file is sound; ${looked}`;
}

const ENTRY_COLUMNS: readonly Column[] = [
  { title: 'entry', align: 'left', leads: true },
  { title: 'segment', align: 'left' },
  { title: 'offsets', align: 'left' },
  { title: 'bytes', align: 'right' },
  { title: 'checksum', align: 'left' },
  { title: 'local', align: 'left' },
  { title: 'object', align: 'left' },
];
const TIME_COLUMNS: readonly Column[] = [
  { title: 'entry', align: 'left', leads: true },
  { title: 'oldest', align: 'left' },
  { title: 'newest', align: 'left' },
];

function entryLines(report: ManifestReport, page: Page, options: ManifestTableOptions): string[] {
  const { entries } = report;
  if (entries.length === 0) return [];
  const shown = options.all || entries.length <= LISTED ? entries : notable(entries);
  const columns = { width: page.width, paintTitles: page.paint.faint };
  const rows = shown.map((each) => [
    String(each.entry),
    String(each.segmentId),
    rangeText({ from: each.baseOffset, to: each.lastOffset + 1n }),
    grouped(each.bytes),
    each.checksum,
    each.local,
    each.object,
  ]);
  const times = shown.map(({ entry, oldestMicros, newestMicros }) => [
    String(entry),
    microsText(oldestMicros),
    microsText(newestMicros),
  ]);
  const hidden = entries.length - shown.length;
  const more =
    hidden > 0 ? wrap(`and ${counted(hidden, 'more entry', 'more entries')} (--all lists them)`, page.width) : [];
  return [
    '',
    ...renderColumns(ENTRY_COLUMNS, rows, columns),
    ...more,
    '',
    ...renderColumns(TIME_COLUMNS, times, columns),
    '',
    ...shown.flatMap((each) => wrap(keyText(each, page), page.width, { first: `${each.entry}  `, rest: '     ' })),
  ];
}

/** Those with something to see, as far as there is room, and both ends. */
function notable(entries: readonly ManifestEntryReport[]): readonly ManifestEntryReport[] {
  const odd = entries.filter(({ local, object }) => local === 'differs' || !['same', 'not checked'].includes(object));
  const kept = new Set([entries[0]!, ...odd.slice(0, LISTED - 2), entries.at(-1)!]);
  return entries.filter((entry) => kept.has(entry));
}

function keyText({ key, keyParts }: ManifestEntryReport, page: Page): string {
  if (keyParts === null) return `key ${page.show(key)} (of no known shape)`;
  const { nodeId, directory, baseOffset, segmentId } = keyParts;
  const node = nodeId === null ? 'no node id' : `node ${page.show(nodeId)}`;
  return `key ${page.show(key)} (${node}, directory ${page.show(directory)}, base ${baseOffset}, segment ${segmentId})`;
}

function coverageLines({ coverage }: ManifestReport, page: Page, options: ManifestTableOptions): string[] {
  if (coverage === null || coverage.length === 0) return [];
  const shown = options.all ? coverage : coverage.slice(0, LISTED);
  const lines = shown.map((range) => `Offsets ${rangeText(range)}: ${WHERE[range.where]}`);
  if (shown.length < coverage.length)
    lines.push(`and ${grouped(coverage.length - shown.length)} more (--all lists them)`);
  return ['', ...lines.flatMap((line) => wrap(line, page.width, { rest: '  ' }))];
}
