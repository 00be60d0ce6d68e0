import { rmSync, truncateSync } from 'node:fs';
import { expect } from 'chai';
import { encodeIndex } from '../../src/format/index.js';
import { BadDisk, failing, Interfering, refused, repaired, reportOf } from '../builders/checking.js';
import {
  append,
  createFile,
  type Damage,
  damaged,
  deleteFile,
  flipBit,
  truncate,
  write,
  zero,
} from '../builders/damage.js';
import { told } from '../builders/facts.js';
import { buildSegment } from '../builders/segments.js';
import { indexName, logName, shardOf } from '../builders/shards.js';

/** Segments 0 and 1 are sealed; every third record or so of segment 0 has an entry. */
const { image, segments } = shardOf([
  { parts: [24], indexSpacing: 160 },
  { parts: [4] },
  { parts: [12], indexSpacing: 160 },
]);
const [sealed, , newest] = [segments[0]!, segments[1]!, segments[2]!];

interface Entry {
  readonly offset: bigint;
  readonly position: bigint;
}

function entriesOf(index: Uint8Array): Entry[] {
  const view = new DataView(index.buffer, index.byteOffset);
  return Array.from({ length: (index.length - 24) / 16 }, (_, i) => ({
    offset: view.getBigUint64(24 + 16 * i),
    position: view.getBigUint64(32 + 16 * i),
  }));
}

const entries = entriesOf(sealed.index);
const COUNT = entries.length;
const LAST = COUNT - 1;

/** Byte position of an entry in its index. */
const at = (entry: number) => 24 + 16 * entry;

/** The index of segment 0 with these entries. */
function indexed(...changed: readonly Entry[]): Damage {
  return createFile(indexName(0), encodeIndex(0n, changed));
}

function withEntry(entry: number, changed: Partial<Entry>): Damage {
  return indexed(...entries.map((each, i) => (i === entry ? { ...each, ...changed } : each)));
}

const positionOf = (record: number) => BigInt(sealed.positions[record]!);
const SIZE = sealed.log.length;

describe('an index that is sound', () => {
  it('has every entry held against its record', async () => {
    expect(COUNT).to.be.above(5);
    const report = await reportOf(image);
    expect(told(report)).to.deep.equal([]);
    expect(report.segments[0]!.index).to.deep.equal({
      file: indexName(0),
      entries: COUNT,
      usable: true,
      checkedEntries: COUNT,
      notJudgedEntries: 0,
    });
  });

  it('may be spaced otherwise than the settings say', async () => {
    expect(told(await reportOf(image, { indexSpacing: 64 }))).to.deep.equal([]);
  });
});

