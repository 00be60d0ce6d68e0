import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { fullOutcome, isAheadOfEmpty, isRepairable, sealedOutcome } from '../../src/check/broker.js';
import { concatBytes, writeU32 } from '../../src/format/bytes.js';
import { encodeRecord } from '../../src/format/record.js';
import { refused, repaired, reportOf } from '../builders/checking.js';
import { append, type Damage, damaged, flipBit, truncate, write } from '../builders/damage.js';
import { factsOf } from '../builders/facts.js';
import { opens, plain } from '../builders/records.js';
import { logName, shardOf, threeSegments } from '../builders/shards.js';

const { image, segments } = threeSegments();
const newest = segments[2]!;
const LAST = newest.positions[5]!;
const END = newest.log.length;
const DEFAULTS = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 };
const MIB_64 = 64 * 1024 * 1024;

/** A record whose header verifies, and says what the caller likes. */
function header(lengthWord: number, offset: bigint): Uint8Array {
  const bytes = new Uint8Array(28);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, lengthWord);
  view.setBigUint64(4, offset);
  view.setBigUint64(12, 1_767_225_600_000_000n);
  writeU32(bytes, 20, crc32(bytes.subarray(0, 20)));
  return bytes;
}

function record(offset: bigint, payloadLength = 20): Uint8Array {
  return encodeRecord(plain(offset, { payloadLength }));
}

/** The same record with a payload that does not fit its checksum. */
function rotten(offset: bigint): Uint8Array {
  const bytes = record(offset);
  bytes[40]! ^= 1;
  return bytes;
}

/** The same record with a header that does not fit its checksum. */
function rottenHeader(offset: bigint, payloadLength = 20): Uint8Array {
  const bytes = record(offset, payloadLength);
  bytes[13]! ^= 1;
  return bytes;
}

interface Row {
  readonly title: string;
  readonly tail: Uint8Array;
  readonly kind: string;
  readonly byDefault: boolean;
  readonly optedIn: boolean;
}

const junk = (length: number) => new Uint8Array(length).fill(0xee);

/** What stands behind the last whole record of the newest segment, and whether recovery may cut there. */
const ROWS: readonly Row[] = [
  { title: '1 byte', tail: junk(1), kind: 'Truncated', byDefault: true, optedIn: true },
  { title: '27 bytes', tail: junk(27), kind: 'Truncated', byDefault: true, optedIn: true },
  { title: '27 zeros', tail: new Uint8Array(27), kind: 'Truncated', byDefault: true, optedIn: true },
  { title: 'a header alone', tail: record(21n).subarray(0, 28), kind: 'Truncated', byDefault: true, optedIn: true },
  { title: 'all but a byte', tail: record(21n).subarray(0, 47), kind: 'Truncated', byDefault: true, optedIn: true },
  {
    title: 'a tagged record cut inside its tag',
    tail: encodeRecord(opens(21n, { producerId: 1n, sequence: 1n, len: 1 })).subarray(0, 47),
    kind: 'Truncated',
    byDefault: true,
    optedIn: true,
  },
  {
    title: 'a torn record with the wrong offset',
    tail: record(99n).subarray(0, 40),
    kind: 'Truncated',
    byDefault: true,
    optedIn: true,
  },
  { title: 'p + 28 = n', tail: junk(28), kind: 'RecordHeaderChecksum', byDefault: false, optedIn: true },
  { title: '28 zeros', tail: new Uint8Array(28), kind: 'RecordHeaderChecksum', byDefault: false, optedIn: true },
  { title: 'p + 28 = n - 1', tail: junk(29), kind: 'RecordHeaderChecksum', byDefault: false, optedIn: false },
  { title: '29 zeros', tail: new Uint8Array(29), kind: 'RecordHeaderChecksum', byDefault: false, optedIn: false },
  {
    title: 'a whole record of no payload whose header is rotten',
    tail: rottenHeader(21n, 0),
    kind: 'RecordHeaderChecksum',
    byDefault: false,
    optedIn: true,
  },
  {
    title: 'a whole record whose header is rotten',
    tail: rottenHeader(21n),
    kind: 'RecordHeaderChecksum',
    byDefault: false,
    optedIn: false,
  },
  { title: 'end = n', tail: rotten(21n), kind: 'RecordChecksum', byDefault: false, optedIn: true },
  {
    title: 'end < n by a byte',
    tail: concatBytes([rotten(21n), junk(1)]),
    kind: 'RecordChecksum',
    byDefault: false,
    optedIn: false,
  },
  {
    title: 'a good record behind it',
    tail: concatBytes([rotten(21n), record(22n)]),
    kind: 'RecordChecksum',
    byDefault: false,
    optedIn: false,
  },
  { title: 'ahead, end = n', tail: record(30n), kind: 'OffsetOutOfOrder', byDefault: false, optedIn: true },
  { title: 'behind, end = n', tail: record(20n), kind: 'OffsetOutOfOrder', byDefault: false, optedIn: true },
  {
    title: 'end < n by a byte',
    tail: concatBytes([record(30n), junk(1)]),
    kind: 'OffsetOutOfOrder',
    byDefault: false,
    optedIn: false,
  },
  {
    title: 'a record that goes on from it',
    tail: concatBytes([record(30n), record(31n)]),
    kind: 'OffsetOutOfOrder',
    byDefault: false,
    optedIn: false,
  },
  {
    title: 'its claim runs past the end',
    tail: header(MIB_64 + 1, 21n),
    kind: 'RecordTooLarge',
    byDefault: false,
    optedIn: true,
  },
  {
    title: 'the largest claim there is',
    tail: header(0x1fff_ffff, 21n),
    kind: 'RecordTooLarge',
    byDefault: false,
    optedIn: true,
  },
  {
    title: 'two kinds at once',
    tail: header(0xc000_0000, 21n),
    kind: 'RecordFlags',
    byDefault: false,
    optedIn: false,
  },
  {
    title: 'all three kinds and too long as well',
    tail: header(0xffff_ffff, 21n),
    kind: 'RecordFlags',
    byDefault: false,
    optedIn: false,
  },
];

