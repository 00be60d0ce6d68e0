import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { checkRoot, passedOverReport } from '../../src/check/root.js';
import { listDirectory } from '../../src/store/walk.js';
import { told } from '../builders/facts.js';
import { SHARD_DIR_NAME } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';

describe('a data root', () => {
  it('tells its own files, the markers of its streams, and the names of what is deleted', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/node-id`, 'broker-a');
      mkdirSync(`${dir}/.streams`);
      writeFileSync(`${dir}/.streams/acme_default_orders-5c1b0e2fd3a4b7c8`, 'incarnation 7');
      mkdirSync(`${dir}/.deleted/${SHARD_DIR_NAME}`, { recursive: true });
      const report = checkRoot(listDirectory(dir));
      expect(told(report)).to.deep.equal([]);
      expect(report).to.deep.include({
        path: dir,
        nodeId: 'broker-a',
        deleted: [SHARD_DIR_NAME],
        storageId: null,
        runState: null,
        registration: null,
      });
      expect(report.streams.map(({ name }) => name)).to.deep.equal(['acme_default_orders-5c1b0e2fd3a4b7c8']);
    });
  });

  it('does not follow a link in place of one of its files', async () => {
    await withTempDir((dir) => {
      symlinkSync('/etc/hostname', `${dir}/node-id`);
      const report = checkRoot(listDirectory(dir));
      expect(told(report)).to.deep.equal(['error Unreadable node-id@0']);
      expect(report.findings[0]!.detail).to.include({ reason: 'a symbolic link, not followed' });
    });
  });

  it('whose file went meanwhile could not be read, and is not corrupt', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/node-id`, 'broker-a');
      const listing = listDirectory(dir);
      rmSync(`${dir}/node-id`);
      const { findings } = checkRoot(listing);
      expect(findings.map(({ kind }) => kind)).to.not.include.members(['SidecarTruncated']);
    });
  });

  it('has no markers when .streams is no directory', async () => {
    await withTempDir((dir) => {
      writeFileSync(`${dir}/.streams`, 'x');
      expect(checkRoot(listDirectory(dir)).streams).to.deep.equal([]);
    });
  });
});

describe('what a walk passed over', () => {
  it('is an unreadable directory for a problem, and a stranger otherwise', () => {
    const entry = { name: 'x', path: '/d/x', size: 7, inode: 1n, device: 1n, mtimeNs: 0n };
    const report = passedOverReport('/d', [
      { what: 'problem', path: '/d/secret', root: null, problem: { code: 'EACCES', message: 'permission denied' } },
      { what: 'stranger', path: '/d/x', root: null, entry: { ...entry, type: 'fifo' } },
    ]);
    expect(report.path).to.equal('/d');
    expect(report.findings.map(({ kind, severity, path, detail }) => [kind, severity, path, detail])).to.deep.equal([
      ['Unreadable', 'error', '/d/secret', { reason: 'permission denied', code: 'EACCES' }],
      ['StrayFile', 'info', '/d/x', { looksLike: 'a FIFO', bytes: 7 }],
    ]);
  });
});
