/**
 * Where the report of `verify` goes: standard output or a file, in the format asked for, and a page beside it.
 *
 * Places are tried before the check begins, so that hours of reading do not end in a wrong path.
 */

import { readIndexPositions, readNeighbourhood } from '../check/neighbourhood.js';
import type { RootReport, ShardReport, Summary } from '../domain/report.js';
import { OutputFile } from '../repair/output-file.js';
import { renderHtml, wantedBy } from '../report/html.js';
import { type VerifyWriter, verifyJsonWriter, verifyLineWriter } from '../report/json.js';
import { verifyPrometheusWriter } from '../report/prometheus.js';
import { verifyTableWriter } from '../report/table.js';
import { type RunReport, WorstShards } from '../report/worst-shards.js';
import type { ColorChoice, CommandContext } from './context.js';
import { colorOf, flag, type Options, settingsOf } from './options.js';

export class VerifyOutput {
  readonly #context: CommandContext;
  readonly #options: Options;
  readonly #writer: VerifyWriter;
  readonly #file: OutputFile | null;
  readonly #page: OutputFile | null;
  readonly #worst = new WorstShards();
  readonly #roots: RootReport[] = [];

  constructor(context: CommandContext, options: Options) {
    this.#context = context;
    this.#options = options;
    this.#writer = writerFor(context, options);
    this.#file = fileOf(options['output']);
    try {
      this.#page = fileOf(options['report']);
    } catch (failure) {
      this.#file?.discard();
      throw failure;
    }
  }

  async shard(report: ShardReport): Promise<void> {
    if (this.#page !== null) this.#worst.add(report);
    await this.#write(this.#writer.shard(report));
  }

  async root(report: RootReport): Promise<void> {
    if (this.#page !== null) this.#roots.push(report);
    await this.#write(this.#writer.root(report));
  }

  async end(summary: Summary, partial: boolean): Promise<void> {
    await this.#write(this.#writer.end(summary, partial));
    this.#file?.commit();
    this.#page?.write(pageOf(this.#worst.report(this.#roots, summary, partial), this.#context, this.#options));
    this.#page?.commit();
  }

  /** After a failure, and harmless after the end: no temporary stays behind. */
  discard(): void {
    this.#file?.discard();
    this.#page?.discard();
  }

  async #write(text: string): Promise<void> {
    if (this.#file === null) await this.#context.out.write(text);
    else this.#file.write(text);
  }
}

function fileOf(path: unknown): OutputFile | null {
  return typeof path === 'string' ? new OutputFile(path) : null;
}

function writerFor(context: CommandContext, options: Options): VerifyWriter {
  switch (options['format'] as 'table' | 'json' | 'ndjson' | 'prometheus') {
    case 'json':
      return verifyJsonWriter(context.tool);
    case 'ndjson':
      return verifyLineWriter(context.tool);
    case 'prometheus':
      return verifyPrometheusWriter({ tool: context.tool, checkedAtMicros: context.nowMicros });
    case 'table':
      return verifyTableWriter(context.style(colorFor(options)), {
        all: flag(options, 'all'),
        quiet: flag(options, 'quiet'),
        settings: settingsOf(options),
      });
  }
}

/** A file is no terminal, whatever standard output is. */
function colorFor(options: Options): ColorChoice {
  const choice = colorOf(options);
  return choice === 'auto' && options['output'] !== undefined ? 'never' : choice;
}

/** The page, with the bytes that it has room for read again. */
function pageOf(report: RunReport, context: CommandContext, options: Options): string {
  const wanted = wantedBy(report);
  const hexdumps = new Map(
    wanted.findings.flatMap(({ finding, checkedBytes }) => {
      const view = readNeighbourhood(finding, checkedBytes);
      return view === null ? [] : [[finding, view] as const];
    }),
  );
  const indexPositions = new Map(
    wanted.segments.map(({ shard, segment }) => [segment, readIndexPositions(shard.path, segment)] as const),
  );
  return renderHtml(report, {
    tool: context.tool,
    settings: settingsOf(options),
    checkedAtMicros: context.nowMicros,
    hexdumps,
    indexPositions,
  });
}
