/**
 * A picture of each segment: its bytes to scale, what is wrong with them, and where the index points.
 *
 * Damage is drawn however small it is; what takes little of the line is drawn again below, magnified. What the report does
 * not place is said in words and not drawn.
 */

import type { Finding } from '../domain/finding.js';
import type { SegmentReport, ShardReport } from '../domain/report.js';
import { type ByteRange, byteCount } from '../domain/units.js';
import { bytesOf, counted, grouped } from '../domain/wording.js';
import {
  label,
  laneEnds,
  percent,
  piece,
  plate,
  positionScale,
  type Scale,
  type State,
  stateWords,
  TICK_CLASS,
  WRONG_CLASS,
} from './html-drawing.js';
import { joinedMarkup, type Markup, markup } from './markup.js';
import { lostText, rangeText } from './page.js';

export interface SegmentPictureOptions {
  /** Makes ids of the page unique. */
  readonly id: string;
  /** About as many pieces a bar has at most. */
  readonly pieces: number;
  /** Positions that entries of the index name, a sample of them. */
  readonly indexPositions: readonly number[];
  /** Where on the page a finding is told; null when it is not. */
  anchorOf(finding: Finding): string | null;
}

/** More places than this in a segment are drawn, and listed no more. */
const LISTED_PLACES = 12;
const MOST_LENSES = 3;
/** A place that takes less than this share of the line is drawn again, magnified. */
const SMALL_SHARE = 12;
const LEAST_CONTEXT = 48;
/** Numbers nearer than this, in percent of the line, would lie on each other. */
const NUMBER_GAP = 5;

const BAR_HEIGHT = 26;
/** Room above the bar for the numbers of places. */
const NUMBERS = 17;
/** Room below the bar for what the index points at, and for both ends of the file. */
const BELOW = 30;
const LENS_HEIGHT = 62;

/** A piece of the file that is not verified. */
interface Place extends ByteRange {
  readonly state: State;
  readonly finding: Finding | null;
}

/** Tells whether something of a segment or its index is wrong or not known. */
export function marksOf({ findings }: ShardReport): (segment: SegmentReport) => boolean {
  const indexes = new Set(findings.filter(({ kind }) => kind === 'IndexEntry').map(({ file }) => file));
  return ({ damagedBytes, unreadBytes, index }) =>
    damagedBytes > 0 || unreadBytes > 0 || (index !== null && indexes.has(index.file));
}

/** What is not verified, by position. */
function placesOf(segment: SegmentReport, findings: readonly Finding[]): Place[] {
  const own = findings.filter(({ file }) => file === segment.file);
  const places: Place[] = [];
  let placed = 0;
  for (const finding of own) {
    const { damagedRange: range } = finding;
    if (range === null || range.to <= range.from || range.from >= segment.bytes) continue;
    places.push({ from: range.from, to: Math.min(range.to, segment.bytes), state: stateOf(finding), finding });
    placed += byteCount(range);
  }
  const open = segment.damagedBytes - placed;
  const from = own.find(({ site, damagedRange }) => site.position !== undefined && damagedRange === null)?.site
    .position;
  // Where a quick look stopped, the finding names the place at which the damage begins.
  if (open > 0 && places.length === 0 && from !== undefined && from + open === segment.bytes) {
    places.push({ from, to: segment.bytes, state: 'damaged', finding: null });
  }
  const unread = unreadPlace(segment, own);
  if (unread !== null) places.push(unread);
  return places.sort((a, b) => a.from - b.from);
}

/** Places of one state that nobody could tell apart on the line become one. */
function thinned(places: readonly Place[], gap: number): Place[] {
  const joined: Place[] = [];
  for (const place of places) {
    const last = joined.at(-1);
    if (last === undefined || last.state !== place.state || place.from - last.to > gap) joined.push(place);
    else joined[joined.length - 1] = { ...last, to: Math.max(last.to, place.to) };
  }
  return joined;
}

/** Unread bytes are the rest behind a place that cannot be read, or what a quick look passed over behind the header. */
function unreadPlace({ bytes, unreadBytes, verifiedBytes }: SegmentReport, own: readonly Finding[]): Place | null {
  if (unreadBytes === 0) return null;
  const ends = own.some(
    ({ kind, site }) =>
      (kind === 'Unreadable' && site.position === bytes - unreadBytes) || kind === 'ChangedWhileReading',
  );
  const from = ends || unreadBytes === bytes ? bytes - unreadBytes : Math.min(HEADER_BYTES, verifiedBytes);
  return { from, to: from + unreadBytes, state: 'unread', finding: null };
}

const HEADER_BYTES = 32;

