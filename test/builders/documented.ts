/**
 * Command lines of this tool in a text, taken apart far enough to hold them to the table of commands.
 */

import { COMMANDS } from '../../src/cli/command-table.js';
import { flagsOf } from '../../src/report/described-command.js';

/** Words that are said of the tool itself, not of a command. */
const OF_THE_TOOL = new Set(['help', '--help', '--version', '-V', 'COMMAND', '-']);

/** What a line that calls the tool says that does not exist: a command, an option, a choice. Empty when all does. */
export function unknownIn(line: string): string[] {
  return [...line.matchAll(/(?:^|[\s(|;"'[])felix-fsck(?:\.js)? +([^\n|;)]*)/g)].flatMap(([, rest]) =>
    unknownWords(rest ?? ''),
  );
}

function unknownWords(rest: string): string[] {
  const [name = '', ...words] = rest.split(/[\s=]+/);
  if (OF_THE_TOOL.has(name) || name === '') return [];
  const command = COMMANDS.find((each) => each.name === name.replace(/[`',.]+$/, ''));
  if (command === undefined) return [`no command ${name}`];
  const known = command.options.flatMap((option) => {
    const { short, long } = flagsOf(option.flags);
    return short === null ? [long] : [short, long];
  });
  return words
    .filter((word) => /^--?[a-z]/.test(word) && !known.includes(word) && word !== '--help')
    .map((word) => `${name} has no option ${word}`);
}
