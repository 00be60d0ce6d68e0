import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import type { Damage } from '../builders/damage.js';
import { damaged, flipBit } from '../builders/damage.js';
import { runCli } from '../builders/run-cli.js';
import {
  indexName,
  logName,
  SHARD_DIR_NAME,
  SHARD_KEY,
  threeSegments,
  writeShard,
  writeShardBelow,
} from '../builders/shards.js';
import { hashTree, withTempDir } from '../builders/trees.js';
import { type Outcome, runUnprivileged } from './run-as.js';

interface Report {
  readonly shards: readonly {
    readonly name: string;
    readonly key: string | null;
    readonly path: string;
    readonly segments: readonly { readonly records: number }[];
    readonly findings: readonly FindingJson[];
  }[];
  readonly root: { readonly findings: readonly FindingJson[] } | null;
  readonly summary: { readonly exitCode: number; readonly shards: number };
}

interface FindingJson {
  readonly kind: string;
  readonly severity: string;
  readonly file: string | null;
  readonly site: { readonly segment?: string; readonly position?: number };
}

const { image, segments } = threeSegments();

function shardIn(parent: string, ...damages: readonly Damage[]): string {
  return writeShardBelow(damaged(image, ...damages), parent);
}

async function verified(...args: readonly string[]): Promise<Report> {
  const { stdout, stderr, code } = await runCli(['verify', '--format', 'json', ...args]);
  expect(stderr).to.equal('');
  const report = JSON.parse(stdout) as Report;
  expect(code).to.equal(report.summary.exitCode);
  return report;
}

function kinds(findings: readonly FindingJson[]): string[] {
  return findings.map(({ kind, file }) => `${kind} ${file}`).sort();
}

function expectOneSentence({ code, stdout, stderr }: Outcome, exitCode: number, ...about: readonly string[]): void {
  expect(code).to.equal(exitCode);
  expect(stdout).to.equal('');
  expect(stderr).to.match(/^felix-fsck: [^\n]+\n$/);
  for (const words of about) expect(stderr).to.include(words);
}

describe('a path that is no part of a store', () => {
  it('is refused with one sentence, and nothing is made', () =>
    withTempDir(async (dir) => {
      mkdirSync(path.join(dir, 'empty', 'deeper'), { recursive: true });
      writeFileSync(path.join(dir, 'notes.txt'), 'nothing of a store\n');
      spawnSync('mkfifo', [path.join(dir, 'fifo')]);
      symlinkSync('nowhere', path.join(dir, 'dangling'));
      const before = hashTree(dir);
      for (const [name, words] of [
        ['missing', 'no such file'],
        ['dangling', 'no such file'],
        ['notes.txt/deeper', 'no such file'],
        ['empty', 'nothing of a Felix store'],
        ['empty/', 'nothing of a Felix store'],
        ['notes.txt', 'text'],
        ['fifo', 'neither a file nor a directory'],
      ] as const) {
        expectOneSentence(await runCli(['verify', `${dir}/${name}`]), 2, name, words);
        expectOneSentence(await runCli(['verify', '--format', 'json', `${dir}/${name}`]), 2, name, words);
      }
      expect(hashTree(dir)).to.deep.equal(before);
    })).timeout(60_000);

  it('is refused before anything is said of the others', () =>
    withTempDir(async (dir) => {
      const shard = shardIn(dir);
      for (const format of ['table', 'ndjson']) {
        expectOneSentence(await runCli(['verify', '--format', format, shard, `${shard}x`]), 2, `${shard}x`);
      }
    }));

  it('is named without what a terminal would obey', () =>
    withTempDir(async (dir) => {
      const name = 'red \x1b[31m\u202e and\nnew';
      writeFileSync(path.join(dir, name), 'text\n');
      for (const given of [name, `${name} gone`]) {
        expectOneSentence(await runCli(['verify', path.join(dir, given)]), 2, 'red \\x1b[31m\\u{202e} and\\x0anew');
      }
    }));
});

