import { expect } from 'chai';
import { assignRoles } from '../../src/check/roles.js';
import type { SegmentRole } from '../../src/check/shard-facts.js';
import { encodeReplica } from '../../src/format/replica.js';
import { refused, repaired, reportOf } from '../builders/checking.js';
import { append, createFile, damaged, deleteFile, flipBit, renameFile, truncate } from '../builders/damage.js';
import { factsOf, told } from '../builders/facts.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, type ShardImage, threeSegments } from '../builders/shards.js';

const SETTINGS = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 };
const { image, segments } = threeSegments();
const third = segments[2]!;

function rolesOf(files: ShardImage, committed: bigint | null = null, repairChecksumTail = false): SegmentRole[] {
  const { segments: read } = factsOf(files);
  return assignRoles(read, { ...SETTINGS, repairChecksumTail }, committed).map(({ role }) => role);
}

const empty = (baseOffset: bigint) => buildSegment({ baseOffset, records: [] }).log;
const ordinary = ['sealed', 'sealed', 'newest'];

describe('the newest segment', () => {
  it('is the one of the highest id; the others are sealed', () => {
    expect(rolesOf(image)).to.deep.equal(ordinary);
    expect(rolesOf(new Map([[logName(5), third.log]]))).to.deep.equal(['newest']);
  });

  it('stays when it is empty and begins where the one before it ends', () => {
    expect(rolesOf(damaged(image, createFile(logName(3), empty(21n))))).to.deep.equal([
      'sealed',
      'sealed',
      'sealed',
      'newest',
    ]);
  });

  for (const base of [20n, 22n, 0n, 2n ** 64n - 1n]) {
    it(`is abandoned when it is empty and begins at ${base}, where the one before it does not end`, async () => {
      const files = damaged(image, createFile(logName(3), empty(base)));
      expect(rolesOf(files)).to.deep.equal([...ordinary, 'abandoned']);
      const report = await reportOf(files);
      expect(told(report)).to.deep.equal([`warning AbandonedSegment ${logName(3)}@0`]);
      expect(report.findings[0]!.detail).to.deep.equal({ why: 'empty', bytes: 32 });
    });
  }

  for (const size of [0, 1, 31]) {
    it(`is abandoned when it is ${size} bytes, too short for a header`, async () => {
      const files = damaged(
        image,
        createFile(logName(3), empty(21n).slice(0, size)),
        createFile(indexName(3), new Uint8Array(5)),
      );
      expect(rolesOf(files)).to.deep.equal([...ordinary, 'abandoned']);
      const report = await reportOf(files);
      expect(told(report)).to.deep.equal([`warning AbandonedSegment ${logName(3)}@0`]);
      expect(report.findings[0]!.detail).to.deep.equal({ why: 'headerless', bytes: size });
      expect(report.segments[3]).to.include({ bytes: size, damagedBytes: size, verifiedBytes: 0, unreadBytes: 0 });
      expect(report.tailOffset).to.equal(21n);
    });
  }

  it('is abandoned and the next with it, as far as that goes', () => {
    const two = damaged(image, createFile(logName(3), empty(7n)), createFile(logName(4), new Uint8Array(9)));
    expect(rolesOf(two)).to.deep.equal([...ordinary, 'abandoned', 'abandoned']);
    const three = damaged(two, createFile(logName(9), new Uint8Array()));
    expect(rolesOf(three)).to.deep.equal([...ordinary, 'abandoned', 'abandoned', 'abandoned']);
  });

  it('stays when it is empty behind abandoned ones and begins where the one before it ends', () => {
    const files = damaged(image, createFile(logName(3), empty(21n)), createFile(logName(4), new Uint8Array(9)));
    expect(rolesOf(files)).to.deep.equal(['sealed', 'sealed', 'sealed', 'newest', 'abandoned']);
  });

  it('is held against the end behind a torn tail: where the torn record would be, it stays, and the open fails', async () => {
    const torn = damaged(image, truncate(logName(2), third.log.length - 1), createFile(logName(3), empty(20n)));
    expect(rolesOf(torn)).to.deep.equal(['sealed', 'sealed', 'sealed', 'newest']);
    expect(refused(await reportOf(torn))).to.deep.equal([`Truncated in 2 at ${third.positions[5]}`]);
  });

  it('is held against the end behind a torn tail: elsewhere it goes, and the torn tail is cut', async () => {
    const torn = damaged(image, truncate(logName(2), third.log.length - 1), createFile(logName(3), empty(21n)));
    expect(rolesOf(torn)).to.deep.equal([...ordinary, 'abandoned']);
    const report = await reportOf(torn);
    expect(report.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: 20n });
    expect(repaired(report).map((line) => line.split(' ').slice(0, 2))).to.deep.equal([
      ['delete-segment', logName(3)],
      ['truncate', logName(2)],
    ]);
  });

  it('is not judged when the one before it cannot be scanned to its end', () => {
    for (const damage of [flipBit(logName(2), 0, 0), flipBit(logName(2), third.positions[1]! + 30, 0)]) {
      expect(rolesOf(damaged(image, damage, createFile(logName(3), empty(99n))))).to.deep.equal([
        'sealed',
        'sealed',
        'sealed',
        'newest',
      ]);
    }
  });

  it('counts as empty when nothing but a torn record is in it', () => {
    const torn = damaged(image, createFile(logName(3), empty(50n)), append(logName(3), new Uint8Array(27)));
    expect(rolesOf(torn)).to.deep.equal([...ordinary, 'abandoned']);
    const rotten = damaged(image, createFile(logName(3), empty(50n)), append(logName(3), new Uint8Array(28)));
    expect(rolesOf(rotten)).to.deep.equal(['sealed', 'sealed', 'sealed', 'newest']);
    expect(rolesOf(rotten, null, true)).to.deep.equal([...ordinary, 'abandoned']);
  });

  it('stays when it holds one record, wherever that begins', () => {
    const files = damaged(image, createFile(logName(3), buildSegment({ records: [plain(70n)] }).log));
    expect(rolesOf(files)).to.deep.equal(['sealed', 'sealed', 'sealed', 'newest']);
  });

  it('stays when its header is damaged: that is never an unfinished write', () => {
    const headless = empty(50n);
    headless[3]! ^= 1;
    expect(rolesOf(damaged(image, createFile(logName(3), headless)))).to.deep.equal([
      'sealed',
      'sealed',
      'sealed',
      'newest',
    ]);
  });

  it('stays when it cannot be read', () => {
    const { segments: read } = factsOf(damaged(image, createFile(logName(3), new Uint8Array(3))));
    const unread = [...read.slice(0, 3), { ...read[3]!, scan: null }];
    expect(
      assignRoles(unread, SETTINGS, null)
        .map(({ role }) => role)
        .at(-1),
    ).to.equal('newest');
  });

  it('stays when it is empty and the only one, whatever its base', async () => {
    const only = new Map([[logName(0), empty(77n)]]);
    expect(rolesOf(only)).to.deep.equal(['newest']);
    const report = await reportOf(only);
    expect(told(report)).to.deep.equal([`warning IndexMissing ${indexName(0)}`]);
    expect(report.tailOffset).to.equal(77n);
    expect(report.prediction).to.include({ verdict: 'opens', tailOffsetAfter: 77n });
  });
});

