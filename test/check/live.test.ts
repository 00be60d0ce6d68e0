import { appendFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Finding } from '../../src/domain/finding.js';
import type { ShardReport } from '../../src/domain/report.js';
import { Interfering, refused } from '../builders/checking.js';
import { damaged, flipBit, truncate } from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, type ShardImage, threeSegments, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked, TEST_NOW_MICROS } from '../corpus/checked.js';

const { image, segments } = threeSegments();
const third = segments[2]!;
const NEWEST = logName(2);

/** What the newest segment holds behind the first `records` of it. */
const rest = (records: number) => third.log.subarray(third.positions[records]!);

interface Live {
  readonly report: ShardReport;
  readonly looks: number;
  readonly exitCode: number;
}

/** Checks a shard whose directory is changed by `at` in front of the first scan of each look. */
async function whileChanging(files: ShardImage, at: (shard: string, look: number) => void): Promise<Live> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(files, dir);
    const perLook = [...files.keys()].filter((name) => name.endsWith('.log')).length;
    let looks = 0;
    const scanner = new Interfering((_, count) => {
      if (count % perLook !== 0) return;
      looks++;
      at(shard, looks);
    });
    const { shards, summary } = await checked(shard, {}, scanner);
    return { report: shards[0]!, looks, exitCode: summary.exitCode };
  });
}

function changes({ findings }: { readonly findings: readonly Finding[] }): string[] {
  return findings
    .filter(({ kind }) => kind === 'ChangedWhileReading')
    .map(({ file, severity, detail }) => {
      const { change, judgedBytes } = detail as { change: string; judgedBytes: number };
      return `${severity} ${file} ${change} ${judgedBytes}`;
    });
}