describe('a path', () => {
  it('may be relative, end in slashes, be "." or lead through a link', () =>
    withTempDir(async (dir) => {
      const shard = shardIn(dir);
      symlinkSync(shard, path.join(dir, 'latest'));
      const forms: readonly [cwd: string, given: string][] = [
        [dir, SHARD_DIR_NAME],
        [dir, `${SHARD_DIR_NAME}//`],
        [dir, `./${SHARD_DIR_NAME}/.`],
        [shard, '.'],
        [shard, `../${SHARD_DIR_NAME}`],
        [dir, 'latest'],
        [dir, `latest/${logName(0)}`],
        [shard, logName(0)],
      ];
      for (const [cwd, given] of forms) {
        const { stdout, code } = await runCli(['verify', '--format', 'json', given], { cwd });
        const report = JSON.parse(stdout) as Report;
        expect(code, given).to.equal(0);
        expect(report.shards[0], given).to.include({ name: SHARD_DIR_NAME, key: SHARD_KEY });
      }
    })).timeout(60_000);

  it('may be given more than once, and together with others', () =>
    withTempDir(async (dir) => {
      const one = shardIn(path.join(dir, 'one'));
      const two = shardIn(path.join(dir, 'two'), flipBit(logName(1), segments[1]!.positions[2]! + 30, 0));
      const { shards, summary } = await verified(one, two, one);
      expect(shards.map(({ path: at }) => at)).to.deep.equal([one, two, one]);
      expect(summary.exitCode).to.equal(22);
    }));

  it('leads to every shard below it, however deep', () =>
    withTempDir(async (dir) => {
      const deep = path.join(dir, ...Array.from({ length: 100 }, (_, i) => `d${i}`));
      shardIn(deep);
      shardIn(dir);
      expect((await verified(dir)).summary.shards).to.equal(2);
    }));

  it('does not lead through links below it, which are named', () =>
    withTempDir(async (dir) => {
      const elsewhere = shardIn(path.join(dir, 'elsewhere'));
      const root = path.join(dir, 'root');
      const shard = shardIn(root);
      symlinkSync(elsewhere, path.join(root, 'linked-shard'));
      rmSync(path.join(shard, indexName(1)));
      symlinkSync(path.join(elsewhere, indexName(1)), path.join(shard, indexName(1)));
      const report = await verified(root);
      expect(report.summary.shards).to.equal(1);
      expect(kinds(report.shards[0]!.findings)).to.deep.equal([`Unreadable ${indexName(1)}`]);
      expect(kinds(report.root!.findings)).to.deep.equal(['StrayFile null']);
    }));
});

