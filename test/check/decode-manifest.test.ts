import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { decodeManifestAt } from '../../src/check/decode-manifest.js';
import type { Finding } from '../../src/domain/finding.js';
import type { ManifestReport } from '../../src/domain/manifest-report.js';
import { FailureError } from '../../src/domain/result.js';
import { encodeManifest, type ManifestEntry } from '../../src/format/manifest.js';
import { InlineScanner } from '../../src/scan/scanner.js';
import { damaged, deleteFile, flipBit, truncate } from '../builders/damage.js';
import { plainRun } from '../builders/records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import { indexName, logName, type ShardImage, shardOf, writeShardBelow } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';
import { hashTree, withTempDir } from '../builders/trees.js';

type Entry = Omit<ManifestEntry, 'position'>;

const PRESET = shardOf([{ parts: [5] }, { parts: [5] }, { parts: [5] }]);
const ENTRIES: readonly Entry[] = [0, 1].map((id) => offloaded(PRESET.segments[id]!, BigInt(id)));
const MANIFEST = encodeManifest({ entries: ENTRIES });

interface Setting {
  readonly image?: ShardImage;
  readonly manifest?: Uint8Array;
  /** Key to content; null to give no directory of objects. */
  readonly objects?: Readonly<Record<string, Uint8Array>> | null;
  readonly prepare?: (objects: string, shard: string) => void;
  readonly pathOf?: (shard: string) => string;
}

async function reportOf(setting: Setting = {}): Promise<ManifestReport> {
  return withTempDir(async (dir) => {
    const { image = PRESET.image, manifest = MANIFEST, objects = null, pathOf = (shard) => shard } = setting;
    const shard = writeShardBelow(new Map([...image, ['offload.manifest', manifest] as const]), dir);
    const store = path.join(dir, 'objects');
    mkdirSync(store);
    for (const [key, bytes] of Object.entries(objects ?? {})) {
      mkdirSync(path.dirname(path.join(store, key)), { recursive: true });
      writeFileSync(path.join(store, key), bytes);
    }
    setting.prepare?.(store, shard);
    const before = hashTree(dir);
    const report = await decodeManifestAt(pathOf(shard), new InlineScanner(new AbortController().signal), {
      objects: objects === null ? null : store,
      nowMicros: 1_780_000_000_000_000n,
      goOn: async () => true,
    });
    expect(hashTree(dir)).to.deep.equal(before);
    return report!;
  });
}

function objectsOf(...segments: readonly (readonly [Entry, Uint8Array])[]): Record<string, Uint8Array> {
  return Object.fromEntries(segments.map(([{ key }, bytes]) => [key, bytes]));
}

const BOTH = objectsOf([ENTRIES[0]!, PRESET.segments[0]!.log], [ENTRIES[1]!, PRESET.segments[1]!.log]);

function told(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ severity }) => severity !== 'info')
    .map((each) => {
      const detail = each.detail as { entry?: number; field?: string };
      return [each.kind, detail.entry, detail.field].filter((part) => part !== undefined).join(' ');
    });
}

/** A manifest whose second entry is another one. */
function second(change: Partial<Entry>): Uint8Array {
  return encodeManifest({ entries: [ENTRIES[0]!, { ...ENTRIES[1]!, ...change }] });
}

