/** A repair that stops is told in words, leaves one way out, and is taken up again only where all is as it left it. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan, PlanStep } from '../../src/domain/plan.js';
import { crc32, hex32 } from '../../src/format/checksum.js';
import { checkApply, checkResume, resumePlan, unfinishedJournalOf } from '../../src/repair/apply.js';
import { DurableFs, type FsHook } from '../../src/repair/durable-fs.js';
import { encodePlan } from '../../src/repair/plan-file.js';
import { stateOf } from '../../src/repair/steps.js';
import { undoTask } from '../../src/repair/undo.js';
import { journalsBeside } from '../../src/store/journals.js';
import { pathFacts } from '../../src/store/path-facts.js';
import { tornTail, twoIndexes } from '../builders/broken-shards.js';
import { failureOf } from '../builders/failures.js';
import {
  applied,
  failingAt,
  halfApplied,
  Killed,
  killedAt,
  later,
  openJournal,
  prepared,
  requestWith,
  undone,
} from '../builders/repairs.js';
import { indexName, logName } from '../builders/shards.js';
import { hashTree } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const treeOf = (shard: string) => hashTree(shard, { directoryTimes: false });

/** Changes a file's content and nothing else about it. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  const { atimeNs, mtimeNs } = statSync(file, { bigint: true });
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
  new DurableFs().setTimes(file, atimeNs, mtimeNs);
}

function expectDone({ shard, steps }: Plan): void {
  for (const { file, after } of steps) expect(stateOf(path.join(shard.path, file)), file).to.deep.equal(after);
}

/** The one journal beside a shard that is not finished. */
const unfinished = (shard: string) => journalsBeside(shard)[0]!.path;

/** A journal beside the shard by another process, as far as anybody else reads it. */
function rivalOf(shard: string, state: string, number = 9): string {
  const at = path.join(path.dirname(shard), `.${path.basename(shard)}.felix-fsck-2099010${number}T000000Z`);
  mkdirSync(at);
  writeFileSync(path.join(at, 'journal.json'), JSON.stringify({ state }));
  return at;
}

describe('a repair that is carried out', () => {
  it('keeps the old file durably, says so, then changes the shard, and says that', () =>
    prepared(({ plan, shard, dir }) => {
      const fs = new WatchedFs();
      const [{ file }] = plan.steps as [PlanStep];
      chmodSync(path.join(shard, file), 0o640);
      applied(plan, requestWith(undefined, { fs, journal: path.join(dir, 'journal') }));
      const name = path.basename(shard);
      const beside = readdirSync(dir).find((each) => each.startsWith('.'));
      const put = (at: string) => [
        `create journal/${at}.tmp`,
        `write journal/${at}.tmp`,
        `sync journal/${at}.tmp`,
        `rename journal/${at} <- journal/${at}.tmp`,
        'sync-directory journal',
      ];
      const entered = ['sync-directory journal/old', ...put('journal.json')];
      const temporary = `${name}/.felix-fsck.${file}.tmp`;
      expect(plan.steps.length).to.equal(1);
      expect(fs.told(dir)).to.deep.equal([
        'make-directory journal',
        'set-mode journal',
        ...put('journal.json'),
        'make-directory journal/old',
        'set-mode journal/old',
        ...put('plan.json'),
        'sync-directory .',
        `symlink ${beside} <- journal`,
        'sync-directory .',
        `link journal/old/${file} <- ${name}/${file}`,
        `sync journal/old/${file}`,
        ...entered,
        `create ${temporary}`,
        `write ${temporary}`,
        `set-mode ${temporary}`,
        `sync ${temporary}`,
        `rename ${name}/${file} <- ${temporary}`,
        `sync-directory ${name}`,
        `set-mode journal/old/${file}`,
        ...entered,
      ]);
    }, tornTail()));

  it('takes away what an earlier attempt left under a temporary name, and no stranger', () =>
    prepared(({ plan, shard }) => {
      const ours = [`.felix-fsck.${logName(7)}.tmp`, '.felix-fsck.epochs.tmp'];
      const others = ['.felix-fsck.notes.txt.tmp', 'epochs.tmp', '.felix-fsck.epochs.tmp.1'];
      for (const name of [...ours, ...others]) writeFileSync(path.join(shard, name), 'half');
      applied(plan);
      const left = readdirSync(shard).filter((name) => name.includes('tmp'));
      expect(left.sort()).to.deep.equal(others.sort());
    }, tornTail()));

  it('is recorded with who did it, with what, when, and how the directory was', () =>
    prepared(async ({ plan, shard }) => {
      const directoryMtimeNs = statSync(shard, { bigint: true }).mtimeNs;
      const times = ['2030-01-01T00:00:00.000Z', '2030-01-01T00:00:01.000Z', '2030-01-01T00:00:02.000Z'];
      let asked = 0;
      const now = () => new Date(times[Math.max(0, asked++ - 1)]!);
      const journal = applied(plan, requestWith(undefined, { around: { ...later(), uid: process.geteuid!(), now } }));
      const { record } = await openJournal(journal);
      const who = { uid: process.geteuid!(), user: 'tester', host: 'here' };
      const tool = { name: 'felix-fsck', version: '0.0.0' };
      const about = { who, tool, startedAt: times[0], changedAt: times[2], directoryMtimeNs, shard, state: 'applied' };
      expect(record).to.deep.include(about);
      expect(record.kept.map(({ file }) => file)).to.deep.equal(plan.steps.map(({ file }) => file));
      expect(path.basename(journal)).to.equal(`.${path.basename(shard)}.felix-fsck-20300101T000000Z`);
    }, tornTail()));
});

