/**
 * A picture of a shard's history by offset: which generation wrote it, where it is, what of it is lost, and which offsets
 * the small files name.
 *
 * Offsets are u64 and are drawn from the lowest to the highest that anything names; only their share of that line becomes
 * a float. A history of many generations or segments is drawn whole, with labels where there is room.
 */

import type { CoverageRange, FactValue, ShardReport } from '../domain/report.js';
import { type OffsetRange, offsetCount } from '../domain/units.js';
import { counted, grouped, offsetsOf } from '../domain/wording.js';
import { label, laneEnds, laneTitle, offsetScale, percent, piece, type Scale } from './html-drawing.js';
import { htmlTable } from './html-table.js';
import { lossesOf } from './losses.js';
import { joinedMarkup, type Markup, markup } from './markup.js';
import { WHERE } from './shard-facts.js';

export interface Generation {
  readonly generation: bigint;
  readonly from: bigint;
  /** Where the next one begins, or the end of the log. */
  readonly to: bigint;
}

/** An offset that a small file names. */
interface Mark {
  readonly what: string;
  readonly offset: bigint;
}

/** A label needs this share of the line. */
const LABEL_SHARE = 9;
const TITLE = 14;
const LANE = 22;
const GAP = 10;
const MARK = 20;

/** What `epochs` says, as ranges; those that the facts leave out are not here. */
function generationsOf(shard: ShardReport): Generation[] {
  const entries = listFact(shard, 'epochs', 'entries').flatMap((entry) => {
    const [generation, start] = [partOf(entry, 'generation'), partOf(entry, 'startOffset')];
    return typeof generation === 'bigint' && typeof start === 'bigint' ? [{ generation, start }] : [];
  });
  const end = [shard.tailOffset, entries.at(-1)?.start ?? null].reduce(larger, null) ?? 0n;
  return entries.map(({ generation, start }, at) => ({
    generation,
    from: start,
    to: larger(start, entries[at + 1]?.start ?? end) ?? start,
  }));
}

function listFact(shard: ShardReport, file: string, name: string): readonly FactValue[] {
  const value = factOf(shard, file, name);
  return Array.isArray(value) ? (value as readonly FactValue[]) : [];
}

function factOf(shard: ShardReport, file: string, name: string): FactValue | undefined {
  return shard.sidecars.find((sidecar) => sidecar.file === file)?.facts[name];
}

function partOf(value: FactValue, name: string): FactValue | undefined {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Readonly<Record<string, FactValue>>)[name]
    : undefined;
}

