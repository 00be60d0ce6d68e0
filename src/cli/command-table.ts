/**
 * The commands and their options, as data: the parser, `--help`, the man pages and shell completion all read this table.
 * A command's module is loaded only when it is called.
 */

import { COMPLETION } from './specs/completion.js';
import { DUMP_RECORDS } from './specs/dump-records.js';
import { EXPLAIN } from './specs/explain.js';
import { HEXDUMP } from './specs/hexdump.js';
import { INSPECT } from './specs/inspect.js';
import { SCHEMA } from './specs/schema.js';
import type { CommandSpec } from './specs/shared.js';
import { VERIFY } from './specs/verify.js';

export const COMMANDS: readonly CommandSpec[] = [INSPECT, VERIFY, HEXDUMP, DUMP_RECORDS, EXPLAIN, COMPLETION, SCHEMA];
