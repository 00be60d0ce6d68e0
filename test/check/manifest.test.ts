import { expect } from 'chai';
import { coverage, objectKeys } from '../../src/check/coverage.js';
import { checkManifest } from '../../src/check/manifest.js';
import { encodeManifest, type ManifestEntry } from '../../src/format/manifest.js';
import { damaged, flipBit, truncate, write, zero } from '../builders/damage.js';
import { type FactsOptions, factsOf, SUBJECT, told, withFiles, withoutFiles } from '../builders/facts.js';
import { indexName, logName, type ShardImage, threeSegments } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';

type Entry = Omit<ManifestEntry, 'position'>;

/** Offsets 0..8, 8..15, 15..21. */
const { image, segments } = threeSegments();
const entries = segments.map((segment, i) => offloaded(segment, BigInt(i)));
const [first, second, third] = entries as [Entry, Entry, Entry];

function withManifest(described: readonly Entry[], from: ShardImage = image): ShardImage {
  return withFiles(from, { 'offload.manifest': encodeManifest({ entries: described }) });
}

const judged = (files: ShardImage, options: FactsOptions = {}) => checkManifest(factsOf(files, options), SUBJECT);
const withoutSegment = (files: ShardImage, id: number) => withoutFiles(files, logName(id), indexName(id));
const covered = (files: ShardImage) =>
  coverage(factsOf(files))?.map(({ from, to, where }) => `${from}..${to} ${where}`) ?? null;
/** Where an entry begins, all keys being of one length. */
const positionOf = (entry: number) => 12 + entry * (54 + first.key.length);

