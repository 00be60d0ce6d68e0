/**
 * What a journal says of itself: which plan, how far it has come, and how each old file can be brought back.
 *
 * The states are the whole protocol. The record is replaced as a whole, durably, at each change of state, and in front of
 * the first change that the new state allows:
 *
 *     preparing ──► applying ──► applied
 *                      │           │
 *                      └► undoing ◄┘ ──► undone
 *
 * - `preparing`: old files are being kept; nothing of the shard has been changed, and the journal may simply be taken away.
 * - `applying`: every old file is kept and durable; each file of a step is as before or as after.
 * - `applied`: every file is as after.
 * - `undoing`: as in `applying`, on the way back.
 * - `undone`: every file is as before.
 */

export const JOURNAL_SCHEMA = 'felix-fsck.journal/1';

export const JOURNAL_STATES = ['preparing', 'applying', 'applied', 'undoing', 'undone'] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

export const NEXT_STATES: { readonly [S in JournalState]: readonly JournalState[] } = {
  preparing: ['applying'],
  applying: ['applied', 'undoing'],
  applied: ['undoing'],
  undoing: ['undone'],
  undone: [],
};

/** Who did it, for the receipt. */
export interface Who {
  readonly uid: number;
  readonly user: string | null;
  readonly host: string;
}

/** An old file in the journal. */
export interface KeptFile {
  readonly file: string;
  readonly size: number;
  readonly crc32: string;
  /** `link`: the very file, under a second name; `copy`: its bytes, where the file system has no links or is another one. */
  readonly how: 'link' | 'copy';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeNs: bigint;
}

export interface JournalRecord {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly state: JournalState;
  /** The shard's directory. */
  readonly shard: string;
  /** SHA-256 of the plan beside this record. */
  readonly plan: string;
  readonly tool: { readonly name: string; readonly version: string };
  readonly who: Who;
  /** ISO times. */
  readonly startedAt: string;
  readonly changedAt: string;
  readonly directoryMtimeNs: bigint;
  readonly kept: readonly KeptFile[];
}
