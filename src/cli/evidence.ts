/**
 * `evidence`: one archive with what somebody needs who does not have the shard.
 *
 * Members are made one at a time and go through the compressor as they are made. Their names are made up here and not taken
 * from the store, so that an archive of whatever directory unpacks safely.
 */

import { arch, cpus, endianness, platform, release, type } from 'node:os';
import { Readable, promises as streams } from 'node:stream';
import { createGzip } from 'node:zlib';
import { bundledFile, firstBytesOf } from '../check/bundle.js';
import { inspectShard } from '../check/inspect-shard.js';
import { checkLiveShard } from '../check/live.js';
import { Tally } from '../check/summary.js';
import { type SurroundingsRequest, surroundings } from '../check/surroundings.js';
import type { BundledFile, BundleFacts } from '../domain/evidence-bundle.js';
import type { SegmentReport, ShardReport } from '../domain/report.js';
import { fail } from '../domain/result.js';
import { bytesOf, counted, printable } from '../domain/wording.js';
import { identify } from '../format/identify.js';
import { INDEX_HEADER_LEN } from '../format/index.js';
import { indexFileName, indexIdOf, segmentIdOf } from '../format/names.js';
import { SEGMENT_HEADER_LEN } from '../format/segment-header.js';
import { DurableFs } from '../repair/durable-fs.js';
import { OutputFile } from '../repair/output-file.js';
import { renderBundleAbout, renderBundleFiles, renderBundleReadme, renderSurroundings } from '../report/evidence.js';
import { renderInspectJson } from '../report/inspect.js';
import { renderVerifyJson } from '../report/json.js';
import { verifyTableWriter } from '../report/table.js';
import { tarEnd, tarMember } from '../report/tar.js';
import { createScanner } from '../scan/pool.js';
import { TailScanner } from '../scan/tail-scanner.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import { type Entry, type Listing, SHARD_SIDECARS } from '../store/walk.js';
import type { CommandContext } from './context.js';
import { flag, jobsOf, type Options, settingsOf, shardKeyOf } from './options.js';
import { shardAt } from './shard-at.js';

/** Of one small file or index; the rest is left out. */
const SIDECAR_BYTES = 4 * 1024 * 1024;
/** `keys.idx` holds keys behind its header. */
const KEYS_HEADER_BYTES = 35;
const DAMAGES = 200;
const INDEXES = 16;
const TEXT_STYLE = { width: 100, color: 0, unicode: true } as const;

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const listing = shardAt(paths[0]!);
  const to = targetOf(options);
  const output = new OutputFile(to, new DurableFs(), { fresh: true });
  try {
    const bundle = await gather(context, listing, options);
    const archive = Readable.from(bundle.archive());
    const write = async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const piece of pieces) output.write(piece);
    };
    if (to.endsWith('.tar')) await write(archive);
    else await streams.pipeline(archive, createGzip(), write);
    if (context.signal.aborted) return context.signalCode() ?? 130;
    output.commit();
    await context.out.write(`${printable(to)}: ${bytesOf(output.bytes)}, ${bundle.words()}\n`);
    return 0;
  } finally {
    output.discard();
  }
}

function targetOf(options: Options): string {
  const to = options['to'];
  if (typeof to !== 'string') return fail({ reason: 'usage', message: 'say where to with --to FILE.tar.gz' });
  if (!/\.(?:tar\.gz|tgz|tar)$/.test(to)) {
    fail({ reason: 'usage', message: `${printable(to)}: an archive ends in .tar.gz, .tgz or .tar` });
  }
  return to;
}

/** Checks and inspects the shard. */
async function gather(context: CommandContext, listing: Listing, options: Options): Promise<Bundle> {
  const { signal, nowMicros, tool } = context;
  const settings = settingsOf(options);
  const scanner = createScanner({ jobs: jobsOf(options), signal });
  const check = { settings, quick: false, key: shardKeyOf(options), replicas: [], nowMicros, sole: null };
  try {
    const report = await checkLiveShard(listing, scanner, { ...check, patienceMs: 500 });
    const { path, name, key } = report;
    const withPayloads = flag(options, 'withPayloads');
    const shard = { path, name, key };
    const facts = { tool, createdAtMicros: nowMicros, shard, settings, withPayloads, platform: platformFacts() };
    return new Bundle(context, listing, report, facts);
  } finally {
    await scanner.close();
  }
}

