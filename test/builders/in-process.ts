/**
 * Runs the command line in this process, for tests that run it very often. What depends on a process of its own, as signals
 * and terminals do, is tested with `runCli`.
 */

import { Readable, Writable } from 'node:stream';
import { main } from '../../src/cli/main.js';

export interface InProcessOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as it came. */
  readonly stdoutBytes: Uint8Array;
}

export async function runInProcess(args: readonly string[], input = ''): Promise<InProcessOutcome> {
  const stdout = new Captured();
  const stderr = new Captured();
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const code = await main(args, { stdout, stderr, stdin });
  return { code, stdout: stdout.text(), stderr: stderr.text(), stdoutBytes: stdout.bytes() };
}

class Captured extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // Whoever wrote it may use its memory again.
    this.#chunks.push(Buffer.from(chunk));
    done();
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