describe('check/decode-manifest', () => {
  it('lists every entry with its parts, and finds local copies the same', async () => {
    const report = await reportOf();
    expect(report).to.deep.include({ state: 'sound', count: 2, shard: 'acme/default/orders/0', findings: [] });
    expect(report.entries[1]).to.deep.include({
      segmentId: 1n,
      baseOffset: 5n,
      lastOffset: 9n,
      bytes: PRESET.segments[1]!.log.length,
      key: ENTRIES[1]!.key,
      local: 'same',
      object: 'not checked',
    });
    expect(report.entries[1]!.keyParts).to.deep.equal({
      nodeId: 'broker-a',
      directory: 'acme_default_orders_0-0d3aed4b998d2798',
      baseOffset: 5n,
      segmentId: 1n,
    });
    expect(report.notChecked.join()).to.include('no object was looked for');
  });

  it('says for every offset whether it is local, offloaded, both or nowhere', async () => {
    const gone = [deleteFile(logName(0)), deleteFile(indexName(0))];
    const report = await reportOf({ image: damaged(PRESET.image, ...gone) });
    expect(report.entries.map(({ local }) => local)).to.deep.equal(['absent', 'same']);
    expect(report.coverage).to.deep.equal([
      { from: 0n, to: 5n, where: 'offloaded' },
      { from: 5n, to: 10n, where: 'both' },
      { from: 10n, to: 15n, where: 'local' },
    ]);
  });

  it('an entry that differs from the local segment is named, and a damaged segment is no witness', async () => {
    const differs = await reportOf({ manifest: second({ oldestMicros: 7n }) });
    expect(told(differs.findings)).to.deep.equal(['ManifestLocal 1 oldest']);
    expect(differs.entries[1]!.local).to.equal('differs');
    const rotten = await reportOf({ image: damaged(PRESET.image, flipBit(logName(1), 70, 1)) });
    expect(rotten.entries[1]!.local).to.equal('not judged');
  });

  it('a manifest without a shard beside it is held against no log', async () => {
    const report = await reportOf({ image: new Map() });
    expect(told(report.findings)).to.deep.equal([]);
    expect(report.coverage).to.equal(null);
    expect(report.entries.map(({ local }) => local)).to.deep.equal(['not judged', 'not judged']);
    expect(report.notChecked.join()).to.include('held against no log');
  });

  it('a copy under another name is decoded where it is named', async () => {
    const report = await reportOf({
      manifest: second({ segmentId: 1n }),
      prepare: (_, shard) => writeFileSync(path.join(shard, 'saved'), encodeManifest({ entries: [ENTRIES[0]!] })),
      pathOf: (shard) => path.join(shard, 'saved'),
    });
    expect(report.entries).to.have.length(1);
    expect(report.path).to.match(/\/saved$/);
  });

  it('a damaged manifest is fatal; its entries are told as claims, and no object is looked for', async () => {
    const manifest = damaged(new Map([['m', MANIFEST]]), flipBit('m', 20, 0)).get('m')!;
    const report = await reportOf({ manifest, objects: {} });
    expect(report.findings.map(({ kind, severity }) => [kind, severity])).to.deep.equal([['SidecarChecksum', 'fatal']]);
    expect(report).to.deep.include({ state: 'damaged', count: 2 });
    expect(report.entries.map(({ object }) => object)).to.deep.equal(['not checked', 'not checked']);
    const cut = damaged(new Map([['m', MANIFEST]]), truncate('m', MANIFEST.length - 20)).get('m')!;
    expect((await reportOf({ manifest: cut })).entries).to.have.length(1);
  });

  it('objects that are what was copied give nothing to say', async () => {
    const report = await reportOf({ objects: BOTH });
    expect(told(report.findings)).to.deep.equal([]);
    expect(report.entries.map(({ object }) => object)).to.deep.equal(['same', 'same']);
  });

  it('an object that is gone is missing, with its key', async () => {
    const report = await reportOf({ objects: objectsOf([ENTRIES[0]!, PRESET.segments[0]!.log]) });
    expect(told(report.findings)).to.deep.equal(['ObjectMissing 1']);
    expect(report.findings.find(({ kind }) => kind === 'ObjectMissing')).to.deep.include({ severity: 'error' });
    expect(report.entries[1]!.object).to.equal('missing');
  });

  const wrong: readonly (readonly [what: string, bytes: Uint8Array, told: readonly string[]])[] = [
    ['cut short', PRESET.segments[1]!.log.subarray(0, -20), ['size', 'checksum', 'records', 'last', 'newest']],
    ['with a flipped bit', flipped(PRESET.segments[1]!, 100), ['checksum', 'records']],
    ['of another segment', PRESET.segments[0]!.log, ['size', 'checksum', 'base', 'last', 'oldest', 'newest']],
    ['that is no segment', new Uint8Array(PRESET.segments[1]!.log.length).fill(7), ['checksum', 'records']],
    ['that is empty', new Uint8Array(), ['size', 'checksum', 'records']],
  ];
  for (const [what, bytes, fields] of wrong) {
    it(`an object ${what} differs in ${fields.join(', ')}`, async () => {
      const objects = { ...BOTH, [ENTRIES[1]!.key]: bytes };
      const sameSize = PRESET.segments[0]!.log.length === PRESET.segments[1]!.log.length;
      const expected = fields.filter((field) => field !== 'size' || what !== 'of another segment' || !sameSize);
      const report = await reportOf({ objects });
      expect(told(report.findings)).to.deep.equal(expected.map((field) => `ObjectMismatch 1 ${field}`));
      expect(report.entries.map(({ object }) => object)).to.deep.equal(['same', 'differs']);
    });
  }

  it('a faithful copy of a damaged segment is told by its records alone', async () => {
    const bytes = flipped(PRESET.segments[1]!, 100);
    const rotten = { ...PRESET.segments[1]!, log: bytes };
    const manifest = encodeManifest({ entries: [ENTRIES[0]!, offloaded(rotten, 1n)] });
    const image = damaged(PRESET.image, flipBit(logName(1), 100, 0));
    const report = await reportOf({ manifest, image, objects: { ...BOTH, [ENTRIES[1]!.key]: bytes } });
    expect(told(report.findings)).to.deep.equal(['ObjectMismatch 1 records']);
  });

  for (const key of ['../secret', '/etc/passwd', 'a/../../secret', '', 'nul\0byte']) {
    it(`a key ${JSON.stringify(key)} is refused, and nothing is opened for it`, async () => {
      const report = await reportOf({
        manifest: second({ key }),
        objects: BOTH,
        prepare: (objects) => writeFileSync(path.join(objects, '..', 'secret'), PRESET.segments[1]!.log),
      });
      expect(report.entries[1]!.object).to.equal('refused');
      expect(told(report.findings)).to.deep.equal(['ObjectMismatch 1 key', 'ManifestKey 1']);
    });
  }

  it('a link that leads out of the directory is not followed', async () => {
    const report = await reportOf({
      objects: objectsOf([ENTRIES[0]!, PRESET.segments[0]!.log]),
      prepare: (objects, shard) => symlinkSync(path.join(shard, logName(1)), path.join(objects, ENTRIES[1]!.key)),
    });
    expect(report.entries[1]!.object).to.equal('refused');
  });

  it('a large object is read in windows', async () => {
    const segment = buildSegment({ records: plainRun(0n, 3, { payloadLength: 1_500_000 }) });
    const entry = offloaded(segment, 0n);
    const report = await reportOf({
      image: new Map([[logName(0), segment.log]]),
      manifest: encodeManifest({ entries: [entry] }),
      objects: { [entry.key]: segment.log },
    });
    expect(report.entries[0]).to.deep.include({ local: 'same', object: 'same' });
  });

  it('is found below a directory that holds one, and asked for where there are two', async () => {
    const above = await reportOf({ pathOf: (shard) => path.dirname(shard) });
    expect(above.path).to.match(/[^/]\/offload\.manifest$/);
    expect(above.entries).to.have.length(2);
    const twin = (_: string, shard: string) =>
      cpSync(shard, path.join(path.dirname(shard), 'other', 'shard'), { recursive: true });
    try {
      await reportOf({ prepare: twin, pathOf: (shard) => path.dirname(shard) });
      expect.fail('one of two was taken');
    } catch (error) {
      expect((error as Error).message).to.include('more than one offload.manifest is below');
    }
  });

  it('says when there is no manifest, and no such directory of objects', async () => {
    const failure = async (work: Promise<unknown>) => {
      try {
        await work;
      } catch (error) {
        if (error instanceof FailureError) return error.message;
        throw error;
      }
      return 'none';
    };
    const beside = (shard: string) => path.join(path.dirname(shard), 'objects');
    expect(await failure(reportOf({ pathOf: beside }))).to.include('no offload.manifest here');
    expect(await failure(reportOf({ pathOf: (shard) => path.join(shard, logName(0)) }))).to.include('by its name no');
    expect(await failure(reportOf({ pathOf: (shard) => `${shard}/nothing` }))).to.include('no such file');
    const report = reportOf({ objects: {}, pathOf: (shard) => path.join(shard, 'offload.manifest') });
    expect((await report).entries.map(({ object }) => object)).to.deep.equal(['missing', 'missing']);
  });
});

function flipped({ log }: BuiltSegment, at: number): Uint8Array {
  const bytes = log.slice();
  bytes[at]! ^= 1;
  return bytes;
}
