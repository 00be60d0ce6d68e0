import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Checkpoint } from '../../src/repair/checkpoint-file.js';
import { append, damaged, flipBit } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  type ShardImage,
  threeSegments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  wellIndexed,
  writeShardBelow,
} from '../builders/shards.js';
import { describeWithCorpus, hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { checked, TEST_NOW_MICROS } from '../corpus/checked.js';

const TOOL = { name: 'felix-fsck', version: 'test' };
const DAY_MICROS = 86_400_000_000n;
/** Long before any run of these tests. */
const OLD = new Date('2025-06-01T00:00:00Z');

interface Segment {
  readonly id: string;
  verifiedBytes: number;
  unreadBytes: number;
  readonly bytes: number;
  skippedSinceMicros: string | null;
}

interface Report {
  readonly shards: { readonly segments: Segment[]; bytesRead: number; readonly findings: unknown[] }[];
  readonly summary: { verifiedBytes: number; unreadBytes: number; skippedBytes: number; elapsedMs: number };
}

/** Writes a shard whose files have been at rest for long; returns its path. */
function settledShard(image: ShardImage, parent: string): string {
  const shard = writeShardBelow(image, parent);
  for (const name of readdirSync(shard)) utimesSync(join(shard, name), OLD, OLD);
  return shard;
}

async function verified(...args: readonly string[]): Promise<{ report: Report; code: number; stderr: string }> {
  const { stdout, code, stderr } = await runInProcess(['verify', '--format', 'json', ...args]);
  expect(stdout, stderr).to.not.equal('');
  return { report: JSON.parse(stdout) as Report, code, stderr };
}

function skippedIds({ shards }: Report): string[] {
  const segments = shards.flatMap((shard) => shard.segments);
  return segments.filter(({ skippedSinceMicros }) => skippedSinceMicros !== null).map(({ id }) => id);
}

/** The report as a run would have given it that passed over nothing. */
function asIfRead(report: Report): Report {
  for (const shard of report.shards) {
    shard.bytesRead = 0;
    for (const segment of shard.segments) {
      if (segment.skippedSinceMicros === null) continue;
      expect(segment.unreadBytes).to.equal(segment.bytes);
      segment.verifiedBytes += segment.unreadBytes;
      segment.unreadBytes = 0;
      segment.skippedSinceMicros = null;
    }
  }
  const { summary } = report;
  summary.verifiedBytes += summary.skippedBytes;
  summary.unreadBytes -= summary.skippedBytes;
  Object.assign(summary, { skippedBytes: 0, elapsedMs: 0 });
  return report;
}

/** Checks a path twice with a checkpoint, and holds the second report to one without. */
async function expectSameReport(path: string, checkpoint: string): Promise<string[]> {
  const plainly = await verified(path);
  await verified('--since-checkpoint', checkpoint, path);
  const again = await verified('--since-checkpoint', checkpoint, path);
  expect(again.code).to.equal(plainly.code);
  const skipped = skippedIds(again.report);
  expect(asIfRead(again.report)).to.deep.equal(asIfRead(plainly.report));
  return skipped;
}

/** Bytes that this process has read, as the system counts them. */
function bytesReadSoFar(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);
}

async function bytesReadBy(work: () => Promise<unknown>): Promise<number> {
  const before = bytesReadSoFar();
  await work();
  return bytesReadSoFar() - before;
}

/** Checks as `verify` does, at a time of its own, with `file` as the checkpoint. */
async function checkedAt(nowMicros: bigint, shard: string, file: string) {
  const recheckAfterMicros = 30n * DAY_MICROS;
  const remembered = await Checkpoint.open(file, { tool: TOOL, nowMicros, recheckAfterMicros, checked: [shard] });
  const result = await checked(shard, { nowMicros, memory: { remembered, recheckAfterMicros } });
  remembered.commit();
  return result;
}

