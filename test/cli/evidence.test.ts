import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { concatBytes } from '../../src/format/bytes.js';
import { encodeReplica } from '../../src/format/replica.js';
import { append, type Damage, damaged, flipBit, insert, remove, truncate, write, zero } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { plain, sequence } from '../builders/records.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, type ShardImage, threeSegments, writeShardBelow } from '../builders/shards.js';
import { hashTree, withTempDir } from '../builders/trees.js';

const MARKER = 'TOP-SECRET-PAYLOAD';
/** So many bytes in a row of the marked text are a leak. */
const LEAK = 6;

/** Segments whose every payload is marked text, with plain records and tagged ones. */
function markedSegments(): BuiltSegment[] {
  const payload = (at: bigint) => new TextEncoder().encode(`${MARKER}-${at}-${MARKER}`);
  const marked = (from: bigint) =>
    sequence(from, [3, { producerId: 7n, sequence: from, len: 3 }, 4]).map((record) => ({
      ...record,
      payload: payload(record.offset),
    }));
  return [0n, 10n, 20n].map((from) => buildSegment({ records: marked(from) }));
}

const SEGMENTS = markedSegments();
const MARKED = buildShard({ segments: SEGMENTS, sidecars: { replica: encodeReplica({ generation: 2n, commit: 7n }) } });
/** A shard at rest is looked at once. */
const LONG_AGO = new Date('2025-06-01T00:00:00Z');
const STRAY = new TextEncoder().encode(`notes: ${MARKER}`);

/** Unpacks with the system's tar; name to content. */
function unpacked(archive: string, into: string): ReadonlyMap<string, Buffer> {
  const directory = mkdtempSync(join(into, 'unpacked-'));
  const { status, stderr } = spawnSync('tar', ['xf', archive, '-C', directory]);
  expect(status, String(stderr)).to.equal(0);
  const files = new Map<string, Buffer>();
  const visit = (at: string, shown: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(join(at, entry.name), `${shown}${entry.name}/`);
      else files.set(`${shown}${entry.name}`, readFileSync(join(at, entry.name)));
    }
  };
  visit(directory, '');
  return files;
}

/** Pieces of the marked text that are in the files, as they are, in hex, or in base64. */
function leaksIn(files: ReadonlyMap<string, Buffer>): string[] {
  const needles = new Set<string>();
  for (let at = 0; at + LEAK <= MARKER.length; at++) {
    const piece = Buffer.from(MARKER.slice(at, at + LEAK));
    needles.add(piece.toString('latin1')).add(piece.toString('hex'));
    needles.add(piece.subarray(0, LEAK - (LEAK % 3)).toString('base64'));
  }
  return [...files].flatMap(([name, bytes]) => {
    const text = bytes.toString('latin1');
    return [...needles].filter((needle) => text.includes(needle)).map((needle) => `${name}: ${needle}`);
  });
}

async function evidenceOf(image: ShardImage, directory: string, ...options: readonly string[]) {
  const shard = writeShardBelow(image, mkdtempSync(join(directory, 'store-')));
  for (const name of image.keys()) utimesSync(join(shard, name), LONG_AGO, LONG_AGO);
  const archive = `${shard}.tar.gz`;
  const outcome = await runInProcess(['evidence', shard, '--to', archive, ...options]);
  expect(outcome.code, outcome.stderr).to.equal(0);
  return { shard, archive, files: unpacked(archive, directory) };
}

function jsonIn(files: ReadonlyMap<string, Buffer>, name: string): Record<string, unknown> {
  return JSON.parse(files.get(`felix-evidence/${name}`)!.toString('utf8'));
}

const positionOf = (segment: number, record: number) => SEGMENTS[segment]!.positions[record]!;

