/** The one module that changes a file system: it tells of every change first, and never writes over what is there. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { DurableFs, type FsCall, WriteFailure } from '../../src/repair/durable-fs.js';
import { Killed, recordingTo, withMemoryDir } from '../builders/repairs.js';
import { systemCallsOf } from '../builders/system-calls.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

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

  it('of a link, a mode and an owner are told with the path that changes, and with the old name', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs();
      const [file, name, link] = ['file', 'name', 'link'].map((each) => path.join(dir, each)) as [
        string,
        string,
        string,
      ];
      const [uid, gid] = process.geteuid!() === 0 ? [1234, 2345] : [process.geteuid!(), process.getegid!()];
      fs.createFile(file, 0o600).close();
      fs.symlink(file, link);
      fs.setMode(file, 0o604);
      fs.setOwner(file, uid, gid);
      fs.link(file, name);
      fs.rename(name, link);
      fs.syncFile(file);
      expect(fs.told(dir)).to.deep.equal([
        'create file',
        'symlink link <- file',
        'set-mode file',
        'set-owner file',
        'link name <- file',
        'rename link <- name',
        'sync file',
      ]);
      const facts = statSync(link);
      expect([facts.mode & 0o7777, facts.uid, facts.gid, facts.nlink]).to.deep.equal([0o604, uid, gid, 2]);
      fs.symlink('elsewhere', name);
      expect(readlinkSync(name)).to.equal('elsewhere');
    }));

  it('make nothing more open than asked for, not for a moment, and ask the umask for nothing', () =>
    withMemoryDir((dir) => {
      const seen: string[] = [];
      const fs = new DurableFs(({ kind, path: at }) => {
        if (kind === 'set-mode') seen.push((statSync(at).mode & 0o777).toString(8));
      });
      const modes = [0o700, 0o777].map((mode) => {
        const directory = path.join(dir, mode.toString(8));
        fs.makeDirectory(directory, mode);
        return statSync(directory).mode & 0o777;
      });
      fs.createFile(path.join(dir, 'file'), 0o666).close();
      expect(modes).to.deep.equal([0o700, 0o777]);
      expect(statSync(path.join(dir, 'file')).mode & 0o777).to.equal(0o666);
      const open = 0o777 & ~process.umask();
      expect(seen).to.deep.equal(['700', open.toString(8), '600']);
    }));

  it('write all bytes, whatever their number, and where the last ones ended', () =>
    withMemoryDir((dir) => {
      const writer = new DurableFs().createFile(path.join(dir, 'file'), 0o600);
      const bytes = Uint8Array.from({ length: 100_001 }, (_, at) => at % 251);
      for (const piece of [bytes.subarray(0, 1), bytes.subarray(1, 1), bytes.subarray(1)]) writer.write(piece);
      writer.close();
      expect(readFileSync(path.join(dir, 'file')).equals(bytes)).to.equal(true);
    }));

  it('are durable when the system says so: a file by itself, and names by their directory', () =>
    withMemoryDir((dir) => {
      const [made, there] = ['made', 'there'].map((name) => path.join(dir, name)) as [string, string];
      writeFileSync(there, 'old');
      const fs = new DurableFs();
      const calls = systemCallsOf(() => {
        const writer = fs.createFile(made, 0o640);
        writer.write(Buffer.from('text'));
        writer.sync();
        writer.close();
        fs.syncFile(there);
        fs.syncDirectory(dir);
      });
      expect(calls).to.deep.equal({ synced: [made, there, dir], leftOpen: [], thrown: null });
    }));

  it('are not durable where the system cannot say so: no device, no link, and no file for a directory', function () {
    if (process.platform !== 'linux') this.skip();
    return withMemoryDir((dir) => {
      const [file, link, below] = ['file', 'link', 'below'].map((name) => path.join(dir, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(file, '');
      symlinkSync('file', link);
      mkdirSync(below);
      const fs = new DurableFs();
      for (const [work, code] of [
        [() => fs.syncFile('/dev/null'), 'EINVAL'],
        [() => fs.syncFile(link), 'ELOOP'],
        [() => fs.syncDirectory(file), 'ENOTDIR'],
        [() => fs.syncDirectory(path.join(below, 'absent')), 'ENOENT'],
      ] as const) {
        const { thrown, leftOpen } = systemCallsOf(work);
        expect(thrown).to.be.instanceOf(WriteFailure).and.include({ code });
        expect(leftOpen).to.deep.equal([]);
      }
    });
  });

  it('leave no file open whose mode the system refuses to set', () =>
    withMemoryDir((dir) => {
      const fs = new DurableFs(refusing('set-mode'));
      const { thrown, leftOpen } = systemCallsOf(() => fs.createFile(path.join(dir, 'file'), 0o640));
      expect(thrown).to.be.instanceOf(WriteFailure).and.include({ code: 'EIO' });
      expect(leftOpen).to.deep.equal([]);
    }));
});
