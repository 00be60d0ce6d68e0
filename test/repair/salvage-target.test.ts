/** A salvage writes to a directory of its own, outside of every source, and goes on only with what it began itself. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { DurableFs, WriteFailure } from '../../src/repair/durable-fs.js';
import {
  bindTarget,
  checkRoom,
  checkTarget,
  completeTarget,
  resumeWords,
  type SalvageBinding,
  type TargetRequest,
} from '../../src/repair/salvage-target.js';
import { failureOf } from '../builders/failures.js';
import { withMemoryDir } from '../builders/repairs.js';
import { systemCallsOf } from '../builders/system-calls.js';
import { hashTree } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const PROGRESS = '.salvage-progress.json';
const NOW = 1_767_225_600_000_123n;

function requestFor(to: string, more: Partial<TargetRequest> = {}): TargetRequest {
  return { path: to, sources: [], resume: false, mode: 0o750, ...more };
}

const BINDING: SalvageBinding = {
  tool: { name: 'felix-fsck', version: '1' },
  settings: { createdAtMicros: '7', segmentBytes: 300, ndjson: true },
  sources: [{ path: '/data/a/00.log', bytes: 12, mtimeNs: 1_767_225_600_123_456_789n }],
};

/** What lies in the directory while a salvage of these sources is under way. */
const BOUND = `{
  "schema": "felix-fsck.salvage-progress/1",
  "tool": {
    "name": "felix-fsck",
    "version": "1"
  },
  "createdAtMicros": "1767225600000123",
  "settings": {
    "createdAtMicros": "7",
    "segmentBytes": 300,
    "ndjson": true
  },
  "sources": [
    {
      "path": "/data/a/00.log",
      "bytes": 12,
      "mtimeNs": "1767225600123456789"
    }
  ]
}
`;

describe('the target of a salvage', () => {
  it('is a directory that is empty or not there yet, without links in its path', () =>
    withMemoryDir((dir) => {
      mkdirSync(path.join(dir, 'real'));
      symlinkSync('real', path.join(dir, 'link'));
      const real = path.join(dir, 'real');
      for (const [given, at] of [
        [real, real],
        [`${real}///`, real],
        [path.join(dir, 'link'), real],
        [path.join(dir, 'link', 'new'), path.join(real, 'new')],
        [`${real}/new//`, path.join(real, 'new')],
        [`${dir}/absent/..//real/.`, real],
        ['/felix-fsck-not-there', '/felix-fsck-not-there'],
        ['felix-fsck-not-there', path.join(realpathSync('.'), 'felix-fsck-not-there')],
        ['./felix-fsck-not-there', path.join(realpathSync('.'), 'felix-fsck-not-there')],
      ] as const) {
        expect(checkTarget(requestFor(given)), given).to.deep.equal({ path: at, begun: false });
      }
    }));

  it('may hold what a run left that stopped before it was bound, and nothing else', () =>
    withMemoryDir((dir) => {
      writeFileSync(path.join(dir, `.${PROGRESS}.tmp`), '');
      expect(checkTarget(requestFor(dir))).to.deep.equal({ path: dir, begun: false });
      for (const [name, words] of [
        ['notes.txt', ''],
        ['salvage.json', ' It holds a salvage that is complete.'],
      ] as const) {
        writeFileSync(path.join(dir, name), '');
        for (const resume of [false, true]) {
          expect(failureOf(() => checkTarget(requestFor(dir, { resume })))).to.deep.equal({
            reason: 'refused',
            message: `${dir} is not empty, and nothing is written among other files.${words}`,
          });
        }
      }
    }));

  it('that holds a salvage under way is gone on with when that is asked for', () =>
    withMemoryDir((dir) => {
      for (const name of [PROGRESS, `.${PROGRESS}.tmp`, 'from-00000000000000000000']) {
        writeFileSync(path.join(dir, name), '');
      }
      expect(checkTarget(requestFor(dir, { resume: true }))).to.deep.equal({ path: dir, begun: true });
      expect(failureOf(() => checkTarget(requestFor(dir)))).to.deep.equal({
        reason: 'refused',
        message: `${dir} holds a salvage that was interrupted: --resume goes on with it.`,
      });
    }));

  it('is no file, and lies in a directory that is there and can be looked at', () =>
    withMemoryDir((dir) => {
      const file = path.join(dir, 'file');
      writeFileSync(file, '');
      expect(failureOf(() => checkTarget(requestFor(file)))).to.deep.equal({
        reason: 'refused',
        message: `${file} is not a directory.`,
      });
      for (const absent of [`${dir}/no/new`, `${dir}/no/..name/..`, `${dir}/no/.`, `${file}/new`]) {
        expect(
          failureOf(() => checkTarget(requestFor(absent))),
          absent,
        ).to.deep.equal({
          reason: 'usage',
          message: `${absent}: the directory that it would lie in does not exist`,
        });
      }
      symlinkSync('loop', path.join(dir, 'loop'));
      const { reason, message } = failureOf(() => checkTarget(requestFor(`${dir}/loop/new`)));
      expect(reason).to.equal('unreadable');
      expect(message.startsWith(`${dir}/loop/new: ELOOP: `)).to.equal(true);
    }));

  it('lies in no source, by whatever name, and may lie beside one', () =>
    withMemoryDir((dir) => {
      const [one, two] = ['one', 'two'].map((name) => path.join(dir, name)) as [string, string];
      for (const source of [one, two]) mkdirSync(source);
      symlinkSync('two', path.join(dir, 'link'));
      const sources = [one, two];
      for (const given of [two, path.join(two, 'new'), path.join(dir, 'link', 'new'), `${two}/`]) {
        expect(
          failureOf(() => checkTarget(requestFor(given, { sources }))),
          given,
        ).to.deep.equal({
          reason: 'refused',
          message: `${given} lies in the source ${two}, which is never written to.`,
        });
      }
      for (const given of [`${two}-saved`, path.join(dir, 'saved')]) {
        expect(checkTarget(requestFor(given, { sources }))).to.deep.equal({ path: given, begun: false });
      }
    }));

  it('is not the root of all', () => {
    expect(failureOf(() => checkTarget(requestFor('/'))).message).to.match(/^\/ is not empty/);
    expect(failureOf(() => checkTarget(requestFor('///'))).message).to.match(/^\/\/\/ is not empty/);
  });

  it('has the room that is needed, by its own file system or that of the directory above', function () {
    if (process.platform !== 'linux') this.skip();
    for (const at of ['/proc', '/proc/felix-fsck-not-there']) {
      checkRoom({ path: at, begun: false }, 0);
      expect(failureOf(() => checkRoom({ path: at, begun: false }, 1))).to.deep.equal({
        reason: 'refused',
        message: `${at}: about 1 byte are needed, and 0 bytes are free. Nothing was written.`,
      });
    }
    checkRoom({ path: '/felix-fsck-not-there', begun: false }, 0);
  });
});

