import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { concatBytes } from '../../src/format/bytes.js';
import { encodeIndex } from '../../src/format/index.js';
import { encodeRecord } from '../../src/format/record.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { plain, plainRun } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, indexName, logName, SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { cacheShard } from '../builders/sidecars.js';
import { withTempDir } from '../builders/trees.js';

const MEASURED_MAIN = fileURLToPath(new URL('./measured-main.js', import.meta.url));
const LIMIT_KIB = 256 * 1024;
const MIB = 1 << 20;

interface Measured {
  readonly code: number | null;
  readonly stdout: string;
}

/** Runs the program, and holds its peak memory to the limit. */
async function measured(...args: readonly string[]): Promise<Measured> {
  const { NODE_V8_COVERAGE: _, NODE_OPTIONS: __, ...env } = process.env;
  const child = spawn(process.execPath, [MEASURED_MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => stdout.push(data));
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const peak = /^peak (\d+) KiB$/m.exec(stderr);
  expect(peak, stderr).not.to.equal(null);
  expect(Number(peak![1]), 'peak in KiB').to.be.below(LIMIT_KIB);
  return { code, stdout: Buffer.concat(stdout).toString('utf8') };
}

/** The segment's bytes with `count` records, each with a payload that rotted. */
function rotten(base: bigint, count: number): Uint8Array {
  const header = encodeSegmentHeader({ version: 3, baseOffset: base, createdAtMicros: 0n, reserved: 0 });
  const records = plainRun(base, count, { payload: new Uint8Array(4) }).map((record) => {
    const bytes = encodeRecord(record);
    bytes[28]! ^= 1;
    return bytes;
  });
  return concatBytes([header, ...records]);
}

interface ShardJson {
  readonly segments: readonly { readonly bytes: number; readonly records: number; readonly damagedBytes: number }[];
  readonly findings: readonly { readonly kind: string }[];
  readonly omitted: readonly { readonly kind: string; readonly count: number }[];
}

describe('memory stays below 256 MiB, and no count is lost,', function () {
  this.timeout(120_000);

  it('for tens of thousands of damaged records in many segments', () =>
    withTempDir(async (dir) => {
      const image = new Map(Array.from({ length: 6 }, (_, id) => [logName(id), rotten(BigInt(id * 8000), 8000)]));
      writeShardBelow(image, dir);
      for (const jobs of ['1', '4']) {
        const { code, stdout } = await measured('verify', '--format', 'ndjson', '--jobs', jobs, dir);
        expect(code).to.equal(22);
        const { findings, omitted, segments } = JSON.parse(stdout.split('\n')[0]!) as ShardJson;
        const told = findings.filter(({ kind }) => kind === 'RecordChecksum').length;
        const counted = omitted
          .filter(({ kind }) => kind === 'RecordChecksum')
          .reduce((sum, { count }) => sum + count, 0);
        expect(told).to.be.within(1000, 20_000);
        expect(told + counted).to.equal(48_000);
        expect(segments.every(({ bytes, damagedBytes }) => damagedBytes === bytes - 32)).to.equal(true);
      }
    }));

  it('for hundreds of segments on one thread', () =>
    withTempDir(async (dir) => {
      const shard = path.join(dir, SHARD_DIR_NAME);
      mkdirSync(shard);
      for (let id = 0; id < 300; id++) {
        const { log, index } = buildSegment({ records: [plain(BigInt(id), { payload: new Uint8Array(MIB) })] });
        writeFileSync(path.join(shard, logName(id)), log);
        writeFileSync(path.join(shard, indexName(id)), index);
      }
      const { code } = await measured('verify', '--jobs', '1', dir);
      expect(code).to.equal(0);
    }));

  it('for an index of 100 MB that lies throughout', () =>
    withTempDir(async (dir) => {
      const segment = buildSegment({ records: plainRun(0n, 1000) });
      const shard = writeShardBelow(buildShard({ segments: [segment] }), dir);
      const index = path.join(shard, indexName(0));
      writeFileSync(index, encodeIndex(0n, []));
      const chunk = new DataView(new ArrayBuffer(16 * 65_536));
      for (let entry = 0n, n = 0; n < 100; n++) {
        for (let at = 0; at < chunk.byteLength; at += 16, entry++) {
          chunk.setBigUint64(at, entry);
          chunk.setBigUint64(at + 8, 32n + 3n * entry);
        }
        appendFileSync(index, new Uint8Array(chunk.buffer));
      }
      const { code, stdout } = await measured('verify', '--format', 'ndjson', dir);
      expect(code).to.equal(20);
      const { findings, omitted } = JSON.parse(stdout.split('\n')[0]!) as ShardJson;
      const counted = omitted.reduce((sum, { count }) => sum + count, findings.length);
      // Every entry but those that stand by chance where a record with that offset begins: the first.
      expect(counted).to.equal(100 * 65_536 - 1);
    }));

  it('for a keys.idx of 300 MB and small files of 16 GiB', () =>
    withTempDir(async (dir) => {
      const cache = cacheShard();
      const shard = writeShardBelow(cache.image, dir);
      truncateSync(path.join(shard, 'keys.idx'), 300 * MIB);
      for (const name of ['epochs', 'replica', 'ballot', 'producers', 'offload.manifest', 'stray']) {
        writeFileSync(path.join(shard, name), '');
        truncateSync(path.join(shard, name), 16 * 1024 * MIB);
      }
      const { code } = await measured('verify', dir);
      expect(code).to.equal(22);
    }));

  it('for a directory of thirty thousand names', () =>
    withTempDir(async (dir) => {
      const shard = writeShardBelow(threeSegments().image, dir);
      for (let i = 0; i < 15_000; i++) {
        writeFileSync(path.join(shard, `stray-${i}`), '');
        writeFileSync(path.join(shard, `${i}.log`), '');
      }
      const { code, stdout } = await measured('verify', '--format', 'ndjson', dir);
      expect(code).to.equal(22);
      const { findings, omitted } = JSON.parse(stdout.split('\n')[0]!) as ShardJson;
      const named = findings.filter(({ kind }) => kind === 'SegmentFileName').length;
      const counted = omitted.find(({ kind }) => kind === 'SegmentFileName')!.count;
      expect(named + counted).to.equal(15_000);
    }));
});

describe('the largest numbers of the format', function () {
  this.timeout(60_000);
  const MAX = 2n ** 64n - 1n;

  it('are told digit by digit: id, base, offset and times of 2^64 - 1', () =>
    withTempDir(async (dir) => {
      const segment = buildSegment({
        version: 4,
        createdAtMicros: MAX,
        records: [plain(MAX, { timestampMicros: MAX })],
      });
      writeShardBelow(buildShard({ segments: [segment], firstId: MAX }), dir);
      const { code, stdout } = await measured('verify', '--format', 'json', dir);
      expect(code).to.equal(0);
      const { shards } = JSON.parse(stdout) as {
        shards: { baseOffset: string; segments: Record<string, unknown>[] }[];
      };
      expect(shards[0]).to.include({ baseOffset: `${MAX}` });
      expect(shards[0]!.segments[0]).to.include({
        id: `${MAX}`,
        file: `${MAX}.log`,
        baseOffset: `${MAX}`,
        firstTimestampMicros: `${MAX}`,
        lastTimestampMicros: `${MAX}`,
        records: 1,
      });
      expect((await measured('verify', dir)).stdout).to.include(`${MAX}`);
    }));

  it('are no offset in front of 0: behind the last one nothing is in order', () =>
    withTempDir(async (dir) => {
      writeShardBelow(buildShard({ segments: [buildSegment({ records: [plain(MAX), plain(0n)] })] }), dir);
      const { stdout } = await measured('verify', '--format', 'json', dir);
      const { shards } = JSON.parse(stdout) as { shards: ShardJson[] };
      expect(shards[0]!.findings.map(({ kind }) => kind)).to.include('OffsetOutOfOrder');
    }));
});
