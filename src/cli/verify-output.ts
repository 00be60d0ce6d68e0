/**
 * Where the report of `verify` goes: standard output or a file, in the format asked for, and a page beside it.
 *
 * Places are tried before the check begins, so that hours of reading do not end in a wrong path.
 */

import type { RootReport, ShardReport, Summary } from '../domain/report.js';
import type { OutputFile } from '../repair/output-file.js';
import { type VerifyWriter, verifyJsonWriter, verifyLineWriter } from '../report/json.js';
import { WorstShards } from '../report/worst-shards.js';
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

  private constructor(
    context: CommandContext,
    options: Options,
    writer: VerifyWriter,
    file: OutputFile | null,
    page: OutputFile | null,
  ) {
    this.#context = context;
    this.#options = options;
    this.#writer = writer;
    this.#file = file;
    this.#page = page;
  }

  static async open(context: CommandContext, options: Options): Promise<VerifyOutput> {
    const writer = await writerFor(context, options);
    const file = await fileOf(options['output']);
    try {
      return new VerifyOutput(context, options, writer, file, await fileOf(options['report']));
    } catch (failure) {
      file?.discard();
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
    if (this.#page === null) return;
    const { pageOf } = await import('./verify-page.js');
    this.#page.write(pageOf(this.#worst.report(this.#roots, summary, partial), this.#context, this.#options));
    this.#page.commit();
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

async function fileOf(path: unknown): Promise<OutputFile | null> {
  if (typeof path !== 'string') return null;
  const { OutputFile } = await import('../repair/output-file.js');
  return new OutputFile(path);
}

async function writerFor(context: CommandContext, options: Options): Promise<VerifyWriter> {
  switch (options['format'] as 'table' | 'json' | 'ndjson' | 'prometheus') {
    case 'json':
      return verifyJsonWriter(context.tool);
    case 'ndjson':
      return verifyLineWriter(context.tool);
    case 'prometheus': {
      const { verifyPrometheusWriter } = await import('../report/prometheus.js');
      return verifyPrometheusWriter({ tool: context.tool, checkedAtMicros: context.nowMicros });
    }
    case 'table': {
      const { verifyTableWriter } = await import('../report/table.js');
      return verifyTableWriter(context.style(colorFor(options)), {
        all: flag(options, 'all'),
        quiet: flag(options, 'quiet'),
        settings: settingsOf(options),
      });
    }
  }
}

/** A file is no terminal, whatever standard output is. */
function colorFor(options: Options): ColorChoice {
  const choice = colorOf(options);
  return choice === 'auto' && options['output'] !== undefined ? 'never' : choice;
}
