import { expect } from 'chai';
import type { Finding } from '../../src/domain/finding.js';
import type { ShardReport } from '../../src/domain/report.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { BadDisk, range, refused, reportOf } from '../builders/checking.js';
import {
  append,
  copyFile,
  createFile,
  damaged,
  deleteFile,
  flipBit,
  insert,
  remove,
  renameFile,
  truncate,
  zero,
} from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, shardOf, threeSegments, wellIndexed } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';

const { image, segments } = threeSegments();
const [first, second, third] = [segments[0]!, segments[1]!, segments[2]!];
/** A place inside the payload of a record. */
const PAYLOAD = 30;

function of(report: ShardReport, kind: Finding['kind']): Finding[] {
  return report.findings.filter((finding) => finding.kind === kind);
}

const without1 = damaged(image, deleteFile(logName(1)), deleteFile(indexName(1)));

describe('the order of segments', () => {
  it('a healthy shard says nothing', async () => {
    const report = await reportOf(image);
    expect(told(report)).to.deep.equal([]);
    expect(report.baseOffset).to.equal(0n);
    expect(report.tailOffset).to.equal(21n);
  });

  it('a gap is fatal at the start of the later segment, and names the offsets that are nowhere', async () => {
    const report = await reportOf(without1);
    expect(told(report)).to.deep.equal([`fatal OffsetOutOfOrder ${logName(2)}@0`]);
    const [gap] = report.findings;
    expect(gap!.detail).to.deep.equal({ expected: 8n, found: 15n });
    expect(range(gap!.lostOffsets)).to.equal('8..15');
  });

  it('a gap that a segment under another name would fill says which', async () => {
    const report = await reportOf(
      damaged(image, renameFile(logName(1), `${logName(1)}.bak`), deleteFile(indexName(1))),
    );
    const [gap] = of(report, 'OffsetOutOfOrder');
    expect(gap!.detail).to.deep.equal({ expected: 8n, found: 15n, fill: `${logName(1)}.bak` });
  });

  it('a stray segment of other offsets does not fill a gap', async () => {
    for (const other of [0, 2]) {
      const report = await reportOf(damaged(without1, copyFile(logName(other), 'kept.log.old')));
      expect(of(report, 'OffsetOutOfOrder')[0]!.detail).to.deep.equal({ expected: 8n, found: 15n });
    }
  });

  it('a gap whose offsets are in the object store is healed from the object that holds them', async () => {
    const entry = offloaded(second, 1n);
    const report = await reportOf(
      damaged(without1, createFile('offload.manifest', encodeManifest({ entries: [entry] }))),
    );
    expect(of(report, 'OffsetOutOfOrder')[0]!.next)
      .to.match(/^felix-fsck heal /)
      .and.to.contain(entry.key);
  });

  it('an overlap is fatal, and loses nothing', async () => {
    const report = await reportOf(
      damaged(image, copyFile(logName(0), logName(3)), copyFile(indexName(0), indexName(3))),
    );
    expect(told(report)).to.deep.equal([`fatal OffsetOutOfOrder ${logName(3)}@0`]);
    expect(report.findings[0]!.detail).to.deep.equal({ expected: 21n, found: 0n });
    expect(report.findings[0]!.lostOffsets).to.equal(null);
  });

  it('a segment that is there twice overlaps itself', async () => {
    const report = await reportOf(
      damaged(image, copyFile(logName(2), logName(3)), copyFile(indexName(2), indexName(3))),
    );
    expect(of(report, 'OffsetOutOfOrder').map(({ detail }) => detail)).to.deep.equal([{ expected: 21n, found: 15n }]);
  });

  it('ids may leave numbers out as long as the offsets go on', async () => {
    const sparse = damaged(image, renameFile(logName(2), logName(9)), renameFile(indexName(2), indexName(9)));
    expect(told(await reportOf(sparse))).to.deep.equal([]);
  });

  it('is not judged around a segment whose header cannot be read', async () => {
    const report = await reportOf(damaged(image, zero(logName(1), 0, 32)));
    expect(told(report)).to.deep.equal([`fatal SegmentMagic ${logName(1)}@0`]);
    const twoOff = buildShard({
      segments: [first, second, buildSegment({ records: [plain(90n)] })],
    });
    expect(told(await reportOf(damaged(twoOff, zero(logName(1), 0, 4))))).to.deep.equal([
      `fatal SegmentMagic ${logName(1)}@0`,
    ]);
  });
});

