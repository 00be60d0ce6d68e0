/**
 * What `inspect` shows of a file, a shard or a data root: as tables for people, and as JSON ("felix-fsck.inspect/1").
 */

import type {
  FactUnit,
  FileInspection,
  InspectedDamage,
  InspectedFact,
  InspectedSegment,
  InspectedSidecar,
  InspectedStranger,
  Inspection,
  ListedShard,
  RootInspection,
  ShardInspection,
} from '../domain/inspection.js';
import type { FactValue } from '../domain/report.js';
import { assertNever } from '../domain/result.js';
import { bytesOf, counted, grouped } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { microsText } from './instants.js';
import { type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf } from './page.js';
import { rootFactLines } from './root-facts.js';
import type { Style } from './style.js';
import { displayWidth, opposite, wrap } from './wrap.js';

const INSPECT_SCHEMA = 'felix-fsck.inspect/1';

export interface InspectOptions {
  /** Lists everything. */
  readonly all: boolean;
}

const LISTED = 40;
const SHOWN_ITEMS = 6;
const SHOWN_DAMAGE = 10;
const SHOWN_ELEMENTS = 20;
/** From this width on the time of the last record has a column too. */
const WIDE = 110;

/** One object; the things inspected are in `inspected`, in the order of the paths. */
export function renderInspectJson(inspections: readonly Inspection[], tool: ToolIdentity, partial = false): string {
  return toJsonDocument({
    schema: INSPECT_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    partial,
    inspected: inspections.map(inspectionJson),
  });
}

/** One line of NDJSON; its `type` is `file`, `shard` or `root`. */
export function renderInspectLine(inspection: Inspection): string {
  return toJsonLine(inspectionJson(inspection));
}

/** The last line of NDJSON. */
export function renderInspectSummaryLine(inspected: number, tool: ToolIdentity, partial: boolean): string {
  return toJsonLine({
    type: 'summary',
    schema: INSPECT_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    partial,
    inspected,
  });
}

/** The type in front; the rest as the value has it. */
function inspectionJson(inspection: Inspection): object {
  const { type, path, ...rest } = inspection;
  return { type, path, ...rest };
}

/** Text for people, of one inspection after the other. */
export function renderInspections(inspections: readonly Inspection[], style: Style, options: InspectOptions): string {
  const page = pageOf(style);
  return inspections.map((inspection) => joined(inspectionLines(inspection, page, options))).join('\n');
}

function inspectionLines(inspection: Inspection, page: Page, options: InspectOptions): string[] {
  switch (inspection.type) {
    case 'file':
      return fileLines(inspection, page, options);
    case 'shard':
      return shardLines(inspection, page, options);
    case 'root':
      return rootLines(inspection, page, options);
    default:
      return assertNever(inspection);
  }
}

function titled(left: string, right: string, page: Page): string[] {
  return opposite(page.show(left), page.show(right), page.width, { rest: '  ' }).map((line, at) =>
    at === 0 && line.startsWith(page.show(left))
      ? page.paint.strong(page.show(left)) + line.slice(page.show(left).length)
      : line,
  );
}

function fileLines(file: FileInspection, page: Page, options: InspectOptions): string[] {
  return [
    ...titled(file.path, bytesOf(file.size), page),
    ...wrap(`This is ${page.show(file.identity.description)}: ${file.state}.`, page.width),
    ...(file.facts.length === 0 ? [] : ['', ...factTable(file.facts, page, '', options)]),
    ...damageLines(file.damage, page, options),
    ...notVerifiedLines(file.notVerified, page),
  ];
}

function notVerifiedLines(texts: readonly string[], page: Page): string[] {
  if (texts.length === 0) return [];
  return ['', ...texts.flatMap((text) => wrap(`Not verified: ${page.show(text)}`, page.width, { rest: '  ' }))];
}

function sidecarLines(sidecars: readonly InspectedSidecar[], page: Page, options: InspectOptions): string[] {
  return sidecars.flatMap(({ file, bytes, state, facts }) => [
    '',
    ...titled(file, `${state}, ${bytesOf(bytes)}`, page),
    ...(facts.length === 0 ? [] : factTable(facts, page, '  ', options)),
  ]);
}

const FACT_COLUMNS: readonly Column[] = [
  { title: 'field', align: 'left', leads: true },
  { title: 'value', align: 'left' },
  { title: 'meaning', align: 'left' },
];