describe('a file that a repair writes anew', () => {
  const asRoot = process.geteuid!() === 0;

  /** Gives a file a mode and an owner of its own, where that can be done. */
  function own(file: string, mode: number, id: number): void {
    chmodSync(file, mode);
    if (asRoot) chownSync(file, id, id + 1);
  }

  const ownership = (file: string) => {
    const { mode, uid, gid } = pathFacts(file)!;
    return asRoot ? [mode, uid, gid] : [mode];
  };
  const owned = (mode: number, id: number) => (asRoot ? [mode, id, id + 1] : [mode]);

  it('has mode and owner of the old, an index even where its segment has others', () =>
    prepared(({ plan, shard }) => {
      own(path.join(shard, logName(1)), 0o600, 2000);
      own(path.join(shard, indexName(1)), 0o644, 3000);
      applied(plan);
      expect(ownership(path.join(shard, indexName(1)))).to.deep.equal(owned(0o644, 3000));
    }, twoIndexes()));

  it('has those of its segment where there was no index', () =>
    prepared(({ plan, shard }) => {
      for (const name of readdirSync(shard)) own(path.join(shard, name), 0o640, 2000);
      own(path.join(shard, logName(0)), 0o604, 4000);
      own(path.join(shard, indexName(1)), 0o600, 5000);
      applied(plan);
      expect(ownership(path.join(shard, indexName(0)))).to.deep.equal(owned(0o604, 4000));
    }, twoIndexes()));

  /** A plan whose one step makes a small file of three bytes. */
  function creating(plan: Plan, files: Plan['files']): Plan {
    const bytes = Buffer.from('new');
    const step: PlanStep = {
      action: 'create',
      file: 'epochs',
      before: null,
      after: { size: 3, crc32: hex32(crc32(bytes)) },
      content: [{ from: 'plan', base64: bytes.toString('base64') }],
      ranges: [],
      why: 'it is not there',
      answers: [],
    };
    return { ...plan, files, steps: [step] };
  }

  it('has those of another file of the shard where it has no segment', () =>
    prepared(({ plan, shard }) => {
      own(path.join(shard, plan.files[0]!.file), 0o640, 6000);
      applied(creating(plan, plan.files));
      expect(ownership(path.join(shard, 'epochs'))).to.deep.equal(owned(0o640, 6000));
    }, tornTail()));

  it('has those of the directory where there is no other file, without leave to run it', () =>
    prepared(({ plan, shard }) => {
      for (const name of readdirSync(shard)) rmSync(path.join(shard, name));
      own(shard, 0o751, 7000);
      applied(creating(plan, []));
      expect(ownership(path.join(shard, 'epochs'))).to.deep.equal(owned(0o640, 7000));
      expect(readFileSync(path.join(shard, 'epochs'), 'utf8')).to.equal('new');
    }, tornTail()));
});

