/** A repair is taken back step by step, each one durable, from wherever it stopped, and only over what it left itself. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { DurableFs, type FsHook } from '../../src/repair/durable-fs.js';
import { clearNotBegun, type UndoTask, undo, undoTask } from '../../src/repair/undo.js';
import { journalsBeside } from '../../src/store/journals.js';
import { pathFacts } from '../../src/store/path-facts.js';
import { tornEverywhere, tornTail } from '../builders/broken-shards.js';
import { failureOf, failureOfAsync } from '../builders/failures.js';
import {
  applied,
  failingAt,
  halfApplied,
  Killed,
  killedAt,
  later,
  openJournal,
  type Prepared,
  prepared,
  requestWith,
  undone,
} from '../builders/repairs.js';
import { logName } from '../builders/shards.js';
import { systemCallsOf } from '../builders/system-calls.js';
import { hashTree } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const request = (fs = new DurableFs()) => ({ fs, around: later() });

/** The task that is to be done with a journal that can be undone. */
async function taskOf(journal: string, fs?: DurableFs): Promise<Extract<UndoTask, { is: 'undo' }>> {
  const task = await undoTask(journal, request(fs));
  if (task.is !== 'undo') throw new Error(`it is ${task.is}`);
  return task;
}

const treeOf = (shard: string) => hashTree(shard, { directoryTimes: false });

/** Times without what is below a microsecond. */
const toMicros = (tree: Readonly<Record<string, string>>) =>
  Object.values(tree).map((line) => line.replace(/\d{3}ns/, ''));

const withoutLinks = () => requestWith(refusing('link', { code: 'EXDEV' }));

function flip(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
}

