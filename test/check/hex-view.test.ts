import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { type HexRequest, type NamedBytes, namedBytes } from '../../src/check/hex-view.js';
import { FailureError } from '../../src/domain/result.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeIndexHeader } from '../../src/format/index.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeRecord } from '../../src/format/record.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeStorageId } from '../../src/format/storage-id.js';
import { append, damaged, flipBit, truncate } from '../builders/damage.js';
import { batch, generationStart, plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  indexName,
  logName,
  type ShardImage,
  threeSegments,
  wellIndexed,
  writeShardBelow,
} from '../builders/shards.js';
import { cacheShard, offloaded, producersAsOf } from '../builders/sidecars.js';
import { hashTree, withTempDir } from '../builders/trees.js';

const goOn = async () => true;
const SEGMENT = threeSegments().segments[0]!;

async function viewIn(image: ShardImage, file: string, place: HexRequest['place'], context = 16): Promise<NamedBytes> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    const before = hashTree(dir);
    const view = await namedBytes({ path: path.join(shard, file), place, context }, goOn);
    expect(hashTree(dir)).to.deep.equal(before);
    return view!;
  });
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return `${error.failure.reason}: ${error.message}`;
    throw error;
  }
  return 'none';
}

function named(view: NamedBytes): Record<string, unknown> {
  return Object.fromEntries(view.fields.map(({ name, value }) => [name, value]));
}

function notesAt(view: NamedBytes, position: number): string {
  return view.notes
    .filter((note) => note.position === position)
    .map(({ text }) => text)
    .join('; ');
}

const hex = (value: number) => `0x${value.toString(16).padStart(8, '0')}`;

