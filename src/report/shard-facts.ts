/**
 * The facts of a shard, below its findings: its segments, what was checked, where its history is, and what was not checked.
 */

import { atLeast } from '../domain/finding.js';
import type { SegmentReport, ShardReport, SidecarReport } from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { microsText } from './instants.js';
import { type Page, rangeText } from './page.js';
import { wrap } from './wrap.js';

/** More segments than this are shown only where there is something to see, and at both ends. */
const SEGMENT_ROWS = 40;
const COVERAGE_LINES = 20;

export function renderShardFacts(shard: ShardReport, page: Page, all: boolean): string[] {
  const texts = [
    totalsText(shard),
    timesText(shard),
    ...coverageTexts(shard, all),
    shard.sidecars.length === 0 ? null : `Small files: ${sidecarsText(shard.sidecars, page)}`,
    ...shard.notChecked.map((text) => `Not checked: ${page.show(text)}`),
  ].filter((text) => text !== null);
  return [...segmentTable(shard, page, all), ...texts.flatMap((text) => wrap(text, page.width, { rest: '  ' }))];
}

function segmentTable(shard: ShardReport, page: Page, all: boolean): string[] {
  const { segments } = shard;
  if (segments.length === 0) return [];
  const shown = all || segments.length <= SEGMENT_ROWS ? segments : notable(shard);
  const damaged = segments.some(({ damagedBytes }) => damagedBytes > 0);
  const unread = segments.some((segment) => unreadNow(segment) > 0);
  const columns: Column[] = [
    { title: 'segment', align: 'left', leads: true },
    { title: 'version', align: 'left' },
    { title: 'offsets', align: 'left' },
    { title: 'records', align: 'right' },
    { title: 'bytes', align: 'right' },
    { title: 'verified', align: 'right' },
    ...(damaged ? [{ title: 'damaged', align: 'right' } as const] : []),
    ...(unread ? [{ title: 'unread', align: 'right' } as const] : []),
    { title: 'index', align: 'left' },
  ];
  const faults = faultsByFile(shard);
  const newest = segments.at(-1);
  const rows = shown.map((segment) => [
    String(segment.id),
    segment.version === null ? '?' : String(segment.version),
    `${segment.baseOffset ?? '?'}..${segment.nextOffset ?? '?'}`,
    grouped(segment.records),
    grouped(segment.bytes),
    verifiedText(segment),
    ...(damaged ? [grouped(segment.damagedBytes)] : []),
    ...(unread ? [grouped(unreadNow(segment))] : []),
    indexText(segment, segment === newest, faults),
  ]);
  const lines = renderColumns(columns, rows, {
    width: page.width,
    paintTitles: page.paint.faint,
    paintRow: (text, row) => {
      const segment = shown[row]!;
      return segment.damagedBytes > 0
        ? page.paint.error(text)
        : unreadNow(segment) > 0
          ? page.paint.warning(text)
          : text;
    },
  });
  const hidden = segments.length - shown.length;
  if (hidden > 0) lines.push(...wrap(`and ${counted(hidden, 'more segment')} (--all lists them)`, page.width));
  return lines;
}

function isHurt(segment: SegmentReport): boolean {
  return segment.damagedBytes > 0 || unreadNow(segment) > 0;
}

/** Bytes that nobody has read, not counting what an earlier run found clean. */
function unreadNow({ unreadBytes, skippedSinceMicros }: SegmentReport): number {
  return skippedSinceMicros === null ? unreadBytes : 0;
}

/** `all`, a number of bytes, or the day of the run that read them. */
function verifiedText({ verifiedBytes, bytes, skippedSinceMicros }: SegmentReport): string {
  if (skippedSinceMicros !== null) return `on ${microsText(skippedSinceMicros).slice(0, 10)}`;
  return verifiedBytes === bytes ? 'all' : grouped(verifiedBytes);
}

