/** The one file that is carried to machines without npm does what the installed tool does. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runInProcess } from '../builders/in-process.js';
import { BUNDLE, makeBundle } from '../builders/make-bundle.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { logName } from '../builders/shards.js';
import { describeWithCorpus, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const FIXTURES = join(PROJECT_ROOT, 'fixtures');

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the file with Node and nothing else: an empty directory, an environment without a path. */
async function withBundle(work: (run: (...args: string[]) => Outcome, directory: string) => Promise<void> | void) {
  await withTempDir(async (directory) => {
    const file = join(directory, 'felix-fsck.cjs');
    copyFileSync(BUNDLE, file);
    const empty = join(directory, 'empty');
    mkdirSync(empty);
    await work((...args) => {
      const options = { cwd: empty, env: {}, encoding: 'utf8', maxBuffer: 1 << 28 } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], options);
      return { code: status, stdout, stderr };
    }, directory);
    expect(readdirSync(empty)).to.deep.equal([]);
  });
}

function withoutTimes(text: string): string {
  return text.replace(/"elapsedMs": ?\d+/g, '"elapsedMs":0');
}

async function expectSame(run: (...args: string[]) => Outcome, args: string[]): Promise<void> {
  const installed = await runInProcess(args);
  const { code, stdout, stderr } = run(...args);
  expect(stderr, args.join(' ')).to.equal(installed.stderr);
  expect(withoutTimes(stdout), args.join(' ')).to.equal(withoutTimes(installed.stdout));
  expect(code, args.join(' ')).to.equal(installed.code);
}

describe('the tool in one file', function () {
  this.timeout(60_000);

  before(() => makeBundle());

  it('runs every kind of command in an empty directory as the installed one does', () =>
    withBundle(async (run) => {
      for (const args of [
        ['--version'],
        ['verify', '--format', 'ndjson', FIXTURES],
        ['inspect', '--format', 'json', join(FIXTURES, 'healthy')],
        ['schema', 'verify'],
        ['completion', 'bash'],
        ['dump-records', '--format', 'ndjson', join(FIXTURES, 'torn-tail')],
        ['repair-tail', join(FIXTURES, 'zero-tail')],
        ['verify', join(FIXTURES, 'nowhere')],
        ['no-such-command'],
      ]) {
        await expectSame(run, args);
      }
    }));

  it('brings its threads along', () =>
    withBundle(async (run, directory) => {
      const shard = join(directory, 'shard');
      mkdirSync(shard);
      writeFileSync(join(shard, logName(0)), buildSegment({ records: [plain(0n), plain(1n)] }).log);
      truncateSync(join(shard, logName(0)), 80 << 20);
      await expectSame(run, ['verify', '--jobs', '2', '--format', 'json', shard]);
    }));

  it('hands on the licences of what it contains, in the file itself', () => {
    const text = readFileSync(BUNDLE, 'utf8');
    for (const name of ['chalk', 'cli-table3', 'commander', 'crc-32', 'zod']) {
      expect(text).to.match(new RegExp(`^${name} [\\d.]+ \\((?:MIT|Apache-2\\.0)\\)$`, 'm'));
    }
    expect(text.trimEnd().endsWith('*/')).to.equal(true);
  });

  describeWithCorpus('over the corpus', (corpus) => {
    it('says what the installed one says', () =>
      withBundle((run) => expectSame(run, ['verify', '--format', 'ndjson', join(corpus, 'cases')])));
  });
});