describe('a repair that fails', () => {
  it('anywhere says what failed, and either nothing was changed or the journal is named with its way out', () =>
    prepared(async ({ plan, shard, dir }) => {
      const before = treeOf(shard);
      const ways = new Set<string>();
      for (let call = 0, whole = false; !whole; call++) {
        const told: string[] = [];
        const failing = failingAt(call, 'EIO');
        const hook: FsHook = (each) => {
          try {
            failing(each);
          } catch (error) {
            told.push(`${each.kind.replace('-', ' ')} of ${each.path} failed (EIO: injected, ${each.kind})`);
            throw error;
          }
        };
        try {
          applied(plan, requestWith(hook));
          whole = true;
        } catch (error) {
          const failure = failureOf(() => {
            throw error;
          });
          const [sighting] = journalsBeside(shard);
          ways.add(sighting?.state ?? 'none');
          if (sighting === undefined) {
            expect(failure).to.deep.equal({ reason: 'unreadable', message: `nothing was changed: ${told[0]}.` });
            expect(treeOf(shard), `call ${call}`).to.deep.equal(before);
          } else {
            const { path: journal, state } = sighting;
            const back = `felix-fsck undo ${journal} takes it back`;
            const way = state === 'applied' ? back : `felix-fsck apply --resume ${journal} finishes it, ${back}`;
            expect(failure, `call ${call}`).to.deep.equal({
              reason: 'part-way',
              message: `stopped part-way: ${told[0]}. The journal keeps every old byte: ${way}.`,
              journal,
            });
          }
        }
        for (const { path: journal } of journalsBeside(shard)) {
          await undone(journal);
          rmSync(journal, { recursive: true });
        }
        expect(treeOf(shard), `call ${call}`).to.deep.equal(before);
        expect(readdirSync(dir)).to.deep.equal([path.basename(shard)]);
        expect(call).to.be.below(100);
      }
      expect([...ways]).to.deep.equal(['none', 'applying', 'applied']);
    }, tornTail()));

  it('and whose journal cannot be taken away again says what is left, and what clears it away', () =>
    prepared(async ({ plan, shard }) => {
      const before = treeOf(shard);
      const hook: FsHook = (call) => {
        refusing('link')(call);
        refusing('unlink', { code: 'EROFS' })(call);
      };
      const failure = failureOf(() => applied(plan, requestWith(hook)));
      const journal = unfinished(shard);
      expect(failure).to.deep.equal({
        reason: 'unreadable',
        message:
          `nothing was changed: link of ${path.join(journal, 'old', logName(2))} failed (EIO: injected, link). ` +
          `What is left in ${journal} is of no use; felix-fsck undo ${journal} clears it away.`,
      });
      expect(treeOf(shard)).to.deep.equal(before);
      expect(await undone(journal)).to.equal('not-begun');
    }, tornTail()));

  it('and dies while its journal is taken away ends with that', () =>
    prepared(({ plan, shard }) => {
      const hook: FsHook = (call) => {
        refusing('link')(call);
        if (call.kind === 'unlink') throw new Killed();
      };
      expect(() => applied(plan, requestWith(hook))).to.throw(Killed);
      expect(existsSync(unfinished(shard))).to.equal(true);
    }, tornTail()));

  it('because a file changed while it was kept is refused', () =>
    prepared(({ plan, shard, dir }) => {
      const touching: FsHook = ({ kind, path: at }) => {
        if (kind === 'sync' && at.includes('/old/')) new DurableFs().setTimes(at, 0n, 0n);
      };
      expect(failureOf(() => applied(plan, requestWith(touching)))).to.deep.equal({
        reason: 'refused',
        message: `nothing was changed: ${logName(2)} changed while it was kept.`,
      });
      expect(readdirSync(dir)).to.deep.equal([path.basename(shard)]);
    }, tornTail()));

  for (const [what, changed, at, words] of [
    ['in front of a file that', 1, 'sync-directory', 'changed by somebody else'],
    ['at the end over a file that', 0, 'unlink', 'changed again by somebody else'],
  ] as const) {
    it(`${what} somebody else changes meanwhile stops there`, () =>
      prepared(({ plan, shard }) => {
        const cut = plan.steps.filter(({ before, after }) => before !== null && after !== null);
        const file = path.join(shard, cut[changed]!.file);
        const producers = path.join(shard, 'producers');
        let done = false;
        const changing: FsHook = (call) => {
          const now = at === 'unlink' ? call.path === producers : call.path === shard;
          if (done || !now || call.kind !== at) return;
          done = true;
          flip(file);
        };
        const { reason, message } = failureOf(() => applied(plan, requestWith(changing)));
        expect(reason).to.equal('part-way');
        expect(message).to.contain(`stopped part-way: ${cut[changed]!.file} was ${words}. The journal keeps`);
      }));
  }
});

