/**
 * What `explain` says, as text and as JSON: of a kind of finding, of an exit code, or the list of both.
 *
 * All words come from the catalogue; here they are only laid out, with the operator's own paths in the commands.
 */

import type { BrokerLine } from '../domain/broker-phrases.js';
import { CATALOGUE_GROUPS } from '../domain/catalogue-groups.js';
import { EXIT_CODES, type ExitCode } from '../domain/exit-codes.js';
import { filledIn, firstLooks, groupOf, type Place, placeholdersIn, rowOf } from '../domain/explanation.js';
import type { FindingKind } from '../domain/finding.js';
import { renderColumns } from './columns.js';
import { type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf } from './page.js';
import type { Style } from './style.js';
import { listed } from './verdict.js';
import { opposite, wrap, wrapCommand } from './wrap.js';

const EXPLAIN_SCHEMA = 'felix-fsck.explain/1';

/** A kind, and what a line of the broker's log said of it. */
export interface ExplainedKind {
  readonly kind: FindingKind;
  readonly line: BrokerLine | null;
  readonly place: Place;
  /** The name that the shard's directory has by the label in the line, when the label gives it. */
  readonly directoryName: string | null;
}

export function renderKind(explained: ExplainedKind, style: Style): string {
  const page = pageOf(style);
  const { kind, line, place } = explained;
  const row = rowOf(kind);
  const severities = listed(row.severities).replace(' and ', ' or ');
  return joined([
    ...opposite(kind, row.title, page.width, { rest: '  ' }).map(page.paint.strong),
    ...paragraph(`Severity: ${severities}. ${row.severityRule}`, page, ''),
    ...(line === null ? [] : paragraph(`The line says: ${lineText(line)}.`, page, '')),
    ...section('Cause', [row.cause], page),
    ...section('What the bytes look like', [row.evidence], page),
    ...section('What a broker does', [row.broker], page),
    ...commandSection('Look first', firstLooks(place), page),
    ...waysOut(explained, page),
    ...section('See', seeTexts(kind), page),
    ...legend(explained, page),
  ]);
}

export function renderExitCode(code: ExitCode, style: Style): string {
  const page = pageOf(style);
  return joined([
    ...opposite(`Exit ${code.code}`, code.name, page.width).map(page.paint.strong),
    ...paragraph(code.when, page, ''),
    ...section('What next', [code.whatNext], page),
    ...section('See', ['man 1 felix-fsck, section “Exit status”'], page),
  ]);
}

/** All kinds by group, then the exit codes. */
export function renderExplainList(style: Style): string {
  const page = pageOf(style);
  const blocks = CATALOGUE_GROUPS.map(({ title, kinds }) => [
    page.paint.strong(title),
    ...table(
      kinds.map((kind) => [kind, rowOf(kind).severities.join(' '), rowOf(kind).title]),
      ['kind', 'severity', 'what it is'],
      page,
    ),
    '',
  ]);
  return joined([
    ...blocks.flat(),
    page.paint.strong('Exit codes'),
    ...table(
      EXIT_CODES.map(({ code, name, when }) => [String(code), name, when]),
      ['code', 'name', 'when'],
      page,
    ),
    '',
    ...wrap('felix-fsck explain KIND (or a code, or a line of the broker’s log) tells more.', page.width).map(
      page.show,
    ),
  ]);
}

export function kindJson(explained: ExplainedKind, tool: ToolIdentity): object {
  return { schema: EXPLAIN_SCHEMA, tool, ...kindEntry(explained) };
}

export function exitCodeJson(code: ExitCode, tool: ToolIdentity): object {
  return { schema: EXPLAIN_SCHEMA, tool, ...exitCodeEntry(code) };
}

/** One document with everything, or a line for each kind and code. */
export function renderExplainListJson(tool: ToolIdentity, lines: boolean): string {
  const place: Place = { shard: null, file: null, position: null };
  const kinds = CATALOGUE_GROUPS.flatMap((group) => group.kinds).map((kind) =>
    kindEntry({ kind, line: null, place, directoryName: null }),
  );
  const exitCodes = EXIT_CODES.map(exitCodeEntry);
  if (!lines) return toJsonDocument({ schema: EXPLAIN_SCHEMA, tool, type: 'list', kinds, exitCodes });
  return [...kinds, ...exitCodes].map((entry) => toJsonLine({ schema: EXPLAIN_SCHEMA, tool, ...entry })).join('');
}

