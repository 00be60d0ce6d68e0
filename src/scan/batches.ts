/**
 * Follows producer batches along the records of a file ("Producer marks").
 *
 * A scan of a part of a file does not know what was open in front of it: its leading run of continuing records is kept
 * apart, and {@link joinBatches} joins two neighbours, or says that only a scan in order can tell.
 */

/** A batch that waits for records, and where it was opened. */
export interface OpenBatch {
  readonly producer: bigint;
  readonly sequence: bigint;
  readonly len: number;
  readonly offset: bigint;
  readonly position: number;
  held: number;
}

/** Continuing records in a row. */
export interface ContinuingRun {
  readonly offset: bigint;
  readonly position: number;
  count: number;
}

export type BatchEvent =
  | { readonly event: 'abandoned'; readonly batch: OpenBatch; readonly order: number }
  | { readonly event: 'orphan'; readonly run: ContinuingRun; readonly order: number };

export interface BatchSummary {
  /** Continuing records in front of anything that tells what they continue. */
  leading: ContinuingRun | null;
  /** What came first behind the leading run. */
  first: 'record' | 'damage' | null;
  readonly events: BatchEvent[];
  /** Events beyond the ones kept. */
  omitted: number;
  /** State at the end. */
  open: OpenBatch | null;
  orphan: ContinuingRun | null;
  /** Damage was met and nothing since tells what a continuing record continues. */
  unknown: boolean;
}

const KEPT_EVENTS = 10_000;

export class BatchTracker {
  readonly summary: BatchSummary = {
    leading: null,
    first: null,
    events: [],
    omitted: 0,
    open: null,
    orphan: null,
    unknown: false,
  };
  /** True while a plain record would change the state: the scan calls {@link plain} only then. */
  attentive = true;

  plain(): void {
    this.#other('record');
    this.attentive = false;
  }

  opens(batch: OpenBatch): void {
    this.#other('record');
    if (batch.len > 1) this.summary.open = batch;
    this.attentive = this.summary.open !== null;
  }

  continues(offset: bigint, position: number): void {
    const s = this.summary;
    this.attentive = true;
    if (s.first === null) {
      if (s.leading === null) s.leading = { offset, position, count: 1 };
      else s.leading.count++;
    } else if (s.open !== null) {
      s.open.held++;
      if (s.open.held >= s.open.len) s.open = null;
    } else if (!s.unknown) {
      if (s.orphan === null) s.orphan = { offset, position, count: 1 };
      else s.orphan.count++;
    }
  }

  damage(): void {
    const s = this.summary;
    if (s.first === null) s.first = 'damage';
    closeOrphan(s);
    s.open = null;
    s.unknown = true;
    this.attentive = true;
  }

  #other(first: 'record'): void {
    const s = this.summary;
    if (s.first === null) s.first = first;
    closeOrphan(s);
    if (s.open !== null) addEvent(s, { event: 'abandoned', batch: s.open, order: s.open.position });
    s.open = null;
    s.unknown = false;
  }
}

function closeOrphan(summary: BatchSummary): void {
  if (summary.orphan !== null) {
    addEvent(summary, { event: 'orphan', run: summary.orphan, order: summary.orphan.position });
  }
  summary.orphan = null;
}

function addEvent(summary: BatchSummary, event: BatchEvent): void {
  if (summary.events.length < KEPT_EVENTS) summary.events.push(event);
  else summary.omitted++;
}

/** A summary of the start of a log, where nothing is open. */
export function noBatches(): BatchSummary {
  return new BatchTracker().summary;
}

/**
 * Appends `next` to `summary`, which is changed. Returns false, with `summary` as it was, when the leading run of `next`
 * goes beyond the batch that it continues: then only a scan in order knows where the surplus begins.
 */
export function joinBatches(summary: BatchSummary, next: BatchSummary): boolean {
  const { leading } = next;
  if (leading !== null && summary.first === null) {
    if (summary.leading === null) summary.leading = { ...leading };
    else summary.leading.count += leading.count;
  } else if (leading !== null && summary.open !== null) {
    const missing = summary.open.len - summary.open.held;
    if (leading.count > missing) return false;
    summary.open.held += leading.count;
    if (leading.count === missing) summary.open = null;
  } else if (leading !== null && !summary.unknown) {
    if (summary.orphan === null) summary.orphan = { ...leading };
    else summary.orphan.count += leading.count;
  }
  if (next.first === null) return true;
  summary.first ??= next.first;
  closeOrphan(summary);
  if (summary.open !== null && next.first === 'record') {
    addEvent(summary, { event: 'abandoned', batch: summary.open, order: summary.open.position });
  }
  for (const event of next.events) addEvent(summary, event);
  summary.omitted += next.omitted;
  summary.open = next.open === null ? null : { ...next.open };
  summary.orphan = next.orphan === null ? null : { ...next.orphan };
  summary.unknown = next.unknown;
  return true;
}
