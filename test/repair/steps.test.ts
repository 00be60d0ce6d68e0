/** One step on one file: the calls that it makes, the content that it writes, and what it never renames into place. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { ContentPart, PlanStep } from '../../src/domain/plan.js';
import { crc32, hex32 } from '../../src/format/checksum.js';
import { DurableFs, type FileWriter, type FsCall } from '../../src/repair/durable-fs.js';
import {
  doStep,
  NotAsPlanned,
  type Ownership,
  removeIfThere,
  standingOf,
  stateOf,
  writeNew,
} from '../../src/repair/steps.js';
import { ReadFailure } from '../../src/store/byte-source.js';
import { pathFacts } from '../../src/store/path-facts.js';
import { held, stateOf as stateOfBytes } from '../builders/plan-inputs.js';
import { recordingTo, withMemoryDir } from '../builders/repairs.js';
import { logName } from '../builders/shards.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const OLD = bytes('old content');
const INDEX = bytes('made index');
const me: Ownership = { mode: 0o600, uid: process.geteuid!(), gid: process.getegid!() };

/** Tells of every call, and of every file that is not closed again. */
class WatchedFs extends DurableFs {
  readonly calls: FsCall[];
  open = 0;

  constructor(calls: FsCall[] = []) {
    super(recordingTo(calls));
    this.calls = calls;
  }

  override createFile(file: string, mode: number): FileWriter {
    const writer = super.createFile(file, mode);
    this.open++;
    const close = () => {
      this.open--;
      writer.close();
    };
    return { ...writer, close };
  }

  told(): string[] {
    return this.calls.map(({ kind, path: at, from }) => {
      const old = from === undefined ? '' : `${path.basename(from)} -> `;
      return `${kind} ${old}${path.basename(at)}`;
    });
  }
}

interface Made {
  readonly shard: string;
  readonly fs: WatchedFs;
  /** What the maker of indexes was asked for: the segment's bytes, the end and the spacing. */
  readonly asked: [string, number, number][];
  text(file: string): string;
  run(step: PlanStep, ownership?: Ownership): void;
}

/** A shard's directory with `epochs` in it, and a file beside it. */
function prepared<T>(work: (made: Made) => T): Promise<T> {
  return withMemoryDir((dir) => {
    const shard = path.join(dir, 'shard');
    mkdirSync(shard);
    writeFileSync(path.join(shard, 'epochs'), OLD);
    writeFileSync(path.join(dir, 'donor'), 'from a donor');
    const fs = new WatchedFs();
    const asked: [string, number, number][] = [];
    const descriptors = openFiles();
    const made: Made = {
      shard,
      fs,
      asked,
      text: (file) => readFileSync(path.join(shard, file), 'utf8'),
      run: (step, ownership = me) => {
        const makeIndex = (
          segment: { size: number; readAt(to: Uint8Array, at: number): number },
          end: number,
          spacing: number,
        ) => {
          const read = new Uint8Array(segment.size);
          segment.readAt(read, 0);
          asked.push([new TextDecoder().decode(read), end, spacing]);
          return INDEX;
        };
        doStep({ fs, shard, makeIndex }, step, ownership);
      },
    };
    const result = work(made);
    expect([fs.open, openFiles()]).to.deep.equal([0, descriptors]);
    return result;
  });
}

/** How many files this process holds open; 0 where the system does not say. */
function openFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

/** Gives `epochs` the content; what it comes to unless another state is promised. */
function rewrite(content: readonly ContentPart[], promised: Uint8Array, parts: Partial<PlanStep> = {}): PlanStep {
  const states = { before: stateOfBytes(OLD), after: stateOfBytes(promised) };
  return { action: 'rewrite', file: 'epochs', ...states, content, ranges: [], why: '', answers: [], ...parts };
}

const TEMPORARY = '.felix-fsck.epochs.tmp';

