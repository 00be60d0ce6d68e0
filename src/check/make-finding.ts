/**
 * Making findings: the check says what is true, the catalogue says it in words.
 */

import type { FindingContext } from '../domain/catalogue-row.js';
import type { Finding, FindingDetails, FindingKind, Severity, Site } from '../domain/finding.js';
import { SENTENCES } from '../domain/finding-sentences.js';
import { NEXT_STEPS, type NextStep } from '../domain/next-steps.js';
import type { Sentences } from '../domain/sentences.js';
import { shellPath } from '../domain/shell-words.js';
import type { ByteRange, OffsetRange } from '../domain/units.js';

/** What a check knows of a finding; the rest has a neutral default. */
export interface Draft<K extends FindingKind> {
  readonly kind: K;
  readonly severity: Severity;
  readonly detail: FindingDetails[K];
  readonly file: string | null;
  readonly segment?: bigint;
  readonly position?: number;
  readonly lostOffsets?: OffsetRange | null;
  readonly damagedRange?: ByteRange | null;
  readonly looksLike?: string | null;
  /** What the proposal for the next step needs to know. */
  readonly context?: Partial<
    Pick<FindingContext, 'newest' | 'cutAtOpen' | 'cutWithOptIn' | 'intactAfter' | 'objectKey' | 'likeness'>
  >;
}

/** The shard or root that findings are about. */
export interface Subject {
  readonly label: string;
  /** Directory as given or found. */
  readonly path: string;
  readonly replicas?: readonly string[];
}

/** Completes a draft: site, path, sentence and next step. */
export function makeFinding<K extends FindingKind>(subject: Subject, draft: Draft<K>): Finding {
  const site: Site = {
    shard: subject.label,
    ...(draft.segment === undefined ? {} : { segment: draft.segment }),
    ...(draft.position === undefined ? {} : { position: draft.position }),
  };
  const context: FindingContext = {
    severity: draft.severity,
    site,
    file: draft.file,
    lostOffsets: draft.lostOffsets ?? null,
    damagedRange: draft.damagedRange ?? null,
    looksLike: draft.looksLike ?? null,
    newest: false,
    cutAtOpen: false,
    cutWithOptIn: false,
    intactAfter: 0,
    objectKey: null,
    replicas: subject.replicas ?? [],
    shardPath: shellPath(subject.path),
    ...draft.context,
  };
  const sentence: Sentences<K>[K] = SENTENCES[draft.kind];
  const nextStep: NextStep<K> = NEXT_STEPS[draft.kind];
  const finding = {
    kind: draft.kind,
    severity: draft.severity,
    site,
    file: draft.file,
    path: draft.file === null ? subject.path : `${subject.path.replace(/\/+$/, '')}/${draft.file}`,
    detail: draft.detail,
    lostOffsets: context.lostOffsets,
    damagedRange: context.damagedRange,
    looksLike: context.looksLike,
    message: sentence(draft.detail, context),
    next: nextStep(draft.detail, context),
  };
  // The parts agree by construction (detail, sentence and step are all of kind K), which the union cannot express.
  return finding as unknown as Finding;
}
