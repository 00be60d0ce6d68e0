/** A plan is carried out only on the very bytes that it was made for, on a shard that looks stopped, and leaves it as it said. */

import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { FailureError } from '../../src/domain/result.js';
import { encodeRunState } from '../../src/format/run-state.js';
import { checkApply } from '../../src/repair/apply.js';
import { journalsBeside } from '../../src/store/journals.js';
import { blankFirst, tornEverywhere, tornTail, twoIndexes } from '../builders/broken-shards.js';
import {
  applied,
  failingAt,
  killedAt,
  later,
  planFor,
  prepared,
  requestWith,
  undone,
  withMemoryDir,
} from '../builders/repairs.js';
import { indexName, logName, writeShardBelow } from '../builders/shards.js';
import { hashTree } from '../builders/trees.js';

/** The sentence of the refusal; nothing in the shard may have changed. */
function refusal(plan: Plan, request = requestWith()): string {
  const before = hashTree(path.dirname(plan.shard.path));
  try {
    applied(plan, request);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    expect(error.failure.reason).to.equal('refused');
    expect(hashTree(path.dirname(plan.shard.path))).to.deep.equal(before);
    return error.message;
  }
  throw new Error('the plan was carried out');
}

function flipFirst(file: string): void {
  const bytes = readFileSync(file);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  writeFileSync(file, bytes);
}

describe('a plan that is carried out', () => {
  it('leaves every file as it said, and the journal private', () =>
    prepared(({ plan, shard }) => {
      const journal = applied(plan);
      for (const { file, after } of plan.steps) {
        const there = existsSync(path.join(shard, file)) ? statSync(path.join(shard, file)).size : null;
        expect(there, file).to.equal(after?.size ?? null);
      }
      expect(statSync(journal).mode & 0o777).to.equal(0o700);
      for (const name of readdirSync(journal, { recursive: true, encoding: 'utf8' })) {
        const { mode } = statSync(path.join(journal, name));
        expect(mode & 0o777, name).to.equal(name === 'old' ? 0o700 : 0o600);
      }
      expect(journalsBeside(shard).map(({ state }) => state)).to.deep.equal(['applied']);
    }));

  it('keeps mode and owner of what it writes anew, and gives a new index those of its segment', () =>
    prepared(({ plan, shard }) => {
      if (process.geteuid!() === 0) {
        for (const name of readdirSync(shard)) chownSync(path.join(shard, name), 1234, 2345);
      }
      for (const name of readdirSync(shard)) chmodSync(path.join(shard, name), 0o640);
      const [uid, gid] = process.geteuid!() === 0 ? [1234, 2345] : [process.geteuid!(), process.getegid!()];
      applied(plan);
      for (const name of readdirSync(shard)) {
        const facts = statSync(path.join(shard, name));
        expect([facts.mode & 0o777, facts.uid, facts.gid], name).to.deep.equal([0o640, uid, gid]);
      }
      expect(existsSync(path.join(shard, indexName(0)))).to.equal(true);
    }, twoIndexes()));

  it('says so when it is run as root on the files of another', function () {
    if (process.geteuid!() !== 0) this.skip();
    return prepared(({ plan, shard }) => {
      for (const name of readdirSync(shard)) chownSync(path.join(shard, name), 1234, 2345);
      expect(checkApply(plan, requestWith()).notes.join()).to.contain('while the files belong to user 1234');
    });
  });

  it('is refused to a user who could not keep the owner', () =>
    prepared(({ plan }) => {
      const around = { ...later(), uid: 4321 };
      expect(refusal(plan, requestWith(undefined, { around }))).to.contain('the files belong to user');
    }));

  it('leaves the other name of a file alone', () =>
    prepared(({ plan, shard, dir }) => {
      const backup = path.join(dir, 'backup.log');
      linkSync(path.join(shard, logName(1)), backup);
      const before = readFileSync(backup);
      applied(plan);
      expect(readFileSync(backup).equals(before)).to.equal(true);
    }));
});

