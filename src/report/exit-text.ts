/**
 * Exit codes at the end of a report.
 */

import { EXIT_CODES, type ExitCodeNumber } from '../domain/exit-codes.js';
import type { Severity } from '../domain/finding.js';

/** Of one run over any number of shards; what each code promises in general stands in the domain. */
const MEANINGS: Readonly<Record<ExitCodeNumber, string>> = {
  0: 'nothing to do',
  1: 'a bug in the tool, which says nothing about the data',
  2: 'wrong usage, or a path that is not part of a store',
  20: 'the broker opens every shard, and puts right by itself what was found',
  21: 'every shard opens, but records or facts are lost, unreadable or contradict each other',
  22: 'a broker refuses to open at least one shard',
  30: 'something could not be read, and nothing worse was found',
  31: 'refused',
  33: 'a repair stopped part-way; its journal brings the old bytes back',
  130: 'interrupted',
  143: 'terminated',
};

/**
 * `Exit 22: a broker refuses to open at least one shard`, and what to do then. With `worst`, an exit code 0 that was asked for is told
 * from health.
 */
export function exitTexts(code: number, worst: Severity | null): string[] {
  if (code === 0 && worst !== null && worst !== 'info') return ['Exit 0: as asked, these findings do not fail the run'];
  const known = EXIT_CODES.find((each) => each.code === code);
  if (known === undefined) return [`Exit ${code}`];
  return [`Exit ${code}: ${MEANINGS[known.code]}`, ...(code === 0 ? [] : [known.whatNext])];
}
