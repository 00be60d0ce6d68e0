import { expect } from 'chai';
import { Window } from '../../src/scan/window.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { CountingSource } from './counting-source.js';
import { UnreadableSource } from './faulty-source.js';

const PAGE = 4096;
const bytes = seededRandom(7).bytes(5 * PAGE + 11);

const part = (from: number, to: number) => Buffer.from(bytes.subarray(from, to));
const held = (window: Window) => Buffer.from(window.bytes.subarray(0, window.length));

/** Gives no more than so many bytes at a time. */
const meagre = (most: number): ByteSource => {
  const inner = new MemorySource(bytes);
  return { size: bytes.length, readAt: (target, position) => inner.readAt(target.subarray(0, most), position) };
};

function expectFailure(work: () => unknown, failure: { code: string; position: number }): void {
  expect(work).to.throw(ReadFailure).that.includes(failure);
}

describe('scan/window', () => {
  it('takes no more memory than asked for, than the file has, and than a record head needs', () => {
    const lengthFor = (size: number, capacity?: number) =>
      new Window(new MemorySource(new Uint8Array(size)), capacity).bytes.length;
    expect(lengthFor(1000, 100)).to.equal(100);
    expect(lengthFor(1000, 101)).to.equal(104);
    expect(lengthFor(90, 5000)).to.equal(92);
    expect(lengthFor(0, 5000)).to.equal(64);
    expect(lengthFor(1 << 20)).to.equal(1 << 18);
    expect(() => lengthFor(1000, 63)).to.throw('a window holds a record header and its tag');
  });

  it('shows one memory in each of its forms', () => {
    const window = new Window(new MemorySource(bytes), 100);
    window.load(50);
    expect(window.plain.subarray(0, 100)).to.deep.equal(bytes.slice(50, 150));
    expect(window.data.getUint32(3)).to.equal(part(53, 57).readUInt32BE());
    expect(new Uint8Array(window.words.buffer, 0, 100)).to.deep.equal(bytes.slice(50, 150));
  });

  it('is as full as the file allows, however little a read gives', () => {
    for (const most of [1 << 20, 7, PAGE]) {
      for (const position of [0, 1, PAGE - 1, bytes.length - 100, bytes.length - 1]) {
        const window = new Window(meagre(most), 1000);
        window.load(position);
        const end = Math.min(bytes.length, position + 1000);
        expect([window.start, window.length, window.end]).to.deep.equal([position, end - position, end]);
        expect(held(window).equals(part(position, end))).to.equal(true);
        expect(window.bytesRead).to.equal(end - position);
        window.load(0);
        expect(held(window).equals(part(0, 1000))).to.equal(true);
        expect(window.bytesRead).to.equal(end - position + 1000);
      }
    }
    const nothing = new Window(new MemorySource(new Uint8Array()), 64);
    nothing.load(0);
    expect([nothing.length, nothing.end]).to.deep.equal([0, 0]);
  });

  it('ends in front of the first page that cannot be read, and fails where not one byte can', () => {
    const window = new Window(new UnreadableSource(bytes, 2 * PAGE, 3 * PAGE), 4 * PAGE);
    for (const position of [0, 10, PAGE, 2 * PAGE - 1]) {
      window.load(position);
      expect([window.start, window.end]).to.deep.equal([position, 2 * PAGE]);
      expect(held(window).equals(part(position, 2 * PAGE))).to.equal(true);
    }
    for (const position of [2 * PAGE, 2 * PAGE + 1, 3 * PAGE - 1]) {
      expectFailure(() => window.load(position), { code: 'EIO', position });
    }
    window.load(3 * PAGE);
    expect(window.end).to.equal(bytes.length);
    const shrunk = new Window(
      { size: bytes.length, readAt: (target, at) => new MemorySource(part(0, 50)).readAt(target, at) },
      100,
    );
    shrunk.load(10);
    expect(shrunk.end).to.equal(50);
    expect(() => shrunk.load(50)).to.throw(ReadFailure, 'the file ended before the size it had');
    expectFailure(() => shrunk.load(50), { code: 'SHRANK', position: 50 });
  });

  it('passes on what is no failure of a read', () => {
    const broken = {
      size: 500,
      readAt() {
        throw new TypeError('a bug');
      },
    };
    expect(() => new Window(broken, 64).load(0)).to.throw(TypeError, 'a bug');
  });

  it('moves only for what it does not hold', () => {
    const source = new CountingSource(bytes);
    const window = new Window(source, 100);
    window.ensure(200, 50);
    expect([window.start, window.end, source.bytesRead]).to.deep.equal([200, 300, 100]);
    for (const [position, length] of [
      [200, 100],
      [299, 1],
      [300, 0],
      [250, 50],
    ] as const) {
      window.ensure(position, length);
      expect([window.start, source.bytesRead], `${length} at ${position}`).to.deep.equal([200, 100]);
    }
    window.ensure(201, 100);
    expect(window.start).to.equal(201);
    window.ensure(200, 1);
    expect(window.start).to.equal(200);
  });

  it('fails when what is wanted lies behind what can be read, at the place where that begins', () => {
    const window = new Window(new UnreadableSource(bytes, 2 * PAGE, 3 * PAGE), 100);
    window.ensure(2 * PAGE - 10, 10);
    expect(window.end).to.equal(2 * PAGE);
    expectFailure(() => window.ensure(2 * PAGE - 10, 11), { code: 'EIO', position: 2 * PAGE });
  });

  it('takes what can be read the second time, and gives up when reads fail by turns', () => {
    const flaky = (fails: (read: number) => boolean): ByteSource => {
      let reads = 0;
      const inner = new UnreadableSource(bytes, PAGE, 2 * PAGE);
      return {
        size: bytes.length,
        readAt: (target, at) => (fails(reads++) ? inner : new MemorySource(bytes)).readAt(target, at),
      };
    };
    // The whole, the first page, the second page; then a look at the second, and the whole once more.
    const later = new Window(
      flaky((read) => read < 3),
      3 * PAGE,
    );
    later.ensure(10, 2 * PAGE);
    expect([later.start, later.end]).to.deep.equal([10, 10 + 3 * PAGE]);
    const exactly = new Window(
      flaky((read) => read < 3),
      3 * PAGE,
    );
    exactly.ensure(10, 3 * PAGE);
    expect([exactly.start, exactly.end]).to.deep.equal([10, 10 + 3 * PAGE]);
    const never = new Window(
      flaky((read) => read !== 3),
      3 * PAGE,
    );
    expect(() => never.ensure(10, 2 * PAGE)).to.throw(ReadFailure, 'reads succeed and fail by turns');
    expectFailure(
      () =>
        new Window(
          flaky((read) => read !== 3),
          3 * PAGE,
        ).ensure(10, 2 * PAGE),
      { code: 'EIO', position: PAGE },
    );
  });

  it('gives views of which a copy stays what it was when the window moves on', () => {
    const window = new Window(new MemorySource(Uint8Array.from({ length: 200 }, (_, i) => i)), 64);
    const copy = window.view(0, 4).slice();
    window.view(150, 40);
    expect([...copy]).to.deep.equal([0, 1, 2, 3]);
  });

  it('gives a view of any part of the file, in memory of its own when that is longer than the window', () => {
    for (const most of [1 << 20, 7]) {
      const window = new Window(meagre(most), 100);
      let read = 0;
      for (const [position, length, costs] of [
        [0, 100, 100],
        [0, 100, 0],
        [20, 80, 0],
        [20, 81, 100],
        [19, 1, 100],
        [19, 100, 0],
        [30, 5, 0],
        [118, 1, 0],
        [500, 101, 101],
        [0, bytes.length, bytes.length],
        [bytes.length, 0, 0],
        [bytes.length - 1, 1, 1],
      ] as const) {
        const view = window.view(position, length);
        expect(Buffer.compare(view, part(position, position + length)), `${length} at ${position}`).to.equal(0);
        read += costs;
        expect(window.bytesRead, `${length} at ${position}`).to.equal(read);
      }
    }
    const window = new Window(new MemorySource(bytes), 100);
    for (const [position, length] of [
      [-1, 5],
      [5, -1],
      [0, bytes.length + 1],
      [bytes.length, 1],
    ] as const) {
      expect(() => window.view(position, length)).to.throw('a view lies inside its file');
    }
    const shrunk = new Window(
      { size: bytes.length, readAt: (target, at) => new MemorySource(part(0, 300)).readAt(target, at) },
      100,
    );
    expectFailure(() => shrunk.view(10, 1000), { code: 'SHRANK', position: 300 });
  });
});
