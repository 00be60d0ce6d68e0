import { chmodSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { damaged, flipBit, truncate } from '../builders/damage.js';
import { runCli } from '../builders/run-cli.js';
import { logName, threeSegments, v4WithGenerations, writeShardBelow } from '../builders/shards.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { runOnReadOnlyMount, runUnprivileged } from './run-as.js';

const OPTIONS: readonly (readonly string[])[] = [
  [],
  ['--format', 'json', '--quick'],
  ['--format', 'ndjson', '--all', '--verify-all-on-open', '--repair-checksum-tail'],
  ['--jobs', '1', '--include-deleted', '--shard-key', 'acme/default/orders/0', '--quiet'],
  ['--jobs', '4', '--index-spacing', '1', '--fail-on', 'never', '--color', 'always', '--no-progress'],
];

/** The fixtures, and shards with damage of which a broker would repair some. */
function plant(dir: string): void {
  cpSync(path.join(PROJECT_ROOT, 'fixtures'), path.join(dir, 'fixtures'), { recursive: true });
  const { image, segments } = threeSegments();
  writeShardBelow(damaged(image, truncate(logName(2), segments[2]!.log.length - 3)), path.join(dir, 'torn'));
  writeShardBelow(damaged(image, flipBit(logName(1), segments[1]!.positions[1]! + 30, 2)), path.join(dir, 'rot'));
  writeShardBelow(v4WithGenerations().image, path.join(dir, 'generations'));
}

/** Takes away every permission to write. */
function seal(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, entry.name);
    if (entry.isDirectory()) seal(at);
    else chmodSync(at, 0o444);
  }
  chmodSync(dir, 0o555);
}

describe('looking with verify', function () {
  this.timeout(60_000);

  it('leaves every byte, name, mode and time as it was, whatever the options', () =>
    withTempDir(async (dir) => {
      plant(dir);
      const before = hashTree(dir);
      for (const options of OPTIONS) {
        const { code } = await runCli(['verify', ...options, dir], { cwd: dir });
        expect(code, options.join(' ')).to.be.oneOf([0, 22]);
        expect(hashTree(dir), options.join(' ')).to.deep.equal(before);
      }
    }));

  it('asks for no more than may be read', function () {
    return withTempDir((dir) => {
      plant(dir);
      seal(dir);
      const before = hashTree(dir);
      const outcome = runUnprivileged(['verify', '--format', 'json', dir]);
      if (outcome === null) this.skip();
      expect(outcome.code).to.equal(22);
      expect(outcome.stdout).not.to.include('"Unreadable"');
      expect(hashTree(dir)).to.deep.equal(before);
    });
  });

  it('works on a read-only mount', function () {
    return withTempDir((parent) => {
      const dir = path.join(parent, 'store');
      mkdirSync(dir);
      plant(dir);
      const before = hashTree(dir);
      const outcome = runOnReadOnlyMount(dir, ['verify', '--format', 'json', dir]);
      if (outcome === null) this.skip();
      expect(outcome.code).to.equal(22);
      expect(outcome.stdout).not.to.include('"Unreadable"');
      expect(hashTree(dir)).to.deep.equal(before);
    });
  });
});
