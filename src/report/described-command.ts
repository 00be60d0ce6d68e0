/**
 * A command as its table describes it, in the parts that man pages and shell completion are made of.
 *
 * Flags are spelled as the parser takes them: `-q, --quiet`, `--format <format>`, `--from <dir...>`.
 */

export interface DescribedOption {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string | number | boolean;
}

export interface DescribedCommand {
  readonly name: string;
  readonly args: string;
  readonly summary: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
  readonly examples: readonly { readonly command: string; readonly shows: string }[];
}

/** What is typed: `--format`, and what has to follow it. */
export interface Flags {
  readonly short: string | null;
  readonly long: string;
  /** The value's name, without brackets; null when none may follow. */
  readonly value: string | null;
  /** The value may be left out. */
  readonly optional: boolean;
  readonly repeats: boolean;
}

export function flagsOf(flags: string): Flags {
  const match = /^(?:(-[A-Za-z]), )?(--[a-z][a-z-]*)(?: ([<[])([^>\]]+?)(\.\.\.)?[>\]])?$/.exec(flags);
  if (match === null) throw new Error(`broken assumption: flags are spelled as the parser takes them, not ${flags}`);
  const [, short = null, long, bracket, value = null, dots] = match;
  return { short, long: long!, value, optional: bracket === '[', repeats: dots !== undefined };
}

/** What a shell may offer for a value or an argument of this name. */
export function offeredFor(name: string): 'directory' | 'path' | 'nothing' {
  if (/^(?:dir|directory|shard|replica|root|objects)\b/.test(name)) return 'directory';
  return /^(?:path|file|plan|journal|output|key-file)\b/.test(name) ? 'path' : 'nothing';
}

/** The names of the arguments, in order: `shard`, `offset`. */
export function argumentsOf(args: string): readonly string[] {
  return [...args.matchAll(/[<[]([^>\].]+)/g)].map(([, name]) => name!);
}
