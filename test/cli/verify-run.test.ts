import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { exitCodeOf } from '../../src/check/summary.js';
import { concatBytes } from '../../src/format/bytes.js';
import { type Damage, damaged, flipBit, renameFile, truncate } from '../builders/damage.js';
import { plain } from '../builders/records.js';
import { runCli } from '../builders/run-cli.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, threeSegments, writeShardBelow } from '../builders/shards.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';
import { runUnprivileged } from './run-as.js';

const BIN = path.join(PROJECT_ROOT, 'bin/felix-fsck.js');
const { image, segments } = threeSegments();

/** Damage that alone gives the worst finding of each severity. */
const WORST: Readonly<Record<'clean' | 'info' | 'warning' | 'error' | 'fatal', Damage>> = {
  clean: (whole) => whole,
  info: (whole) => new Map([...whole, ['notes.txt', new TextEncoder().encode('by hand\n')]]),
  warning: truncate(logName(2), segments[2]!.log.length - 3),
  error: flipBit(logName(0), segments[0]!.positions[5]! + 30, 0),
  fatal: renameFile(logName(1), 'moved'),
};

/** An index whose last entry lies behind the damage, so that an open does not meet it. */
function shardWith(worst: keyof typeof WORST, parent: string): string {
  const lastEntry = buildSegment({ records: segments[0]!.records, indexSpacing: 1 }).index;
  const known = new Map([...image, [indexName(0), lastEntry]]);
  return writeShardBelow(damaged(known, WORST[worst]), path.join(parent, worst));
}

describe('the exit code of verify', function () {
  this.timeout(120_000);
  const codes = { clean: 0, info: 0, warning: 20, error: 21, fatal: 22 } as const;
  const failOn = ['info', 'warning', 'error', 'fatal'] as const;

  it('is that of the worst finding, from the severity on that was asked for', () =>
    withTempDir(async (dir) => {
      for (const [worst, code] of Object.entries(codes) as [keyof typeof codes, number][]) {
        const shard = shardWith(worst, dir);
        expect((await runCli(['verify', shard])).code, worst).to.equal(code);
        const findings = (await checked(shard)).shards[0]!.findings;
        expect(exitCodeOf(findings, 'never'), worst).to.equal(0);
        for (const least of failOn) {
          const isBelow = worst === 'clean' || failOn.indexOf(worst) < failOn.indexOf(least);
          const expected = isBelow ? 0 : Math.max(code, 20);
          expect(exitCodeOf(findings, least), `${worst} ${least}`).to.equal(expected);
        }
      }
    }));

  it('follows the option', () =>
    withTempDir(async (dir) => {
      const shard = shardWith('error', dir);
      expect((await runCli(['verify', '--fail-on', 'error', shard])).code).to.equal(21);
      expect((await runCli(['verify', '--fail-on', 'fatal', shard])).code).to.equal(0);
    }));

  it('of many shards is that of the worst', () =>
    withTempDir(async (dir) => {
      const shards = (['clean', 'info', 'warning', 'error', 'fatal'] as const).map((worst) => shardWith(worst, dir));
      expect((await runCli(['verify', dir])).code).to.equal(22);
      expect((await runCli(['verify', ...shards.slice(0, 4)])).code).to.equal(21);
      expect((await runCli(['verify', ...shards.slice(0, 3)])).code).to.equal(20);
      expect((await runCli(['verify', ...shards.slice(0, 2)])).code).to.equal(0);
    }));

  it('is 30 for what could not be read, unless worse was found or asked not to count', async function () {
    await withTempDir((dir) => {
      const unreadable = path.join(dir, 'unreadable');
      spawnSync('chmod', ['755', dir]);
      const shards = (['warning', 'error', 'fatal'] as const).map((worst) => shardWith(worst, dir));
      const locked = writeShardBelow(image, unreadable);
      spawnSync('chmod', ['000', path.join(locked, 'epochs'), path.join(locked, indexName(1))]);
      const codeOf = (...args: string[]) => runUnprivileged(['verify', ...args])?.code ?? null;
      const alone = codeOf(locked);
      if (alone === null) this.skip();
      expect(alone).to.equal(30);
      expect(codeOf(locked, shards[0]!), 'beside a warning').to.equal(30);
      expect(codeOf(locked, shards[1]!), 'beside an error').to.equal(21);
      expect(codeOf(locked, shards[2]!), 'beside what is fatal').to.equal(22);
      expect(codeOf('--fail-on', 'fatal', locked, shards[1]!), 'beside an error that does not count').to.equal(30);
    });
  });
});

