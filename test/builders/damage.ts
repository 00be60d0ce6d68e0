/**
 * Damage, each kind by name, done to a copy: an image goes in, and a new one comes out.
 *
 * A damage that would not change anything because its place or file is not there is a mistake in the test, and throws.
 */

import { z } from 'zod';
import { bytesOfHex, concatBytes } from '../../src/format/bytes.js';
import type { ShardImage } from './shards.js';

export type Damage = (image: ShardImage) => ShardImage;

/** The image after every damage in order; the one given stays as it is. */
export function damaged(image: ShardImage, ...damages: readonly Damage[]): ShardImage {
  return damages.reduce((current, damage) => damage(current), image);
}

/** Bit 0 is the least significant one. */
export function flipBit(file: string, at: number, bit: number): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, at, 1);
    const copy = bytes.slice();
    copy[at]! ^= 1 << bit;
    return copy;
  });
}

export function zero(file: string, at: number, length: number): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, at, length);
    return bytes.slice().fill(0, at, at + length);
  });
}

export function truncate(file: string, size: number): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, 0, size);
    return bytes.slice(0, size);
  });
}

export function append(file: string, extra: Uint8Array): Damage {
  return edit(file, (bytes) => concatBytes([bytes, extra]));
}

/** Writes over what is there; only the part past the end makes the file longer. */
export function write(file: string, at: number, over: Uint8Array): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, at, 0);
    return concatBytes([bytes.subarray(0, at), over, bytes.subarray(at + over.length)]);
  });
}

/** Takes bytes out; what is behind them moves up. */
export function remove(file: string, at: number, length: number): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, at, length);
    return concatBytes([bytes.subarray(0, at), bytes.subarray(at + length)]);
  });
}

/** Puts bytes in; what is behind them moves down. */
export function insert(file: string, at: number, extra: Uint8Array): Damage {
  return edit(file, (bytes) => {
    mustLieIn(bytes, at, 0);
    return concatBytes([bytes.subarray(0, at), extra, bytes.subarray(at)]);
  });
}

export function deleteFile(file: string): Damage {
  return (image) => {
    fileOf(image, file);
    return new Map([...image].filter(([name]) => name !== file));
  };
}

/** A file that is there already is replaced. */
export function copyFile(file: string, to: string): Damage {
  return (image) => new Map([...image, [to, fileOf(image, file)]]);
}

/** A file that is there already is replaced. */
export function createFile(file: string, bytes: Uint8Array): Damage {
  return (image) => new Map([...image, [file, bytes]]);
}

export function renameFile(file: string, to: string): Damage {
  return (image) => damaged(image, copyFile(file, to), deleteFile(file));
}

const file = z.string();
const hex = z.string();
const at = z.number();

/** Damage as recorded cases spell it. */
export const OP = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('flip'), file, at, bit: z.number() }),
  z.strictObject({ op: z.literal('truncate'), file, size: z.number() }),
  z.strictObject({ op: z.literal('zero'), file, at, len: z.number() }),
  z.strictObject({ op: z.literal('append'), file, hex }),
  z.strictObject({ op: z.literal('write'), file, at, hex }),
  z.strictObject({ op: z.literal('remove'), file, at, len: z.number() }),
  z.strictObject({ op: z.literal('copy'), file, to: z.string() }),
  z.strictObject({ op: z.literal('create'), file, hex }),
  z.strictObject({ op: z.literal('delete'), file }),
]);

export type Op = z.infer<typeof OP>;

/** Applies recorded damage in order. Takes parsed JSON, and throws when it is not of that shape. */
export function applyOps(image: ShardImage, ops: unknown): ShardImage {
  return damaged(image, ...z.array(OP).parse(ops).map(damageOf));
}

function damageOf(op: Op): Damage {
  switch (op.op) {
    case 'flip':
      return flipBit(op.file, op.at, op.bit);
    case 'truncate':
      return truncate(op.file, op.size);
    case 'zero':
      return zero(op.file, op.at, op.len);
    case 'append':
      return append(op.file, bytesOfHex(op.hex));
    case 'write':
      return write(op.file, op.at, bytesOfHex(op.hex));
    case 'remove':
      return remove(op.file, op.at, op.len);
    case 'copy':
      return copyFile(op.file, op.to);
    case 'create':
      return createFile(op.file, bytesOfHex(op.hex));
    case 'delete':
      return deleteFile(op.file);
  }
}

function edit(name: string, change: (bytes: Uint8Array) => Uint8Array): Damage {
  return (image) => new Map([...image, [name, change(fileOf(image, name))]]);
}

function fileOf(image: ShardImage, name: string): Uint8Array {
  const bytes = image.get(name);
  if (bytes === undefined) throw new Error(`there is no ${name} to damage`);
  return bytes;
}

function mustLieIn(bytes: Uint8Array, start: number, length: number): void {
  if (start < 0 || length < 0 || start + length > bytes.length) {
    throw new Error(`bytes ${start}..${start + length} are not in a file of ${bytes.length}`);
  }
}
