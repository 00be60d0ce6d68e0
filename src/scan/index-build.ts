/**
 * The index that a writer makes of a segment while it appends ("Index file"; FACTS, "The writer").
 *
 * An entry for the first record, then for the first one that starts after at least the spacing of records since, and
 * including, the last indexed one. The walk goes from header to header and verifies each; what lies in the payloads is for
 * the scan to say. Memory grows with the index alone: 16 bytes for each spacing of records.
 */

import { invariant } from '../domain/result.js';
import { writeU64 } from '../format/bytes.js';
import { encodeIndexHeader, INDEX_ENTRY_LEN, INDEX_HEADER_LEN, INDEX_VERSION_WRITTEN } from '../format/index.js';
import { decodeRecordHeader, RECORD_HEADER_LEN } from '../format/record.js';
import { decodeSegmentHeader, SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import type { ByteSource } from '../store/byte-source.js';
import { Window } from './window.js';

export interface BuiltIndex {
  /** All bytes of the index file. */
  readonly image: Uint8Array;
  readonly entries: number;
  /** Where the walk ended: `end`, or the first place in front of it where no record in order starts. */
  readonly reached: number;
  /** The offset that the next record behind `reached` has. */
  readonly nextOffset: bigint;
}

const WINDOW_BYTES = 256 * 1024;

/** Null when the segment's header cannot be read as one. Throws `ReadFailure`. */
export function buildIndex(source: ByteSource, end: number, spacing: number): BuiltIndex | null {
  invariant(end <= source.size && spacing >= 1, 'an index is built of bytes that are there');
  const window = new Window(source, WINDOW_BYTES);
  const header = decodeSegmentHeader(window.view(0, Math.min(SEGMENT_HEADER_LEN, source.size)));
  if (!header.ok) return null;
  const { baseOffset } = header.value;
  const image = new IndexImage(baseOffset);
  let position = SEGMENT_HEADER_LEN;
  let nextOffset = baseOffset;
  let due = 0;
  while (position + RECORD_HEADER_LEN <= end) {
    const record = decodeRecordHeader(window.view(position, RECORD_HEADER_LEN));
    if (!record.ok || record.value.offset !== nextOffset || position + record.value.totalLen > end) break;
    if (position >= due) {
      image.add(nextOffset, position);
      due = position + spacing;
    }
    position += record.value.totalLen;
    nextOffset++;
  }
  return { image: image.bytes(), entries: image.entries, reached: position, nextOffset };
}

class IndexImage {
  #bytes = new Uint8Array(4096);
  #length = INDEX_HEADER_LEN;
  entries = 0;

  constructor(baseOffset: bigint) {
    this.#bytes.set(encodeIndexHeader({ version: INDEX_VERSION_WRITTEN, flags: 0, baseOffset }));
  }

  add(offset: bigint, position: number): void {
    if (this.#length + INDEX_ENTRY_LEN > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    writeU64(this.#bytes, this.#length, offset);
    writeU64(this.#bytes, this.#length + 8, BigInt(position));
    this.#length += INDEX_ENTRY_LEN;
    this.entries++;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
