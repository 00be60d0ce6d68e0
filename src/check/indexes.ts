/**
 * What is wrong with the indexes of a shard, on their own and against the records ("Index file").
 *
 * An index is derived and never trusted, yet a broker believes the last entry of a sealed one: an entry that points
 * elsewhere can make the open fail, and rebuilding the index is the cure.
 */

import type { Finding, FindingDetails, Severity } from '../domain/finding.js';
import { hex16 } from '../format/checksum.js';
import { INDEX_ENTRY_LEN, INDEX_HEADER_LEN } from '../format/index.js';
import type { IndexScan } from '../scan/index-scan.js';
import { resumeEntry } from '../scan/segment-file.js';
import { sealedOutcome } from './broker.js';
import { makeFinding, type Subject } from './make-finding.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** Findings of every index that is judged: not of a segment without a readable header, nor of one that recovery deletes. */
export function checkIndexes(facts: ShardFacts, subject: Subject): Finding[] {
  const findings: Finding[] = [];
  for (const [i, segment] of facts.segments.entries()) {
    if (segment.role !== 'sealed' && segment.role !== 'newest') continue;
    if (segment.scan?.head.header == null) continue;
    findings.push(...new IndexCheck(facts, subject, segment, facts.segments[i + 1] ?? null).run());
  }
  return findings;
}

class IndexCheck {
  readonly #facts: ShardFacts;
  readonly #subject: Subject;
  readonly #segment: SegmentFacts;
  readonly #next: SegmentFacts | null;

  constructor(facts: ShardFacts, subject: Subject, segment: SegmentFacts, next: SegmentFacts | null) {
    this.#facts = facts;
    this.#subject = subject;
    this.#segment = segment;
    this.#next = next;
  }

  run(): Finding[] {
    const { head } = this.#segment.scan!;
    if (this.#segment.indexSize === null) return [this.#finding('IndexMissing', 'warning', undefined, {})];
    if (head.indexProblem !== null) {
      const { code, message, position } = head.indexProblem;
      if (code === 'SHRANK' || code === 'ENOENT') {
        const change = code === 'SHRANK' ? 'shrank' : 'vanished';
        return [this.#finding('ChangedWhileReading', 'info', undefined, { change, judgedBytes: position })];
      }
      return [this.#finding('Unreadable', 'error', position, { reason: message, code })];
    }
    return head.index === null ? [] : this.#loaded(head.index);
  }

  #loaded(index: IndexScan): Finding[] {
    if (index.headerDamage !== null) {
      const { kind, ...fields } = index.headerDamage;
      return [this.#finding(kind, 'warning', 0, fields as FindingDetails[typeof kind])];
    }
    const findings: Finding[] = [];
    const header = index.header!;
    if (header.flags !== 0) findings.push(this.#finding('IndexFlags', 'warning', 6, { found: hex16(header.flags) }));
    const { baseOffset } = this.#segment.scan!.head.header!;
    if (header.baseOffset !== baseOffset) {
      const detail = { expected: baseOffset, found: header.baseOffset };
      return [...findings, this.#finding('IndexBaseOffset', 'warning', 8, detail)];
    }
    findings.push(...this.#entries(index));
    if (index.tornBytes > 0) {
      const position = INDEX_HEADER_LEN + index.entries * INDEX_ENTRY_LEN;
      findings.push(this.#finding('IndexTornEntry', 'info', position, { bytes: index.tornBytes }));
    }
    return findings;
  }

  #entries(index: IndexScan): Finding[] {
    const records = this.#segment.scan!.records;
    const dropped = index.dropped.map((entry) => ({ ...entry, dropped: true }));
    const wrong = (records?.entryMismatches ?? []).map((entry) => ({ ...entry, dropped: false }));
    const all = [...dropped, ...wrong].sort((a, b) => a.entry - b.entry);
    return all.map(({ entry, offset, position, why, dropped }) =>
      this.#finding(
        'IndexEntry',
        dropped ? 'warning' : this.#severity(entry),
        INDEX_HEADER_LEN + entry * INDEX_ENTRY_LEN,
        {
          entry,
          offset,
          entryPosition: position,
          why,
          dropped,
        },
      ),
    );
  }

  #severity(entry: number): Severity {
    if (this.#segment.role === 'newest' || this.#facts.settings.verifyAllOnOpen) return 'warning';
    if (resumeEntry(this.#segment.scan!.head)?.entry !== entry) return 'error';
    const outcome = sealedOutcome(this.#segment, this.#facts.settings);
    if (outcome.is === 'fails') return 'fatal';
    const nextBase = this.#next?.scan?.head.header?.baseOffset ?? null;
    return outcome.is === 'whole' && nextBase !== null && nextBase !== outcome.nextOffset ? 'fatal' : 'error';
  }

  #finding<K extends keyof FindingDetails>(
    kind: K,
    severity: Severity,
    position: number | undefined,
    detail: FindingDetails[K],
  ): Finding {
    return makeFinding(this.#subject, {
      kind,
      severity,
      file: this.#segment.indexFile,
      segment: this.#segment.id,
      ...(position === undefined ? {} : { position }),
      detail,
    });
  }
}
