/**
 * The state of idempotent producers, as replayed from the marks in the log (FACTS, "Producer state, as replayed from
 * marks"; format page, "producers: the producer snapshot").
 *
 * A replay that begins above offset 0 knows nothing of what lies below: {@link leading} counts the records that continue
 * something from there, and a window holds only the batches that begin where the replay did or later.
 */

import { MAX_BATCHES, MAX_PRODUCERS, type OpenBatch, type ProducerBatch } from '../format/producers.js';
import type { RecordTag } from '../format/record.js';

export interface ReplayedProducer {
  readonly lastSequence: bigint;
  /** Oldest first, at most 64. */
  readonly batches: readonly ProducerBatch[];
  /** The sequence jumped, so that nothing from in front of these batches is in the window. */
  readonly emptied: boolean;
}

interface Window {
  lastSequence: bigint;
  readonly batches: ProducerBatch[];
  emptied: boolean;
}

interface Waiting {
  readonly tag: RecordTag;
  readonly first: bigint;
  held: number;
}

export class ProducerReplay {
  /** Ordered by the newest batch, oldest first. */
  readonly #windows = new Map<bigint, Window>();
  #open: Waiting | null = null;
  #leads = true;
  /** Continuing records in front of every other record. */
  leading = 0;

  get producers(): ReadonlyMap<bigint, ReplayedProducer> {
    return this.#windows;
  }

  get open(): OpenBatch | null {
    if (this.#open === null) return null;
    const { tag, first, held } = this.#open;
    return { ...tag, first, held };
  }

  /** Nothing but continuing records has been met. */
  get onlyLeading(): boolean {
    return this.#leads;
  }

  /** A record that opens a batch. */
  opens(tag: RecordTag, first: bigint): void {
    this.#leads = false;
    this.#open = { tag, first, held: 1 };
    this.#completeWhenHeld();
  }

  /** A record that continues the one before it. */
  continues(): void {
    if (this.#leads) this.leading++;
    if (this.#open === null) return;
    this.#open.held++;
    this.#completeWhenHeld();
  }

  /** Any other record. */
  other(): void {
    this.#leads = false;
    this.#open = null;
  }

  #completeWhenHeld(): void {
    const open = this.#open;
    if (open === null || open.held < open.tag.len) return;
    this.#open = null;
    const { producerId, sequence, len } = open.tag;
    const window = this.#windows.get(producerId) ?? { lastSequence: sequence - 1n, batches: [], emptied: false };
    if (sequence !== window.lastSequence + 1n) {
      window.batches.length = 0;
      window.emptied = true;
    }
    window.lastSequence = sequence;
    window.batches.push({ first: open.first, len });
    if (window.batches.length > MAX_BATCHES) window.batches.shift();
    this.#windows.delete(producerId);
    this.#windows.set(producerId, window);
    if (this.#windows.size > MAX_PRODUCERS) {
      const [oldest] = this.#windows.keys();
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
  }
}
