/**
 * Making findings: the check says what is true, the catalogue says it in words.
 */

import { CATALOGUE } from '../domain/catalogue.js';
import type { CatalogueRow, FindingContext } from '../domain/catalogue-row.js';
import type { Finding, FindingDetails, FindingKind, Severity, Site } from '../domain/finding.js';
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
    Pick<FindingContext, 'newest' | 'cutAtOpen' | 'cutWithOptIn' | 'intactAfter' | 'objectKey'>
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
    shardPath: shellQuoted(subject.path),
    ...draft.context,
  };
  const row: CatalogueRow<K> = CATALOGUE[draft.kind];
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
    message: row.sentence(draft.detail, context),
    next: row.next(draft.detail, context),
  };
  // The parts agree by construction (detail and row are both of kind K), which the union cannot express.
  return finding as unknown as Finding;
}

/** A path as one word of a POSIX shell; control characters become `$'…'` escapes. */
export function shellQuoted(path: string): string {
  if (/^[A-Za-z0-9_./:@%+=,-]+$/.test(path)) return path;
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path)) {
    const escaped = path
      .replace(/[\\']/g, '\\$&')
      .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
        Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
      );
    return `$'${escaped}'`;
  }
  return `'${path.replaceAll("'", "'\\''")}'`;
}
