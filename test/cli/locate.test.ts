import path from 'node:path';
import { expect } from 'chai';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeRecord } from '../../src/format/record.js';
import { displayWidth } from '../../src/report/wrap.js';
import { damaged, deleteFile, flipBit, truncate, write } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { plain, plainRun } from '../builders/records.js';
import { RAW } from '../builders/reports.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  type ShardImage,
  shardOf,
  threeSegments,
  threeV2Segments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  wellIndexed,
  writeShardBelow,
} from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

// biome-ignore lint/suspicious/noExplicitAny: a parsed document, of which each test names what it looks at
type Document = any;

async function locate(image: ShardImage, ...args: readonly string[]): Promise<Document> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    const before = hashTree(dir);
    const { stdout, code, stderr } = await runInProcess(['locate', shard, ...args, '--format', 'json']);
    expect(hashTree(dir)).to.deep.equal(before);
    expect(stderr).to.equal('');
    const document = JSON.parse(stdout);
    expect(document.exitCode).to.equal(code);
    return document;
  });
}

/** State, exit code and place of what was found. */
function found({ state, exitCode, records }: Document) {
  return [state, exitCode, ...records.map((record: Document) => `${record.segment}@${record.position}`)];
}

function neighbours({ before, after }: Document) {
  return [before?.offset ?? null, after?.offset ?? null];
}