describe('an index that does not load', () => {
  const cases: [string, Damage, string, number | undefined, object][] = [
    ['IndexMissing: no file', deleteFile(indexName(0)), 'IndexMissing', undefined, {}],
    ['Truncated: 0 bytes', truncate(indexName(0), 0), 'Truncated', 0, { needed: 24, available: 0 }],
    ['Truncated: 23 bytes', truncate(indexName(0), 23), 'Truncated', 0, { needed: 24, available: 23 }],
    ['IndexMagic', flipBit(indexName(0), 3, 1), 'IndexMagic', 0, { found: '0x464c534b' }],
    ['IndexVersion: 1', write(indexName(0), 4, new Uint8Array([0, 1])), 'IndexVersion', 0, { found: 1 }],
    ['IndexVersion: 5', write(indexName(0), 4, new Uint8Array([0, 5])), 'IndexVersion', 0, { found: 5 }],
    ['IndexBaseOffset', flipBit(indexName(0), 15, 2), 'IndexBaseOffset', 8, { expected: 0n, found: 4n }],
  ];
  for (const [title, damage, kind, position, detail] of cases) {
    it(`${title} is a warning, and a broker builds it anew`, async () => {
      const report = await reportOf(damaged(image, damage));
      expect(told(report)).to.deep.equal([
        `warning ${kind} ${indexName(0)}${position === undefined ? '' : `@${position}`}`,
      ]);
      expect(report.findings[0]!.detail).to.deep.equal(detail);
      expect(report.prediction.verdict).to.equal('opens');
      expect(repaired(report)[0]).to.match(new RegExp(`^rebuild-index ${indexName(0)} `));
    });
  }

  for (const version of [2, 3, 4]) {
    it(`is not one of version ${version}, which is read`, async () => {
      expect(told(await reportOf(damaged(image, write(indexName(0), 4, new Uint8Array([0, version])))))).to.deep.equal(
        [],
      );
    });
  }

  it('is not one whose flags are not 0: that is a warning at position 6, and the entries count', async () => {
    const report = await reportOf(damaged(image, write(indexName(0), 6, new Uint8Array([0x01, 0x02]))));
    expect(told(report)).to.deep.equal([`warning IndexFlags ${indexName(0)}@6`]);
    expect(report.findings[0]!.detail).to.deep.equal({ found: '0x0102' });
    expect(report.segments[0]!.index).to.include({ usable: true, checkedEntries: COUNT });
  });

  it('has no entries told: flags and base are all there is to say of it', async () => {
    const report = await reportOf(
      damaged(image, withEntry(1, { position: 40n }), flipBit(indexName(0), 15, 2), flipBit(indexName(0), 7, 0)),
    );
    expect(told(report)).to.deep.equal([
      `warning IndexFlags ${indexName(0)}@6`,
      `warning IndexBaseOffset ${indexName(0)}@8`,
    ]);
    expect(report.segments[0]!.index).to.include({ usable: false, checkedEntries: 0, entries: COUNT });
  });

  it('is none without entries: the segment is scanned whole, which is no fault', async () => {
    const report = await reportOf(damaged(image, indexed()));
    expect(told(report)).to.deep.equal([]);
  });

  it('is a torn last entry no fault: it is told as info, with its bytes', async () => {
    for (const bytes of [1, 15]) {
      const report = await reportOf(damaged(image, append(indexName(0), new Uint8Array(bytes))));
      expect(told(report)).to.deep.equal([`info IndexTornEntry ${indexName(0)}@${at(COUNT)}`]);
      expect(report.findings[0]!.detail).to.deep.equal({ bytes });
      expect(report.segments[0]!.index).to.include({ entries: COUNT, checkedEntries: COUNT });
    }
  });
});