describe('a gap behind damage', () => {
  /** Segment 0 ends in damage that begins in its record 5; segment 1 begins at 8. */
  const tails = {
    'a torn record': truncate(logName(0), first.positions[5]! + PAYLOAD),
    'a torn header': truncate(logName(0), first.positions[5]! + 27),
    'zeros to the end': zero(logName(0), first.positions[5]!, first.log.length - first.positions[5]!),
  };

  for (const [what, damage] of Object.entries(tails)) {
    it(`is explained by ${what} at the end of the earlier segment, which then has lost those offsets`, async () => {
      const report = await reportOf(damaged(image, damage));
      expect(report.findings.map(({ site }) => [site.segment, site.position])).to.deep.equal([
        [0n, first.positions[5]],
      ]);
      expect(range(report.findings[0]!.lostOffsets)).to.equal('5..8');
      expect(refused(report).length).to.equal(1);
    });
  }

  it('is put on the last of several damages alone', async () => {
    const report = await reportOf(
      damaged(image, flipBit(logName(0), first.positions[2]! + PAYLOAD, 0), tails['a torn record']),
    );
    expect(report.findings.map(({ kind, lostOffsets }) => [kind, range(lostOffsets)])).to.deep.equal([
      ['RecordChecksum', '2..3'],
      ['Truncated', '5..8'],
    ]);
  });

  it('is told beside the damage when the damage is known to have lost less', async () => {
    const report = await reportOf(damaged(without1, flipBit(logName(0), first.positions[7]! + PAYLOAD, 3)));
    expect(told(report)).to.deep.equal([
      `fatal RecordChecksum ${logName(0)}@${first.positions[7]}`,
      `fatal OffsetOutOfOrder ${logName(2)}@0`,
    ]);
    expect(report.findings.map(({ lostOffsets }) => range(lostOffsets))).to.deep.equal(['7..8', '8..15']);
  });

  it('is told beside damage in the middle, behind which the segment goes on', async () => {
    const report = await reportOf(damaged(without1, zero(logName(0), first.positions[3]!, 28)));
    expect(report.findings.map(({ kind, lostOffsets }) => [kind, range(lostOffsets)])).to.deep.equal([
      ['RecordHeaderChecksum', '3..4'],
      ['OffsetOutOfOrder', '8..15'],
    ]);
  });

  it('does not turn an overlap into a loss', async () => {
    const overlapping = buildShard({ segments: [first, buildSegment({ records: [plain(3n), plain(4n)] })] });
    const report = await reportOf(damaged(overlapping, truncate(logName(0), first.positions[5]! + PAYLOAD)));
    expect(report.findings.map(({ kind, lostOffsets }) => [kind, range(lostOffsets)])).to.deep.equal([
      ['Truncated', null],
      ['OffsetOutOfOrder', null],
    ]);
  });

  it('a segment cut at a record boundary leaves the gap to the next one', async () => {
    const report = await reportOf(damaged(image, truncate(logName(0), first.positions[6]!)));
    expect(told(report)).to.deep.equal([`fatal OffsetOutOfOrder ${logName(1)}@0`]);
    expect(range(report.findings[0]!.lostOffsets)).to.equal('6..8');
  });
});

