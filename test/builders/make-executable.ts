/**
 * One executable that needs not even Node: `npm run executable` writes `dist/felix-fsck`, this machine's Node with the tool
 * inside ("single executable application").
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { makeBundle } from './make-bundle.js';
import { PROJECT_ROOT, withTempDir } from './trees.js';

const EXECUTABLE = path.join(PROJECT_ROOT, 'dist', 'felix-fsck');
const POSTJECT = 'postject@1.0.0-alpha.6';
/** Where Node looks for what was put into it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? String(error)}`);
}

await withTempDir(async (directory) => {
  await makeBundle(path.join(directory, 'felix-fsck.cjs'));
  const config = { main: 'felix-fsck.cjs', output: 'felix-fsck.blob', disableExperimentalSEAWarning: true };
  writeFileSync(path.join(directory, 'sea.json'), JSON.stringify(config));
  run(process.execPath, ['--experimental-sea-config', 'sea.json'], directory);
  mkdirSync(path.dirname(EXECUTABLE), { recursive: true });
  rmSync(EXECUTABLE, { force: true });
  copyFileSync(process.execPath, EXECUTABLE);
  chmodSync(EXECUTABLE, 0o755);
  spawnSync('strip', [EXECUTABLE], { stdio: 'ignore' });
  const inject = [EXECUTABLE, 'NODE_SEA_BLOB', 'felix-fsck.blob', '--sentinel-fuse', FUSE];
  run('npm', ['exec', '--yes', `--package=${POSTJECT}`, '--', 'postject', ...inject], directory);
});
process.stdout.write(`${EXECUTABLE}\n`);