function stateOf(finding: Finding): State {
  const lost = finding.lostOffsets;
  const losesNothing = lost === null || lost.to <= lost.from;
  if (finding.looksLike === 'zeros' && losesNothing) return 'zeros';
  if (finding.kind === 'Truncated' && finding.detail.resumedAt === null) return 'torn';
  return 'damaged';
}

/** Where a wrong index entry points in the segment; null for any other finding. */
function pointsIn(finding: Finding, { index, bytes }: SegmentReport): number | null {
  if (finding.kind !== 'IndexEntry' || index === null || finding.file !== index.file) return null;
  return finding.detail.entryPosition < BigInt(bytes) ? Number(finding.detail.entryPosition) : null;
}

/** The figure of one segment. */
export function segmentFigure(segment: SegmentReport, shard: ShardReport, options: SegmentPictureOptions): Markup {
  const places = placesOf(segment, shard.findings);
  const wrong = shard.findings.map((finding) => pointsIn(finding, segment)).filter((position) => position !== null);
  const drawn = places.length > options.pieces ? thinned(places, segment.bytes / options.pieces) : places;
  const lenses = drawn === places ? lensesOf(drawn, segment.bytes) : [];
  const top = drawn.length > 0 ? NUMBERS : 2;
  const height = top + BAR_HEIGHT + BELOW + lenses.length * LENS_HEIGHT;
  const whole = positionScale(0, segment.bytes);
  const below = top + BAR_HEIGHT;
  const body = [
    barOf({ from: 0, to: segment.bytes }, drawn, whole, top),
    drawn === places ? numbersOf(drawn, whole, top - 4) : markup``,
    ticksOf(options.indexPositions, wrong, whole, below),
    laneEnds('byte 0', String(segment.bytes), below + 22),
    ...lenses.map((lens, at) => {
      const place = { top: below + BELOW + 10 + at * LENS_HEIGHT, beamsFrom: lenses.length === 1 ? below : null };
      return lensOf(lens, place, drawn, { ...options, wrong, whole });
    }),
  ];
  const text = `${capital(nameOf(segment))}, ${bytesOf(segment.bytes)}`;
  return markup`<figure><figcaption><strong>Segment ${segment.id}</strong> <span class="muted">${factsOf(segment)}</span></figcaption>
<svg role="img" aria-labelledby="${options.id}-t ${options.id}-d" height="${height}"><title id="${options.id}-t">${text}</title><desc id="${options.id}-d">${describe(segment, places)}</desc>${joinedMarkup(body)}</svg>
${listOf(segment, places, options)}</figure>`;
}

