import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { checkStrays } from '../../src/check/strays.js';
import type { Finding } from '../../src/domain/finding.js';
import type { ShardReport } from '../../src/domain/report.js';
import { encodeReplica } from '../../src/format/replica.js';
import { listDirectory } from '../../src/store/walk.js';
import { Interfering } from '../builders/checking.js';
import { SUBJECT, told } from '../builders/facts.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

const { image, segments } = threeSegments();
const [first, second] = [segments[0]!, segments[1]!];

/** The report of the healthy shard once `add` has put more into its directory. */
async function shardWith(add: (shard: string) => void | Promise<void>, scanner?: Interfering): Promise<ShardReport> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    await add(shard);
    return (await checked(shard, {}, scanner)).shards[0]!;
  });
}

function detailOf({ findings }: { readonly findings: readonly Finding[] }, file: string | null) {
  return findings.find((finding) => finding.file === file && finding.kind === 'StrayFile')?.detail as
    | { looksLike: string; bytes: number; offsets?: object; records?: number; note?: string; journal?: object }
    | undefined;
}

describe('a stranger in a shard', () => {
  it('is told as info, and changes nothing else', async () => {
    const report = await shardWith((shard) => writeFileSync(`${shard}/notes.txt`, 'ask Ada about this one\n'));
    expect(told(report)).to.deep.equal(['info StrayFile notes.txt']);
    expect(report.prediction.verdict).to.equal('opens');
    expect(detailOf(report, 'notes.txt')!.bytes).to.equal(23);
    expect(detailOf(report, 'notes.txt')!.looksLike).to.match(/text/);
  });

  const kinds: [string, Uint8Array, RegExp][] = [
    ['empty', new Uint8Array(), /empty/],
    ['zeros', new Uint8Array(5000), /zero/],
    ['zip', Uint8Array.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), /gzip/],
    ['index.old', first.index, /index/],
    ['replica.bak', encodeReplica({ generation: 1n, commit: 1n }), /replica/],
  ];
  for (const [name, bytes, looksLike] of kinds) {
    it(`is told by its bytes: ${name}`, async () => {
      const report = await shardWith((shard) => writeFileSync(`${shard}/${name}`, bytes));
      expect(detailOf(report, name)!.looksLike).to.match(looksLike);
      expect(detailOf(report, name)!.bytes).to.equal(bytes.length);
    });
  }

  it('of any type is one finding and stops nothing', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(image, dir);
      mkdirSync(`${shard}/lost+found`, { mode: 0 });
      symlinkSync('/etc/passwd', `${shard}/link`);
      symlinkSync(`${shard}/gone`, `${shard}/nowhere`);
      execFileSync('mkfifo', [`${shard}/pipe`]);
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(`${shard}/socket`, resolve));
      try {
        const { shards, summary } = await checked(shard);
        const strays = shards[0]!.findings.map(({ file, detail }) => [
          file,
          (detail as { looksLike: string }).looksLike,
        ]);
        expect(Object.fromEntries(strays)).to.deep.equal({
          link: 'a symbolic link, not followed',
          'lost+found': 'a directory',
          nowhere: 'a symbolic link, not followed',
          pipe: 'a FIFO',
          socket: 'a socket',
        });
        expect(summary).to.include({ exitCode: 0, records: 21 });
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    });
  });

  it('under a name of the format that is no file could not be read, and is not called missing as well', async () => {
    const report = await shardWith((shard) => {
      rmSync(`${shard}/${indexName(0)}`);
      symlinkSync('elsewhere', `${shard}/${indexName(0)}`);
      mkdirSync(`${shard}/replica`);
      execFileSync('mkfifo', [`${shard}/${logName(3)}`]);
    });
    expect(told(report).sort()).to.deep.equal([
      `error Unreadable ${indexName(0)}`,
      `error Unreadable ${logName(3)}`,
      'error Unreadable replica',
    ]);
  });

  it('that vanishes meanwhile is a change', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(image, dir);
      writeFileSync(`${shard}/notes.txt`, 'soon gone');
      const scanner = new Interfering((_, count) => {
        if (count === 0) rmSync(`${shard}/notes.txt`);
      });
      const report = (await checked(shard, {}, scanner)).shards[0]!;
      expect(told(report)).to.deep.equal(['info ChangedWhileReading notes.txt']);
      expect(report.findings[0]!.detail).to.deep.equal({ change: 'vanished', judgedBytes: 0 });
    });
  });

  it('that cannot be read is unreadable, and is not said to be anything', async () => {
    await withTempDir(async (dir) => {
      mkdirSync(`${dir}/was-a-file`);
      const [entry] = listDirectory(dir).entries;
      const scanner = new Interfering(() => {});
      const { findings, segments: held } = await checkStrays([{ ...entry!, type: 'file' }], SUBJECT, scanner, {
        nowMicros: 0n,
      });
      expect(told({ findings })).to.deep.equal(['error Unreadable was-a-file']);
      expect(findings[0]!.detail).to.include({ code: 'ENOTFILE' });
      expect(held).to.deep.equal([]);
    });
  });

  it('among very many is counted', async () => {
    const report = await shardWith((shard) => {
      for (let i = 0; i < 203; i++) writeFileSync(`${shard}/x${i}`, '');
    });
    expect(report.findings.length).to.equal(201);
    expect(detailOf(report, null)!.looksLike).to.equal('3 more files that no reader opens');
  });

  it('under a name that is not UTF-8 is told by its bytes', async () => {
    const report = await shardWith((shard) =>
      writeFileSync(Buffer.concat([Buffer.from(`${shard}/a`), Buffer.from([0xff, 0xfe])]), 'x'),
    );
    expect(report.findings.map(({ file }) => file)).to.deep.equal(['a\\xff\\xfe']);
  });
});

