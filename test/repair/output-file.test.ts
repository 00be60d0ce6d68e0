import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { FailureError } from '../../src/domain/result.js';
import { DurableFs, type FsCall, WriteFailure } from '../../src/repair/durable-fs.js';
import { OutputFile } from '../../src/repair/output-file.js';
import { withTempDir } from '../builders/trees.js';

/** The reason of the failure that the work ends in. */
function reasonOf(work: () => void): string {
  try {
    work();
  } catch (failure) {
    if (failure instanceof FailureError) return failure.failure.reason;
    throw failure;
  }
  return 'none';
}

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
      const calls: FsCall['kind'][] = [];
      const output = new OutputFile(path.join(dir, 'x'), new DurableFs(({ kind }) => calls.push(kind)));
      output.write('content');
      output.commit();
      expect(calls.slice(-4)).to.deep.equal(['write', 'sync', 'rename', 'sync-directory']);
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
        const full = new DurableFs((call) => {
          if (call.kind === refused)
            throw new WriteFailure(call, Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
        });
        const output = new OutputFile(file, full);
        const work = () => {
          output.write('new');
          output.commit();
        };
        expect(reasonOf(work)).to.equal('unreadable');
        output.discard();
        expect(readdirSync(dir)).to.deep.equal(['x']);
        expect(readFileSync(file, 'utf8')).to.equal('old');
      }));
  }

  for (const name of ['00000000000000000000.log', '00000000000000000000.index', 'replica', 'keys.idx', 'storage-id']) {
    it(`is never made beside ${name}`, () =>
      withTempDir((dir) => {
        writeFileSync(path.join(dir, name), '');
        expect(reasonOf(() => new OutputFile(path.join(dir, 'report.html')))).to.equal('usage');
        expect(reasonOf(() => new OutputFile(path.join(dir, name)))).to.equal('usage');
        expect(readdirSync(dir)).to.deep.equal([name]);
      }));
  }

  it('replaces no directory and no device, and wants its directory to be there', () =>
    withTempDir((dir) => {
      mkdirSync(path.join(dir, 'directory'));
      symlinkSync('/dev/null', path.join(dir, 'link'));
      writeFileSync(path.join(dir, 'file'), '');
      for (const file of ['directory', 'link', 'absent/x', 'file/x']) {
        expect(
          reasonOf(() => new OutputFile(path.join(dir, file))),
          file,
        ).to.equal('usage');
      }
      expect(reasonOf(() => new OutputFile('/dev/null'))).to.equal('usage');
    }));
});
