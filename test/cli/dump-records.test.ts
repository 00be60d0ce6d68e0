import { spawn } from 'node:child_process';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { main } from '../../src/cli/main.js';
import { encodeCacheRecord, encodeCounterRecord } from '../../src/format/cache-record.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeRecord, type LogRecord, MAX_PAYLOAD_BYTES } from '../../src/format/record.js';
import { damaged, deleteFile, flipBit, truncate, write, zero } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { plain, plainRun, sequence } from '../builders/records.js';
import { RAW } from '../builders/reports.js';
import { type BuiltSegment, buildSegment } from '../builders/segments.js';
import {
  buildShard,
  indexName,
  logName,
  type PresetShard,
  type ShardImage,
  shardOf,
  threeSegments,
  threeV2Segments,
  threeV3SegmentsWithBatches,
  v4WithGenerations,
  wellIndexed,
  writeShardBelow,
} from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

type Row = Record<string, unknown> & { readonly type: string };

interface Dumped {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly records: readonly Row[];
  readonly damage: readonly Row[];
  readonly missing: readonly Row[];
  readonly summary: Row;
}

/** `dump-records --format ndjson` of an image. */
async function dump(image: ShardImage, ...args: readonly string[]): Promise<Dumped> {
  return withTempDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    const before = hashTree(dir);
    const outcome = await runInProcess(['dump-records', shard, '--format', 'ndjson', ...args]);
    expect(hashTree(dir)).to.deep.equal(before);
    const rows = outcome.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const of = (type: string) => rows.filter((row) => row.type === type);
    return { ...outcome, records: of('record'), damage: of('damage'), missing: of('missing'), summary: rows.at(-1)! };
  });
}

/** Any format, as text. */
async function dumpText(image: ShardImage, ...args: readonly string[]) {
  return withTempDir((dir) => runInProcess(['dump-records', writeShardBelow(image, dir), ...args]));
}

function offsets(rows: readonly Row[]): string[] {
  return rows.map((row) => String(row['offset']));
}

function recordsOf({ segments }: PresetShard): LogRecord[] {
  return segments.flatMap(({ records }) => [...records]);
}

/** What the builder wrote of a record, as a row says it. */
function rowOf(segment: BuiltSegment, id: number, at: number) {
  const record = segment.records[at]!;
  const bytes = encodeRecord(record);
  return {
    segment: String(id),
    position: segment.positions[at],
    offset: String(record.offset),
    timestampMicros: String(record.timestampMicros),
    kind: record.kind,
    bytes: record.payload.length,
    checksum: `0x${new DataView(bytes.buffer).getUint32(24).toString(16).padStart(8, '0')}`,
    payload: Buffer.from(record.payload).toString('base64'),
  };
}

function pick(row: Row, like: object): object {
  return Object.fromEntries(Object.keys(like).map((key) => [key, row[key]]));
}

const U64_MAX = 2n ** 64n - 1n;

/** The largest offsets and times there are. */
function atTheLimits(): PresetShard {
  const first = U64_MAX - 5n;
  const records = plainRun(first, 6).map((record, at) => ({
    ...record,
    timestampMicros: [0n, 1n, 2n ** 53n + 1n, 2n ** 63n, U64_MAX - 1n, U64_MAX][at]!,
  }));
  const segments = [buildSegment({ records: plainRun(first - 4n, 4) }), buildSegment({ records })];
  return { image: buildShard({ segments }), segments, tail: U64_MAX };
}

const SHARDS: Readonly<Record<string, PresetShard>> = {
  'of version 2': threeV2Segments(),
  'of version 3 with batches': threeV3SegmentsWithBatches(),
  'of version 4 with generation starts': v4WithGenerations(),
  'above 2^53': threeSegments({ first: 2n ** 53n - 3n }),
  'at the end of a u64': atTheLimits(),
};

