/**
 * `npm run bench`: speed as ratios to what the machine can do, in one run.
 *
 * Yardstick (a) reads the same files in pieces of 1 MiB and runs zlib's crc32 over them; yardstick (b) only reads. Nothing
 * is written but the data, once, unless `--output FILE` asks for the figures as JSON.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';
import Table from 'cli-table3';
import { verifyPaths } from '../../src/check/verify.js';
import { buildIndex } from '../../src/scan/index-build.js';
import { createScanner } from '../../src/scan/pool.js';
import type { Scanner } from '../../src/scan/scanner.js';
import { FileSource } from '../../src/store/file-source.js';
import { PROJECT_ROOT } from '../builders/trees.js';
import { DEFAULTS } from '../corpus/checked.js';
import { damagedSegment, type Filling, manyShards, shardOfJson, shardOfPayloads } from './data.js';
import { inTurns, ratioOf, type Spread, spreadOf } from './measure.js';

interface Row {
  readonly what: string;
  readonly against: string;
  readonly ratio: Spread;
  readonly wanted: string;
}

const PIECE = Buffer.allocUnsafe(1 << 20);
const JOBS = availableParallelism();

function readThrough(directory: string, use: (piece: Buffer) => void): void {
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.log'))) {
    const file = openSync(join(directory, name), 'r');
    const { size } = fstatSync(file);
    for (let at = 0; at < size; ) {
      const got = readSync(file, PIECE, 0, PIECE.length, at);
      use(PIECE.subarray(0, got));
      at += got;
    }
    closeSync(file);
  }
}

function readAlone(directory: string): void {
  readThrough(directory, () => {});
}

function readWithCrc(directory: string): void {
  let crc = 0;
  readThrough(directory, (piece) => {
    crc = crc32(piece, crc);
  });
}

async function check(directory: string, scanner: Scanner, jobs: number): Promise<void> {
  for await (const event of verifyPaths([directory], scanner, { ...DEFAULTS, concurrency: 4 * jobs })) {
    if (event.is === 'shard' && event.report.segments.length === 0) throw new Error('nothing was checked');
  }
}

const PAYLOADS = [
  { bytes: 16, mebibytes: 256, one: '0.30', all: '0.55' },
  { bytes: 128, mebibytes: 512, one: '0.35', all: '0.65' },
  { bytes: 4096, mebibytes: 1024, one: '0.70', all: '1.25' },
  { bytes: 1 << 20, mebibytes: 1024, one: '0.85', all: '1.50' },
] as const;

/** Threads are kept from run to run, so that starting them is not measured again and again. */
async function verifyRows(rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const { signal } = new AbortController();
  const single = createScanner({ jobs: 1, signal });
  const several = createScanner({ jobs: JOBS, signal });
  for (const { bytes, mebibytes, one, all } of PAYLOADS) {
    const directory = shardOfPayloads(bytes, mebibytes);
    const times = await inTurns(
      {
        crc: () => readWithCrc(directory),
        read: () => readAlone(directory),
        one: () => check(directory, single, 1),
        all: () => check(directory, several, JOBS),
      },
      rounds,
    );
    const what = `verify, ${bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? '4 KiB' : '1 MiB'} payloads`;
    rows.push({ what: `${what}, 1 job`, against: 'read + crc32', ratio: ratioOf(times.crc, times.one), wanted: one });
    rows.push({
      what: `${what}, ${JOBS} jobs`,
      against: 'read + crc32',
      ratio: ratioOf(times.crc, times.all),
      wanted: all,
    });
    rows.push({
      what: `${what}, ${JOBS} jobs`,
      against: 'read alone',
      ratio: ratioOf(times.read, times.all),
      wanted: '',
    });
  }
  await Promise.all([single.close(), several.close()]);
  return rows;
}

async function resyncRows(rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const scanner = createScanner({ jobs: 1, signal: new AbortController().signal });
  const scanOnly = async (directory: string) => {
    const path = join(directory, '00000000000000000000.log');
    const size = statSync(path).size;
    const answer = await scanner.scan({ path, size, index: null, settings: { nowMicros: 1n } });
    if (answer.is !== 'scanned' || answer.scan.records?.records !== 2)
      throw new Error('the record behind was not found');
  };
  for (const filling of ['zeros', 'random', 'FLSG'] as const satisfies readonly Filling[]) {
    const large = damagedSegment(filling, 256);
    const small = damagedSegment(filling, 64);
    const times = await inTurns(
      { read: () => readAlone(large), large: () => scanOnly(large), small: () => scanOnly(small) },
      rounds,
    );
    const what = `resync over ${filling}`;
    rows.push({
      what: `${what}, 256 MiB`,
      against: 'read alone',
      ratio: ratioOf(times.read, times.large),
      wanted: '0.25',
    });
    const perByte = spreadOf(times.large.map((time, round) => (4 * times.small[round]!) / time));
    rows.push({ what: `${what}, 256 MiB`, against: '4 x 64 MiB', ratio: perByte, wanted: '1, if linear' });
  }
  return rows;
}

