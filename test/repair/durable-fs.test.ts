/** The one module that changes a file system: it tells of every change first, and never writes over what is there. */
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { DurableFs, type FsCall, WriteFailure } from '../../src/repair/durable-fs.js';
import { Killed, recordingTo, withMemoryDir } from '../builders/repairs.js';

function failing(code: string): DurableFs {
  return new DurableFs(() => {
    throw Object.assign(new Error('injected'), { code });
  });
}

describe('changes to a file system', () => {
  it('are each told before they are made', () =>
    withMemoryDir((dir) => {
      const calls: FsCall[] = [];
      const fs = new DurableFs(recordingTo(calls));
      const [a, b, c] = ['a', 'b', 'c'].map((name) => path.join(dir, name)) as [string, string, string];
      const writer = fs.createFile(a, 0o640);
      writer.write(Buffer.from('text'));
      writer.sync();
      writer.close();
      fs.link(a, b);
      fs.rename(b, c);
      fs.setTimes(c, 0n, 1_234_567_890_123_456_789n);
      fs.unlink(a);
      fs.makeDirectory(b, 0o711);
      fs.removeDirectory(b);
      fs.syncDirectory(dir);
      expect(calls.map(({ kind, path: at }) => `${kind} ${path.basename(at)}`)).to.deep.equal([
        'create a',
        'set-mode a',
        'write a',
        'sync a',
        'link b',
        'rename c',
        'set-times c',
        'unlink a',
        'make-directory b',
        'set-mode b',
        'remove-directory b',
        `sync-directory ${path.basename(dir)}`,
      ]);
      expect(readdirSync(dir)).to.deep.equal(['c']);
      const facts = statSync(c, { bigint: true });
      expect([facts.mode & 0o777n, facts.mtimeNs]).to.deep.equal([0o640n, 1_234_567_890_123_456_000n]);
    }));

  it('never write over a file, nor through a link', () =>
    withMemoryDir((dir) => {
      writeFileSync(path.join(dir, 'there'), 'old');
      symlinkSync('there', path.join(dir, 'link'));
      symlinkSync('nowhere', path.join(dir, 'dangling'));
      for (const name of ['there', 'link', 'dangling']) {
        expect(() => new DurableFs().createFile(path.join(dir, name), 0o600)).to.throw(WriteFailure);
      }
      expect(readFileSync(path.join(dir, 'there'), 'utf8')).to.equal('old');
      expect(lstatSync(path.join(dir, 'dangling')).isSymbolicLink()).to.equal(true);
    }));

  it('fail with the code of the system, and the call that failed', () => {
    for (const code of ['ENOSPC', 'EIO', 'EACCES']) {
      try {
        failing(code).unlink('/nowhere/file');
        expect.fail('it did not fail');
      } catch (failure) {
        expect(failure).to.be.instanceOf(WriteFailure);
        expect(failure).to.deep.include({ code, call: { kind: 'unlink', path: '/nowhere/file' } });
      }
    }
  });

  it('let through what is no failure of the system', () => {
    const fs = new DurableFs(() => {
      throw new Killed();
    });
    expect(() => fs.unlink('/nowhere/file')).to.throw(Killed);
  });
});