describe('a name of the format under which there is no file', () => {
  const plant: Readonly<Record<string, (at: string) => void>> = {
    'a directory': (at) => mkdirSync(at),
    'a FIFO': (at) => void spawnSync('mkfifo', [at]),
    'a dangling link': (at) => symlinkSync('nowhere', at),
    'a link to itself': (at) => symlinkSync(path.basename(at), at),
    'a device': (at) => symlinkSync('/dev/zero', at),
  };
  const names = [logName(3), indexName(1), 'epochs', 'replica', 'ballot', 'producers', 'offload.manifest', 'keys.idx'];

  for (const [what, make] of Object.entries(plant)) {
    it(`is one finding each when it is ${what}, and the rest is judged`, () =>
      withTempDir(async (dir) => {
        const shard = shardIn(dir, flipBit(logName(0), segments[0]!.positions[3]! + 30, 0));
        rmSync(path.join(shard, indexName(1)));
        for (const name of names) make(path.join(shard, name));
        const { findings, segments: told } = (await verified(dir)).shards[0]!;
        const unreadable = findings.filter(({ kind }) => kind === 'Unreadable');
        expect(unreadable.map(({ file }) => file).sort()).to.deep.equal([...names].sort());
        expect(kinds(findings))
          .to.include(`RecordChecksum ${logName(0)}`)
          .and.not.include(`IndexMissing ${indexName(1)}`);
        expect(told.map(({ records }) => records)).to.deep.equal([7, 7, 6]);
      }));
  }

  it('is one finding each when it is a socket', () =>
    withTempDir(async (dir) => {
      const shard = shardIn(dir);
      const server = createServer().listen(path.join(shard, 'replica'));
      try {
        const { findings } = (await verified(dir)).shards[0]!;
        expect(kinds(findings)).to.deep.equal(['Unreadable replica']);
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    }));

  it('is a name that a broker cannot open when it is not of 20 digits, whatever is there', () =>
    withTempDir(async (dir) => {
      const shard = shardIn(dir);
      mkdirSync(path.join(shard, '9.log'));
      symlinkSync('nowhere', path.join(shard, '+10.log'));
      const { findings } = (await verified(dir)).shards[0]!;
      expect(kinds(findings)).to.deep.equal(['SegmentFileName +10.log', 'SegmentFileName 9.log']);
    }));

  it('is one finding each among the files of a data root', () =>
    withTempDir(async (dir) => {
      shardIn(dir);
      mkdirSync(path.join(dir, '.streams'));
      mkdirSync(path.join(dir, 'run-state'));
      symlinkSync('/dev/zero', path.join(dir, 'storage-id'));
      symlinkSync('/dev/zero', path.join(dir, '.streams', 'marker'));
      const { root, summary } = await verified(dir);
      expect(kinds(root!.findings)).to.deep.equal([
        'Unreadable .streams/marker',
        'Unreadable run-state',
        'Unreadable storage-id',
      ]);
      expect(summary.exitCode).to.equal(30);
    }));
});

describe('names as bytes', () => {
  const hostile = [
    Buffer.from('new\nline'),
    Buffer.from('esc\x1b[31mred'),
    Buffer.from('bidi\u202egnp.log'),
    Buffer.from([0xff, 0xfe, 0x2e, 0x6c, 0x6f, 0x67]),
    Buffer.from('\\xff.log'),
    Buffer.from('-rf'),
    Buffer.from(' '),
    Buffer.from('quote"\'`$(x)'),
  ];

  it('never reach a terminal raw, and leave JSON valid', () =>
    withTempDir(async (dir) => {
      const shard = shardIn(dir);
      for (const name of hostile) writeFileSync(Buffer.concat([Buffer.from(`${shard}/`), name]), 'x');
      for (const args of [[], ['--all'], ['--format', 'json'], ['--format', 'ndjson'], ['--color', 'always']]) {
        const { stdoutBytes, code } = await runCli(['verify', ...args, dir]);
        expect(code, args.join(' ')).to.equal(0);
        const text = new TextDecoder('utf-8', { fatal: true }).decode(stdoutBytes);
        const raw = args.includes('always') ? /\x1b\[31mred|\u202e/ : /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/;
        expect(text, args.join(' ')).not.to.match(raw);
      }
      const { findings } = (await verified(dir)).shards[0]!;
      expect(findings.filter(({ kind }) => kind === 'StrayFile')).to.have.length(hostile.length);
    })).timeout(60_000);

  it('of a directory that is not UTF-8 do not keep its shard from being judged', () =>
    withTempDir(async (dir) => {
      const name = Buffer.from([...Buffer.from('bad-'), 0xff, 0x0a, 0x1b, ...Buffer.from('[31m')]);
      const shard = Buffer.concat([Buffer.from(`${dir}/`), name]);
      mkdirSync(shard);
      const broken = damaged(image, flipBit(logName(1), segments[1]!.positions[2]! + 30, 0));
      for (const [file, bytes] of broken) writeFileSync(Buffer.concat([shard, Buffer.from(`/${file}`)]), bytes);
      const { findings } = (await verified(dir)).shards[0]!;
      expect(kinds(findings)).to.deep.equal([`RecordChecksum ${logName(1)}`]);
      rmSync(shard, { recursive: true });
    }));
});

describe('ten thousand strays', () => {
  it('are counted, and take no longer than they should', () =>
    withTempDir(async (dir) => {
      const shard = writeShard(image, path.join(dir, SHARD_DIR_NAME));
      for (let i = 0; i < 10_000; i++) writeFileSync(path.join(shard, `stray-${i}`), '');
      const { findings } = (await verified(dir)).shards[0]!;
      expect(findings.length).to.be.below(1000);
      expect(findings.every(({ kind }) => kind === 'StrayFile')).to.equal(true);
    })).timeout(60_000);
});

describe('what may not be read', () => {
  /** A tree that anybody may look into, but for the modes set in `lock`. */
  const locked = (
    lock: (dir: string, shard: string) => void,
    judge: (outcome: Outcome, dir: string) => void,
    what = '',
  ) =>
    async function (this: Mocha.Context): Promise<void> {
      await withTempDir((dir) => {
        chmodSync(dir, 0o755);
        const shard = shardIn(dir);
        lock(dir, shard);
        const outcome = runUnprivileged(['verify', '--format', 'json', path.join(dir, what)]);
        if (outcome === null) this.skip();
        judge(outcome, dir);
      });
    };
  const findingsOf = ({ stdout }: Outcome): { kind: string; severity: string; file: string | null }[] => {
    const { shards, root } = JSON.parse(stdout) as Report;
    return [...shards.flatMap(({ findings }) => findings), ...(root?.findings ?? [])];
  };

  for (const file of [logName(0), logName(2), indexName(0)]) {
    it(`is told of ${file}, and the others are judged`, async function () {
      await locked(
        (_dir, shard) => chmodSync(path.join(shard, file), 0),
        (outcome) => {
          expect(outcome.code).to.equal(30);
          expect(kinds(findingsOf(outcome) as FindingJson[])).to.deep.equal([`Unreadable ${file}`]);
          const { segments: told } = (JSON.parse(outcome.stdout) as Report).shards[0]!;
          const records = [8, 7, 6].map((count, id) => (file === logName(id) ? 0 : count));
          expect(told.map((segment) => segment.records)).to.deep.equal(records);
        },
      ).call(this);
    });
  }

  it('gives way to what is worse', async function () {
    await locked(
      (_dir, shard) => {
        chmodSync(path.join(shard, logName(0)), 0);
        writeFileSync(path.join(shard, 'replica'), 'not a replica file');
      },
      ({ code }) => expect(code).to.equal(22),
    ).call(this);
  });

  for (const [mode, words] of [
    [0o000, 'may not be listed'],
    [0o444, 'may be listed but not looked into'],
  ] as const) {
    it(`is told of a directory that ${words}, beside the shards that may`, async function () {
      await locked(
        (dir) => {
          const other = writeShard(image, path.join(dir, 'b', SHARD_DIR_NAME));
          chmodSync(other, mode);
        },
        (outcome) => {
          expect(outcome.code).to.equal(30);
          expect(findingsOf(outcome).map(({ kind }) => kind)).to.deep.equal(['Unreadable']);
        },
      ).call(this);
    });

    it(`is told where nothing else is below the path than a directory that ${words}`, async function () {
      await locked(
        (_dir, shard) => chmodSync(shard, mode),
        (outcome) => {
          expect(outcome.code).to.equal(30);
          expect(findingsOf(outcome).map(({ kind }) => kind)).to.deep.equal(['Unreadable']);
        },
      ).call(this);
    });

    it(`is the failure when the path itself ${words}`, async function () {
      await locked(
        (_dir, shard) => chmodSync(shard, mode),
        (outcome) => expectOneSentence(outcome, 30, 'permission denied'),
        SHARD_DIR_NAME,
      ).call(this);
    });
  }
});
