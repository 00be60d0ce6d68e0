/**
 * What is wrong with the small files on their own.
 *
 * Severities are the contract's: a broker refuses to open a shard whose `replica`, `ballot` or `offload.manifest` does
 * not decode, works without `epochs`, `producers` and `keys.idx`, and loses a fact with the files of the data root.
 */

import type { FindingDetails, Severity } from '../domain/finding.js';
import type { SidecarDamage } from '../domain/sidecar.js';
import { Judge, type Judgement } from './judgement.js';
import type { Subject } from './make-finding.js';
import type { ShardFacts, SidecarFile } from './shard-facts.js';

/** The damage of every small file of a shard. */
export function checkSidecarDamage(facts: ShardFacts, subject: Subject): Judgement {
  const { epochs, replica, ballot, manifest, producers, keys } = facts.sidecars;
  const judge = new Judge(subject);
  for (const sidecar of [replica, ballot, manifest]) reportSidecarDamage(judge, sidecar, 'fatal');
  for (const sidecar of [epochs, producers, keys]) reportSidecarDamage(judge, sidecar, 'warning');
  return judge.judgement;
}

/** Reports what a decoder found wrong with a file, each piece with `severity`, or that it could not be read. */
export function reportSidecarDamage(judge: Judge, sidecar: SidecarFile<unknown> | null, severity: Severity): void {
  if (sidecar === null) return;
  const { file, problem } = sidecar;
  if (problem !== null) {
    const { message: reason, code, position } = problem;
    judge.report({ kind: 'Unreadable', severity: 'error', file, position, detail: { reason, code } });
  }
  for (const damage of sidecar.reading?.damage ?? []) {
    const { kind, position, ...detail } = damage;
    judge.report<SidecarDamage['kind']>({
      kind,
      severity,
      file,
      position,
      // The fields are those of this very kind, which the union cannot express.
      detail: detail as FindingDetails[SidecarDamage['kind']],
    });
  }
}