describe('dump-records shows what was written', () => {
  for (const [name, shard] of Object.entries(SHARDS)) {
    it(`in a shard ${name}, as NDJSON`, async () => {
      const { code, records, stderr, summary } = await dump(shard.image);
      const expected = shard.segments.flatMap((segment, id) => segment.records.map((_, at) => rowOf(segment, id, at)));
      expect(records.map((row, at) => pick(row, expected[at] ?? {}))).to.deep.equal(expected);
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(summary).to.deep.include({ type: 'summary', records: expected.length, damaged: 0, exitCode: 0 });
      for (const row of records) {
        if (row['kind'] === 'generation-start') continue;
        expect(row['text']).to.equal(Buffer.from(String(row['payload']), 'base64').toString('utf8'));
      }
    });

    it(`in a shard ${name}, as one JSON document with the same rows`, async () => {
      const { records } = await dump(shard.image);
      const { stdout, code } = await dumpText(shard.image, '--format', 'json');
      const document = JSON.parse(stdout);
      expect(code).to.equal(0);
      expect(document).to.include({ schema: 'felix-fsck.dump-records/1', partial: false });
      expect(document.rows).to.deep.equal(records);
      expect(document.summary).to.deep.include({ records: records.length, exitCode: 0 });
    });

    it(`in a shard ${name}, as CSV`, async () => {
      const { stdout } = await dumpText(shard.image, '--format', 'csv');
      const [titles, ...lines] = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(','));
      const rows = lines.map((fields) => Object.fromEntries(titles!.map((title, i) => [title, fields[i]])));
      const expected = shard.segments.flatMap((segment, id) =>
        segment.records.map((_, at) => {
          const { timestampMicros, payload, bytes, position, ...same } = rowOf(segment, id, at);
          const numbers = { bytes: String(bytes), position: String(position) };
          return { ...same, ...numbers, timestamp_micros: timestampMicros, payload_base64: payload };
        }),
      );
      expect(rows.map((row, at) => pick(row as Row, expected[at] ?? {}))).to.deep.equal(expected);
      expect(lines.every((fields) => fields.length === titles!.length)).to.equal(true);
    });

    it(`in a shard ${name}, as payloads alone`, async () => {
      const payloads = recordsOf(shard)
        .filter(({ kind }) => kind !== 'generation-start')
        .map(({ payload }) => Buffer.from(payload));
      const joinedBy = (byte: number) => Buffer.concat(payloads.flatMap((payload) => [payload, Buffer.of(byte)]));
      const newline = await dumpText(shard.image, '--format', 'raw');
      expect(Buffer.from(newline.stdoutBytes).equals(joinedBy(10))).to.equal(true);
      const nul = await dumpText(shard.image, '--format', 'raw', '--delimiter', 'nul');
      expect(Buffer.from(nul.stdoutBytes).equals(joinedBy(0))).to.equal(true);
      const length = await dumpText(shard.image, '--format', 'raw', '--delimiter', 'length');
      const framed = payloads.flatMap((payload) => {
        const head = Buffer.alloc(4);
        head.writeUInt32BE(payload.length);
        return [head, payload];
      });
      expect(Buffer.from(length.stdoutBytes).equals(Buffer.concat(framed))).to.equal(true);
    });

    it(`in a shard ${name}, as a table and as hex`, async () => {
      const table = await dumpText(shard.image, '--format', 'table');
      const hex = await dumpText(shard.image, '--format', 'hex');
      const lines = table.stdout.split('\n');
      for (const { offset, kind, payload } of recordsOf(shard)) {
        const line = lines.find((each) => each.trimStart().startsWith(`${offset} `));
        expect(line, `offset ${offset}`).to.match(new RegExp(`${kind}.* ${payload.length} `));
        expect(hex.stdout).to.include(`offset ${offset}, `);
      }
      const digits = Buffer.from(recordsOf(shard)[1]!.payload.subarray(0, 8)).toString('hex').match(/../g)!.join(' ');
      expect(hex.stdout).to.include(`00000000  ${digits}`);
    });
  }

  it('with times as UTC to the microsecond, and as their number where no calendar has them', async () => {
    const { stdout } = await dumpText(atTheLimits().image, '--from', String(U64_MAX - 5n));
    expect(stdout).to.include('1970-01-01T00:00:00.000001Z');
    expect(stdout).to.include('2255-06-05T23:47:34.740993Z');
    expect(stdout).to.include('18446744073709551615 microseconds');
  });

  it('with the place of each record in its batch, over the seam of two segments', async () => {
    const { records } = await dump(threeV3SegmentsWithBatches().image);
    const batch = (offset: number) => records[offset]!['batch'];
    expect(batch(0)).to.equal(null);
    expect([2, 3, 4].map(batch)).to.deep.equal(
      [0, 1, 2].map((index) => ({ producer: '7', sequence: '0', index, length: 3 })),
    );
    expect([17, 18, 19, 20].map(batch)).to.deep.equal(
      [0, 1, 2, 3].map((index) => ({ producer: '7', sequence: '2', index, length: 4 })),
    );
    const middle = await dump(threeV3SegmentsWithBatches().image, '--from', '20', '--to', '21');
    expect(middle.records[0]!['batch']).to.deep.equal(batch(20));
  });

  it('with the generation of a generation start', async () => {
    const { records } = await dump(v4WithGenerations().image, '--kind', 'generation-start');
    expect(records.map((row) => [row['offset'], row['generation']])).to.deep.equal([
      ['6', '2'],
      ['14', '4'],
    ]);
    const raw = await dumpText(v4WithGenerations().image, '--format', 'raw', '--kind', 'generation-start');
    expect(Buffer.from(raw.stdoutBytes).toString('hex')).to.equal('00000000000000020a00000000000000040a');
  });
});

