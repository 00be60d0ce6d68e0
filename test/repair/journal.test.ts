/** A journal keeps every old file durably before anything is changed, and is believed only when it is whole. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { DurableFs, type FsHook, WriteFailure } from '../../src/repair/durable-fs.js';
import { clearJournal, freeJournalPath, Journal, parentOf } from '../../src/repair/journal.js';
import { JOURNAL_SCHEMA, JOURNAL_STATES, type JournalState } from '../../src/repair/journal-record.js';
import { encodePlan, planDigest } from '../../src/repair/plan-file.js';
import { NotAsPlanned } from '../../src/repair/steps.js';
import { ReadFailure } from '../../src/store/byte-source.js';
import { pathFacts } from '../../src/store/path-facts.js';
import { tornTail } from '../builders/broken-shards.js';
import {
  applied,
  failingAt,
  Killed,
  killedAt,
  openJournal,
  type Prepared,
  prepared,
  requestWith,
} from '../builders/repairs.js';
import { systemCallsOf } from '../builders/system-calls.js';
import { hashTree } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const BEGUN = '2026-01-01T00:00:00.000Z';
const LATER = new Date('2026-01-02T03:04:05.678Z');

function begunFor(shard: string) {
  const who = { uid: 7, user: null, host: 'here' };
  const tool = { name: 'felix-fsck', version: '0' };
  const directoryMtimeNs = 1_767_225_600_123_456_789n;
  return { schema: JOURNAL_SCHEMA, shard, tool, who, startedAt: BEGUN, changedAt: BEGUN, directoryMtimeNs } as const;
}

/** The record as it lies on disk for a plan. */
function recordOf(plan: Plan, state: JournalState, changedAt: string, kept: readonly unknown[]) {
  const { directoryMtimeNs, ...begun } = begunFor(plan.shard.path);
  const digest = planDigest(plan);
  return { ...begun, changedAt, directoryMtimeNs: String(directoryMtimeNs), state, plan: digest, kept };
}

const recordIn = (journal: string) => JSON.parse(readFileSync(path.join(journal, 'journal.json'), 'utf8')) as unknown;

/** A journal beside a shard with a torn tail, whose one step cuts the newest segment. */
function withJournal(work: (made: Made) => void | Promise<void>, hook: FsHook = () => {}): Promise<void> {
  return prepared((scene) => {
    const fs = new WatchedFs(hook);
    const at = path.join(scene.dir, 'journal');
    const journal = Journal.create(fs, at, scene.plan, begunFor(scene.shard));
    const step = scene.plan.steps.find(({ before }) => before !== null)!;
    const source = path.join(scene.shard, step.file);
    return work({ ...scene, fs, journal, step, source, kept: path.join(at, 'old', step.file) });
  }, tornTail());
}

interface Made extends Prepared {
  readonly fs: WatchedFs;
  readonly journal: Journal;
  readonly step: Plan['steps'][number];
  /** The file of the step, in the shard. */
  readonly source: string;
  /** Where the journal keeps it. */
  readonly kept: string;
}

/** A file is put in its place durably: written aside, synced, renamed. */
const put = (name: string) => [
  `create ${name}.tmp`,
  `write ${name}.tmp`,
  `sync ${name}.tmp`,
  `rename ${name} <- ${name}.tmp`,
  'sync-directory .',
];