describe('a plan is refused', () => {
  for (const { file } of [...tornEverywhere().image.keys()].map((name) => ({ file: name }))) {
    it(`once a byte of ${file} is another`, () =>
      prepared(({ plan, shard }) => {
        flipFirst(path.join(shard, file));
        expect(refusal(plan)).to.contain(`${file} does not hold the same bytes as when the plan was made`);
      }));
  }

  it('once a file of the format is new, whatever it is', () =>
    prepared(async ({ plan, shard }) => {
      for (const name of [logName(9), '9.log', indexName(9), 'ballot']) {
        writeFileSync(path.join(shard, name), 'x');
        expect(refusal(plan)).to.contain(`${name} is new since the plan was made`);
        rmSync(path.join(shard, name));
      }
      writeFileSync(path.join(shard, 'notes.txt'), 'strangers do not count');
      applied(plan);
    }));

  it('once a file is gone', () =>
    prepared(({ plan, shard }) => {
      rmSync(path.join(shard, 'epochs'));
      expect(refusal(plan)).to.contain('epochs is gone, and not there as when the plan was made');
    }));

  it('after the shard was moved', () =>
    prepared(({ plan, shard, dir }) => {
      renameSync(shard, path.join(dir, 'elsewhere'));
      expect(refusal(plan)).to.contain('is not there any more');
    }));

  it('when the shard is reached through a link', () =>
    prepared(({ plan, shard, dir }) => {
      renameSync(shard, path.join(dir, 'elsewhere'));
      symlinkSync('elsewhere', shard);
      expect(refusal(plan)).to.contain('symbolic link');
    }));

  it('when a file of a step is a link, even to the same bytes', () =>
    prepared(({ plan, shard, dir }) => {
      renameSync(path.join(shard, logName(1)), path.join(dir, 'outside.log'));
      symlinkSync(path.join(dir, 'outside.log'), path.join(shard, logName(1)));
      expect(refusal(plan)).to.contain(`${logName(1)} is a symbolic link`);
    }));

  it('after another plan was carried out', () =>
    prepared(async ({ plan, shard }) => {
      applied(await planFor('rebuild-index', '--all', '--partial', shard));
      expect(refusal(plan)).to.contain(indexName(1));
    }));

  it('a second time', () =>
    prepared(({ plan }) => {
      applied(plan);
      expect(refusal(plan)).to.match(/does not hold the same bytes|has .* bytes, and not|is gone/);
    }));

  it('while an earlier repair is unfinished, with both ways out', () =>
    prepared(async ({ plan, shard }) => {
      expect(() => applied(plan, requestWith(killedAt(60)))).to.throw();
      const [sighting] = journalsBeside(shard);
      expect(sighting!.state).to.equal('applying');
      const said = refusal(plan);
      expect(said)
        .to.contain(`felix-fsck apply --resume ${sighting!.path}`)
        .and.contain(`felix-fsck undo ${sighting!.path}`);
    }));

  it('when run-state above the shard says running, three directories up too', () =>
    withMemoryDir(async (dir) => {
      const { image, command } = tornTail();
      for (const below of ['', 'caches', 'groups/one']) {
        const parent = path.join(dir, below);
        mkdirSync(parent, { recursive: true });
        const plan = await planFor(...command, writeShardBelow(image, parent));
        const state = encodeRunState({ state: 'running', acknowledgesBeforeSync: true, id: '00'.repeat(16) });
        writeFileSync(path.join(dir, 'run-state'), state);
        expect(refusal(plan), below).to.contain('says that the broker is running');
      }
    }));

  it('not for a run-state that says stopped, and with a note for one that cannot be read', () =>
    prepared(({ plan, dir }) => {
      const state = encodeRunState({ state: 'stopped', acknowledgesBeforeSync: true, id: '00'.repeat(16) });
      writeFileSync(path.join(dir, 'run-state'), state);
      expect(checkApply(plan, requestWith()).refusals).to.deep.equal([]);
      writeFileSync(path.join(dir, 'run-state'), state.subarray(0, 20));
      const { refusals, notes } = checkApply(plan, requestWith());
      expect(refusals).to.deep.equal([]);
      expect(notes.join()).to.contain('run-state is damaged');
    }));

  it('while another process holds a file open', function () {
    if (process.platform !== 'linux') this.skip();
    return prepared(async ({ plan, shard }) => {
      const held = openSync(path.join(shard, logName(0)), 'r');
      const child = spawn('sleep', ['30'], { stdio: [held, 'ignore', 'ignore'] });
      closeSync(held);
      try {
        const said = refusal(plan, requestWith(undefined, { around: later('/proc') }));
        expect(said)
          .to.contain(`process ${child.pid}`)
          .and.contain(`holds ${logName(0)} open`);
      } finally {
        child.kill();
      }
    });
  });

  it('while a file was written to in the last seconds, and not a while later', () =>
    prepared(({ plan, shard }) => {
      const around = { ...later(), now: () => new Date() };
      const request = requestWith(undefined, { around });
      expect(refusal(plan, request)).to.contain('was written to within the last 5 seconds');
      for (const name of readdirSync(shard)) utimesSync(path.join(shard, name), 1_700_000_000, 1_700_000_000);
      applied(plan, request);
    }));

  it('when its journal would lie in the shard, or where something is already', () =>
    prepared(({ plan, shard, dir }) => {
      expect(refusal(plan, requestWith(undefined, { journal: path.join(shard, 'j') }))).to.contain(
        'may not lie in the shard',
      );
      mkdirSync(path.join(dir, 'full'));
      writeFileSync(path.join(dir, 'full', 'x'), '');
      expect(refusal(plan, requestWith(undefined, { journal: path.join(dir, 'full') }))).to.contain('is not empty');
    }));

  it('when new content does not come out as promised, before anything is renamed', () =>
    prepared(({ plan, shard }) => {
      const before = hashTree(shard, { directoryTimes: false });
      const steps = plan.steps.map((step) =>
        step.action === 'rebuild-index' ? { ...step, content: [{ from: 'plan' as const, base64: 'AAAA' }] } : step,
      );
      try {
        applied({ ...plan, steps });
        expect.fail('carried out');
      } catch (error) {
        expect((error as FailureError).failure.reason).to.equal('part-way');
        expect((error as Error).message).to.contain('is not what the plan says');
      }
      return undone(journalsBeside(shard)[0]!.path).then(() => {
        expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
      });
    }));
});

