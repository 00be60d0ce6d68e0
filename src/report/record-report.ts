/**
 * What a report of records is, whatever its format: it takes rows as they come, and what it made of them is taken away
 * from time to time, so that neither has to be held.
 */

import type { DumpSummary, RecordSink } from '../domain/record-view.js';
import type { ByteWriter } from './byte-writer.js';

export interface RecordReport extends RecordSink {
  /** Holds what is to be written; the caller clears it once that has gone out. */
  readonly out: ByteWriter;
  /** In front of the first row. */
  start(): void;
  /** Behind the last one. `partial` when it was interrupted. */
  finish(summary: DumpSummary, partial: boolean): void;
}
