/**
 * The generations of replicas side by side, drawn in plain text: a row each, a column where something begins or ends.
 *
 * Distances say nothing; the offsets stand above. When there are more places than fit, the ones around the place of
 * interest are drawn, and marks at the edges say that there is more.
 */

import type { ReplicaSummary } from '../domain/replica-diff.js';
import type { Page } from './page.js';

interface Pen {
  readonly edge: string;
  readonly line: string;
  readonly more: string;
}

const UNICODE: Pen = { edge: '├', line: '─', more: '…' };
const ASCII: Pen = { edge: '|', line: '-', more: '~' };
const LEAST_CELL = 6;
const MOST_CELL = 16;

/** Empty when no replica holds a record or a generation. */
export function renderTimeline(replicas: readonly ReplicaSummary[], interest: bigint | null, page: Page): string[] {
  const pen = page.unicode ? UNICODE : ASCII;
  const all = placesOf(replicas);
  if (all.length === 0) return [];
  const names = Math.max(...replicas.map(({ name }) => name.length)) + 2;
  const labels = [
    ...all.map(String),
    ...replicas.flatMap((each) => each.history.generations.map((g) => String(g.generation))),
  ];
  const longest = labels.reduce((most, label) => Math.max(most, label.length), 0);
  const room = page.width - names - longest - 3;
  const cell = Math.min(MOST_CELL, Math.max(LEAST_CELL, longest + 2, Math.floor(room / all.length)));
  if (cell < longest + 2 || room < 2 * cell) return [];
  const places = windowOf(all, interest, Math.floor(room / cell));
  const before = places[0] === all[0] ? ' ' : pen.more;
  const after = places.at(-1) === all.at(-1) ? '' : pen.more;
  const ticks = places.map((place) => String(place).padEnd(cell)).join('');
  return [
    `${' '.repeat(names)}${before}${ticks}`.trimEnd(),
    ...replicas.map((replica) =>
      `${replica.name.padEnd(names)}${before}${rowOf(replica, places, cell, pen)}${after}`.trimEnd(),
    ),
  ];
}

/** Where a log or a generation begins or ends, ascending. */
function placesOf(replicas: readonly ReplicaSummary[]): bigint[] {
  const places = new Set<bigint>();
  for (const { base, tail, history } of replicas) {
    for (const place of [base, tail]) if (place !== null) places.add(place);
    for (const { start } of history.generations) {
      if (base === null || start >= base) places.add(start);
    }
  }
  return [...places].sort((a, b) => (a < b ? -1 : 1));
}

/** As many places as fit; the newest ones, or those around the place of interest. */
function windowOf(all: readonly bigint[], interest: bigint | null, most: number): readonly bigint[] {
  if (all.length <= most) return all;
  const at = interest === null ? -1 : all.findIndex((place) => place >= interest);
  const from = at < 0 ? all.length - most : Math.min(Math.max(0, at - Math.floor(most / 2)), all.length - most);
  return all.slice(from, from + most);
}

function rowOf({ base, tail, history }: ReplicaSummary, places: readonly bigint[], cell: number, pen: Pen): string {
  const starts = new Map(history.generations.map(({ generation, start }) => [start, generation]));
  let row = '';
  for (const place of places) {
    const held = base !== null && tail !== null && place >= base && place < tail;
    const label = starts.get(place);
    const begins = held && (place === base || label !== undefined);
    const ends = place === tail;
    if (begins) {
      const own = label ?? generationAt(history.generations, place);
      row += `${pen.edge}${own ?? '?'}`.padEnd(cell, pen.line);
    } else if (held) {
      row += pen.line.repeat(cell);
    } else if (ends) {
      // A generation may begin at the tail, of which no record was written yet.
      row += `|${label ?? ''}`.padEnd(cell);
    } else {
      const isBeyond = label !== undefined && tail !== null && place > tail;
      row += (isBeyond ? `(${label})` : '').padEnd(cell);
    }
  }
  return row.trimEnd();
}

/** The generation that the oldest record is of, when its start lies in front of the log. */
function generationAt(generations: ReplicaSummary['history']['generations'], place: bigint): bigint | null {
  return generations.findLast(({ start }) => start <= place)?.generation ?? null;
}
