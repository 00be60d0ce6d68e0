/**
 * A place to run documented command lines in, as an operator types them: a copy of the fixtures that may be written to, and
 * a `felix-fsck` on the path.
 */

import { spawn } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PROJECT_ROOT, withTempDir } from './trees.js';

export interface ShellOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ScratchCopy {
  readonly dir: string;
  /** Runs a line, or several, in bash; `-u` so that a forgotten variable fails. */
  shell(script: string, variables?: Readonly<Record<string, string>>): Promise<ShellOutcome>;
}

/** With a copy of `fixtures/`, or of a folder of it, whose files were last changed long ago. */
export async function withScratchCopy<T>(folder: string, work: (place: ScratchCopy) => Promise<T>): Promise<T> {
  return withTempDir(async (dir) => {
    const bin = path.join(dir, 'bin');
    const place = path.join(dir, 'work');
    mkdirSync(bin);
    writeFileSync(
      path.join(bin, 'felix-fsck'),
      `#!/bin/sh\nexec '${process.execPath}' '${path.join(PROJECT_ROOT, 'bin/felix-fsck.js')}' "$@"\n`,
    );
    chmodSync(path.join(bin, 'felix-fsck'), 0o755);
    const copy = folder === 'fixtures' ? path.join(place, 'fixtures') : place;
    cpSync(
      folder === 'fixtures' ? path.join(PROJECT_ROOT, 'fixtures') : path.join(PROJECT_ROOT, 'fixtures', folder),
      copy,
      {
        recursive: true,
      },
    );
    age(place);
    return work({
      dir: place,
      shell: (script, variables = {}) =>
        run(script, place, { ...variables, PATH: `${bin}:${process.env['PATH'] ?? ''}` }),
    });
  });
}

/** Sets every file's time back by a day: a shard that stopped long ago. */
export function age(at: string): void {
  if (lstatSync(at).isDirectory()) for (const name of readdirSync(at)) age(path.join(at, name));
  const then = Date.now() / 1000 - 86_400;
  utimesSync(at, then, then);
}

function run(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<ShellOutcome> {
  return new Promise((resolve, reject) => {
    const { NODE_EXTRA_CA_CERTS: _certs, NO_COLOR: _no, FORCE_COLOR: _force, ...inherited } = process.env;
    const child = spawn('bash', ['--norc', '-u', '-c', script], { cwd, env: { ...inherited, ...env }, stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end();
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
