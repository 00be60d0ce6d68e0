/** Threads over segments of any size: what they answer, what they are used for, and how they end. */
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { createScanner, type WorthIt } from '../../src/scan/pool.js';
import { InlineScanner, type Scanner, type SegmentAnswer, type SegmentJob } from '../../src/scan/scanner.js';
import { plainRun, timestampOf } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { withTempDir } from '../builders/trees.js';

const SETTINGS = { nowMicros: timestampOf(0n) + 86_400_000_000n };
/** Sixty records of 128 bytes, with an entry for each. */
const SIXTY = buildSegment({ records: plainRun(10n, 60, { payloadLength: 100 }), indexSpacing: 1 });
const SIZE = SIXTY.log.length;
/** Threads for files of any size, and ranges of a kibibyte and more. */
const ALWAYS: WorthIt = { largeBytes: 0, manyBytes: 0, smallBytes: 0, rangeBytes: 1024 };
const NEVER = Number.POSITIVE_INFINITY;

function turned(bytes: Uint8Array, ...places: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const place of places) copy[place]! ^= 1;
  return copy;
}

/** Hands over jobs for segments with these bytes, all beside the same index. */
async function withJobs(
  logs: readonly Uint8Array[],
  work: (jobs: SegmentJob[]) => Promise<void>,
  index: Uint8Array | null = SIXTY.index,
): Promise<void> {
  await withTempDir(async (dir) => {
    const indexPath = path.join(dir, 'a.index');
    if (index !== null) writeFileSync(indexPath, index);
    const jobs = logs.map((log, i) => {
      writeFileSync(path.join(dir, `${i}.log`), log);
      return {
        path: path.join(dir, `${i}.log`),
        size: log.length,
        index: index && { path: indexPath, size: index.length },
        settings: SETTINGS,
      };
    });
    await work(jobs);
  });
}

async function withPool(
  worthIt: Partial<WorthIt>,
  work: (pool: Scanner) => Promise<void>,
  jobs = 2,
  signal = new AbortController().signal,
): Promise<void> {
  const pool = createScanner({ jobs, signal, worthIt: { ...ALWAYS, ...worthIt } });
  try {
    await work(pool);
  } finally {
    await pool.close();
  }
}

/** Without how much was read to find it. */
function said(answer: SegmentAnswer): unknown {
  if (answer.is !== 'scanned') return answer;
  const { head, records, ...rest } = answer.scan;
  return { ...rest, head, records: records && { ...records, bytesRead: 0 } };
}

/** How many threads are made during `work`. */
async function threadsMade(work: () => Promise<unknown>): Promise<number> {
  let made = 0;
  const count = () => {
    made++;
  };
  process.on('worker', count);
  try {
    await work();
    await new Promise(setImmediate);
  } finally {
    process.off('worker', count);
  }
  return made;
}

const inline = (job: SegmentJob) => new InlineScanner(new AbortController().signal).scan(job);

