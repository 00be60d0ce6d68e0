/**
 * Whenever a repair stops, by a kill or by a failure of the system, every file is as before or as after, and both finishing
 * and taking back are one command away. Every change that a repair makes is met, one after another.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { FailureError } from '../../src/domain/result.js';
import { type ApplyRequest, applyPlan, resumePlan } from '../../src/repair/apply.js';
import type { FsCall, FsHook } from '../../src/repair/durable-fs.js';
import { encodePlan, planDigest } from '../../src/repair/plan-file.js';
import { isUnfinished, journalsBeside } from '../../src/store/journals.js';
import {
  BROKEN_SHARDS,
  type BrokenShard,
  flippedBit,
  tornEverywhere,
  tornTail,
  twoIndexes,
} from '../builders/broken-shards.js';
import {
  failingAt,
  Killed,
  killedAt,
  memoryDir,
  openJournal,
  planFor,
  recordingTo,
  requestWith,
  undone,
} from '../builders/repairs.js';
import { indexName, logName, readShard, SHARD_DIR_NAME, writeShard } from '../builders/shards.js';
import { hashTree, type TreeFingerprint } from '../builders/trees.js';

/** A directory in memory where there is one: these tests sync thousands of times. */
let base: string;

function remade(broken: BrokenShard): string {
  for (const name of readdirSync(base)) rmSync(path.join(base, name), { recursive: true, force: true });
  return writeShard(broken.image, path.join(base, SHARD_DIR_NAME));
}

interface Scenario {
  readonly broken: BrokenShard;
  readonly plan: Plan;
  /** Changes that the whole repair makes. */
  readonly calls: readonly FsCall[];
  readonly request: (hook: FsHook) => ApplyRequest;
  /** The files afterwards. */
  readonly after: ReadonlyMap<string, Uint8Array>;
}

async function scenario(
  broken: BrokenShard,
  change: (plan: Plan) => Plan = (plan) => plan,
  request: Scenario['request'] = (hook) => requestWith(hook),
): Promise<Scenario> {
  const shard = remade(broken);
  const plan = change(await planFor(...broken.command, shard));
  const calls: FsCall[] = [];
  applyPlan(plan, request(recordingTo(calls)));
  return { broken, plan, calls, request, after: readShard(shard) };
}

/** The tree with the files as they are kept apart from the time of the directory, which any new name changes. */
function treeOf(shard: string): TreeFingerprint {
  return hashTree(shard, { directoryTimes: false });
}

/** Runs a repair that stops, and returns the tree that it began with. */
function stopped(
  { broken, plan, request }: Scenario,
  hook: FsHook,
): { shard: string; old: TreeFingerprint; how: unknown } {
  const shard = remade(broken);
  const old = treeOf(shard);
  let how: unknown = null;
  try {
    applyPlan(plan, request(hook));
  } catch (error) {
    how = error;
  }
  return { shard, old, how };
}

/** Every file holds what it held before, or what it holds after. */
function expectNothingBetween({ broken, after }: Scenario, shard: string): void {
  for (const [name, bytes] of readShard(shard)) {
    if (name.startsWith('.felix-fsck.')) continue;
    const candidates = [broken.image.get(name), after.get(name)].filter((candidate) => candidate !== undefined);
    expect(
      candidates.some((candidate) => Buffer.compare(candidate, bytes) === 0),
      name,
    ).to.equal(true);
  }
  for (const name of broken.image.keys()) {
    if (after.has(name)) expect([...readShard(shard).keys()]).to.include(name);
  }
}

/** By `apply --resume`, or by applying anew where nothing had been begun. */
async function finishes(scene: Scenario, shard: string): Promise<void> {
  const [sighting] = journalsBeside(shard);
  if (sighting?.state === 'applied') return;
  if (sighting?.state === 'applying')
    resumePlan(
      await openJournal(realpathSync(sighting.path)),
      scene.request(() => {}),
    );
  else {
    await undoneIfThere(shard);
    applyPlan(
      scene.plan,
      scene.request(() => {}),
    );
  }
  expect(readShard(shard)).to.deep.equal(scene.after);
  expect(journalsBeside(shard).some(isUnfinished)).to.equal(false);
}

async function undoneIfThere(shard: string): Promise<void> {
  for (const { path: journal } of journalsBeside(shard)) await undone(journal);
}

async function takesBack(shard: string, old: TreeFingerprint): Promise<void> {
  await undoneIfThere(shard);
  expect(treeOf(shard)).to.deep.equal(old);
  expect(journalsBeside(shard).some(isUnfinished)).to.equal(false);
}