describe('where a file stands to a step', () => {
  it('is before, after or neither, by its bytes or by not being there', () =>
    prepared(({ shard }) => {
      const old = stateOfBytes(OLD);
      const other = stateOfBytes(bytes('other'));
      const standing = (file: string, before: PlanStep['before'], after: PlanStep['after']) =>
        standingOf(shard, rewrite([], OLD, { file, before, after }));
      expect(standing('epochs', old, other)).to.equal('before');
      expect(standing('epochs', other, old)).to.equal('after');
      expect(standing('epochs', other, null)).to.equal('neither');
      expect(standing('epochs', null, { ...old, size: 1 })).to.equal('neither');
      expect(standing('producers', null, other)).to.equal('before');
      expect(standing('producers', other, null)).to.equal('after');
      expect(standing('producers', other, old)).to.equal('neither');
    }));

  it('is not told through a link', () =>
    prepared(({ shard }) => {
      symlinkSync('epochs', path.join(shard, 'link'));
      expect(() => stateOf(path.join(shard, 'link'))).to.throw(ReadFailure);
      expect(stateOf(path.join(shard, 'epochs'))).to.deep.equal(stateOfBytes(OLD));
      expect(stateOf(path.join(shard, 'nothing'))).to.equal(null);
    }));
});

describe('a step', () => {
  it('takes a file away durably', () =>
    prepared(({ shard, fs, run }) => {
      run(rewrite([], OLD, { after: null }));
      expect(fs.told()).to.deep.equal(['unlink epochs', 'sync-directory shard']);
      expect(readdirSync(shard)).to.deep.equal([]);
    }));

  it('writes new content beside the file, syncs it, renames it into place, and syncs the directory', () =>
    prepared(({ shard, fs, run, text }) => {
      run(rewrite(held(bytes('new')), bytes('new')));
      expect(fs.told()).to.deep.equal([
        `create ${TEMPORARY}`,
        `write ${TEMPORARY}`,
        `sync ${TEMPORARY}`,
        `rename ${TEMPORARY} -> epochs`,
        'sync-directory shard',
      ]);
      expect([readdirSync(shard), text('epochs')]).to.deep.equal([['epochs'], 'new']);
    }));

  it('makes a file that is not there, and an empty one', () =>
    prepared(({ run, text }) => {
      run(rewrite(held(bytes('snapshot')), bytes('snapshot'), { file: 'producers', before: null }));
      run(rewrite([], new Uint8Array(0)));
      expect([text('producers'), text('epochs')]).to.deep.equal(['snapshot', '']);
    }));

  it('begins anew over what an earlier try left behind', () =>
    prepared(({ shard, fs, run, text }) => {
      writeFileSync(path.join(shard, TEMPORARY), 'half');
      run(rewrite(held(bytes('new')), bytes('new')));
      expect(fs.told().slice(0, 2)).to.deep.equal([`unlink ${TEMPORARY}`, `create ${TEMPORARY}`]);
      expect([readdirSync(shard), text('epochs')]).to.deep.equal([['epochs'], 'new']);
    }));

  it('puts content together in order, out of the plan, the file itself and others', () =>
    prepared(({ shard, run, text }) => {
      const donor = path.join(shard, '..', 'donor');
      const content: ContentPart[] = [
        { from: 'itself', start: 4, end: 11 },
        ...held(bytes('|')),
        { from: 'file', path: donor, start: 7, end: 12, crc32: hex32(crc32(bytes('donor'))) },
        { from: 'itself', start: 0, end: 0 },
        { from: 'itself', start: 0, end: 3 },
      ];
      run(rewrite(content, bytes('content|donorold')));
      expect(text('epochs')).to.equal('content|donorold');
    }));

  it('has an index made of the segment as it is then', () =>
    prepared(({ shard, run, text, asked }) => {
      writeFileSync(path.join(shard, logName(3)), 'a segment');
      run(rewrite([{ from: 'records', segment: logName(3), end: 5, spacing: 64 }], INDEX));
      expect(asked).to.deep.equal([['a segment', 5, 64]]);
      expect(text('epochs')).to.equal('made index');
    }));
});

