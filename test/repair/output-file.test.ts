import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { DurableFs, WriteFailure } from '../../src/repair/durable-fs.js';
import { OutputFile } from '../../src/repair/output-file.js';
import { failureOf } from '../builders/failures.js';
import { Killed } from '../builders/repairs.js';
import { withTempDir } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const reasonOf = (work: () => unknown) => failureOf(work).reason;

describe('OutputFile', () => {
  it('is not there before it is whole, and replaces what had its name', () =>
    withTempDir((dir) => {
      const file = path.join(dir, 'metrics.prom');
      writeFileSync(file, 'old');
      const output = new OutputFile(file);
      output.write('new ');
      output.write('content');
      expect(readFileSync(file, 'utf8')).to.equal('old');
      expect(readdirSync(dir).filter((name) => name.endsWith('.prom'))).to.deep.equal(['metrics.prom']);
      output.commit();
      output.discard();
      expect(readFileSync(file, 'utf8')).to.equal('new content');
      expect(readdirSync(dir)).to.deep.equal(['metrics.prom']);
    }));

  it('its bytes are on the device before it has its name, and its name is when it returns', () =>
    withTempDir((dir) => {
      const fs = new WatchedFs();
      const output = new OutputFile(path.join(dir, 'x'), fs);
      const [temporary] = readdirSync(dir) as [string];
      expect(temporary).to.match(/^\.x\.[0-9a-f]{12}\.tmp$/);
      output.write('é');
      output.write(new Uint8Array([0, 255, 10]));
      expect(output.bytes).to.equal(5);
      output.commit();
      output.discard();
      expect(fs.told(dir).filter((line) => !line.startsWith('set-mode'))).to.deep.equal([
        `create ${temporary}`,
        `write ${temporary}`,
        `write ${temporary}`,
        `sync ${temporary}`,
        `rename x <- ${temporary}`,
        'sync-directory .',
      ]);
      expect([...fs.open]).to.deep.equal([]);
      expect([...readFileSync(path.join(dir, 'x'))]).to.deep.equal([0xc3, 0xa9, 0, 255, 10]);
      expect(statSync(path.join(dir, 'x')).mode & 0o777).to.equal(0o666 & ~process.umask());
    }));

  it('that is to be new bears its name from the start, and takes that of no other', () =>
    withTempDir((dir) => {
      const file = path.join(dir, 'bundle');
      const fs = new WatchedFs();
      const output = new OutputFile(file, fs, { fresh: true });
      expect(readdirSync(dir)).to.deep.equal(['bundle']);
      expect(failureOf(() => new OutputFile(file, fs, { fresh: true }))).to.deep.equal({
        reason: 'usage',
        message: `${file}: is there already, and is not overwritten`,
      });
      output.write('whole');
      output.commit();
      output.discard();
      const calls = fs.told(dir).filter((line) => !line.startsWith('set-mode'));
      expect(calls).to.deep.equal(['create bundle', 'write bundle', 'sync bundle', 'sync-directory .']);
      expect(readFileSync(file, 'utf8')).to.equal('whole');
      const given = new OutputFile(path.join(dir, 'other'), fs, { fresh: true });
      given.discard();
      expect([readdirSync(dir), [...fs.open]]).to.deep.equal([['bundle'], []]);
    }));

  it('that is to be new leaves alone what takes its name meanwhile', () =>
    withTempDir((dir) => {
      const file = path.join(dir, 'bundle');
      const racing = new DurableFs(({ kind }) => {
        if (kind === 'create') writeFileSync(file, 'of another');
      });
      const failure = failureOf(() => new OutputFile(file, racing, { fresh: true }));
      expect(failure.reason).to.equal('unreadable');
      expect(failure.message.startsWith(`${file}: not written: EEXIST`)).to.equal(true);
      expect(readFileSync(file, 'utf8')).to.equal('of another');
    }));

  it('leaves nothing behind when it is discarded', () =>
    withTempDir((dir) => {
      const output = new OutputFile(path.join(dir, 'x'));
      output.write('part');
      output.discard();
      expect(readdirSync(dir)).to.deep.equal([]);
    }));

  for (const refused of ['write', 'sync', 'rename'] as const) {
    it(`a disk that refuses to ${refused} is told as a failure: the old file stays, and nothing beside it`, () =>
      withTempDir((dir) => {
        const file = path.join(dir, 'x');
        writeFileSync(file, 'old');
        const full = new WatchedFs((call) => {
          if (call.kind === refused)
            throw new WriteFailure(call, Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
        });
        const output = new OutputFile(file, full);
        const work = () => {
          output.write('new');
          output.commit();
        };
        expect(failureOf(work)).to.deep.equal({ reason: 'unreadable', message: `${file}: not written: no space left` });
        output.discard();
        expect([...full.open]).to.deep.equal([]);
        expect(readdirSync(dir)).to.deep.equal(['x']);
        expect(readFileSync(file, 'utf8')).to.equal('old');
      }));
  }

  it('that has its name keeps it, though the system does not say that it is durable', () =>
    withTempDir((dir) => {
      const fs = new WatchedFs(refusing('sync-directory'));
      const output = new OutputFile(path.join(dir, 'x'), fs);
      expect(reasonOf(() => output.commit())).to.equal('unreadable');
      output.discard();
      expect([readdirSync(dir), [...fs.open]]).to.deep.equal([['x'], []]);
    }));

  it('that cannot be taken away stays under its temporary name, and that is no failure of its own', () =>
    withTempDir((dir) => {
      const output = new OutputFile(path.join(dir, 'x'), new DurableFs(refusing('unlink')));
      output.discard();
      expect(readdirSync(dir).length).to.equal(1);
    }));

  it('takes no bug for a failure of the system', () =>
    withTempDir((dir) => {
      const dying = (kind: string) =>
        new DurableFs((call) => {
          if (call.kind === kind) throw new Killed();
        });
      const file = path.join(dir, 'x');
      expect(() => new OutputFile(file, dying('sync')).commit()).to.throw(Killed);
      expect(() => new OutputFile(file, dying('unlink')).discard()).to.throw(Killed);
    }));

  for (const name of ['00000000000000000000.log', '00000000000000000000.index', 'replica', 'keys.idx', 'storage-id']) {
    it(`is never made beside ${name}`, () =>
      withTempDir((dir) => {
        writeFileSync(path.join(dir, name), '');
        for (const file of [path.join(dir, 'report.html'), path.join(dir, name)]) {
          expect(failureOf(() => new OutputFile(file))).to.deep.equal({
            reason: 'usage',
            message: `${file}: its directory holds files of a store (${name}): name another place`,
          });
        }
        expect(readdirSync(dir)).to.deep.equal([name]);
      }));
  }

  it('replaces no directory and no device, and wants its directory to be there', () =>
    withTempDir((dir) => {
      mkdirSync(path.join(dir, 'directory'));
      symlinkSync('/dev/null', path.join(dir, 'link'));
      symlinkSync('loop', path.join(dir, 'loop'));
      writeFileSync(path.join(dir, 'file'), '');
      for (const [name, why] of [
        ['directory', /^is a directory, and is not replaced by a file$/],
        ['link', /^is a device, and is not replaced by a file$/],
        ['absent/x', /^its directory does not exist$/],
        ['file/x', /^its directory is none$/],
        ['loop', /symbolic links/],
        ['loop/x', /symbolic links/],
      ] as const) {
        const file = path.join(dir, name);
        const { reason, message } = failureOf(() => new OutputFile(file));
        expect(reason, name).to.equal('usage');
        expect(message.startsWith(`${file}: `), message).to.equal(true);
        expect(message.slice(file.length + 2)).to.match(why);
      }
      expect(readdirSync(dir).sort()).to.deep.equal(['directory', 'file', 'link', 'loop']);
      expect(reasonOf(() => new OutputFile('/dev/null'))).to.equal('usage');
    }));
});