/** Indexes are made of the records when their step is done, as in plans that would be too large otherwise. */
function fromRecords(plan: Plan): Plan {
  const steps = plan.steps.map((step) => {
    if (step.action !== 'rebuild-index') return step;
    const segment = step.file.replace(/index$/, 'log');
    const end =
      plan.steps.find(({ file }) => file === segment)?.after?.size ??
      plan.files.find(({ file }) => file === segment)!.size;
    return { ...step, content: [{ from: 'records' as const, segment, end, spacing: 4096 }] };
  });
  return { ...plan, steps };
}

function elsewhere(hook: FsHook): ApplyRequest {
  return requestWith(hook, { journal: path.join(base, 'kept-elsewhere') });
}

/** As on a file system without second names, or another one. */
function withoutLinks(hook: FsHook): ApplyRequest {
  return requestWith((call) => {
    hook(call);
    if (call.kind === 'link') throw Object.assign(new Error('no links here'), { code: 'EXDEV' });
  });
}

/** What a system answers that is full, broken, or unwilling. */
const CODES = ['ENOSPC', 'EIO', 'EACCES'];

describe('a repair that stops', function () {
  this.timeout(120_000);
  before(() => {
    base = memoryDir();
  });
  after(() => rmSync(base, { recursive: true, force: true }));

  for (const make of [...BROKEN_SHARDS, flippedBit]) {
    const broken = make();
    it(`${broken.name}: killed at any change, it can be finished`, async () => {
      const scene = await scenario(broken);
      for (let call = 0; call < scene.calls.length; call++) {
        const { shard, how } = stopped(scene, killedAt(call));
        expect(how, `call ${call}`).to.be.instanceOf(Killed);
        expectNothingBetween(scene, shard);
        await finishes(scene, shard);
      }
    });

    it(`${broken.name}: killed at any change, it can be taken back`, async () => {
      const scene = await scenario(broken);
      for (let call = 0; call < scene.calls.length; call++) {
        const { shard, old } = stopped(scene, killedAt(call));
        await takesBack(shard, old);
      }
    });

    it(`${broken.name}: any change that the system refuses leaves it as it was, or names the journal`, async () => {
      const scene = await scenario(broken);
      const faults = scene.calls.flatMap((_, call) => CODES.map((code) => ({ call, code })));
      for (const { call, code } of faults) {
        const { shard, old, how } = stopped(scene, failingAt(call, code));
        expect(how, `${code} at ${call}`).to.be.instanceOf(FailureError);
        expectNothingBetween(scene, shard);
        const { failure } = how as FailureError;
        if (failure.reason === 'part-way') {
          expect(failure.message).to.contain(`felix-fsck undo ${failure.journal}`);
        } else {
          expect(failure.reason).to.equal('unreadable');
          expect(treeOf(shard)).to.deep.equal(old);
        }
        await takesBack(shard, old);
      }
    });
  }

  for (const code of CODES) {
    it(`a torn tail: ${code} at any change leaves something that finishes`, async () => {
      const scene = await scenario(tornTail());
      for (let call = 0; call < scene.calls.length; call++) {
        const { shard } = stopped(scene, failingAt(call, code));
        await finishes(scene, shard);
      }
    });
  }

  it('indexes made of the records on the way come out the same after any kill', async () => {
    const scene = await scenario(twoIndexes(), fromRecords);
    for (let call = 0; call < scene.calls.length; call++) {
      const { shard } = stopped(scene, killedAt(call));
      await finishes(scene, shard);
    }
    expect(scene.after.get(indexName(0))).to.deep.equal((await scenario(twoIndexes())).after.get(indexName(0)));
  });

  it('a journal elsewhere is found beside the shard after any kill', async () => {
    const scene = await scenario(tornTail(), undefined, elsewhere);
    for (let call = 0; call < scene.calls.length; call++) {
      const { shard, old } = stopped(scene, killedAt(call));
      const changed = JSON.stringify(treeOf(shard)) !== JSON.stringify(old);
      expect(journalsBeside(shard).length, `call ${call}`).to.be.at.least(changed ? 1 : 0);
      await takesBack(shard, old);
      rmSync(path.join(base, 'kept-elsewhere'), { recursive: true, force: true });
    }
  });

  it('old files are copied where they cannot be linked, and come back after any kill', async () => {
    const scene = await scenario(tornEverywhere(), undefined, withoutLinks);
    expect(scene.calls.some(({ path: at }) => at.includes('/old/'))).to.equal(true);
    for (let call = 0; call < scene.calls.length; call += 3) {
      const { shard, old } = stopped(scene, killedAt(call));
      await undoneIfThere(shard);
      expect(withoutTimes(treeOf(shard)), `call ${call}`).to.deep.equal(withoutTimes(old));
    }
  });

  it('an undo that is killed at any change is undone by another', async () => {
    const scene = await scenario(tornEverywhere());
    for (let call = 0; ; call++) {
      const shard = remade(scene.broken);
      const old = treeOf(shard);
      const journal = applyPlan(
        scene.plan,
        scene.request(() => {}),
      ).path;
      const whole = await endsWhole(undone(journal, killedAt(call)));
      await takesBack(shard, old);
      if (whole) break;
      expect(call).to.be.below(200);
    }
  });

  it('a repair taken up again and killed once more can still be finished and taken back', async () => {
    const scene = await scenario(tornEverywhere());
    for (let call = 1; call < 40; call += 3) {
      for (const way of ['finish', 'take back']) {
        const { shard, old } = stopped(scene, killedAt(scene.calls.length - 30));
        const [sighting] = journalsBeside(shard);
        const journal = await openJournal(sighting!.path);
        try {
          resumePlan(journal, scene.request(killedAt(call)));
        } catch (error) {
          expect(error).to.be.instanceOf(Killed);
        }
        if (way === 'finish') await finishes(scene, shard);
        else await takesBack(shard, old);
      }
    }
  });

  it('a process that is killed for real leaves the same as the simulation', async () => {
    const scene = await scenario(tornEverywhere());
    const file = path.join(base, '..', `${path.basename(base)}-plan.json`);
    writeFileSync(file, encodePlan(scene.plan));
    try {
      for (let call = 21; call < scene.calls.length; call += 17) {
        const shard = remade(scene.broken);
        const old = treeOf(shard);
        const child = fileURLToPath(new URL('dying-apply.js', import.meta.url));
        const { signal, stderr } = spawnSync(process.execPath, [child, file, String(call)], { encoding: 'utf8' });
        expect(signal, stderr).to.equal('SIGKILL');
        expectNothingBetween(scene, shard);
        if (call % 2 === 0) await finishes(scene, shard);
        else await takesBack(shard, old);
      }
    } finally {
      rmSync(file);
    }
  });
});