describe('what is to be undone', () => {
  it('is nothing where there is no journal, and says where some are, the newest five by name', () =>
    prepared(async ({ dir, shard }) => {
      const said = (at: string) => failureOfAsync(() => undoTask(at, request()));
      const none = { reason: 'usage', message: `${shard}: not a journal of a repair, and none is in it or beside it` };
      expect(await said(shard)).to.deep.equal(none);
      const journals: string[] = [];
      for (let day = 1; day <= 7; day++) {
        journals.push(path.join(dir, `.${path.basename(shard)}.felix-fsck-2026010${day}T000000Z`));
        mkdirSync(journals.at(-1)!);
        const lines = journals.slice(-5).map((journal) => `\n  felix-fsck undo ${journal}`);
        const more = day > 5 ? `\n  and ${day - 5} more` : '';
        const nearby = `not a journal of a repair; the newest is the last of these:${lines.join('')}${more}`;
        expect(await said(shard)).to.deep.equal({ reason: 'usage', message: `${shard}: ${nearby}` });
        expect(await said(dir)).to.deep.equal({ reason: 'usage', message: `${dir}: ${nearby}` });
      }
      const absent = path.join(dir, 'absent');
      expect(await said(absent)).to.deep.equal({ reason: 'usage', message: `${absent}: no such directory` });
    }, tornTail()));

  it('is refused in a journal that contradicts itself, and cannot be told where its record cannot be read', () =>
    prepared(async ({ plan }) => {
      const journal = applied(plan);
      const record = path.join(journal, 'journal.json');
      writeFileSync(record, readFileSync(record, 'utf8').replace('"applied"', '"applies"'));
      expect(await failureOfAsync(() => undoTask(journal, request()))).to.deep.equal({
        reason: 'refused',
        message: `${journal} holds a record that this build does not take.`,
      });
      rmSync(record);
      mkdirSync(record);
      expect(await failureOfAsync(() => undoTask(journal, request()))).to.deep.equal({
        reason: 'unreadable',
        message: `${journal}: not a journal that can be read (not a regular file)`,
      });
    }, tornTail()));

  for (const [name, is] of [
    ['.orders.felix-fsck-20260101T000000Z', 'not-begun'],
    ['.orders.felix-fsck-20260101T000000Z-2', 'not-begun'],
    ['.o.felix-fsck-20260101T000000Z', 'not-begun'],
    ['orders.felix-fsck-20260101T000000Z', 'usage'],
    ['.felix-fsck-20260101T000000Z', 'usage'],
    ['.orders.felix-fsck-20260101T000000Zebra', 'usage'],
    ['.orders.felix-fsck-', 'usage'],
    ['journal', 'usage'],
  ] as const) {
    it(`in an empty directory by the name of ${name} is ${is === 'usage' ? 'not ours to say' : 'nothing yet'}`, () =>
      prepared(async ({ dir }) => {
        const at = path.join(dir, name);
        mkdirSync(at);
        if (is === 'usage') expect((await failureOfAsync(() => undoTask(at, request()))).reason).to.equal(is);
        else expect(await undoTask(at, request())).to.deep.equal({ is, path: at });
      }, tornTail()));
  }

  it('is nothing yet in a journal elsewhere that was only prepared, by whatever name', () =>
    prepared(async ({ dir, plan, shard }) => {
      const at = path.join(dir, 'elsewhere');
      const dying = requestWith(refusing('symlink'), { journal: at });
      const killed = { ...dying, fs: new DurableFs(({ kind }) => void (kind === 'symlink' && dies())) };
      expect(() => applied(plan, killed)).to.throw(Killed);
      symlinkSync('elsewhere', path.join(dir, 'link'));
      expect(await undoTask(path.join(dir, 'link'), request())).to.deep.equal({ is: 'not-begun', path: at });
      expect(await undone(at)).to.equal('not-begun');
      expect(readdirSync(dir).sort()).to.deep.equal([path.basename(shard), 'link'].sort());
    }, tornTail()));

  it('is nothing any more once it was undone, and since when', () =>
    prepared(async ({ plan }) => {
      const journal = applied(plan);
      const changed = new Date('2026-05-06T07:08:09.010Z');
      undo(await taskOf(journal), { fs: new DurableFs(), around: { ...later(), now: () => changed } });
      expect(await undoTask(journal, request())).to.deep.equal({
        is: 'undone-already',
        changedAt: '2026-05-06T07:08:09.010Z',
      });
    }, tornTail()));

  it('may be so at once: the files were written by the repair itself', () =>
    prepared(async ({ plan }) => {
      const journal = applied(plan);
      const around = { ...later(), now: () => new Date() };
      const task = await undoTask(journal, { fs: new DurableFs(), around });
      expect(task).to.deep.include({ is: 'undo' }).and.have.nested.property('verdict.refusals').that.deep.equals([]);
    }));

  it('is refused when a repair was finished and a file is as before all the same', () =>
    prepared(async ({ plan, shard }) => {
      const [step] = plan.steps;
      const old = readFileSync(path.join(shard, step!.file));
      const journal = applied(plan);
      const now = readFileSync(path.join(shard, step!.file));
      writeFileSync(path.join(shard, step!.file), old);
      const { verdict } = await taskOf(journal);
      expect(verdict.refusals).to.deep.equal([
        `${step!.file} has ${old.length} bytes, and not ${now.length} as the repair left it`,
      ]);
    }, tornTail()));

  it('is refused for every old file that is gone from the journal, and not for one that is back', () =>
    prepared(async (scene) => {
      const journal = halfApplied(scene);
      const { plan, shard } = scene;
      const old = path.join(journal, 'old');
      const done = plan.steps.filter(({ before, after, file }) => {
        const size = existsSync(path.join(shard, file)) ? statSync(path.join(shard, file)).size : null;
        return before !== null && size === (after?.size ?? null) && size !== before.size;
      });
      expect(done.length).to.be.within(1, plan.steps.length - 1);
      for (const { file } of plan.steps) rmSync(path.join(old, file), { force: true });
      expect((await taskOf(journal)).verdict.refusals).to.deep.equal(
        done.map(({ file }) => `the journal no longer holds the old ${file} as it was`),
      );
    }));
});

function dies(): never {
  throw new Killed();
}

