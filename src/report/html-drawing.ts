/**
 * What the pictures of the HTML report are drawn with: places to scale, patterns, the legend.
 *
 * Places along a line are percentages of the width and everything else is in pixels, so that text and patterns keep their
 * size on a phone and on paper. Each state has a pattern and a stroke of its own; the stroke alone keeps the smallest piece
 * visible.
 */

import { joinedMarkup, type Markup, markup } from './markup.js';

export const STATES = ['verified', 'damaged', 'torn', 'zeros', 'unread', 'lost', 'remote', 'hole'] as const;
export type State = (typeof STATES)[number];

const WORDS: Readonly<Record<State, string>> = {
  verified: 'verified',
  damaged: 'damaged',
  torn: 'unfinished write',
  zeros: 'zeros, never written',
  unread: 'not read',
  lost: 'lost',
  remote: 'in the object store',
  hole: 'neither here nor offloaded',
};

export function stateWords(state: State): string {
  return WORDS[state];
}

/** A percentage for an attribute. */
export function percent(share: number): string {
  return `${Number(Math.min(100, Math.max(0, share)).toFixed(3))}%`;
}

/** Where a value lies between two others, from 0 to 100. */
export type Scale<T> = (value: T) => number;

export function positionScale(from: number, to: number): Scale<number> {
  return (value) => (to > from ? (100 * (value - from)) / (to - from) : 0);
}

const STEPS = 10_000_000n;

/** Exact for any u64: only the share of the whole becomes a float. */
export function offsetScale(from: bigint, to: bigint): Scale<bigint> {
  return (value) => (to > from ? (100 * Number(((value - from) * STEPS) / (to - from))) / Number(STEPS) : 0);
}

export interface Lane {
  readonly y: number;
  readonly height: number;
}

/** A piece of a lane in its state's pattern. */
export function piece(state: State, from: number, to: number, { y, height }: Lane): Markup {
  const edge = state === 'verified' || state === 'remote' ? '' : ` ${STROKES[state]}`;
  return markup`<rect class="f-${FILLS[state]}" x="${percent(from)}" width="${percent(to - from)}" y="${y}" height="${height}"/><rect class="${state === 'verified' ? 'none' : ''}${edge}" fill="url(#p-${state})" stroke-width="2" x="${percent(from)}" width="${percent(to - from)}" y="${y}" height="${height}"/>`;
}

const FILLS: Readonly<Record<State, string>> = {
  verified: 'verified',
  damaged: 'damaged',
  torn: 'torn',
  zeros: 'zeros',
  unread: 'unread',
  lost: 'paper',
  remote: 'remote',
  hole: 'hole',
};

const STROKES: Readonly<Record<State, string>> = {
  verified: '',
  damaged: 's-damaged',
  torn: 's-torn',
  zeros: 's-zeros',
  unread: 's-unread',
  lost: 's-damaged',
  remote: '',
  hole: 's-muted',
};

/** Text at a place of the line, kept inside the picture. */
export function label(share: number, y: number, text: string): Markup {
  const anchor = share < 12 ? 'start' : share > 88 ? 'end' : 'middle';
  return markup`<text class="halo" x="${percent(share)}" y="${y}" text-anchor="${anchor}">${text}</text>`;
}

/** Text at the left edge, in front of what a lane shows. */
export function laneTitle(y: number, text: string): Markup {
  return markup`<text class="lane" x="0" y="${y}">${text}</text>`;
}

/** What both ends of a lane stand for, below it. */
export function laneEnds(left: string, right: string, y: number): Markup {
  return markup`<text class="lane" x="0" y="${y}">${left}</text><text class="lane" x="100%" y="${y}" text-anchor="end">${right}</text>`;
}

/** A short text on a plate of its own, legible on any pattern. */
export function plate(share: number, y: number, text: string): Markup {
  const width = 10 + 8 * text.length;
  return markup`<svg x="${percent(share)}" y="${y}" overflow="visible"><rect class="f-paper s-ink" x="${-width / 2}" y="-9" width="${width}" height="18" rx="4"/><text x="0" y="4" text-anchor="middle">${text}</text></svg>`;
}

/** The patterns, once a page; the pictures refer to them. */
export const PATTERNS = markup`<svg class="defs" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="p-verified" width="8" height="8" patternUnits="userSpaceOnUse"></pattern>
<pattern id="p-damaged" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s-paper" stroke-width="1.6" d="M0 0 8 8M8 0 0 8"/></pattern>
<pattern id="p-torn" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s-paper" stroke-width="2" d="M-2 2 2-2M0 8 8 0M6 10 10 6"/></pattern>
<pattern id="p-zeros" width="8" height="8" patternUnits="userSpaceOnUse"><circle class="f-paper" cx="4" cy="4" r="1.7"/></pattern>
<pattern id="p-unread" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s-paper" stroke-width="2" d="M0 4H8"/></pattern>
<pattern id="p-lost" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s-damaged" stroke-width="2" d="M-2 6 2 10M0 0 8 8M6-2 10 2"/></pattern>
<pattern id="p-remote" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s-paper" stroke-width="1.5" d="M4 0V8"/></pattern>
<pattern id="p-hole" width="8" height="8" patternUnits="userSpaceOnUse"><circle class="f-ink" cx="4" cy="4" r="0.7"/></pattern>
</defs></svg>`;

/** What the patterns mean, for those that a page shows. */
export function legend(states: readonly State[], more: readonly Markup[] = []): Markup {
  const items = states.map((state) => {
    const swatch = markup`<svg width="30" height="16" aria-hidden="true" focusable="false">${piece(state, 4, 96, { y: 2, height: 12 })}</svg>`;
    return markup`<li>${swatch} ${WORDS[state]}</li>`;
  });
  return markup`<ul class="legend" aria-label="Legend">${joinedMarkup([...items, ...more])}</ul>`;
}

/** What marks a place that a wrong entry of an index names. */
export const WRONG_CLASS = 'f-damaged s-paper wrong';
export const WRONG = markup`<li><svg width="14" height="16" aria-hidden="true" focusable="false"><path class="f-damaged" d="M7 2 13 13H1Z"/></svg> wrong index entry points here</li>`;

/** What marks a place that an index names. */
export const TICK_CLASS = 's-ink tick';
export const TICK = markup`<li><svg width="14" height="16" aria-hidden="true" focusable="false"><path class="s-ink" stroke-width="1.5" d="M7 2V14"/></svg> index entry points here</li>`;