describe('check/hex-view', () => {
  const records = [plain(0n), ...batch(1n, { producerId: 7n, sequence: 3n, len: 2 }), generationStart(3n, 9n)];
  const files: Readonly<Record<string, Uint8Array>> = {
    [logName(0)]: buildSegment({ version: 4, records }).log,
    [indexName(0)]: wellIndexed().segments[0]!.index,
    epochs: encodeEpochs({ entries: [1n, 2n, 5n].map((generation) => ({ generation, startOffset: generation })) }),
    replica: encodeReplica({ generation: 4n, commit: 18n }),
    ballot: encodeBallot({ generation: 4n, leader: 'broker-b' }),
    'offload.manifest': encodeManifest({ entries: [offloaded(SEGMENT, 0n), offloaded(SEGMENT, 1n)] }),
    producers: producersAsOf(records, 3n),
    'keys.idx': cacheShard().image.get('keys.idx')!,
    'storage-id': encodeStorageId({ id: '00'.repeat(16), layout: 'packed' }),
  };

  for (const [name, bytes] of Object.entries(files)) {
    it(`${name}: whichever byte is asked for, a field is named that holds it, and the bytes are those of the file`, async () => {
      await withTempDir(async (dir) => {
        const file = path.join(dir, name);
        writeFileSync(file, bytes);
        for (let at = 0; at < bytes.length; at += bytes.length > 400 ? 7 : 1) {
          const view = (await namedBytes({ path: file, place: { at }, context: 5 }, goOn))!;
          const holder = view.fields.find(({ start, end }) => start <= at && at < end);
          expect(holder, `byte ${at}`).not.to.equal(undefined);
          expect(view.bytes).to.deep.equal(bytes.slice(view.base, view.base + view.bytes.length));
          expect(view.damaged).to.deep.equal([]);
          expect(at).to.be.within(view.base, view.base + view.bytes.length - 1);
        }
      });
    });
  }

  it('a record is decoded whole, with the checksums that an outside library computes', async () => {
    const { image, segments } = threeSegments();
    const [start, end] = [segments[1]!.positions[2]!, segments[1]!.positions[3]!];
    const view = await viewIn(image, logName(1), { record: 10n });
    const bytes = encodeRecord(plain(10n));
    expect(named(view)).to.deep.include({
      offset: 10n,
      header_crc: hex(crc32(bytes.subarray(0, 20))),
      checksum: hex(crc32(bytes.subarray(28), crc32(bytes.subarray(0, 24)))),
    });
    expect([view.at, view.base, view.base + view.bytes.length]).to.deep.equal([start, start - 16, end + 16]);
    expect(notesAt(view, start + 20)).to.match(/^stored (0x\w+), computed \1: it holds$/);
    expect(notesAt(view, end)).to.equal('the record with offset 11 begins');
  });

  it('the way goes from the nearest index entry that holds, and past one that does not', async () => {
    const { image, segments } = wellIndexed();
    const { positions, index } = segments[0]!;
    const at = positions.at(-1)!;
    const entries = (index.length - 24) / 16;
    expect(notesAt(await viewIn(image, logName(0), { at }), at)).to.include(`index entry ${entries - 1} `);
    const misled = damaged(image, flipBit(indexName(0), index.length - 1, 1));
    expect(notesAt(await viewIn(misled, logName(0), { at }), at)).to.include(`index entry ${entries - 2} `);
    const bare = new Map([[logName(0), image.get(logName(0))!]]);
    expect(notesAt(await viewIn(bare, logName(0), { at }), at)).to.include('from the start of the segment');
  });

  it('damage is marked from its first byte to where records are intact again, and a flipped bit is named', async () => {
    const { image, segments } = threeSegments();
    const [start, end] = [segments[2]!.positions[2]!, segments[2]!.positions[3]!];
    const image2 = damaged(image, flipBit(logName(2), start + 3, 3));
    for (const place of [{ at: start + 30 }, { record: 17n }]) {
      const view = await viewIn(image2, logName(2), place);
      expect(view.damaged).to.deep.equal([{ from: start, to: end }]);
      expect(notesAt(view, start)).to.include('RecordHeaderChecksum').and.to.include('offset 17 is due here');
      expect(notesAt(view, start + 3)).to.include('bit 3 of this byte (field payload_len)');
      expect(notesAt(view, start + 20)).to.match(/stored (0x\w+), computed (?!\1)0x\w+: it does not hold/);
      expect(notesAt(view, end - 1))
        .to.include(`intact again from byte ${end}`)
        .and.to.include('offset 17');
    }
  });

  it('a payload that rotted shows the stored and the computed checksum of the record', async () => {
    const { image, segments } = threeSegments();
    const start = segments[0]!.positions[3]!;
    const rotten = damaged(image, flipBit(logName(0), start + 30, 0));
    const view = await viewIn(rotten, logName(0), { at: start });
    const bytes = rotten.get(logName(0))!.subarray(start, segments[0]!.positions[4]!);
    const computed = crc32(bytes.subarray(28), crc32(bytes.subarray(0, 24)));
    expect(notesAt(view, start + 24)).to.include(`computed ${hex(computed)}: it does not hold`);
    expect(notesAt(view, start + 20)).to.include('it holds');
  });

  it('bytes behind the last record are damage, and no length in them names a field beyond the file', async () => {
    const { image, segments } = threeSegments();
    const end = segments[2]!.log.length;
    const view = await viewIn(damaged(image, append(logName(2), new Uint8Array(100))), logName(2), { at: end + 50 });
    expect(view.damaged).to.deep.equal([{ from: end, to: end + 100 }]);
    expect(view.fields.every((field) => field.end <= end + 100)).to.equal(true);
  });

  it('a long record is shown around the place, and its fields are all told', async () => {
    const segment = buildSegment({ records: [plain(0n), plain(1n, { payloadLength: 2_000_000 })] });
    const start = segment.positions[1]!;
    const view = await viewIn(new Map([[logName(0), segment.log]]), logName(0), { at: start + 1_000_000 }, 8);
    expect(view.bytes.length).to.be.below(2048);
    expect(view.base).to.be.within(start + 999_000, start + 1_000_000);
    expect(named(view)).to.deep.include({ offset: 1n });
    expect(view.fields.map(({ name }) => name)).to.include.members(['header_crc', 'payload']);
  });

  it('an index entry is held against the segment beside it', async () => {
    const { image, segments } = wellIndexed();
    const place = { at: 24 + 16 };
    const good = await viewIn(image, indexName(0), place);
    expect(notesAt(good, 40)).to.equal('the segment beside it holds this record there');
    const bad = await viewIn(damaged(image, flipBit(indexName(0), 40 + 15, 0)), indexName(0), place);
    expect(notesAt(bad, 40)).to.match(/no intact record starts at \d+$/);
    expect(named(good)['entries[1].offset']).to.be.a('bigint');
    expect(segments[0]!.index.length).to.be.above(56);
  });

  it('damage of a small file is marked at its field with both checksums', async () => {
    const replica = encodeReplica({ generation: 4n, commit: 18n });
    const image = damaged(new Map([['replica', replica]]), flipBit('replica', 23, 4));
    const view = await viewIn(image, 'replica', { at: 3 });
    const stored = hex(crc32(replica.subarray(0, 24)));
    const computed = hex(crc32(image.get('replica')!.subarray(0, 24)));
    expect(view.damaged).to.deep.equal([{ from: 24, to: 28 }]);
    expect(notesAt(view, 24)).to.equal(`SidecarChecksum: stored ${stored}, computed ${computed}: it does not hold`);
    const longer = damaged(new Map([['replica', replica]]), append('replica', new Uint8Array(4)));
    expect((await viewIn(longer, 'replica', { at: 29 })).damaged).to.deep.equal([{ from: 28, to: 32 }]);
    const shorter = damaged(new Map([['replica', replica]]), truncate('replica', 20));
    expect(notesAt(await viewIn(shorter, 'replica', { at: 19 }), 0)).to.include('SidecarTruncated');
  });

  it('a place far into a file of a billion bytes is shown without reading what is in front of it', async () => {
    await withTempDir(async (dir) => {
      const file = path.join(dir, indexName(0));
      writeFileSync(file, encodeIndexHeader({ version: 3, flags: 0, baseOffset: 0n }));
      const descriptor = openSync(file, 'r+');
      ftruncateSync(descriptor, 24 + 16 * 100_000_000);
      closeSync(descriptor);
      const started = performance.now();
      const at = 24 + 16 * 99_999_990 + 9;
      const view = (await namedBytes({ path: file, place: { at }, context: 16 }, goOn))!;
      expect(named(view)).to.include.keys('entries[99999990].position', 'entries[99999990].offset');
      expect(performance.now() - started).to.be.below(2000);
    });
  });

  it('says that a place is not there, and does not guess another one', async () => {
    const { image, segments } = threeSegments();
    const size = segments[0]!.log.length;
    expect(await failureOf(viewIn(image, logName(0), { at: size }))).to.match(/^usage: .*is not in its 5\d\d bytes/);
    expect(await failureOf(viewIn(image, logName(1), { record: 3n }))).to.include('it begins at offset 8');
    expect(await failureOf(viewIn(image, logName(1), { record: 15n }))).to.include('it ends at offset 15');
    expect(await failureOf(viewIn(image, indexName(1), { record: 8n }))).to.include('--record looks into segments');
    expect(await failureOf(viewIn(image, 'missing', { at: 0 }))).to.match(/^usage: .*no such file/);
  });

  it('bytes of no kind are shown as they are', async () => {
    const view = await viewIn(new Map([['core', new Uint8Array(64).fill(0xee)]]), 'core', { at: 40 });
    expect(view).to.deep.include({ fields: [], damaged: [], base: 24 });
    expect(notesAt(view, 40)).to.include('no layout names its bytes');
  });
});
