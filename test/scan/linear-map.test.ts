import { expect } from 'chai';
import { applyTable, linearTable } from '../../src/scan/linear-map.js';
import { seededRandom } from '../builders/random.js';

describe('scan/linear-map', () => {
  const random = seededRandom(11);
  const word = () => random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16);
  const columns = Array.from({ length: 32 }, word);
  const MAPS: readonly (readonly [what: string, map: (value: number) => number])[] = [
    ['nothing', () => 0],
    ['itself', (value) => value],
    ['its bits, moved', (value) => value << 7],
    ['its bits, turned about', (value) => (value >>> 11) | (value << 21)],
    ['a sum of its bits', (value) => value ^ (value >>> 3) ^ (value << 9)],
    // Bit by bit, from the definition of a linear map.
    ['any matrix', (value) => columns.reduce((sum, column, bit) => ((value >>> bit) & 1 ? sum ^ column : sum), 0)],
  ];

  for (const [what, map] of MAPS) {
    it(`gives for every word what the map gives: ${what}`, () => {
      const table = linearTable(map);
      const words = [0, 1, -1, 255, 256, 0x8000_0000, 0x00ff_ff00, ...Array.from({ length: 300 }, word)];
      for (let bit = 0; bit < 32; bit++) words.push(1 << bit);
      for (const value of words) expect(applyTable(table, value | 0), `${value}`).to.equal(map(value | 0) | 0);
    });
  }
});
