/** Runs of a salvage are shards as a broker's writer leaves them, and have their names once all of them is durable. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { SalvagedRecord } from '../../src/domain/salvage.js';
import { encodeRecord, type LogRecord } from '../../src/format/record.js';
import { WriteFailure } from '../../src/repair/durable-fs.js';
import { type RecordText, type SalvageSettings, SalvageWriter } from '../../src/repair/salvage-writer.js';
import { failureOf } from '../builders/failures.js';
import { generationStart, opens, plain, plainRun } from '../builders/records.js';
import { withMemoryDir } from '../builders/repairs.js';
import { buildSegment, type SegmentPlan } from '../builders/segments.js';
import { indexName, logName } from '../builders/shards.js';
import { systemCallsOf } from '../builders/system-calls.js';
import { hashTree } from '../builders/trees.js';
import { refusing, WatchedFs } from '../builders/watched-fs.js';

const CREATED = 1_767_225_600_000_123n;

function settingsFor(target: string, more: Partial<SalvageSettings> = {}): SalvageSettings {
  return {
    target,
    shardName: 'shard',
    segmentBytes: 1 << 20,
    indexSpacing: 4096,
    createdAtMicros: CREATED,
    directoryMode: 0o750,
    fileMode: 0o640,
    ...more,
  };
}

/** A record as it is handed over, in pieces of at most `piece` bytes. */
function handed(record: LogRecord, piece = 1 << 20): SalvagedRecord {
  const bytes = encodeRecord(record);
  const { offset, timestampMicros, kind } = record;
  function* pieces() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }
  return { offset, timestampMicros, kind, length: bytes.length, pieces };
}

