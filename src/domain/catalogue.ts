/**
 * Everything that is ever said of a finding, one row a kind.
 *
 * The table is a mapped type over all kinds: a missing row does not compile.
 */

import { DERIVED_ROWS } from './catalogue-derived.js';
import { INDEX_ROWS } from './catalogue-indexes.js';
import { OFFLOAD_ROWS } from './catalogue-offload.js';
import { RECORD_ROWS } from './catalogue-records.js';
import { REPLICATION_ROWS } from './catalogue-replication.js';
import { ROOT_ROWS } from './catalogue-root.js';
import type { Catalogue } from './catalogue-row.js';
import { SEGMENT_ROWS } from './catalogue-segments.js';
import { SIDECAR_ROWS } from './catalogue-sidecars.js';

export const CATALOGUE: Catalogue = {
  ...SEGMENT_ROWS,
  ...RECORD_ROWS,
  ...INDEX_ROWS,
  ...SIDECAR_ROWS,
  ...REPLICATION_ROWS,
  ...OFFLOAD_ROWS,
  ...DERIVED_ROWS,
  ...ROOT_ROWS,
};