describe('a segment under another name', () => {
  for (const name of [`${logName(1)}.bak`, `${logName(1)}.repair`, `._${logName(1)}`, 'core', '1.log.old']) {
    it(`tells which offsets it holds: ${name}`, async () => {
      const report = await shardWith((shard) => writeFileSync(path.join(shard, name), second.log));
      expect(told(report)).to.deep.equal([`info StrayFile ${name}`]);
      const detail = detailOf(report, name)!;
      expect(detail.offsets).to.deep.equal({ from: 8n, to: 15n });
      expect(detail).to.include({ records: 7, bytes: second.log.length });
    });
  }

  it('without a record holds none', async () => {
    const empty = buildSegment({ baseOffset: 4n, records: [] }).log;
    const report = await shardWith((shard) => writeFileSync(`${shard}/spare`, empty));
    expect(detailOf(report, 'spare')).to.deep.include({ records: 0 });
    expect(detailOf(report, 'spare')!.offsets).to.equal(undefined);
  });

  it('is counted over its damage: intact records alone are told', async () => {
    const rotten = second.log.slice();
    rotten[second.positions[3]! + 30]! ^= 1;
    const report = await shardWith((shard) => writeFileSync(`${shard}/rotten`, rotten));
    expect(told(report)).to.deep.equal(['info StrayFile rotten']);
    expect(detailOf(report, 'rotten')).to.deep.include({ records: 6, offsets: { from: 8n, to: 15n } });
  });
});

describe('an index without a segment', () => {
  it('is a stray that says so', async () => {
    const report = await shardWith((shard) => renameSync(`${shard}/${logName(2)}`, `${shard}/kept`));
    expect(told(report)).to.have.members([`info StrayFile ${indexName(2)}`, 'info StrayFile kept']);
    expect(detailOf(report, indexName(2))!.note).to.equal('there is no segment of that id beside it');
  });
});

describe('a journal of a repair beside a shard', () => {
  async function beside(journal: string | null, state: string | null): Promise<Finding[]> {
    return withTempDir(async (dir) => {
      const shard = writeShardBelow(image, dir);
      const name = `.${journal ?? SHARD_DIR_NAME}.felix-fsck-20260102T030405Z`;
      mkdirSync(path.join(dir, name));
      if (state !== null) {
        const record = JSON.stringify({ state, changedAt: '2026-01-02T03:04:05.000Z', shard });
        writeFileSync(path.join(dir, name, 'journal.json'), record);
      }
      return (await checked(shard)).shards[0]!.findings.slice();
    });
  }

  for (const [state, severity] of [
    ['applying', 'warning'],
    ['undoing', 'warning'],
    ['applied', 'info'],
    ['preparing', 'info'],
  ] as const) {
    it(`is told as ${severity} when it is ${state}`, async () => {
      const [finding] = await beside(null, state);
      expect(finding).to.include({ kind: 'StrayFile', severity, file: null });
      expect((finding!.detail as { journal: object }).journal).to.deep.include({ state });
      expect(finding!.path).to.match(/felix-fsck-20260102T030405Z$/);
    });
  }

  it('is nothing to say when it was taken back, or is of another shard', async () => {
    expect(await beside(null, 'undone')).to.deep.equal([]);
    expect(await beside('another-shard', 'applying')).to.deep.equal([]);
  });

  it('is unfinished when its record cannot be read', async () => {
    const [finding] = await beside(null, 'no such state');
    expect(finding!.severity).to.equal('warning');
    const [empty] = await beside(null, null);
    expect(empty!.severity).to.equal('info');
  });
});
