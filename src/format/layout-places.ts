/**
 * Where the fields of a layout stand, so that a check can point at one without knowing the bytes itself.
 */

import { invariant } from '../domain/result.js';
import { fixedLength, type Layout, type LayoutItem } from './layout.js';

/** The byte at which a field begins, from the start of its layout, or of its element when it is inside a repeat. */
export function fieldAt(layout: Layout, name: string): number {
  const at = placeIn(layout.items, name);
  invariant(at !== null, `${layout.name} has a field ${name} at a fixed place`);
  return at;
}

function placeIn(items: readonly LayoutItem[], name: string): number | null {
  for (const item of items) {
    if ('type' in item) {
      if (item.name === name) return item.at ?? null;
    } else {
      const place = placeIn(item.items, name);
      if (place !== null) return place;
    }
  }
  return null;
}

/** Bytes of an element of the repeat with this name, or of the items that the field with this name switches on. */
export function groupLength(layout: Layout, name: string): number {
  const items = groupIn(layout.items, name);
  invariant(items !== null, `${layout.name} has a group ${name}`);
  return fixedLength({ items });
}

function groupIn(items: readonly LayoutItem[], name: string): readonly LayoutItem[] | null {
  for (const item of items) {
    if ('type' in item) continue;
    const own = 'repeat' in item ? item.repeat : item.when.field;
    const group = own === name ? item.items : groupIn(item.items, name);
    if (group !== null) return group;
  }
  return null;
}
