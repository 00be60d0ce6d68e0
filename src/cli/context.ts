/**
 * What a command is given beside its arguments: where to write, when to stop, how text should look.
 */

import type { Readable, Writable } from 'node:stream';
import { FailureError } from '../domain/result.js';
import type { Style } from '../report/style.js';
import { reasonOf } from '../store/file-source.js';
import type { CommandSpec } from './specs/shared.js';

export interface Streams {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin: Readable;
}

export interface CommandContext {
  /** The command line as it was typed, the name of the command first. */
  readonly args: readonly string[];
  readonly out: Output;
  readonly streams: Streams;
  /** Aborted on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came. */
  signalCode(): number | null;
  readonly tool: { readonly name: string; readonly version: string };
  readonly nowMicros: bigint;
  /** Every command there is, for those that speak of the others. */
  readonly commands: readonly CommandSpec[];
  style(color: ColorChoice): Style;
}

export type ColorChoice = 'auto' | 'always' | 'never';

/** A module of a command: its work, given parsed options. Returns the exit code. */
export interface CommandModule {
  run(context: CommandContext, paths: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number>;
}

/**
 * Standard output that waits when the reader is slow, and is quiet once the reader has gone. Anything else that keeps it
 * from being written, a full disk above all, is a failure of the run.
 */
export class Output {
  readonly #stream: Writable;
  #closed = false;
  #failure: FailureError | null = null;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#closed = true;
      if (error.code !== 'EPIPE') {
        const message = `standard output could not be written: ${reasonOf(error)}`;
        this.#failure = new FailureError({ reason: 'unreadable', message });
      }
      stream.emit('drain');
    });
  }

  /** True once nobody reads any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Writes and waits until there is room for more; false when nobody reads any more. */
  async write(text: string | Uint8Array): Promise<boolean> {
    if (this.#closed || text.length === 0) return !this.#closed;
    if (!this.#stream.write(text) && !this.#closed) {
      await new Promise<void>((resolve) => this.#stream.once('drain', resolve));
    }
    if (this.#failure !== null) throw this.#failure;
    return !this.#closed;
  }

  /** Why something could not be written, other than that nobody reads. */
  get failure(): FailureError | null {
    return this.#failure;
  }

  /**
   * Writes bytes that the caller is going to overwrite: waits until the stream has let go of them. False when nobody reads
   * any more.
   */
  async writeReused(bytes: Uint8Array): Promise<boolean> {
    if (this.#closed || bytes.length === 0) return !this.#closed;
    await new Promise<void>((resolve) => {
      this.#stream.write(bytes, () => resolve());
    });
    return !this.#closed;
  }

  /** Waits until everything written has gone out. */
  async flush(): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#stream.write('', () => resolve());
    });
  }
}
