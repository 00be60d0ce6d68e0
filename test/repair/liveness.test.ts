/** What speaks for a broker at work on a shard, and what could not be told. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { encodeRunState } from '../../src/format/run-state.js';
import { type SignOptions, signsOfLife } from '../../src/repair/liveness.js';
import { type PathFacts, pathFacts } from '../../src/store/path-facts.js';
import { fakeProc, quietProc } from '../builders/fake-proc.js';
import { withMemoryDir } from '../builders/repairs.js';

const NOW = 1_800_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

function runState(state: 'running' | 'stopped'): Uint8Array {
  return encodeRunState({ state, acknowledgesBeforeSync: true, id: '00'.repeat(16) });
}

/** The bytes with another one at a place. */
function with1(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  changed[at] = value;
  return changed;
}

/** Signs of a shard without files, five directories down; `files` are written into the one that many above the shard. */
function signsBelow(files: Readonly<Record<number, Uint8Array | 'directory'>>) {
  return withMemoryDir((dir) => {
    const shard = path.join(dir, 'five', 'four', 'three', 'two', 'one', 'shard');
    mkdirSync(shard, { recursive: true });
    for (const [above, bytes] of Object.entries(files)) {
      const at = path.join(shard, ...new Array(Number(above)).fill('..'), 'run-state');
      if (bytes === 'directory') mkdirSync(at);
      else writeFileSync(at, bytes);
    }
    return signs(shard, new Map(), { proc: quietProc(path.join(dir, 'proc')) });
  });
}

function signs(shard: string, files: ReadonlyMap<string, PathFacts>, options: Partial<SignOptions>) {
  return signsOfLife(shard, files, { ownPid: 1, nowNs: NOW, ignoreTimes: false, ...options });
}

const QUIET = { live: [], unknown: [] };

describe('a run-state that says running', () => {
  it('counts up to four directories above the shard', async () => {
    for (const above of [1, 2, 3, 4]) {
      const { live, unknown } = await signsBelow({ [above]: runState('running') });
      expect(live, `${above} above`).to.have.lengthOf(1);
      expect(live[0]).to.match(/\/run-state says that the broker is running/);
      expect(unknown).to.deep.equal([]);
    }
    expect(await signsBelow({ 0: runState('running'), 5: runState('running') })).to.deep.equal(QUIET);
    expect(await signsBelow({})).to.deep.equal(QUIET);
  });

  it('counts also when it is damaged otherwise', async () => {
    const { live, unknown } = await signsBelow({ 1: with1(runState('running'), 27, 0) });
    expect([live.length, unknown]).to.deep.equal([1, []]);
  });

  it('does not count behind a nearer one that says stopped', async () => {
    expect(await signsBelow({ 1: runState('stopped'), 2: runState('running') })).to.deep.equal(QUIET);
    expect((await signsBelow({ 2: runState('running'), 3: runState('stopped') })).live).to.have.lengthOf(1);
  });
});

describe('a run-state that does not say', () => {
  const unreadable = async (bytes: Uint8Array | 'directory') => {
    const { live, unknown } = await signsBelow({ 1: bytes, 2: runState('running') });
    expect(live).to.deep.equal([]);
    expect(unknown).to.have.lengthOf(1);
    return unknown[0];
  };

  it('is told as unknown, whether it claims to be stopped or nothing at all', async () => {
    expect(await unreadable(with1(runState('stopped'), 27, 0))).to.contain('run-state is damaged');
    expect(await unreadable(new Uint8Array(28))).to.contain('run-state is damaged');
    expect(await unreadable(new Uint8Array(0))).to.contain('run-state is damaged');
  });

  it('is told as one that could not be read when it is no file, or far too long', async () => {
    expect(await unreadable('directory')).to.contain('could not be read (not a regular file)');
    expect(await unreadable(new Uint8Array(4097))).to.contain('could not be read (it has 4097 bytes');
    expect(await unreadable(new Uint8Array(4096))).to.contain('is damaged');
  });
});

describe('processes that hold files of the shard', () => {
  /** Signs with one file of the shard, and processes that hold it, another or nothing. */
  const signsWith = (make: (file: string, other: string) => Parameters<typeof fakeProc>[1]) =>
    withMemoryDir((dir) => {
      const [file, other] = [path.join(dir, 'file'), path.join(dir, 'other')];
      for (const at of [file, other]) writeFileSync(at, '');
      const proc = fakeProc(path.join(dir, 'proc'), make(file, other));
      return signs('/', new Map([['epochs', pathFacts(file)!]]), { proc, ownPid: 7 });
    });

  it('are named with their program, three at most, and never ourselves', async () => {
    const { live, unknown } = await signsWith((file, other) => ({
      3: { holds: [other, file], program: '/bin/broker' },
      4: { holds: [file] },
      5: { holds: [other] },
      7: { holds: [file] },
      8: { holds: [file] },
      9: { holds: [file] },
    }));
    expect(live).to.deep.equal([
      'process 3 (/bin/broker) holds epochs open',
      'process 4 (program unknown) holds epochs open',
      'process 8 (program unknown) holds epochs open',
    ]);
    expect(unknown).to.deep.equal([]);
  });

  it('are counted as unknown when they cannot be looked into', async () => {
    const one = await signsWith((file) => ({ 3: { holds: 'hidden' }, 4: { holds: [file] } }));
    expect(one.live).to.deep.equal(['process 4 (program unknown) holds epochs open']);
    expect(one.unknown).to.have.lengthOf(1);
    expect(one.unknown[0]).to.match(/^1 process could not/);
    const two = await signsWith(() => ({ 3: { holds: 'hidden' }, 4: { holds: 'hidden' } }));
    expect(two.live).to.deep.equal([]);
    expect(two.unknown[0]).to.match(/^2 processes could not/);
  });

  it('are unknown as a whole where the system does not show them', () => {
    expect(signs('/', new Map(), { proc: '/nowhere' })).to.deep.equal({
      live: [],
      unknown: ['this system does not show which processes hold files open'],
    });
  });
});

describe('a file that was written to', () => {
  const aged = (...ages: readonly bigint[]) =>
    withMemoryDir((dir) => {
      const facts = { ...pathFacts(dir)!, inode: 0n };
      const files = ages.map((age, at): [string, PathFacts] => [`file ${at}`, { ...facts, mtimeNs: NOW - age }]);
      const proc = quietProc(path.join(dir, 'proc'));
      expect(signs('/', new Map(files), { proc, ignoreTimes: true })).to.deep.equal(QUIET);
      return signs('/', new Map(files), { proc });
    });
  const said = (file: string) => ({
    live: [`${file} was written to within the last 5 seconds; wait, and try again`],
    unknown: [],
  });

  it('within five seconds, before or ahead of the clock, is taken to be in use', async () => {
    for (const age of [0n, 5n * SECOND - 1n, 1n - 5n * SECOND]) {
      expect(await aged(age), `${age}`).to.deep.equal(said('file 0'));
    }
    for (const age of [5n * SECOND, -5n * SECOND, 3600n * SECOND]) {
      expect(await aged(age), `${age}`).to.deep.equal(QUIET);
    }
  });

  it('is named alone, the first of them', async () => {
    expect(await aged(9n * SECOND, SECOND, 0n)).to.deep.equal(said('file 1'));
  });
});