describe('a journal that is begun', () => {
  it('has its record before anything else in it, and its own name last', () =>
    withJournal(({ fs, journal, plan, dir }) => {
      expect(fs.told(journal.path)).to.deep.equal([
        'make-directory .',
        'set-mode .',
        ...put('journal.json'),
        'make-directory old',
        'set-mode old',
        ...put('plan.json'),
        'sync-directory ..',
      ]);
      expect(recordIn(journal.path)).to.deep.equal(recordOf(plan, 'preparing', BEGUN, []));
      expect(readFileSync(path.join(journal.path, 'plan.json'))).to.deep.equal(Buffer.from(encodePlan(plan)));
      expect([journal.state, journal.path]).to.deep.equal(['preparing', path.join(dir, 'journal')]);
    }));

  it('in a directory that is there makes that private first', () =>
    prepared(({ dir, plan, shard }) => {
      const at = path.join(dir, 'there');
      mkdirSync(at, { mode: 0o755 });
      const fs = new WatchedFs();
      Journal.create(fs, at, plan, begunFor(shard));
      expect(fs.told(at).slice(0, 2)).to.deep.equal(['set-mode .', 'create journal.json.tmp']);
      expect(statSync(at).mode & 0o777).to.equal(0o700);
    }, tornTail()));

  it('replaces what an earlier attempt left under a temporary name', () =>
    withJournal(({ fs, journal }) => {
      writeFileSync(path.join(journal.path, 'receipt.json.tmp'), 'half');
      fs.told(journal.path);
      journal.writeReceipt('{"it":"is done"}\n');
      expect(fs.told(journal.path)).to.deep.equal(['unlink receipt.json.tmp', ...put('receipt.json')]);
      expect(readFileSync(path.join(journal.path, 'receipt.json'), 'utf8')).to.equal('{"it":"is done"}\n');
    }));
});