describe('the last entry of a sealed index', () => {
  /** What is wrong, and where the broker's scan from there fails; null when it opens. */
  const cases: [string, Partial<Entry>, string | null][] = [
    ['far past the end of the file', { position: 2n ** 63n }, 'Truncated in 0'],
    ['a byte past the end of the file', { position: BigInt(SIZE + 1) }, `Truncated in 0 at ${SIZE + 1}`],
    ['27 bytes in front of the end', { position: BigInt(SIZE - 27) }, `Truncated in 0 at ${SIZE - 27}`],
    [
      'inside a record',
      { position: positionOf(22) + 1n },
      `RecordHeaderChecksum in 0 at ${Number(positionOf(22)) + 1}`,
    ],
    [
      'a record behind its offset',
      { position: positionOf(22), offset: 21n },
      `OffsetOutOfOrder in 0 at ${positionOf(22)}`,
    ],
    [
      'a record in front of its offset',
      { position: positionOf(22), offset: 23n },
      `OffsetOutOfOrder in 0 at ${positionOf(22)}`,
    ],
    [
      'the end of the file with an offset too low',
      { position: BigInt(SIZE), offset: 23n },
      'OffsetOutOfOrder in 1 at 0',
    ],
    [
      'the end of the file with an offset too high',
      { position: BigInt(SIZE), offset: 25n },
      'OffsetOutOfOrder in 1 at 0',
    ],
    ['the end of the file with the right offset', { position: BigInt(SIZE), offset: 24n }, null],
  ];
  for (const [what, changed, refusal] of cases) {
    it(`pointing at ${what} is ${refusal === null ? 'an error' : 'fatal: a broker believes it'}`, async () => {
      const broken = damaged(image, withEntry(LAST, changed));
      for (const quick of [false, true]) {
        const report = await reportOf(broken, { quick });
        if (refusal === null) {
          expect(refused(report)).to.deep.equal([]);
          if (!quick) expect(told(report)).to.deep.equal([`error IndexEntry ${indexName(0)}@${at(LAST)}`]);
        } else {
          expect(refused(report).length).to.equal(1);
          expect(refused(report)[0]).to.match(new RegExp(`^${refusal}`));
          if (!quick) expect(told(report)).to.deep.equal([`fatal IndexEntry ${indexName(0)}@${at(LAST)}`]);
        }
      }
    });
  }

  it('is told with what it says, and why it is wrong', async () => {
    const report = await reportOf(damaged(image, withEntry(LAST, { position: positionOf(22), offset: 21n })));
    const { why, ...detail } = report.findings[0]!.detail as { why: string };
    expect(detail).to.deep.equal({ entry: LAST, offset: 21n, entryPosition: positionOf(22), dropped: false });
    expect(why).to.equal('the record there has offset 22');
  });

  it('is a warning to a broker that verifies all, which believes no entry', async () => {
    const report = await reportOf(damaged(image, withEntry(LAST, { position: positionOf(22) + 1n })), {
      verifyAllOnOpen: true,
    });
    expect(report.prediction.verdict).to.equal('opens');
    expect(report.findings.map(({ kind }) => kind)).to.deep.equal(['IndexEntry']);
    expect(report.findings[0]!.severity).to.not.equal('fatal');
  });

  it('is right when it begins a record, wherever that is', async () => {
    for (const record of [20, 23]) {
      const right = { offset: BigInt(record), position: positionOf(record) };
      const report = await reportOf(damaged(image, indexed(entries[0]!, right)));
      expect(told(report), `record ${record}`).to.deep.equal([]);
    }
  });

  it('is not held against the bases when the next segment has no readable header', async () => {
    const report = await reportOf(
      damaged(image, withEntry(LAST, { position: BigInt(SIZE), offset: 23n }), zero(logName(1), 0, 32)),
    );
    expect(told(report)).to.deep.equal([
      `fatal SegmentMagic ${logName(1)}@0`,
      `error IndexEntry ${indexName(0)}@${at(LAST)}`,
    ]);
  });
});

describe('an entry in front of the last', () => {
  it('that is not the start of its record is an error: the open does not use it', async () => {
    const middle = entries[2]!;
    for (const changed of [{ position: middle.position + 1n }, { offset: middle.offset + 1n }]) {
      const report = await reportOf(damaged(image, withEntry(2, changed)));
      expect(told(report)).to.deep.equal([`error IndexEntry ${indexName(0)}@${at(2)}`]);
      expect(report.prediction.verdict).to.equal('opens');
    }
  });

  it('is each told, in the order of the index', async () => {
    const wrong = entries.map((entry, i) => (i === 1 || i === 3 ? { ...entry, position: entry.position + 3n } : entry));
    const report = await reportOf(damaged(image, indexed(...wrong)));
    expect(told(report)).to.deep.equal([
      `error IndexEntry ${indexName(0)}@${at(1)}`,
      `error IndexEntry ${indexName(0)}@${at(3)}`,
    ]);
  });
});

