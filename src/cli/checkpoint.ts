/**
 * `--since-checkpoint`: what earlier runs of `verify` found clean is passed over, and what this one did is remembered.
 */

import type { MemoryOptions } from '../check/memory.js';
import { fail } from '../domain/result.js';
import { counted } from '../domain/wording.js';
import { Checkpoint } from '../repair/checkpoint-file.js';
import type { CommandContext } from './context.js';
import { flag, type Options } from './options.js';

const DAY_MICROS = 86_400_000_000n;

export class CheckpointRun {
  readonly memory: MemoryOptions;
  readonly #checkpoint: Checkpoint;
  readonly #context: CommandContext;
  /** Bytes that need not be read. */
  passedOver = 0;

  private constructor(context: CommandContext, checkpoint: Checkpoint, recheckAfterMicros: bigint) {
    this.#context = context;
    this.#checkpoint = checkpoint;
    const passOver = (bytes: number) => {
      this.passedOver += bytes;
    };
    this.memory = { remembered: checkpoint, recheckAfterMicros, passOver };
  }

  /** Null without the option. Throws a failure when the file may not be used. */
  static async begin(
    context: CommandContext,
    paths: readonly string[],
    options: Options,
  ): Promise<CheckpointRun | null> {
    const file = options['sinceCheckpoint'];
    if (typeof file !== 'string') return null;
    if (flag(options, 'quick')) {
      fail({ reason: 'usage', message: '--since-checkpoint remembers what was read whole, which --quick does not do' });
    }
    const recheckAfterMicros = BigInt(options['recheckAfter'] as number) * DAY_MICROS;
    const { tool, nowMicros } = context;
    const checkpoint = await Checkpoint.open(file, { tool, nowMicros, recheckAfterMicros, checked: paths });
    const run = new CheckpointRun(context, checkpoint, recheckAfterMicros);
    if (checkpoint.note !== null) run.#say(checkpoint.note);
    return run;
  }

  commit(): void {
    const leftOut = this.#checkpoint.commit();
    if (leftOut > 0) this.#say(`the checkpoint is full: ${counted(leftOut, 'segment')} will be read again next time`);
  }

  discard(): void {
    this.#checkpoint.discard();
  }

  #say(note: string): void {
    this.#context.streams.stderr.write(`felix-fsck: ${note}\n`);
  }
}
