/**
 * What makes a layout table trustworthy, whatever it describes.
 */

import { expect } from 'chai';
import { FIELD_SIZES, type FieldRef, type Layout, type LayoutItem } from '../../src/format/layout.js';

export function expectLayoutHolds(layout: Layout): void {
  expect(layout.name).to.match(/^[a-z][a-z.-]*$/);
  expect(layout.title).to.not.equal('');
  expect(layout.section).to.not.equal('');
  checkItems(layout.items, new Map(), 0);
}

/** `known` maps the integer fields in front to their widest value in bits. Returns nothing; throws on the first fault. */
function checkItems(items: readonly LayoutItem[], outer: ReadonlyMap<string, number>, start: number | null): void {
  const known = new Map(outer);
  const names = new Set<string>();
  let at = start;
  for (const item of items) {
    if ('repeat' in item) {
      if (item.count !== 'rest') expectRef(item.count, known);
      const [first] = item.items;
      expect(first !== undefined && 'type' in first && typeof first.size === 'number' && first.size > 0).to.equal(
        true,
        `an element of ${item.repeat} begins with a field of a fixed size`,
      );
      checkItems(item.items, known, 0);
      at = null;
    } else if ('when' in item) {
      expectRef(item.when, known);
      checkItems(item.items, known, null);
      at = null;
    } else {
      expect(names.has(item.name), `${item.name} is there once`).to.equal(false);
      names.add(item.name);
      expect(item.name).to.match(/^[a-z][a-z0-9_.]*$/);
      expect(item.meaning, `meaning of ${item.name}`).to.match(/[^.]$/);
      if (item.at !== undefined || at !== null) expect(item.at, `position of ${item.name}`).to.equal(at);
      if (item.type !== 'utf8' && item.type !== 'bytes') {
        expect(item.size, `size of ${item.name}`).to.equal(FIELD_SIZES[item.type]);
        if (/^[ui]/.test(item.type)) known.set(item.name, FIELD_SIZES[item.type] * 8);
      }
      if (item.type.startsWith('crc')) expect(item.covers, `what ${item.name} covers`).to.be.a('string');
      if (typeof item.size === 'object') expectRef(item.size, known);
      for (const { mask } of item.bits ?? []) expect(mask).to.be.within(1, 2 ** (known.get(item.name) ?? 0) - 1);
      at = at !== null && typeof item.size === 'number' ? at + item.size : null;
    }
  }
}

function expectRef({ field, mask }: FieldRef, known: ReadonlyMap<string, number>): void {
  const bits = known.get(field);
  expect(bits, `${field} is an integer in front`).to.be.a('number');
  if (mask !== undefined) expect(mask).to.be.within(1, 2 ** (bits ?? 0) - 1);
}