/** Those with something to see, as far as the rows go, and both ends. */
function notable(shard: ShardReport): readonly SegmentReport[] {
  const { segments } = shard;
  const ends = new Set([segments[0], segments.at(-1)]);
  const hurt = segments.filter((segment) => !ends.has(segment) && isHurt(segment)).slice(0, SEGMENT_ROWS - ends.size);
  const kept = new Set([...ends, ...hurt]);
  return segments.filter((segment) => kept.has(segment));
}

/** How many findings of warning or worse each file has. */
export function faultsByFile(shard: ShardReport): ReadonlyMap<string, number> {
  const faults = new Map<string, number>();
  for (const { file, severity } of shard.findings) {
    if (file !== null && atLeast(severity, 'warning')) faults.set(file, (faults.get(file) ?? 0) + 1);
  }
  return faults;
}

export function indexText({ index }: SegmentReport, newest: boolean, faults: ReadonlyMap<string, number>): string {
  const rewritten = newest ? ', rewritten at open' : '';
  if (index === null) return `none${rewritten}`;
  if (!index.usable) return newest ? `unusable${rewritten}` : 'unusable, rebuilt at open';
  const count = faults.get(index.file) ?? 0;
  if (count > 0) return `${counted(count, 'fault')}${rewritten}`;
  const notJudged =
    index.notJudgedEntries === 0 ? '' : `, ${counted(index.notJudgedEntries, 'entry', 'entries')} not judged`;
  return `ok${notJudged}${rewritten}`;
}

function totalsText(shard: ShardReport): string {
  const sum = (of: (segment: SegmentReport) => number) => shard.segments.reduce((total, each) => total + of(each), 0);
  const damaged = sum(({ damagedBytes }) => damagedBytes);
  const skipped = sum((segment) => segment.unreadBytes - unreadNow(segment));
  const checked = sum(({ verifiedBytes }) => verifiedBytes) + damaged;
  return (
    `${counted(
      sum(({ records }) => records),
      'record',
    )} in ${counted(shard.segments.length, 'segment')}, ` +
    `${counted(checked, 'byte')} checked, ${grouped(damaged)} damaged, ${grouped(sum(unreadNow))} unread` +
    (skipped === 0 ? '' : `, ${grouped(skipped)} passed over as unchanged`)
  );
}

/** The earliest and the latest time among the segments' first and last records. */
export function timesText(shard: ShardReport): string | null {
  let from: bigint | null = null;
  let to: bigint | null = null;
  for (const { firstTimestampMicros: first, lastTimestampMicros: last } of shard.segments) {
    for (const time of [first, last]) {
      if (time === null) continue;
      if (from === null || time < from) from = time;
      if (to === null || time > to) to = time;
    }
  }
  return from === null || to === null ? null : `Records from ${microsText(from)} to ${microsText(to)}`;
}

export const WHERE = {
  local: 'here only',
  offloaded: 'offloaded only',
  both: 'here and offloaded',
  nowhere: 'neither here nor offloaded',
} as const;

function coverageTexts(shard: ShardReport, all: boolean): string[] {
  if (shard.coverage === null) return [];
  if (shard.coverage.length === 0) return ['The manifest names no offloaded offset'];
  const shown = all ? shard.coverage : shard.coverage.slice(0, COVERAGE_LINES);
  const hidden = shard.coverage.length - shown.length;
  return [
    ...shown.map((range) => `Offsets ${rangeText(range)}: ${WHERE[range.where]}`),
    ...(hidden > 0 ? [`and ${counted(hidden, 'more range')} (--all lists them)`] : []),
  ];
}

/** `epochs, replica sound; keys.idx damaged`. */
function sidecarsText(sidecars: readonly SidecarReport[], page: Page): string {
  return (['damaged', 'unreadable', 'sound'] as const)
    .map((state) => ({ state, files: sidecars.filter((sidecar) => sidecar.state === state) }))
    .filter(({ files }) => files.length > 0)
    .map(({ state, files }) => `${files.map(({ file }) => page.show(file)).join(', ')} ${state}`)
    .join('; ');
}