/** A segment that takes seconds to read, and no space. */
function slowShard(parent: string): string {
  const segment = buildSegment({ records: [plain(0n)] });
  const shard = writeShardBelow(buildShard({ segments: [segment] }), parent);
  writeFileSync(path.join(shard, logName(0)), concatBytes([segment.log]));
  truncateSync(path.join(shard, logName(0)), 64 * 2 ** 30);
  return shard;
}

/** Waits until the program has the file open, in whichever of its threads. */
async function hasOpened(child: ChildProcess, file: string): Promise<void> {
  for (;;) {
    expect(child.exitCode, 'still running').to.equal(null);
    try {
      const fds = `/proc/${child.pid}/fd`;
      for (const fd of readdirSync(fds)) if (readlinkSync(path.join(fds, fd)) === file) return;
    } catch {
      // A descriptor was closed between the two looks.
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a run that is interrupted', function () {
  this.timeout(60_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    for (const jobs of ['1', '4']) {
      it(`by ${signal} reports as far as it came, and exits with ${exitCode} (--jobs ${jobs})`, () =>
        withTempDir(async (dir) => {
          writeShardBelow(image, path.join(dir, 'a'));
          const slow = slowShard(path.join(dir, 'b'));
          const child = spawn(process.execPath, [BIN, 'verify', '--format', 'json', '--jobs', jobs, dir]);
          const out: Buffer[] = [];
          child.stdout.on('data', (data: Buffer) => out.push(data));
          await hasOpened(child, path.join(slow, logName(0)));
          const sentAt = performance.now();
          child.kill(signal);
          const code = await new Promise((resolve) => child.on('close', resolve));
          expect(code).to.equal(exitCode);
          expect(performance.now() - sentAt, 'milliseconds to the end').to.be.below(10_000);
          const report = JSON.parse(Buffer.concat(out).toString('utf8')) as {
            partial: boolean;
            shards: {
              segments: { bytes: number; verifiedBytes: number; damagedBytes: number; unreadBytes: number }[];
            }[];
            summary: { exitCode: number };
          };
          expect(report.partial).to.equal(true);
          expect(report.summary.exitCode).to.equal(exitCode);
          expect(report.shards[0]!.segments).to.have.length(3);
          for (const { bytes, verifiedBytes, damagedBytes, unreadBytes } of report.shards.flatMap((s) => s.segments)) {
            expect(verifiedBytes + damagedBytes + unreadBytes).to.equal(bytes);
          }
        }));
    }
  }
});

describe('standard output of verify', function () {
  this.timeout(60_000);
  const shell = (script: string, ...args: string[]) => {
    const env = { ...process.env, NODE_V8_COVERAGE: undefined };
    const result = spawnSync('bash', ['-c', script, 'bash', process.execPath, BIN, ...args], { encoding: 'utf8', env });
    return { stdout: result.stdout, stderr: result.stderr, code: result.status };
  };
  /** Far more than a pipe holds. */
  const talkative = (dir: string) => {
    const names = Array.from(
      { length: 900 },
      (_, i) => [`${i}${'0'.repeat(200)}.log`.slice(-200), new Uint8Array()] as const,
    );
    return writeShardBelow(new Map([...image, ...names]), dir);
  };

  for (const format of ['table', 'json', 'ndjson']) {
    it(`may end before everything was read of it (${format})`, () =>
      withTempDir((dir) => {
        talkative(dir);
        const { stdout, stderr } = shell('"$1" "$2" verify --all --format "$3" "$4" | head -c 1', format, dir);
        expect(stdout).to.have.length(1);
        expect(stderr).to.equal('');
      }));
  }

  it('may be closed from the start', () =>
    withTempDir((dir) => {
      writeShardBelow(image, dir);
      const { stderr, code } = shell('"$1" "$2" verify "$3" >&-', dir);
      expect({ stderr, code }).to.deep.equal({ stderr: '', code: 0 });
    }));

  it('that is full is one sentence and exit 30', function () {
    if (process.platform !== 'linux') this.skip();
    return withTempDir((dir) => {
      writeShardBelow(image, dir);
      for (const format of ['table', 'json', 'ndjson']) {
        const { stderr, code } = shell('"$1" "$2" verify --format "$3" "$4" >/dev/full', format, dir);
        expect(stderr).to.match(/^felix-fsck: standard output could not be written: no space left on device\n$/);
        expect(code).to.equal(30);
      }
    });
  });

  it('holds no colours when it is a pipe, whatever width is asked for', () =>
    withTempDir(async (dir) => {
      talkative(dir);
      for (const columns of [undefined, '1', 'wide', '1e9', '99999999999999999999']) {
        const { stdout, code } = await runCli(['verify', dir], { env: { COLUMNS: columns, FORCE_COLOR: '1' } });
        expect(code, columns).to.equal(22);
        expect(stdout, columns).not.to.include('\x1b');
      }
    }));
});