describe('the order in which a repair makes things durable', () => {
  it('old files are durable before the first change, and each file before its name', async () => {
    base = memoryDir();
    try {
      const { calls, plan } = await scenario(tornEverywhere());
      const shard = path.join(base, SHARD_DIR_NAME);
      const inShard = (call: FsCall) => path.dirname(call.path) === shard;
      const firstChange = calls.findIndex(inShard);
      const applying = calls.findLastIndex((call, at) => at < firstChange && call.path.endsWith('/journal.json'));
      expect(calls[applying + 1]).to.deep.include({ kind: 'sync-directory' });
      for (const { file, before: old } of plan.steps) {
        if (old === null) continue;
        const kept = calls.findIndex(({ kind, path: at }) => kind === 'link' && at.endsWith(`/old/${file}`));
        const synced = calls.findIndex(({ kind, path: at }) => kind === 'sync' && at.endsWith(`/old/${file}`));
        expect([kept >= 0 && kept < synced, synced < applying], file).to.deep.equal([true, true]);
      }
      calls.forEach((call, at) => {
        if (call.kind === 'rename')
          expect(calls[at - 1], `call ${at}`).to.deep.include({ kind: 'sync', path: call.from });
        const names = call.kind === 'rename' || (call.kind === 'unlink' && !call.path.endsWith('.tmp'));
        if (names && inShard(call)) expect(calls[at + 1]).to.deep.include({ kind: 'sync-directory', path: shard });
      });
      const order = calls.filter((call) => inShard(call) && ['rename', 'unlink'].includes(call.kind));
      expect(order.map((call) => path.basename(call.path))).to.deep.equal([
        'offload.manifest',
        logName(2),
        indexName(2),
        logName(3),
        logName(1),
        'producers',
        'keys.idx',
        'epochs',
        indexName(1),
      ]);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });

  it('a plan is named by what it says', async () => {
    base = memoryDir();
    try {
      const { plan } = await scenario(tornTail());
      expect(planDigest(plan)).to.match(/^[0-9a-f]{64}$/);
      expect(planDigest({ ...plan, notes: ['another'] })).to.not.equal(planDigest(plan));
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});

function withoutTimes(tree: TreeFingerprint): TreeFingerprint {
  return Object.fromEntries(Object.entries(tree).map(([name, text]) => [name, text.replace(/ -?[0-9]+ns/, '')]));
}

async function endsWhole(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    expect(error).to.be.instanceOf(Killed);
    return false;
  }
}
