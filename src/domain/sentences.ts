/** The shape of the sentences: what one finding of a kind says in one sentence. */

import type { FindingContext } from './catalogue-row.js';
import type { FindingDetails, FindingKind } from './finding.js';

export type Sentences<F extends FindingKind> = {
  readonly [K in F]: (detail: FindingDetails[K], context: FindingContext) => string;
};
