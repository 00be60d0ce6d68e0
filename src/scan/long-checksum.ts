/**
 * Checksums of long ranges that may overlap.
 *
 * Damage can claim lengths of 64 MiB at every few bytes, and reading that much for each claim would take time in the
 * square of the file. CRC-32 is linear, so the checksum of any range follows from those of fixed blocks, which are taken
 * once and kept: after that, a claim costs two partial blocks, whatever its length.
 */

import { crc32, crc32Range } from '../format/checksum.js';
import { MAX_RECORD_BYTES } from '../format/record.js';
import { ReadFailure } from '../store/byte-source.js';
import { applyTable, linearTable } from './linear-map.js';
import type { Window } from './window.js';

const BLOCK_BYTES = 4096;
/** Blocks of the longest record, and as many again, so that a search moving forward seldom pushes out what it needs. */
const KEPT_BLOCKS = 2 ** Math.ceil(Math.log2((2 * MAX_RECORD_BYTES) / BLOCK_BYTES));
/** Ranges up to this length are simply read. */
const SHORT_BYTES = 16 * 1024;

export class LongChecksums {
  /** Of block b, at b modulo the size: the checksum of every block behind the anchor through b. */
  #prefixes: Int32Array | null = null;
  /** The block in front of the first one in the prefixes. */
  #anchor = -1;
  #through = -1;
  readonly #piece = Buffer.alloc(BLOCK_BYTES);

  /** CRC-32 of the file's bytes `[start, end)`, continuing `seed`; signed. Does not move the window. */
  continued(window: Window, start: number, end: number, seed: number): number {
    if (end <= window.end && start >= window.start) {
      return crc32Range(window, start - window.start, end - window.start, seed);
    }
    if (end - start <= SHORT_BYTES) return this.#read(window, start, end, seed);
    const firstBlock = Math.ceil(start / BLOCK_BYTES);
    const endBlock = Math.floor(end / BLOCK_BYTES);
    const head = this.#read(window, start, firstBlock * BLOCK_BYTES, seed);
    const middle = this.#blockRange(window, firstBlock, endBlock);
    const shifted = shiftBlocks(head, endBlock - firstBlock) ^ middle;
    return this.#read(window, endBlock * BLOCK_BYTES, end, shifted);
  }

  #read(window: Window, start: number, end: number, seed: number): number {
    let crc = seed;
    for (let at = start; at < end; ) {
      const piece = this.#piece.subarray(0, Math.min(BLOCK_BYTES - (at % BLOCK_BYTES), end - at));
      fill(window, piece, at);
      crc = crc32(piece, crc >>> 0) | 0;
      at += piece.length;
    }
    return crc;
  }

  /** Checksum of the blocks `[first, end)`, from the kept prefixes. */
  #blockRange(window: Window, first: number, end: number): number {
    this.#prefixes ??= new Int32Array(KEPT_BLOCKS);
    const prefixes = this.#prefixes;
    const before = first - 1;
    if (before < this.#anchor || before > this.#through || before <= this.#through - KEPT_BLOCKS) {
      this.#anchor = before;
      this.#through = before;
    }
    const prefixOf = (block: number) => (block === this.#anchor ? 0 : prefixes[block & (KEPT_BLOCKS - 1)]!);
    for (let block = this.#through + 1; block < end; block++) {
      fill(window, this.#piece, block * BLOCK_BYTES);
      prefixes[block & (KEPT_BLOCKS - 1)] = crc32(this.#piece, prefixOf(block - 1) >>> 0) | 0;
      this.#through = block;
    }
    return prefixOf(end - 1) ^ shiftBlocks(prefixOf(before), end - first);
  }
}

function fill(window: Window, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length; ) {
    const got = window.source.readAt(target.subarray(done), position + done);
    if (got === 0) throw new ReadFailure('SHRANK', position + done, 'the file ended before the size it had');
    done += got;
    window.bytesRead += got;
  }
}

/** Operators that move a checksum over 2^k blocks of zeros, as four tables of 256 words each. */
const SHIFTS: Int32Array[] = [];

/**
 * The part of a checksum that is left when `blocks` blocks follow: crc(A ++ B) = shift(crc(A), |B|) ^ crc(B), with the
 * pre- and post-inversion cancelling out.
 */
function shiftBlocks(crc: number, blocks: number): number {
  let value = crc;
  for (let k = 0, left = blocks; left > 0; k++, left = Math.floor(left / 2)) {
    if (left % 2 === 1) value = applyTable(shiftTable(k), value);
  }
  return value;
}

function shiftTable(k: number): Int32Array {
  for (let made = SHIFTS.length; made <= k; made++) {
    SHIFTS.push(
      made === 0
        ? linearTable(overOneBlock)
        : linearTable((bit) => applyTable(SHIFTS[made - 1]!, applyTable(SHIFTS[made - 1]!, bit))),
    );
  }
  return SHIFTS[k]!;
}

const ZERO_BLOCK = new Uint8Array(BLOCK_BYTES);

/** One block of zeros behind the checksum `value`, less what the zeros alone would give. */
function overOneBlock(value: number): number {
  return crc32(ZERO_BLOCK, value >>> 0) ^ crc32(ZERO_BLOCK);
}
