import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { Pace } from '../../src/cli/pace.js';
import { salvage, salvageJob } from '../../src/cli/salvage.js';
import { encodeReplica } from '../../src/format/replica.js';
import type { FsCall } from '../../src/repair/durable-fs.js';
import { WriteFailure } from '../../src/repair/durable-fs.js';
import { append, damaged, deleteFile, flipBit, renameFile, truncate, zero } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  SHARD_DIR_NAME,
  type ShardImage,
  shardOf,
  threeSegments,
  threeV2Segments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  writeShardBelow,
} from '../builders/shards.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { UnsyncedFs } from '../builders/unsynced-fs.js';
import { runUnprivileged } from './run-as.js';

interface Report {
  readonly runs: readonly {
    readonly directory: string;
    readonly offsets: { readonly from: string; readonly to: string };
    readonly fork: boolean;
    readonly segments: readonly { readonly version: number; readonly baseOffset: string; readonly bytes: number }[];
  }[];
  readonly lost: readonly { readonly from: string; readonly to: string }[];
  readonly unread: readonly { readonly from: string; readonly to: string }[];
  readonly uncertain: readonly { readonly position: number; readonly bytes: number }[];
  readonly sources: readonly {
    readonly path: string;
    readonly sha256: string | null;
    readonly problem: string | null;
  }[];
  readonly forks: readonly { readonly from: string; readonly to: string }[];
}

async function salvaged(shards: readonly string[], to: string, ...more: string[]) {
  const { code, stdout, stderr } = await runInProcess(['salvage', ...shards, '--to', to, '--format', 'json', ...more]);
  const report = stdout === '' ? null : (JSON.parse(stdout) as Report);
  if (report !== null) expect(readFileSync(path.join(to, 'salvage.json'), 'utf8')).to.equal(stdout);
  return { code, stderr, report: report! };
}

/** Salvages images as replicas of one shard. */
function withSalvage(images: readonly ShardImage[], work: (outcome: Outcome) => unknown, ...more: string[]) {
  return withTempDir(async (dir) => {
    const shards = images.map((image, i) => writeShardBelow(image, path.join(dir, `broker-${i}`)));
    const to = path.join(dir, 'saved');
    await work({ ...(await salvaged(shards, to, ...more)), to, shards });
  });
}

type Outcome = Awaited<ReturnType<typeof salvaged>> & { readonly to: string; readonly shards: readonly string[] };

const spans = ({ runs }: Report) =>
  runs.map(({ offsets, fork }) => `${offsets.from}..${offsets.to}${fork ? ' fork' : ''}`);

