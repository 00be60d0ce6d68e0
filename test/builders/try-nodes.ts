/**
 * The tool in one file on other versions of Node: `npm run test:nodes` fetches their binaries from npm into a directory that
 * is thrown away, runs every fixture and every case of the corpus, and holds exit codes and output to those of this Node.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { makeBundle } from './make-bundle.js';
import { corpusDir, PROJECT_ROOT, withTempDir } from './trees.js';

const VERSIONS = ['22', '24'];

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
}

function casesOf(): string[] {
  const fixtures = path.join(PROJECT_ROOT, 'fixtures');
  const own = readdirSync(fixtures, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const corpus = corpusDir();
  const outside =
    corpus === null
      ? []
      : readFileSync(path.join(corpus, 'cases', 'expected.ndjson'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => path.join(corpus, 'cases', (JSON.parse(line) as { path: string }).path));
  return [...own.map(({ name }) => path.join(fixtures, name)), ...outside];
}

function outcomeOf(node: string, file: string, target: string): Outcome {
  const args = [file, 'verify', '--format', 'json', '--jobs', '2', target];
  const { status, stdout } = spawnSync(node, args, { encoding: 'utf8', env: {}, maxBuffer: 1 << 28 });
  return { code: status, stdout: stdout.replace(/"elapsedMs": \d+/, '') };
}

/** Installs the npm package that holds a binary; null where there is none for this machine. */
function fetchNode(version: string, directory: string): string | null {
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}');
  const name = `node-${process.platform}-${process.arch}@${version}`;
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', name], {
    cwd: directory,
    stdio: 'ignore',
  });
  const binary = path.join(directory, 'node_modules', name.replace(/@.*$/, ''), 'bin', 'node');
  return status === 0 && existsSync(binary) ? binary : null;
}

await withTempDir(async (directory) => {
  const file = await makeBundle(path.join(directory, 'felix-fsck.cjs'));
  const cases = casesOf();
  const here = cases.map((target) => outcomeOf(process.execPath, file, target));
  for (const version of VERSIONS) {
    const node = fetchNode(version, path.join(directory, version));
    if (node === null) {
      process.stdout.write(`Node ${version}: no binary from npm for this machine, not tried\n`);
      continue;
    }
    const differing = cases.filter((target, at) => {
      const { code, stdout } = outcomeOf(node, file, target);
      return code !== here[at]!.code || stdout !== here[at]!.stdout;
    });
    const exact = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
    process.stdout.write(`Node ${exact}: ${cases.length - differing.length} of ${cases.length} the same\n`);
    for (const target of differing) process.stdout.write(`  ${target}\n`);
    if (differing.length > 0) process.exitCode = 1;
  }
});
