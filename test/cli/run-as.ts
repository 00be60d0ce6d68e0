/**
 * Running the program where permissions bind: as another user when the tests run as root, else as the user at hand.
 */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { PROJECT_ROOT } from '../builders/trees.js';

const NOBODY = '65534';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Null when root cannot become anybody else here. */
export function runUnprivileged(args: readonly string[]): Outcome | null {
  const node = [process.execPath, path.join(PROJECT_ROOT, 'bin/felix-fsck.js'), ...args];
  if (!isRoot()) return run(node);
  const become = ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'];
  const probe = spawnSync(become[0]!, [...become.slice(1), process.execPath, '--version']);
  return probe.status === 0 ? run([...become, ...node]) : null;
}

/** With `dir` mounted read-only over itself, in a mount namespace that ends with the program; null when that may not be. */
export function runOnReadOnlyMount(dir: string, args: readonly string[]): Outcome | null {
  const mount = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"';
  const within = (script: string, rest: readonly string[]) =>
    ['unshare', '--mount', 'sh', '-c', `${mount} && ${script}`, 'sh', dir, ...rest] as const;
  const probe = run(within('! touch "$1/probe" 2>/dev/null', []));
  if (probe.code !== 0) return null;
  return run(within('shift && exec "$@"', [process.execPath, path.join(PROJECT_ROOT, 'bin/felix-fsck.js'), ...args]));
}

function run([command, ...args]: readonly string[]): Outcome {
  const env = { ...process.env, NODE_V8_COVERAGE: undefined };
  const { status, stdout, stderr } = spawnSync(command!, args, { encoding: 'utf8', env, timeout: 60_000 });
  return { code: status, stdout: stdout ?? '', stderr: stderr ?? '' };
}
