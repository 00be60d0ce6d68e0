/**
 * Stands in for `node:child_process` in the bundle: the parser of command lines loads it for subcommands that are programs
 * of their own, of which this tool has none, and loading the real one costs a tenth of a start.
 */

export function spawn(): never {
  throw new Error('broken assumption: no command is a program of its own');
}
