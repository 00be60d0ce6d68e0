import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { requirePaths, segmentBytes, type Target, targetsOf } from '../../src/check/targets.js';
import { encodeReplica } from '../../src/format/replica.js';
import { findingsIn, refused } from '../builders/checking.js';
import { createFile, damaged, deleteFile, flipBit, truncate } from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { indexName, logName, SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

const { image, segments } = threeSegments();
const OTHER = 'acme_default_orders_1-0d3aee4b998d294b';

function targets(at: string, includeDeleted = false): Target[] {
  return [...targetsOf(at, { includeDeleted })];
}

/** `shard …` or `root …` by the path below `dir`. */
function named(found: readonly Target[], dir: string): string[] {
  return found.map((target) => {
    const at = target.what === 'passed-over' ? target.path : target.listing.path;
    return `${target.what} ${path.relative(dir, at)}`.trim();
  });
}

function failureOf(work: () => unknown): { reason: string; message: string } {
  try {
    work();
  } catch (failure) {
    return (failure as { failure: { reason: string; message: string } }).failure;
  }
  throw new Error('nothing failed');
}

describe('a path', () => {
  it('that does not exist is wrong usage, before anything is read', async () => {
    await withTempDir((dir) => {
      for (const look of [() => targets(`${dir}/none`), () => requirePaths([dir, `${dir}/none`])]) {
        expect(failureOf(look)).to.deep.equal({ reason: 'usage', message: `${dir}/none: no such file or directory` });
      }
      requirePaths([dir]);
    });
  });

  it('to a directory with nothing of the format is wrong usage', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/notes.txt`, 'hello');
      mkdirSync(`${dir}/below`);
      expect(failureOf(() => targets(dir))).to.deep.equal({
        reason: 'usage',
        message: `${dir}: nothing of a Felix store is here`,
      });
    });
  });

  it('to a file of another kind is wrong usage, and says what the file is', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/notes.txt`, 'hello, world of text');
      const { reason, message } = failureOf(() => targets(`${dir}/notes.txt`));
      expect(reason).to.equal('usage');
      expect(message).to.match(/notes\.txt: not part of a Felix store; it is .*text/);
    });
  });

  it('to a device is wrong usage', () => {
    expect(failureOf(() => targets('/dev/null')).message).to.equal('/dev/null: neither a file nor a directory');
  });
});