describe('damage of a record', () => {
  const shard = wellIndexed(20, 256);
  const [sealed, newest] = [shard.segments[0]!, shard.segments[1]!];
  const entries = (sealed.index.length - 24) / 16;
  const lastEntry = Number(new DataView(sealed.index.buffer).getBigUint64(sealed.index.length - 8));
  const at = sealed.positions.indexOf(lastEntry);

  it('in a sealed segment is an error in front of the last index entry, and fatal from there on', async () => {
    expect(entries).to.be.above(3);
    expect(at).to.be.within(4, 18);
    const severities: [number, string][] = [
      [at - 1, 'error'],
      [at, 'fatal'],
      [at + 1, 'fatal'],
      [0, 'error'],
    ];
    for (const [record, severity] of severities) {
      const report = await reportOf(damaged(shard.image, flipBit(logName(0), sealed.positions[record]! + PAYLOAD, 1)));
      expect(told(report), `record ${record}`).to.deep.equal([
        `${severity} RecordChecksum ${logName(0)}@${sealed.positions[record]}`,
      ]);
      expect(report.prediction.verdict).to.equal(severity === 'fatal' ? 'refuses' : 'opens');
    }
  });

  for (const [what, unindexed] of Object.entries({
    'without an index': deleteFile(indexName(0)),
    'with an index without entries': truncate(indexName(0), 24),
    'with an index that is too short for a header': truncate(indexName(0), 23),
    'with an index of another base': flipBit(indexName(0), 15, 0),
    'with an index of another kind': flipBit(indexName(0), 3, 0),
    'with an index of an unknown version': flipBit(indexName(0), 5, 4),
  })) {
    it(`in a sealed segment ${what} is fatal wherever it lies`, async () => {
      const report = await reportOf(
        damaged(shard.image, flipBit(logName(0), sealed.positions[0]! + PAYLOAD, 1), unindexed),
      );
      expect(told(report)[0]).to.equal(`fatal RecordChecksum ${logName(0)}@32`);
      expect(refused(report)).to.deep.equal(['RecordChecksum in 0 at 32']);
    });
  }

  it('in a sealed segment is fatal wherever it lies for a broker that verifies all', async () => {
    const broken = damaged(shard.image, flipBit(logName(0), sealed.positions[0]! + PAYLOAD, 1));
    const report = await reportOf(broken, { verifyAllOnOpen: true });
    expect(told(report)).to.deep.equal([`fatal RecordChecksum ${logName(0)}@32`]);
  });

  it('in the newest segment is fatal wherever it lies, whatever the index', async () => {
    for (const record of [0, 10, 19]) {
      const report = await reportOf(damaged(shard.image, flipBit(logName(1), newest.positions[record]! + PAYLOAD, 1)));
      expect(told(report)).to.deep.equal([`fatal RecordChecksum ${logName(1)}@${newest.positions[record]}`]);
    }
  });

  it('Truncated in a sealed segment is fatal', async () => {
    const report = await reportOf(damaged(shard.image, truncate(logName(0), sealed.log.length - 1)));
    expect(told(report)).to.deep.equal([`fatal Truncated ${logName(0)}@${sealed.positions[19]}`]);
    expect(range(report.findings[0]!.lostOffsets)).to.equal('19..20');
  });

  it('Truncated at the end of the newest segment is a warning', async () => {
    for (const size of [newest.log.length - 1, newest.positions[19]! + 28, newest.positions[19]! + 1]) {
      const report = await reportOf(damaged(shard.image, truncate(logName(1), size)));
      expect(told(report)).to.deep.equal([`warning Truncated ${logName(1)}@${newest.positions[19]}`]);
      expect(report.prediction.verdict).to.equal('repairs');
    }
  });

  it('Truncated in the newest segment is an error when intact records follow that recovery would cut off', async () => {
    // A record written half, and then good ones behind it: its length runs past the end of the file.
    const half = buildSegment({ records: [plain(36n, { payloadLength: 4000 })] }).log.subarray(32, 32 + 60);
    const broken = damaged(shard.image, insert(logName(1), newest.positions[16]!, half));
    const report = await reportOf(broken);
    expect(told(report)[0]).to.equal(`error Truncated ${logName(1)}@${newest.positions[16]}`);
    expect(report.findings[0]!.detail).to.include({ resumedAt: newest.positions[16]! + 60, intactAfter: 4 });
    expect(report.findings[0]!.damagedRange).to.deep.equal({
      from: newest.positions[16],
      to: newest.positions[16]! + 60,
    });
    expect(range(report.findings[0]!.lostOffsets)).to.equal('36..36');
  });

  it('behind a cut is an error each, since it goes with the cut', async () => {
    const half = buildSegment({ records: [plain(36n, { payloadLength: 4000 })] }).log.subarray(32, 32 + 60);
    const broken = damaged(
      shard.image,
      flipBit(logName(1), newest.positions[18]! + PAYLOAD, 0),
      insert(logName(1), newest.positions[16]!, half),
    );
    const report = await reportOf(broken);
    expect(told(report)).to.deep.equal([
      `error Truncated ${logName(1)}@${newest.positions[16]}`,
      `error RecordChecksum ${logName(1)}@${newest.positions[18]! + 60}`,
    ]);
    expect(report.prediction.verdict).to.equal('repairs');
  });

  it('is told once for each place, in the order of segments and positions', async () => {
    const broken = damaged(
      image,
      flipBit(logName(1), second.positions[5]! + PAYLOAD, 0),
      flipBit(logName(1), second.positions[1]! + PAYLOAD, 0),
      flipBit(logName(0), first.positions[3]! + 22, 0),
      flipBit(logName(2), third.positions[2]! + 2, 7),
    );
    expect(told(await reportOf(broken))).to.deep.equal([
      `fatal RecordHeaderChecksum ${logName(0)}@${first.positions[3]}`,
      `fatal RecordChecksum ${logName(1)}@${second.positions[1]}`,
      `fatal RecordChecksum ${logName(1)}@${second.positions[5]}`,
      `fatal RecordHeaderChecksum ${logName(2)}@${third.positions[2]}`,
    ]);
  });

  it('an offset out of order is fatal, and what was jumped over is lost', async () => {
    const jump = shardOf([{ parts: [2] }]).segments[0]!.records;
    const gap = buildShard({ segments: [buildSegment({ records: [...jump, plain(9n), plain(10n)] })] });
    const report = await reportOf(gap);
    expect(
      report.findings.map(({ kind, severity, lostOffsets }) => [kind, severity, range(lostOffsets)]),
    ).to.deep.equal([['OffsetOutOfOrder', 'fatal', '2..9']]);
    expect(report.findings[0]!.damagedRange).to.equal(null);
    expect(report.segments[0]).to.include({ records: 4, damagedBytes: 0, nextOffset: 11n });
    expect(report.tailOffset).to.equal(11n);
  });

  it('zeros to the end of the newest segment are unwritten space, and lose no record', async () => {
    const report = await reportOf(damaged(image, append(logName(2), new Uint8Array(4096))));
    const [finding] = report.findings;
    expect(told(report)).to.deep.equal([`fatal RecordHeaderChecksum ${logName(2)}@${third.log.length}`]);
    expect(finding!.looksLike).to.equal('zeros');
    expect(range(finding!.lostOffsets)).to.equal('21..21');
    expect(finding!.damagedRange).to.deep.equal({ from: third.log.length, to: third.log.length + 4096 });
  });

  it('zeros to the end of a sealed segment lose what the next segment says is missing', async () => {
    const report = await reportOf(damaged(without1, append(logName(0), new Uint8Array(64))));
    expect(told(report)).to.deep.equal([`fatal RecordHeaderChecksum ${logName(0)}@${first.log.length}`]);
    expect(range(report.findings[0]!.lostOffsets)).to.equal('8..15');
  });

  it('bytes taken out of the middle cost the records that they were in', async () => {
    const report = await reportOf(damaged(image, remove(logName(2), third.positions[2]! + 3, 40)));
    expect(report.findings.map(({ lostOffsets }) => range(lostOffsets))[0]).to.match(/^17\.\./);
    expect(report.tailOffset).to.equal(21n);
  });
});