function larger(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

function marksOf(shard: ShardReport): Mark[] {
  const named: readonly (readonly [string, FactValue | undefined])[] = [
    ['commit offset (replica)', factOf(shard, 'replica', 'commit')],
    ['as of (producers)', factOf(shard, 'producers', 'asOf')],
    ['covered through (keys.idx)', factOf(shard, 'keys.idx', 'coveredThrough')],
    ['next offset after the open', shard.prediction.tailOffsetAfter ?? undefined],
  ];
  return named.flatMap(([what, offset]) => (typeof offset === 'bigint' ? [{ what, offset }] : []));
}

interface Lane {
  readonly title: string;
  readonly height: number;
  draw(scale: Scale<bigint>, y: number): Markup;
}

/** The figure; null when no offset of the shard is known. */
export function offsetsFigure(shard: ShardReport, id: string, pieces: number): Markup | null {
  const segments = localRanges(shard);
  const { ranges: lost } = lossesOf(shard.findings);
  const coverage = shard.coverage ?? [];
  const generations = generationsOf(shard);
  const marks = marksOf(shard);
  const bounds = boundsOf([...segments, ...lost, ...coverage, ...generations], shard, marks);
  if (bounds === null) return null;
  const scale = offsetScale(bounds.from, bounds.to);
  const gap = (bounds.to - bounds.from) / BigInt(pieces);
  const lanes = [
    ...(generations.length > 0 ? [generationLane(generations)] : []),
    localLane(shard, joinedRanges(segments, pieces, 0n), joinedRanges(lost, pieces, gap)),
    ...(coverage.length > 0 ? [remoteLane(coverage, (ranges) => joinedRanges(ranges, pieces, gap))] : []),
  ];
  const drawn: Markup[] = [];
  let y = 0;
  for (const lane of lanes) {
    drawn.push(laneTitle(y + TITLE - 3, lane.title), lane.draw(scale, y + TITLE));
    y += TITLE + lane.height + GAP;
  }
  drawn.push(laneEnds(`offset ${bounds.from}`, String(bounds.to), y + 4));
  y += 12;
  for (const mark of marks) {
    drawn.push(markOf(mark, scale, y));
    y += MARK;
  }
  return markup`<figure><svg role="img" aria-labelledby="${id}-t ${id}-d" height="${y}"><title id="${id}-t">The history by offset</title><desc id="${id}-d">${describe(shard, generations, lost, marks)}</desc>${drawn}</svg></figure>`;
}

/** The offsets of each segment. */
function localRanges(shard: ShardReport): OffsetRange[] {
  return shard.segments.flatMap(({ baseOffset: from, nextOffset: to }) =>
    from !== null && to !== null && to > from ? [{ from, to }] : [],
  );
}

function boundsOf(ranges: readonly OffsetRange[], shard: ShardReport, marks: readonly Mark[]): OffsetRange | null {
  const named = [
    ...ranges.flatMap(({ from, to }) => [from, to]),
    ...marks.map(({ offset }) => offset),
    ...[shard.baseOffset, shard.tailOffset].filter((offset) => offset !== null),
  ];
  const ascending = named.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [from = 0n, to = 0n] = [ascending[0], ascending.at(-1)];
  return to > from ? { from, to } : null;
}

function generationLane(generations: readonly Generation[]): Lane {
  return {
    title: 'generation',
    height: LANE,
    draw: (scale, y) =>
      joinedMarkup(
        generations.map(({ generation, from, to }, at) => {
          const [left, right] = [scale(from), scale(to)];
          const block = markup`<rect class="f-gen-${at % 2 === 0 ? 'a' : 'b'} s-ink" stroke-width="1" x="${percent(left)}" width="${percent(right - left)}" y="${y}" height="${LANE}"/>`;
          const text = String(generation);
          const room = LABEL_SHARE + Math.max(0, text.length - 3) * 2;
          return right - left < room ? block : joinedMarkup([block, label((left + right) / 2, y + 15, text)]);
        }),
      ),
  };
}

function localLane(shard: ShardReport, segments: readonly OffsetRange[], lost: readonly OffsetRange[]): Lane {
  return {
    title: `in this shard's ${counted(shard.segments.length, 'segment')}`,
    height: LANE,
    draw: (scale, y) => {
      const lane = { y, height: LANE };
      return joinedMarkup([
        ...segments.map(({ from, to }) => piece('verified', scale(from), scale(to), lane)),
        ...segments.slice(1).map(({ from }) => {
          const at = percent(scale(from));
          return markup`<line class="s-paper" stroke-width="2" x1="${at}" x2="${at}" y1="${y}" y2="${y + LANE}"/>`;
        }),
        ...lost.map(({ from, to }) => piece('lost', scale(from), scale(to), lane)),
      ]);
    },
  };
}

/** Of more ranges than there is room for, those become one that lie no further apart than the gap. */
function joinedRanges(ranges: readonly OffsetRange[], room: number, gap: bigint): readonly OffsetRange[] {
  if (ranges.length <= room) return ranges;
  const joined: OffsetRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last === undefined || range.from - last.to > gap) joined.push(range);
    else joined[joined.length - 1] = { from: last.from, to: larger(range.to, last.to) ?? range.to };
  }
  return joined;
}

