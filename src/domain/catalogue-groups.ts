/**
 * The kinds of findings in groups, in the order in which people are shown them.
 */

import { DERIVED_ROWS } from './catalogue-derived.js';
import { INDEX_ROWS } from './catalogue-indexes.js';
import { OFFLOAD_ROWS } from './catalogue-offload.js';
import { RECORD_ROWS } from './catalogue-records.js';
import { REPLICATION_ROWS } from './catalogue-replication.js';
import { ROOT_ROWS } from './catalogue-root.js';
import { SEGMENT_ROWS } from './catalogue-segments.js';
import { SIDECAR_ROWS } from './catalogue-sidecars.js';
import type { FindingKind } from './finding.js';

export interface CatalogueGroup {
  readonly title: string;
  readonly kinds: readonly FindingKind[];
}

export const CATALOGUE_GROUPS: readonly CatalogueGroup[] = [
  { title: 'Segments', kinds: kindsOf(SEGMENT_ROWS) },
  { title: 'Records', kinds: kindsOf(RECORD_ROWS) },
  { title: 'Indexes', kinds: kindsOf(INDEX_ROWS) },
  { title: 'Small files', kinds: kindsOf(SIDECAR_ROWS) },
  { title: 'Replication', kinds: kindsOf(REPLICATION_ROWS) },
  { title: 'Offload', kinds: kindsOf(OFFLOAD_ROWS) },
  { title: 'Snapshots of producers and keys', kinds: kindsOf(DERIVED_ROWS) },
  { title: 'Data directory and reading', kinds: kindsOf(ROOT_ROWS) },
];

function kindsOf<K extends FindingKind>(rows: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(rows) as K[];
}