describe('damage of a segment header', () => {
  const kinds: [string, ReturnType<typeof flipBit>, string, object][] = [
    ['its magic', flipBit(logName(1), 0, 0), 'SegmentMagic', { found: '0x474c5347' }],
    ['its version', flipBit(logName(1), 5, 3), 'SegmentVersion', { found: 11 }],
    ['its flags', flipBit(logName(1), 7, 0), 'SegmentFlags', { found: '0x0001' }],
    ['less than all of it', truncate(logName(1), 31), 'Truncated', { needed: 32, available: 31 }],
    ['nothing', truncate(logName(1), 0), 'Truncated', { needed: 32, available: 0 }],
  ];
  for (const [what, damage, kind, detail] of kinds) {
    it(`${kind}: ${what} is fatal in a sealed segment, at position 0`, async () => {
      const report = await reportOf(damaged(image, damage));
      expect(told(report)).to.deep.equal([`fatal ${kind} ${logName(1)}@0`]);
      expect(report.findings[0]!.detail).to.deep.include(detail);
      expect(refused(report)).to.deep.equal([`${kind} in 1 at 0`]);
    });
  }

  it('a checksum that does not hold is fatal in the newest segment too, with the bit that would explain it', async () => {
    const report = await reportOf(damaged(image, flipBit(logName(2), 15, 2)));
    expect(told(report)).to.deep.equal([`fatal SegmentHeaderChecksum ${logName(2)}@0`]);
    expect((report.findings[0]!.detail as { bitFlip: object }).bitFlip).to.include({ position: 15, bit: 2 });
    expect(report.findings[0]!.damagedRange).to.deep.equal({ from: 0, to: 32 });
    expect(report.segments[2]).to.include({ records: 6, damagedBytes: 32, verifiedBytes: third.log.length - 32 });
  });

  it('a version of another build is not damage: not one byte of the segment is called damaged', async () => {
    const report = await reportOf(damaged(image, flipBit(logName(2), 5, 3)));
    expect(report.findings[0]!.damagedRange).to.equal(null);
    expect(report.findings[0]!.message).to.contain('written by another build').and.not.contain('corrupt');
    expect(report.segments[2]).to.include({ damagedBytes: 0, unreadBytes: third.log.length });
  });

  it('ReservedNotZero: the reserved word is a warning at position 28, and nothing else is', async () => {
    const report = await reportOf(damaged(image, flipBit(logName(1), 31, 0)));
    expect(told(report)).to.deep.equal([`warning ReservedNotZero ${logName(1)}@28`]);
    expect(report.findings[0]!.detail).to.deep.equal({ found: '0x00000001' });
    expect(report.prediction.verdict).to.equal('opens');
  });
});