describe('below a directory', () => {
  it('every shard and root is found, parents first, at whatever depth', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/node-id`, 'broker-a');
      writeShardBelow(image, dir);
      for (const kind of ['caches', 'counters', 'groups', 'dead-letters']) writeShardBelow(image, `${dir}/${kind}`);
      mkdirSync(`${dir}/nested/root`, { recursive: true });
      writeFileSync(`${dir}/nested/root/node-id`, 'broker-b');
      writeShardBelow(image, `${dir}/nested/root`);
      const below = ['caches', 'counters', 'dead-letters', 'groups'].map((kind) => `shard ${kind}/${SHARD_DIR_NAME}`);
      expect(named(targets(dir), dir)).to.have.members([
        'root',
        `shard ${SHARD_DIR_NAME}`,
        ...below,
        'root nested/root',
        `shard nested/root/${SHARD_DIR_NAME}`,
      ]);
      expect(named(targets(dir), dir)[0]).to.equal('root');
      expect(segmentBytes([dir], { includeDeleted: false })).to.equal(
        6 * segments.reduce((sum, { log }) => sum + log.length, 0),
      );
    });
  });

  it('dotted directories are no shards; .deleted is looked into when asked for, .streams never', async () => {
    await withTempDir((dir) => {
      writeShardBelow(image, dir);
      writeShardBelow(image, `${dir}/.deleted`, OTHER);
      writeShardBelow(image, `${dir}/.streams`, OTHER);
      writeShardBelow(image, `${dir}/.snapshot`, OTHER);
      expect(named(targets(dir), dir)).to.deep.equal(['root', `shard ${SHARD_DIR_NAME}`]);
      expect(named(targets(dir, true), dir)).to.have.members([
        'root',
        `shard .deleted/${OTHER}`,
        `shard ${SHARD_DIR_NAME}`,
      ]);
    });
  });

  it('a link is followed when it is the argument, and named and left alone below it', async () => {
    await withTempDir(async (dir) => {
      writeShardBelow(image, `${dir}/real`);
      mkdirSync(`${dir}/links`);
      symlinkSync(`${dir}/real/${SHARD_DIR_NAME}`, `${dir}/links/to-shard`);
      writeShardBelow(image, `${dir}/links`, OTHER);
      expect(named(targets(`${dir}/links/to-shard`), dir)).to.deep.equal(['shard links/to-shard']);
      expect(named(targets(`${dir}/links`), dir)).to.deep.equal([`shard links/${OTHER}`, 'passed-over links']);
      const result = await checked(`${dir}/links`);
      const finding = findingsIn(result).find(({ kind }) => kind === 'StrayFile');
      expect(finding).to.include({ severity: 'info', path: `${dir}/links/to-shard` });
      expect(finding!.detail).to.deep.include({ looksLike: 'a symbolic link, not followed' });
      expect(result.summary).to.include({ shards: 1, exitCode: 0 });
    });
  });

  it('links that lead in circles end nothing', async () => {
    await withTempDir((dir) => {
      writeShardBelow(image, dir);
      symlinkSync(dir, `${dir}/loop`);
      symlinkSync(`${dir}/self`, `${dir}/self`);
      expect(named(targets(dir), dir)).to.deep.equal([`shard ${SHARD_DIR_NAME}`, 'passed-over']);
      const { reason } = failureOf(() => targets(`${dir}/self`));
      expect(reason).to.equal('unreadable');
    });
  });

  it('a directory that holds nothing but links holds nothing of a store', async () => {
    await withTempDir((dir) => {
      symlinkSync('/nowhere', `${dir}/gone`);
      expect(failureOf(() => targets(dir)).reason).to.equal('usage');
    });
  });
});

describe('one file by itself', () => {
  async function withShard(work: (shard: string) => Promise<void>, files = image) {
    await withTempDir((dir) => work(writeShardBelow(files, dir)));
  }

  it('a segment is judged with the index beside it, and nothing else of its shard', async () => {
    const broken = damaged(
      image,
      flipBit(logName(0), 40, 0),
      createFile('replica', new Uint8Array(4)),
      createFile('stranger', new Uint8Array(1)),
    );
    await withShard(async (shard) => {
      const [report] = (await checked(`${shard}/${logName(1)}`)).shards;
      expect(told(report!)).to.deep.equal([]);
      expect(report!.segments.map(({ file }) => file)).to.deep.equal([logName(1)]);
      expect(report!.segments[0]!.index).to.include({ checkedEntries: 1 });
      expect(report!).to.include({ name: SHARD_DIR_NAME, key: 'acme/default/orders/0' });
      expect(report!.prediction.notJudged).to.deep.equal([
        `only ${logName(1)} was looked at, not the rest of its shard`,
      ]);
    }, broken);
  });

  it('a segment is sealed when a newer one lies beside it, and the newest when none does', async () => {
    const torn = damaged(
      image,
      truncate(logName(1), segments[1]!.log.length - 1),
      truncate(logName(2), segments[2]!.log.length - 1),
    );
    await withShard(async (shard) => {
      const sealed = (await checked(`${shard}/${logName(1)}`)).shards[0]!;
      expect(refused(sealed)).to.deep.equal([`Truncated in 1 at ${segments[1]!.positions[6]}`]);
      const newest = (await checked(`${shard}/${logName(2)}`)).shards[0]!;
      expect(newest.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: 20n });
    }, torn);
  });

  it('a sealed segment is refused for damage that its index does not pass over', async () => {
    const rot = damaged(image, flipBit(logName(0), segments[0]!.positions[0]! + 30, 0));
    await withShard(async (shard) => {
      const report = (await checked(`${shard}/${logName(0)}`)).shards[0]!;
      expect(refused(report)).to.deep.equal(['RecordChecksum in 0 at 32']);
    }, rot);
  });

  it('an index is held against the segment beside it', async () => {
    await withShard(
      async (shard) => {
        const report = (await checked(`${shard}/${indexName(0)}`)).shards[0]!;
        expect(told(report)).to.deep.equal([`warning IndexBaseOffset ${indexName(0)}@8`]);
      },
      damaged(image, flipBit(indexName(0), 15, 0)),
    );
  });

  it('an index without its segment is a stray', async () => {
    await withShard(
      async (shard) => {
        const report = (await checked(`${shard}/${indexName(1)}`)).shards[0]!;
        expect(told(report)).to.deep.equal([`info StrayFile ${indexName(1)}`]);
        expect(report.segments).to.deep.equal([]);
      },
      damaged(image, deleteFile(logName(1))),
    );
  });

  it('a copy of a segment under another name is a segment without an index', async () => {
    const copied = damaged(image, createFile('copy.bin', segments[1]!.log));
    await withShard(async (shard) => {
      const report = (await checked(`${shard}/copy.bin`)).shards[0]!;
      expect(told(report)).to.deep.equal([]);
      expect(report.segments.map(({ file, records }) => [file, records])).to.deep.equal([['copy.bin', 7]]);
      expect(report.segments[0]!.index).to.equal(null);
    }, copied);
  });

  it('a segment under a name that a broker cannot open is judged when it is named itself', async () => {
    await withShard(
      async (shard) => {
        const report = (await checked(`${shard}/7.log`)).shards[0]!;
        expect(report.segments.map(({ file, records }) => [file, records])).to.deep.equal([['7.log', 7]]);
      },
      damaged(image, createFile('7.log', segments[1]!.log)),
    );
  });

  it('a small file is judged on its own: no segment is missed', async () => {
    const broken = damaged(
      image,
      createFile('replica', encodeReplica({ generation: 2n, commit: 9n })),
      flipBit('replica', 9, 0),
    );
    await withShard(async (shard) => {
      const report = (await checked(`${shard}/replica`)).shards[0]!;
      expect(told(report)).to.deep.equal(['fatal SidecarChecksum replica@24']);
      expect(report.segments).to.deep.equal([]);
    }, broken);
  });

  it('a small file under another name is told by its magic', async () => {
    await withShard(
      async (shard) => {
        const report = (await checked(`${shard}/old`)).shards[0]!;
        expect(report.sidecars.map(({ file, state }) => [file, state])).to.deep.equal([['replica', 'sound']]);
        expect(told(report)).to.deep.equal([]);
      },
      damaged(image, createFile('old', encodeReplica({ generation: 2n, commit: 0n }))),
    );
  });

  it('a file of a data root is judged as that', async () => {
    await withTempDir(async (dir) => {
      writeFileSync(`${dir}/run-state`, new Uint8Array(3));
      const { shards, roots } = await checked(`${dir}/run-state`);
      expect(shards).to.deep.equal([]);
      expect(told(roots[0]!)[0]).to.match(/^error SidecarTruncated run-state/);
    });
  });

  it('may be named by a link, and without a directory in front of it', async () => {
    await withShard(async (shard) => {
      symlinkSync(logName(0), `${shard}/link.log`);
      const report = (await checked(`${shard}/link.log`)).shards[0]!;
      expect(report.segments.map(({ records }) => records)).to.deep.equal([8]);
      const before = process.cwd();
      process.chdir(shard);
      try {
        const here = (await checked(logName(0))).shards[0]!;
        expect(here.segments.map(({ records }) => records)).to.deep.equal([8]);
      } finally {
        process.chdir(before);
      }
    });
  });
});