describe('what recovery may cut off the newest segment', () => {
  for (const { title, tail, kind, byDefault, optedIn } of ROWS) {
    const when = byDefault ? 'always' : optedIn ? 'with repair_checksum_tail' : 'never';
    it(`${kind} (${title}): ${when}`, async () => {
      const broken = damaged(image, append(logName(2), tail));
      for (const [repairChecksumTail, cut] of [
        [false, byDefault],
        [true, optedIn],
      ] as const) {
        const report = await reportOf(broken, { repairChecksumTail });
        const { prediction } = report;
        if (cut) {
          expect(prediction.verdict).to.equal('repairs');
          expect(prediction.repairs.map(({ action, toBytes }) => [action, toBytes])).to.deep.equal([['truncate', END]]);
          expect(prediction.tailOffsetAfter).to.equal(21n);
          expect(refused(report)).to.deep.equal([]);
        } else {
          expect(prediction.verdict).to.equal('refuses');
          expect(refused(report)[0]).to.equal(`${kind} in 2 at ${END}`);
          expect(prediction.tailOffsetAfter).to.equal(null);
        }
        expect(report.findings[0]!.kind).to.equal(kind);
        expect(report.findings[0]!.severity === 'fatal').to.equal(!cut);
      }
    });
  }

  it('RecordTooLarge: never when the claim ends at the end of the file, or before it', () => {
    const at = (claimedEnd: number) => ({
      corruption: { kind: 'RecordTooLarge', payloadLen: MIB_64 + 1, limit: MIB_64 } as const,
      position: 100,
      end: 5000,
      resumedAt: null,
      claimedEnd,
      offset: 3n,
      lost: null,
      recordsBefore: 3,
    });
    const size = 100 + 28 + MIB_64 + 1;
    expect(isRepairable(at(size), size - 1, true)).to.equal(true);
    expect(isRepairable(at(size), size, true)).to.equal(false);
    expect(isRepairable(at(size), size + 1, true)).to.equal(false);
    expect(isRepairable(at(size), size - 1, false)).to.equal(false);
  });

  const headers: Record<string, Damage> = {
    SegmentMagic: flipBit(logName(2), 1, 0),
    SegmentVersion: flipBit(logName(2), 5, 5),
    SegmentFlags: flipBit(logName(2), 6, 0),
    SegmentHeaderChecksum: flipBit(logName(2), 25, 0),
  };
  for (const [kind, damage] of Object.entries(headers)) {
    it(`${kind}: never`, async () => {
      for (const repairChecksumTail of [false, true]) {
        const report = await reportOf(damaged(image, damage), { repairChecksumTail });
        expect(refused(report)).to.deep.equal([`${kind} in 2 at 0`]);
        expect(repaired(report)).to.deep.equal([]);
      }
    });
  }

  it('is decided by the first failure alone', async () => {
    const half = record(17n, 4000).subarray(0, 60);
    const torn = damaged(image, write(logName(2), newest.positions[2]!, half));
    expect((await reportOf(torn)).prediction.verdict).to.equal('repairs');
    const rotThenTorn = damaged(image, flipBit(logName(2), LAST + 30, 0), append(logName(2), junk(5)));
    expect(refused(await reportOf(rotThenTorn, { repairChecksumTail: true }))[0]).to.equal(
      `RecordChecksum in 2 at ${LAST}`,
    );
  });
});