const HOSTILE: readonly Uint8Array[] = [
  new Uint8Array(),
  Uint8Array.of(0),
  Uint8Array.of(0xff, 0x00, 0xfe),
  Buffer.from('\u001b[2J\u001b]0;title\u0007\r\n\b\u009b31m'),
  Uint8Array.of(0xed, 0xa0, 0x80, 0x41),
  Buffer.from('right \u202eleft\u2028 \u200b\ufeff, "quoted" \\ and = too'),
  Buffer.from('\ud83d\ude00 zo\u00eb \u4e16\u754c'),
  Buffer.alloc(1 << 20, 'a line without an end '),
  Uint8Array.from({ length: (1 << 20) + 1 }, (_, i) => (i * 131) & 255),
  Buffer.from('{"type":"summary"}\n{"type":"record"}'),
];

describe('dump-records of more than is read at once', () => {
  const records = Array.from({ length: 3000 }, (_, at) => {
    return plain(BigInt(at), { payload: Buffer.from(`no ${at} `.padEnd(120, '.')) });
  });
  const image: ShardImage = new Map([[logName(0), buildSegment({ records }).log]]);

  it('shows beside each offset the payload of that record, in the table too', async () => {
    const { stdout } = await dumpText(image, '--format', 'table');
    const rows = Array.from(stdout.matchAll(/^ *(\d+) .* "no (\d+) /gm), ([, offset, own]) => [offset, own]);
    expect(rows).to.deep.equal(records.map((_, at) => [String(at), String(at)]));
  });

  it('and so does every other format', async () => {
    const texts = records.map(({ payload }) => Buffer.from(payload).toString());
    const { records: rows } = await dump(image);
    expect(rows.map((row) => [row['offset'], row['text']])).to.deep.equal(texts.map((text, at) => [String(at), text]));
    expect((await dumpText(image, '--format', 'raw')).stdout).to.equal(texts.map((text) => `${text}\n`).join(''));
    const [titles, ...lines] = (await dumpText(image, '--format', 'csv')).stdout.trimEnd().split('\n');
    const column = titles!.split(',').indexOf('payload_base64');
    const payloads = lines.map((line) => Buffer.from(line.split(',')[column]!, 'base64').toString());
    expect(payloads).to.deep.equal(texts);
  });
});

describe('dump-records of any payload', () => {
  const shard = buildSegment({ records: HOSTILE.map((payload, at) => plain(BigInt(at), { payload })) });
  const image = buildShard({ segments: [shard] });

  it('parses line by line and gives the same bytes back', async () => {
    const { stdout, records, code } = await dump(image);
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.lengthOf(HOSTILE.length + 1);
    for (const [at, payload] of HOSTILE.entries()) {
      const row = records[at]!;
      expect(Buffer.from(String(row['payload']), 'base64').equals(payload), `payload ${at}`).to.equal(true);
      const isText = Buffer.from(Buffer.from(payload).toString('utf8')).equals(payload);
      expect(row['text'] === null, `text ${at}`).to.equal(!isText);
      if (isText) expect(Buffer.from(String(row['text'])).equals(payload)).to.equal(true);
    }
  });

  for (const format of ['table', 'ndjson', 'json', 'csv', 'hex']) {
    it(`sends no control byte to a terminal, as ${format}`, async () => {
      await withTempDir(async (dir) => {
        const bad = damaged(buildShard({ segments: [shard, shard] }), zero(logName(1), 32, 40));
        const path = writeShardBelow(bad, dir, 'not\u001b[31m,"a"\u202eshard');
        const { stdout, stderr } = await runInProcess(['dump-records', path, '--format', format]);
        for (const line of `${stdout}${stderr}`.split('\n')) expect(RAW.test(line), line.slice(0, 200)).to.equal(false);
        expect(stdout).to.include('not');
      });
    });
  }

  it('refuses to send payloads as they are to a terminal', async () => {
    await withTempDir(async (dir) => {
      const path = writeShardBelow(image, dir);
      let bytes = 0;
      const terminal = new Writable({
        write(chunk: Buffer, _, done) {
          bytes += chunk.length;
          done();
        },
      });
      const streams = {
        stdout: Object.assign(terminal, { isTTY: true }),
        stderr: new Writable({ write: (_, __, done) => done() }),
        stdin: Readable.from([]),
      };
      expect(await main(['dump-records', path, '--format', 'raw'], streams)).to.equal(2);
      expect(bytes).to.equal(0);
    });
  });

  it('withholds payloads for what is shared, and says their length and checksum', async () => {
    const text = 'a secret of some length';
    const secret = buildShard({ segments: [buildSegment({ records: [plain(0n, { payload: Buffer.from(text) })] })] });
    for (const format of ['table', 'ndjson', 'json', 'csv', 'hex']) {
      for (const option of ['--no-payload', '--redact']) {
        const { stdout, code } = await dumpText(secret, '--format', format, option);
        expect(code).to.equal(0);
        expect(stdout).to.not.match(/secret|YSBzZWNy|61 20 73 65|612073/);
        expect(stdout).to.include('23');
        // CRC-32 of the text, by Python's zlib.
        expect(stdout.includes('50e64809'), `${format} ${option}`).to.equal(option === '--redact');
      }
    }
  });
});

describe('dump-records filters', () => {
  const shard = threeV3SegmentsWithBatches();
  const all = recordsOf(shard);
  const expected = (keep: (record: LogRecord, at: number) => boolean) =>
    all.filter(keep).map(({ offset }) => `${offset}`);

  it('by half-open ranges of offsets', async () => {
    for (const [from, to] of [
      [0, 25],
      [3, 9],
      [8, 8],
      [9, 8],
      [7, 8],
      [24, 25],
    ] as const) {
      const { records, code } = await dump(shard.image, '--from', String(from), '--to', String(to));
      expect(offsets(records)).to.deep.equal(expected((_, at) => at >= from && at < to));
      expect(code).to.equal(0);
    }
  });

  it('by half-open ranges of time, as ISO times or microseconds', async () => {
    const micros = (at: number) => 1_767_225_600_000_000n + BigInt(at) * 250_000n;
    for (const [since, until] of [
      ['2026-01-01T00:00:01Z', '2026-01-01T00:00:03.5Z'],
      ['2026-01-01T00:00:01', '2026-01-01 00:00:03.500000'],
      ['2026-01-01T02:00:01+02:00', '2025-12-31T19:00:03.5-0500'],
      [String(micros(4)), String(micros(14))],
    ] as const) {
      const { records } = await dump(shard.image, '--since', since, '--until', until);
      expect(offsets(records)).to.deep.equal(expected((_, at) => at >= 4 && at < 14));
    }
    const { records } = await dump(shard.image, '--since', '2026-01-01T00:00:00.250001Z', '--limit', '1');
    expect(offsets(records)).to.deep.equal(['2']);
  });

  it('by kind, by producer and by segment', async () => {
    for (const kind of ['plain', 'opens', 'continues'] as const) {
      expect(offsets((await dump(shard.image, '--kind', kind)).records)).to.deep.equal(
        expected((record) => record.kind === kind),
      );
    }
    const ofSeven = [2, 3, 4, 11, 12, 13, 14, 15, 17, 18, 19, 20].map(String);
    expect(offsets((await dump(shard.image, '--producer', '7')).records)).to.deep.equal(ofSeven);
    const late = await dump(shard.image, '--producer', '7', '--from', '19');
    expect(offsets(late.records)).to.deep.equal(['19', '20']);
    const second = await dump(shard.image, '--segment', '1');
    expect(second.records.every((row) => row['segment'] === '1')).to.equal(true);
    expect(second.records).to.have.lengthOf(shard.segments[1]!.records.length);
    const none = await dumpText(shard.image, '--segment', '9');
    expect(none.code).to.equal(2);
    expect(none.stderr).to.include('segments 0 to 2');
  });

  it('by what a payload contains, as text or as bytes, and never across two payloads', async () => {
    const payloads = ['ab', 'cd', 'xabcdx', '\u0000\u0001', 'zoë'].map((text) => Buffer.from(text));
    const image = buildShard({
      segments: [buildSegment({ records: payloads.map((payload, at) => plain(BigInt(at), { payload })) })],
    });
    for (const [needle, found] of [
      ['ab', ['0', '2']],
      ['abcd', ['2']],
      ['bc', ['2']],
      ['ë', ['4']],
      ['hex:0001', ['3']],
      ['hex:C3AB', ['4']],
      ['nothing', []],
    ] as const) {
      expect(offsets((await dump(image, '--grep', needle)).records), needle).to.deep.equal(found);
    }
    const long = Buffer.alloc(600_000, 'x');
    long.write('needle', 196_605);
    const longImage = buildShard({ segments: [buildSegment({ records: [plain(0n, { payload: long }), plain(1n)] })] });
    expect(offsets((await dump(longImage, '--grep', 'needle')).records)).to.deep.equal(['0']);
    expect(offsets((await dump(longImage, '--grep', 'needles')).records)).to.deep.equal([]);
  });

  it('by number from the front or from the end, with the other filters', async () => {
    for (let count = 0; count <= all.length + 1; count++) {
      const limited = await dump(shard.image, '--limit', String(count));
      expect(offsets(limited.records)).to.deep.equal(expected((_, at) => at < count));
      const tail = await dump(shard.image, '--tail', String(count));
      expect(offsets(tail.records)).to.deep.equal(expected((_, at) => at >= all.length - count));
    }
    expect(offsets((await dump(shard.image, '--tail', '2', '--kind', 'opens')).records)).to.deep.equal(['17', '21']);
    expect(offsets((await dump(shard.image, '--tail', '2', '--to', '9')).records)).to.deep.equal(['7', '8']);
    expect(offsets((await dump(shard.image, '--tail', '5', '--from', '23')).records)).to.deep.equal(['23', '24']);
  });

  it('the last records of many windows and segments as the end of the whole', async () => {
    const large = shardOf(
      Array.from({ length: 3 }, () => ({ parts: [3000], indexSpacing: 512 })),
      { first: 7n },
    );
    const whole = offsets((await dump(large.image, '--no-payload')).records);
    for (const count of [1, 700, 3000, 3001, 8000, 9000, 10_000]) {
      const { records } = await dump(large.image, '--tail', String(count), '--no-payload');
      expect(offsets(records)).to.deep.equal(whole.slice(-count));
    }
  });

  it('refuses what makes no sense together', async () => {
    for (const args of [
      ['--limit', '1', '--tail', '1'],
      ['--decode', 'cache', '--no-payload'],
      ['--format', 'raw', '--redact'],
      ['--format', 'raw', '--decode', 'cache'],
      ['--grep', ''],
      ['--grep', 'hex:0'],
      ['--since', 'yesterday'],
      ['--since', '2026-13-01'],
      ['--from', '-1'],
      ['--from', '18446744073709551616'],
      ['--kind', 'other'],
    ]) {
      expect((await dumpText(shard.image, ...args)).code, args.join(' ')).to.equal(2);
    }
  });
});

describe('dump-records goes on past damage', () => {
  const shard = wellIndexed();
  const [first, second] = shard.segments as [BuiltSegment, BuiltSegment];
  const place = (segment: BuiltSegment, at: number) => ({
    from: segment.positions[at]!,
    to: segment.positions[at + 1] ?? segment.log.length,
  });

  it('with a row for it among the others, its bytes, what it cost, and exit code 21', async () => {
    const image = damaged(shard.image, flipBit(logName(0), place(first, 10).from + 30, 3));
    const { code, records, damage, stdout, summary } = await dump(image);
    expect(code).to.equal(21);
    expect(offsets(records)).to.deep.equal(Array.from({ length: 120 }, (_, at) => `${at}`).filter((at) => at !== '10'));
    expect(damage).to.have.lengthOf(1);
    expect(damage[0]).to.deep.include({
      kind: 'RecordChecksum',
      segment: '0',
      position: place(first, 10).from,
      damagedRange: place(first, 10),
      lostOffsets: { from: '10', to: '11' },
    });
    const order = stdout.split('\n').map((line) => /"type":"(damage)"|"offset":"(\d+)"/.exec(line)?.slice(1).join(''));
    expect(order.slice(9, 12)).to.deep.equal(['9', 'damage', '11']);
    expect(summary).to.deep.include({ damaged: 1, exitCode: 21 });
  });

  it('and says so only where the range that was asked for is concerned', async () => {
    const image = damaged(shard.image, flipBit(logName(0), place(first, 10).from + 30, 3));
    for (const [from, to, code] of [
      [0, 10, 0],
      [0, 11, 21],
      [10, 11, 21],
      [11, 60, 0],
      [61, 70, 0],
    ] as const) {
      const outcome = await dump(image, '--from', String(from), '--to', String(to));
      expect([outcome.code, outcome.damage.length], `${from}..${to}`).to.deep.equal([code, code === 21 ? 1 : 0]);
    }
    const tail = await dump(image, '--tail', '109');
    expect([tail.records.length, tail.damage.length, tail.code]).to.deep.equal([109, 0, 0]);
    const more = await dump(image, '--tail', '110');
    expect([more.records.length, more.damage.length, more.code]).to.deep.equal([110, 1, 21]);
  });

  it('at a torn tail, a zeroed tail and a damaged segment header', async () => {
    const torn = await dump(damaged(shard.image, truncate(logName(1), place(second, 59).from + 30)));
    expect(torn.damage.map((row) => [row['kind'], row['lostOffsets']])).to.deep.equal([['Truncated', null]]);
    expect(torn.records).to.have.lengthOf(119);
    const zeroed = await dump(damaged(shard.image, zero(logName(1), place(second, 50).from, 400)));
    expect(zeroed.code).to.equal(21);
    const unwritten = await dump(damaged(shard.image, write(logName(1), second.log.length, new Uint8Array(4096))));
    expect(unwritten.damage[0]!['message']).to.match(/4,096 zero bytes after the last record: unwritten space/);
    expect(unwritten.damage[0]!['lostOffsets']).to.deep.equal({ from: '120', to: '120' });
    expect(unwritten.records).to.have.lengthOf(120);
    const header = await dump(damaged(shard.image, flipBit(logName(0), 9, 0)));
    expect(header.damage.map((row) => [row['kind'], row['damagedRange']])).to.deep.equal([
      ['SegmentHeaderChecksum', { from: 0, to: 32 }],
    ]);
    expect(header.records).to.have.lengthOf(120);
  });

  it('at a gap between segments, told once', async () => {
    const three = shardOf([{ parts: [8] }, { parts: [7] }, { parts: [6] }]);
    const gone = damaged(three.image, deleteFile(logName(1)), deleteFile(indexName(1)));
    const { damage, records, code } = await dump(gone);
    expect(damage.map((row) => [row['kind'], row['segment'], row['lostOffsets']])).to.deep.equal([
      ['OffsetOutOfOrder', '2', { from: '8', to: '15' }],
    ]);
    expect([records.length, code]).to.deep.equal([14, 21]);
    const inGap = await dump(gone, '--from', '9', '--to', '12');
    expect([inGap.records.length, inGap.damage.length, inGap.code]).to.deep.equal([0, 1, 21]);
    const cut = damaged(three.image, truncate(logName(1), three.segments[1]!.positions[4]! + 5));
    const swallowed = await dump(cut);
    expect(swallowed.damage.map((row) => [row['kind'], row['lostOffsets']])).to.deep.equal([
      ['Truncated', { from: '12', to: '15' }],
    ]);
  });

  it('and takes no empty newest segment for damage', async () => {
    const empty = buildSegment({ baseOffset: 500n, records: [] });
    const image = new Map([
      ...shard.image,
      [logName(2), empty.log],
      [indexName(2), empty.index],
      [logName(3), empty.log.slice(0, 7)],
    ]);
    const { damage, code, records } = await dump(image);
    expect([damage, code, records.length]).to.deep.equal([[], 0, 120]);
    const blank = await dump(new Map([[logName(0), new Uint8Array(32)]]));
    expect([blank.damage, blank.code]).to.deep.equal([[], 0]);
  });

  it('in every format', async () => {
    const image = damaged(shard.image, flipBit(logName(0), place(first, 10).from + 30, 3));
    for (const format of ['table', 'json', 'csv', 'raw', 'hex']) {
      const { code, stdout, stderr } = await dumpText(image, '--format', format);
      expect(code).to.equal(21);
      expect(format === 'raw' ? stderr : stdout).to.include('RecordChecksum');
    }
  });

  it('finds the right records with an index that lies', async () => {
    const honest = await dump(shard.image, '--from', '97', '--to', '103', '--no-index');
    expect(honest.records).to.have.lengthOf(6);
    const index = shard.image.get(indexName(1))!;
    const entries = (index.length - 24) / 16;
    const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const liar = (change: (data: DataView, at: number) => void) => {
      const bytes = index.slice();
      for (let i = 0; i < entries; i++) change(view(bytes), 24 + 16 * i);
      return bytes;
    };
    const lies: Readonly<Record<string, Uint8Array>> = {
      'off every boundary': liar((data, at) => data.setBigUint64(at + 8, data.getBigUint64(at + 8) + 1n)),
      'at other offsets': liar((data, at) => data.setBigUint64(at, data.getBigUint64(at) + 3n)),
      'far past the end': liar((data, at) => data.setBigUint64(at + 8, 2n ** 60n)),
      'of another segment': liar((data) => data.setBigUint64(8, 1n)),
      empty: index.slice(0, 24),
    };
    for (const [name, bytes] of Object.entries(lies)) {
      const image = new Map([...shard.image, [indexName(1), bytes]]);
      const { records, stderr } = await dump(image, '--from', '97', '--to', '103');
      expect(records, name).to.deep.equal(honest.records);
      if (name === 'off every boundary') expect(stderr).to.match(/does not hold, no intact record starts there/);
    }
    const without = await dump(damaged(shard.image, deleteFile(indexName(1))), '--from', '97', '--to', '103');
    expect(without.records).to.deep.equal(honest.records);
  });
});

describe('dump-records says which offsets are not there', () => {
  const later = threeSegments({ first: 100n });

  it('trimmed in front of the log, or past its tail', async () => {
    const { missing, records, code, summary } = await dump(later.image, '--from', '90', '--to', '130');
    expect(missing.map((row) => [row['where'], row['offsets']])).to.deep.equal([
      ['trimmed', { from: '90', to: '100' }],
      ['past-tail', { from: '121', to: '130' }],
    ]);
    expect([records.length, code, summary['missing']]).to.deep.equal([21, 0, 2]);
    const beyond = await dump(later.image, '--from', '500');
    expect(beyond.missing.map((row) => [row['where'], row['offsets']])).to.deep.equal([
      ['past-tail', { from: '500', to: null }],
    ]);
    expect(beyond.missing[0]!['message']).to.include('the log ends at 121');
    expect((await dump(later.image, '--from', '100', '--to', '121')).missing).to.deep.equal([]);
  });

  it('offloaded, in which objects, and the hole between them', async () => {
    const old = shardOf([{ parts: [10] }, { parts: [10] }, { parts: [10] }], { first: 60n });
    const [a, b] = [offloaded(old.segments[0]!, 0n), offloaded(old.segments[2]!, 2n)];
    const image = new Map([...later.image, ['offload.manifest', encodeManifest({ entries: [a, b] })]]);
    const { missing } = await dump(image, '--from', '65', '--to', '101');
    expect(missing.map((row) => [row['where'], row['offsets'], row['objects']])).to.deep.equal([
      ['offloaded', { from: '65', to: '70' }, [a.key]],
      ['hole', { from: '70', to: '80' }, []],
      ['offloaded', { from: '80', to: '90' }, [b.key]],
      ['hole', { from: '90', to: '100' }, []],
    ]);
    const broken = new Map([...later.image, ['offload.manifest', new Uint8Array(40)]]);
    expect((await dump(broken, '--from', '65')).missing[0]!['message']).to.include('does not decode');
  });

  it('in the table and beside raw payloads too', async () => {
    expect((await dumpText(later.image, '--from', '500')).stdout).to.include('the log ends at 121');
    expect((await dumpText(later.image, '--from', '500', '--format', 'raw')).stderr).to.include('the log ends at 121');
  });
});

describe('dump-records decodes', () => {
  const text = new TextEncoder();
  const payloads = [
    encodeCacheRecord({ op: 'put', expiresAtMillis: 1_767_225_600_000n, key: 'user/1', value: text.encode('secret') }),
    encodeCacheRecord({ op: 'delete', expiresAtMillis: 0n, key: 'user/\u001b[1m', value: new Uint8Array() }),
    text.encode('no such record'),
    Uint8Array.of(
      2,
      ...encodeCacheRecord({ op: 'put', expiresAtMillis: 0n, key: 'k', value: new Uint8Array() }).slice(1),
    ),
    encodeCacheRecord({ op: 'put', expiresAtMillis: 0n, key: 'large', value: new Uint8Array(400_000) }),
    encodeCounterRecord({ op: 'delta', value: -5n, key: 'hits' }),
  ];
  const image = buildShard({
    segments: [
      buildSegment({
        version: 4,
        records: [
          ...payloads.map((payload, at) => plain(BigInt(at), { payload })),
          ...sequence(BigInt(payloads.length), [{ generation: 3n }]),
        ],
      }),
    ],
  });

  it('cache records, and marks what is none', async () => {
    const { records } = await dump(image, '--decode', 'cache');
    expect(records.map((row) => row['decoded'])).to.deep.equal([
      { as: 'cache', op: 'put', expiresAtMillis: '1767225600000', key: 'user/1', keyBytes: 6, valueBytes: 6 },
      { as: 'cache', op: 'delete', expiresAtMillis: '0', key: 'user/\u001b[1m', keyBytes: 9, valueBytes: 0 },
      { as: 'undecodable', why: 'has version 110, and only 1 is known' },
      { as: 'undecodable', why: 'has version 2, and only 1 is known' },
      { as: 'cache', op: 'put', expiresAtMillis: '0', key: 'large', keyBytes: 5, valueBytes: 400_000 },
      { as: 'cache', op: 'put', expiresAtMillis: '18446744073709551611', key: 'hits', keyBytes: 4, valueBytes: 0 },
      undefined,
    ]);
  });

  it('counter records, and marks what is none', async () => {
    const { records } = await dump(image, '--decode', 'counter');
    expect(records.slice(3).map((row) => row['decoded'])).to.deep.equal([
      { as: 'undecodable', why: 'has version 2, and only 1 is known' },
      { as: 'undecodable', why: 'has 400000 bytes after the key' },
      { as: 'counter', op: 'delta', value: '-5', key: 'hits', keyBytes: 4 },
      undefined,
    ]);
    expect(records[0]!['decoded']).to.deep.equal({ as: 'undecodable', why: 'has 6 bytes after the key' });
  });

  it('in the table without a control byte, and without keys when they are to be withheld', async () => {
    const { stdout } = await dumpText(image, '--decode', 'cache');
    expect(stdout).to.include('put "user/1", 6 bytes, expires 2026-01-01T00:00:00.000000Z');
    expect(stdout).to.include('not decoded: has version 2, and only 1 is known');
    for (const line of stdout.split('\n')) expect(RAW.test(line)).to.equal(false);
    for (const format of ['table', 'ndjson']) {
      const shared = await dumpText(image, '--decode', 'cache', '--redact', '--format', format);
      expect(shared.stdout).to.not.match(/user|secret|large|1767225600000"|110/);
    }
  });
});

describe('dump-records of one long record', () => {
  it('shows it to its end when it is the last one asked for', async () => {
    const payload = Buffer.alloc(700_000, 'long \u00e9');
    const image = buildShard({ segments: [buildSegment({ records: [plain(0n, { payload }), plain(1n)] })] });
    for (const args of [
      ['--limit', '1'],
      ['--to', '1'],
    ]) {
      const { records } = await dump(image, ...args);
      expect(offsets(records)).to.deep.equal(['0']);
      expect(Buffer.from(String(records[0]!['payload']), 'base64').equals(payload)).to.equal(true);
      expect(records[0]).to.not.have.property('incomplete');
    }
  });
});

describe('dump-records as a program among others', () => {
  const bin = path.join(PROJECT_ROOT, 'bin/felix-fsck.js');

  it('ends quietly when its reader has seen enough', async () => {
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(shardOf([{ parts: [60_000] }]).image, dir);
      const child = spawn(process.execPath, [bin, 'dump-records', shard, '--format', 'ndjson'], { stdio: 'pipe' });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      child.stdout.once('data', () => child.stdout.destroy());
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect([code, stderr]).to.deep.equal([0, '']);
    });
  });

  it('shows all shards of a root, each with its own name, and one file by itself', async () => {
    await withTempDir(async (dir) => {
      const image = threeSegments().image;
      writeShardBelow(image, dir);
      const other = writeShardBelow(image, dir, 'acme_default_orders_1-0d3aee4b998d294b');
      const { stdout } = await runInProcess(['dump-records', dir, '--format', 'ndjson']);
      const rows = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row);
      const count = (shard: string) => rows.filter((row) => row['shard'] === shard).length;
      expect([count('acme/default/orders/0'), count('acme/default/orders/1')]).to.deep.equal([21, 21]);
      expect(rows.at(-1)).to.deep.include({ shards: 2, records: 42 });
      const limited = await runInProcess(['dump-records', dir, '--format', 'ndjson', '--limit', '25']);
      expect(limited.stdout.trimEnd().split('\n')).to.have.lengthOf(26);
      const file = await runInProcess([
        'dump-records',
        path.join(other, logName(1)),
        '--format',
        'ndjson',
        '--from',
        '5',
      ]);
      const sole = file.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row);
      expect(offsets(sole.filter(({ type }) => type === 'record'))).to.deep.equal(
        Array.from({ length: 7 }, (_, at) => String(8 + at)),
      );
      expect(sole[0]).to.deep.include({ type: 'missing', where: 'other-file' });
      expect((await runInProcess(['dump-records', path.join(dir, 'nothing')])).code).to.equal(2);
    });
  });

  it('keeps within bounds of memory, whatever the length of a record, and loses no byte of it', async function () {
    this.timeout(60_000);
    await withTempDir(async (dir) => {
      const longest = Buffer.alloc(MAX_PAYLOAD_BYTES, 'sixty-four mebibytes \u00e9 ');
      const long = longest.subarray(0, MAX_PAYLOAD_BYTES / 4 + 1);
      const shardOf = (payload: Buffer, name: string) => {
        const segment = buildSegment({ records: [plain(0n), plain(1n, { payload }), plain(2n)] });
        return writeShardBelow(buildShard({ segments: [segment] }), dir, name);
      };
      const large = shardOf(longest, 'a_b_c_0-0d3aed4b998d2798');
      const less = shardOf(long, 'a_b_c_1-0d3aed4b998d2798');
      const [redacted, table, raw, lines] = await Promise.all([
        measured(large, '--format', 'ndjson', '--redact'),
        measured(large, '--format', 'table'),
        measured(less, '--format', 'raw', '--delimiter', 'length'),
        measured(less, '--format', 'ndjson'),
      ]);
      for (const { peakKib, code } of [redacted, table, raw, lines]) {
        expect(code).to.equal(0);
        expect(peakKib).to.be.below(150 * 1024);
      }
      expect(redacted.output.length).to.be.below(1500);
      expect(table.output.toString()).to.include('"sixty-four');
      const at = 4 + plain(0n).payload.length;
      expect(raw.output.readUInt32BE(at)).to.equal(long.length);
      expect(raw.output.subarray(at + 4, at + 4 + long.length).equals(long)).to.equal(true);
      const row = JSON.parse(lines.output.toString('utf8').split('\n')[1]!) as Row;
      expect(Buffer.from(String(row['payload']), 'base64').equals(long)).to.equal(true);
      expect(Buffer.from(long.toString('utf8')).equals(long)).to.equal(row['text'] !== null);
    });
  });

  it('keeps within bounds of memory for a long tail of many records', async function () {
    this.timeout(60_000);
    await withTempDir(async (dir) => {
      const records = Array.from({ length: 60_000 }, (_, at) => plain(BigInt(at), { payload: new Uint8Array(4) }));
      const segments = [0, 1].map((id) =>
        buildSegment({
          records: records.map((record) => ({ ...record, offset: record.offset + BigInt(id * 60_000) })),
        }),
      );
      const shard = writeShardBelow(buildShard({ segments }), dir);
      const few = await measured(shard, '--tail', '1', '--format', 'csv');
      const many = await measured(shard, '--tail', '100000', '--format', 'csv');
      const lines = many.output.toString('utf8').trimEnd().split('\n');
      expect([lines.length, lines[1]!.split(',')[4], lines.at(-1)!.split(',')[4]]).to.deep.equal([
        100_001,
        '20000',
        '119999',
      ]);
      expect(many.peakKib - few.peakKib).to.be.below(24 * 1024);
    });
  });
});

interface Measured {
  readonly code: number | null;
  readonly peakKib: number;
  readonly output: Buffer;
}

/** Runs the program as a process of its own, and reads its own account of its peak memory. */
async function measured(...args: readonly string[]): Promise<Measured> {
  const program = path.join(PROJECT_ROOT, 'dist/test/cli/measured-main.js');
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, NODE_V8_COVERAGE: ___, ...env } = process.env;
  const child = spawn(process.execPath, [program, 'dump-records', ...args], { env });
  const chunks: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, peakKib: Number(/peak (\d+) KiB/.exec(stderr)?.[1]), output: Buffer.concat(chunks) };
}