describe('verify --since-checkpoint', function () {
  this.timeout(60_000);

  it('reads a small part of the bytes the second time', function () {
    if (!existsSync('/proc/self/io')) this.skip();
    return withTempDir(async (directory) => {
      const big = (from: bigint) =>
        Array.from({ length: 64 }, (_, i) => plain(from + BigInt(i), { payload: new Uint8Array(65_536).fill(i) }));
      const segments = [0n, 64n, 128n].map((from) => buildSegment({ records: big(from) }));
      segments.push(buildSegment({ records: [plain(192n)] }));
      const shard = settledShard(buildShard({ segments }), directory);
      const checkpoint = join(directory, 'checkpoint');
      const args = ['--jobs', '1', '--since-checkpoint', checkpoint, shard];
      const first = await bytesReadBy(() => verified(...args));
      let second: Report | null = null;
      const again = await bytesReadBy(async () => {
        second = (await verified(...args)).report;
      });
      expect(first).to.be.above(12 * 1024 * 1024);
      expect(again).to.be.below(first / 20);
      expect(skippedIds(second!)).to.deep.equal(['0', '1', '2']);
    });
  });

  const presets: readonly (readonly [string, ShardImage, readonly string[]])[] = [
    ['plain segments', threeSegments().image, ['0', '1']],
    ['generations', v4WithGenerations().image, ['0', '1']],
    ['batches across segments', threeV3SegmentsWithBatches().image, ['0', '1']],
    ['many index entries', wellIndexed().image, ['0']],
    ['a damaged segment among sound ones', damaged(threeSegments().image, flipBit(logName(1), 70, 2)), ['0']],
    ['an index that points elsewhere', damaged(wellIndexed().image, flipBit(indexName(0), 24 + 16 + 15, 1)), []],
    ['a torn tail', damaged(threeSegments().image, append(logName(2), new Uint8Array(9))), ['0', '1']],
    ['a gap between segments', without(threeSegments().image, 1), ['0']],
    ['no index', new Map([...threeSegments().image].filter(([name]) => !name.endsWith('.index'))), ['0', '1']],
  ];
  for (const [what, image, skipped] of presets) {
    it(`says of ${what} what a run that reads everything says`, () =>
      withTempDir(async (directory) => {
        const shard = settledShard(image, join(directory, 'store'));
        const before = hashTree(shard);
        expect(await expectSameReport(shard, join(directory, 'checkpoint'))).to.deep.equal(skipped);
        expect(hashTree(shard)).to.deep.equal(before);
      }));
  }

  it('says of every fixture what a run that reads everything says', () =>
    withTempDir(async (directory) => {
      const skipped = await expectSameReport(join(PROJECT_ROOT, 'fixtures'), join(directory, 'checkpoint'));
      expect(skipped).to.have.length.above(5);
    }));

  describeWithCorpus('over the corpus', (corpus) => {
    it('says what a run that reads everything says', () =>
      withTempDir(async (directory) => {
        const skipped = await expectSameReport(join(corpus, 'cases'), join(directory, 'checkpoint'));
        expect(skipped).to.have.length.above(50);
      }));
  });

  it('holds the offload manifest against segments that it passes over', () =>
    withTempDir(async (directory) => {
      cpSync(join(PROJECT_ROOT, 'fixtures', 'offload-with-a-hole'), join(directory, 'store'), { recursive: true });
      const [name] = readdirSync(join(directory, 'store')).filter((each) => each.startsWith('acme'));
      const shard = join(directory, 'store', name!);
      for (const each of readdirSync(shard)) utimesSync(join(shard, each), OLD, OLD);
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, shard);
      const manifest = join(shard, 'offload.manifest');
      const bytes = readFileSync(manifest);
      writeFileSync(manifest, bytes);
      const skipped = await expectSameReport(shard, checkpoint);
      expect(skipped).to.have.length.above(0);
    }));

  it('reads a segment again whose bytes and time have changed, and finds the damage', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, directory);
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, shard);
      rot(join(shard, logName(0)));
      const { report, code } = await verified('--since-checkpoint', checkpoint, shard);
      expect(skippedIds(report)).to.deep.equal(['1']);
      expect(report.shards[0]!.findings).to.have.length(1);
      expect(code).to.equal(22);
    }));

  it('reads a segment again whose index was replaced', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, directory);
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, shard);
      writeFileSync(join(shard, indexName(1)), readFileSync(join(shard, indexName(1))));
      expect(skippedIds((await verified('--since-checkpoint', checkpoint, shard)).report)).to.deep.equal(['0']);
    }));

  it('finds rot that changed no time once the segment was not read for long enough, and not before', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, directory);
      const checkpoint = join(directory, 'checkpoint');
      const kinds = async (day: bigint) => {
        const { shards } = await checkedAt(TEST_NOW_MICROS + day * DAY_MICROS, shard, checkpoint);
        return shards[0]!.findings.map(({ kind }) => kind);
      };
      expect(await kinds(0n)).to.deep.equal([]);
      rot(join(shard, logName(0)), OLD);
      expect(await kinds(29n)).to.deep.equal([]);
      expect(await kinds(31n)).to.deep.equal(['RecordChecksum']);
      expect(await kinds(32n), 'damage is never remembered as clean').to.deep.equal(['RecordChecksum']);
    }));

  it('reads everything when told to with --recheck-after 0', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, directory);
      const args = ['--since-checkpoint', join(directory, 'checkpoint'), '--recheck-after', '0', shard];
      await verified(...args);
      expect(skippedIds((await verified(...args)).report)).to.deep.equal([]);
    }));

  it('remembers nothing that was written to a moment ago, and never the newest segment', () =>
    withTempDir(async (directory) => {
      const shard = writeShardBelow(threeSegments().image, directory);
      const now = new Date();
      utimesSync(join(shard, logName(0)), OLD, OLD);
      utimesSync(join(shard, indexName(0)), OLD, OLD);
      utimesSync(join(shard, logName(1)), now, now);
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, shard);
      expect(skippedIds((await verified('--since-checkpoint', checkpoint, shard)).report)).to.deep.equal(['0']);
    }));

  it('keeps what it knows of shards that a run does not look at', () =>
    withTempDir(async (directory) => {
      const one = settledShard(threeSegments().image, join(directory, 'one'));
      const two = settledShard(threeSegments().image, join(directory, 'two'));
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, one);
      await verified('--since-checkpoint', checkpoint, two);
      const { report } = await verified('--since-checkpoint', checkpoint, one, two);
      expect(skippedIds(report)).to.deep.equal(['0', '1', '0', '1']);
    }));

  it('believes nothing of a checkpoint that was changed, and says so', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, directory);
      const checkpoint = join(directory, 'checkpoint');
      await verified('--since-checkpoint', checkpoint, shard);
      const text = readFileSync(checkpoint, 'utf8');
      for (const tampered of [
        text.replace('"records":8', '"records":9'),
        text.slice(0, -20),
        text.replace('"version":"', '"version":"9'),
        text.replace('checkpoint/1', 'checkpoint/2'),
      ]) {
        expect(tampered).to.not.equal(text);
        writeFileSync(checkpoint, tampered);
        const { report, stderr, code } = await verified('--since-checkpoint', checkpoint, shard);
        expect(skippedIds(report)).to.deep.equal([]);
        expect(stderr).to.match(/nothing in it is used, and every segment is read\n$/);
        expect(code).to.equal(0);
      }
      expect(skippedIds((await verified('--since-checkpoint', checkpoint, shard)).report)).to.have.length(2);
    }));

  it('refuses a file that is no checkpoint, and leaves it as it is', () =>
    withTempDir(async (directory) => {
      const shard = settledShard(threeSegments().image, join(directory, 'store'));
      for (const content of ['', 'dear diary\n', '{"schema":"felix-fsck.plan/1"}\n', '\u0000\ufffd']) {
        const notes = join(directory, 'notes');
        writeFileSync(notes, content);
        const { code, stderr } = await runInProcess(['verify', '--since-checkpoint', notes, shard]);
        expect(code).to.equal(2);
        expect(stderr).to.contain('is not a checkpoint');
        expect(readFileSync(notes, 'utf8')).to.equal(content);
      }
      expect(readdirSync(directory)).to.have.members(['notes', 'store']);
    }));

  it('refuses a place in what is checked, and a quick look', () =>
    withTempDir(async (directory) => {
      const root = join(directory, 'store');
      const shard = settledShard(threeSegments().image, root);
      mkdirSync(join(root, 'reports'));
      const before = hashTree(root);
      for (const [file, path] of [
        [join(shard, 'checkpoint'), shard],
        [join(root, 'checkpoint'), root],
        [join(root, 'reports', 'checkpoint'), root],
        [join(shard, 'checkpoint'), join(shard, logName(0))],
      ] as const) {
        const { code, stderr } = await runInProcess(['verify', '--since-checkpoint', file, path]);
        expect(code, file).to.equal(2);
        expect(stderr).to.contain('a checkpoint is kept elsewhere');
      }
      const quick = await runInProcess(['verify', '--quick', '--since-checkpoint', join(directory, 'c'), shard]);
      expect(quick.code).to.equal(2);
      expect(hashTree(root)).to.deep.equal(before);
    }));

  it('tells a person when the segment was last read', () =>
    withTempDir(async (directory) => {
      const { image } = threeSegments();
      const skipped = image.get(logName(0))!.length + image.get(logName(1))!.length;
      const shard = settledShard(image, directory);
      const args = ['verify', '--since-checkpoint', join(directory, 'checkpoint'), shard];
      await runInProcess(args);
      const { stdout } = await runInProcess(args);
      const today = new Date().toISOString().slice(0, 10);
      expect(stdout).to.match(new RegExp(`^0 .* on ${today} `, 'm'));
      expect(stdout.replace(/\s+/g, ' ')).to.contain(`0 unread, ${skipped} passed over as unchanged`);
    }));
});

function without(image: ShardImage, id: number): ShardImage {
  return new Map([...image].filter(([name]) => name !== logName(id) && name !== indexName(id)));
}

/** Flips a bit in the first record's payload; with `time` the file's times are put back. */
function rot(file: string, time?: Date): void {
  const { size } = statSync(file);
  const bytes = readFileSync(file);
  bytes[32 + 28 + 1]! ^= 4;
  writeFileSync(file, bytes);
  expect(statSync(file).size).to.equal(size);
  if (time !== undefined) utimesSync(file, time, time);
}