const DAMAGES: readonly (readonly [string, readonly Damage[]])[] = [
  ['nothing', []],
  ['a flipped bit in a length', [flipBit(logName(1), positionOf(1, 2) + 3, 4)]],
  ['a flipped bit in a payload', [flipBit(logName(1), positionOf(1, 2) + 30, 4)]],
  ['a flipped bit in a tag', [flipBit(logName(1), positionOf(1, 3) + 30, 4)]],
  ['bytes lost inside a header', [remove(logName(1), positionOf(1, 4) + 6, 18)]],
  ['bytes lost behind a header', [remove(logName(1), positionOf(1, 3) + 28, 20)]],
  ['bytes put in', [insert(logName(1), positionOf(1, 5) + 10, new TextEncoder().encode(MARKER))]],
  ['a header written over by a payload', [write(logName(1), positionOf(1, 4), new TextEncoder().encode(MARKER))]],
  ['a sector of zeros', [zero(logName(0), positionOf(0, 4) + 12, 100)]],
  ['a segment that begins inside a payload', [remove(logName(0), 0, positionOf(0, 0) + 28 + 3)]],
  ['a segment header written over', [write(logName(2), 0, new TextEncoder().encode(MARKER))]],
  ['an index that holds a payload', [write(indexName(1), 0, new TextEncoder().encode(MARKER))]],
  ['a small file that holds a payload', [write('replica', 0, new TextEncoder().encode(MARKER))]],
  ['a torn tail', [truncate(logName(2), SEGMENTS[2]!.log.length - 9)]],
  ['a header cut off', [truncate(logName(2), positionOf(2, 9) + 15)]],
  ['a tail of text', [append(logName(2), new TextEncoder().encode(MARKER.repeat(9)))]],
  [
    'records in another order',
    [write(logName(2), positionOf(2, 1), SEGMENTS[2]!.log.slice(positionOf(2, 0), positionOf(2, 1)))],
  ],
];

