/**
 * A repair as data: what every file was, what each one becomes, and what goes with it.
 *
 * A plan is made by a pure planner out of what was read, shown, written to a file, and carried out by `apply`, which sees
 * nothing else. It changes files of one shard directory. There are only two ways to change a file: it gets new content
 * (a temporary, synced and renamed into place) or it goes away. A cut is new content that happens to be the first bytes of
 * the old. No file is named by two steps, so that at any instant a file is as before or as after, and nothing in between.
 */

import type { FindingKind } from './finding.js';
import type { BrokerSettings, RepairAction, Verdict } from './report.js';
import type { ByteRange, OffsetRange } from './units.js';

export const PLAN_SCHEMA = 'felix-fsck.plan/1';

/** What a file holds, as far as it can be told again: its size and the CRC-32 of all of it, as `0x` and eight digits. */
export interface FileState {
  readonly size: number;
  readonly crc32: string;
}

/** A file that the plan rests on. `apply` refuses when it holds anything else, or when a file of the format is added. */
export interface PlanFile extends FileState {
  /** Name in the shard's directory. */
  readonly file: string;
  readonly mtimeNs: bigint;
}

/** What is done, in a word for people; how it is done is the same for all but `delete`. */
export type StepAction =
  /** The end of a segment goes. */
  | 'cut'
  | 'delete'
  /** A file that is not there is made. */
  | 'create'
  /** A file gets other content. */
  | 'rewrite'
  | 'rebuild-index';

/** A part of a file's new content, in order. */
export type ContentPart =
  /** Bytes of the file as it was before the step. */
  | { readonly from: 'itself'; readonly start: number; readonly end: number }
  /** Bytes that the plan holds. */
  | { readonly from: 'plan'; readonly base64: string }
  /** Bytes of a file outside the shard, such as a replica's segment; `path` is absolute, `crc32` that of these bytes. */
  | {
      readonly from: 'file';
      readonly path: string;
      readonly start: number;
      readonly end: number;
      readonly crc32: string;
    }
  /** The index that a writer makes of a segment of the shard, as that stands when the step is reached, up to `end`. */
  | { readonly from: 'records'; readonly segment: string; readonly end: number; readonly spacing: number };

/** The finding that a step answers. */
export interface AnsweredFinding {
  readonly kind: FindingKind;
  readonly file: string | null;
  readonly position: number | null;
}

export interface PlanStep {
  readonly action: StepAction;
  /** Name in the shard's directory: of a segment, an index or a known small file. */
  readonly file: string;
  /** Null when the file is not there. */
  readonly before: FileState | null;
  /** Null when the file goes. */
  readonly after: FileState | null;
  /** Empty when the file goes, or becomes empty. */
  readonly content: readonly ContentPart[];
  /** Bytes of the file as it was that go or change. */
  readonly ranges: readonly ByteRange[];
  /** One sentence. */
  readonly why: string;
  readonly answers: readonly AnsweredFinding[];
}

/** An entry of `offload.manifest` that goes with a cut. */
export interface LostManifestEntry {
  readonly segmentId: bigint;
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly key: string;
}

/** What is gone after the plan, as far as it can be counted. */
export interface PlanLoss {
  /** Bytes of segments that go. */
  readonly bytes: number;
  /** Intact records and places of damage that held one. */
  readonly records: number;
  readonly intactRecords: number;
  /** Records under the commit offset; a plan that has any is never made. */
  readonly committedRecords: number;
  /** From the first offset that goes to one past the last that is known of; null when no offset goes. */
  readonly offsets: OffsetRange | null;
  /** Publish times of the intact records that go. */
  readonly fromTimestampMicros: bigint | null;
  readonly toTimestampMicros: bigint | null;
  readonly manifestEntries: readonly LostManifestEntry[];
  readonly epochs: readonly { readonly generation: bigint; readonly startOffset: bigint }[];
}

/** What a broker does on opening the shard, in short. */
export interface PlanPrediction {
  readonly verdict: Verdict;
  readonly refusals: readonly {
    readonly kind: FindingKind;
    readonly segment: bigint | null;
    readonly position: number | null;
  }[];
  readonly repairs: readonly { readonly action: RepairAction; readonly file: string }[];
  /** The next offset once the shard is open; null when it does not open or cannot be told. */
  readonly tailOffset: bigint | null;
  /** Places that an open does not meet and a read does. */
  readonly failingReads: number;
}

export interface Plan {
  readonly schema: typeof PLAN_SCHEMA;
  readonly tool: { readonly name: string; readonly version: string };
  readonly createdAtMicros: bigint;
  /** The command that made it: `repair-tail`, `rebuild-index`, `heal`. */
  readonly command: string;
  readonly shard: {
    /** Absolute, with no link in it. */
    readonly path: string;
    readonly name: string;
    readonly key: string | null;
  };
  /** The broker that `before` speaks of; `after` is that of one that cuts no more than it must. */
  readonly settings: BrokerSettings;
  /** Every file of the format in the directory, by name. */
  readonly files: readonly PlanFile[];
  /** In the order in which they are done, each one durable before the next. */
  readonly steps: readonly PlanStep[];
  readonly loses: PlanLoss;
  readonly before: PlanPrediction;
  readonly after: PlanPrediction;
  /** What the reader should know beside it, a sentence each. */
  readonly notes: readonly string[];
}

export const NO_LOSS: PlanLoss = {
  bytes: 0,
  records: 0,
  intactRecords: 0,
  committedRecords: 0,
  offsets: null,
  fromTimestampMicros: null,
  toTimestampMicros: null,
  manifestEntries: [],
  epochs: [],
};
