/**
 * Runs the command line as a child process, the way an operator does.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';
import { PROJECT_ROOT } from './trees.js';

export interface CliOptions {
  readonly cwd?: string;
  /** Added to the environment of the tests; undefined takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input; empty when left out. */
  readonly input?: string | Uint8Array;
}

export interface CliOutcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as it came. */
  readonly stdoutBytes: Uint8Array;
}

/** What would change the output of a child from one machine to the next. */
const TAKEN_OUT: Readonly<Record<string, undefined>> = {
  NODE_EXTRA_CA_CERTS: undefined,
  NODE_OPTIONS: undefined,
  FORCE_COLOR: undefined,
  NO_COLOR: undefined,
  CLICOLOR: undefined,
  CLICOLOR_FORCE: undefined,
  COLUMNS: undefined,
};

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(PROJECT_ROOT, 'bin/felix-fsck.js'), ...args], {
      cwd: options.cwd ?? PROJECT_ROOT,
      env: { ...process.env, ...TAKEN_OUT, ...options.env },
      stdio: 'pipe',
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stdoutBytes = Buffer.concat(stdout);
      resolve({
        code,
        signal,
        stdout: stdoutBytes.toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
        stdoutBytes,
      });
    });
    child.stdin.end(options.input ?? '');
  });
}