/** The journal says for the first time how far the repair has come. */
function isEntering({ kind, path: at }: Parameters<FsHook>[0]): boolean {
  return kind === 'sync' && at.endsWith('/journal.json.tmp') && existsSync(path.join(path.dirname(at), 'plan.json'));
}

describe('another repair of the shard', () => {
  for (const [when, isThen] of [
    ['meanwhile', ({ kind }) => kind === 'link'],
    ['at the very same time', (call) => isEntering(call)],
  ] as const satisfies readonly (readonly [string, (call: Parameters<FsHook>[0]) => boolean])[]) {
    it(`that has begun ${when} stops this one, which leaves nothing`, () =>
      prepared(({ plan, shard, dir }) => {
        let rival = '';
        const rivalling: FsHook = (call) => {
          if (rival === '' && isThen(call)) rival = rivalOf(shard, 'applying');
        };
        const before = treeOf(shard);
        expect(failureOf(() => applied(plan, requestWith(rivalling)))).to.deep.equal({
          reason: 'refused',
          message: `nothing was changed: another repair of the shard has begun (${rival}).`,
        });
        expect(treeOf(shard)).to.deep.equal(before);
        expect(readdirSync(dir).sort()).to.deep.equal([path.basename(rival), path.basename(shard)].sort());
      }, tornTail()));
  }

  it('leaves this one to be undone when it cannot say that it gave way', () =>
    prepared(({ plan, shard }) => {
      let rival = '';
      const rivalling: FsHook = (call) => {
        if (!isEntering(call)) return;
        if (rival === '') rival = rivalOf(shard, 'applying');
        else throw Object.assign(new Error('EIO: injected'), { code: 'EIO' });
      };
      const before = treeOf(shard);
      const { reason, message } = failureOf(() => applied(plan, requestWith(rivalling)));
      expect([reason, treeOf(shard)]).to.deep.equal(['part-way', before]);
      const own = journalsBeside(shard).find(({ path: at }) => at !== rival)!;
      expect(own.state).to.equal('applying');
      expect(message).to.contain(`felix-fsck undo ${own.path} takes it back`);
    }, tornTail()));

  it('that is only being prepared does not, nor does the link to a journal elsewhere', () =>
    prepared(({ plan, shard, dir }) => {
      mkdirSync(path.join(dir, 'real'));
      symlinkSync('real', path.join(dir, 'link'));
      const rivalling: FsHook = ({ kind }) => {
        if (kind === 'link') rivalOf(shard, 'preparing');
      };
      applied(plan, requestWith(rivalling, { journal: path.join(dir, 'link', 'journal') }));
      expectDone(plan);
    }, tornTail()));

  for (const [state, way] of [
    ['applying', (at: string) => `felix-fsck apply --resume ${at} finishes it, felix-fsck undo ${at} takes it back`],
    ['undoing', (at: string) => `felix-fsck undo ${at} goes on taking it back`],
    ['lost', (at: string) => `its journal ${at} cannot be read, so that nobody knows how far it came`],
  ] as const) {
    it(`that was left ${state} is in the way, and its way out is told`, () =>
      prepared(({ plan, shard }) => {
        rivalOf(shard, 'undone', 1);
        rivalOf(shard, 'applied', 2);
        const at = rivalOf(shard, state, 3);
        expect(checkApply(plan, requestWith()).refusals).to.deep.equal([
          `an earlier repair of this shard was not finished: ${way(at)}`,
        ]);
      }, tornTail()));
  }

  it('whose journal is gone, to which a link beside the shard leads, is in the way too', () =>
    prepared(({ plan, shard, dir }) => {
      const link = path.join(dir, `.${path.basename(shard)}.felix-fsck-20990101T000000Z`);
      symlinkSync('gone', link);
      const lost = `its journal ${link} cannot be read, so that nobody knows how far it came`;
      expect(checkApply(plan, requestWith()).refusals).to.deep.equal([
        `an earlier repair of this shard was not finished: ${lost}`,
      ]);
    }, tornTail()));
});