describe('an old file', () => {
  it('is kept as the very file it was, and the record says what it was like', () =>
    withJournal(({ fs, journal, step, shard, source, kept, plan }) => {
      chmodSync(source, 0o604);
      const facts = pathFacts(source)!;
      fs.told(journal.path);
      journal.keep(shard, step, facts);
      const name = `old/${step.file}`;
      expect(fs.told(journal.path)).to.deep.equal([
        `link ${name} <- ${path.relative(journal.path, source)}`,
        `sync ${name}`,
      ]);
      expect(pathFacts(kept)?.inode).to.equal(facts.inode);
      const { uid, gid, mtimeNs } = facts;
      const entry = { file: step.file, ...step.before, how: 'link', mode: 0o604, uid, gid, mtimeNs };
      expect(journal.keptOf(step.file)).to.deep.equal(entry);
      expect(journal.keptOf('replica')).to.equal(null);
      journal.enter('applying', LATER);
      expect(fs.told(journal.path)).to.deep.equal(['sync-directory old', ...put('journal.json')]);
      const written = [{ ...entry, mtimeNs: String(mtimeNs) }];
      expect(recordIn(journal.path)).to.deep.equal(recordOf(plan, 'applying', LATER.toISOString(), written));
    }));

  for (const code of ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']) {
    it(`is copied, for its owner's eyes alone, where a second name is ${code}`, () =>
      withJournal(
        ({ fs, journal, step, shard, source, kept }) => {
          const facts = pathFacts(source)!;
          fs.told(journal.path);
          const { thrown, leftOpen } = systemCallsOf(() => journal.keep(shard, step, facts));
          expect([thrown, leftOpen]).to.deep.equal([null, []]);
          const name = `old/${step.file}`;
          const [link, ...copy] = fs.told(journal.path);
          expect(link).to.match(/^link /);
          expect(copy).to.deep.equal([`create ${name}`, `write ${name}`, `sync ${name}`]);
          expect(readFileSync(kept).equals(readFileSync(source))).to.equal(true);
          const { mode, uid, gid } = pathFacts(kept)!;
          const own = pathFacts(journal.path)!;
          expect([mode, uid, gid]).to.deep.equal([0o600, own.uid, own.gid]);
          expect(journal.keptOf(step.file)).to.deep.include({ how: 'copy', mode: facts.mode, mtimeNs: facts.mtimeNs });
        },
        refusing('link', { code }),
      ));
  }

  for (const code of ['ENOSPC', 'EIO', 'EEXIST']) {
    it(`is not kept at all where a second name is ${code}`, () =>
      withJournal(
        ({ journal, step, shard, source, kept }) => {
          expect(() => journal.keep(shard, step, pathFacts(source)!))
            .to.throw(WriteFailure)
            .and.include({ code });
          expect([existsSync(kept), journal.keptOf(step.file)]).to.deep.equal([false, null]);
        },
        refusing('link', { code }),
      ));
  }

  it('is not copied by a process that dies where it would be linked', () => {
    const dying: FsHook = ({ kind }) => {
      if (kind === 'link') throw new Killed();
    };
    return withJournal(({ journal, step, shard, source, kept }) => {
      expect(() => journal.keep(shard, step, pathFacts(source)!)).to.throw(Killed);
      expect(existsSync(kept)).to.equal(false);
    }, dying);
  });

  for (const how of ['link', 'copy'] as const) {
    it(`that is changed while it is kept is told: by ${how}`, () =>
      withJournal(
        ({ journal, step, shard, source }) => {
          const facts = pathFacts(source)!;
          utimesSync(source, 1, 1);
          expect(() => journal.keep(shard, step, facts)).to.throw(
            NotAsPlanned,
            `${step.file} changed while it was kept`,
          );
          expect(journal.keptOf(step.file)).to.equal(null);
        },
        how === 'copy' ? refusing('link', { code: 'EXDEV' }) : () => {},
      ));
  }

  it('whose bytes are not those of the plan is not taken for a copy', () =>
    withJournal(
      ({ journal, step, shard, source }) => {
        const bytes = readFileSync(source);
        bytes[40]! ^= 1;
        writeFileSync(source, bytes);
        const { thrown, leftOpen } = systemCallsOf(() => journal.keep(shard, step, pathFacts(source)!));
        expect(thrown).to.be.instanceOf(NotAsPlanned);
        expect(String(thrown)).to.contain(`the new content of ${step.file} is not what the plan says`);
        expect(leftOpen).to.deep.equal([]);
      },
      refusing('link', { code: 'EXDEV' }),
    ));

  it('is what was kept, and not what has its name a moment later', () => {
    let source = '';
    const replacing: FsHook = ({ kind }) => {
      if (kind !== 'sync' || source === '') return;
      writeFileSync(`${source}.new`, 'another file');
      renameSync(`${source}.new`, source);
    };
    return withJournal((made) => {
      const facts = pathFacts(made.source)!;
      const old = readFileSync(made.source);
      source = made.source;
      made.journal.keep(made.shard, made.step, facts);
      source = '';
      expect(readFileSync(made.kept).equals(old)).to.equal(true);
      expect(made.journal.keptOf(made.step.file)).to.deep.include({ how: 'link', mtimeNs: facts.mtimeNs });
    }, replacing);
  });

  it('is kept before anything is changed, and where there is one', () =>
    withJournal(({ journal, step, shard, source }) => {
      const facts = pathFacts(source)!;
      expect(() => journal.keep(shard, { ...step, before: null }, facts)).to.throw('broken assumption');
      journal.enter('applying', LATER);
      expect(() => journal.keep(shard, step, facts)).to.throw('broken assumption');
    }));

  it('is for its owner alone once the shard has another in its place', () =>
    withJournal(({ fs, journal, step, shard, source, kept }) => {
      chmodSync(source, 0o644);
      fs.told(journal.path);
      journal.closeOff(step.file);
      expect(fs.told(journal.path), 'nothing is kept yet').to.deep.equal([]);
      journal.keep(shard, step, pathFacts(source)!);
      fs.told(journal.path);
      journal.closeOff(step.file);
      expect(fs.told(journal.path)).to.deep.equal([`set-mode old/${step.file}`]);
      expect(statSync(kept).mode & 0o777).to.equal(0o600);
      journal.closeOff(step.file);
      renameSync(kept, `${kept}.away`);
      journal.closeOff(step.file);
      expect(fs.told(journal.path), 'once is enough').to.deep.equal([]);
    }));
});

describe('the states of a journal', () => {
  const ways: { readonly [S in JournalState]: readonly JournalState[] } = {
    preparing: ['applying'],
    applying: ['applied', 'undoing'],
    applied: ['undoing'],
    undoing: ['undone'],
    undone: [],
  };
  const wayTo: { readonly [S in JournalState]: readonly JournalState[] } = {
    preparing: [],
    applying: ['applying'],
    applied: ['applying', 'applied'],
    undoing: ['applying', 'undoing'],
    undone: ['applying', 'undoing', 'undone'],
  };
  for (const from of JOURNAL_STATES) {
    it(`from ${from} it goes to ${ways[from].join(' or ') || 'no other'}`, () =>
      withJournal(({ journal, plan, shard, dir }) => {
        for (const to of JOURNAL_STATES) {
          const each = Journal.create(new DurableFs(), path.join(dir, `to-${to}`), plan, begunFor(shard));
          for (const state of wayTo[from]) each.enter(state, LATER);
          if (ways[from].includes(to)) {
            each.enter(to, LATER);
            expect(recordIn(each.path)).to.deep.include({ state: to, changedAt: LATER.toISOString() });
          } else {
            expect(() => each.enter(to, LATER)).to.throw('broken assumption');
            expect(recordIn(each.path)).to.deep.include({ state: from });
          }
        }
        expect(journal.state).to.equal('preparing');
      }));
  }
});

