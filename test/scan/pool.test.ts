import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { renderVerifyJson } from '../../src/report/json.js';
import { createScanner } from '../../src/scan/pool.js';
import type { Scanner } from '../../src/scan/scanner.js';
import { append, damaged, flipBit, insert, remove, zero } from '../builders/damage.js';
import { seededRandom } from '../builders/random.js';
import { logName, SHARD_DIR_NAME, wellIndexed, writeShard } from '../builders/shards.js';
import { describeWithCorpus, withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

/** Threads and splits for files of any size. */
const ALWAYS = { largeBytes: 0, manyBytes: 0, smallBytes: 0, rangeBytes: 64 };

const OWN_TIMES = { elapsedMs: 0 };

/** The JSON of a whole report, less the time it took. */
async function jsonOf(path: string, scanner?: Scanner): Promise<string> {
  const { shards, roots, summary } = await checked(path, { concurrency: 3 }, scanner);
  return renderVerifyJson(
    { partial: false, shards, roots, summary: { ...summary, ...OWN_TIMES } },
    { name: 'felix-fsck', version: '0' },
  );
}

describe('threads', function () {
  this.timeout(60_000);
  let pool: Scanner;

  before(() => {
    pool = createScanner({ jobs: 3, signal: new AbortController().signal, worthIt: ALWAYS });
  });

  after(() => pool.close());

  it('report to the byte what one thread reports, wherever a segment is damaged and split', () =>
    withTempDir(async (directory) => {
      const random = seededRandom(31);
      for (let round = 0; round < 60; round++) {
        const { image } = wellIndexed(80, 256);
        const file = random.below(4) === 0 ? '00000000000000000000.index' : logName(0);
        const at = 40 + random.below(image.get(file)!.length - 120);
        const damages = [
          flipBit(file, at, random.below(8)),
          zero(file, at, 1 + random.below(60)),
          remove(file, at, 1 + random.below(60)),
          insert(file, at, random.bytes(1 + random.below(60))),
          append(file, random.bytes(random.below(60))),
        ];
        const shard = join(directory, `${round}`, SHARD_DIR_NAME);
        writeShard(damaged(image, damages[random.below(damages.length)]!), shard);
        expect(await jsonOf(shard, pool), `round ${round}`).to.equal(await jsonOf(shard));
      }
    }));

  describeWithCorpus('over the corpus', (corpus) => {
    it('report to the byte what one thread reports for every case', async () => {
      const root = join(corpus, 'cases');
      const paths = readFileSync(join(root, 'expected.ndjson'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { path: string }).path);
      expect(paths.length).to.be.above(100);
      for (const path of paths) {
        expect(readdirSync(join(root, path))).to.not.have.length(0);
        expect(await jsonOf(join(root, path), pool), path).to.equal(await jsonOf(join(root, path)));
      }
    });
  });

  it('leave unread what was not read when they are told to stop', () =>
    withTempDir(async (directory) => {
      const controller = new AbortController();
      const stopped = createScanner({ jobs: 2, signal: controller.signal, worthIt: ALWAYS });
      controller.abort();
      const shard = join(directory, SHARD_DIR_NAME);
      writeShard(wellIndexed(200, 256).image, shard);
      const { shards } = await checked(shard, {}, stopped);
      const unread = shards.flatMap(({ segments }) => segments).reduce((sum, segment) => sum + segment.unreadBytes, 0);
      await stopped.close();
      expect(unread).to.be.above(0);
      expect(shards[0]!.findings.filter(({ severity }) => severity !== 'info')).to.deep.equal([]);
    }));
});
