import { expect } from 'chai';
import { exitCodeOf, type FailOn, Tally } from '../../src/check/summary.js';
import type { FindingKind, Severity } from '../../src/domain/finding.js';
import type { RootReport } from '../../src/domain/report.js';
import { BadDisk, reportOf } from '../builders/checking.js';
import { createFile, damaged, flipBit, truncate } from '../builders/damage.js';
import { logName, shardOf, threeSegments } from '../builders/shards.js';

const { image, segments } = threeSegments();

type Of = { readonly kind: FindingKind; readonly severity: Severity };
const INFO: Of = { kind: 'StrayFile', severity: 'info' };
const WARNING: Of = { kind: 'IndexMissing', severity: 'warning' };
const ERROR: Of = { kind: 'EpochOrder', severity: 'error' };
const FATAL: Of = { kind: 'SegmentMagic', severity: 'fatal' };
const UNREADABLE: Of = { kind: 'Unreadable', severity: 'error' };

const code = (findings: Of[], failOn: FailOn = 'warning') => exitCodeOf(findings, failOn);

describe('the exit code of findings', () => {
  it('is that of the worst, in whatever order they come', () => {
    for (const [findings, expected] of [
      [[], 0],
      [[INFO], 0],
      [[INFO, WARNING], 20],
      [[WARNING, ERROR], 21],
      [[WARNING, FATAL, ERROR, INFO], 22],
    ] as const) {
      expect(code([...findings])).to.equal(expected);
      expect(code(findings.toReversed())).to.equal(expected);
    }
  });

  it('is 30 for what could not be read, unless something worse than a warning was found', () => {
    expect(code([UNREADABLE])).to.equal(30);
    expect(code([UNREADABLE, INFO, WARNING])).to.equal(30);
    expect(code([ERROR, UNREADABLE])).to.equal(21);
    expect(code([UNREADABLE, FATAL])).to.equal(22);
  });

  it('leaves out what is below --fail-on, and nothing else', () => {
    const table: [FailOn, number[]][] = [
      ['info', [20, 20, 21, 22]],
      ['warning', [0, 20, 21, 22]],
      ['error', [0, 0, 21, 22]],
      ['fatal', [0, 0, 0, 22]],
      ['never', [0, 0, 0, 0]],
    ];
    for (const [failOn, codes] of table) {
      expect([[INFO], [WARNING], [ERROR], [FATAL]].map((findings) => code(findings, failOn))).to.deep.equal(codes);
    }
  });

  it('is 30 for what could not be read whatever --fail-on says: not everything was looked at', () => {
    for (const failOn of ['info', 'error', 'fatal', 'never'] as const) {
      expect(code([UNREADABLE], failOn)).to.equal(30);
    }
    expect(code([UNREADABLE, ERROR], 'fatal')).to.equal(30);
  });
});

describe('a tally of many shards', () => {
  const clean = () => reportOf(image);
  const warned = () => reportOf(damaged(image, truncate(logName(2), segments[2]!.log.length - 1)));
  const wrong = () => reportOf(damaged(image, createFile('replica', new Uint8Array(3))));
  const unread = () => reportOf(image, { scanner: new BadDisk(logName(1), 0, 8) });

  async function tallied(...makers: (() => ReturnType<typeof clean>)[]) {
    const tally = new Tally('warning');
    for (const make of makers) tally.addShard(await make());
    return tally;
  }

  it('adds up segments, records and bytes, of which each is verified, damaged or unread', async () => {
    const torn = segments[2]!.log.length - 1 - segments[2]!.positions[5]!;
    const summary = (await tallied(clean, warned, unread)).summary();
    const bytes = segments.reduce((sum, { log }) => sum + log.length, 0);
    expect(summary).to.include({
      shards: 3,
      segments: 9,
      records: 21 + 20 + 14,
      bytes: 3 * bytes - 1,
      damagedBytes: torn,
      unreadBytes: segments[1]!.log.length,
      verifiedBytes: 3 * bytes - 1 - torn - segments[1]!.log.length,
      skippedBytes: 0,
    });
  });

  it('counts findings by severity and knows the worst', async () => {
    const tally = await tallied(clean, warned, wrong, warned);
    const { findings, worst } = tally.summary();
    expect(findings).to.deep.equal({ info: 0, warning: 2, error: 0, fatal: 1 });
    expect(worst).to.equal('fatal');
    expect(tally.findings()).to.equal(3);
    expect((await tallied(clean)).summary().worst).to.equal(null);
  });

  it('has the first that applies of 22, 21, 30, 20 and 0, whatever the order of the shards', async () => {
    const makers = [clean, warned, unread, wrong];
    const codes = [0, 20, 30, 22];
    for (let worst = 0; worst < makers.length; worst++) {
      const some = makers.slice(0, worst + 1);
      expect((await tallied(...some)).summary().exitCode).to.equal(codes[worst]);
      expect((await tallied(...some.toReversed())).summary().exitCode).to.equal(codes[worst]);
    }
  });

  it('takes what is found in data roots into account, which are no shards', async () => {
    const tally = await tallied(clean);
    const root = { findings: [{ ...ERROR }] } as unknown as RootReport;
    tally.addRoot(root);
    expect(tally.summary()).to.include({ shards: 1, exitCode: 21, worst: 'error' });
  });
});