describe('a salvage that begins', () => {
  const request = { mode: 0o750, nowMicros: NOW };

  it('makes its directory and binds it to its sources, each durably', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs();
      const at = path.join(dir, 'to');
      expect(bindTarget(fs, { path: at, begun: false }, BINDING, request)).to.equal(NOW);
      expect(fs.told(dir)).to.deep.equal([
        'make-directory to',
        'set-mode to',
        'sync-directory .',
        `create to/.${PROGRESS}.tmp`,
        `write to/.${PROGRESS}.tmp`,
        `sync to/.${PROGRESS}.tmp`,
        `rename to/${PROGRESS} <- to/.${PROGRESS}.tmp`,
        'sync-directory to',
      ]);
      expect(readFileSync(path.join(at, PROGRESS), 'utf8')).to.equal(BOUND);
      expect([statSync(at).mode & 0o777, statSync(path.join(at, PROGRESS)).mode & 0o777]).to.deep.equal([0o750, 0o600]);
      expect([...fs.open]).to.deep.equal([]);
    }));

  it('below the root of all makes that durable', () => {
    const told: string[] = [];
    const fs = new DurableFs(({ kind, path: at }) => {
      told.push(`${kind} ${at}`);
      if (kind !== 'set-mode') throw Object.assign(new Error('injected'), { code: 'EROFS' });
    });
    class Pretending extends DurableFs {
      override makeDirectory(): void {}
      override syncDirectory(at: string): void {
        fs.syncDirectory(at);
      }
    }
    const target = { path: '/felix-fsck-not-there', begun: false };
    expect(() => bindTarget(new Pretending(), target, BINDING, request)).to.throw(WriteFailure);
    expect(told).to.deep.equal(['sync-directory /']);
  });

  it('in a directory that is there leaves that as it is, but for what an earlier run left', () =>
    withMemoryDir((dir) => {
      const at = path.join(dir, 'to');
      mkdirSync(at);
      chmodSync(at, 0o711);
      writeFileSync(path.join(at, `.${PROGRESS}.tmp`), 'half');
      const fs = new WatchedFs();
      bindTarget(fs, { path: at, begun: false }, BINDING, request);
      expect(fs.told(at).slice(0, 2)).to.deep.equal([`unlink .${PROGRESS}.tmp`, `create .${PROGRESS}.tmp`]);
      expect(statSync(at).mode & 0o777).to.equal(0o711);
      expect(readdirSync(at)).to.deep.equal([PROGRESS]);
    }));

  it('leaves no file open when the system takes no bytes', () =>
    withMemoryDir((dir) => {
      const fs = new DurableFs(refusing('write', { code: 'ENOSPC' }));
      const { thrown, leftOpen } = systemCallsOf(() => bindTarget(fs, { path: dir, begun: false }, BINDING, request));
      expect(thrown).to.be.instanceOf(WriteFailure).and.include({ code: 'ENOSPC' });
      expect(leftOpen).to.deep.equal([]);
    }));
});