describe('locate finds an offset', () => {
  for (const [name, shard] of Object.entries({
    'of version 2': threeV2Segments(),
    'of version 3 with batches': threeV3SegmentsWithBatches(),
    'of version 4 with generation starts': v4WithGenerations(),
    'above 2^53': threeSegments({ first: 2n ** 53n + 1n }),
    'at the end of a u64': threeSegments({ first: 2n ** 64n - 21n }),
  })) {
    it(`in a shard ${name}: segment, bytes, fields and neighbours`, async () => {
      const all = shard.segments.flatMap(({ records, positions, log }, id) =>
        records.map((record, at) => ({ record, id, at: positions[at]!, end: positions[at + 1] ?? log.length })),
      );
      for (const [i, { record, id, at, end }] of all.entries()) {
        if (i % 4 !== 0 && i < all.length - 2) continue;
        const document = await locate(shard.image, String(record.offset));
        expect(found(document)).to.deep.equal(['here', 0, `${id}@${at}`]);
        expect(document.records[0]).to.deep.include({
          file: logName(id),
          end,
          offset: String(record.offset),
          timestampMicros: String(record.timestampMicros),
          kind: record.kind,
          bytes: record.payload.length,
          checksum: `0x${Buffer.from(encodeRecord(record)).readUInt32BE(24).toString(16).padStart(8, '0')}`,
        });
        const around = [all[i - 1], all[i + 1]].map((each) => (each === undefined ? null : String(each.record.offset)));
        expect(neighbours(document)).to.deep.equal(around);
      }
    });
  }

  it('with the index entry that a reader begins at, and the bytes it steps over', async () => {
    const shard = wellIndexed();
    const [segment] = shard.segments as [BuiltSegment, BuiltSegment];
    const data = new DataView(segment.index.buffer, segment.index.byteOffset);
    const entries = Array.from({ length: (segment.index.length - 24) / 16 }, (_, entry) => ({
      entry,
      offset: data.getBigUint64(24 + 16 * entry),
      position: data.getBigUint64(32 + 16 * entry),
    }));
    for (const offset of [0, 1, 29, 59]) {
      const best = entries.findLast((entry) => entry.offset <= BigInt(offset))!;
      const { index } = await locate(shard.image, String(offset));
      expect(index).to.deep.equal({
        file: indexName(0),
        entry: { entry: best.entry, offset: String(best.offset), position: String(best.position) },
        refused: [],
        unusable: null,
        position: Number(best.position),
        steppedOver: segment.positions[offset]! - Number(best.position),
      });
    }
    const lie = damaged(shard.image, write(indexName(0), 24 + 16 * 3 + 8, Buffer.from('000000000000007b', 'hex')));
    const lied = await locate(lie, String(entries[3]!.offset));
    expect(found(lied).slice(0, 2)).to.deep.equal(['here', 0]);
    expect(lied.index.refused).to.have.lengthOf(1);
    expect(lied.index.entry.entry).to.equal(2);
    const without = await locate(damaged(shard.image, deleteFile(indexName(0))), '29');
    expect(without.index).to.deep.include({ entry: null, unusable: 'there is no index', position: 32 });
    expect(without.index.steppedOver).to.equal(segment.positions[29]! - 32);
  });

  it('in each of two segments that claim it, and says which records differ', async () => {
    const long = buildSegment({ records: plainRun(0n, 20) });
    const fork = buildSegment({ records: plainRun(12n, 20, { payload: Buffer.from('other') }) });
    const image = buildShard({ segments: [long, fork] });
    for (const offset of [12, 13, 19]) {
      const document = await locate(image, String(offset));
      expect(found(document).slice(2).sort()).to.deep.equal([
        `0@${long.positions[offset]}`,
        `1@${fork.positions[offset - 12]}`,
      ]);
      expect(document.notes.join()).to.match(/2 records have this offset: segment \d position \d+ \(checksum 0x/);
    }
    expect(found(await locate(image, '25'))).to.deep.equal(['here', 0, `1@${fork.positions[13]}`]);
  });
});

describe('locate tells what became of an offset', () => {
  const shard = wellIndexed();
  const [first, second] = shard.segments as [BuiltSegment, BuiltSegment];

  it('lost inside damage, which one, and its neighbours', async () => {
    const image = damaged(shard.image, flipBit(logName(0), first.positions[10]! + 30, 3));
    const document = await locate(image, '10');
    expect([found(document), neighbours(document)]).to.deep.equal([
      ['lost', 21],
      ['9', '11'],
    ]);
    expect(document.damage).to.deep.include({
      kind: 'RecordChecksum',
      damagedRange: { from: first.positions[10], to: first.positions[11] },
      lostOffsets: { from: '10', to: '11' },
    });
    expect(found(await locate(image, '9'))).to.deep.equal(['here', 0, `0@${first.positions[9]}`]);
    expect(found(await locate(image, '11'))).to.deep.equal(['here', 0, `0@${first.positions[11]}`]);
  });

  it('lost in the gap between two segments, or in what a torn end swallowed', async () => {
    const three = threeSegments();
    const gap = damaged(three.image, deleteFile(logName(1)), deleteFile(indexName(1)));
    const inGap = await locate(gap, '10');
    expect([found(inGap), neighbours(inGap), inGap.damage.kind]).to.deep.equal([
      ['lost', 21],
      ['7', '15'],
      'OffsetOutOfOrder',
    ]);
    const torn = damaged(three.image, truncate(logName(1), three.segments[1]!.positions[3]! + 5));
    const swallowed = await locate(torn, '13');
    expect([found(swallowed), swallowed.damage.lostOffsets]).to.deep.equal([['lost', 21], { from: '11', to: '15' }]);
  });

  it('past the tail, and whether damage there may have held it', async () => {
    const past = await locate(shard.image, '120');
    expect([found(past), past.tailOffset, neighbours(past)]).to.deep.equal([['past-tail', 0], '120', ['119', null]]);
    expect(found(await locate(shard.image, '18446744073709551615'))).to.deep.equal(['past-tail', 0]);
    const noise = Uint8Array.from({ length: 60 }, (_, at) => 255 - at);
    const cut = damaged(shard.image, truncate(logName(1), second.positions[57]!));
    const maybe = await locate(damaged(cut, write(logName(1), second.positions[57]!, noise)), '119');
    expect([found(maybe), maybe.tailOffset]).to.deep.equal([['past-tail', 21], '117']);
    expect(maybe.message).to.include('may have held it');
    const unwritten = await locate(damaged(cut, write(logName(1), second.positions[57]!, new Uint8Array(60))), '117');
    expect([found(unwritten), unwritten.tailOffset]).to.deep.equal([['past-tail', 0], '117']);
  });

  it('in a hole of the manifest, which is not called trimmed', async () => {
    const fixture = path.join(PROJECT_ROOT, 'fixtures/offload-with-a-hole');
    const hole = await runInProcess(['locate', fixture, '7']);
    expect(hole.stdout).to.contain('Offset 7 is neither here nor offloaded');
    const { stdout } = await runInProcess(['locate', fixture, '7', '--format', 'json']);
    expect(JSON.parse(stdout)).to.include({ state: 'hole', object: null });
  });

  it('trimmed, or offloaded and in which object', async () => {
    const later = threeSegments({ first: 100n });
    const old = shardOf([{ parts: [10] }, { parts: [10] }], { first: 70n });
    const entry = offloaded(old.segments[0]!, 0n);
    const image = new Map([...later.image, ['offload.manifest', encodeManifest({ entries: [entry] })]]);
    const there = await locate(image, '75');
    expect([found(there), there.object]).to.deep.equal([
      ['offloaded', 0],
      { key: entry.key, segmentId: '0', baseOffset: '70', lastOffset: '79' },
    ]);
    const gone = await locate(image, '85');
    expect([found(gone), gone.object, gone.baseOffset]).to.deep.equal([['hole', 0], null, '100']);
    expect(found(await locate(image, '65'))).to.deep.equal(['trimmed', 0]);
    const broken = new Map([...later.image, ['offload.manifest', new Uint8Array(40)]]);
    expect((await locate(broken, '75')).notes.join()).to.include('does not decode');
    const both = new Map([...old.image, ['offload.manifest', encodeManifest({ entries: [entry] })]]);
    const bad = damaged(both, flipBit(logName(0), old.segments[0]!.positions[5]! + 30, 1));
    const lost = await locate(bad, '75');
    expect([found(lost), lost.object.key]).to.deep.equal([['lost', 21], entry.key]);
  });
});

describe('locate finds a time', () => {
  const times = [10n, 20n, 20n, 35n, 30n, 50n, 2n ** 64n - 1n];
  const segment = (records: readonly number[]) =>
    buildSegment({ records: records.map((at) => plain(BigInt(at), { timestampMicros: times[at]! })) });
  const image = buildShard({ segments: [segment([0, 1, 2]), segment([3, 4, 5, 6])] });

  it('as the first record at or after it in the order of offsets', async () => {
    for (const [time, offset] of [
      ['0', '0'],
      ['10', '0'],
      ['11', '1'],
      ['20', '1'],
      ['21', '3'],
      ['31', '3'],
      ['36', '5'],
      ['51', '6'],
      ['18446744073709551615', '6'],
    ]) {
      const document = await locate(image, '--time', time!);
      expect(
        document.records.map((record: Document) => record.offset),
        `time ${time}`,
      ).to.deep.equal([offset]);
      expect(neighbours(document)[0]).to.equal(offset === '0' ? null : String(Number(offset) - 1));
    }
  });

  it('and says whether timestamps ascended on the way there', async () => {
    const ascending = await locate(image, '--time', '31');
    expect(ascending.time).to.deep.equal({ records: 4, descent: null, latestMicros: '35' });
    expect(ascending.notes.join()).to.include('Timestamps ascend');
    const not = await locate(image, '--time', '36');
    expect(not.time.descent).to.deep.equal({ offset: '4', timestampMicros: '30', previousMicros: '35' });
    expect(not.notes.join()).to.include('do not ascend');
  });

  it('or that none is as late, and that an object may hold an earlier record', async () => {
    const three = threeSegments({ first: 100n });
    const none = await locate(three.image, '--time', '2040-01-01T00:00:00Z');
    expect([found(none), none.time.records]).to.deep.equal([['past-tail', 0], 21]);
    const old = shardOf([{ parts: [10] }], { first: 90n });
    const entry = offloaded(old.segments[0]!, 0n);
    const both = new Map([...three.image, ['offload.manifest', encodeManifest({ entries: [entry] })]]);
    const document = await locate(both, '--time', '2026-01-01T00:00:23Z');
    expect([document.records[0].offset, document.object.key]).to.deep.equal(['100', entry.key]);
    expect(document.notes.join()).to.include('An earlier record may be as late');
  });

  it('and names damage that may have held an earlier one', async () => {
    const shard = wellIndexed();
    const bad = damaged(shard.image, flipBit(logName(0), shard.segments[0]!.positions[4]! + 30, 1));
    const late = await locate(bad, '--time', '2026-01-01T00:00:05Z');
    expect([found(late).slice(0, 2), late.damage.kind]).to.deep.equal([['here', 21], 'RecordChecksum']);
    const early = await locate(bad, '--time', '2026-01-01T00:00:00.5Z');
    expect([found(early).slice(0, 2), early.damage]).to.deep.equal([['here', 0], null]);
  });
});

describe('locate from the command line', () => {
  it('answers as a table within its width, without a control byte, and as one line', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(threeSegments().image, dir, 'not\u001b[31ma\u202eshard');
      for (const args of [['12'], ['99'], ['--time', '0']]) {
        const table = await runInProcess(['locate', shard, ...args]);
        for (const line of table.stdout.split('\n')) {
          expect(RAW.test(line)).to.equal(false);
          expect(displayWidth(line)).to.be.at.most(80);
        }
        const line = await runInProcess(['locate', shard, ...args, '--format', 'ndjson']);
        expect(line.stdout.split('\n')).to.have.lengthOf(2);
        expect(JSON.parse(line.stdout)).to.include({ type: 'location', schema: 'felix-fsck.locate/1' });
      }
    });
  });

  it('wants one shard, and an offset or a time', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(threeSegments().image, dir);
      const other = writeShardBelow(threeSegments().image, dir, 'acme_default_orders_1-0d3aee4b998d294b');
      const codes = [
        [shard],
        [shard, '1', '--time', '5'],
        [shard, 'x'],
        [shard, '18446744073709551616'],
        [shard, '--time', 'noon'],
        [dir, '1'],
        [path.join(dir, 'nothing'), '1'],
      ].map(async (args) => (await runInProcess(['locate', ...args])).code);
      expect(await Promise.all(codes)).to.deep.equal([2, 2, 2, 2, 2, 2, 2]);
      const several = await runInProcess(['locate', dir, '1']);
      expect(several.stderr).to.include('2 shards are below, name one: ').and.to.include(shard).and.to.include(other);
      expect((await runInProcess(['locate', path.join(other, logName(1)), '9'])).stdout).to.include('is in segment 1');
      const outside = await runInProcess(['locate', path.join(other, logName(1)), '3']);
      expect([outside.code, outside.stdout.includes('not in this file')]).to.deep.equal([0, true]);
    });
  });
});
