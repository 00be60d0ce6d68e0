/** What must hold before a file of a shard is changed: every reason to refuse is told, and nothing else is. */
import { chownSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { NO_LOSS, type Plan, type PlanStep } from '../../src/domain/plan.js';
import { inShort } from '../../src/repair/plan-parts.js';
import { checkPreconditions, type Expectation, type Surroundings } from '../../src/repair/preconditions.js';
import { fakeProc, quietProc } from '../builders/fake-proc.js';
import { FRAME, held, stateOf } from '../builders/plan-inputs.js';
import { later, withMemoryDir } from '../builders/repairs.js';
import { prediction } from '../builders/reports.js';
import { indexName, logName, SHARD_DIR_NAME, writeShardBelow } from '../builders/shards.js';

const bytes = (text: string) => new TextEncoder().encode(text);
/** What the files of the shard hold, in front of the plan. */
const BEFORE = { epochs: bytes('old epochs'), producers: bytes('snapshot'), replica: bytes('untouched') };
const AFTER = bytes('new');
const BEGIN: Expectation = { allowed: ['before'], ignoreTimes: false, journal: null };
const RESUME: Expectation = { ...BEGIN, allowed: ['before', 'after'] };
const UNDO: Expectation = { ...BEGIN, allowed: ['after'] };
/** For the record, the plan and directories. */
const SLACK = 1024 * 1024;

function step(file: string, before: PlanStep['before'], after: PlanStep['after'], parts: Partial<PlanStep> = {}) {
  const content = after === null ? [] : held(AFTER);
  return { action: 'rewrite', file, before, after, content, ranges: [], why: '', answers: [], ...parts } as PlanStep;
}

/** Rewrites `epochs`, takes `producers` away and makes an index; `replica` is left alone. */
const STEPS = [
  step('epochs', stateOf(BEFORE.epochs), stateOf(AFTER)),
  step('producers', stateOf(BEFORE.producers), null),
  step(indexName(0), null, stateOf(AFTER)),
];

interface Prepared {
  readonly dir: string;
  readonly shard: string;
  readonly plan: Plan;
  readonly around: Surroundings;
  write(file: string, content: string): void;
  remove(file: string): void;
  check(expected?: Expectation, around?: Partial<Surroundings>, steps?: readonly PlanStep[]): string[];
}

/** A shard on disk, the plan for it, and surroundings in which nothing speaks against it. */
function prepared(work: (made: Prepared) => void): Promise<void> {
  return withMemoryDir((dir) => {
    const shard = writeShardBelow(new Map(Object.entries(BEFORE)), path.join(dir, 'root'));
    const before = inShort(prediction());
    const plan: Plan = {
      schema: 'felix-fsck.plan/1',
      ...FRAME,
      command: 'heal',
      shard: { path: shard, name: SHARD_DIR_NAME, key: null },
      files: Object.entries(BEFORE).map(([file, content]) => ({ file, ...stateOf(content), mtimeNs: 1n })),
      steps: STEPS,
      loses: NO_LOSS,
      before,
      after: before,
      notes: [],
    };
    const around = later(quietProc(path.join(dir, 'proc')));
    work({
      dir,
      shard,
      plan,
      around,
      write: (file, content) => writeFileSync(path.join(shard, file), content),
      remove: (file) => rmSync(path.join(shard, file)),
      check: (expected = BEGIN, more = {}, steps = STEPS) => {
        const { refusals } = checkPreconditions({ ...plan, steps }, { ...around, ...more }, expected);
        return [...refusals];
      },
    });
  });
}

/** As after the plan. */
function carriedOut({ write, remove }: Prepared): void {
  write('epochs', 'new');
  remove('producers');
  write(indexName(0), 'new');
}

describe('a shard that is as the plan says', () => {
  it('has nothing against it, and its files are those that are there', () =>
    prepared(({ plan, around, shard }) => {
      const { refusals, notes, facts } = checkPreconditions(plan, around, BEGIN);
      expect([refusals, notes]).to.deep.equal([[], []]);
      expect([...facts.keys()]).to.deep.equal(['epochs', 'producers', 'replica']);
      expect(facts.get('epochs')!.inode).to.equal(statSync(path.join(shard, 'epochs'), { bigint: true }).ino);
    }));

  it('may be before or after each step when it is taken up again, and must be after when it is undone', () =>
    prepared((made) => {
      const { check, write } = made;
      expect(check(RESUME)).to.deep.equal([]);
      write('epochs', 'new');
      expect(check(RESUME)).to.deep.equal([]);
      carriedOut(made);
      expect(check(RESUME)).to.deep.equal([]);
      const back = checkPreconditions(made.plan, made.around, UNDO);
      expect(back).to.deep.include({ refusals: [], notes: [] });
      expect([...back.facts.keys()]).to.deep.equal(['epochs', 'replica', indexName(0)]);
    }));
});

describe('a file that is not as the plan says', () => {
  it('is refused with what differs, one sentence a file', () =>
    prepared(({ check, write, remove }) => {
      write('epochs', 'OLD EPOCHS');
      remove('producers');
      write('replica', 'longer than it was');
      write(indexName(0), 'new');
      expect(check()).to.deep.equal([
        'epochs does not hold the same bytes as when the plan was made',
        'producers is gone, and not there as when the plan was made',
        'replica has 18 bytes, and not 9 as when the plan was made',
        `${indexName(0)} is there, and not away as when the plan was made`,
      ]);
    }));

  it('is held to either state when the repair is taken up again', () =>
    prepared(({ check, write }) => {
      write('epochs', '12345');
      write('producers', '12345');
      write(indexName(0), '12345');
      expect(check(RESUME)).to.deep.equal([
        'epochs has 5 bytes, and not 10 or 3 as when the plan was made',
        'producers has 5 bytes, and not 8 as when the plan was made',
        `${indexName(0)} has 5 bytes, and not 3 as when the plan was made`,
      ]);
    }));

  it('is held to what the repair left when it is undone, and the rest to the plan', () =>
    prepared((made) => {
      carriedOut(made);
      made.write('producers', 'snapshot');
      made.write('replica', 'UNTOUCHED');
      made.remove('epochs');
      expect(made.check(UNDO)).to.deep.equal([
        'epochs is gone, and not there as the repair left it',
        'producers is there, and not away as the repair left it',
        'replica does not hold the same bytes as the repair left it',
      ]);
    }));

  it('is not looked at through a link, or when it is a directory', () =>
    prepared(({ check, shard, remove, dir }) => {
      writeFileSync(path.join(dir, 'elsewhere'), BEFORE.epochs);
      remove('epochs');
      symlinkSync(path.join(dir, 'elsewhere'), path.join(shard, 'epochs'));
      mkdirSync(path.join(shard, indexName(0)));
      expect(check()).to.deep.equal([
        'epochs is a symbolic link, and nothing is changed through one',
        `${indexName(0)} is not a regular file`,
      ]);
    }));

  it('is refused when it is new and a broker would look at it', () =>
    prepared(({ check, write }) => {
      for (const name of [logName(3), '7.log', 'ballot', 'notes.txt']) write(name, '');
      expect(check()).to.deep.equal(
        [logName(3), '7.log', 'ballot'].map((name) => `${name} is new since the plan was made`),
      );
    }));
});

describe('a shard that is not where it was', () => {
  const verdictAt = (made: Prepared, at: string) =>
    checkPreconditions({ ...made.plan, shard: { ...made.plan.shard, path: at } }, made.around, BEGIN);

  it('is refused for that alone', () =>
    prepared((made) => {
      const { dir, shard } = made;
      symlinkSync(shard, path.join(dir, 'link'));
      writeFileSync(path.join(dir, 'file'), '');
      const cases = [
        [path.join(dir, 'gone'), / is not there any more: /],
        [path.join(dir, 'link'), / now leads through a symbolic link/],
        [path.join(dir, 'file'), / is not a directory$/],
      ] as const;
      for (const [at, words] of cases) {
        const { refusals, notes, facts } = verdictAt(made, at);
        expect([refusals.length, notes, facts.size], at).to.deep.equal([1, [], 0]);
        expect(refusals[0]).to.match(words);
      }
    }));
});

describe('signs of life', () => {
  it('stand in front of the other reasons, with what is unknown in the notes', () =>
    prepared(({ plan, around, dir, write, shard }) => {
      write('epochs', 'new');
      const proc = fakeProc(path.join(dir, 'busy'), {
        5: { holds: [path.join(shard, 'replica')] },
        6: { holds: 'hidden' },
      });
      const now = () => new Date();
      const { refusals, notes } = checkPreconditions(plan, { ...around, proc, now }, BEGIN);
      expect(refusals.map((refusal) => refusal.replace(/^(.*?) (holds|was|has) .*/, '$1 $2'))).to.deep.equal([
        'process 5 (program unknown) holds',
        'epochs was',
        'epochs has',
      ]);
      expect(notes).to.have.lengthOf(1);
      expect(notes[0]).to.match(/^1 process could not/);
    }));

  it('leave out our own process, and times that are ours', () =>
    prepared(({ check, dir, shard, around }) => {
      const proc = fakeProc(path.join(dir, 'own'), { [around.pid]: { holds: [path.join(shard, 'replica')] } });
      const now = () => new Date();
      expect(check({ ...BEGIN, ignoreTimes: true }, { proc, now })).to.deep.equal([]);
      expect(check(BEGIN, { proc, now })).to.have.lengthOf(1);
    }));
});

describe('a directory that may not be written to', () => {
  it('is refused, to root as well', function () {
    if (process.platform !== 'linux') this.skip();
    return prepared(({ plan, around }) => {
      const shard = { path: '/proc/sys', name: 'sys', key: null };
      const { refusals } = checkPreconditions({ ...plan, shard, files: [], steps: [] }, around, BEGIN);
      expect(refusals).to.include('/proc/sys may not be written to by this user');
    });
  });
});

describe('owner and group', () => {
  const me = process.geteuid!();
  /** Gives the files to somebody who is not root, where this process may. */
  const owned = (work: (made: Prepared & { readonly uid: number; readonly gid: number }) => void) =>
    prepared((made) => {
      const [uid, gid] = me === 0 ? [1234, 2345] : [me, process.getegid!()];
      if (me === 0) for (const file of ['epochs', 'producers']) chownSync(path.join(made.shard, file), uid, gid);
      work({ ...made, uid, gid });
    });

  it('can be kept by the owner who is in the group', () =>
    owned(({ check, plan, around, uid, gid }) => {
      expect(check(BEGIN, { uid, groups: [gid] })).to.deep.equal([]);
      expect(checkPreconditions(plan, { ...around, uid, groups: [gid + 1] }, BEGIN)).to.deep.include({
        refusals: [`the files' group ${gid} could not be kept by this user`],
        notes: [],
      });
    }));

  it('can be kept by root in any group', () =>
    prepared(({ check }) => {
      expect(check(BEGIN, { uid: 0, groups: [] })).to.deep.equal([]);
    }));

  it('cannot be kept by another, and root is told whose the files are', () =>
    owned(({ plan, around, uid, gid }) => {
      expect(checkPreconditions(plan, { ...around, uid: uid + 1, groups: [gid] }, BEGIN)).to.deep.include({
        refusals: [`the files belong to user ${uid}, and only that user or root can keep it so; this is ${uid + 1}`],
        notes: [],
      });
      const noted = (user: string | null) => checkPreconditions(plan, { ...around, uid: 0, groups: [], user }, BEGIN);
      const theirs = `while the files belong to user ${uid}; they stay that user's`;
      expect(noted('ada')).to.deep.include({ refusals: [], notes: [`run as ada (0), ${theirs}`] });
      expect(noted(null)).to.deep.include({ refusals: [], notes: [`run as this user (0), ${theirs}`] });
    }));

  it('do not count for files that no step changes', () =>
    owned(({ check, gid }) => {
      const steps = STEPS.filter(({ before }) => before === null);
      expect(check(BEGIN, { uid: 4321, groups: [gid] }, steps)).to.deep.equal([]);
    }));
});

describe('room', () => {
  const HUGE = 2 ** 52;
  const huge = (before: number | null, after: number | null) => [
    step(
      indexName(0),
      before === null ? null : { size: before, crc32: '0x00000000' },
      after === null ? null : { size: after, crc32: '0x00000000' },
    ),
    ...STEPS.slice(0, 2),
  ];
  const roomIn = (refusals: readonly string[]) => refusals.filter((refusal) => refusal.includes('free bytes'));
  const HELD = 4 + 4;
  const OLD_BYTES = 10 + 8;

  it('is needed for new content and what the plan holds, where the journal is beside the shard', () =>
    prepared(({ check, shard }) => {
      const expected = HUGE + AFTER.length + HELD + SLACK;
      expect(check(BEGIN, {}, huge(null, HUGE))).to.deep.equal([
        `${expected} free bytes are needed where ${shard} is, and there are fewer`,
      ]);
      expect(roomIn(check(BEGIN, {}, huge(HUGE, null)))).to.deep.equal([]);
      expect(roomIn(check(RESUME, {}, huge(null, HUGE)))).to.deep.equal([]);
      expect(roomIn(check(UNDO, {}, huge(null, HUGE)))).to.deep.equal([]);
    }));

  it('is not needed for content that is taken from elsewhere', () =>
    prepared(({ check }) => {
      const content = [{ from: 'itself', start: 0, end: 3 } as const];
      const steps = [step('epochs', stateOf(BEFORE.epochs), { size: HUGE, crc32: '0x00000000' }, { content })];
      expect(check(BEGIN, {}, steps)[0]).to.match(new RegExp(`^${HUGE + SLACK} free bytes`));
    }));

  it('is needed on both file systems where the journal is on another, which is noted', function () {
    if (process.platform !== 'linux') this.skip();
    return prepared(({ plan, around, shard }) => {
      const elsewhere = { ...BEGIN, journal: '/proc/not-there/below' };
      const verdict = (steps: PlanStep[]) => checkPreconditions({ ...plan, steps }, around, elsewhere);
      const home = (bytesNeeded: number) => `${bytesNeeded} free bytes are needed where /proc is, and there are fewer`;
      const small = verdict(STEPS.slice(0, 2));
      expect(small.refusals).to.deep.equal([home(OLD_BYTES + 4 + SLACK)]);
      expect(small.notes).to.have.lengthOf(1);
      expect(small.notes[0]).to.match(/^the journal is on another file system/);
      expect(roomIn(verdict(huge(HUGE, HUGE)).refusals)).to.deep.equal([
        `${HUGE + AFTER.length + SLACK} free bytes are needed where ${shard} is, and there are fewer`,
        home(HUGE + OLD_BYTES + HELD + SLACK),
      ]);
    });
  });

  it('is asked for in the root when nothing nearer is there', () =>
    prepared(({ plan, around, shard }) => {
      const journal = '/felix-fsck-not-there/below';
      const steps = huge(HUGE, HUGE);
      const said = roomIn(checkPreconditions({ ...plan, steps }, around, { ...BEGIN, journal }).refusals);
      const apart = statSync('/').dev !== statSync(shard).dev;
      expect(said).to.have.lengthOf(apart ? 2 : 1);
      expect(said.at(-1)).to.contain(` free bytes are needed where ${apart ? '/' : shard} is, `);
    }));
});