describe('a segment that cannot be read', () => {
  const long = shardOf([{ parts: [120] }, { parts: [120] }]);

  it('is told where reading failed, and is not called corrupt', async () => {
    const scanner = new BadDisk(logName(0), 4096, 8192);
    const report = await reportOf(long.image, { scanner, windowBytes: 1024 });
    expect(told(report)).to.deep.equal([`error Unreadable ${logName(0)}@4096`]);
    const { verifiedBytes, damagedBytes, unreadBytes, bytes } = report.segments[0]!;
    expect(verifiedBytes).to.be.within(3000, 4096);
    expect(damagedBytes).to.equal(0);
    expect(verifiedBytes + unreadBytes).to.equal(bytes);
    expect(report.prediction.notJudged).to.deep.equal([`${logName(0)} could not be read`]);
  });

  it('has its order with the next one not judged', async () => {
    const scanner = new BadDisk(logName(0), 4096, 8192);
    const gap = buildShard({ segments: [long.segments[0]!, buildSegment({ records: [plain(500n)] })] });
    const report = await reportOf(gap, { scanner, windowBytes: 1024 });
    expect(told(report).filter((line) => line.startsWith('fatal'))).to.deep.equal([]);
  });

  it('whose header cannot be read is unread from its first byte', async () => {
    const report = await reportOf(image, { scanner: new BadDisk(logName(2), 0, 16) });
    expect(told(report)).to.deep.equal([`error Unreadable ${logName(2)}@0`]);
    expect(report.segments[2]).to.include({ verifiedBytes: 0, damagedBytes: 0, unreadBytes: third.log.length });
    expect(report.tailOffset).to.equal(null);
  });

  it('whose header is damaged and whose records cannot be read has both told', async () => {
    const report = await reportOf(damaged(long.image, flipBit(logName(1), 15, 0)), {
      scanner: new BadDisk(logName(1), 4096, 8192),
      windowBytes: 1024,
    });
    expect(told(report)).to.deep.equal([
      `fatal SegmentHeaderChecksum ${logName(1)}@0`,
      `error Unreadable ${logName(1)}@4096`,
    ]);
  });

  it('keeps the damage that was met in front of the place', async () => {
    const broken = damaged(long.image, flipBit(logName(0), long.segments[0]!.positions[3]! + PAYLOAD, 0));
    const report = await reportOf(broken, { scanner: new BadDisk(logName(0), 4096, 8192), windowBytes: 1024 });
    expect(report.findings.map(({ kind }) => kind)).to.deep.equal(['RecordChecksum', 'Unreadable']);
  });

  it('in a quick look is told too, when the place lies where a broker reads', async () => {
    // A quick look reads the newest two whole, since the newest may turn out to be empty.
    const { image: indexed, segments: parts } = shardOf([{ parts: [120] }, { parts: [1] }, { parts: [1] }]);
    const size = parts[0]!.log.length;
    const report = await reportOf(indexed, {
      quick: true,
      scanner: new BadDisk(logName(0), size - 100, size),
      windowBytes: 1024,
    });
    expect(report.findings.map(({ kind, file }) => `${kind} ${file}`)).to.deep.equal([`Unreadable ${logName(0)}`]);
    const { verifiedBytes, unreadBytes, damagedBytes } = report.segments[0]!;
    expect(damagedBytes).to.equal(0);
    expect(unreadBytes).to.be.above(100);
    expect(verifiedBytes + unreadBytes).to.equal(size);
  });
});
