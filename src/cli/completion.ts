/**
 * `completion`: the script that completes this tool's command lines in a shell.
 */

import { fail } from '../domain/result.js';
import { quoted } from '../domain/wording.js';
import { renderCompletion, SHELLS } from '../report/completion.js';
import type { CommandContext } from './context.js';

export async function run(context: CommandContext, [asked = '']: readonly string[]): Promise<number> {
  const shell = SHELLS.find((each) => each === asked);
  if (shell === undefined) {
    return fail({ reason: 'usage', message: `${quoted(asked)}: completion is made for ${SHELLS.join(', ')}` });
  }
  const commands = await Promise.all(
    context.commands.map(async (command) => ({ ...command, words: (await command.words?.()) ?? [] })),
  );
  await context.out.write(renderCompletion(shell, commands));
  return 0;
}
