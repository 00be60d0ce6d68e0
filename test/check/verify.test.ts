import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { verifyPaths } from '../../src/check/verify.js';
import { InlineScanner, type Scanner } from '../../src/scan/scanner.js';
import { Interfering } from '../builders/checking.js';
import { damaged, flipBit } from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { logName, SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { DEFAULTS } from '../corpus/checked.js';

const { image } = threeSegments();
const never = new AbortController().signal;

async function events(paths: readonly string[], options: object = {}, scanner: Scanner = new InlineScanner(never)) {
  const seen: string[] = [];
  const reports = [];
  for await (const { is, report } of verifyPaths(paths, scanner, { ...DEFAULTS, ...options })) {
    seen.push(`${is} ${report.path}`);
    reports.push(report);
  }
  return { seen, reports };
}

describe('the check of many paths', () => {
  it('gives what it says in the order of the paths and the walk, however many are under way at once', async () => {
    await withTempDir(async (dir) => {
      const shards = ['c', 'a', 'b'].map((name) => writeShardBelow(image, `${dir}/${name}`));
      writeFileSync(`${dir}/node-id`, 'broker-a');
      const inOrder = ['a', 'b', 'c'].map((name) => `shard ${dir}/${name}/${SHARD_DIR_NAME}`);
      for (const concurrency of [1, 2, 8]) {
        expect((await events([dir], { concurrency })).seen).to.deep.equal([`root ${dir}`, ...inOrder]);
        expect((await events(shards, { concurrency })).seen).to.deep.equal(shards.map((path) => `shard ${path}`));
      }
    });
  });

  it('reads nothing when one of the paths is not there', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(image, dir);
      let scans = 0;
      const scanner = new Interfering(() => scans++);
      let message = '';
      try {
        await events([shard, `${dir}/none`], {}, scanner);
      } catch (failure) {
        message = (failure as Error).message;
      }
      expect(message).to.contain('no such file or directory');
      expect(scans).to.equal(0);
    });
  });

  it('begins nothing new once it is told to stop, and says what of the rest was not read', async () => {
    await withTempDir(async (dir) => {
      for (const name of ['a', 'b', 'c']) writeShardBelow(damaged(image, flipBit(logName(2), 40, 0)), `${dir}/${name}`);
      const stop = new AbortController();
      const inline = new InlineScanner(stop.signal);
      const scanner: Scanner = {
        scan: async (job) => {
          const answer = await inline.scan(job);
          stop.abort();
          return answer;
        },
        passedBytes: () => inline.passedBytes(),
        close: () => inline.close(),
      };
      const { seen, reports } = await events([dir], { signal: stop.signal }, scanner);
      expect(seen).to.deep.equal([`shard ${dir}/a/${SHARD_DIR_NAME}`]);
      const report = reports[0]!;
      if (!('segments' in report)) throw new Error('a shard was expected');
      expect(report.notChecked[0]).to.match(/interrupted: 2 segments of 3 not read/);
      expect(report.prediction.notJudged).to.include('the run was interrupted');
      const unread = report.segments.filter(({ unreadBytes, bytes }) => unreadBytes === bytes);
      expect(unread.length).to.equal(2);
      expect(told(report).filter((line) => line.includes('Unreadable'))).to.deep.equal([]);
    });
  });
});