describe('every byte of a segment', () => {
  const broken = {
    'a rotten payload': flipBit(logName(1), segments[1]!.positions[2]! + 30, 0),
    'a rotten header': flipBit(logName(1), segments[1]!.positions[2]! + 5, 0),
    'a torn tail': truncate(logName(2), segments[2]!.log.length - 7),
    'a torn segment header': truncate(logName(1), 20),
    'a rotten segment header': flipBit(logName(0), 9, 0),
    'an unknown version': flipBit(logName(0), 5, 4),
    'an abandoned segment': createFile(logName(3), new Uint8Array(31)),
    'garbage in place of a segment': createFile(logName(1), new Uint8Array(999).fill(0xa5)),
    'a header and garbage': createFile(
      logName(2),
      Uint8Array.from([...segments[2]!.log.subarray(0, 32), ...new Array(500).fill(7)]),
    ),
  };
  for (const [what, damage] of Object.entries(broken)) {
    it(`is verified, damaged or unread, and once: ${what}`, async () => {
      for (const quick of [false, true]) {
        const files = damaged(image, damage);
        const report = await reportOf(files, { quick });
        for (const { file, bytes, verifiedBytes, damagedBytes, unreadBytes } of report.segments) {
          expect(bytes, file).to.equal(files.get(file)!.length);
          expect(verifiedBytes + damagedBytes + unreadBytes, file).to.equal(bytes);
          expect(Math.min(verifiedBytes, damagedBytes, unreadBytes), file).to.be.at.least(0);
        }
      }
    });
  }

  it('is damaged as far as the findings say, and no further', async () => {
    for (const damage of Object.values(broken)) {
      const report = await reportOf(damaged(image, damage));
      const told = report.findings
        .filter(({ file }) => file?.endsWith('.log'))
        .reduce((sum, { damagedRange }) => sum + (damagedRange === null ? 0 : damagedRange.to - damagedRange.from), 0);
      const counted = report.segments.reduce((sum, { damagedBytes }) => sum + damagedBytes, 0);
      if (report.findings.some(({ kind }) => kind === 'AbandonedSegment')) expect(counted).to.equal(31);
      else expect(counted).to.equal(told);
    }
  });

  it('in front of the last index entry is unread in a quick look', async () => {
    const three = shardOf([{ parts: [30], indexSpacing: 256 }, { parts: [1] }, { parts: [1] }]);
    const { log, index } = three.segments[0]!;
    const last = Number(new DataView(index.buffer).getBigUint64(index.length - 8));
    const report = await reportOf(three.image, { quick: true });
    expect(report.segments[0]).to.include({
      unreadBytes: last - 32,
      verifiedBytes: log.length - last + 32,
      nextOffset: 30n,
    });
    expect(report.segments.slice(1).map(({ unreadBytes }) => unreadBytes)).to.deep.equal([0, 0]);
  });
});