describe('a journal that is opened', () => {
  it('is as it was closed, times to the nanosecond', () =>
    withJournal(async ({ journal, step, shard, source, plan }) => {
      journal.keep(shard, step, pathFacts(source)!);
      journal.enter('applying', LATER);
      const opened = await openJournal(journal.path);
      expect(opened.record).to.deep.equal(journal.record);
      expect([opened.plan, opened.path, opened.state]).to.deep.equal([plan, journal.path, 'applying']);
    }));

  const changes: readonly (readonly [string, (journal: string, plan: Plan) => void, RegExp])[] = [
    ['no JSON', (at) => rewritten(at, (text) => text.slice(0, -9)), /^holds a record that is not JSON$/],
    [
      'a state of its own',
      (at) => rewritten(at, (text) => text.replace('"preparing"', '"prepared"')),
      /^holds a record that this build does not take$/,
    ],
    [
      'a plan that was changed',
      (at) => writeFileSync(path.join(at, 'plan.json'), '{}'),
      /^holds a plan that is not a plan/,
    ],
    [
      'another plan',
      (at, plan) => writeFileSync(path.join(at, 'plan.json'), encodePlan({ ...plan, notes: ['another'] })),
      /^holds another plan than its record says$/,
    ],
    [
      'another shard',
      (at, plan) => rewritten(at, (text) => text.replace(plan.shard.path, `${plan.shard.path}1`)),
      /^holds a plan for another shard than its record says$/,
    ],
  ];
  for (const [what, change, said] of changes) {
    it(`is not believed with ${what} in it`, () =>
      withJournal(async ({ journal, plan }) => {
        change(journal.path, plan);
        expect(await Journal.open(new DurableFs(), journal.path)).to.match(said);
      }));
  }

  it('is none where the record or the plan is not there', () =>
    withJournal(async ({ journal }) => {
      for (const name of ['plan.json', 'journal.json']) {
        renameSync(path.join(journal.path, name), path.join(journal.path, 'away'));
        const failure = await Journal.open(new DurableFs(), journal.path).catch((error: unknown) => error);
        expect(failure, name).to.be.instanceOf(ReadFailure).and.include({ code: 'ENOENT' });
      }
    }));
});

/** Puts another text in place of the record. */
function rewritten(journal: string, change: (text: string) => string): void {
  const file = path.join(journal, 'journal.json');
  const text = readFileSync(file, 'utf8');
  expect(change(text)).to.not.equal(text);
  writeFileSync(file, change(text));
}

