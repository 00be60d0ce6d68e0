import type { CommandSpec } from './shared.js';

export const COMPLETION: CommandSpec = {
  name: 'completion',
  args: '<shell>',
  summary: 'a script that completes command lines in bash, zsh or fish',
  description:
    'Prints a script for the shell: bash, zsh or fish. It is static: completing a word never starts felix-fsck. In bash ' +
    'and zsh, source it; for fish, write it to ~/.config/fish/completions/felix-fsck.fish.',
  options: [],
  examples: [
    { command: 'source <(felix-fsck completion bash)', shows: 'completion in this bash, now' },
    { command: 'felix-fsck completion zsh', shows: 'the script for zsh' },
  ],
  words: async () => (await import('../../report/completion.js')).SHELLS,
  load: () => import('../completion.js'),
};
