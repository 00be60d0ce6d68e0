/**
 * Tar archives as POSIX 1003.1 describes them ("ustar"): plain files and nothing else, the same bytes for the same content.
 *
 * Owner, group and times are left at 0, so that an archive says nothing of the machine that made it.
 */

import { invariant } from '../domain/result.js';

const BLOCK = 512;
const NAME_BYTES = 100;
const LARGEST = 8 ** 11 - 1;
/** Names are ours and not the store's; none of them leads out of the directory that an archive is unpacked into. */
const SAFE_NAME = /^(?!.*\.\.)[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** One file of an archive: its header, its bytes, and what fills its last block. */
export function* tarMember(name: string, content: readonly Uint8Array[]): Generator<Uint8Array> {
  const size = content.reduce((sum, piece) => sum + piece.length, 0);
  yield tarHeader(name, size);
  yield* content;
  if (size % BLOCK > 0) yield new Uint8Array(BLOCK - (size % BLOCK));
}

/** What an archive ends with. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * BLOCK);
}

function tarHeader(name: string, size: number): Uint8Array {
  invariant(SAFE_NAME.test(name) && name.length <= NAME_BYTES, `a name that is safe in an archive, not ${name}`);
  invariant(size <= LARGEST, 'a file of less than 8 GiB');
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0, 'latin1');
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.fill(' ', 148, 156);
  header.write('0', 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  octal(0, 329, 8);
  octal(0, 337, 8);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