describe('a journal in which nothing was begun', () => {
  it('goes whole, the links to it first, and its directory is durably without it', () =>
    withJournal(({ fs, journal, step, shard, source, dir }) => {
      journal.keep(shard, step, pathFacts(source)!);
      const name = path.basename(shard);
      const [own, other, nowhere] = ['0', '1', '2'].map((day) => `.${name}.felix-fsck-2026010${day}T000000Z`);
      symlinkSync('journal', path.join(dir, own!));
      mkdirSync(path.join(dir, 'another'));
      symlinkSync('another', path.join(dir, other!));
      symlinkSync('nowhere', path.join(dir, nowhere!));
      writeFileSync(path.join(journal.path, 'plan.json.tmp'), '');
      writeFileSync(path.join(journal.path, 'journal.json.tmp'), '');
      const before = hashTree(shard);
      fs.told(dir);
      clearJournal(fs, journal.path);
      expect(fs.told(dir)).to.deep.equal([
        `unlink ${own}`,
        'sync-directory .',
        `unlink journal/old/${step.file}`,
        'unlink journal/plan.json.tmp',
        'unlink journal/plan.json',
        'unlink journal/journal.json.tmp',
        'unlink journal/journal.json',
        'remove-directory journal/old',
        'remove-directory journal',
        'sync-directory .',
      ]);
      expect(readdirSync(dir).sort()).to.deep.equal([other, nowhere, name, 'another'].sort());
      expect(hashTree(shard)).to.deep.equal(before);
    }));

  it('leaves names that are not ours, and says so by the directory that stays', () =>
    withJournal(({ fs, journal }) => {
      writeFileSync(path.join(journal.path, 'notes.txt'), 'not ours');
      clearJournal(fs, journal.path);
      expect(readdirSync(journal.path)).to.deep.equal(['notes.txt']);
    }));

  it('leaves names that are not ours among the old files too, and fails by them', () =>
    withJournal(({ fs, journal }) => {
      writeFileSync(path.join(journal.path, 'old', 'notes.txt'), 'not ours');
      expect(() => clearJournal(fs, journal.path))
        .to.throw(WriteFailure)
        .and.include({ code: 'ENOTEMPTY' });
      expect(readdirSync(path.join(journal.path, 'old'))).to.deep.equal(['notes.txt']);
    }));

  it('goes when it has no record yet', () =>
    prepared(({ dir, shard }) => {
      const at = path.join(dir, `.${path.basename(shard)}.felix-fsck-20260101T000000Z`);
      mkdirSync(at);
      const fs = new WatchedFs();
      clearJournal(fs, at);
      expect(fs.told(dir)).to.deep.equal([`remove-directory ${path.basename(at)}`, 'sync-directory .']);
    }, tornTail()));

  it('leaves another journal beside the shard alone', () =>
    prepared(({ dir, plan, shard }) => {
      expect(() => applied(plan, requestWith(killedAt(20)))).to.throw(Killed);
      const [killed] = readdirSync(dir).filter((name) => name.startsWith('.'));
      const journal = Journal.create(new DurableFs(), path.join(dir, 'journal'), plan, begunFor(shard));
      clearJournal(new DurableFs(), journal.path);
      expect(readdirSync(dir).sort()).to.deep.equal([killed, path.basename(shard)].sort());
    }));

  it('stays when a link to it cannot be taken away', () =>
    withJournal(({ journal, shard, dir }) => {
      const link = path.join(dir, `.${path.basename(shard)}.felix-fsck-20260101T000000Z`);
      symlinkSync('journal', link);
      expect(() => clearJournal(new DurableFs(failingAt(0, 'EIO')), journal.path)).to.throw(WriteFailure);
      expect([lstatSync(link).isSymbolicLink(), existsSync(path.join(journal.path, 'journal.json'))]).to.deep.equal([
        true,
        true,
      ]);
    }));
});

describe('the name of a journal beside the shard', () => {
  const at = new Date('2026-03-04T05:06:07.890Z');
  const name = '.orders.felix-fsck-20260304T050607Z';

  it('has its time in it, and a number from the second in a second on', () =>
    prepared(({ dir }) => {
      const shard = path.join(dir, 'orders');
      for (const expected of [name, `${name}-2`, `${name}-3`]) {
        expect(freeJournalPath(shard, at)).to.equal(path.join(dir, expected));
        if (expected.endsWith('-2')) symlinkSync('nowhere', path.join(dir, expected));
        else mkdirSync(path.join(dir, expected));
      }
    }, tornTail()));

  it('is refused to the one after a thousand', () =>
    prepared(({ dir }) => {
      const shard = path.join(dir, 'orders');
      mkdirSync(path.join(dir, name));
      for (let number = 2; number < 1000; number++) mkdirSync(path.join(dir, `${name}-${number}`));
      expect(freeJournalPath(shard, at)).to.equal(path.join(dir, `${name}-1000`));
      mkdirSync(path.join(dir, `${name}-1000`));
      expect(() => freeJournalPath(shard, at)).to.throw('broken assumption');
    }, tornTail()));

  it('lies in the directory above, which may be the root of all', () => {
    expect(parentOf('/data/orders')).to.equal('/data');
    expect(parentOf('/orders')).to.equal('/');
  });
});