describe('a step whose content is not what the plan says', () => {
  /** The error; the file must be as it was. */
  const failed = (content: readonly ContentPart[] | ((donor: string) => ContentPart[]), promised: Uint8Array) =>
    prepared(({ shard, fs, run, text }) => {
      const parts = typeof content === 'function' ? content(path.join(shard, '..', 'donor')) : content;
      let thrown: unknown = null;
      try {
        run(rewrite(parts, promised));
      } catch (error) {
        thrown = error;
      }
      expect(text('epochs')).to.equal('old content');
      expect(fs.told()).to.not.include('sync-directory shard');
      return thrown as Error;
    });

  it('renames nothing when a byte or the size is another', async () => {
    for (const other of [bytes('nEw'), bytes('newer')]) {
      const error = await failed(held(bytes('new')), other);
      expect(error).to.be.instanceOf(NotAsPlanned);
      const { size, crc32: crc } = stateOfBytes(other);
      const words = `3 bytes, ${hex32(crc32(bytes('new')))}, not ${size} bytes, ${crc}`;
      expect(error.message).to.equal(`the new content of epochs is not what the plan says: ${words}`);
    }
  });

  it('renames nothing when a file outside has changed', async () => {
    const error = await failed(
      (donor) => [{ from: 'file', path: donor, start: 0, end: 4, crc32: '0x00000000' }],
      bytes('from'),
    );
    expect(error).to.be.instanceOf(NotAsPlanned);
    expect(error.message).to.match(/donor has changed since the plan was made$/);
  });

  it('renames nothing when a file is shorter than the plan says, or not there', async () => {
    const shorter = await failed([{ from: 'itself', start: 0, end: 12 }], OLD);
    expect(shorter).to.be.instanceOf(ReadFailure).and.to.deep.include({ code: 'SHRANK', position: 11 });
    expect(shorter.message).to.match(/epochs is shorter than the plan says$/);
    const gone = (): ContentPart[] => [{ from: 'file', path: '/nowhere/donor', start: 0, end: 1, crc32: '0x00000000' }];
    expect(await failed(gone, OLD))
      .to.be.instanceOf(ReadFailure)
      .and.to.deep.include({ code: 'ENOENT' });
    const segment = { from: 'records', segment: logName(9), end: 1, spacing: 1 } as const;
    expect(await failed([segment], OLD)).to.be.instanceOf(ReadFailure);
  });
});

describe('a new file', () => {
  const written = (ownership: Ownership) =>
    prepared(({ shard, fs }) => {
      const file = path.join(shard, 'new');
      let state = null;
      try {
        state = writeNew(fs, file, ownership, [bytes('two '), bytes('parts')], null);
      } catch (error) {
        // Who is not root may not give a file away; that it was tried is what counts.
        if (process.geteuid!() === 0) throw error;
      }
      const { mode, uid, gid } = pathFacts(file)!;
      return { state, told: fs.told(), facts: { mode, uid, gid } };
    });

  it('is held to nothing unless a state is promised, and comes out with its size and checksum', async () => {
    const { state, told, facts } = await written(me);
    expect(state).to.deep.equal(stateOfBytes(bytes('two parts')));
    expect(told).to.deep.equal(['create new', 'write new', 'write new', 'sync new']);
    expect(facts).to.deep.equal(me);
  });

  it('gets the mode of the old behind its owner, and both before it is synced', async () => {
    const { told, facts } = await written({ ...me, mode: 0o4751 });
    expect(told.slice(3)).to.deep.equal(['set-mode new', 'sync new']);
    expect(facts).to.deep.equal({ ...me, mode: 0o4751 });
    for (const other of [{ uid: me.uid + 1 }, { gid: me.gid + 1 }]) {
      const given = await written({ ...me, ...other, mode: 0o4751 });
      expect(given.told[3]).to.equal('set-owner new');
      if (process.geteuid!() !== 0) continue;
      expect(given.told.slice(3)).to.deep.equal(['set-owner new', 'set-mode new', 'sync new']);
      expect(given.facts).to.deep.equal({ ...me, ...other, mode: 0o4751 });
    }
  });

  it('is never readable to others before its mode says so', () =>
    prepared(({ shard }) => {
      const modes: number[] = [];
      const file = path.join(shard, 'new');
      const fs = new DurableFs(({ kind }) => {
        if (kind !== 'create') modes.push(statSync(file).mode & 0o777);
      });
      writeNew(fs, file, { ...me, mode: 0o644 }, [bytes('text')], null);
      expect(modes).to.deep.equal([0o600, 0o600, 0o644]);
    }));

  it('is taken away only when it is there', () =>
    prepared(({ shard, fs }) => {
      removeIfThere(fs, path.join(shard, 'nothing'));
      expect(fs.calls).to.deep.equal([]);
      removeIfThere(fs, path.join(shard, 'epochs'));
      expect(readdirSync(shard)).to.deep.equal([]);
    }));
});
