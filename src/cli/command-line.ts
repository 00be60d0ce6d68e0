/**
 * Finds the command, loads it, and turns failures and bugs into one sentence and an exit code.
 *
 * Nothing here knows what a command does. Findings never pass through as errors: only a run that cannot do its job does.
 */

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { failureIn } from '../domain/result.js';
import { printable } from '../domain/wording.js';
import { verifyChecksums } from '../format/checksum.js';
import { COMMANDS } from './command-table.js';
import { type CommandContext, Output, type Streams } from './context.js';
import type { CommandSpec, OptionSpec } from './specs/shared.js';
import { styleFor } from './terminal.js';
import { TOOL } from './version.js';

/** Runs one command line; returns the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<number> {
  const out = new Output(streams.stdout);
  const signals = listenForSignals();
  const say = (text: string) => streams.stderr.write(`${text}\n`);
  try {
    let exitCode = 0;
    const program = buildProgram(streams, out, async (spec, paths, options) => {
      const broken = verifyChecksums();
      if (broken !== null) throw new Error(`the ${broken} of this machine gives a wrong checksum`);
      const command = await spec.load();
      exitCode = await command.run(contextOf(args, out, streams, signals), paths, options);
    });
    if (args.length === 0) {
      program.outputHelp();
      return 2;
    }
    await program.parseAsync(args, { from: 'user' });
    await out.flush();
    return out.failure === null ? exitCode : explained(out.failure, say);
  } catch (error) {
    await out.flush();
    return explained(out.failure ?? error, say);
  } finally {
    signals.stop();
  }
}

/** One sentence for the operator, and the exit code. */
function explained(error: unknown, say: (text: string) => void): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : 2;
  }
  const failure = failureIn(error);
  if (failure !== null) {
    say(`felix-fsck: ${failure.message.split('\n').map(printable).join('\n')}`);
    return { usage: 2, refused: 31, unreadable: 30, 'part-way': 33 }[failure.reason];
  }
  say('felix-fsck: this is a bug in the tool, and says nothing about the data. Please report it with the lines below.');
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

type Action = (spec: CommandSpec, paths: readonly string[], options: Record<string, unknown>) => Promise<void>;

function buildProgram(streams: Streams, out: Output, action: Action): Command {
  const program = new Command('felix-fsck')
    .description('Offline check and repair of the durable log of Felix. Looking never writes.')
    .version(`${TOOL.name} ${TOOL.version}`, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void out.write(text).catch(() => {}),
      writeErr: (text) => void streams.stderr.write(text),
    })
    .showSuggestionAfterError(true)
    .showHelpAfterError('(felix-fsck --help lists the commands)')
    .helpCommand('help [command]', 'display help for a command');
  for (const spec of COMMANDS) {
    const command = buildCommand(spec, action).copyInheritedSettings(program);
    program.addCommand(command.showHelpAfterError(`(felix-fsck ${spec.name} --help tells more)`));
  }
  return program;
}

function buildCommand(spec: CommandSpec, action: Action): Command {
  const command = new Command(spec.name).summary(spec.summary).description(spec.description).exitOverride();
  if (spec.args !== '') command.arguments(spec.args);
  for (const option of spec.options) command.addOption(buildOption(option));
  if (spec.examples.length > 0) {
    const lines = spec.examples.map(({ command: line, shows }) => `  ${line}\n      ${shows}`);
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
  command.action(async (...given: unknown[]) => {
    const paths = given
      .slice(0, -2)
      .flat()
      .filter((value): value is string => typeof value === 'string');
    await action(spec, paths, command.opts());
  });
  return command;
}

function buildOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices) option.choices([...spec.choices]);
  if (spec.default !== undefined) option.default(spec.default);
  if (spec.value === 'count' || spec.value === 'position') option.argParser(wholeNumber);
  if (spec.value === 'offset') option.argParser(offsetNumber);
  if (spec.value === 'list') {
    option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}

function wholeNumber(value: string): number {
  const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('It is a whole number.');
  return number;
}

function offsetNumber(value: string): bigint {
  if (!/^[0-9]{1,20}$/.test(value)) throw new InvalidArgumentError('It is an offset: a whole number of up to 64 bits.');
  const offset = BigInt(value);
  if (offset > 0xffff_ffff_ffff_ffffn) throw new InvalidArgumentError('It has more than 64 bits.');
  return offset;
}

interface Signals {
  readonly signal: AbortSignal;
  code(): number | null;
  stop(): void;
}

/** The first signal asks the command to stop; the second is the system's to handle. */
function listenForSignals(): Signals {
  const controller = new AbortController();
  let code: number | null = null;
  const on = (number: number) => () => {
    code = number;
    controller.abort();
    stop();
  };
  const listeners = { SIGINT: on(130), SIGTERM: on(143) } as const;
  const stop = () => {
    process.removeListener('SIGINT', listeners.SIGINT);
    process.removeListener('SIGTERM', listeners.SIGTERM);
  };
  process.on('SIGINT', listeners.SIGINT);
  process.on('SIGTERM', listeners.SIGTERM);
  return { signal: controller.signal, code: () => code, stop };
}

function contextOf(args: readonly string[], out: Output, streams: Streams, signals: Signals): CommandContext {
  return {
    args,
    out,
    streams,
    signal: signals.signal,
    signalCode: () => signals.code(),
    tool: TOOL,
    nowMicros: BigInt(Date.now()) * 1000n,
    commands: COMMANDS,
    style: (color) => styleFor(streams.stdout, color, process.env),
  };
}
