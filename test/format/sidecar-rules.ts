/**
 * The rules that hold for every small file, so that each one's own test is left with what is particular to it.
 */

import { expect } from 'chai';
import fc from 'fast-check';
import type { SidecarDamage, SidecarReading } from '../../src/domain/sidecar.js';
import { type ByteFeed, feedOf } from '../../src/format/bytes.js';
import { type Layout, walkLayout } from '../../src/format/layout.js';

/** Bytes written out as hex; everything from `|` to the end of a line is a remark. */
export function hex(text: string): Uint8Array {
  const digits = text.replace(/\|.*$/gm, '').replace(/\s+/g, '');
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

export function patched(bytes: Uint8Array, at: number, ...values: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  copy.set(values, at);
  return copy;
}

export function extended(bytes: Uint8Array, ...values: readonly number[]): Uint8Array {
  return Uint8Array.from([...bytes, ...values]);
}

/** A feed that poisons each view at the next call, and refuses a view longer than `longest`. */
export function strictFeed(bytes: Uint8Array, longest = 65_536): ByteFeed {
  let last = new Uint8Array(0);
  return {
    size: bytes.length,
    view(position, length) {
      if (position < 0 || length < 0 || position + length > bytes.length) throw new Error('a view outside the file');
      if (length > longest) throw new Error(`a view of ${length} bytes`);
      last.fill(0xa5);
      last = Uint8Array.from(bytes.subarray(position, position + length));
      return last;
    },
  };
}

/** A feed of zeros between `head` and `tail`, of any size, that holds no memory. */
export function sparseFeed(head: Uint8Array, size: number, tail: Uint8Array = new Uint8Array(0)): ByteFeed {
  const tailAt = size - tail.length;
  return {
    size,
    view(position, length) {
      const bytes = new Uint8Array(length);
      if (position < head.length) bytes.set(head.subarray(position, position + length));
      const from = Math.max(position, tailAt);
      if (position + length > from)
        bytes.set(tail.subarray(from - tailAt, position + length - tailAt), from - position);
      return bytes;
    },
  };
}

type Decode<T> = (feed: ByteFeed) => SidecarReading<T>;

/** The reading's damage, after making sure that there is no value beside it. */
export function refusal<T>(reading: SidecarReading<T>): readonly SidecarDamage[] {
  expect(reading.value).to.equal(null);
  return reading.damage;
}

export interface Rules<T> {
  readonly decode: Decode<T>;
  readonly layout: Layout;
  /** Sound files. */
  readonly sound: readonly Uint8Array[];
  /** Bytes of the fixed part, the checksum included. */
  readonly fixedPart: number;
  readonly magic: number;
}

export function itKeepsTheRules<T>({ decode, layout, sound, fixedPart, magic }: Rules<T>): void {
  it('no bytes make the decoder throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void decode(strictFeed(bytes))));
    const start = [...Buffer.from(magic.toString(16).padStart(8, '0'), 'hex'), 0, 1];
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        (bytes) => void decode(strictFeed(Uint8Array.from([...start, ...bytes]))),
      ),
    );
  });

  it('no change of a sound file makes the decoder throw', () => {
    const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...sound), change, fc.integer({ min: -20, max: 20 }), (bytes, changes, grow) => {
        const copy = new Uint8Array(Math.max(0, bytes.length + grow));
        copy.set(bytes.subarray(0, copy.length));
        for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value;
        decode(strictFeed(copy));
      }),
    );
  });

  it('an empty file is truncated, and needs the fixed part', () => {
    expect(refusal(decode(feedOf(new Uint8Array(0))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 0, needed: fixedPart, available: 0 },
    ]);
  });

  it('every file cut short has no value', () => {
    for (const bytes of sound) {
      for (let length = 0; length < bytes.length; length++) {
        expect(refusal(decode(strictFeed(bytes.subarray(0, length)))), `${length} bytes`).to.have.lengthOf(1);
      }
    }
  });

  it('another magic is found at position 0, before the version is looked at', () => {
    const bytes = patched(sound[0]!, 0, 0x41, 0x42, 0x43, 0x44, 0, 9);
    expect(refusal(decode(feedOf(bytes)))).to.deep.equal([
      { kind: 'SidecarMagic', position: 0, expected: `0x${magic.toString(16)}`, found: '0x41424344' },
    ]);
  });

  it('another version is reported at position 4, before length and checksum', () => {
    for (const version of [0, 2, 0x100]) {
      const bytes = patched(sound[0]!, 4, version >> 8, version & 255, 0xff, 0xff);
      expect(refusal(decode(feedOf(bytes)))).to.deep.equal([
        { kind: 'SidecarVersion', position: 4, known: 1, found: version },
      ]);
    }
  });

  it('the layout names every byte of a sound file once', () => {
    for (const bytes of sound) {
      const spans = walkLayout(layout, bytes);
      const ends = [0, ...spans.map(({ end }) => end)];
      expect(spans.map(({ start }) => start)).to.deep.equal(ends.slice(0, -1));
      expect(ends.at(-1)).to.equal(bytes.length);
      expect(spans.some(({ partial }) => partial)).to.equal(false);
    }
  });
}

/** The values of the spans of a sound file, by name. */
export function layoutValues(layout: Layout, bytes: Uint8Array): Record<string, bigint | number | string | null> {
  return Object.fromEntries(walkLayout(layout, bytes).map(({ name, value }) => [name, value]));
}

export const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
export const u32 = fc.nat(0xffff_ffff);
export const u16 = fc.nat(0xffff);
/** Text that UTF-8 can hold. */
export const text = fc.string({ unit: 'binary', maxLength: 40 });
