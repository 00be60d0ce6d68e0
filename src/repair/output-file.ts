/**
 * A file that an operator asked for: a report, metrics. It is there whole or not at all.
 *
 * Bytes go to a temporary beside it, are synced, and take its name by a rename, so that a reader that comes at the wrong
 * moment finds the old file. Never among the files of a store: what is looked at stays as it is.
 */

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fail } from '../domain/result.js';
import { indexIdOf, segmentIdOf } from '../format/names.js';
import { listDirectory, ROOT_FILES, SHARD_SIDECARS, statPath } from '../store/walk.js';
import { DurableFs, type FileWriter, WriteFailure } from './durable-fs.js';

export interface OutputOptions {
  /**
   * Never takes the place of another file. It bears its name from the start then, which no other can take meanwhile, and is
   * whole once it was committed.
   */
  readonly fresh?: boolean;
}

export class OutputFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #fs: DurableFs;
  readonly #writer: FileWriter;
  #open = true;
  #named = false;
  /** Written so far. */
  bytes = 0;

  /** Throws a failure when the place is none for it, before any work is done. */
  constructor(file: string, fs: DurableFs = new DurableFs(), { fresh = false }: OutputOptions = {}) {
    checkPlace(file);
    if (fresh && statPath(file) !== null) {
      fail({ reason: 'usage', message: `${file}: is there already, and is not overwritten` });
    }
    this.#path = file;
    this.#temporary = fresh ? file : besides(file);
    this.#fs = fs;
    this.#writer = this.#told(() => fs.createFile(this.#temporary, 0o666 & ~process.umask()));
  }

  write(content: string | Uint8Array): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.#told(() => this.#writer.write(bytes));
    this.bytes += bytes.length;
  }

  /** Gives the file its name; durable when this returns. */
  commit(): void {
    this.#told(() => {
      this.#writer.sync();
      this.#close();
      if (this.#temporary !== this.#path) this.#fs.rename(this.#temporary, this.#path);
      this.#named = true;
      this.#fs.syncDirectory(path.dirname(this.#path));
    });
  }

  /** Leaves nothing behind, unless it was committed. */
  discard(): void {
    if (this.#named) return;
    this.#close();
    try {
      this.#fs.unlink(this.#temporary);
    } catch (failure) {
      if (!(failure instanceof WriteFailure)) throw failure;
    }
  }

  #close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#writer.close();
  }

  /** A change that the system refuses is the run's failure, not a bug. */
  #told<T>(work: () => T): T {
    try {
      return work();
    } catch (failure) {
      if (!(failure instanceof WriteFailure)) throw failure;
      fail({ reason: 'unreadable', message: `${this.#path}: not written: ${failure.message}` });
    }
  }
}

function besides(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`);
}

function checkPlace(file: string): void {
  const refuse: (why: string) => never = (why) => fail({ reason: 'usage', message: `${file}: ${why}` });
  const at = statPath(file);
  if (at !== null && 'code' in at) refuse(at.message);
  if (at !== null && at.type !== 'file') refuse(`is a ${at.type}, and is not replaced by a file`);
  const directory = path.dirname(file);
  const parent = statPath(directory);
  if (parent === null) refuse('its directory does not exist');
  if ('code' in parent || parent.type !== 'directory') refuse('its directory is none');
  const stored = listDirectory(directory).entries.find(({ name }) => isOfStore(name));
  if (stored !== undefined) refuse(`its directory holds files of a store (${stored.name}): name another place`);
}

function isOfStore(name: string): boolean {
  return (
    segmentIdOf(name) !== null || indexIdOf(name) !== null || SHARD_SIDECARS.includes(name) || ROOT_FILES.includes(name)
  );
}
