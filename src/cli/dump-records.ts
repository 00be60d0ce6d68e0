/**
 * `dump-records`: shows the records below the paths, in a format for people or for programs.
 */

import { type DumpOutcome, type DumpQuery, dumpLog, noOutcome } from '../check/dump.js';
import { type LogFiles, openLog } from '../check/log-files.js';
import { targetsOf } from '../check/targets.js';
import type { Delimiter, Disclosure, DumpSummary, RecordKindName } from '../domain/record-view.js';
import { fail } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { bytesOfHex, encodeUtf8 } from '../format/bytes.js';
import { RecordCsv } from '../report/record-csv.js';
import { RecordHex } from '../report/record-hex.js';
import { RecordJson } from '../report/record-json.js';
import { RecordRaw } from '../report/record-raw.js';
import type { RecordReport } from '../report/record-report.js';
import { RecordTable } from '../report/record-table.js';
import type { CommandContext } from './context.js';
import { parseInstant } from './instant.js';
import { colorOf, flag, type Options, shardKeyOf } from './options.js';
import { isTerminal } from './terminal.js';

type DumpFormat = 'table' | 'ndjson' | 'json' | 'csv' | 'raw' | 'hex';

/** How much is gathered before it is written. */
const WRITE_BYTES = 128 * 1024;
/** How long records are shown before signals get their turn. */
const SLICE_MS = 25;

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const query = queryOf(options);
  const say = (sentence: string) => void context.streams.stderr.write(`${printable(sentence)}\n`);
  const report = reportOf(context, query, options, say);
  const outcome = noOutcome();
  const pump = new Pump(context, report);
  report.start();
  let shards = 0;
  for (const log of logsOf(paths, options)) {
    if (query.segment !== null && !log.segments.some(({ id }) => id === query.segment)) {
      say(`${log.path}: no segment ${query.segment}${segmentsText(log)}`);
      continue;
    }
    shards++;
    const left = query.limit === null ? null : query.limit - outcome.records;
    const before = outcome.notes.length;
    const goesOn = await pump.drive(dumpLog(log, { ...query, limit: left }, report, outcome));
    for (const note of outcome.notes.slice(before)) say(note);
    if (!goesOn || outcome.records === query.limit) break;
  }
  if (shards === 0 && !context.signal.aborted) fail({ reason: 'usage', message: 'nothing to show: see above' });
  const summary = summaryOf(shards, outcome, context.signalCode());
  if (!context.out.closed) {
    report.finish(summary, context.signal.aborted);
    await pump.flush();
  }
  return summary.exitCode;
}

/** Takes what the report made to standard output, and lets signals through. */
class Pump {
  readonly #context: CommandContext;
  readonly #report: RecordReport;
  #sliceEnd = 0;

  constructor(context: CommandContext, report: RecordReport) {
    this.#context = context;
    this.#report = report;
  }