describe('a shard that is written to while it is read', () => {
  it('that is healthy is judged as the prefix that it was, and told to have grown', async () => {
    const more = buildSegment({ records: [plain(21n)] }).log.subarray(32);
    const { report, looks, exitCode } = await whileChanging(image, (shard) =>
      appendFileSync(`${shard}/${NEWEST}`, more),
    );
    expect(looks).to.equal(1);
    expect(changes(report)).to.deep.equal([`info ${NEWEST} grew ${third.log.length}`]);
    expect(report.tailOffset).to.equal(21n);
    expect(exitCode).to.equal(0);
  });

  it('that was half-way through a record is looked at again, and the record was in flight', async () => {
    const half = third.positions[5]! + 20;
    const { report, looks } = await whileChanging(damaged(image, truncate(NEWEST, half)), (shard, look) => {
      if (look === 1) appendFileSync(`${shard}/${NEWEST}`, third.log.subarray(half));
    });
    expect(looks).to.equal(2);
    expect(told(report)).to.deep.equal([]);
    expect(report.tailOffset).to.equal(21n);
    expect(report.prediction.verdict).to.equal('opens');
  });

  it('whose damage is there when it has come to rest is damaged', async () => {
    const rot = damaged(image, flipBit(logName(0), 70, 0));
    const { report, looks } = await whileChanging(rot, (shard, look) => {
      if (look === 1) writeFileSync(`${shard}/notes`, 'x');
    });
    expect(looks).to.equal(2);
    expect(refused(report)).to.deep.equal(['RecordChecksum in 0 at 32']);
  });

  it('that never comes to rest is told as changing, and its newest records are not judged', async () => {
    const { report, looks, exitCode } = await whileChanging(
      damaged(image, truncate(NEWEST, third.positions[2]! + 20)),
      (shard, look) => appendFileSync(`${shard}/${NEWEST}`, rest(2).subarray(20 + look, 21 + look)),
    );
    expect(looks).to.equal(5);
    expect(changes(report).length).to.equal(1);
    expect(changes(report)[0]).to.match(new RegExp(`^info ${NEWEST} grew `));
    expect(report.findings.map(({ severity }) => severity)).to.not.include.members(['warning']);
    expect(report.prediction).to.deep.include({ verdict: 'opens', repairs: [], refusals: [] });
    expect(report.prediction.notJudged.join()).to.contain('the directory changed during every look');
    expect(exitCode).to.equal(0);
  });

  it('that never comes to rest still has the damage that two looks show in files that nobody touched', async () => {
    const rot = damaged(image, flipBit(logName(0), 70, 0), truncate(NEWEST, third.positions[2]! + 20));
    const { report, exitCode } = await whileChanging(rot, (shard, look) =>
      appendFileSync(`${shard}/${NEWEST}`, rest(2).subarray(20 + look, 21 + look)),
    );
    expect(refused(report)).to.deep.equal(['RecordChecksum in 0 at 32']);
    expect(report.findings.filter(({ severity }) => severity !== 'info').map(({ file }) => file)).to.deep.equal([
      logName(0),
    ]);
    expect(exitCode).to.equal(22);
  });

  it('one of whose segments shrinks under the scan is looked at again', async () => {
    const { report, looks } = await whileChanging(image, (shard, look) => {
      if (look === 1) truncateSync(`${shard}/${NEWEST}`, third.positions[4]!);
    });
    expect(looks).to.equal(1);
    expect(changes(report)).to.have.members([`info ${NEWEST} shrank ${third.positions[4]}`]);
    const { verifiedBytes, unreadBytes, damagedBytes } = report.segments[2]!;
    expect([verifiedBytes, damagedBytes]).to.deep.equal([third.positions[4], 0]);
    expect(unreadBytes).to.equal(third.log.length - third.positions[4]!);
    expect(report.tailOffset).to.equal(null);
  });

  it('one of whose segments goes under the scan loses nothing by that: retention deletes the oldest', async () => {
    const { report, exitCode } = await whileChanging(image, (shard, look) => {
      if (look !== 1) return;
      rmSync(`${shard}/${logName(0)}`);
      rmSync(`${shard}/${indexName(0)}`);
    });
    expect(changes(report)).to.deep.equal([`info ${logName(0)} vanished 0`]);
    expect(report.segments[0]).to.include({ verifiedBytes: 0, damagedBytes: 0, unreadBytes: segments[0]!.log.length });
    expect(report.findings.filter(({ severity }) => severity !== 'info')).to.deep.equal([]);
    expect(exitCode).to.equal(0);
  });

  for (const [change, act] of [
    [
      'was replaced',
      (file: string) => {
        renameSync(file, `${file}.tmp`);
        writeFileSync(file, third.log);
        rmSync(`${file}.tmp`);
      },
    ],
    ['was written to', (file: string) => utimesSync(file, 1, 1)],
  ] as const) {
    it(`whose newest segment ${change} is told so`, async () => {
      const { report } = await whileChanging(image, (shard) => act(`${shard}/${NEWEST}`));
      expect(changes(report)).to.deep.equal([`info ${NEWEST} ${change} ${third.log.length}`]);
    });
  }

  it('to which a segment is added between looks is judged with it', async () => {
    const next = buildSegment({ records: [plain(21n)] });
    const torn = damaged(image, truncate(NEWEST, third.log.length - 1));
    const { report } = await whileChanging(torn, (shard, look) => {
      if (look === 1) {
        appendFileSync(`${shard}/${NEWEST}`, third.log.subarray(third.log.length - 1));
        writeFileSync(`${shard}/${logName(3)}`, next.log);
        writeFileSync(`${shard}/${indexName(3)}`, next.index);
      }
    });
    expect(told(report)).to.deep.equal([]);
    expect(report.segments.length).to.equal(4);
    expect(report.tailOffset).to.equal(22n);
  });

  it('that was written to just now is waited for before damage is believed', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(damaged(image, truncate(NEWEST, third.log.length - 3)), dir);
      setTimeout(() => appendFileSync(`${shard}/${NEWEST}`, third.log.subarray(third.log.length - 3)), 120);
      const nowMicros = BigInt(Date.now()) * 1000n;
      const { shards } = await checked(shard, { patienceMs: 5000, nowMicros });
      expect(told(shards[0]!)).to.deep.equal([]);
    });
  });

  it('that has been quiet for long is not waited for', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(damaged(image, truncate(NEWEST, third.log.length - 3)), dir);
      const began = performance.now();
      const { shards } = await checked(shard, { patienceMs: 5000, nowMicros: TEST_NOW_MICROS + 10n ** 15n });
      expect(told(shards[0]!).length).to.equal(1);
      expect(performance.now() - began).to.be.below(2000);
    });
  });

  it('is looked at once when one file of it was named', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(damaged(image, truncate(NEWEST, third.log.length - 3)), dir);
      const scanner = new Interfering(() => appendFileSync(`${shard}/${NEWEST}`, 'x'));
      const { shards } = await checked(`${shard}/${NEWEST}`, {}, scanner);
      expect(told(shards[0]!)).to.deep.equal([`warning Truncated ${NEWEST}@${third.positions[5]}`]);
    });
  });
});
