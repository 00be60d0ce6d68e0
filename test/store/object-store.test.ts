import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ObjectStore, type OpenedObject, whyUnsafe } from '../../src/store/object-store.js';
import { withTempDir } from '../builders/trees.js';

function outcome(store: ObjectStore, key: string): string {
  const opened: OpenedObject = store.open(key);
  if (opened.is === 'object') {
    const bytes = new Uint8Array(opened.source.size);
    opened.source.readAt(bytes, 0);
    opened.source.close();
    return `object ${Buffer.from(bytes).toString()}`;
  }
  return opened.is === 'refused' ? `refused: ${opened.why}` : opened.is;
}

async function withStore(test: (store: ObjectStore, dir: string) => void): Promise<void> {
  await withTempDir((dir) => {
    const root = path.join(dir, 'objects');
    mkdirSync(path.join(root, 'node'), { recursive: true });
    writeFileSync(path.join(root, 'node', 'one'), 'inside');
    writeFileSync(path.join(dir, 'secret'), 'outside');
    mkdirSync(path.join(dir, 'objects-too'));
    writeFileSync(path.join(dir, 'objects-too', 'secret'), 'outside');
    test(ObjectStore.at(root)!, root);
  });
}

describe('store/object-store', () => {
  it('opens what lies under a key, and tells what does not', async () => {
    await withStore((store) => {
      expect(outcome(store, 'node/one')).to.equal('object inside');
      expect(outcome(store, 'node/two')).to.equal('missing');
      expect(outcome(store, 'node/one/more')).to.equal('missing');
      expect(outcome(store, 'x'.repeat(300))).to.equal('missing');
    });
  });

  it('never opens what a key names outside of the directory', async () => {
    await withStore((store, root) => {
      for (const key of [
        '../secret',
        'node/../../secret',
        'node/../node/one',
        '..',
        '/etc/passwd',
        `${root}/node/one`,
        '',
        '.',
        './node/one',
        'node//one',
        'node/',
        'node/one\0',
        '\0',
      ]) {
        expect(outcome(store, key), JSON.stringify(key)).to.match(/^refused: the key /);
      }
    });
  });

  it('follows a link within the directory, and none that leads out of it', async () => {
    await withStore((store, root) => {
      symlinkSync('node/one', path.join(root, 'within'));
      symlinkSync('../secret', path.join(root, 'file'));
      symlinkSync('/etc', path.join(root, 'folder'));
      symlinkSync('../objects-too', path.join(root, 'neighbour'));
      symlinkSync('loop', path.join(root, 'loop'));
      expect(outcome(store, 'within')).to.equal('object inside');
      for (const key of ['file', 'folder/passwd', 'neighbour/secret']) {
        expect(outcome(store, key), key).to.equal('refused: a symbolic link leads out of the directory');
      }
      expect(() => store.open('loop')).to.throw(/ELOOP/);
    });
  });

  it('opens no FIFO and no directory', async () => {
    await withStore((store, root) => {
      execFileSync('mkfifo', [path.join(root, 'pipe')]);
      expect(outcome(store, 'pipe')).to.equal('refused: it is not a regular file');
      expect(outcome(store, 'node')).to.equal('refused: it is not a regular file');
    });
  });

  it('a directory may itself be named by a link', async () => {
    await withTempDir((dir) => {
      mkdirSync(path.join(dir, 'real'));
      writeFileSync(path.join(dir, 'real', 'one'), 'inside');
      symlinkSync('real', path.join(dir, 'link'));
      expect(outcome(ObjectStore.at(path.join(dir, 'link'))!, 'one')).to.equal('object inside');
      expect(ObjectStore.at(path.join(dir, 'real', 'one'))).to.equal(null);
      expect(ObjectStore.at(path.join(dir, 'missing'))).to.equal(null);
    });
  });

  it('a key that is let through stays below the directory, whatever its parts', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', '...', '\0', '~', '\\..\\'), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const key = parts.join('/');
        if (whyUnsafe(key) !== null) return;
        expect(path.posix.normalize(`/root/${key}`)).to.equal(`/root/${key}`);
      }),
    );
  });
});
