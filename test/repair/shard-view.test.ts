/** A planner's view of a shard: every file that a broker looks at with its checksum, and the small files as a reader takes them. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { ShardChanged, stateIn, viewShard } from '../../src/repair/shard-view.js';
import { ReadFailure } from '../../src/store/byte-source.js';
import { listDirectory } from '../../src/store/walk.js';
import { stateOf } from '../builders/plan-inputs.js';
import { withMemoryDir } from '../builders/repairs.js';
import {
  indexName,
  logName,
  SHARD_DIR_NAME,
  type ShardImage,
  threeSegments,
  writeShardBelow,
} from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';

const { segments } = threeSegments();
const EPOCHS = [
  { generation: 1n, startOffset: 0n },
  { generation: 4n, startOffset: 9n },
];

function imageOf(files: Readonly<Record<string, Uint8Array>>): ShardImage {
  return new Map(Object.entries(files));
}

function viewOf(files: Readonly<Record<string, Uint8Array>>, change: (shard: string) => void = () => undefined) {
  return withMemoryDir((dir) => {
    const shard = writeShardBelow(imageOf(files), dir);
    change(shard);
    const times = new Map(readdirSync(shard).map((name) => [name, statSync(path.join(shard, name), { bigint: true })]));
    return { shard, times, view: viewShard(listDirectory(shard), shard, 'a/key') };
  });
}

describe('the view of a shard', () => {
  const manifest = encodeManifest({ entries: [offloaded(segments[0]!, 0n), offloaded(segments[1]!, 1n)], reserved: 5 });
  const files = {
    [logName(0)]: segments[0]!.log,
    [indexName(0)]: segments[0]!.index,
    '7.log': new Uint8Array(3),
    'notes.txt': new Uint8Array(9),
    epochs: encodeEpochs({ entries: EPOCHS }),
    replica: encodeReplica({ generation: 4n, commit: 18n }),
    'offload.manifest': manifest,
  };

  it('holds what every file of it is, and what the small ones say', async () => {
    const { shard, times, view } = await viewOf(files);
    const known = Object.entries(files).filter(([name]) => name !== 'notes.txt');
    expect([...view.files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))).to.deep.equal(
      known
        .map(([file, bytes]) => ({ file, ...stateOf(bytes), mtimeNs: times.get(file)!.mtimeNs }))
        .sort((a, b) => (a.file < b.file ? -1 : 1)),
    );
    const { files: _, ...rest } = view;
    const entries = [
      { ...offloaded(segments[0]!, 0n), position: 12 },
      { ...offloaded(segments[1]!, 1n), position: 12 + 54 + offloaded(segments[0]!, 0n).key.length },
    ];
    expect(rest).to.deep.equal({
      path: shard,
      name: SHARD_DIR_NAME,
      key: 'a/key',
      commit: 18n,
      epochs: EPOCHS,
      manifest: { entries, reserved: 5 },
    });
    expect(stateIn(view, '7.log')).to.deep.equal(stateOf(new Uint8Array(3)));
    expect(stateIn(view, 'notes.txt')).to.equal(null);
  });

  it('takes small files that are missing or damaged for nothing', async () => {
    const nothing = { commit: 0n, epochs: null, manifest: null };
    expect((await viewOf({})).view).to.deep.include(nothing);
    const damaged = { epochs: new Uint8Array(12), replica: new Uint8Array(28), 'offload.manifest': new Uint8Array(16) };
    expect((await viewOf(damaged)).view).to.deep.include(nothing);
    const empty = encodeManifest({ entries: [] });
    expect((await viewOf({ 'offload.manifest': empty })).view.manifest).to.deep.equal({ entries: [], reserved: 0 });
  });

  it('holds every entry of a manifest that is longer than what is read at a time', async () => {
    const keys = Array.from({ length: 20 }, (_, at) => String.fromCharCode(65 + at).repeat(60_000));
    const entries = keys.map((key, at) => ({ ...offloaded(segments[0]!, BigInt(at)), key }));
    const { view } = await viewOf({ 'offload.manifest': encodeManifest({ entries }) });
    expect(view.manifest!.entries.map(({ key }) => key)).to.deep.equal(keys);
  });

  it('leaves no file open', async function () {
    if (process.platform !== 'linux') this.skip();
    const before = readdirSync('/proc/self/fd').length;
    await viewOf(files);
    expect(readdirSync('/proc/self/fd').length).to.equal(before);
  });
});

describe('a shard that cannot be viewed', () => {
  it('holds something under the name of a file that is none', () =>
    withMemoryDir((dir) => {
      const shard = writeShardBelow(imageOf({ [logName(0)]: segments[0]!.log }), dir);
      mkdirSync(path.join(shard, 'notes'));
      expect(viewShard(listDirectory(shard), shard, null).files.size).to.equal(1);
      mkdirSync(path.join(shard, 'epochs'));
      expect(() => viewShard(listDirectory(shard), shard, null))
        .to.throw(ReadFailure, 'epochs is not a regular file')
        .with.property('code', 'ENOTFILE');
    }));

  it('has changed in size, in time or as a whole since it was listed', () =>
    withMemoryDir((dir) => {
      const shard = writeShardBelow(imageOf({ epochs: new Uint8Array(4) }), dir);
      const listing = listDirectory(shard);
      const [entry] = listing.entries;
      const { size, inode, mtimeNs } = entry!;
      for (const other of [{ size: size + 1 }, { inode: inode + 1n }, { mtimeNs: mtimeNs + 1n }]) {
        const changed = { ...listing, entries: [{ ...entry!, ...other }] };
        expect(() => viewShard(changed, shard, null)).to.throw(ShardChanged, 'epochs has changed');
      }
      expect(viewShard(listing, shard, null).files.size).to.equal(1);
    }));
});
