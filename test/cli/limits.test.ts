import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MAX_PAYLOAD_BYTES } from '../../src/format/record.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, SHARD_DIR_NAME } from '../builders/shards.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const MEASURED_MAIN = fileURLToPath(new URL('./measured-main.js', import.meta.url));
const BIN = join(PROJECT_ROOT, 'bin', 'felix-fsck.js');
const LIMIT_KIB = 256 * 1024;
const GIB = 1 << 30;

interface Measured {
  readonly code: number | null;
  readonly peakKib: number;
  readonly report: { readonly shards: readonly { readonly segments: readonly Record<string, unknown>[] }[] };
}

/** Runs the real program and reads its own account of its peak memory. */
async function measured(...args: readonly string[]): Promise<Measured> {
  const child = spawn(process.execPath, [MEASURED_MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: plainEnv(),
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (data: Buffer) => {
      texts[name] += data.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const peak = /^peak (\d+) KiB$/m.exec(texts.stderr);
  expect(peak, texts.stderr).to.not.equal(null);
  return { code, peakKib: Number(peak![1]), report: JSON.parse(texts.stdout) as Measured['report'] };
}

function plainEnv(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, NODE_V8_COVERAGE: ___, ...env } = process.env;
  return env;
}

function shardIn(directory: string): string {
  const shard = join(directory, SHARD_DIR_NAME);
  mkdirSync(shard);
  return shard;
}

describe('memory stays below 256 MiB', function () {
  this.timeout(240_000);

  it('for a sparse segment of 16 GiB, every byte of which is judged', () =>
    withTempDir(async (directory) => {
      const shard = shardIn(directory);
      const log = join(shard, logName(0));
      const { log: bytes, index } = buildSegment({ records: [plain(0n), plain(1n)] });
      writeFileSync(log, bytes);
      writeFileSync(join(shard, indexName(0)), index);
      truncateSync(log, 16 * GIB);
      const { code, peakKib, report } = await measured('verify', '--format', 'json', '--jobs', '8', shard);
      expect(code).to.equal(22);
      expect(peakKib).to.be.below(LIMIT_KIB);
      expect(report.shards[0]!.segments[0]).to.deep.include({
        bytes: 16 * GIB,
        verifiedBytes: bytes.length,
        damagedBytes: 16 * GIB - bytes.length,
        unreadBytes: 0,
      });
    }));

  it('for records of 64 MiB, with 8 threads', () =>
    withTempDir(async (directory) => {
      const shard = shardIn(directory);
      const payload = new Uint8Array(MAX_PAYLOAD_BYTES).fill(0x61);
      const records = [0n, 1n, 2n, 3n].map((offset) => plain(offset, { payload }));
      const log = join(shard, logName(0));
      const { index } = buildSegment({ records });
      writeFileSync(log, buildSegment({ records: [] }).log);
      for (const record of records)
        appendFileSync(log, buildSegment({ records: [record], baseOffset: record.offset }).log.subarray(32));
      writeFileSync(join(shard, indexName(0)), index);
      const { code, peakKib, report } = await measured('verify', '--format', 'json', '--jobs', '8', shard);
      expect(code).to.equal(0);
      expect(peakKib).to.be.below(LIMIT_KIB);
      expect(report.shards[0]!.segments[0]).to.deep.include({ records: 4, damagedBytes: 0 });
    }));
});

describe('starting', function () {
  this.timeout(120_000);

  /** Medians of runs in turns, so that a busy machine is busy for all of them. */
  function medians(rounds: number, commands: readonly (readonly string[])[]): number[] {
    const times = commands.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, args] of commands.entries()) {
        const startedAt = performance.now();
        const { status } = spawnSync(process.execPath, args, { stdio: 'ignore', env: plainEnv() });
        times[i]!.push(performance.now() - startedAt);
        expect(status).to.equal(0);
      }
    }
    return times.map((list) => list.sort((a, b) => a - b)[Math.floor(rounds / 2)]!);
  }

  /** Something else on the machine can spoil a measurement, but cannot make one too good. */
  const TRIES = 5;

  it('takes at most 1.6 times as long as Node alone for the version, and 2.2 times for a tiny shard', () => {
    const tiny = join(PROJECT_ROOT, 'fixtures', 'healthy');
    const best = { version: Number.POSITIVE_INFINITY, verify: Number.POSITIVE_INFINITY };
    for (let tried = 0; tried < TRIES && (best.version > 1.6 || best.verify > 2.2); tried++) {
      const [node, version, verify] = medians(11, [
        ['-e', '0'],
        [BIN, '--version'],
        [BIN, 'verify', tiny],
      ]);
      best.version = Math.min(best.version, version! / node!);
      best.verify = Math.min(best.verify, verify! / node!);
    }
    expect(best.version, 'version').to.be.at.most(1.6);
    expect(best.verify, 'verify').to.be.at.most(2.2);
  });
});