async function indexRows(rounds: number): Promise<Row[]> {
  const directory = shardOfPayloads(128, 512);
  const build = () => {
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.log'))) {
      const source = FileSource.open(join(directory, name));
      const built = buildIndex(source, source.size, 4096);
      source.close();
      if (built === null || built.reached !== source.size) throw new Error('the index ends early');
    }
  };
  const times = await inTurns({ crc: () => readWithCrc(directory), build }, rounds);
  const ratio = ratioOf(times.crc, times.build);
  return [{ what: 'index rebuild, 128 B payloads', against: 'read + crc32', ratio, wanted: '' }];
}

/** Whole runs of the tool: what it takes to show every record, and to show one from the middle of much. */
async function dumpRows(rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const shards = { '128 B payloads': shardOfPayloads(128, 512), '128 B of JSON in batches': shardOfJson(512) };
  for (const [what, directory] of Object.entries(shards)) {
    const times = await inTurns(
      {
        verify: () => run([BIN, 'verify', '--quiet', '--jobs', '1', directory]),
        dump: () => run([BIN, 'dump-records', '--format', 'ndjson', directory]),
      },
      rounds,
    );
    const ratio = ratioOf(times.verify, times.dump);
    rows.push({ what: `dump-records as NDJSON, ${what}`, against: 'verify, 1 job', ratio, wanted: '0.33' });
  }
  const large = shardOfPayloads(4096, 1024);
  const middle = ['dump-records', '--format', 'ndjson', '--from', '130000', '--limit', '1', large];
  const times = await inTurns({ node: () => run(['-e', '0']), middle: () => run([BIN, ...middle]) }, 2 * rounds);
  const ratio = spreadOf(times.middle.map((time, round) => time / times.node[round]!));
  rows.push({
    what: 'dump-records --from the middle of 1 GiB (time)',
    against: 'node -e 0',
    ratio,
    wanted: 'at most 3',
  });
  return rows;
}

const BIN = join(PROJECT_ROOT, 'bin', 'felix-fsck.js');
const ENV = { ...process.env, NODE_EXTRA_CA_CERTS: undefined };

function run(args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore', env: ENV });
  if (status !== 0) throw new Error(`${args.join(' ')} ends with ${status}`);
}

async function processRows(rounds: number): Promise<Row[]> {
  const tiny = join(PROJECT_ROOT, 'fixtures', 'healthy');
  const many = manyShards(10_000);
  const start = await inTurns(
    {
      node: () => run(['-e', '0']),
      version: () => run([BIN, '--version']),
      tiny: () => run([BIN, 'verify', tiny]),
    },
    4 * rounds,
  );
  const shards = await inTurns({ tiny: () => run([BIN, 'verify', tiny]), many: () => run([BIN, 'verify', many]) }, 3);
  const slower = (times: readonly number[]) => spreadOf(times.map((time, round) => time / start.node[round]!));
  const perShard = spreadOf(shards.many.map((time, round) => (time - shards.tiny[round]!) / 10_000));
  return [
    { what: 'start, --version (time)', against: 'node -e 0', ratio: slower(start.version), wanted: 'at most 1.6' },
    {
      what: 'start, verify of a tiny shard (time)',
      against: 'node -e 0',
      ratio: slower(start.tiny),
      wanted: 'at most 2.2',
    },
    { what: '10,000 shards, each', against: '1 ms', ratio: perShard, wanted: 'at most 1' },
  ];
}

function tableOf(rows: readonly Row[]): string {
  const table = new Table({ head: ['what', 'against', 'median', 'spread', 'wanted'], style: { head: [], border: [] } });
  for (const { what, against, ratio, wanted } of rows) {
    table.push([what, against, ratio.median.toFixed(2), `${ratio.least.toFixed(2)}..${ratio.most.toFixed(2)}`, wanted]);
  }
  return table.toString();
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    output: { type: 'string' },
    only: { type: 'string', default: 'verify,resync,index,dump,process' },
  },
});
const rounds = Number(values.rounds);
const parts = { verify: verifyRows, resync: resyncRows, index: indexRows, dump: dumpRows, process: processRows };
const rows: Row[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (values.only.split(',').includes(name)) rows.push(...(await measure(rounds)));
}
process.stdout.write(
  `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${JOBS} cores\n${tableOf(rows)}\n`,
);
if (values.output !== undefined) {
  writeFileSync(values.output, `${JSON.stringify({ node: process.version, cores: JOBS, rows }, null, 2)}\n`);
}