describe('salvage', () => {
  const { image, segments } = threeSegments();

  it('saves a healthy shard whole: exit code 0, and the new segment holds the same records', () =>
    withSalvage([image], ({ code, report, to }) => {
      expect(code).to.equal(0);
      expect(report.runs.map(({ directory }) => directory)).to.deep.equal([
        `from-00000000000000000000/${SHARD_DIR_NAME}`,
      ]);
      const log = readFileSync(path.join(to, report.runs[0]!.directory, logName(0)));
      const records = segments.map((segment) => Buffer.from(segment.log.subarray(32)));
      expect(log.subarray(32).equals(Buffer.concat(records))).to.equal(true);
      expect(readdirSync(to).sort()).to.deep.equal(['from-00000000000000000000', 'salvage.json']);
    }));

  it('writes an index as a writer of the same spacing would', () =>
    withSalvage(
      [image],
      ({ report, to }) => {
        const whole = buildSegment({ records: segments.flatMap(({ records }) => records), indexSpacing: 200 });
        const index = readFileSync(path.join(to, report.runs[0]!.directory, indexName(0)));
        expect(index.equals(whole.index)).to.equal(true);
      },
      '--index-spacing',
      '200',
    ));

  it('gives each segment the lowest version that may hold its records, 3 at least', async () => {
    const versions = ({ report }: Outcome) =>
      report.runs.flatMap((run) => run.segments.map(({ version, baseOffset }) => `${baseOffset}: v${version}`));
    await withSalvage([threeV2Segments().image], (outcome) => expect(versions(outcome)).to.deep.equal(['0: v3']));
    await withSalvage([threeV3SegmentsWithBatches().image], (outcome) =>
      expect(versions(outcome)).to.deep.equal(['0: v3']),
    );
    await withSalvage([v4WithGenerations().image], (outcome) =>
      expect(versions(outcome)).to.deep.equal(['0: v3', '6: v4']),
    );
  });

  it('rolls to a new segment at the given size, a longer record having one to itself', () => {
    const records = [10, 10, 500, 10, 10].map((payloadLength, i) => plain(BigInt(i), { payloadLength }));
    return withSalvage(
      [buildShard({ segments: [buildSegment({ records })] })],
      ({ report }) => {
        expect(report.runs[0]?.segments.map(({ baseOffset, bytes }) => `${baseOffset}: ${bytes}`)).to.deep.equal([
          `0: ${32 + 2 * 38}`,
          `2: ${32 + 528}`,
          `3: ${32 + 2 * 38}`,
        ]);
      },
      '--segment-bytes',
      '110',
    );
  });

  it('names what is lost, and ends with 21', () =>
    withSalvage([damaged(image, flipBit(logName(1), segments[1]!.positions[2]! + 30, 0))], ({ code, report }) => {
      expect(code).to.equal(21);
      expect(spans(report)).to.deep.equal(['0..10', '11..21']);
      expect(report.lost).to.deep.equal([{ from: '10', to: '11' }]);
    }));

  it('counts a record as lost that only the commit offset or a base speaks of', async () => {
    const sidecars = { replica: encodeReplica({ generation: 1n, commit: 23n }) };
    const cases: readonly [ShardImage, string][] = [
      [threeSegments({ sidecars }).image, '21..23'],
      [damaged(image, deleteFile(logName(1))), '8..15'],
      [damaged(image, zero(logName(0), 32, segments[0]!.positions[1]! - 32)), '0..1'],
    ];
    for (const [files, lost] of cases) {
      await withSalvage([files], ({ code, report }) => {
        expect(report.lost.map(({ from, to }) => `${from}..${to}`)).to.deep.equal([lost]);
        expect(code).to.equal(21);
      });
    }
  });

  it('counts neither unwritten space nor an unfinished record as lost, and any other end as uncertain', async () => {
    const last = segments[2]!;
    for (const end of [append(logName(2), new Uint8Array(4096)), truncate(logName(2), last.log.length - 3)]) {
      await withSalvage([damaged(image, end)], ({ code, report }) => {
        expect([code, report.lost, report.uncertain]).to.deep.equal([0, [], []]);
      });
    }
    await withSalvage([damaged(image, flipBit(logName(2), last.positions[5]! + 2, 3))], ({ code, report }) => {
      expect(code).to.equal(21);
      expect(report.uncertain[0]?.position).to.equal(last.positions[5]);
    });
  });

  it('takes segments under other names for segments', () =>
    withSalvage(
      [damaged(image, renameFile(logName(1), '00000000000000000001.log.broken'), renameFile(logName(2), '7.log'))],
      ({ code, report }) => {
        expect(code).to.equal(0);
        expect(spans(report)).to.deep.equal(['0..21']);
      },
    ));

  it('finds the records behind a header that is lost, wherever the first intact one lies', () =>
    withSalvage(
      [damaged(image, zero(logName(0), 0, segments[0]!.positions[3]!), deleteFile(indexName(0)))],
      ({ report }) => expect(spans(report)).to.deep.equal(['3..21']),
    ));

  it('leaves a segment of another build alone, and does not call it damaged', () => {
    const other = buildSegment({ version: 9, baseOffset: 21n, records: [plain(21n)] });
    return withSalvage(
      [damaged(image, append(logName(2), new Uint8Array()))].map(
        (files) => new Map([...files, [logName(3), other.log]]),
      ),
      ({ code, report }) => {
        expect(code).to.equal(30);
        expect(spans(report)).to.deep.equal(['0..21']);
        expect(report.sources[3]?.problem).to.match(/another build/);
      },
    );
  });

  it('says what could not be read, and does not call it lost', function () {
    return withTempDir((dir) => {
      const shard = writeShardBelow(image, dir);
      chmodSync(path.join(shard, logName(1)), 0);
      chmodSync(dir, 0o777);
      const run = runUnprivileged(['salvage', shard, '--to', path.join(dir, 'saved'), '--format', 'json']);
      if (run === null) this.skip();
      expect(run.code, run.stderr).to.equal(30);
      const report = JSON.parse(run.stdout) as Report;
      expect([report.lost, report.unread]).to.deep.equal([[], [{ from: '8', to: '15' }]]);
      expect(spans(report)).to.deep.equal(['0..8', '15..21']);
    });
  });

  it('keeps few files open, however many segments there are', () => {
    const many = shardOf(Array.from({ length: 150 }, () => ({ parts: [2] }))).image;
    const twice = shardOf(Array.from({ length: 100 }, () => ({ parts: [3] }))).image;
    return withSalvage([many, twice], ({ code, report }) => {
      expect([code, spans(report)]).to.deep.equal([0, ['0..300']]);
    });
  });

  describe('from several replicas', () => {
    /** The same offsets with other boundaries. */
    const other = shardOf([{ parts: [3] }, { parts: [14] }, { parts: [4] }]).image;

    it('saves the union of what verifies, once', () =>
      withSalvage(
        [damaged(image, deleteFile(logName(1))), damaged(other, zero(logName(0), 0, 150), truncate(logName(2), 40))],
        ({ code, report }) => {
          expect(spans(report)).to.deep.equal(['0..21']);
          expect(code).to.equal(0);
        },
      ));

    it('keeps both histories of a fork, each whole, and ends with 21', async () => {
      const replicas = ['broker-a', 'broker-b', 'broker-c'].map((name) =>
        path.join(PROJECT_ROOT, 'fixtures/diverged-replicas', name),
      );
      await withTempDir(async (dir) => {
        const { code, report } = await salvaged(replicas, path.join(dir, 'saved'));
        expect(code).to.equal(21);
        expect(spans(report)).to.deep.equal(['0..18', '12..16 fork']);
        expect(report.runs[1]?.directory).to.equal(`from-00000000000000000012.fork-1/${SHARD_DIR_NAME}`);
      });
    });

    it('keeps both histories of a fork within one file, however far they lie apart', async () => {
      const payloadLength = 100_000;
      const written = Array.from({ length: 9 }, (_, i) => plain(BigInt(i), { payloadLength }));
      const again = written.slice(3).map((record) => ({ ...record, payload: new Uint8Array(payloadLength).fill(9) }));
      const equal = buildShard({ segments: [buildSegment({ records: [...written, ...written.slice(3)] })] });
      await withSalvage([equal], ({ report }) => {
        expect(spans(report)).to.deep.equal(['0..9']);
      });
      const forked = buildShard({ segments: [buildSegment({ records: [...written, ...again] })] });
      await withSalvage([forked], ({ code, report }) => {
        expect(code).to.equal(21);
        expect(spans(report)).to.deep.equal(['0..9', '3..9 fork']);
      });
    });

    it('does not go on with the records of a source that spoke against the run', async () => {
      const mine = shardOf([{ parts: [6] }]).image;
      const records = (length: number) =>
        Array.from({ length }, (_, i) => plain(BigInt(i), i < 3 ? {} : { payloadLength: 77 }));
      const theirs = buildShard({ segments: [buildSegment({ records: records(9) })] });
      await withSalvage([mine, theirs], ({ report }) => {
        expect(spans(report)).to.deep.equal(['0..6', '3..9 fork']);
      });
      await withSalvage([theirs, mine], ({ report }) => {
        expect(spans(report)).to.deep.equal(['0..9', '3..6 fork']);
      });
    });

    it('refuses shards that are not replicas of one', () =>
      withTempDir(async (dir) => {
        const one = writeShardBelow(image, path.join(dir, 'a'));
        const two = writeShardBelow(image, path.join(dir, 'b'), 'acme_default_orders_1-0d3aee4b998d294b');
        const { code, stderr } = await salvaged([one, two], path.join(dir, 'saved'));
        expect(code).to.equal(2);
        expect(stderr).to.match(/not replicas of one shard/);
      }));
  });

  describe('as NDJSON', () => {
    it('prints what dump-records prints of the new shard', () => {
      const files = damaged(threeV3SegmentsWithBatches().image, flipBit(logName(1), 60, 0));
      return withSalvage(
        [files],
        async ({ report, to }) => {
          expect(report.runs.length).to.equal(2);
          for (const { directory } of report.runs) {
            const name = path.dirname(directory);
            const dumped = await runInProcess(['dump-records', path.join(to, directory), '--format', 'ndjson']);
            const lines = dumped.stdout.split('\n').filter((line) => line.startsWith('{"type":"record"'));
            expect(readFileSync(path.join(to, `${name}.ndjson`), 'utf8')).to.equal(lines.map((l) => `${l}\n`).join(''));
          }
        },
        '--ndjson',
      );
    });

    it('streams payloads that are longer than any buffer', () => {
      const payload = new TextEncoder().encode('é'.repeat(300_000));
      const records = [plain(0n, { payload }), plain(1n, { payload: new Uint8Array(500_001).fill(255) })];
      return withSalvage(
        [buildShard({ segments: [buildSegment({ records })] })],
        ({ to }) => {
          const lines = readFileSync(path.join(to, 'from-00000000000000000000.ndjson'), 'utf8').trim().split('\n');
          const [first, second] = lines.map((line) => JSON.parse(line) as { payload: string; text: string | null });
          expect(first?.text).to.equal('é'.repeat(300_000));
          expect(Buffer.from(first!.payload, 'base64').equals(payload)).to.equal(true);
          expect([second?.text, Buffer.from(second!.payload, 'base64').length]).to.deep.equal([null, 500_001]);
        },
        '--ndjson',
      );
    });
  });

  describe('the target', () => {
    const refused = async (shard: string, to: string, ...more: string[]) => {
      const { code, stderr } = await runInProcess(['salvage', shard, '--to', to, ...more]);
      return `${code} ${stderr}`;
    };

    it('may be an empty directory, and is never written among other files', () =>
      withTempDir(async (dir) => {
        const shard = writeShardBelow(image, dir);
        const to = path.join(dir, 'to');
        mkdirSync(to);
        expect(await refused(shard, to)).to.match(/^0 /);
        expect(await refused(shard, to)).to.match(/^31 .*complete/s);
        expect(await refused(shard, to, '--resume')).to.match(/^31 .*complete/s);
        writeFileSync(path.join(dir, 'file'), '');
        expect(await refused(shard, path.join(dir, 'file'))).to.match(/^31 /);
        expect(await refused(shard, path.join(dir, 'no', 'such'))).to.match(/^2 /);
        const { code } = await runInProcess(['salvage', shard]);
        expect(code).to.equal(2);
      }));

    it('may not lie in a source, behind a link neither', () =>
      withTempDir(async (dir) => {
        const shard = writeShardBelow(image, dir);
        const before = hashTree(shard);
        symlinkSync(shard, path.join(dir, 'link'));
        for (const to of [path.join(shard, 'to'), path.join(dir, 'link', 'to'), shard]) {
          expect(await refused(shard, to)).to.match(/^31 /);
        }
        expect(await refused(path.join(dir, 'link'), path.join(shard, 'to'))).to.match(/^31 /);
        expect(hashTree(shard)).to.deep.equal(before);
      }));

    it('is as private as the source', () =>
      withTempDir(async (dir) => {
        const shard = writeShardBelow(image, dir);
        chmodSync(shard, 0o700);
        chmodSync(path.join(shard, logName(0)), 0o600);
        await salvaged([shard], path.join(dir, 'to'));
        const modes = Object.values(hashTree(path.join(dir, 'to'))).map((line) =>
          line.split(' ').slice(0, 2).join(' '),
        );
        expect([...new Set(modes)].sort()).to.deep.equal(['directory 0700', 'file 0600']);
      }));
  });

  describe('that was interrupted', () => {
    const files = damaged(v4WithGenerations().image, flipBit(logName(1), 60, 0));
    const run = (shard: string, to: string, resume: boolean, hook?: (call: FsCall) => void) => {
      const job = salvageJob([shard], to, { segmentBytes: 300, indexSpacing: 128, ndjson: true, resume });
      const pace = new Pace(new AbortController().signal);
      const occasion = { tool: { name: 'felix-fsck', version: '0' }, nowMicros: 7n };
      return salvage(occasion, job, pace, new UnsyncedFs(hook));
    };
    const content = (tree: string) =>
      Object.entries(hashTree(tree, { directoryTimes: false })).map(
        ([name, line]) => `${name} ${line.replace(/ \d+ns/, '')}`,
      );

    it('comes to the same when it is gone on with, wherever it stopped', () =>
      withTempDir(async (dir) => {
        const shard = writeShardBelow(files, dir);
        let calls = 0;
        await run(shard, path.join(dir, 'whole'), false, () => void calls++);
        const whole = content(path.join(dir, 'whole'));
        expect(calls).to.be.greaterThan(30);
        for (let failing = 0; failing < calls; failing++) {
          const to = path.join(dir, 'to');
          let at = 0;
          const fail = () => {
            if (at++ === failing) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
          };
          const failure = await run(shard, to, false, fail).catch((error: unknown) => error);
          expect(failure).to.be.instanceOf(WriteFailure);
          await run(shard, to, true);
          expect(content(to)).to.deep.equal(whole);
          rmSync(to, { recursive: true, force: true });
        }
      }));

    it('is not gone on with when the source has changed, or other options are given', () =>
      withTempDir(async (dir) => {
        const shard = writeShardBelow(files, dir);
        const to = path.join(dir, 'to');
        let at = 0;
        const stop = () => {
          if (at++ === 20) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        };
        await run(shard, to, false, stop).catch(() => undefined);
        const again = (...more: string[]) => runInProcess(['salvage', shard, '--to', to, ...more]);
        expect((await again()).stderr).to.match(/--resume/);
        expect((await again('--resume')).code).to.equal(31);
        utimesSync(path.join(shard, logName(0)), 1, 1);
        const failure = await run(shard, to, true).catch((error: unknown) => String(error));
        expect(failure).to.match(/changed since/);
      }));
  });
});
