/**
 * The commands and their options, as data: the parser, `--help`, the man pages and shell completion all read this table.
 * A command's module is loaded only when it is called.
 */

import { COMPLETION } from './specs/completion.js';
import { EXPLAIN } from './specs/explain.js';
import { INSPECT } from './specs/inspect.js';
import type { CommandSpec } from './specs/shared.js';
import { VERIFY } from './specs/verify.js';

export const COMMANDS: readonly CommandSpec[] = [INSPECT, VERIFY, EXPLAIN, COMPLETION];