describe('taking back', () => {
  it('goes from the last step to the first, each one durable, between two entries in the journal', () =>
    prepared(async ({ plan, shard, dir }) => {
      const journal = applied(plan, requestWith(undefined, { journal: path.join(dir, 'journal') }));
      const fs = new WatchedFs();
      undo(await taskOf(journal, fs), request(fs));
      const name = path.basename(shard);
      const entered = [
        'sync-directory journal/old',
        'create journal/journal.json.tmp',
        'write journal/journal.json.tmp',
        'sync journal/journal.json.tmp',
        'rename journal/journal.json <- journal/journal.json.tmp',
        'sync-directory journal',
      ];
      const back = ({ file, before }: Plan['steps'][number]) =>
        before === null
          ? [`unlink ${name}/${file}`]
          : [`set-mode journal/old/${file}`, `rename ${name}/${file} <- journal/old/${file}`];
      expect(fs.told(dir)).to.deep.equal([
        ...entered,
        ...plan.steps.toReversed().flatMap((step) => [...back(step), `sync-directory ${name}`]),
        `set-times ${name}`,
        ...entered,
      ]);
    }));

  it('brings copies back as they were, to the microsecond, and leaves them in the journal', () =>
    prepared(async ({ plan, shard, dir }) => {
      const [step] = plan.steps;
      chmodSync(path.join(shard, step!.file), 0o640);
      const before = treeOf(shard);
      const journal = applied(plan, { ...withoutLinks(), journal: path.join(dir, 'journal') });
      const copies = readdirSync(path.join(journal, 'old'));
      const task = await taskOf(journal);
      const temporary = `.felix-fsck.${step!.file}.tmp`;
      writeFileSync(path.join(shard, temporary), 'left by an earlier attempt');
      const fs = new WatchedFs();
      const { thrown, leftOpen } = systemCallsOf(() => undo(task, request(fs)));
      expect([thrown, leftOpen]).to.deep.equal([null, []]);
      expect(toMicros(treeOf(shard))).to.deep.equal(toMicros(before));
      expect(readdirSync(path.join(journal, 'old'))).to.deep.equal(copies);
      const calls = fs.told(shard).filter((line) => !line.includes('journal'));
      expect(calls).to.deep.equal([
        `unlink ${temporary}`,
        `create ${temporary}`,
        `write ${temporary}`,
        `set-mode ${temporary}`,
        `sync ${temporary}`,
        `set-times ${temporary}`,
        `sync ${temporary}`,
        `rename ${step!.file} <- ${temporary}`,
        'sync-directory .',
        'set-times .',
      ]);
    }, tornTail()));

  it('takes no copy that was changed after it was looked at', () =>
    prepared(async ({ plan, shard, dir }) => {
      const [step] = plan.steps;
      const journal = applied(plan, { ...withoutLinks(), journal: path.join(dir, 'journal') });
      const after = treeOf(shard);
      const task = await taskOf(journal);
      flip(path.join(journal, 'old', step!.file));
      const { thrown, leftOpen } = systemCallsOf(() => undo(task, request()));
      expect(failureOf(() => throwing(thrown)).message).to.contain(
        `new content of ${step!.file} is not what the plan says`,
      );
      expect(leftOpen).to.deep.equal([]);
      rmSync(path.join(shard, `.felix-fsck.${step!.file}.tmp`));
      expect(treeOf(shard)).to.deep.equal(after);
    }, tornTail()));

  for (const how of ['links', 'copies'] as const) {
    it(`begins with what was done of a repair that stopped half-way, and ends with all old files back: ${how}`, () =>
      prepared(async (scene) => {
        const { shard, plan } = scene;
        const before = treeOf(shard);
        const half = how === 'links' ? halfApplied(scene) : halfApplied(scene, refusing('link', { code: 'EXDEV' }));
        await undone(half);
        expect(toMicros(treeOf(shard))).to.deep.equal(toMicros(before));
        if (how === 'links') expect(treeOf(shard)).to.deep.equal(before);
        const names = plan.steps.filter((step) => step.before !== null).map(({ file }) => file);
        expect(names.map((name) => pathFacts(path.join(shard, name))!.links)).to.deep.equal(names.map(() => 1));
        expect(readdirSync(path.join(half, 'old')).sort()).to.deep.equal(how === 'links' ? [] : names.sort());
        expect((await openJournal(half)).state).to.equal('undone');
      }));
  }

  it('that the system refuses anywhere leaves something that another undo finishes, and says which', () =>
    prepared(async ({ plan, shard }) => {
      const before = treeOf(shard);
      const ways = new Set<string>();
      for (let call = 0, whole = false; !whole; call++) {
        const journal = applied(plan);
        const fs = new DurableFs(failingAt(call, 'EIO'));
        const task = await taskOf(journal, fs);
        try {
          undo(task, request(fs));
          whole = true;
        } catch (error) {
          const failure = failureOf(() => throwing(error));
          const { state } = journalsBeside(shard).at(-1)!;
          const then = {
            applied: `The journal keeps every old byte: felix-fsck undo ${journal} takes it back.`,
            undoing: `The journal keeps every old byte: felix-fsck undo ${journal} goes on taking it back.`,
            undone: 'Every file is as it was before the repair.',
          }[state as 'applied' | 'undoing' | 'undone'];
          expect(failure.message.slice(failure.message.indexOf('). ') + 3), `call ${call}`).to.equal(then);
          ways.add(state);
        }
        await undone(journal);
        expect(treeOf(shard), `call ${call}`).to.deep.equal(before);
        rmSync(journal, { recursive: true });
        expect(call).to.be.below(100);
      }
      expect([...ways]).to.deep.equal(['applied', 'undoing', 'undone']);
    }));

  it('tells what failed in words', () =>
    prepared(async ({ plan, shard }) => {
      const journal = applied(plan);
      const [step] = plan.steps;
      const fs = new DurableFs(refusing('rename', { code: 'EROFS', path: step!.file }));
      const task = await taskOf(journal, fs);
      expect(failureOf(() => undo(task, request(fs)))).to.deep.equal({
        reason: 'part-way',
        message:
          `stopped part-way: rename of ${path.join(shard, step!.file)} failed (EROFS: injected, rename). ` +
          `The journal keeps every old byte: felix-fsck undo ${journal} goes on taking it back.`,
        journal,
      });
    }, tornTail()));

  it('ends with the process that dies, and says nothing', () =>
    prepared(async ({ plan, shard }) => {
      const before = treeOf(shard);
      const fs = new DurableFs(killedAt(9));
      const task = await taskOf(applied(plan), fs);
      expect(() => undo(task, request(fs))).to.throw(Killed);
      await undone(task.journal.path);
      expect(treeOf(shard)).to.deep.equal(before);
    }));

  it('stops in front of a file that somebody else changes meanwhile, and once more at the end', () =>
    prepared(async ({ plan, shard }) => {
      const first = plan.steps.find(({ before }) => before !== null)!.file;
      const last = plan.steps.findLast(({ before }) => before !== null)!.file;
      for (const [changed, when, words] of [
        [last, 'sync-directory', 'changed by somebody else'],
        [last, 'rename', 'changed again by somebody else'],
      ] as const) {
        const journal = applied(plan);
        const file = path.join(shard, changed);
        let old: Buffer | null = null;
        const changing: FsHook = ({ kind, path: at }) => {
          if (old !== null || kind !== when || (when === 'rename' && at !== path.join(shard, first))) return;
          old = readFileSync(file);
          const { atimeNs, mtimeNs } = statSync(file, { bigint: true });
          flip(file);
          new DurableFs().setTimes(file, atimeNs, mtimeNs);
        };
        const fs = new DurableFs(changing);
        const task = await taskOf(journal, fs);
        const failure = failureOf(() => undo(task, request(fs)));
        expect(failure.message).to.contain(
          `stopped part-way: ${changed} was ${words}. The journal keeps every old byte`,
        );
        writeFileSync(file, old!);
        await undone(journal);
      }
    }));

  it('is refused when what has to hold does not, and changes nothing then', () =>
    prepared(async ({ plan, shard, dir }) => {
      const journal = applied(plan);
      truncateSync(path.join(shard, logName(0)), 40);
      const before = hashTree(dir);
      const task = await taskOf(journal);
      expect(failureOf(() => undo(task, request())).reason).to.equal('refused');
      expect(hashTree(dir)).to.deep.equal(before);
    }, tornTail()));
});

