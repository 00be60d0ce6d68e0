/** A fingerprint of a tree notices everything that a command which only looks must not change. */
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { keyLabel, parseShardName } from '../../src/format/names.js';
import { runCli } from './run-cli.js';
import { readShard, SHARD_DIR_NAME, SHARD_KEY, threeSegments, writeShard, writeShardBelow } from './shards.js';
import { corpusDir, hashTree, withTempDir } from './trees.js';

describe('trees', () => {
  it('are written, read back and fingerprinted the same twice', () =>
    withTempDir((dir) => {
      const { image } = threeSegments();
      const shard = writeShardBelow(image, dir);
      expect(path.basename(shard)).to.equal(SHARD_DIR_NAME);
      expect(readShard(shard)).to.deep.equal(image);
      expect(writeShard(image, shard)).to.equal(shard);
      expect(hashTree(dir)).to.deep.equal(hashTree(dir));
      expect(Object.keys(hashTree(dir))).to.have.length(8);
    }));

  it('of a shard have the name that proves its key', () => {
    const key = parseShardName(SHARD_DIR_NAME)?.key;
    expect(key && keyLabel(key)).to.equal(SHARD_KEY);
  });

  it('of the corpus are where the environment says, and nowhere when it says nothing', () => {
    const before = process.env['FELIX_CORPUS'];
    try {
      process.env['FELIX_CORPUS'] = '/some/where/';
      expect(corpusDir()).to.equal('/some/where');
      process.env['FELIX_CORPUS'] = '';
      expect(corpusDir()).to.equal(null);
      delete process.env['FELIX_CORPUS'];
      expect(corpusDir()).to.equal(null);
    } finally {
      if (before !== undefined) process.env['FELIX_CORPUS'] = before;
    }
  });

  it('differ by content, name, mode, time, target and kind of a file', () =>
    withTempDir((dir) => {
      const file = path.join(dir, 'file');
      const link = path.join(dir, 'link');
      writeFileSync(file, 'ab');
      symlinkSync('file', link);
      mkdirSync(path.join(dir, 'sub'));
      const { atime, mtime } = statSync(file);
      const changes: readonly (() => void)[] = [
        () => {
          writeFileSync(file, 'ac');
          utimesSync(file, atime, mtime);
        },
        () => chmodSync(file, 0o600),
        () => utimesSync(file, atime, new Date(mtime.getTime() + 1)),
        () => {
          rmSync(link);
          symlinkSync('sub', link);
        },
        () => writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff])]), ''),
        () => {
          rmSync(file);
          mkdirSync(file);
        },
      ];
      for (const [at, change] of changes.entries()) {
        const before = hashTree(dir);
        change();
        expect(hashTree(dir), `change ${at}`).to.not.deep.equal(before);
      }
    }));

  it('may leave the times of directories out', () =>
    withTempDir((dir) => {
      const before = hashTree(dir, { directoryTimes: false });
      utimesSync(dir, 1, 2);
      expect(hashTree(dir, { directoryTimes: false })).to.deep.equal(before);
    }));

  it('are removed also when nobody may enter them and the work has thrown', async () => {
    let made = '';
    const work = withTempDir((dir) => {
      made = dir;
      mkdirSync(path.join(dir, 'a/b'), { recursive: true });
      chmodSync(path.join(dir, 'a'), 0);
      throw new Error('on purpose');
    });
    const outcome = await work.then(
      () => 'done',
      (error: Error) => error.message,
    );
    expect(outcome).to.equal('on purpose');
    expect(existsSync(made)).to.equal(false);
  });
});

describe('the command line as a child', () => {
  it('gives exit code, output and errors, and no warning of the machine it runs on', async () => {
    const outcome = await runCli(['no-such-command'], { env: { NODE_EXTRA_CA_CERTS: '/nowhere' } });
    expect(outcome.signal).to.equal(null);
    expect(outcome.stdout).to.equal(Buffer.from(outcome.stdoutBytes).toString());
    expect(outcome.code).to.be.a('number').and.not.equal(0);
  });
});