/** With a long value, value and meaning share a column, which can wrap. */
function factTable(facts: readonly InspectedFact[], page: Page, indent: string, inspect: InspectOptions): string[] {
  const elements = inspect.all ? [] : facts.filter(isElement).slice(SHOWN_ELEMENTS);
  const shown = facts.filter((fact) => !elements.includes(fact));
  const rows = shown.map((fact) => [page.show(fact.name), factText(fact, page), page.show(fact.meaning ?? '')]);
  const options = { width: page.width, indent, paintTitles: page.paint.faint };
  const more = elements.length === 0 ? [] : [`and ${grouped(elements.length)} more (--all lists them)`];
  const folded = more.flatMap((text) => wrap(text, page.width, { first: indent, rest: `${indent}  ` }));
  const longest = (column: number) => rows.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), 0);
  if (longest(0) + longest(1) <= page.width * 0.6) {
    return [...renderColumns(FACT_COLUMNS, rows, options), ...folded];
  }
  const joinedRows = rows.map(([name = '', value, meaning]) => [
    name,
    meaning === '' ? `${value}` : `${value} - ${meaning}`,
  ]);
  return [...renderColumns(FACT_COLUMNS.slice(0, 2), joinedRows, options), ...folded];
}

/** An element of a list, which is made of parts. */
function isElement({ units }: InspectedFact): boolean {
  return units !== undefined;
}

function factText({ value, unit, units }: InspectedFact, page: Page): string {
  return valueText(value, unit, units ?? {}, page);
}

type Units = NonNullable<InspectedFact['units']>;

/** Any value on one line, numbers with their unit, instants as UTC; long lists say how many more there are. */
function valueText(value: FactValue, unit: FactUnit | null, units: Units, page: Page): string {
  if (value === null) return 'none';
  if (typeof value === 'string') return page.show(value);
  if (typeof value === 'bigint') return quantityText(value, unit);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return quantityText(BigInt(value), unit);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) {
    const shown = value.slice(0, SHOWN_ITEMS).map((item) => valueText(item, unit, units, page));
    if (value.length > SHOWN_ITEMS) shown.push(`and ${grouped(value.length - SHOWN_ITEMS)} more`);
    return shown.length === 0 ? 'none' : shown.join(', ');
  }
  return Object.entries(value)
    .map(([name, item]) => {
      const own = Object.hasOwn(units, name) ? units[name]! : null;
      return `${page.show(name)} ${valueText(item, own, units, page)}`;
    })
    .join(' ');
}

function quantityText(value: bigint, unit: FactUnit | null): string {
  switch (unit) {
    case 'microseconds':
      return microsText(value);
    case 'milliseconds':
      return microsText(value * 1000n);
    case 'bytes':
      return bytesOf(value);
    case 'records':
      return counted(value, 'record');
    case 'entries':
      return counted(value, 'entry', 'entries');
    case 'offset':
    case null:
      return String(value);
    default:
      return assertNever(unit);
  }
}

function isList(value: object): value is readonly FactValue[] {
  return Array.isArray(value);
}

function shardLines(shard: ShardInspection, page: Page, options: InspectOptions): string[] {
  const { firstTimestampMicros: first, lastTimestampMicros: last } = shard;
  const facts = [
    `Path: ${page.show(shard.path)}`,
    shard.incarnation === null ? null : `Incarnation: ${page.show(shard.incarnation)}`,
    `${counted(shard.segments.length, 'segment')}, ${bytesOf(shard.bytes)}, ${offsetsText(shard)}`,
    first === null || last === null ? null : `Records from ${microsText(first)} to ${microsText(last)}`,
    shard.full ? null : 'Headers, indexes and tails were read, not every record (--full reads all)',
  ].filter((text) => text !== null);
  return [
    ...titled(shard.key ?? shard.name, shard.key === null ? '' : shard.name, page),
    ...facts.flatMap((text) => wrap(text, page.width, { rest: '  ' })),
    ...damageLines(shard.damage, page, options),
    ...(shard.segments.length === 0 ? [] : ['', ...segmentLines(shard.segments, page, options)]),
    ...sidecarLines(shard.sidecars, page, options),
    ...strangerLines(shard.strangers, page, options),
    ...notVerifiedLines(shard.notVerified, page),
  ];
}

function strangerLines(strangers: readonly InspectedStranger[], page: Page, options: InspectOptions): string[] {
  if (strangers.length === 0) return [];
  const shown = options.all ? strangers : strangers.slice(0, LISTED);
  const texts = shown.map(
    ({ file, bytes, description }) =>
      `No reader opens ${page.show(file)}: ${page.show(description)}, ${bytesOf(bytes)}`,
  );
  const hidden = strangers.length - shown.length;
  if (hidden > 0) texts.push(`and ${counted(hidden, 'more such file')} (--all lists them)`);
  return ['', ...texts.flatMap((text) => wrap(text, page.width, { rest: '  ' }))];
}

function offsetsText({ baseOffset, nextOffset }: { baseOffset: bigint | null; nextOffset: bigint | null }): string {
  return baseOffset === null && nextOffset === null
    ? 'offsets not known'
    : `offsets ${baseOffset ?? '?'}..${nextOffset ?? '?'}`;
}