function kindEntry({ kind, line, place, directoryName }: ExplainedKind): object {
  const row = rowOf(kind);
  return {
    type: 'kind',
    kind,
    group: groupOf(kind),
    title: row.title,
    severities: row.severities,
    severityRule: row.severityRule,
    cause: row.cause,
    evidence: row.evidence,
    broker: row.broker,
    remedies: row.remedies.map(({ what, loses, command }) => ({
      what,
      loses,
      command: command === null ? null : filledIn(command, place),
    })),
    lookFirst: firstLooks(place),
    section: row.section,
    line: line === null ? null : { ...line, directoryName },
  };
}

function exitCodeEntry({ code, name, when, whatNext }: ExitCode): object {
  return { type: 'exit-code', code, name, when, whatNext };
}

/** `shard acme/default/orders/0, segment 2, byte 426, expected 0x…, found 0x…`. */
function lineText(line: BrokerLine): string {
  const parts: (string | null)[] = [
    `“${line.phrase}”`,
    line.shard === undefined ? null : `shard ${line.shard}`,
    line.segment === undefined ? null : `segment ${line.segment}`,
    line.position === undefined ? null : `byte ${line.position}`,
    line.file === undefined ? null : `file ${line.file}`,
    line.expected === undefined ? null : `expected ${line.expected}`,
    line.found === undefined ? null : `found ${line.found}`,
    line.needed === undefined ? null : `needed ${line.needed} bytes`,
    line.available === undefined ? null : `available ${line.available}`,
    line.payloadLen === undefined ? null : `payload of ${line.payloadLen} bytes`,
    line.limit === undefined ? null : `limit ${line.limit}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

function waysOut({ kind, place }: ExplainedKind, page: Page): string[] {
  const { remedies } = rowOf(kind);
  if (remedies.length === 0) return section('Ways out', ['Nothing is to be done.'], page);
  return [
    '',
    page.paint.strong('Ways out'),
    ...remedies.flatMap(({ what, loses, command }, at) => [
      ...wrap(page.show(what), page.width, { first: `  ${at + 1}. `, rest: '     ' }),
      ...wrap(page.show(`Loses: ${loses}`), page.width, { first: '     ', rest: '     ' }),
      ...(command === null ? [] : commandLines(filledIn(command, place), page, '     ')),
    ]),
  ];
}

function seeTexts(kind: FindingKind): string[] {
  const { section: name } = rowOf(kind);
  return [
    ...(name === null ? [] : [`Felix Durable Segment Format (v4), section “${name}”`]),
    'man 7 felix-fsck-findings, man 7 felix-fsck-runbook',
  ];
}

function legend({ kind, place, directoryName }: ExplainedKind, page: Page): string[] {
  const commands = [...rowOf(kind).remedies.map(({ command }) => command ?? ''), ...firstLooks(place)];
  const meanings = placeholdersIn(commands.map((command) => filledIn(command, place))).map(([name, meaning]) =>
    name === 'SHARD' && directoryName !== null
      ? `SHARD: the directory ${directoryName}, or that name with an incarnation behind it, below the data root`
      : `${name}: ${meaning}`,
  );
  return meanings.length === 0 ? [] : section('Where the commands say', meanings, page);
}

function section(title: string, texts: readonly string[], page: Page): string[] {
  return ['', page.paint.strong(title), ...texts.flatMap((text) => paragraph(text, page, '  '))];
}

function commandSection(title: string, commands: readonly string[], page: Page): string[] {
  return ['', page.paint.strong(title), ...commands.flatMap((command) => commandLines(command, page, '  '))];
}

function commandLines(command: string, page: Page, indent: string): string[] {
  return wrapCommand(page.show(command), page.width, { first: indent, rest: `${indent}  ` });
}

function paragraph(text: string, page: Page, indent: string): string[] {
  return wrap(page.show(plainQuotes(text, page)), page.width, { first: indent, rest: indent });
}

function plainQuotes(text: string, page: Page): string {
  return page.unicode ? text : text.replace(/[“”]/g, '"').replace(/’/g, "'");
}

function table(rows: readonly (readonly string[])[], titles: readonly string[], page: Page): string[] {
  return renderColumns(
    titles.map((title, at) => ({ title, align: 'left', leads: at === 0 }) as const),
    rows,
    { width: page.width, indent: '  ', paintTitles: page.paint.faint },
  );
}
