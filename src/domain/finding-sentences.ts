/**
 * The sentence of every kind of finding, without the rest of the catalogue: all that a report needs, and all that a check
 * has to load.
 */

import type { FindingKind } from './finding.js';
import type { Sentences } from './sentences.js';
import { INDEX_SENTENCES, ROOT_SENTENCES, SIDECAR_SENTENCES } from './sentences-files.js';
import { RECORD_SENTENCES } from './sentences-records.js';
import { DERIVED_SENTENCES, OFFLOAD_SENTENCES, REPLICATION_SENTENCES } from './sentences-relations.js';
import { SEGMENT_SENTENCES } from './sentences-segments.js';

export const SENTENCES: Sentences<FindingKind> = {
  ...SEGMENT_SENTENCES,
  ...RECORD_SENTENCES,
  ...INDEX_SENTENCES,
  ...SIDECAR_SENTENCES,
  ...REPLICATION_SENTENCES,
  ...OFFLOAD_SENTENCES,
  ...DERIVED_SENTENCES,
  ...ROOT_SENTENCES,
};