const SEGMENT_COLUMNS: readonly Column[] = [
  { title: 'segment', align: 'left', leads: true },
  { title: 'version', align: 'left' },
  { title: 'offsets', align: 'left' },
  { title: 'records', align: 'right' },
  { title: 'bytes', align: 'right' },
  { title: 'index', align: 'right' },
  { title: 'first record', align: 'left' },
  { title: 'last record', align: 'left' },
];

function segmentLines(segments: readonly InspectedSegment[], page: Page, options: InspectOptions): string[] {
  const full = segments.some(({ records }) => records !== null);
  const wide = page.width >= WIDE;
  const left = [...(full ? [] : ['records']), ...(wide ? [] : ['last record'])];
  const columns = SEGMENT_COLUMNS.filter(({ title }) => !left.includes(title));
  return listOf(segments, 'segment', columns, page, options, (segment) => [
    String(segment.id),
    segment.version === null ? '?' : String(segment.version),
    `${segment.baseOffset ?? '?'}..${segment.nextOffset ?? '?'}`,
    ...(full ? [segment.records === null ? '?' : grouped(segment.records)] : []),
    grouped(segment.bytes),
    segment.index === null ? 'none' : grouped(segment.index.entries),
    timeText(segment.firstTimestampMicros),
    ...(wide ? [timeText(segment.lastTimestampMicros)] : []),
  ]);
}

function timeText(micros: bigint | null): string {
  return micros === null ? '?' : microsText(micros);
}

/** A table of the first rows and the last one, with the number of those between. */
function listOf<T>(
  items: readonly T[],
  noun: string,
  columns: readonly Column[],
  page: Page,
  options: InspectOptions,
  rowOf: (item: T) => string[],
): string[] {
  const folds = !options.all && items.length > LISTED;
  const shown = folds ? [...items.slice(0, LISTED - 1), items.at(-1)!] : items;
  const lines = renderColumns(columns, shown.map(rowOf), { width: page.width, paintTitles: page.paint.faint });
  const hidden = items.length - shown.length;
  if (hidden > 0)
    lines.push(...wrap(`and ${counted(hidden, `more ${noun}`)} before the last (--all lists them)`, page.width));
  return lines;
}

const SHARD_COLUMNS: readonly Column[] = [
  { title: 'shard', align: 'left', leads: true },
  { title: 'segments', align: 'right' },
  { title: 'bytes', align: 'right' },
  { title: 'offsets', align: 'left' },
  { title: 'damage', align: 'right' },
];

function rootLines(root: RootInspection, page: Page, options: InspectOptions): string[] {
  const segments = root.shards.reduce((sum, shard) => sum + shard.segments, 0);
  const bytes = root.shards.reduce((sum, shard) => sum + shard.bytes, 0);
  const row = (shard: ListedShard) => [
    page.show(shard.key ?? shard.name),
    grouped(shard.segments),
    grouped(shard.bytes),
    `${shard.baseOffset ?? '?'}..${shard.nextOffset ?? '?'}`,
    shard.damage === 0 ? '' : grouped(shard.damage),
  ];
  return [
    ...wrap(`Data root ${page.show(root.path)}`, page.width, { rest: '  ' }).map(page.paint.strong),
    ...rootFactLines(root, page),
    ...wrap(`${counted(root.shards.length, 'shard')}, ${counted(segments, 'segment')}, ${bytesOf(bytes)}`, page.width),
    ...damageLines(root.damage, page, options),
    ...sidecarLines(root.sidecars, page, options),
    ...(root.shards.length === 0 ? [] : ['', ...listOf(root.shards, 'shard', SHARD_COLUMNS, page, options, row)]),
    ...notVerifiedLines(root.notVerified, page),
  ];
}

function damageLines(damage: readonly InspectedDamage[], page: Page, options: InspectOptions): string[] {
  if (damage.length === 0) return [];
  const shown = options.all ? damage : damage.slice(0, SHOWN_DAMAGE);
  const texts = shown.map(({ kind, severity, file, position, message }) => {
    const where = [
      ...(file === null ? [] : [`in ${page.show(file)}`]),
      ...(position === null ? [] : [`at byte ${position}`]),
    ].join(' ');
    return `${severity.toUpperCase()} ${kind}${where === '' ? '' : ` ${where}`}: ${page.show(message)}`;
  });
  const hidden = damage.length - shown.length;
  if (hidden > 0) texts.push(`and ${grouped(hidden)} more (--all lists them)`);
  const title = 'Damage met on the way; felix-fsck verify tells what it means:';
  return [
    '',
    ...wrap(title, page.width, { rest: '  ' }).map(page.paint.warning),
    ...texts.flatMap((text) => wrap(text, page.width, { first: '  ', rest: '    ' })),
  ];
}