function remoteLane(
  coverage: readonly CoverageRange[],
  joined: (ranges: readonly OffsetRange[]) => readonly OffsetRange[],
): Lane {
  const offloaded = joined(coverage.filter(({ where }) => where === 'offloaded' || where === 'both'));
  const nowhere = joined(coverage.filter(({ where }) => where === 'nowhere'));
  return {
    title: 'in the object store, by the manifest',
    height: LANE,
    draw: (scale, y) => {
      const lane = { y, height: LANE };
      return joinedMarkup([
        ...offloaded.map(({ from, to }) => piece('remote', scale(from), scale(to), lane)),
        ...nowhere.map(({ from, to }) => piece('hole', scale(from), scale(to), lane)),
      ]);
    },
  };
}

/** A triangle that points up to the lanes, and its name beside it. */
function markOf({ what, offset }: Mark, scale: Scale<bigint>, y: number): Markup {
  const share = scale(offset);
  const [dx, anchor] = share > 50 ? [-10, 'end'] : [10, 'start'];
  return markup`<svg x="${percent(share)}" y="${y}" overflow="visible"><path class="f-ink" d="M0 1 6 12H-6Z"/><text class="halo" x="${dx}" y="12" text-anchor="${anchor}">${what} ${offset}</text></svg>`;
}

function describe(
  shard: ShardReport,
  generations: readonly Generation[],
  lost: readonly OffsetRange[],
  marks: readonly Mark[],
): string {
  const records = shard.segments.reduce((sum, segment) => sum + segment.records, 0);
  const parts = [
    `${counted(records, 'intact record')} here`,
    lost.length === 0
      ? 'no offset known to be lost'
      : `lost: ${lost.slice(0, 8).map(offsetsOf).join(', ')}${lost.length > 8 ? `, and ${grouped(lost.length - 8)} more ranges` : ''}`,
    ...generations.slice(-8).map(({ generation, from }) => `generation ${generation} from offset ${from}`),
    ...marks.map(({ what, offset }) => `${what}: ${offset}`),
  ];
  return `${parts.join('; ')}.`;
}

const LISTED = 64;

/** The same in numbers: generations, and where each range is. */
export function offsetsTables(shard: ShardReport): Markup | null {
  const generations = generationsOf(shard);
  const coverage = shard.coverage ?? [];
  const count = factOf(shard, 'epochs', 'count');
  const untold = typeof count === 'number' ? count - Math.min(generations.length, LISTED) : 0;
  const epochs = htmlTable({
    label: 'Generations',
    caption: markup`Generations, from <code>epochs</code>${untold > 0 ? `; ${counted(untold, 'older one')} not shown` : ''}`,
    columns: [
      { title: 'generation', number: true },
      { title: 'from offset', number: true },
      { title: 'offsets', number: true },
    ],
    rows: generations
      .slice(-LISTED)
      .map(
        ({ generation, from, to }) =>
          markup`<tr><td class="n">${generation}</td><td class="n">${from}</td><td class="n">${grouped(to - from)}</td></tr>`,
      ),
  });
  const hidden = coverage.length - LISTED;
  const where = htmlTable({
    label: 'Where the offsets are',
    caption: markup`Where each range of offsets is, by <code>offload.manifest</code>${hidden > 0 ? `; ${counted(hidden, 'more range')} not shown` : ''}`,
    columns: [{ title: 'offsets' }, { title: 'how many', number: true }, { title: 'where' }],
    rows: coverage
      .slice(0, LISTED)
      .map(
        (range) =>
          markup`<tr><td class="no">${range.from}..${range.to}</td><td class="n">${grouped(offsetCount(range))}</td><td>${WHERE[range.where]}</td></tr>`,
      ),
  });
  const tables = [...(generations.length > 0 ? [epochs] : []), ...(coverage.length > 0 ? [where] : [])];
  if (tables.length === 0) return null;
  return markup`<details><summary>Generations and places in numbers</summary><div class="inside">${tables}</div></details>`;
}