function platformFacts(): BundleFacts['platform'] {
  return {
    node: process.version,
    system: `${type()} ${release()}`,
    platform: platform(),
    arch: arch(),
    endianness: endianness(),
    cores: cpus().length,
  };
}

class Bundle {
  readonly #context: CommandContext;
  readonly #listing: Listing;
  readonly #report: ShardReport;
  readonly #facts: BundleFacts;
  readonly #byName: ReadonlyMap<string, Entry>;
  readonly #leftOut: string[] = [];
  #members = 0;

  constructor(context: CommandContext, listing: Listing, report: ShardReport, facts: BundleFacts) {
    this.#context = context;
    this.#listing = listing;
    this.#report = report;
    this.#facts = facts;
    this.#byName = new Map(listing.entries.map((entry) => [entry.name, entry]));
  }

  /** The archive from its beginning to its end; broken off when the run is told to stop. */
  async *archive(): AsyncGenerator<Uint8Array> {
    for await (const [name, content] of this.#content()) {
      if (this.#context.signal.aborted) return;
      this.#members++;
      yield* tarMember(`felix-evidence/${name}`, [content]);
    }
    yield tarEnd();
  }

  words(): string {
    const payloads = this.#facts.withPayloads ? 'PAYLOADS INCLUDED' : 'payloads left out';
    return `${counted(this.#members, 'file')}, ${payloads}`;
  }

  async *#content(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield ['README.txt', textBytes(renderBundleReadme(this.#facts))];
    yield* this.#reports();
    yield ['files.json', textBytes(renderBundleFiles(await this.#files()))];
    yield* this.#headers();
    yield* this.#indexes();
    yield* this.#sidecars();
    yield* this.#damage();
    yield ['about.json', textBytes(renderBundleAbout(this.#facts, this.#leftOut))];
  }

  async *#reports(): AsyncGenerator<readonly [string, Uint8Array]> {
    const { tool, signal, nowMicros } = this.#context;
    const tally = new Tally('warning');
    tally.addShard(this.#report);
    const summary = { ...tally.summary(), elapsedMs: 0 };
    const report = { partial: false, shards: [this.#report], roots: [], summary };
    yield ['verify.json', textBytes(renderVerifyJson(report, tool))];
    const table = verifyTableWriter(TEXT_STYLE, { all: true, quiet: false, settings: this.#facts.settings });
    yield ['verify.txt', textBytes(table.shard(this.#report) + table.end(summary, false))];
    const options = { full: false, nowMicros, includeDeleted: false };
    const inspected = await inspectShard(this.#listing, new TailScanner(signal), options);
    if (inspected === null) return;
    const sidecars = inspected.sidecars.map((sidecar) =>
      sidecar.file === 'keys.idx' && !this.#facts.withPayloads ? { ...sidecar, facts: [] } : sidecar,
    );
    yield ['inspect.json', textBytes(renderInspectJson([{ ...inspected, sidecars }], tool))];
  }

  async #files(): Promise<BundledFile[]> {
    const files: BundledFile[] = [];
    for (const entry of this.#listing.entries) {
      const file = await bundledFile(entry, () => this.#goOn());
      if (file === null) break;
      files.push(file);
    }
    return files;
  }

  async #goOn(): Promise<boolean> {
    await new Promise(setImmediate);
    return !this.#context.signal.aborted;
  }

  async *#headers(): AsyncGenerator<readonly [string, Uint8Array]> {
    for (const { id, file } of this.#report.segments) {
      yield* this.#firstBytes('headers', file, SEGMENT_HEADER_LEN);
      yield* this.#firstBytes('headers', indexFileName(id), INDEX_HEADER_LEN);
    }
  }

  async *#indexes(): AsyncGenerator<readonly [string, Uint8Array]> {
    const hurt = new Set(this.#report.findings.map(({ site }) => site.segment));
    const segments = this.#report.segments.filter(({ id }) => hurt.has(id));
    for (const { id } of segments.slice(0, INDEXES))
      yield* this.#firstBytes('indexes', indexFileName(id), SIDECAR_BYTES);
    if (segments.length > INDEXES) {
      this.#leftOut.push(
        `${counted(segments.length - INDEXES, 'more index', 'more indexes')} of segments with findings.`,
      );
    }
  }

  async *#sidecars(): AsyncGenerator<readonly [string, Uint8Array]> {
    for (const name of SHARD_SIDECARS) {
      const hidden = name === 'keys.idx' && !this.#facts.withPayloads;
      if (hidden && this.#byName.has(name)) this.#leftOut.push(`${name} behind its header: it holds keys.`);
      yield* this.#firstBytes('sidecars', name, hidden ? KEYS_HEADER_BYTES : SIDECAR_BYTES);
    }
  }

  /** Nothing where there is no such file; without payloads, nothing of bytes that may be anybody's. */
  async *#firstBytes(where: string, name: string, limit: number): AsyncGenerator<readonly [string, Uint8Array]> {
    const entry = this.#byName.get(name);
    if (entry === undefined || entry.type !== 'file') return;
    const bytes = await firstBytesOf(entry, limit);
    if (bytes === null) this.#leftOut.push(`${name}: it could not be read.`);
    else if (!this.#facts.withPayloads && !isOfItsName(name, bytes)) {
      this.#leftOut.push(`${name}: it does not begin as its name says, and may hold anything.`);
    } else yield [`${where}/${name}`, bytes];
    if (limit === SIDECAR_BYTES && entry.size > limit) {
      this.#leftOut.push(`${name} behind its first ${bytesOf(limit)}: it has ${bytesOf(entry.size)}.`);
    }
  }

  async *#damage(): AsyncGenerator<readonly [string, Uint8Array]> {
    let told = 0;
    for (const segment of this.#report.segments) {
      if (segment.damagedBytes === 0 && !this.#isOutOfOrder(segment)) continue;
      for await (const member of this.#damageOf(segment, DAMAGES - told + 1)) {
        if (told === DAMAGES) {
          this.#leftOut.push(`What lies around damages beyond the first ${DAMAGES}.`);
          return;
        }
        told++;
        yield member;
      }
    }
  }

  #isOutOfOrder({ id }: SegmentReport): boolean {
    return this.#report.findings.some(({ kind, site }) => kind === 'OffsetOutOfOrder' && site.segment === id);
  }

  async *#damageOf(segment: SegmentReport, limit: number): AsyncGenerator<readonly [string, Uint8Array]> {
    const entry = this.#byName.get(segment.file);
    if (entry === undefined || segment.version === null) return;
    let source: FileSource | null = null;
    try {
      source = FileSource.open(entry.path, entry.size);
      for (const found of surroundings(source, this.#request(segment, limit))) {
        if (!(await this.#goOn())) return;
        if (found === null) continue;
        yield [
          `damage/${segment.file.replace(/\.log$/, '')}-${found.position}.json`,
          textBytes(renderSurroundings(found)),
        ];
      }
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      this.#leftOut.push(`What lies around the damage of ${segment.file}: ${failure.message}.`);
    } finally {
      source?.close();
    }
  }

  #request({ id, file, version, baseOffset }: SegmentReport, limit: number): SurroundingsRequest {
    const flipped = this.#report.findings.flatMap((finding) =>
      finding.kind === 'RecordHeaderChecksum' && finding.site.segment === id && finding.detail.bitFlip
        ? [finding.site.position ?? -1]
        : [],
    );
    const { nowMicros } = this.#context;
    const { withPayloads } = this.#facts;
    return { file, version: version ?? 4, baseOffset, nowMicros, withPayloads, limit, flipped: new Set(flipped) };
  }
}

/** True when the first bytes are those of the kind of file that the name stands for, or nothing but zeros. */
function isOfItsName(name: string, bytes: Uint8Array): boolean {
  const { kind } = identify(bytes, bytes.length);
  if (kind === 'zeros' || kind === 'empty') return true;
  return kind === (segmentIdOf(name) !== null ? 'segment' : indexIdOf(name) !== null ? 'segment-index' : name);
}

function textBytes(text: string): Uint8Array {
  return Buffer.from(text);
}