describe('a blank first segment', () => {
  for (const size of [0, 10, 31, 32]) {
    it(`of ${size} zero bytes is deleted when it is the only one`, async () => {
      const files = new Map([[logName(0), new Uint8Array(size)]]);
      expect(rolesOf(files)).to.deep.equal(['blank-first']);
      const report = await reportOf(files);
      expect(told(report)).to.deep.equal([`warning BlankFirstSegment ${logName(0)}@0`]);
      expect(report.prediction).to.include({ verdict: 'repairs', tailOffsetAfter: 0n });
      expect(report.segments[0]).to.include({ damagedBytes: size, verifiedBytes: 0, unreadBytes: 0 });
    });
  }

  it('of 33 zero bytes had a durable header, and stays fatal', async () => {
    const files = new Map([[logName(0), new Uint8Array(33)]]);
    expect(rolesOf(files)).to.deep.equal(['newest']);
    const report = await reportOf(files);
    expect(refused(report)).to.deep.equal(['SegmentMagic in 0 at 0']);
  });

  it('is no such when a byte of it is not zero', async () => {
    const bytes = new Uint8Array(10);
    bytes[9] = 1;
    const report = await reportOf(new Map([[logName(0), bytes]]));
    expect(refused(report)).to.deep.equal(['Truncated in 0 at 0']);
    expect(report.segments[0]).to.include({ damagedBytes: 10, verifiedBytes: 0, unreadBytes: 0 });
  });

  it('is no such when its bytes could not be read', () => {
    const [segment] = factsOf(new Map([[logName(0), new Uint8Array(10)]])).segments;
    const scan = segment!.scan!;
    const problem = { code: 'EIO', message: 'input/output error', position: 0 };
    const head = { ...scan.head, headerBytes: new Uint8Array(0), problem };
    for (const unread of [null, { ...scan, head }]) {
      expect(assignRoles([{ ...segment!, scan: unread }], SETTINGS, null)[0]!.role).to.equal('newest');
    }
    expect(assignRoles([segment!], SETTINGS, null)[0]!.role).to.equal('blank-first');
  });

  it('is no such under another id', async () => {
    const report = await reportOf(new Map([[logName(5), new Uint8Array(32)]]));
    expect(refused(report)).to.deep.equal(['SegmentMagic in 5 at 0']);
  });

  it('is no such when replica commits an offset: then records are gone', async () => {
    for (const [commit, verdict] of [
      [0n, 'repairs'],
      [1n, 'refuses'],
    ] as const) {
      const replica = encodeReplica({ generation: 3n, commit });
      const report = await reportOf(
        new Map([
          [logName(0), new Uint8Array(32)],
          ['replica', replica],
        ]),
      );
      expect(report.prediction.verdict).to.equal(verdict);
    }
  });

  it('is no such while another segment is there, also one that recovery deletes', async () => {
    const files = new Map([
      [logName(0), new Uint8Array(32)],
      [logName(1), new Uint8Array(4)],
    ]);
    expect(rolesOf(files)).to.deep.equal(['newest', 'abandoned']);
    expect(refused(await reportOf(files))).to.deep.equal(['SegmentMagic in 0 at 0']);
    const followed = buildShard({ segments: [segments[0]!, segments[1]!] });
    expect(rolesOf(damaged(followed, truncate(logName(0), 0)))).to.deep.equal(['sealed', 'newest']);
  });

  it('is no such when it has a whole header', () => {
    expect(rolesOf(new Map([[logName(0), empty(0n)]]))).to.deep.equal(['newest']);
  });
});

describe('a log that does not begin with segment 0', () => {
  it('is whole under a segment id of its own, also alone', async () => {
    const alone = damaged(
      buildShard({ segments: [third] }),
      renameFile(logName(0), logName(5)),
      renameFile(indexName(0), indexName(5)),
    );
    const report = await reportOf(alone);
    expect(told(report)).to.deep.equal([]);
    expect(report).to.include({ baseOffset: 15n, tailOffset: 21n });
  });

  it('is no loss that can be told when its oldest segments are gone', async () => {
    const trimmed = damaged(image, deleteFile(logName(0)), deleteFile(indexName(0)));
    expect(told(await reportOf(trimmed))).to.deep.equal([]);
  });
});