function throwing(error: unknown): never {
  throw error;
}

describe('a journal in which nothing was begun', () => {
  const begun = ({ plan, shard }: Prepared) => {
    expect(() => applied(plan, requestWith(killedAt(20)))).to.throw(Killed);
    return journalsBeside(shard)[0]!.path;
  };

  it('that cannot be cleared away is told, and the shard is as it was', () =>
    prepared(async (scene) => {
      const at = begun(scene);
      const before = treeOf(scene.shard);
      const fs = new DurableFs(refusing('remove-directory'));
      expect(failureOf(() => clearNotBegun({ is: 'not-begun', path: at }, { ...request(), fs }))).to.deep.equal({
        reason: 'unreadable',
        message: `the shard is as it was; ${at} could not be cleared away`,
      });
      expect(treeOf(scene.shard)).to.deep.equal(before);
      expect(await undone(at)).to.equal('not-begun');
      expect(existsSync(at)).to.equal(false);
    }, tornEverywhere()));

  it('stays when the process dies that clears it away', () =>
    prepared((scene) => {
      const at = begun(scene);
      const fs = new DurableFs(killedAt(0));
      expect(() => clearNotBegun({ is: 'not-begun', path: at }, { ...request(), fs })).to.throw(Killed);
      renameSync(at, `${at}-2`);
    }, tornEverywhere()));
});
