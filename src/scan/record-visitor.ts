/**
 * What a scan shows of the records it passes, to whoever wants more of them than their count.
 *
 * The scan calls as it goes, in the order of positions; whatever it hands out is valid during the call alone. A visitor
 * that has seen enough leaves the rest to its driver, which stops the scan at the next step.
 */

import type { Damage } from './range-scan.js';
import type { Window } from './window.js';

export interface RecordVisitor {
  /** An intact record that lies whole at `[at, end)` of the window; `kind` is the top three bits of its length word. */
  record(window: Window, at: number, kind: number, end: number): void;
  /**
   * An intact record longer than the window, at `[position, end)` of the file; `head` holds its header, and its tag if it
   * has one. The scan yields before it goes on, so that the payload can be read meanwhile.
   */
  longRecord(head: DataView, position: number, end: number): void;
  /** Damage; of an offset out of order the record itself follows. */
  damage(damage: Damage): void;
}
