/** What the small files share, where no single one of them shows it. */
import { expect } from 'chai';
import { buffered } from '../../src/format/envelope.js';
import { seededRandom } from '../builders/random.js';
import { strictFeed } from './sidecar-rules.js';

describe('format/envelope', () => {
  it('a buffered feed looks at its file a chunk of 64 KiB at a time, and keeps nothing of a longer view', () => {
    const bytes = seededRandom(21).bytes(200_000);
    const file = strictFeed(bytes, 65_537);
    const looks: (readonly [position: number, length: number])[] = [];
    const feed = buffered({
      size: file.size,
      view(position, length) {
        looks.push([position, length]);
        return file.view(position, length);
      },
    });
    const views: readonly (readonly [position: number, length: number, look: readonly [number, number] | null])[] = [
      [0, 10, [0, 65_536]],
      [0, 10, null],
      [65_526, 10, null],
      [65_526, 11, [65_526, 65_536]],
      [65_525, 4, [65_525, 65_536]],
      [5, 65_536, [5, 65_536]],
      [6, 65_535, null],
      [100, 65_537, [100, 65_537]],
      [100, 4, [100, 65_536]],
      [199_990, 10, [199_990, 10]],
    ];
    for (const [position, length, look] of views) {
      looks.length = 0;
      expect(feed.view(position, length), `at ${position}`).to.deep.equal(bytes.subarray(position, position + length));
      expect(looks, `at ${position}`).to.deep.equal(look === null ? [] : [look]);
    }
    expect(feed.size).to.equal(200_000);
  });
});
