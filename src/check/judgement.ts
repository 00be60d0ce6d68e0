/**
 * What a relation's check comes to: findings, what could not be judged, and how many findings more there were.
 *
 * The findings of one kind in one file are bounded, so that a file full of contradictions does not become memory; the
 * rest is counted.
 */

import type { Finding, FindingKind } from '../domain/finding.js';
import { ReadFailure } from '../store/byte-source.js';
import { type Draft, makeFinding, type Subject } from './make-finding.js';
import type { SidecarFile } from './shard-facts.js';

export interface Omission {
  readonly file: string;
  readonly kind: FindingKind;
  readonly count: number;
}

export interface Judgement {
  readonly findings: Finding[];
  /** What could not be judged and why, each in one sentence. */
  readonly notChecked: string[];
  /** Findings beyond the ones kept. */
  readonly omitted: Omission[];
}

/** How many findings of one kind in one file are kept. */
const KEPT_FINDINGS = 2_000;

/** Collects the judgement of one check. */
export class Judge {
  readonly #subject: Subject;
  readonly #findings: Finding[] = [];
  readonly #notChecked = new Set<string>();
  readonly #kept = new Map<string, number>();
  readonly #omitted = new Map<string, Omission>();

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  report<K extends FindingKind>(draft: Draft<K>): void {
    const file = draft.file ?? '';
    if (!this.hasRoom(file, draft.kind)) {
      this.omit(file, draft.kind, 1);
      return;
    }
    const place = `${draft.kind} ${file}`;
    this.#kept.set(place, (this.#kept.get(place) ?? 0) + 1);
    this.#findings.push(makeFinding(this.#subject, draft));
  }

  /** False when one more finding of this kind in this file would only be counted. */
  hasRoom(file: string, kind: FindingKind): boolean {
    return (this.#kept.get(`${kind} ${file}`) ?? 0) < KEPT_FINDINGS;
  }

  /** Counts findings that are known to be there and were not kept. */
  omit(file: string, kind: FindingKind, count: number): void {
    if (count === 0) return;
    const place = `${kind} ${file}`;
    this.#omitted.set(place, { file, kind, count: (this.#omitted.get(place)?.count ?? 0) + count });
  }

  /** Says what is not judged; the same sentence counts once. */
  skip(sentence: string): void {
    this.#notChecked.add(sentence);
  }

  /**
   * The content of a small file, or null when there is none to judge; of a file that is there and has none, says that
   * `what` is not judged.
   */
  contentOf<T>(sidecar: SidecarFile<T> | null, what: string): T | null {
    if (sidecar === null) return null;
    const value = sidecar.reading?.value ?? null;
    if (value === null) {
      const state = sidecar.reading === null ? 'could not be read' : 'was not decoded';
      this.skip(`${sidecar.file} ${state}, so ${what}.`);
    }
    return value;
  }

  /** A read failed after the file had been read once: says so, and that `what` is not judged. */
  readFailed(file: string, failure: unknown, what: string): void {
    if (!(failure instanceof ReadFailure)) throw failure;
    this.skip(`${file} could not be read again (${failure.code}), so ${what}.`);
    if (failure.code === 'SHRANK') return;
    this.report({
      kind: 'Unreadable',
      severity: 'error',
      file,
      position: failure.position,
      detail: { reason: failure.message, code: failure.code },
    });
  }

  get judgement(): Judgement {
    return {
      findings: this.#findings,
      notChecked: [...this.#notChecked],
      omitted: [...this.#omitted.values()],
    };
  }
}