function nameOf({ id }: SegmentReport): string {
  return `segment ${id}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function factsOf(segment: SegmentReport): string {
  const { bytes, damagedBytes, unreadBytes, baseOffset, nextOffset } = segment;
  const offsets = baseOffset === null ? 'offsets not known' : `offsets ${baseOffset}..${nextOffset ?? '?'}`;
  const hurt = damagedBytes === 0 ? '' : `, ${grouped(damagedBytes)} damaged`;
  const unread = unreadBytes === 0 ? '' : `, ${grouped(unreadBytes)} not read`;
  return `${offsets}, ${counted(segment.records, 'intact record')}, ${bytesOf(bytes)}${hurt}${unread}`;
}

/** The picture in words, for those who do not see it. */
function describe(segment: SegmentReport, places: readonly Place[]): string {
  if (places.length === 0) {
    return segment.verifiedBytes === segment.bytes
      ? 'Every byte is verified.'
      : `${bytesOf(segment.verifiedBytes)} of ${grouped(segment.bytes)} are verified; the places of the rest are not known.`;
  }
  const named = places.slice(0, LISTED_PLACES).map((place) => `${rangeText(place)} ${stateWords(place.state)}`);
  const more = places.length > named.length ? `, and ${counted(places.length - named.length, 'more place')}` : '';
  return `Bytes from left to right. Not verified: ${named.join(', ')}${more}.`;
}

/** A bar over a window of the file. */
function barOf(window: ByteRange, places: readonly Place[], scale: Scale<number>, y: number): Markup {
  const lane = { y, height: BAR_HEIGHT };
  const inside = places.filter((place) => place.from < window.to && place.to > window.from);
  return joinedMarkup([
    piece('verified', 0, 100, lane),
    ...inside.map((place) =>
      piece(place.state, scale(Math.max(place.from, window.from)), scale(Math.min(place.to, window.to)), lane),
    ),
  ]);
}

/** The number of each place above it, where there is room. */
function numbersOf(places: readonly Place[], scale: Scale<number>, y: number): Markup {
  const numbers: Markup[] = [];
  let last = -100;
  places.slice(0, LISTED_PLACES).forEach((place, at) => {
    const middle = (scale(place.from) + scale(place.to)) / 2;
    if (middle - last < NUMBER_GAP) return;
    last = middle;
    numbers.push(label(middle, y, String(at + 1)));
  });
  return joinedMarkup(numbers);
}

function ticksOf(right: readonly number[], wrong: readonly number[], scale: Scale<number>, y: number): Markup {
  return joinedMarkup([
    ...right.map((position) => {
      const at = percent(scale(position));
      return markup`<line class="${TICK_CLASS}" stroke-width="1.5" x1="${at}" x2="${at}" y1="${y}" y2="${y + 7}"/>`;
    }),
    ...wrong.map((position) => {
      const at = percent(scale(position));
      return markup`<svg x="${at}" y="${y}" overflow="visible"><path class="${WRONG_CLASS}" stroke-width="1" d="M0 0 6 11H-6Z"/></svg>`;
    }),
  ]);
}

/** Windows around the places that are too small to be seen well. */
function lensesOf(places: readonly Place[], size: number): ByteRange[] {
  const lenses: { from: number; to: number }[] = [];
  for (const place of places) {
    if (byteCount(place) * 100 >= SMALL_SHARE * size) continue;
    const context = Math.max(LEAST_CONTEXT, Math.ceil(byteCount(place) / 2));
    const window = { from: Math.max(0, place.from - context), to: Math.min(size, place.to + context) };
    const last = lenses.at(-1);
    if (last !== undefined && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else lenses.push(window);
  }
  return lenses.filter((lens) => byteCount(lens) * 2 < size).slice(0, MOST_LENSES);
}

interface LensOptions extends SegmentPictureOptions {
  readonly wrong: readonly number[];
  readonly whole: Scale<number>;
}

interface LensPlace {
  readonly top: number;
  /** Where lines begin that show what is magnified; null for none. */
  readonly beamsFrom: number | null;
}

/** A window of the file over the whole line. */
function lensOf(lens: ByteRange, place: LensPlace, places: readonly Place[], options: LensOptions): Markup {
  const { top, beamsFrom } = place;
  const scale = positionScale(lens.from, lens.to);
  const within = (position: number) => position >= lens.from && position < lens.to;
  const numbers = places.slice(0, LISTED_PLACES).flatMap((each, number) => {
    if (each.to <= lens.from || each.from >= lens.to) return [];
    const middle = (scale(Math.max(each.from, lens.from)) + scale(Math.min(each.to, lens.to))) / 2;
    return [plate(middle, top + BAR_HEIGHT / 2, String(number + 1))];
  });
  const beams = [
    [options.whole(lens.from), 0],
    [options.whole(lens.to), 100],
  ].map(([above, below]) => {
    return markup`<line class="s-muted" stroke-dasharray="3 3" x1="${percent(above!)}" x2="${percent(below!)}" y1="${beamsFrom ?? top}" y2="${top}"/>`;
  });
  return joinedMarkup([
    ...(beamsFrom === null ? [] : beams),
    barOf(lens, places, scale, top),
    ...numbers,
    ticksOf(options.indexPositions.filter(within), options.wrong.filter(within), scale, top + BAR_HEIGHT),
    laneEnds(`magnified: byte ${lens.from}`, String(lens.to), top + BAR_HEIGHT + 22),
  ]);
}

/** What the numbers in the picture are. */
function listOf(segment: SegmentReport, places: readonly Place[], options: SegmentPictureOptions): Markup | null {
  const placed = places.reduce((sum, place) => sum + (place.state === 'unread' ? 0 : byteCount(place)), 0);
  const unplaced = segment.damagedBytes - placed;
  if (places.length === 0 && unplaced <= 0) return null;
  const items = places.slice(0, LISTED_PLACES).map((place) => {
    const { finding } = place;
    const anchor = finding === null ? null : options.anchorOf(finding);
    const lost = finding?.lostOffsets == null ? '' : `; lost: ${lostText(finding.lostOffsets)}`;
    const text = `bytes ${rangeText(place)} (${grouped(byteCount(place))}): ${stateWords(place.state)}${lost}`;
    return anchor === null ? markup`<li>${text}</li>` : markup`<li><a href="#${anchor}">${text}</a></li>`;
  });
  const hidden = places.length - items.length;
  const more =
    hidden > 0
      ? markup`<p class="small muted">and ${counted(hidden, 'more place')}, drawn above${places.length > options.pieces ? ' as far as they can be told apart' : ''}</p>`
      : null;
  const rest =
    unplaced > 0
      ? markup`<p class="small muted">${bytesOf(unplaced)} damaged in places that the report does not list</p>`
      : null;
  return markup`${items.length > 0 ? markup`<ol class="places">${items}</ol>` : null}${more}${rest}`;
}
