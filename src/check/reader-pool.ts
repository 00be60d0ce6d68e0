/**
 * Readers of many files with few of them open: the one that was not used for longest is closed when another is wanted.
 */

import { RecordReader } from '../scan/record-reader.js';
import type { FileSource } from '../store/file-source.js';
import { openFile, type StrandEntry } from './strands.js';

const MOST_OPEN = 64;

interface Opened {
  readonly file: StrandEntry;
  readonly source: FileSource;
  readonly reader: RecordReader;
}

export class ReaderPool {
  readonly #open = new Map<StrandEntry, Opened>();
  #last: Opened | null = null;

  /** A reader of the file; the two asked for last stay usable. Throws `ReadFailure`. */
  readerOf(file: StrandEntry): RecordReader {
    return this.#opened(file).reader;
  }

  /** The file itself, usable until the next call. Throws `ReadFailure`. */
  sourceOf(file: StrandEntry): FileSource {
    return this.#opened(file).source;
  }

  #opened(file: StrandEntry): Opened {
    if (this.#last?.file === file) return this.#last;
    let opened = this.#open.get(file);
    if (opened === undefined) {
      if (this.#open.size >= MOST_OPEN) this.#closeOldest();
      const source = openFile(file);
      opened = { file, source, reader: new RecordReader(source) };
    } else this.#open.delete(file);
    this.#open.set(file, opened);
    this.#last = opened;
    return opened;
  }

  #closeOldest(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest[0]);
    oldest[1].source.close();
  }

  close(): void {
    for (const { source } of this.#open.values()) source.close();
    this.#open.clear();
    this.#last = null;
  }
}
