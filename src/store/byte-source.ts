/**
 * The port through which every byte of a store is looked at: a size, and reads at positions.
 *
 * The size is taken once, when the source is made. Whatever a file does afterwards, only that prefix is judged.
 */

export interface ByteSource {
  /** Bytes to be judged. */
  readonly size: number;
  /**
   * Reads up to `target.length` bytes at `position` and returns how many there were; fewer than asked for only at the
   * end. Throws {@link ReadFailure} when the device or the system refuses.
   */
  readAt(target: Uint8Array, position: number): number;
}

/** The bytes could not be read: never to be taken for bytes that are wrong. */
export class ReadFailure extends Error {
  /** The system's code (`EIO`, `EACCES`), or `SHRANK` when the file ended before the size it had. */
  readonly code: string;
  readonly position: number;

  constructor(code: string, position: number, message: string) {
    super(message);
    this.name = 'ReadFailure';
    this.code = code;
    this.position = position;
  }
}

/** A source over bytes in memory. */
export class MemorySource implements ByteSource {
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  readAt(target: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }
}