/** Writes one run from its start to its end. */
function written(writer: SalvageWriter, records: readonly LogRecord[], run = 0, piece?: number) {
  writer.open({ run, from: records[0]!.offset, fork: false });
  for (const record of records) writer.record(run, handed(record, piece));
  writer.close(run);
  return writer.written.get(run)!;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What the writer says of a segment as a broker would have made it. */
function savedAs(id: number, plan: Omit<SegmentPlan, 'createdAtMicros'>) {
  const built = buildSegment({ ...plan, createdAtMicros: CREATED });
  const { log, index, version, baseOffset, nextOffset, records } = built;
  return {
    built,
    saved: {
      file: logName(id),
      bytes: log.length,
      sha256: sha256(log),
      version,
      baseOffset,
      nextOffset,
      records: records.length,
      index: { file: indexName(id), bytes: index.length, sha256: sha256(index) },
    },
  };
}

/** A line for each record that says where it went. */
function placeText(): RecordText {
  const started: string[] = [];
  return {
    extension: 'txt',
    open: ({ run, from, fork }) => void started.push(`run ${run} from ${from}${fork ? ', a fork' : ''}`),
    *textOf(run, { offset }, { segment, position }) {
      yield Buffer.from(`${started.splice(0).join()}|`);
      yield Buffer.from(`${run}: ${offset} at ${segment}/${position}\n`);
    },
  };
}

/** Records of 38 bytes, so that two of them and the header come to 108. */
const small = (first: bigint, count: number) => plainRun(first, count, { payloadLength: 10 });

describe('a run of a salvage', () => {
  it('is written segment by segment, index first, and has its name when all of it is durable', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs();
      const writer = new SalvageWriter(fs, settingsFor(dir, { segmentBytes: 108 }), placeText());
      const run = written(writer, small(5n, 3));
      const parts = [savedAs(0, { records: small(5n, 2) }), savedAs(1, { records: small(7n, 1) })];
      const text = Buffer.from('run 0 from 5|0: 5 at 0/32\n|0: 6 at 0/70\n|0: 7 at 1/32\n');
      const name = 'from-00000000000000000005';
      expect(run).to.deep.equal({
        directory: `${name}/shard`,
        segments: parts.map(({ saved }) => saved),
        ndjson: { file: `${name}.txt`, bytes: text.length, sha256: sha256(text) },
      });
      expect(readFileSync(path.join(dir, `${name}.txt`)).equals(text)).to.equal(true);
      parts.forEach(({ built }, id) => {
        expect(readFileSync(path.join(dir, name, 'shard', logName(id))).equals(built.log)).to.equal(true);
        expect(readFileSync(path.join(dir, name, 'shard', indexName(id))).equals(built.index)).to.equal(true);
      });
      const partial = `.partial-${name}`;
      const file = (id: number) => `${partial}/shard/${logName(id)}`;
      const index = (id: number) => `${partial}/shard/${indexName(id)}`;
      const made = (at: string) => [`create ${at}`, `set-mode ${at}`];
      const named = (temporary: string, at: string) => [
        `write ${temporary}`,
        `sync ${temporary}`,
        `rename ${at} <- ${temporary}`,
      ];
      const segment = (id: number) => [...named(`${index(id)}.tmp`, index(id)), ...named(`${file(id)}.tmp`, file(id))];
      expect(fs.told(dir)).to.deep.equal([
        `make-directory ${partial}`,
        `set-mode ${partial}`,
        `make-directory ${partial}/shard`,
        `set-mode ${partial}/shard`,
        ...made(`${partial}.txt`),
        ...made(`${file(0)}.tmp`),
        ...made(`${index(0)}.tmp`),
        ...segment(0),
        ...made(`${file(1)}.tmp`),
        ...made(`${index(1)}.tmp`),
        ...segment(1),
        ...named(`${partial}.txt`, `${name}.txt`),
        `sync-directory ${partial}/shard`,
        `sync-directory ${partial}`,
        `rename ${name} <- ${partial}`,
        'sync-directory .',
      ]);
      expect([...fs.open]).to.deep.equal([]);
      const modes = Object.values(hashTree(path.join(dir, name))).map((line) => line.split(' ').slice(0, 2).join(' '));
      expect([...new Set(modes)]).to.deep.equal(['directory 0750', 'file 0640']);
    }));

  it('has no text beside it when none was asked for', () =>
    withMemoryDir((dir) => {
      const run = written(new SalvageWriter(new WatchedFs(), settingsFor(dir), null), small(0n, 2));
      expect(run.ndjson).to.equal(null);
      expect(readdirSync(dir)).to.deep.equal(['from-00000000000000000000']);
    }));

  for (const [segmentBytes, segments] of [
    [107, [1, 1, 1]],
    [108, [2, 1]],
    [145, [2, 1]],
    [146, [3]],
    [1, [1, 1, 1]],
  ] as const) {
    it(`of three records of 38 bytes has ${segments.join(' + ')} to a segment of at most ${segmentBytes} bytes`, () =>
      withMemoryDir((dir) => {
        const run = written(new SalvageWriter(new WatchedFs(), settingsFor(dir, { segmentBytes }), null), small(0n, 3));
        expect(run.segments.map(({ records }) => records)).to.deep.equal(segments);
      }));
  }

  it('rolls in front of a record that needs a later version, and not in front of one that needs an earlier', () =>
    withMemoryDir((dir) => {
      const records = [
        plain(0n),
        opens(1n, { producerId: 1n, sequence: 0n, len: 1 }),
        generationStart(2n, 7n),
        plain(3n),
        generationStart(4n, 8n),
      ];
      const run = written(new SalvageWriter(new WatchedFs(), settingsFor(dir), null), records);
      expect(run.segments).to.deep.equal([
        savedAs(0, { version: 3, records: records.slice(0, 2) }).saved,
        savedAs(1, { version: 4, records: records.slice(2) }).saved,
      ]);
    }));

  for (const indexSpacing of [1, 38, 39, 76, 77]) {
    it(`has index entries ${indexSpacing} bytes apart or more`, () =>
      withMemoryDir((dir) => {
        const run = written(new SalvageWriter(new WatchedFs(), settingsFor(dir, { indexSpacing }), null), small(0n, 7));
        expect(run.segments).to.deep.equal([savedAs(0, { records: small(0n, 7), indexSpacing }).saved]);
      }));
  }

  for (const piece of [262_144 - 32, 262_144, 100_000, 1 << 20]) {
    it(`comes out whole when records are handed over in pieces of ${piece} bytes`, () =>
      withMemoryDir((dir) => {
        const fs = new WatchedFs();
        const records = [plain(0n, { payloadLength: 600_000 }), plain(1n, { payloadLength: 5 })];
        const run = written(new SalvageWriter(fs, settingsFor(dir), null), records, 0, piece);
        const { built, saved } = savedAs(0, { records });
        expect(run.segments).to.deep.equal([saved]);
        const log = readFileSync(path.join(dir, run.directory, logName(0)));
        expect(log.equals(built.log)).to.equal(true);
        const writes = fs.told(dir).filter((line) => line.startsWith('write') && line.includes('.log'));
        expect(writes.length, 'a write for each full buffer and one for the rest').to.equal(3);
      }));
  }

  it('is named by its first offset in twenty digits, and each fork there by a number', () =>
    withMemoryDir((dir) => {
      const writer = new SalvageWriter(new WatchedFs(), settingsFor(dir), placeText());
      const starts = [
        { from: 3n, fork: false },
        { from: 3n, fork: true },
        { from: 3n, fork: true },
        { from: 2n ** 64n - 1n, fork: true },
      ];
      starts.forEach((start, run) => void writer.open({ run, ...start }));
      starts.forEach(({ from }, run) => void writer.record(run, handed(plain(from))));
      starts.forEach((_, run) => void writer.close(run));
      const names = [...writer.written].map(([run, { directory, ndjson }]) => [run, directory, ndjson?.file]);
      expect(names).to.deep.equal([
        [0, 'from-00000000000000000003/shard', 'from-00000000000000000003.txt'],
        [1, 'from-00000000000000000003.fork-1/shard', 'from-00000000000000000003.fork-1.txt'],
        [2, 'from-00000000000000000003.fork-2/shard', 'from-00000000000000000003.fork-2.txt'],
        [3, 'from-18446744073709551615.fork-1/shard', 'from-18446744073709551615.fork-1.txt'],
      ]);
    }));

  it('may be written while others are, each record to its own', () =>
    withMemoryDir((dir) => {
      const writer = new SalvageWriter(new WatchedFs(), settingsFor(dir), null);
      const runs = [small(0n, 3), small(10n, 3)];
      runs.forEach(([first], run) => void writer.open({ run, from: first!.offset, fork: false }));
      for (let at = 0; at < 3; at++) runs.forEach((records, run) => void writer.record(run, handed(records[at]!)));
      writer.close(1);
      writer.close(0);
      runs.forEach((records, run) => {
        expect(writer.written.get(run)!.segments).to.deep.equal([savedAs(0, { records }).saved]);
      });
    }));
});

