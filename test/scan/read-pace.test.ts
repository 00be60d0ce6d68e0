import { spawnSync } from 'node:child_process';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { createScanner } from '../../src/scan/pool.js';
import { paceReads, readPace } from '../../src/store/read-pace.js';
import { runInProcess } from '../builders/in-process.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { logName, type ShardImage, writeShardBelow } from '../builders/shards.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

const MIB = 1024 * 1024;
const ALWAYS = { largeBytes: 0, manyBytes: 0, smallBytes: 0, rangeBytes: MIB };

/** A shard of so many MiB in one segment. */
function imageOf(mebibytes: number): ShardImage {
  const payload = new Uint8Array(64 * 1024 - 28).fill(0x61);
  const records = Array.from({ length: 16 * mebibytes }, (_, i) => plain(BigInt(i), { payload }));
  const { log, index } = buildSegment({ records });
  return new Map([
    [logName(0), log],
    [logName(0).replace('log', 'index'), index],
  ]);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

describe('reads held to a pace', function () {
  this.timeout(60_000);

  it('take as long as the pace asks, however many threads read', () =>
    withTempDir(async (directory) => {
      const shard = writeShardBelow(imageOf(5), directory);
      for (const jobs of [1, 3]) {
        const seconds = async (bytesPerSecond: number | null) => {
          const pace = bytesPerSecond === null ? null : readPace(bytesPerSecond);
          paceReads(pace);
          const scanner = createScanner({ jobs, signal: new AbortController().signal, worthIt: ALWAYS, pace });
          try {
            return await secondsOf(() => checked(shard, {}, scanner));
          } finally {
            paceReads(null);
            await scanner.close();
          }
        };
        const free = await seconds(null);
        const slow = await seconds(8 * MIB);
        const slower = await seconds(4 * MIB);
        // Nobody waits for the time that the last reads take up: a window or two of five go unpaid.
        expect(slow, `${jobs} threads`).to.be.above(2.5 / 8);
        expect(slower, `${jobs} threads`).to.be.above(2.5 / 4);
        expect(slower - free, `${jobs} threads`).to.be.above(1.3 * (slow - free));
      }
    }));

  it('follow --io-limit, and are free again afterwards', () =>
    withTempDir(async (directory) => {
      const shard = writeShardBelow(imageOf(3), directory);
      const paced = await secondsOf(() => runInProcess(['verify', '--jobs', '1', '--io-limit', '4', shard]));
      const free = await secondsOf(() => runInProcess(['verify', '--jobs', '1', shard]));
      expect(paced).to.be.above(0.4);
      expect(free).to.be.below(paced);
      expect((await runInProcess(['verify', '--io-limit', '0', shard])).code).to.equal(2);
    }));

  it('leave the processor to others with --nice, threads included', () => {
    const main = pathToFileURL(join(PROJECT_ROOT, 'dist/src/cli/main.js')).href;
    const script = `
      import { getPriority } from 'node:os';
      import { main } from '${main}';
      const streams = { stdout: process.stderr, stderr: process.stderr, stdin: process.stdin };
      const code = await main(['verify', '--nice', 'fixtures/healthy'], streams);
      process.stdout.write(JSON.stringify({ code, priority: getPriority() }));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: PROJECT_ROOT,
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).to.deep.equal({ code: 0, priority: constants.priority.PRIORITY_LOW });
    expect(getPriority()).to.be.below(constants.priority.PRIORITY_LOW);
  });
});
