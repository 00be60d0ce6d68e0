/**
 * Completion scripts for bash, zsh and fish, made from the table of commands.
 *
 * The scripts are static: a shell never starts the tool to complete a word. What is offered is words of the table, or
 * the shell's own files and directories.
 */

import { argumentsOf, type DescribedCommand, type DescribedOption, flagsOf, offeredFor } from './described-command.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A command, and the words that its first argument may be when that is no path. */
export interface CompletedCommand extends DescribedCommand {
  readonly words: readonly string[];
}

export function renderCompletion(shell: Shell, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

type Offer = { readonly words: readonly string[] } | 'directory' | 'path' | 'nothing';

/** What follows an option that takes a value; null for one that takes none. */
function offerOf(option: DescribedOption): Offer | null {
  const { value } = flagsOf(option.flags);
  if (value === null) return null;
  return option.choices === undefined ? offeredFor(value) : { words: option.choices };
}

/** What may stand for the arguments; the first one decides unless a later one is a path. */
function argumentOffer(command: CompletedCommand): Offer {
  if (command.words.length > 0) return { words: command.words };
  const offers = argumentsOf(command.args).map(offeredFor);
  return offers.includes('path') ? 'path' : offers.includes('directory') ? 'directory' : 'nothing';
}

function spellings(option: DescribedOption): readonly string[] {
  const { short, long } = flagsOf(option.flags);
  return short === null ? [long] : [short, long];
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const values = commands.flatMap((command) =>
    command.options.flatMap((option) => {
      const offer = offerOf(option);
      const pattern = spellings(option)
        .map((spelling) => `${command.name}:${spelling}`)
        .join('|');
      return offer === null ? [] : [`    ${pattern}) ${bashOffer(offer)}; return ;;`];
    }),
  );
  const options = commands.map((command) => {
    const words = [...command.options.flatMap(spellings), '--help'].join(' ');
    return `      ${command.name}) _felix_fsck_words '${words}' ;;`;
  });
  const args = commands.map((command) => `    ${command.name}) ${bashOffer(argumentOffer(command))} ;;`);
  return `# Completion of felix-fsck for bash: source it, or put it where bash-completion looks for felix-fsck.
_felix_fsck_words() {
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_felix_fsck_names() {
  local name
  COMPREPLY=()
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$cur")
  compopt -o filenames 2>/dev/null
}

_felix_fsck() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= i
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} != -* ]]; then
      command=\${COMP_WORDS[i]}
      break
    fi
  done
  if [[ -z $command ]]; then
    _felix_fsck_words '${names} help --help --version'
    return
  fi
  case $command:$prev in
${values.join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${options.join('\n')}
    esac
    return
  fi
  case $command in
${args.join('\n')}
    help) _felix_fsck_words '${names}' ;;
  esac
}

complete -F _felix_fsck felix-fsck
`;
}

function bashOffer(offer: Offer): string {
  if (offer === 'nothing') return ':';
  if (offer === 'directory') return '_felix_fsck_names -d';
  return offer === 'path' ? '_felix_fsck_names -f' : `_felix_fsck_words '${offer.words.join(' ')}'`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${zshQuoted(`${name}:${summary}`)}`);
  const cases = commands.map((command) => {
    const lines = [
      ...command.options.map(zshOption),
      zshQuoted('--help[display help]'),
      zshQuoted(`*:${argumentsOf(command.args)[0] ?? 'argument'}:${zshOffer(argumentOffer(command))}`),
    ];
    return `        ${command.name})\n          _arguments -s ${lines.join(' \\\n            ')}\n          ;;`;
  });
  return `#compdef felix-fsck
# Completion of felix-fsck for zsh: source it after compinit, or put it in a directory of fpath as _felix-fsck.
_felix-fsck() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  commands=(
${described.join('\n')}
  )
  _arguments -C '(- :)--help[display help]' '(- :)--version[output the version]' '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${cases.join('\n')}
        help) _describe -t commands command commands ;;
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _felix-fsck ]]; then
  _felix-fsck "$@"
else
  compdef _felix-fsck felix-fsck
fi
`;
}

function zshOption(option: DescribedOption): string {
  const { short, long, value, repeats } = flagsOf(option.flags);
  const offer = offerOf(option);
  const text = `[${option.description.replace(/[[\]\\:]/g, '\\$&')}]`;
  const follows = offer === null ? '' : `:${value ?? ''}:${zshOffer(offer)}`;
  const sign = offer === null ? '' : '=';
  const star = repeats ? '*' : '';
  if (short === null) return zshQuoted(`${star}${long}${sign}${text}${follows}`);
  return `'(${short} ${long})'{${short},${long}}${zshQuoted(`${text}${follows}`)}`;
}

function zshOffer(offer: Offer): string {
  if (offer === 'nothing') return ' ';
  if (offer === 'directory') return '_files -/';
  return offer === 'path' ? '_files' : `(${offer.words.join(' ')})`;
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c felix-fsck -n __fish_use_subcommand -a ${command.name} -d ${fishQuoted(command.summary)}`,
    ...command.options.map((option) => fishOption(command.name, option)),
    ...fishArguments(command),
  ]);
  return `# Completion of felix-fsck for fish: source it, or put it in a completions directory as felix-fsck.fish.
complete -c felix-fsck -f
complete -c felix-fsck -l help -d 'display help'
complete -c felix-fsck -n __fish_use_subcommand -l version -d 'output the version'
complete -c felix-fsck -n __fish_use_subcommand -a help -d 'display help for a command'
complete -c felix-fsck -n '__fish_seen_subcommand_from help' -a ${fishQuoted(commands.map(({ name }) => name).join(' '))}
${lines.join('\n')}
`;
}

function fishOption(command: string, option: DescribedOption): string {
  const { short, long } = flagsOf(option.flags);
  const offer = offerOf(option);
  return [
    `complete -c felix-fsck -n '__fish_seen_subcommand_from ${command}'`,
    ...(short === null ? [] : [`-s ${short.slice(1)}`]),
    `-l ${long.slice(2)}`,
    ...(offer === null ? [] : [fishOffer(offer)]),
    `-d ${fishQuoted(option.description)}`,
  ].join(' ');
}

function fishOffer(offer: Offer): string {
  if (offer === 'nothing') return '-x';
  if (offer === 'directory') return "-x -a '(__fish_complete_directories)'";
  return offer === 'path' ? '-r -F' : `-x -a ${fishQuoted(offer.words.join(' '))}`;
}

function fishArguments(command: CompletedCommand): string[] {
  const offer = argumentOffer(command);
  const condition = `complete -c felix-fsck -n '__fish_seen_subcommand_from ${command.name}'`;
  if (offer === 'nothing') return [];
  if (offer === 'path') return [`${condition} -F`];
  if (offer === 'directory') return [`${condition} -a '(__fish_complete_directories)'`];
  return [`${condition} -a ${fishQuoted(offer.words.join(' '))}`];
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
