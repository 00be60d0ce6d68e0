/**
 * The commands and their options, as data: the parser, `--help`, the man pages and shell completion all read this table.
 * A command's module is loaded only when it is called.
 */

import { APPLY_PLAN } from './specs/apply.js';
import { COMPLETION } from './specs/completion.js';
import { DECODE_MANIFEST } from './specs/decode-manifest.js';
import { DIFF_EPOCHS } from './specs/diff-epochs.js';
import { DUMP_RECORDS } from './specs/dump-records.js';
import { EVIDENCE } from './specs/evidence.js';
import { EXPLAIN } from './specs/explain.js';
import { HEAL } from './specs/heal.js';
import { HEXDUMP } from './specs/hexdump.js';
import { INSPECT } from './specs/inspect.js';
import { LOCATE } from './specs/locate.js';
import { REBUILD_INDEX } from './specs/rebuild-index.js';
import { REPAIR_TAIL } from './specs/repair-tail.js';
import { SALVAGE } from './specs/salvage.js';
import { SCHEMA } from './specs/schema.js';
import type { CommandSpec } from './specs/shared.js';
import { UNDO } from './specs/undo.js';
import { VERIFY } from './specs/verify.js';

export const COMMANDS: readonly CommandSpec[] = [
  INSPECT,
  VERIFY,
  HEXDUMP,
  DECODE_MANIFEST,
  DIFF_EPOCHS,
  DUMP_RECORDS,
  LOCATE,
  REBUILD_INDEX,
  REPAIR_TAIL,
  SALVAGE,
  HEAL,
  APPLY_PLAN,
  UNDO,
  EVIDENCE,
  EXPLAIN,
  COMPLETION,
  SCHEMA,
];
