import { expect } from 'chai';
import type { ReplicaSummary } from '../../src/domain/replica-diff.js';
import { U64_MAX } from '../../src/domain/units.js';
import { renderTimeline } from '../../src/report/generation-timeline.js';
import { pageOf } from '../../src/report/page.js';
import { displayWidth } from '../../src/report/wrap.js';

function replica(
  name: string,
  base: bigint,
  tail: bigint,
  ...generations: readonly (readonly [bigint, bigint])[]
): ReplicaSummary {
  return {
    name,
    path: name,
    base,
    tail,
    records: 0,
    history: {
      state: 'sound',
      generations: generations.map(([generation, start]) => ({ generation, start, end: null })),
    },
    accepted: { state: 'missing', generation: null, commit: null },
    ballot: { state: 'missing', generation: null, leader: null },
    damage: [],
    damageCount: 0,
  };
}

function drawn(
  replicas: readonly ReplicaSummary[],
  width = 80,
  interest: bigint | null = null,
  unicode = false,
): string[] {
  return renderTimeline(replicas, interest, pageOf({ width, color: 0, unicode }));
}

const A = replica('A', 0n, 16n, [1n, 0n], [2n, 10n]);
const B = replica('B', 0n, 18n, [1n, 0n], [2n, 10n], [3n, 12n]);

describe('report/generation-timeline', () => {
  it('draws a row a replica, and a column wherever something begins or ends', () => {
    expect(drawn([A, B], 70)).to.deep.equal([
      '    0           10          12          16          18',
      'A   |1----------|2----------------------|',
      'B   |1----------|2----------|3----------------------|',
    ]);
  });

  it('draws in ASCII alone where that is all there is', () => {
    expect(drawn([A, B]).join('')).to.match(/^[ -~]+$/);
    expect(drawn([A, B], 80, null, true)[1]).to.match(/^A {3}├1─+├2─+\|$/);
  });

  it('shows a generation that begins at the tail, a log that begins late, and one without a history', () => {
    const lines = drawn(
      [replica('A', 0n, 12n, [1n, 0n], [3n, 12n]), replica('B', 5n, 12n, [1n, 0n]), replica('C', 0n, 5n)],
      60,
    );
    expect(lines.slice(1)).to.deep.equal([
      `A   |1${'-'.repeat(30)}|3`,
      `B   ${' '.repeat(16)}|1${'-'.repeat(14)}|`,
      `C   |?${'-'.repeat(14)}|`,
    ]);
  });

  it('of many generations shows those around the place of interest, and that there are more', () => {
    const many = Array.from({ length: 500 }, (_, at) => [BigInt(at + 1), BigInt(at * 10)] as const);
    const long = replica('A', 0n, 5000n, ...many);
    const newest = drawn([long], 80);
    expect(newest[0]).to.match(/~4\d+ .*5000$/);
    expect(newest[1]).to.match(/^A {2}~\|4\d+-.*\|$/);
    const middle = drawn([long], 80, 1000n);
    expect(middle[0]).to.include(' 1000 ');
    expect(middle[1]).to.match(/~$/);
  });

  for (const width of [40, 80, 120]) {
    it(`stays within ${width} columns, however long the numbers`, () => {
      const long = replica('B', U64_MAX - 9n, U64_MAX, [U64_MAX - 1n, U64_MAX - 5n], [U64_MAX, U64_MAX - 1n]);
      for (const line of [...drawn([A, B, long], width), ...drawn([A, B], width, 12n)]) {
        expect(displayWidth(line), line).to.be.at.most(width);
      }
    });
  }

  it('draws nothing where there is nothing to draw', () => {
    expect(drawn([{ ...A, base: null, tail: null, history: { state: 'missing', generations: [] } }])).to.deep.equal([]);
  });
});