describe('a run of a salvage that was interrupted', () => {
  const partial = '.partial-from-00000000000000000000';
  const settings = (dir: string) => settingsFor(dir, { segmentBytes: 108 });

  it('lets go of every file, and leaves what is not complete under names that no walk takes for a shard', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs();
      const writer = new SalvageWriter(fs, settings(dir), placeText());
      writer.open({ run: 0, from: 0n, fork: false });
      for (const record of small(0n, 3)) writer.record(0, handed(record));
      expect(fs.open.size).to.equal(3);
      writer.abandon();
      writer.abandon();
      expect([...fs.open]).to.deep.equal([]);
      expect(writer.written.size).to.equal(0);
      expect(readdirSync(dir).sort()).to.deep.equal([partial, `${partial}.txt`]);
      expect(readdirSync(path.join(dir, partial, 'shard')).sort()).to.deep.equal([
        indexName(0),
        logName(0),
        `${indexName(1)}.tmp`,
        `${logName(1)}.tmp`,
      ]);
    }));

  it('lets go of every file when there is no text, and when the system refuses to make one of them durable', () =>
    withMemoryDir((dir) => {
      const fs = new WatchedFs(refusing('sync', { path: `${logName(0)}.tmp` }));
      const writer = new SalvageWriter(fs, settings(dir), null);
      writer.open({ run: 0, from: 0n, fork: false });
      writer.record(0, handed(plain(0n)));
      expect(() => writer.close(0)).to.throw(WriteFailure);
      expect([...fs.open].map((file) => path.basename(file))).to.deep.equal([`${logName(0)}.tmp`]);
      writer.abandon();
      expect([...fs.open]).to.deep.equal([]);
      writer.open({ run: 1, from: 9n, fork: false });
      writer.abandon();
    }));

  it('is gone on with: what has its name is read and not written, and what has not is written anew', () =>
    withMemoryDir((dir) => {
      const first = new SalvageWriter(new WatchedFs(), settings(dir), placeText());
      first.open({ run: 0, from: 0n, fork: false });
      for (const record of small(0n, 3)) first.record(0, handed(record));
      first.abandon();
      const kept = statSync(path.join(dir, partial, 'shard', logName(0)), { bigint: true });
      const fs = new WatchedFs();
      const run = written(new SalvageWriter(fs, settings(dir), placeText()), small(0n, 3));
      const parts = [savedAs(0, { records: small(0n, 2) }), savedAs(1, { records: small(2n, 1) })];
      expect(run.segments).to.deep.equal(parts.map(({ saved }) => saved));
      expect(statSync(path.join(dir, run.directory, logName(0)), { bigint: true }).ino).to.equal(kept.ino);
      const anew = [`${partial}.txt`, `${partial}/shard/${logName(1)}.tmp`, `${partial}/shard/${indexName(1)}.tmp`];
      expect(fs.told(dir).filter((line) => /^(unlink|create|make-directory)/.test(line))).to.deep.equal(
        anew.flatMap((name) => [`unlink ${name}`, `create ${name}`]),
      );
    }));

  it('changes nothing when all of it is there', () =>
    withMemoryDir((dir) => {
      const records = [...small(0n, 3), plain(3n, { payloadLength: 700_000 })];
      const whole = written(new SalvageWriter(new WatchedFs(), settings(dir), placeText()), records);
      const before = hashTree(dir);
      const fs = new WatchedFs();
      const again = new SalvageWriter(fs, settings(dir), placeText());
      const { thrown, leftOpen } = systemCallsOf(() => {
        expect(written(again, records)).to.deep.equal(whole);
        again.abandon();
      });
      expect([thrown, leftOpen]).to.deep.equal([null, []]);
      expect(fs.told(dir)).to.deep.equal([]);
      expect(hashTree(dir)).to.deep.equal(before);
    }));

  for (const name of [`shard/${logName(0)}`, `shard/${indexName(1)}`, '../from-00000000000000000000.txt']) {
    it(`is refused once ${path.basename(name)} is another than it wrote, and that is left alone`, () =>
      withMemoryDir((dir) => {
        written(new SalvageWriter(new WatchedFs(), settings(dir), placeText()), small(0n, 3));
        const file = path.join(dir, 'from-00000000000000000000', name);
        const bytes = readFileSync(file);
        bytes[bytes.length - 1]! ^= 1;
        writeFileSync(file, bytes);
        const before = hashTree(dir);
        const fs = new WatchedFs();
        const failure = failureOf(() => written(new SalvageWriter(fs, settings(dir), placeText()), small(0n, 3)));
        expect(failure).to.deep.equal({
          reason: 'refused',
          message: `${file} is not what this salvage wrote: it was changed since. Nothing of it was touched.`,
        });
        expect(hashTree(dir)).to.deep.equal(before);
      }));
  }
});
