import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { inspectPaths } from '../../src/check/inspect.js';
import type { FileInspection, Inspection, RootInspection, ShardInspection } from '../../src/domain/inspection.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeRegistration } from '../../src/format/registration.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeRunState } from '../../src/format/run-state.js';
import { encodeStorageId } from '../../src/format/storage-id.js';
import { InlineScanner } from '../../src/scan/scanner.js';
import { TailScanner } from '../../src/scan/tail-scanner.js';
import { damaged, flipBit, truncate, zero } from '../builders/damage.js';
import { batch, plain, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  indexName,
  logName,
  SHARD_DIR_NAME,
  SHARD_KEY,
  threeSegments,
  wellIndexed,
  writeShardBelow,
} from '../builders/shards.js';
import { cacheShard, offloaded, producersAsOf } from '../builders/sidecars.js';
import { hashTree, withTempDir } from '../builders/trees.js';

const NOW = 1_780_000_000_000_000n;

async function inspect(paths: readonly string[], full = false): Promise<Inspection[]> {
  const { signal } = new AbortController();
  const scanner = full ? new InlineScanner(signal) : new TailScanner(signal);
  const inspected: Inspection[] = [];
  for await (const each of inspectPaths(paths, scanner, { full, nowMicros: NOW, includeDeleted: false })) {
    inspected.push(each);
  }
  return inspected;
}

async function inspectBytes(name: string, bytes: Uint8Array): Promise<FileInspection> {
  return withTempDir(async (dir) => {
    writeFileSync(path.join(dir, name), bytes);
    const before = hashTree(dir);
    const [inspected] = await inspect([path.join(dir, name)]);
    expect(hashTree(dir)).to.deep.equal(before);
    return inspected as FileInspection;
  });
}

async function inspectShardOf(image: ReadonlyMap<string, Uint8Array>, full = false): Promise<ShardInspection> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    const [inspected] = await inspect([shard], full);
    return inspected as ShardInspection;
  });
}

const ID = '000102030405060708090a0b0c0d0e0f';
const SEGMENT = threeSegments().segments[0]!;
const RECORDS = [plain(0n), ...batch(1n, { producerId: 7n, sequence: 3n, len: 2 })];

/** A sound file of each kind, and its fields in order as the format page names them. */
const FILES: Readonly<Record<string, readonly [bytes: Uint8Array, fields: string]>> = {
  epochs: [encodeEpochs({ entries: [{ generation: 1n, startOffset: 0n }] }), 'magic version count body_crc entries[0]'],
  replica: [encodeReplica({ generation: 4n, commit: 18n }), 'magic version reserved generation commit crc'],
  ballot: [encodeBallot({ generation: 4n, leader: 'b' }), 'magic version leader_len generation leader crc'],
  'offload.manifest': [
    encodeManifest({ entries: [offloaded(SEGMENT, 0n)] }),
    'magic version reserved count entries[0] crc',
  ],
  producers: [producersAsOf(RECORDS, 3n), 'magic version reserved as_of producers body_crc open producers[0]'],
  'keys.idx': [
    cacheShard().image.get('keys.idx')!,
    'magic format store covered_through entry_count log_bytes last_checksum entries[0] entries[1] entries[2] entries[3] crc',
  ],
  'run-state': [
    encodeRunState({ state: 'running', acknowledgesBeforeSync: true, id: ID }),
    'magic version state flags flags.acknowledges_before_sync id crc',
  ],
  'storage-id': [encodeStorageId({ id: ID, layout: 'packed' }), 'magic version id crc'],
  registration: [encodeRegistration({ incarnation: 77n, layout: 'padded' }), 'magic version reserved incarnation crc'],
};
/** Contract, section 5: what damage of each file costs. */
const SEVERITY: Readonly<Record<string, string>> = {
  epochs: 'warning',
  producers: 'warning',
  'keys.idx': 'warning',
  replica: 'fatal',
  ballot: 'fatal',
  'offload.manifest': 'fatal',
  'run-state': 'error',
  'storage-id': 'error',
  registration: 'error',
};