  /** False when interrupted, or nobody reads any more. */
  async drive(work: Generator<number, void>): Promise<boolean> {
    for (const _ of work) {
      if (this.#report.out.length >= WRITE_BYTES && !(await this.flush())) return false;
      if (performance.now() < this.#sliceEnd) continue;
      await new Promise(setImmediate);
      this.#sliceEnd = performance.now() + SLICE_MS;
      if (this.#context.signal.aborted) return false;
    }
    return !this.#context.signal.aborted;
  }

  async flush(): Promise<boolean> {
    const { out } = this.#report;
    const open = await this.#context.out.writeReused(out.written);
    out.clear();
    return open;
  }
}

function* logsOf(paths: readonly string[], options: Options): Generator<LogFiles> {
  const key = shardKeyOf(options);
  for (const path of paths) {
    for (const target of targetsOf(path, { includeDeleted: flag(options, 'includeDeleted') })) {
      if (target.what !== 'shard') continue;
      if (target.sole !== null && target.listing.entries.every(({ name }) => !name.endsWith('.log'))) {
        fail({ reason: 'usage', message: `${path}: holds no records; name a segment, a shard or a data root` });
      }
      yield openLog(target.listing, target.sole, key);
    }
  }
}

function segmentsText({ segments }: LogFiles): string {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined) return '; it has none';
  return first === last ? `; it has segment ${first.id}` : `; it has segments ${first.id} to ${last.id}`;
}

function summaryOf(shards: number, outcome: DumpOutcome, signalCode: number | null): DumpSummary {
  const { records, damaged, unreadable, missing } = outcome;
  const exitCode = signalCode ?? (damaged > 0 ? 21 : unreadable > 0 ? 30 : 0);
  return { shards, records, damaged, unreadable, missing, exitCode };
}

function queryOf(options: Options): DumpQuery {
  const limit = (options['limit'] as number | undefined) ?? null;
  const tail = (options['tail'] as number | undefined) ?? null;
  const decode = (options['decode'] as DumpQuery['decode'] | undefined) ?? null;
  const disclosure = disclosureOf(options);
  if (limit !== null && tail !== null) usage('--limit and --tail are not given together');
  if (decode !== null && disclosure === 'none') usage('--decode shows of payloads what --no-payload leaves out');
  if (options['format'] === 'raw' && disclosure !== 'whole') usage('--format raw shows nothing but payloads');
  if (options['format'] === 'raw' && decode !== null) usage('--format raw shows payloads as they are');
  return {
    from: offsetOf(options, 'from'),
    to: offsetOf(options, 'to'),
    sinceMicros: instantOf(options, 'since'),
    untilMicros: instantOf(options, 'until'),
    kind: (options['kind'] as RecordKindName | undefined) ?? null,
    producer: offsetOf(options, 'producer'),
    segment: offsetOf(options, 'segment'),
    contains: needleOf(options['grep']),
    limit,
    tail,
    disclosure,
    decode,
    useIndex: options['index'] !== false,
  };
}

function usage(message: string): never {
  fail({ reason: 'usage', message });
}

function disclosureOf(options: Options): Disclosure {
  if (options['payload'] === false) return 'none';
  return flag(options, 'redact') ? 'digest' : 'whole';
}

function offsetOf(options: Options, name: string): bigint | null {
  return (options[name] as bigint | undefined) ?? null;
}

function instantOf(options: Options, name: string): bigint | null {
  const text = options[name];
  return typeof text === 'string' ? parseInstant(text, `--${name}`) : null;
}

function needleOf(text: unknown): Uint8Array | null {
  if (typeof text !== 'string') return null;
  const digits = /^hex:(.*)$/s.exec(text)?.[1];
  if (text === '' || digits === '') usage('--grep looks for at least one byte');
  if (digits === undefined) return encodeUtf8(text);
  if (!/^([0-9a-fA-F]{2})+$/.test(digits)) usage(`--grep ${text}: hex digits come in pairs`);
  return bytesOfHex(digits);
}

function reportOf(
  context: CommandContext,
  { disclosure, kind }: DumpQuery,
  options: Options,
  say: (sentence: string) => void,
): RecordReport {
  const format = options['format'] as DumpFormat;
  const quiet = flag(options, 'quiet');
  switch (format) {
    case 'ndjson':
    case 'json':
      return new RecordJson(context.tool, format === 'json');
    case 'csv':
      return new RecordCsv();
    case 'raw':
      if (isTerminal(context.streams.stdout)) {
        fail({ reason: 'usage', message: '--format raw writes payloads as they are: send it to a file or a pipe' });
      }
      return new RecordRaw(options['delimiter'] as Delimiter, kind === 'generation-start', say);
    case 'hex':
      return new RecordHex(context.style(colorOf(options)), quiet);
    case 'table':
      return new RecordTable(context.style(colorOf(options)), disclosure, quiet);
  }
}
