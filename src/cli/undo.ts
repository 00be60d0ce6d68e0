/**
 * `undo`: brings the old bytes of a repair back out of its journal.
 */

import { printable } from '../domain/wording.js';
import { refuseFor } from '../repair/apply.js';
import { DurableFs } from '../repair/durable-fs.js';
import { clearNotBegun, undo, undoTask } from '../repair/undo.js';
import { toJsonDocument } from '../report/json.js';
import { confirm, sayNotes, surroundings } from './applying.js';
import type { CommandContext } from './context.js';
import { flag, formatOf, type Options } from './options.js';

export async function run(context: CommandContext, paths: readonly string[], options: Options): Promise<number> {
  const request = { fs: new DurableFs(), around: surroundings() };
  const task = await undoTask(paths[0]!, request);
  const say = (text: string, facts: object) =>
    context.out.write(formatOf(options) === 'table' ? `${text}\n` : toJsonDocument({ schema: UNDO_SCHEMA, ...facts }));
  if (task.is === 'not-begun') {
    clearNotBegun(task, request);
    await say('Nothing had been changed yet; the journal was cleared away.', { undone: false, journal: null });
    return 0;
  }
  if (task.is === 'undone-already') {
    await say(`This repair was taken back at ${printable(task.changedAt ?? 'an unknown time')}; nothing to do.`, {
      undone: false,
      journal: paths[0],
    });
    return 0;
  }
  const { journal, verdict } = task;
  sayNotes(context, verdict.notes);
  refuseFor(verdict);
  await confirm(context, journal.plan.shard.name, flag(options, 'yes'), 'To bring back the old bytes of this shard');
  undo(task, request);
  const files = journal.plan.steps.map(({ file }) => file);
  const { path: shard, name } = journal.plan.shard;
  await say(
    `Taken back: ${files.map(printable).join(', ')} of ${printable(name)} ${files.length === 1 ? 'is' : 'are'} as before.`,
    { undone: true, journal: journal.path, shard, files },
  );
  return 0;
}

const UNDO_SCHEMA = 'felix-fsck.undo/1';