describe('an entry that the loader drops', () => {
  const cases: [string, number, Partial<Entry>][] = [
    ['whose position lies in the header', 2, { position: 31n }],
    ['whose position is 0', 2, { position: 0n }],
    ['whose offset is that of the one before it', 2, { offset: entries[1]!.offset }],
    ['whose offset falls', 3, { offset: entries[1]!.offset }],
    ['whose position is that of the one before it', 2, { position: entries[1]!.position }],
    ['whose position falls', 3, { position: entries[1]!.position }],
  ];
  for (const [what, entry, changed] of cases) {
    it(`${what} is a warning`, async () => {
      const report = await reportOf(damaged(image, withEntry(entry, changed)));
      expect(told(report)).to.deep.equal([`warning IndexEntry ${indexName(0)}@${at(entry)}`]);
      expect(report.findings[0]!.detail).to.include({ entry, dropped: true });
      expect(report.prediction.verdict).to.equal('opens');
    });
  }

  it('as the last leaves the one kept before it as the last that a broker believes', async () => {
    const dropped = damaged(image, withEntry(LAST, { position: 5n }));
    const behind = sealed.positions.findIndex((position) => BigInt(position) === entries[LAST - 1]!.position);
    const rot = (record: number) => flipBit(logName(0), sealed.positions[record]! + 30, 0);
    expect(told(await reportOf(dropped))).to.deep.equal([`warning IndexEntry ${indexName(0)}@${at(LAST)}`]);
    const met = await reportOf(damaged(dropped, rot(behind)));
    expect(refused(met)).to.deep.equal([`RecordChecksum in 0 at ${sealed.positions[behind]}`]);
    const notMet = await reportOf(damaged(dropped, rot(behind - 1)));
    expect(notMet.prediction.verdict).to.equal('opens');
    expect(failing(notMet)).to.deep.equal([
      `RecordChecksum in 0 at ${sealed.positions[behind - 1]}, ${behind - 1}..${behind}`,
    ]);
  });

  it('as the last, behind one that points elsewhere, makes that one fatal', async () => {
    const wrong = entries.map((entry, i) =>
      i === LAST ? { ...entry, offset: 1n } : i === LAST - 1 ? { ...entry, position: entry.position + 1n } : entry,
    );
    const report = await reportOf(damaged(image, indexed(...wrong)));
    expect(told(report)).to.deep.equal([
      `fatal IndexEntry ${indexName(0)}@${at(LAST - 1)}`,
      `warning IndexEntry ${indexName(0)}@${at(LAST)}`,
    ]);
  });

  it('as every one of them leaves an index without entries', async () => {
    const report = await reportOf(damaged(image, indexed({ offset: 0n, position: 31n }, { offset: 0n, position: 1n })));
    expect(report.findings.map(({ severity }) => severity)).to.deep.equal(['warning', 'warning']);
    expect(repaired(report).map((line) => line.split(' ')[1])).to.deep.equal([indexName(0)]);
  });

  it('behind one with the largest offset is every other', async () => {
    const wrong = entries.map((entry, i) => (i === 1 ? { ...entry, offset: 2n ** 64n - 1n } : entry));
    const report = await reportOf(damaged(image, indexed(...wrong)));
    expect(told(report)[0]).to.equal(`fatal IndexEntry ${indexName(0)}@${at(1)}`);
    expect(told(report).length).to.equal(COUNT - 1);
    expect(report.findings[0]!.detail).to.include({ offset: 2n ** 64n - 1n });
  });
});

describe('the index of the newest segment', () => {
  it('is written anew at every open: whatever is wrong with an entry is a warning', async () => {
    const own = entriesOf(newest.index);
    const wrong = own.map((entry, i) => (i === own.length - 1 ? { ...entry, position: 1_000_000n } : entry));
    const broken = damaged(image, createFile(indexName(2), encodeIndex(newest.baseOffset, wrong)));
    const report = await reportOf(broken);
    expect(told(report)).to.deep.equal([`warning IndexEntry ${indexName(2)}@${at(own.length - 1)}`]);
    expect(report.prediction).to.deep.include({ verdict: 'opens', repairs: [] });
  });

  it('that is missing is a warning', async () => {
    const report = await reportOf(damaged(image, deleteFile(indexName(2))));
    expect(told(report)).to.deep.equal([`warning IndexMissing ${indexName(2)}`]);
    expect(report.prediction).to.deep.include({ verdict: 'opens', repairs: [] });
  });
});

