/**
 * Directories for tests: made and removed again, fingerprinted before and after, and the corpus from outside.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where package.json is. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs `work` with a fresh directory, and removes it whatever happens and whatever modes were set in it. */
export async function withTempDir<T>(work: (dir: string) => T | Promise<T>): Promise<T> {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'felix-fsck-test-')));
  try {
    return await work(dir);
  } finally {
    openUp(dir);
    rmSync(dir, { recursive: true, force: true });
  }
}

function openUp(dir: string): void {
  chmodSync(dir, 0o700);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(path.join(dir, entry.name));
  }
}

/** Relative path to type, mode, modification time in nanoseconds, and content. */
export type TreeFingerprint = Readonly<Record<string, string>>;

/**
 * Everything about a tree that a command which only looks must leave as it was. Two fingerprints are held together with
 * `deep.equal`, so that a failure names the file. Neither follows links nor opens anything but regular files.
 *
 * `directoryTimes: false` leaves the modification times of directories out, which change whenever a name is added.
 */
export function hashTree(
  root: string,
  { directoryTimes = true }: { readonly directoryTimes?: boolean } = {},
): TreeFingerprint {
  const tree: Record<string, string> = {};
  const visit = (at: Buffer, shown: string): void => {
    const stats = lstatSync(at, { bigint: true });
    const mode = (stats.mode & 0o7777n).toString(8).padStart(4, '0');
    const time = stats.isDirectory() && !directoryTimes ? '' : ` ${stats.mtimeNs}ns`;
    if (stats.isDirectory()) {
      tree[shown] = `directory ${mode}${time}`;
      const names = readdirSync(at, { encoding: 'buffer' }).sort(Buffer.compare);
      for (const name of names) visit(Buffer.concat([at, Buffer.from('/'), name]), `${shown}/${printable(name)}`);
    } else if (stats.isFile()) {
      const digest = createHash('sha256').update(readFileSync(at)).digest('hex');
      tree[shown] = `file ${mode}${time} ${stats.size} bytes ${digest}`;
    } else if (stats.isSymbolicLink()) {
      tree[shown] = `link${time} ${printable(readlinkSync(at, { encoding: 'buffer' }))}`;
    } else {
      tree[shown] = `special ${stats.mode.toString(8)}${time}`;
    }
  };
  visit(Buffer.from(root), '.');
  return tree;
}

/** A name as text; one that is not UTF-8 as hex digits, so that no two names look the same. */
function printable(name: Buffer): string {
  const text = name.toString('utf8');
  return Buffer.from(text, 'utf8').equals(name) ? text : `0x${name.toString('hex')}`;
}

/** The corpus of outside cases, when `FELIX_CORPUS` names one. */
export function corpusDir(): string | null {
  const dir = process.env['FELIX_CORPUS'];
  return dir === undefined || dir === '' ? null : path.resolve(dir);
}

/** A `describe` over the corpus: without one, a single test that is reported as skipped. */
export function describeWithCorpus(title: string, tests: (corpus: string) => void): void {
  const corpus = corpusDir();
  describe(title, () => {
    if (corpus === null) it.skip('needs the corpus that FELIX_CORPUS names');
    else tests(corpus);
  });
}