describe('a repair that is taken back', () => {
  it('brings back bytes, names, modes, owners and times to the nanosecond, and the journal says so', () =>
    prepared(async ({ plan, shard }) => {
      for (const name of readdirSync(shard)) chmodSync(path.join(shard, name), 0o604);
      const before = hashTree(shard, { directoryTimes: false });
      const directory = statSync(shard, { bigint: true }).mtimeNs;
      const journal = applied(plan);
      expect(hashTree(shard, { directoryTimes: false })).to.not.deep.equal(before);
      expect(await undone(journal)).to.equal('undo');
      expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
      expect(statSync(shard, { bigint: true }).mtimeNs / 1000n).to.equal(directory / 1000n);
      expect(await undone(journal)).to.equal('undone-already');
    }));

  for (const make of [tornTail, blankFirst, twoIndexes]) {
    it(`comes back whole: ${make().name}`, () =>
      prepared(async ({ plan, shard }) => {
        const before = hashTree(shard, { directoryTimes: false });
        await undone(applied(plan));
        expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
      }, make()));
  }

  it('comes back out of a journal that lies elsewhere, named by either path', () =>
    prepared(async ({ plan, shard, dir }) => {
      const before = hashTree(shard, { directoryTimes: false });
      for (const named of ['itself', 'the link beside the shard']) {
        const journal = applied(plan, requestWith(undefined, { journal: path.join(dir, `journal of ${named}`) }));
        const beside = journalsBeside(shard).find(({ state }) => state === 'applied')!;
        await undone(named === 'itself' ? journal : beside.path);
        expect(hashTree(shard, { directoryTimes: false })).to.deep.equal(before);
      }
    }));

  it('is refused once anything in the shard has moved on', () =>
    prepared(async ({ plan, shard }) => {
      const journal = applied(plan);
      const untouched = path.join(shard, 'replica');
      for (const file of [path.join(shard, logName(1)), untouched]) {
        const bytes = readFileSync(file);
        flipFirst(file);
        expect(await messageOf(undone(journal)), file).to.match(
          /does not hold the same bytes as (the repair left it|when)/,
        );
        writeFileSync(file, bytes);
      }
      writeFileSync(path.join(shard, logName(2)), 'new');
      expect(await messageOf(undone(journal))).to.contain(logName(2));
      rmSync(path.join(shard, logName(2)));
      expect(await undone(journal)).to.equal('undo');
    }));

  it('is refused when the journal no longer holds the old bytes', () =>
    prepared(async ({ plan }) => {
      const journal = applied(plan);
      flipFirst(path.join(journal, 'old', logName(1)));
      expect(await messageOf(undone(journal))).to.contain(`no longer holds the old ${logName(1)}`);
    }));

  it('is refused for what is no journal, and for one whose plan was changed', () =>
    prepared(async ({ plan, dir }) => {
      expect(await messageOf(undone(path.join(dir, 'none')))).to.contain('no such directory');
      expect(await messageOf(undone(dir))).to.contain('not a journal');
      const journal = applied(plan);
      flipFirst(path.join(journal, 'plan.json'));
      expect(await messageOf(undone(journal))).to.match(/holds a plan that/);
    }));

  it('clears away a journal in which nothing was begun', () =>
    prepared(async ({ plan, shard, dir }) => {
      const before = hashTree(dir, { directoryTimes: false });
      expect(() => applied(plan, requestWith(killedAt(20)))).to.throw();
      expect(await undone(journalsBeside(shard)[0]!.path)).to.equal('not-begun');
      expect(hashTree(dir, { directoryTimes: false })).to.deep.equal(before);
    }));
});

describe('a failure before anything was changed', () => {
  it('takes the journal away again', () =>
    prepared(({ plan, dir }) => {
      const before = hashTree(dir, { directoryTimes: false });
      for (const call of [0, 5, 12]) {
        expect(() => applied(plan, requestWith(failingAt(call, 'ENOSPC')))).to.throw(
          FailureError,
          'nothing was changed',
        );
        expect(hashTree(dir, { directoryTimes: false })).to.deep.equal(before);
      }
    }));
});

async function messageOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    return error.message;
  }
  throw new Error('it was not refused');
}
