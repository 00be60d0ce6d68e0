import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { writeU16, writeU32 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import { drive, InlineScanner, type SegmentJob, withSources } from '../../src/scan/scanner.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { runTask, sharedState, type Task } from '../../src/scan/task.js';
import { MemorySource } from '../../src/store/byte-source.js';
import { plain, plainRun, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { withTempDir } from '../builders/trees.js';

const SETTINGS = { nowMicros: timestampOf(0n) + 86_400_000_000n, windowBytes: 1000 };
/** Twenty records, longer than a few windows, with an index of some entries. */
const SEGMENT = buildSegment({ records: plainRun(10n, 20, { payloadLength: 300 }), indexSpacing: 1000 });
const SIZE = SEGMENT.log.length;

function* counting(to: number): Generator<number, string> {
  for (let i = 1; i <= to; i++) yield i;
  return 'done';
}

/** The segment and its index on disk. */
const withJob = (work: (job: SegmentJob, dir: string) => Promise<void>) =>
  withTempDir(async (dir) => {
    const [log, index] = [path.join(dir, 'a.log'), path.join(dir, 'a.index')];
    writeFileSync(log, SEGMENT.log);
    writeFileSync(index, SEGMENT.index);
    await work({ path: log, size: SIZE, index: { path: index, size: SEGMENT.index.length }, settings: SETTINGS }, dir);
  });

function straight() {
  const walk = scanSegmentFile(new MemorySource(SEGMENT.log), new MemorySource(SEGMENT.index), SETTINGS);
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}

const openFiles = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
const scanner = (signal = new AbortController().signal) => new InlineScanner(signal);
const missing = { code: 'ENOENT', message: 'no such file or directory', position: 0 };

describe('scan/scanner', () => {
  it('drives to the end, asking at each step whether to go on, now or later', async () => {
    for (const answer of [() => true, async () => true]) {
      const seen: number[] = [];
      const goOn = (position: number) => {
        seen.push(position);
        return answer();
      };
      expect(await drive(counting(3), goOn)).to.equal('done');
      expect(seen).to.deep.equal([1, 2, 3]);
    }
    expect(await drive(counting(0), () => false)).to.equal('done');
  });

  it('stops when told, now or later', async () => {
    for (const no of [() => false, async () => false]) {
      const seen: number[] = [];
      const outcome = await drive(counting(3), (position) => {
        seen.push(position);
        return position < 2 ? true : no();
      });
      expect([outcome, seen]).to.deep.equal([null, [1, 2]]);
    }
  });

  it('gives what a scan of the files gives, and says how many bytes it has passed', () =>
    withJob(async (job) => {
      const one = scanner();
      expect(one.passedBytes()).to.equal(0);
      const before = openFiles();
      expect(await one.scan(job)).to.deep.equal({ is: 'scanned', scan: straight() });
      expect(one.passedBytes()).to.equal(SIZE);
      const whole = await Promise.all([one.scan(job), one.scan({ ...job, index: null }), one.scan(job)]);
      expect(whole.map(({ is }) => is)).to.deep.equal(['scanned', 'scanned', 'scanned']);
      expect(one.passedBytes()).to.equal(4 * SIZE);
      await one.close();
      expect(openFiles()).to.equal(before);
    }));

  it('has passed a segment whose records it did not look at', () =>
    withJob(async (job) => {
      const other = SEGMENT.log.slice();
      writeU16(other, 4, 9);
      writeU32(other, 24, crc32(other.subarray(0, 24)));
      writeFileSync(job.path, other);
      const one = scanner();
      expect(await one.scan(job)).to.have.nested.property('scan.records', null);
      expect(one.passedBytes()).to.equal(SIZE);
    }));

  it('judges the prefix that it is told', () =>
    withJob(async (job) => {
      const cut = await scanner().scan({ ...job, size: SEGMENT.positions[3]! });
      expect(cut).to.have.nested.property('scan.records.records', 3);
    }));

  it('says of a file that cannot be opened why, and goes on with others', () =>
    withJob(async (job, dir) => {
      const one = scanner();
      const gone = { ...job, path: path.join(dir, 'b.log') };
      const [first, second] = await Promise.all([one.scan(gone), one.scan(job)]);
      expect(first).to.deep.equal({ is: 'unreadable', problem: missing });
      expect(second!.is).to.equal('scanned');
      expect(await one.scan({ ...job, path: dir })).to.deep.equal({
        is: 'unreadable',
        problem: { code: 'ENOTFILE', message: 'not a regular file', position: 0 },
      });
    }));

  it('keeps the records of a segment whose index cannot be opened', () =>
    withJob(async (job, dir) => {
      const before = openFiles();
      const answer = await scanner().scan({ ...job, index: { path: path.join(dir, 'b.index'), size: 500 } });
      expect(answer).to.have.nested.property('scan.records.records', 20);
      expect(answer).to.have.deep.nested.property('scan.head.indexProblem', missing);
      expect(openFiles()).to.equal(before);
    }));

  it('is interrupted by its signal, before and between windows', () =>
    withJob(async (job) => {
      for (const each of [job, { ...job, path: '/nowhere/a.log' }]) {
        expect(await scanner(AbortSignal.abort()).scan(each)).to.deep.equal({ is: 'interrupted' });
      }
      const controller = new AbortController();
      const one = scanner(controller.signal);
      const answer = one.scan(job);
      await Promise.resolve().then(() => controller.abort());
      expect(await answer).to.deep.equal({ is: 'interrupted' });
      expect(await one.scan(job)).to.deep.equal({ is: 'interrupted' });
    }));

  it('closes its files and passes on what is no failure of a read', () =>
    withJob(async (job) => {
      const before = openFiles();
      const bug = await withSources(job, async (source, index) => {
        expect([source.size, index!.size]).to.deep.equal([SIZE, SEGMENT.index.length]);
        throw new TypeError('a bug');
      }).catch((error: unknown) => error);
      expect(bug).to.be.instanceOf(TypeError);
      expect(openFiles()).to.equal(before);
    }));
});

describe('scan/task', () => {
  const range = (job: SegmentJob, from: number, until: number): Task => ({
    what: 'range',
    job,
    request: {
      start: SEGMENT.positions[from]!,
      until,
      expected: 10n + BigInt(from),
      version: 3,
      mark: null,
      firstEntry: null,
      nowMicros: SETTINGS.nowMicros,
      windowBytes: 1000,
    },
  });
  const passedBy = (shared: ReturnType<typeof sharedState>) => Number(Atomics.load(shared.passed, 0));

  it('scans a whole segment, and counts the bytes of it once', () =>
    withJob(async (job) => {
      const shared = sharedState(null);
      expect(await runTask({ what: 'segment', job }, shared)).to.deep.equal({ is: 'scanned', scan: straight() });
      expect(passedBy(shared)).to.equal(SIZE);
    }));

  it('scans a range, and counts the bytes of that alone', () =>
    withJob(async (job) => {
      const shared = sharedState(null);
      const end = SEGMENT.positions[12]!;
      const answer = await runTask(range(job, 3, end), shared);
      expect(answer.is).to.equal('range');
      expect(answer).to.have.nested.property('scan.records', 9);
      expect(passedBy(shared)).to.equal(end - SEGMENT.positions[3]!);
      const rest = await runTask(range(job, 12, Number.POSITIVE_INFINITY), shared);
      expect(rest).to.have.nested.property('scan.records', 8);
      expect(passedBy(shared)).to.equal(SIZE - SEGMENT.positions[3]!);
    }));

  it('never counts more than its range, where the scan of it goes further', () =>
    withJob(async (job) => {
      const log = SEGMENT.log.slice();
      log[SEGMENT.positions[4]!]! ^= 1;
      log.fill(0xff, SEGMENT.positions[5]!);
      writeFileSync(job.path, log);
      const shared = sharedState(null);
      const end = SEGMENT.positions[8]!;
      expect(await runTask(range(job, 3, end), shared)).to.have.nested.property('scan.end', SIZE);
      expect(passedBy(shared)).to.equal(end - SEGMENT.positions[3]!);
    }));

  it('counts what a scan looks at twice once', () =>
    withJob(async (job) => {
      // A long record that fails, and no header behind it that bears its end out: its inside is searched.
      const records = [
        ...plainRun(10n, 3, { payloadLength: 300 }),
        plain(13n, { payloadLength: 5000 }),
        plain(14n),
        plain(15n),
      ];
      const { log, positions } = buildSegment({ records });
      log[positions[3]! + 100]! ^= 1;
      log[positions[4]!]! ^= 1;
      writeFileSync(job.path, log);
      const shared = sharedState(null);
      const answer = await runTask({ what: 'segment', job: { ...job, size: log.length, index: null } }, shared);
      expect(answer).to.have.nested.property('scan.records.records', 4);
      expect(passedBy(shared)).to.equal(log.length);
    }));

  it('stops at the next window once it is told to', () =>
    withJob(async (job) => {
      const shared = sharedState(null);
      Atomics.store(shared.stop, 0, 1);
      expect(await runTask({ what: 'segment', job }, shared)).to.deep.equal({ is: 'interrupted' });
      expect(await runTask(range(job, 3, SIZE), shared)).to.deep.equal({ is: 'interrupted' });
    }));

  it('says of a file that cannot be opened why', () =>
    withJob(async (job, dir) => {
      const gone = { ...job, path: path.join(dir, 'b.log') };
      expect(await runTask({ what: 'segment', job: gone }, sharedState(null))).to.deep.equal({
        is: 'unreadable',
        problem: missing,
      });
    }));

  it('shares memory, and the pace that it is given', () => {
    const shared = sharedState(null);
    expect(shared.pace).to.equal(null);
    for (const view of [shared.passed, shared.stop]) {
      expect(view.buffer).to.be.instanceOf(SharedArrayBuffer);
      expect([...view].map(Number)).to.deep.equal([0]);
    }
  });
});