describe('checkManifest', () => {
  it('says nothing of entries that agree with the log, in whatever state the copies are', () => {
    for (const files of [
      withManifest([]),
      withManifest([first, second]),
      withoutSegment(withManifest([first, second]), 0),
    ]) {
      expect(judged(files)).to.deep.equal({ findings: [], notChecked: [], omitted: [] });
    }
    expect(told(judged(image))).to.deep.equal([]);
  });

  it('ManifestOrder: a base under the one before', () => {
    const { findings } = judged(withManifest([second, first]));
    expect(told({ findings })).to.deep.equal([`error ManifestOrder offload.manifest@${positionOf(1) + 8}`]);
    expect(findings[0]?.detail).to.deep.equal({ entry: 1, segmentId: 0n });
  });

  it('ManifestRange: a last offset under the base, and not one equal to it', () => {
    const kinds = (last: bigint) => {
      const entry = { ...first, segmentId: 9n, baseOffset: 3n, lastOffset: last };
      return judged(withManifest([entry])).findings.filter(({ kind }) => kind === 'ManifestRange');
    };
    expect(kinds(2n)[0]?.detail).to.deep.equal({ entry: 0, segmentId: 9n, base: 3n, last: 2n });
    expect(kinds(2n)[0]?.site.position).to.equal(12 + 16);
    expect(kinds(3n)).to.deep.equal([]);
  });

  it('ManifestOverlap: with any other entry, not the neighbour alone; touching is no overlap', () => {
    const at = (segmentId: bigint, baseOffset: bigint, lastOffset: bigint) => ({
      ...first,
      segmentId,
      baseOffset,
      lastOffset,
    });
    const overlaps = (...described: Entry[]) =>
      judged(withManifest(described))
        .findings.filter(({ kind }) => kind === 'ManifestOverlap')
        .map(({ detail }) => detail);
    expect(overlaps(at(10n, 0n, 7n), at(11n, 8n, 9n))).to.deep.equal([]);
    expect(overlaps(at(10n, 0n, 8n), at(11n, 8n, 9n))).to.deep.equal([
      { entry: 1, segmentId: 11n, otherEntry: 0, overlap: { from: 8n, to: 9n } },
    ]);
    expect(overlaps(at(10n, 0n, 20n), at(11n, 2n, 3n), at(12n, 10n, 30n))).to.deep.equal([
      { entry: 1, segmentId: 11n, otherEntry: 0, overlap: { from: 2n, to: 4n } },
      { entry: 2, segmentId: 12n, otherEntry: 0, overlap: { from: 10n, to: 21n } },
    ]);
    expect(overlaps(at(12n, 10n, 30n), at(11n, 40n, 50n), at(10n, 0n, 10n))).to.deep.equal([
      { entry: 2, segmentId: 10n, otherEntry: 0, overlap: { from: 10n, to: 11n } },
    ]);
    expect(overlaps(at(10n, 5n, 5n), at(11n, 5n, 5n))).to.have.lengthOf(1);
  });

  it('ManifestKey: another directory, base, id or shape; a key without a node id is fine', () => {
    const whys = (key: string, name?: string) =>
      judged(withManifest([{ ...first, key }]), name === undefined ? {} : { name }).findings.map(({ detail }) =>
        'why' in detail ? detail.why : null,
      );
    const file = '00000000000000000000-00000000000000000000.segment';
    const directory = 'acme_default_orders_0-0d3aed4b998d2798';
    expect(whys(`${directory}/${file}`)).to.deep.equal([]);
    expect(whys(`region/eu/broker-1/${directory}/${file}`)).to.deep.equal([]);
    expect(whys(`broker-1/other_x_y_1-ba4fba9d99f1a2b6/${file}`)).to.deep.equal([
      'it names directory "other_x_y_1-ba4fba9d99f1a2b6"',
    ]);
    expect(whys(`b/${directory}/${file.replace('0-', '1-').replace('0.', '2.')}`)).to.deep.equal([
      'it names base offset 1, not 0, and it names segment 2',
    ]);
    for (const shape of ['', file, `${directory}/0-0.segment`, `${directory}/${file}.tmp`, `${directory}/${file}\n`]) {
      expect(whys(shape)).to.deep.equal(['it has another shape'], JSON.stringify(shape));
    }
  });

  it('ManifestKey: a directory that is not named as a shard cannot be what the keys name', () => {
    const judgement = judged(withManifest([first, { ...second, key: 'nonsense' }]), { name: 'copy-of-shard' });
    expect(told(judgement)).to.deep.equal([`warning ManifestKey offload.manifest@${positionOf(1) + 54}`]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('ManifestBeyondTail: a last offset at the tail or past it', () => {
    const entry = (lastOffset: bigint) => ({ ...first, segmentId: 9n, baseOffset: 16n, lastOffset });
    const beyond = (last: bigint, options: FactsOptions = {}) =>
      judged(withManifest([entry(last)]), options).findings.filter(({ kind }) => kind === 'ManifestBeyondTail');
    expect(beyond(20n)).to.deep.equal([]);
    expect(beyond(21n)[0]?.detail).to.deep.equal({ entry: 0, segmentId: 9n, last: 21n, tail: 21n });
    expect(beyond(99n, { tail: null })).to.deep.equal([]);
    expect(judged(withManifest([entry(99n)]), { tail: null }).notChecked).to.have.lengthOf(1);
  });

  it('HistoryHole: between entries and up to the oldest local offset, and nowhere else', () => {
    const holes = (files: ShardImage) =>
      judged(files)
        .findings.filter(({ kind }) => kind === 'HistoryHole')
        .map(({ severity, detail }) => ({ severity, ...detail }));
    const early = { ...first, segmentId: 9n, baseOffset: 2n, lastOffset: 4n };
    const lastAlone = withoutSegment(withoutSegment(image, 0), 1);
    expect(holes(withManifest([first, second], lastAlone))).to.deep.equal([]);
    expect(holes(withManifest([first], lastAlone))).to.deep.equal([{ severity: 'info', from: 8n, to: 15n }]);
    expect(holes(withManifest([second], lastAlone))).to.deep.equal([]);
    expect(holes(withManifest([early, second], lastAlone))).to.deep.equal([{ severity: 'info', from: 5n, to: 8n }]);
    expect(holes(withManifest([], lastAlone))).to.deep.equal([]);
    expect(holes(withManifest([early]))).to.deep.equal([]);
    expect(judged(withManifest([early], lastAlone), { base: null }).notChecked.join()).to.match(/holes/);
  });

  it('a manifest that does not decode is not held against anything', () => {
    const judgement = judged(withFiles(image, { 'offload.manifest': new Uint8Array(20) }));
    expect(told(judgement)).to.deep.equal([]);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });
});

describe('ManifestLocal', () => {
  const locals = (files: ShardImage, options: FactsOptions = {}) =>
    judged(files, options)
      .findings.filter(({ kind }) => kind === 'ManifestLocal')
      .map(({ detail, site }) => ('field' in detail ? `${detail.field}@${site.position}` : '?'));

  it('names each field that differs, at its place', () => {
    const at = (field: number) => positionOf(1) + field;
    const changed: readonly [Partial<Entry>, string][] = [
      [{ lastOffset: 13n }, `last@${at(16)}`],
      [{ oldestMicros: 1n }, `oldest@${at(32)}`],
      [{ newestMicros: 1n }, `newest@${at(40)}`],
      [{ checksum: 1 }, `checksum@${at(48)}`],
      [{ baseOffset: 7n }, `base@${at(8)}`],
      [{ size: second.size + 1n }, `size@${at(24)}`],
    ];
    for (const [change, told] of changed) {
      expect(locals(withManifest([first, { ...second, ...change }]))).to.deep.equal([told]);
    }
    expect(locals(withManifest([first, { ...second, size: second.size - 1n }]))).to.deep.equal([
      `size@${at(24)}`,
      `checksum@${at(48)}`,
    ]);
    const [finding] = judged(withManifest([first, { ...second, checksum: 1 }])).findings;
    expect(finding?.detail).to.deep.include({ entry: 1, segmentId: 1n, manifest: '0x00000001' });
  });

  it('a size beyond any number stays exact and reads nothing', () => {
    expect(locals(withManifest([{ ...first, size: 0xffff_ffff_ffff_ffffn }]))).to.deep.equal(['size@36']);
  });

  it('damage in the local segment explains a checksum, a size and an end; the manifest is not blamed', () => {
    const broken: readonly ShardImage[] = [
      damaged(withManifest([first, second]), flipBit(logName(1), segments[1]!.positions[3]! + 30, 2)),
      damaged(withManifest([first, second]), truncate(logName(1), segments[1]!.log.length - 5)),
      damaged(withManifest([first, second]), zero(logName(1), segments[1]!.positions[2]!, 40)),
      damaged(withManifest([first, second]), flipBit(logName(1), 9, 1)),
      damaged(withManifest([first, second]), write(logName(1), 4, Uint8Array.of(0, 9))),
    ];
    for (const files of broken) {
      expect(locals(files)).to.deep.equal([]);
      expect(judged(files).notChecked.filter((sentence) => sentence.startsWith('Segment 1 is'))).to.have.lengthOf(1);
    }
  });

  it('what was verified beside the damage is still compared', () => {
    const flip = flipBit(logName(1), segments[1]!.positions[3]! + 30, 2);
    const wrong = { ...second, oldestMicros: 1n, newestMicros: 2n, checksum: 3 };
    const fields = locals(damaged(withManifest([first, wrong]), flip)).map((field) => field.replace(/@.*/, ''));
    expect(fields).to.deep.equal(['oldest', 'newest']);
    const firstRecord = flipBit(logName(1), segments[1]!.positions[0]! + 30, 2);
    const behind = locals(damaged(withManifest([first, wrong]), firstRecord)).map((field) => field.replace(/@.*/, ''));
    expect(behind).to.deep.equal(['newest']);
  });

  it('a rotten reserved word explains a checksum, and nothing more', () => {
    const rotten = damaged(withManifest([first, second]), write(logName(1), 28, Uint8Array.of(1)));
    expect(locals(rotten)).to.deep.equal([]);
    expect(judged(rotten).notChecked).to.have.lengthOf(1);
    const wrong = damaged(withManifest([first, { ...second, checksum: 3 }]), write(logName(1), 28, Uint8Array.of(1)));
    expect(locals(wrong)).to.have.lengthOf(1);
  });

  it('the newest segment may have grown since it was copied, and its beginning must be the copy', () => {
    const half = segments[2]!.positions[3]!;
    const copy = threeSegments().image.get(logName(2))!.subarray(0, half);
    const beginning = factsOf(new Map([[logName(2), copy.slice()]])).segments[0]!.scan!.records!;
    const entry = {
      ...third,
      lastOffset: 17n,
      size: BigInt(half),
      newestMicros: beginning.lastTimestampMicros!,
      checksum: 0,
    };
    expect(locals(withManifest([first, second, entry])).map((field) => field.replace(/@.*/, ''))).to.deep.equal([
      'checksum',
    ]);
    expect(locals(withManifest([first, second, third]))).to.deep.equal([]);
    expect(locals(withManifest([first, second, { ...third, lastOffset: 19n }]))).to.have.lengthOf(1);
  });

  it('a quick look compares the base alone, and says so', () => {
    const files = withManifest([{ ...first, baseOffset: 1n, checksum: 2 }, second]);
    expect(locals(files, { quick: true })).to.deep.equal(['base@20']);
    expect(judged(files, { quick: true }).notChecked.join()).to.match(/Segment 0 is not read whole/);
  });

  it('a segment that cannot be read again is unreadable, not different', () => {
    const judgement = judged(withManifest([first]), { failing: [logName(0)] });
    expect(judgement.findings.map(({ kind }) => kind)).to.deep.equal(['Unreadable']);
    expect(judgement.notChecked).to.have.lengthOf(1);
  });

  it('two entries for one segment are both compared', () => {
    expect(locals(withManifest([first, { ...first, checksum: 1 }]))).to.deep.equal([`checksum@${positionOf(1) + 48}`]);
  });
});

describe('coverage', () => {
  it('is null without a manifest that decodes', () => {
    expect(covered(image)).to.equal(null);
    expect(covered(withFiles(image, { 'offload.manifest': new Uint8Array(20) }))).to.equal(null);
  });

  it('tells local, offloaded, both and nowhere, neighbours merged', () => {
    expect(covered(withManifest([]))).to.deep.equal(['0..21 local']);
    expect(covered(withManifest([first, second]))).to.deep.equal(['0..15 both', '15..21 local']);
    expect(covered(withoutSegment(withManifest([first, second]), 0))).to.deep.equal([
      '0..8 offloaded',
      '8..15 both',
      '15..21 local',
    ]);
    expect(covered(withoutSegment(withManifest([first]), 1))).to.deep.equal([
      '0..8 both',
      '8..15 nowhere',
      '15..21 local',
    ]);
    const early = { ...first, segmentId: 9n, baseOffset: 2n, lastOffset: 4n };
    expect(covered(withoutSegment(withoutSegment(withManifest([early]), 0), 1))).to.deep.equal([
      '2..5 offloaded',
      '5..15 nowhere',
      '15..21 local',
    ]);
  });

  it('a record lost to local damage is not local', () => {
    const flip = flipBit(logName(1), segments[1]!.positions[3]! + 30, 2);
    expect(covered(damaged(withManifest([]), flip))).to.deep.equal(['0..11 local', '11..12 nowhere', '12..21 local']);
    expect(covered(damaged(withManifest([second]), flip))).to.deep.equal([
      '0..8 local',
      '8..11 both',
      '11..12 offloaded',
      '12..15 both',
      '15..21 local',
    ]);
  });

  it('objectKeys gives the object of an offset, and null between objects', () => {
    const keyOf = objectKeys(factsOf(withManifest([second, first])));
    expect([0n, 7n, 8n, 14n, 15n].map(keyOf)).to.deep.equal([first.key, first.key, second.key, second.key, null]);
    expect(objectKeys(factsOf(image))(0n)).to.equal(null);
  });
});