describe('the place of a journal', () => {
  it('is a directory that is empty or not there yet, outside of the shard, in one that is there', () =>
    prepared(({ plan, shard, dir }) => {
      const [empty, full, file] = ['empty', 'full', 'file'].map((name) => path.join(dir, name)) as [
        string,
        string,
        string,
      ];
      mkdirSync(empty);
      mkdirSync(full);
      writeFileSync(path.join(full, 'x'), '');
      writeFileSync(file, '');
      symlinkSync('empty', path.join(dir, 'link'));
      for (const [journal, refusals] of [
        [empty, []],
        [path.join(dir, 'new'), []],
        [`${shard}-journal`, []],
        [shard, ['the journal may not lie in the shard']],
        [path.join(shard, 'journal'), ['the journal may not lie in the shard']],
        [path.join(dir, 'no', 'new'), [`${path.join(dir, 'no')} is not there`]],
        [file, [`${file} is not a directory`]],
        [path.join(dir, 'link'), [`${path.join(dir, 'link')} is not a directory`]],
        [full, [`${full} is not empty`]],
      ] as const) {
        expect(checkApply(plan, requestWith(undefined, { journal })).refusals, journal).to.deep.equal(refusals);
      }
    }, tornTail()));

  it('that cannot be looked at is a failure, told before anything is changed; a bug is not', () =>
    prepared(({ plan, dir }) => {
      symlinkSync('loop', path.join(dir, 'loop'));
      const journal = path.join(dir, 'loop', 'journal');
      const failure = failureOf(() => checkApply(plan, requestWith(undefined, { journal })));
      expect(failure.reason).to.equal('unreadable');
      expect(failure.message).to.match(/^nothing was changed: ELOOP: .*\.$/);
      const now = () => {
        throw new Killed();
      };
      expect(() => checkApply(plan, requestWith(undefined, { around: { ...later(), now } }))).to.throw(Killed);
    }, tornTail()));
});