describe('check/inspect', () => {
  for (const [name, [bytes, fields]] of Object.entries(FILES)) {
    it(`${name}: every field of the page is told with its meaning, and that the file is sound`, async () => {
      const file = await inspectBytes(name, bytes);
      expect(file.identity.kind).to.equal(name);
      expect(file.facts.map((fact) => fact.name).join(' ')).to.equal(fields);
      expect(file.facts.filter(({ name: field, meaning }) => !field.includes('[') && !meaning)).to.deep.equal([]);
      expect(file.state).to.equal('sound');
      expect(file.damage).to.deep.equal([]);
      expect(file.notVerified.join()).to.include('verify');
    });

    it(`${name}: cut at any place it is told as far as it goes, and never as sound`, async () => {
      await withTempDir(async (dir) => {
        const at = path.join(dir, name);
        for (let length = 0; length < bytes.length; length += 1 + Math.floor(bytes.length / 24)) {
          writeFileSync(at, bytes.subarray(0, length));
          const [file] = (await inspect([at])) as [FileInspection];
          expect(file.state, `${length} bytes`).to.equal('damaged');
          expect(file.damage[0]?.severity).to.equal(SEVERITY[name]);
          if (length >= 6) expect(file.facts.slice(0, 2).map(({ value }) => value)[1]).to.equal(1);
        }
      });
    });
  }

  it('a value has the unit of its field, and counts and sizes are numbers', async () => {
    const { facts } = await inspectBytes('offload.manifest', FILES['offload.manifest']![0]);
    expect(facts.find(({ name }) => name === 'count')).to.deep.include({ value: 1, unit: 'entries' });
    const entry = facts.find(({ name }) => name === 'entries[0]')!;
    expect(entry.units).to.deep.include({ size: 'bytes', base_offset: 'offset', oldest: 'microseconds' });
    expect(entry.value).to.deep.include({
      segment_id: 0n,
      last_offset: 7n,
      size: SEGMENT.log.length,
      oldest: timestampOf(0n),
    });
  });

  it('lists within lists keep their order, and a composite key is told as text too', async () => {
    const producers = await inspectBytes('producers', FILES['producers']![0]);
    expect(producers.facts.at(-1)?.value).to.deep.equal({
      id: 7n,
      last_sequence: 3n,
      batches: 1,
      'batches[]': [{ first: 1n, len: 2 }],
    });
    const keys = await inspectBytes('keys.idx', FILES['keys.idx']![0]);
    const texts = keys.facts.flatMap(({ value }) =>
      typeof value === 'object' && value !== null && 'key.text' in value ? [value['key.text']] : [],
    );
    expect(texts).to.deep.equal(['zoë', 'cart/9', 'user/1', 'user/2']);
  });

  it('a file of another kind under a known name is told by its content and judged by its name', async () => {
    const file = await inspectBytes('replica', FILES['epochs']![0]);
    expect(file.identity.description).to.equal(
      'a generation history (epochs) of version 1, under the name of the file replica',
    );
    expect(file.facts.map(({ name }) => name)).to.include('entries[0]');
    expect(file.damage.map(({ kind, severity }) => [kind, severity])).to.deep.equal([['SidecarMagic', 'fatal']]);
  });

  it('an unknown file is told by its bytes, and nothing is claimed of it', async () => {
    const file = await inspectBytes('notes.gz', Uint8Array.of(0x1f, 0x8b, 8, 0));
    expect(file).to.deep.include({ state: 'not verified', facts: [], damage: [] });
    expect(file.identity.description).to.equal('gzip-compressed data');
  });

  it('a segment under any name is read as the segment it is', async () => {
    const file = await inspectBytes('copy.bin', SEGMENT.log);
    expect(file).to.deep.include({ state: 'sound', damage: [] });
    const fact = (name: string) => file.facts.find((each) => each.name === name)?.value;
    expect([fact('version'), fact('base_offset'), fact('next_offset'), fact('records')]).to.deep.equal([3, 0n, 8n, 8]);
    expect([fact('first_record'), fact('last_record')]).to.deep.equal([timestampOf(0n), timestampOf(7n)]);
  });

  it('a zeroed segment header is told field by field', async () => {
    const image = damaged(new Map([[logName(0), SEGMENT.log]]), zero(logName(0), 0, 32));
    const file = await inspectBytes(logName(0), image.get(logName(0))!);
    expect(file.facts.slice(0, 2).map(({ name, value }) => [name, value])).to.deep.equal([
      ['magic', '0x00000000'],
      ['version', 0],
    ]);
    expect(file.damage.map(({ kind }) => kind)).to.deep.equal(['SegmentMagic']);
  });

  it('an index tells its entries, and which of them a broker drops', async () => {
    const { index } = wellIndexed().segments[0]!;
    const entries = (index.length - 24) / 16;
    const whole = await inspectBytes(indexName(0), index);
    const fact = (name: string) => whole.facts.find((each) => each.name === name)?.value;
    expect([fact('entries'), fact('usable_entries')]).to.deep.equal([entries, entries]);
    expect(whole.state).to.equal('not verified');
    const swapped = index.slice();
    swapped.copyWithin(24 + 16, 24, 24 + 16);
    const dropped = await inspectBytes(indexName(0), swapped);
    expect(dropped.damage.map(({ kind, position }) => [kind, position])).to.deep.equal([['IndexEntry', 40]]);
  });

  it('the cheap look finds the ends and times of every segment from its last index entry', async () => {
    const { image, segments, tail } = wellIndexed();
    const shard = await inspectShardOf(image);
    expect(shard).to.deep.include({ key: SHARD_KEY, full: false, baseOffset: 0n, nextOffset: tail, damage: [] });
    expect(shard).to.deep.include({
      firstTimestampMicros: timestampOf(0n),
      lastTimestampMicros: timestampOf(tail - 1n),
    });
    for (const [at, seen] of shard.segments.entries()) {
      const built = segments[at]!;
      const view = new DataView(built.index.buffer, built.index.byteOffset);
      const last = Number(view.getBigUint64(built.index.length - 8));
      expect(seen).to.deep.include({ verifiedFrom: last, records: null, nextOffset: built.nextOffset });
      expect(seen.lastTimestampMicros).to.equal(timestampOf(built.nextOffset - 1n));
    }
    expect(shard.notVerified.join()).to.include('--full');
  });

  it('damage in front of the last index entry is met by a full look alone', async () => {
    const { image, segments } = wellIndexed();
    const image2 = damaged(image, flipBit(logName(0), segments[0]!.positions[20]! + 30, 0));
    expect((await inspectShardOf(image2)).damage).to.deep.equal([]);
    const full = await inspectShardOf(image2, true);
    expect(full.damage.map(({ kind, position }) => [kind, position])).to.deep.equal([
      ['RecordChecksum', segments[0]!.positions[20]],
    ]);
    expect(full.full).to.equal(true);
  });

  it('a last entry that points elsewhere is passed over for the one in front, and named', async () => {
    const { image, segments } = wellIndexed();
    const { index, nextOffset } = segments[0]!;
    const shard = await inspectShardOf(damaged(image, flipBit(indexName(0), index.length - 1, 1)));
    const before = Number(new DataView(index.buffer, index.byteOffset).getBigUint64(index.length - 24));
    expect(shard.segments[0]).to.deep.include({ verifiedFrom: before, nextOffset });
    expect(shard.damage.map(({ kind, severity, file }) => [kind, severity, file])).to.deep.equal([
      ['IndexEntry', 'fatal', indexName(0)],
    ]);
  });

  it('a torn tail of the newest segment is a warning, and the next offset is that of the intact records', async () => {
    const { image, segments } = wellIndexed();
    const shard = await inspectShardOf(damaged(image, truncate(logName(1), segments[1]!.log.length - 9)));
    expect(shard.damage.map(({ kind, severity }) => [kind, severity])).to.deep.equal([['Truncated', 'warning']]);
    expect(shard.nextOffset).to.equal(119n);
  });

  it('strangers in a shard are told by their bytes, and links are not followed', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(threeSegments().image, dir);
      writeFileSync(path.join(shard, 'core'), new Uint8Array(9));
      symlinkSync('/etc/passwd', path.join(shard, 'replica'));
      const [inspected] = (await inspect([shard])) as [ShardInspection];
      expect(inspected.strangers.map(({ file, description }) => [file, description])).to.deep.equal([
        ['replica', 'a symbolic link, not followed'],
        ['core', 'zeros only'],
      ]);
      expect(inspected.sidecars).to.deep.equal([]);
    });
  });

  it('a data root lists its shards, and shards in no root are listed apart', async () => {
    await withTempDir(async (dir) => {
      const root = path.join(dir, 'data');
      mkdirSync(root);
      for (const name of ['storage-id', 'run-state']) writeFileSync(path.join(root, name), FILES[name]![0]);
      writeShardBelow(threeSegments().image, root);
      writeShardBelow(threeSegments().image, path.join(root, 'caches'));
      writeShardBelow(threeSegments().image, path.join(dir, 'elsewhere'));
      const inspected = (await inspect([dir])) as RootInspection[];
      const listed = new Map(inspected.map(({ path: at, shards }) => [at, shards.map((shard) => shard.path)]));
      expect(listed.get(root)).to.have.members([
        path.join(root, SHARD_DIR_NAME),
        path.join(root, 'caches', SHARD_DIR_NAME),
      ]);
      expect(listed.get(dir)).to.deep.equal([path.join(dir, 'elsewhere', SHARD_DIR_NAME)]);
      const [data] = inspected.filter(({ path: at }) => at === root);
      expect(data?.sidecars.map(({ file, state }) => [file, state])).to.deep.equal([
        ['run-state', 'sound'],
        ['storage-id', 'sound'],
      ]);
      expect(data?.shards[0]).to.deep.include({ key: SHARD_KEY, segments: 3, baseOffset: 0n, nextOffset: 21n });
    });
  });

  it('no bytes under any name make it throw or write', async () => {
    const names = [...Object.keys(FILES), logName(0), indexName(0), 'other'];
    const starts = Object.values(FILES).map(([bytes]) => bytes);
    await withTempDir(async (dir) => {
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.tuple(fc.constantFrom(...starts, SEGMENT.log), fc.nat(400), fc.nat(255)).map(([whole, at, value]) => {
          const copy = whole.slice();
          copy[at % copy.length] = value;
          return copy;
        }),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...names), bytes, async (name, content) => {
          const at = path.join(dir, name);
          writeFileSync(at, content);
          const before = hashTree(dir);
          const [file] = (await inspect([at], true)) as [FileInspection];
          expect(file.size).to.equal(content.length);
          expect(hashTree(dir)).to.deep.equal(before);
        }),
        { numRuns: 150 },
      );
    });
  });

  it('a payload that is larger than the window is a part of the tail like any other', async () => {
    const segment = buildSegment({ records: [plain(0n), plain(1n, { payloadLength: 3_000_000 }), plain(2n)] });
    const file = await inspectBytes(logName(0), segment.log);
    expect(file.facts.find(({ name }) => name === 'next_offset')?.value).to.equal(3n);
  });
});