describe('scan/pool', function () {
  this.timeout(20_000);

  it('is a thread beside the calling one only when more than one is asked for', () => {
    const { signal } = new AbortController();
    for (const jobs of [0, 1]) expect(createScanner({ jobs, signal })).to.be.instanceOf(InlineScanner);
    expect(createScanner({ jobs: 2, signal })).to.not.be.instanceOf(InlineScanner);
  });

  it('answers as one thread does, for whole segments and for ranges that join or do not', () =>
    withJobs(
      [
        SIXTY.log,
        turned(SIXTY.log, 32 + 128 * 20 + 5),
        turned(SIXTY.log, 32 + 128 * 59 + 60),
        SIXTY.log.slice(0, -5),
        // A record lost at the end of a range, so that the next one begins with another offset.
        new Uint8Array(Buffer.concat([SIXTY.log.subarray(0, 32 + 128 * 15), SIXTY.log.subarray(32 + 128 * 16)])),
        SIXTY.log.slice(0, 40),
        new Uint8Array(5),
      ],
      async (jobs) => {
        for (const rangeBytes of [100, 1024, 3000, NEVER]) {
          await withPool({ rangeBytes }, async (pool) => {
            const answers = await Promise.all(jobs.map((job) => pool.scan(job)));
            for (const [i, job] of jobs.entries()) {
              expect(said(answers[i]!), `${i} by ${rangeBytes}`).to.deep.equal(said(await inline(job)));
            }
            const all = jobs.reduce((sum, { size }) => sum + size, 0);
            expect(pool.passedBytes()).to.be.within(all, 2 * all);
          });
        }
      },
    ));

  it('counts each byte once where the ranges join', () =>
    withJobs([SIXTY.log, SIXTY.log], async ([one, other]) => {
      await withPool({}, async (pool) => {
        expect(pool.passedBytes()).to.equal(0);
        await pool.scan(one!);
        // The first range has the header in front of it.
        expect(pool.passedBytes()).to.equal(SIZE - 32);
        await pool.scan({ ...other!, index: null });
        expect(pool.passedBytes()).to.equal(2 * SIZE - 32);
      });
    }));

  it('leaves small files, and quick looks, to the calling thread', () =>
    withJobs([SIXTY.log], async ([job]) => {
      /** Whether a scan, after so many others, makes a thread. */
      const isThreaded = async (worthIt: Partial<WorthIt>, quick = false, before = 0) => {
        let threads = 0;
        await withPool({ rangeBytes: NEVER, ...worthIt }, async (pool) => {
          for (let i = 0; i < before; i++) await pool.scan(job!);
          threads = await threadsMade(async () => {
            const answer = await pool.scan({ ...job!, settings: { ...SETTINGS, quick } });
            expect(answer.is).to.equal('scanned');
          });
        });
        return threads > 0;
      };
      expect(await isThreaded({})).to.equal(true);
      expect(await isThreaded({}, true)).to.equal(false);
      expect(await isThreaded({ largeBytes: SIZE, manyBytes: NEVER })).to.equal(true);
      expect(await isThreaded({ largeBytes: SIZE + 1, manyBytes: NEVER })).to.equal(false);
      const many = { largeBytes: NEVER, manyBytes: 2 * SIZE };
      expect(await isThreaded(many)).to.equal(false);
      expect(await isThreaded(many, false, 1)).to.equal(true);
      expect(await isThreaded({ ...many, manyBytes: 2 * SIZE + 1 }, false, 1)).to.equal(false);
      expect(await isThreaded({ ...many, smallBytes: SIZE }, false, 1)).to.equal(true);
      expect(await isThreaded({ ...many, smallBytes: SIZE + 1 }, false, 1)).to.equal(false);
    }));

  it('makes no more threads than it may, and uses those that it has', () =>
    withJobs(Array(5).fill(SIXTY.log), async (jobs) => {
      await withPool(
        { rangeBytes: NEVER },
        async (pool) => {
          expect(await threadsMade(() => pool.scan(jobs[0]!))).to.equal(1);
          expect(await threadsMade(() => pool.scan(jobs[1]!))).to.equal(0);
          const all = () => Promise.all(jobs.map((job) => pool.scan(job)));
          expect(await threadsMade(all)).to.equal(2);
          expect(await threadsMade(all)).to.equal(0);
        },
        3,
      );
    }));

  it('splits a segment into ranges of the least size, and at most two for each thread', () =>
    withJobs([SIXTY.log], async ([job]) => {
      const threads = async (rangeBytes: number, jobs: number) => {
        let made = 0;
        await withPool(
          { rangeBytes },
          async (pool) => {
            made = await threadsMade(() => pool.scan(job!));
          },
          jobs,
        );
        return made;
      };
      expect(await threads(SIZE / 2 + 1, 3)).to.equal(1);
      expect(await threads(Math.floor(SIZE / 2), 3)).to.equal(2);
      expect(await threads(Math.floor(SIZE / 3), 6)).to.equal(3);
      expect(await threads(Math.floor(SIZE / 3), 2)).to.equal(2);
    }));

  it('answers for a file that cannot be opened, or is gone when its range comes up', () =>
    withJobs([SIXTY.log], async ([job]) => {
      const gone = { ...job!, path: `${job!.path.toString()}.gone` };
      const problem = { code: 'ENOENT', message: 'no such file or directory', position: 0 };
      for (const rangeBytes of [1024, NEVER]) {
        await withPool({ rangeBytes }, async (pool) => {
          expect(await pool.scan(gone)).to.deep.equal({ is: 'unreadable', problem });
          expect((await pool.scan(job!)).is).to.equal('scanned');
        });
      }
    }));

  it('is interrupted by its signal, in ranges as in whole segments', () =>
    withJobs([SIXTY.log], async ([job]) => {
      for (const rangeBytes of [1024, NEVER]) {
        const controller = new AbortController();
        await withPool(
          { rangeBytes },
          async (pool) => {
            expect((await pool.scan(job!)).is).to.equal('scanned');
            controller.abort();
            expect(await pool.scan(job!)).to.deep.equal({ is: 'interrupted' });
          },
          2,
          controller.signal,
        );
      }
    }));

  it('passes on what a thread dies of, and goes on with others', () =>
    withJobs(Array(4).fill(SIXTY.log), async (jobs) => {
      await withPool({ rangeBytes: NEVER }, async (pool) => {
        const deadly = { ...jobs[0]!, settings: null as unknown as SegmentJob['settings'] };
        // Looked at by the calling thread, a segment without settings would fail there.
        Object.defineProperty(deadly, 'settings', { enumerable: true, get: settingsOnce() });
        const thrown = await pool.scan(deadly).catch((error: unknown) => error);
        expect(thrown).to.be.instanceOf(TypeError);
        const answers = await Promise.all(jobs.map((job) => pool.scan(job)));
        expect(answers.map(({ is }) => is)).to.deep.equal(jobs.map(() => 'scanned'));
      });
    }));

  it('ends its threads when it is closed', () =>
    withJobs([SIXTY.log, SIXTY.log], async (jobs) => {
      const threads: Worker[] = [];
      const keep = (thread: Worker) => threads.push(thread);
      process.on('worker', keep);
      try {
        await withPool({ rangeBytes: NEVER }, (pool) => Promise.all(jobs.map((job) => pool.scan(job))).then(() => {}));
      } finally {
        process.off('worker', keep);
      }
      expect(threads.map(({ threadId }) => threadId)).to.deep.equal([-1, -1]);
    }));

  it('holds no more segments open for splitting than two for each thread', function () {
    const descriptors = '/proc/self/fd';
    if (!existsSync(descriptors)) this.skip();
    return withJobs(Array(12).fill(SIXTY.log), async (jobs) => {
      const directory = path.dirname(String(jobs[0]!.path));
      const isOurs = (name: string) => openPath(`${descriptors}/${name}`).startsWith(directory);
      await withPool({}, async (pool) => {
        const answers = Promise.all(jobs.map((job) => pool.scan(job)));
        await new Promise(setImmediate);
        // A log and an index each, and as much again by either thread that has begun by now.
        expect(readdirSync(descriptors).filter(isOurs).length).to.be.within(2 * 2 * 2, 2 * 2 * 2 + 2 * 2);
        expect((await answers).map(({ is }) => is)).to.deep.equal(jobs.map(() => 'scanned'));
      });
    });
  });
});

/** Settings for the first one to ask, and none for those behind. */
function settingsOnce(): () => SegmentJob['settings'] {
  let asked = 0;
  return () => (asked++ === 0 ? SETTINGS : (null as unknown as SegmentJob['settings']));
}

/** Where a descriptor leads; nowhere when it has been closed meanwhile. */
function openPath(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