describe('a broker’s scan of a sealed segment', () => {
  const { image: indexed, segments: parts } = shardOf([{ parts: [30], indexSpacing: 256 }, { parts: [2] }]);
  const sealed = parts[0]!;
  const settings = DEFAULTS;

  it('begins at the last entry of its index', () => {
    const rot = damaged(indexed, flipBit(logName(0), sealed.positions[2]! + 30, 0));
    const segment = factsOf(rot).segments[0]!;
    expect(sealedOutcome(segment, settings)).to.deep.include({ is: 'whole', nextOffset: 30n });
    expect(sealedOutcome(segment, { ...settings, verifyAllOnOpen: true })).to.deep.include({ is: 'fails' });
    expect(fullOutcome(segment, settings, false).is).to.equal('fails');
  });

  it('cuts nothing, not even a torn tail', () => {
    const torn = factsOf(damaged(indexed, truncate(logName(0), sealed.log.length - 3))).segments[0]!;
    expect(sealedOutcome(torn, settings).is).to.equal('fails');
    expect(sealedOutcome(torn, { ...settings, repairChecksumTail: true }).is).to.equal('fails');
    expect(fullOutcome(torn, settings, true)).to.deep.include({ is: 'cut', nextOffset: 29n, records: 29 });
  });

  it('cuts nothing where there is no index either, and counts what it met', () => {
    const bare = new Map([...indexed].filter(([file]) => !file.endsWith('.index')));
    const torn = factsOf(damaged(bare, truncate(logName(0), sealed.log.length - 3))).segments[0]!;
    expect(torn.scan!.resumed).to.equal(null);
    expect(sealedOutcome(torn, settings).is).to.equal('fails');
    const [whole] = factsOf(indexed).segments;
    expect(sealedOutcome(whole!, settings)).to.deep.equal({ is: 'whole', nextOffset: 30n, records: 30 });
    const quick = { ...whole!, scan: { ...whole!.scan!, records: null } };
    expect(sealedOutcome(quick, settings)).to.deep.equal({ is: 'whole', nextOffset: 30n, records: 0 });
    expect(sealedOutcome({ ...whole!, scan: null }, settings).is).to.equal('unknown');
  });

  it('is of all of it when the newest, right behind it, holds no record', () => {
    const empty = shardOf([{ parts: [3] }, { parts: [4] }, { parts: [] }]);
    const { segments: all } = factsOf(empty.image);
    const ahead = (list: typeof all) => list.map((segment) => isAheadOfEmpty(list, segment, settings));
    expect(ahead(all)).to.deep.equal([false, true, false]);
    expect(ahead(factsOf(indexed).segments), 'a newest with records').to.deep.equal([false, false]);
    const torn = factsOf(damaged(empty.image, append(logName(2), record(7n).slice(0, 30)))).segments;
    expect(ahead(torn), 'a newest with half a record').to.deep.equal([false, true, false]);
    const rot = factsOf(damaged(empty.image, append(logName(2), rotten(7n)))).segments;
    expect(ahead(rot), 'a newest that fails').to.deep.equal([false, false, false]);
    const abandoned = all.map((segment, i) => ({ ...segment, role: (['sealed', 'newest', 'abandoned'] as const)[i]! }));
    expect(ahead(abandoned), 'an empty one behind the newest').to.deep.equal([false, false, false]);
    expect(ahead([{ ...all[2]!, role: 'newest' as const }]), 'alone').to.deep.equal([false]);
  });

  it('fails on a header that does not decode, whatever the index says', () => {
    const headless = factsOf(damaged(indexed, flipBit(logName(0), 0, 0))).segments[0]!;
    const outcome = sealedOutcome(headless, settings);
    expect(outcome).to.deep.equal({
      is: 'fails',
      failure: { corruption: { kind: 'SegmentMagic', found: '0x474c5347' }, position: 0 },
    });
  });

  it('is unknown where reading failed, and not whole', () => {
    const segment = factsOf(indexed).segments[0]!;
    const scan = segment.scan!;
    const stopped = { code: 'EIO', message: 'i/o error, read', position: 4000 };
    const noResume = { ...segment, scan: { ...scan, resumed: null, records: { ...scan.records!, stopped } } };
    expect(sealedOutcome(noResume, settings).is).to.equal('unknown');
    const resumed = { ...segment, scan: { ...scan, resumed: { ...scan.resumed!, stopped: true } } };
    expect(sealedOutcome(resumed, settings).is).to.equal('unknown');
    expect(fullOutcome({ ...segment, scan: null }, settings, true).is).to.equal('unknown');
    const unread = { ...segment, scan: { ...scan, records: null } };
    expect(fullOutcome(unread, settings, true).is).to.equal('unknown');
  });
});
