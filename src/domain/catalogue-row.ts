/**
 * The shape of the catalogue of findings: one row a kind, holding everything that is ever said of it.
 *
 * The rows feed the reports, `explain` and the man pages alike. The table in `catalogue.ts` is a mapped type over all
 * kinds, so that a missing or a stale row does not compile.
 */

import type { FindingDetails, FindingKind, Severity, Site } from './finding.js';
import type { ByteRange, OffsetRange } from './units.js';

/** What a sentence or a proposal may know of a finding beside its details. */
export interface FindingContext {
  readonly severity: Severity;
  readonly site: Site;
  readonly file: string | null;
  readonly lostOffsets: OffsetRange | null;
  readonly damagedRange: ByteRange | null;
  readonly looksLike: string | null;
  /** The same as a noun phrase to stand after "looks like", when the scan gave one. */
  readonly likeness?: string | null;
  /** The finding lies in the newest segment of its shard. */
  readonly newest: boolean;
  /** What a broker with the given settings does about it at open, when it is damage in the newest segment. */
  readonly cutAtOpen: boolean;
  /** A broker with `repair_checksum_tail` would cut it. */
  readonly cutWithOptIn: boolean;
  /** Intact records follow the damage in this file. */
  readonly intactAfter: number;
  /** The object that holds the damaged offsets by the manifest, if one does. */
  readonly objectKey: string | null;
  /** Replica directories that the operator named. */
  readonly replicas: readonly string[];
  /** The shard's directory, quoted for a shell. */
  readonly shardPath: string;
}

/** A way out, what it costs, and the command; `SHARD`, `REPLICA`, `DIR` and `OBJECTS` stand for the operator's paths. */
export interface Remedy {
  readonly what: string;
  readonly loses: string;
  readonly command: string | null;
}

export interface CatalogueRow<K extends FindingKind> {
  /** A short noun phrase. */
  readonly title: string;
  /** The severities it may have, and in one or two sentences when which. */
  readonly severities: readonly Severity[];
  readonly severityRule: string;
  /** One sentence for this very finding: what is there, with numbers labelled. No control characters, no advice. */
  sentence(detail: FindingDetails[K], context: FindingContext): string;
  /** How such damage comes about. */
  readonly cause: string;
  /** What the bytes usually look like. */
  readonly evidence: string;
  /** What a broker does: by default, with repair_checksum_tail, with verify_all_on_open. */
  readonly broker: string;
  readonly remedies: readonly Remedy[];
  /** Section of the format page, or null when FACTS alone tells. */
  readonly section: string | null;
  /** The command to run next for this very finding, or null. */
  next(detail: FindingDetails[K], context: FindingContext): string | null;
}

export type Catalogue = { readonly [K in FindingKind]: CatalogueRow<K> };