describe('a salvage that goes on', () => {
  const request = { mode: 0o750, nowMicros: NOW + 99n };
  const refused = (dir: string, binding: SalvageBinding = BINDING) =>
    failureOf(() => bindTarget(new DurableFs(), { path: dir, begun: true }, binding, request));

  it('began when it says, and changes nothing', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs();
      for (const time of [NOW, 0n, 2n ** 64n - 1n]) {
        writeFileSync(path.join(dir, PROGRESS), BOUND.replace(String(NOW), String(time)));
        const before = hashTree(dir);
        expect(bindTarget(fs, { path: dir, begun: true }, BINDING, request)).to.equal(time);
        expect(hashTree(dir)).to.deep.equal(before);
      }
      expect(fs.told(dir)).to.deep.equal([]);
    }));

  const [source] = BINDING.sources as [SalvageBinding['sources'][number]];
  const others: readonly (readonly [string, SalvageBinding])[] = [
    ['another build', { ...BINDING, tool: { ...BINDING.tool, version: '2' } }],
    ['other settings', { ...BINDING, settings: { ...BINDING.settings, ndjson: false } }],
    ['another source', { ...BINDING, sources: [{ ...source, path: '/data/b/00.log' }] }],
    ['a longer source', { ...BINDING, sources: [{ ...source, bytes: 13 }] }],
    ['a source of another time', { ...BINDING, sources: [{ ...source, mtimeNs: source.mtimeNs + 1n }] }],
    ['one source more', { ...BINDING, sources: [source, source] }],
    ['no source', { ...BINDING, sources: [] }],
  ];
  for (const [what, binding] of others) {
    it(`is refused for ${what}`, () =>
      withMemoryDir((dir) => {
        writeFileSync(path.join(dir, PROGRESS), BOUND);
        expect(refused(dir, binding)).to.deep.equal({
          reason: 'refused',
          message:
            `${dir} was begun from other files, from files that have changed since, with other options or by ` +
            'another build, and is not gone on with. Begin in another directory.',
        });
      }));
  }

  it('is refused where what it was bound to is cut short, changed, or no text', () =>
    withMemoryDir((dir) => {
      const file = path.join(dir, PROGRESS);
      for (const content of [
        '',
        BOUND.slice(0, -1),
        `${BOUND}\n`,
        BOUND.replace('1767225600000123', '01767225600000123'),
        BOUND.replace('1767225600000123', '-1'),
        BOUND.replace('"1767225600000123"', '""'),
        Buffer.from([0xff, 0xfe]),
      ]) {
        writeFileSync(file, content);
        expect(refused(dir).reason, String(content)).to.equal('refused');
        expect(readFileSync(file)).to.deep.equal(Buffer.from(content));
      }
    }));
});

describe('a salvage that is complete', () => {
  it('has its report durably in place before it is bound no more', () =>
    withMemoryDir((dir) => {
      writeFileSync(path.join(dir, PROGRESS), BOUND);
      const fs = new WatchedFs();
      completeTarget(fs, { path: dir, begun: true }, '{"runs":[]}\n');
      expect(fs.told(dir)).to.deep.equal([
        'create .salvage.json.tmp',
        'write .salvage.json.tmp',
        'sync .salvage.json.tmp',
        'rename salvage.json <- .salvage.json.tmp',
        'sync-directory .',
        `unlink ${PROGRESS}`,
        'sync-directory .',
      ]);
      expect(readdirSync(dir)).to.deep.equal(['salvage.json']);
      expect(readFileSync(path.join(dir, 'salvage.json'), 'utf8')).to.equal('{"runs":[]}\n');
      expect([...fs.open]).to.deep.equal([]);
    }));

  it('that stopped before says how to go on, in words that a shell takes', () => {
    expect(resumeWords(['/data/a b', '/data/c'], '-to')).to.equal(
      "felix-fsck salvage '/data/a b' /data/c --to ./-to --resume",
    );
  });
});