describe('evidence', function () {
  this.timeout(30_000);

  it('packs what a tar of any system lists, in one order, with the times of nobody', () =>
    withTempDir(async (directory) => {
      const { archive, shard } = await evidenceOf(damaged(MARKED, flipBit(logName(1), 70, 1)), directory);
      const listed = spawnSync('tar', ['tzvf', archive, '--utc', '--numeric-owner'], { encoding: 'utf8' });
      expect(listed.status, listed.stderr).to.equal(0);
      const lines = listed.stdout.trim().split('\n');
      for (const line of lines) expect(line).to.match(/^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 felix-evidence\//);
      const names = lines.map((line) => line.replace(/^.* felix-evidence\//, ''));
      expect(names).to.deep.equal([
        'README.txt',
        'verify.json',
        'verify.txt',
        'inspect.json',
        'files.json',
        ...[0, 1, 2].flatMap((id) => [`headers/${logName(id)}`, `headers/${indexName(id)}`]),
        `indexes/${indexName(1)}`,
        'sidecars/replica',
        `damage/${logName(1).slice(0, 20)}-32.json`,
        'about.json',
      ]);
      const again = `${shard}-again.tar`;
      expect((await runInProcess(['evidence', shard, '--to', again])).code).to.equal(0);
      const plainly = spawnSync('tar', ['tf', again], { encoding: 'utf8' }).stdout.trim().split('\n');
      expect(plainly.map((name) => name.replace('felix-evidence/', ''))).to.deep.equal(names);
      expect(statSync(again).size % 512).to.equal(0);
    }));

  for (const [what, damages] of DAMAGES) {
    it(`holds no byte of a payload of a shard with ${what}`, () =>
      withTempDir(async (directory) => {
        const image = new Map([...damaged(MARKED, ...damages), ['notes.txt', STRAY] as const]);
        const { files } = await evidenceOf(image, directory);
        expect(leaksIn(files)).to.deep.equal([]);
        expect(jsonIn(files, 'about.json')['withPayloads']).to.equal(false);
      }));
  }

  it('holds payloads when it is told to, and says so', () =>
    withTempDir(async (directory) => {
      const image = damaged(MARKED, flipBit(logName(1), positionOf(1, 5) + 30, 4));
      const { files } = await evidenceOf(image, directory, '--with-payloads');
      expect(leaksIn(files)).to.not.deep.equal([]);
      expect(files.get('felix-evidence/README.txt')!.toString()).to.contain('ARE in this bundle');
    }));

  it('shows the header of a damaged record and of four on each side, byte for byte', () =>
    withTempDir(async (directory) => {
      const at = positionOf(1, 5);
      const { files } = await evidenceOf(damaged(MARKED, flipBit(logName(1), at + 30, 4)), directory);
      const { pieces, ...rest } = jsonIn(files, `damage/${logName(1).slice(0, 20)}-${at}.json`);
      expect(rest).to.deep.include({ file: logName(1), kind: 'RecordChecksum' });
      const all = pieces as { what: string; from: number; bytes: { what: string; hex: string | null }[] }[];
      expect(all.map(({ what, from }) => [what, from])).to.deep.equal(
        [1, 2, 3, 4, 5, 6, 7, 8, 9].map((record) => [record === 5 ? 'damage' : 'record', positionOf(1, record)]),
      );
      const header = Buffer.from(SEGMENTS[1]!.log.slice(at, at + 28)).toString('hex');
      expect(all[4]!.bytes).to.deep.include({ what: 'header', from: at, to: at + 28, hex: header });
      const tagged = all[2]!.bytes.map(({ what, hex }) => [what, hex === null]);
      expect(tagged).to.deep.equal([
        ['header', false],
        ['tag', false],
        ['payload', true],
      ]);
    }));

  it('names every file with its size, its time and its hash', () =>
    withTempDir(async (directory) => {
      const { files, shard } = await evidenceOf(new Map([...MARKED, ['notes.txt', STRAY] as const]), directory);
      const listed = jsonIn(files, 'files.json')['files'] as Record<string, unknown>[];
      expect(listed.map(({ name }) => name)).to.deep.equal(readdirSync(shard).sort());
      for (const { name, size, sha256, mtimeNs } of listed) {
        const bytes = readFileSync(join(shard, name as string));
        expect(sha256).to.equal(createHash('sha256').update(bytes).digest('hex'));
        expect(size).to.equal(bytes.length);
        expect(mtimeNs).to.equal(String(statSync(join(shard, name as string), { bigint: true }).mtimeNs));
      }
      for (const id of [0, 1, 2]) {
        const header = files.get(`felix-evidence/headers/${logName(id)}`);
        expect(header).to.deep.equal(Buffer.from(SEGMENTS[id]!.log.slice(0, 32)));
      }
    }));

  it('leaves the keys of a cache out', () =>
    withTempDir(async (directory) => {
      const keys = concatBytes([new Uint8Array([0x46, 0x58, 0x49, 0x58, 0, 1]), new Uint8Array(29), STRAY]);
      const { files } = await evidenceOf(new Map([...MARKED, ['keys.idx', keys] as const]), directory);
      expect(leaksIn(files)).to.deep.equal([]);
      expect(files.get('felix-evidence/sidecars/keys.idx')).to.have.length(35);
    }));

  it('takes no name from the store into the archive, and leaves the store as it was', () =>
    withTempDir(async (directory) => {
      const shard = writeShardBelow(threeSegments().image, join(directory, 'store'));
      for (const name of ['..\\..\\evil', '-rf', 'a\nb', '\u001b[31m', `${'x'.repeat(200)}.log`, '.. ', '%2e%2e']) {
        writeFileSync(join(shard, name), 'x');
      }
      symlinkSync('/etc/passwd', join(shard, 'epochs'));
      mkdirSync(join(shard, 'producers'));
      const before = hashTree(join(directory, 'store'));
      const archive = join(directory, 'evidence.tar');
      const { code, stderr } = await runInProcess(['evidence', shard, '--to', archive]);
      expect(code, stderr).to.equal(0);
      expect(hashTree(join(directory, 'store'))).to.deep.equal(before);
      const files = unpacked(archive, directory);
      for (const name of files.keys()) expect(name).to.match(/^felix-evidence\/[A-Za-z0-9./-]+$/);
      for (const bytes of files.values()) expect(bytes.includes('root:')).to.equal(false);
      expect(jsonIn(files, 'files.json')['files']).to.have.length(15);
    }));

  it('overwrites nothing, and writes nowhere else than it is told', () =>
    withTempDir(async (directory) => {
      const shard = writeShardBelow(threeSegments().image, join(directory, 'store'));
      const there = join(directory, 'there.tar.gz');
      writeFileSync(there, 'mine');
      const before = hashTree(directory);
      for (const to of [
        there,
        join(shard, 'x.tar.gz'),
        join(directory, 'nowhere', 'x.tar'),
        join(directory, 'x.zip'),
      ]) {
        expect((await runInProcess(['evidence', shard, '--to', to])).code, to).to.equal(2);
      }
      expect(
        (await runInProcess(['evidence', join(directory, 'gone'), '--to', join(directory, 'y.tar')])).code,
      ).to.equal(2);
      expect((await runInProcess(['evidence', shard])).code).to.equal(2);
      expect(hashTree(directory)).to.deep.equal(before);
    }));

  it('stays bounded where there is damage without end, and says what it left out', () =>
    withTempDir(async (directory) => {
      const records = Array.from({ length: 2000 }, (_, i) => plain(BigInt(i)));
      const segment = buildSegment({ records });
      const log = segment.log.slice();
      for (const [i, at] of segment.positions.entries()) if (i % 3 === 1) log[at + 29]! ^= 1;
      const { files } = await evidenceOf(buildShard({ segments: [{ ...segment, log }] }), directory);
      const damages = [...files.keys()].filter((name) => name.includes('/damage/'));
      expect(damages).to.have.length(200);
      expect(jsonIn(files, 'about.json')['leftOut']).to.deep.equal(['What lies around damages beyond the first 200.']);
    }));
});