describe('entries that are not judged', () => {
  it('are those inside damage and at its start, and they are counted as such', async () => {
    const inDamage = sealed.positions.findIndex((position) => BigInt(position) === entries[2]!.position);
    for (const damage of [
      flipBit(logName(0), sealed.positions[inDamage]! + 30, 0),
      zero(logName(0), sealed.positions[inDamage]! - 5, 60),
    ]) {
      const report = await reportOf(damaged(image, damage));
      expect(report.findings.filter(({ kind }) => kind === 'IndexEntry')).to.deep.equal([]);
      expect(report.segments[0]!.index).to.include({ checkedEntries: COUNT - 1, notJudgedEntries: 1 });
    }
  });

  it('are those of a segment whose header does not decode', async () => {
    const report = await reportOf(
      damaged(image, zero(logName(0), 0, 32), withEntry(2, { position: entries[2]!.position + 1n })),
    );
    expect(told(report)).to.deep.equal([`fatal SegmentMagic ${logName(0)}@0`]);
    expect(report.segments[0]!.index).to.include({ checkedEntries: 0, notJudgedEntries: COUNT });
  });

  it('are those of a segment that recovery deletes', async () => {
    const own = encodeIndex(7n, [{ offset: 7n, position: 99n }]);
    const empty = buildSegment({ baseOffset: 7n, records: [] }).log;
    const report = await reportOf(damaged(image, createFile(logName(3), empty), createFile(indexName(3), own)));
    expect(told(report)).to.deep.equal([`warning AbandonedSegment ${logName(3)}@0`]);
    expect(report.segments[3]!.index).to.include({ checkedEntries: 0, notJudgedEntries: 1 });
  });

  it('are those behind the place where the segment could not be read', async () => {
    const long = shardOf([{ parts: [100], indexSpacing: 512 }, { parts: [1] }]);
    const report = await reportOf(long.image, { scanner: new BadDisk(logName(0), 4096, 5000), windowBytes: 512 });
    const { checkedEntries, notJudgedEntries, entries: all } = report.segments[0]!.index!;
    expect(checkedEntries).to.be.within(5, 9);
    expect(notJudgedEntries).to.be.above(0);
    expect(checkedEntries + notJudgedEntries).to.equal(all);
  });
});

describe('an index that cannot be read', () => {
  it('is told as that, takes nothing from its segment, and is not said to be rebuilt', async () => {
    const report = await reportOf(image, { scanner: new BadDisk(indexName(0), 0, 24) });
    expect(told(report)).to.deep.equal([`error Unreadable ${indexName(0)}@0`]);
    expect(report.segments[0]).to.include({ records: 24, unreadBytes: 0, index: null });
    expect(repaired(report)).to.deep.equal([]);
    expect(report.prediction.notJudged).to.deep.equal([`${indexName(0)} could not be read`]);
  });

  it('because it shrank or went meanwhile is a change, not damage', async () => {
    for (const [change, act] of [
      ['shrank', (path: string) => truncateSync(path, 30)],
      ['vanished', (path: string) => rmSync(path)],
    ] as const) {
      const scanner = new Interfering((path) => {
        if (path.endsWith(logName(0))) act(path.replace(/log$/, 'index'));
      });
      const report = await reportOf(image, { scanner });
      expect(told(report).map((line) => line.split('@')[0])).to.deep.equal([
        `info ChangedWhileReading ${indexName(0)}`,
      ]);
      expect(report.findings[0]!.detail).to.include({ change });
    }
  });
});

describe('an index beside no segment', () => {
  it('is a stray that says so', async () => {
    const report = await reportOf(damaged(image, createFile(indexName(8), sealed.index)));
    expect(told(report)).to.deep.equal([`info StrayFile ${indexName(8)}`]);
    expect(report.findings[0]!.message).to.contain('no segment of that id');
  });
});