describe('a repair that is taken up again', () => {
  it('does what is left to do, though its own files were written a moment ago', () =>
    prepared(async (scene) => {
      const { plan } = scene;
      const journal = await openJournal(halfApplied(scene));
      const fs = new WatchedFs();
      const request = requestWith(undefined, { fs, around: { ...later(), now: () => new Date() } });
      expect(checkResume(journal, request).refusals).to.deep.equal([]);
      expect(resumePlan(journal, request).state).to.equal('applied');
      expectDone(plan);
      const half = plan.steps.length >> 1;
      const changed = fs.told(plan.shard.path).filter((line) => /^(rename|unlink) [^.]/.test(line));
      expect(changed.map((line) => line.split(' ')[1])).to.deep.equal(plan.steps.slice(half).map(({ file }) => file));
    }));

  it('is refused over a file that is neither as before nor as after', () =>
    prepared(async (scene) => {
      const { plan, shard } = scene;
      const journal = await openJournal(halfApplied(scene));
      const { file } = plan.steps.at(-1)!;
      flip(path.join(shard, file));
      const before = hashTree(scene.dir);
      expect(failureOf(() => resumePlan(journal, requestWith()))).to.deep.equal({
        reason: 'refused',
        message: `nothing was changed: ${file} does not hold the same bytes as when the plan was made.`,
      });
      expect(hashTree(scene.dir)).to.deep.equal(before);
    }));

  it('waits for another repair of the shard that was not finished either', () =>
    prepared(async (scene) => {
      const { plan, shard } = scene;
      const journal = await openJournal(halfApplied(scene));
      rivalOf(shard, 'undone', 1);
      const rival = rivalOf(shard, 'applying', 2);
      const before = hashTree(scene.dir);
      const way = `felix-fsck apply --resume ${rival} finishes it, felix-fsck undo ${rival} takes it back`;
      expect(failureOf(() => resumePlan(journal, requestWith()))).to.deep.equal({
        reason: 'refused',
        message: `nothing was changed: an earlier repair of this shard was not finished: ${way}.`,
      });
      expect(hashTree(scene.dir)).to.deep.equal(before);
      rmSync(rival, { recursive: true });
      resumePlan(journal, requestWith());
      expectDone(plan);
    }));

  it('is none that was finished, or is being taken back', () =>
    prepared(async ({ plan }) => {
      const journal = await openJournal(applied(plan));
      const refused = 'broken assumption: only a plan that was begun is taken up again';
      expect(() => resumePlan(journal, requestWith())).to.throw(refused);
      journal.enter('undoing', new Date());
      expect(() => resumePlan(journal, requestWith())).to.throw(refused);
    }, tornTail()));

  it('is found by its plan, beside the shard or through the link there', () =>
    prepared(async (scene) => {
      const { plan, shard, dir } = scene;
      const find = async (wanted = plan) => (await unfinishedJournalOf(wanted, new DurableFs()))?.path ?? null;
      expect(await find()).to.equal(null);
      const first = applied(plan);
      expect(await find(), 'it is finished').to.equal(null);
      await undone(first);
      const elsewhere = path.join(dir, 'elsewhere');
      const dying: FsHook = ({ path: at }) => {
        if (path.dirname(at) === shard) throw new Killed();
      };
      expect(() => applied(plan, requestWith(dying, { journal: elsewhere }))).to.throw(Killed);
      expect(await find()).to.equal(elsewhere);
      expect(await find({ ...plan, notes: ['another'] })).to.equal(null);
      writeFileSync(path.join(elsewhere, 'plan.json'), encodePlan({ ...plan, notes: ['another'] }));
      expect(await find(), 'its journal contradicts itself').to.equal(null);
    }, tornTail()));

  it('is not the one of another plan in front of it', () =>
    prepared(async ({ plan, shard }) => {
      const other = { ...plan, notes: ['another'] };
      const dying: FsHook = ({ path: changed }) => {
        if (path.dirname(changed) === shard) throw new Killed();
      };
      const begun = (each: Plan, day: number) => {
        const around = { ...later(), now: () => new Date(`2030-01-0${day}T00:00:00Z`) };
        expect(() => applied(each, requestWith(dying, { around }))).to.throw(Killed);
        return unfinished(shard);
      };
      const first = begun(other, 1);
      renameSync(first, `${first}.away`);
      const second = begun(plan, 2);
      renameSync(`${first}.away`, first);
      expect(journalsBeside(shard).map(({ path: journal }) => journal)).to.deep.equal([first, second]);
      expect((await unfinishedJournalOf(plan, new DurableFs()))?.path).to.equal(second);
      expect((await unfinishedJournalOf(other, new DurableFs()))?.path).to.equal(first);
    }, tornTail()));

  it('may be taken back just as well', () =>
    prepared(async (scene) => {
      const before = treeOf(scene.shard);
      const journal = halfApplied(scene);
      expect(() => applied(scene.plan, requestWith(killedAt(1000)))).to.throw('was not finished');
      expect(await undoTask(journal, { fs: new DurableFs(), around: later() })).to.include({ is: 'undo' });
      await undone(journal);
      expect(treeOf(scene.shard)).to.deep.equal(before);
    }));
});
