/**
 * What the small files of a shard say, as facts for showing: names and numbers, nothing judged.
 *
 * Only what a reader would take is told; of a damaged file there are none. The facts are few whatever a file holds: of
 * `epochs` the newest entries, of the lists only how long they are.
 */

import type { FactValue, SidecarReport } from '../domain/report.js';
import type { Ballot } from '../format/ballot.js';
import type { Epochs } from '../format/epochs.js';
import type { KeysIndex } from '../format/keys-index.js';
import type { Manifest } from '../format/manifest.js';
import type { Producers } from '../format/producers.js';
import type { Replica } from '../format/replica.js';
import type { SidecarFile, Sidecars } from './shard-facts.js';

type Facts = Readonly<Record<string, FactValue>>;

/** As many entries of `epochs` are told, the newest ones. */
const TOLD_EPOCHS = 64;

/** The small files that are there, each with its state and its facts. */
export function sidecarReports(sidecars: Sidecars): SidecarReport[] {
  return [
    reported(sidecars.epochs, epochsFacts),
    reported(sidecars.replica, replicaFacts),
    reported(sidecars.ballot, ballotFacts),
    reported(sidecars.manifest, manifestFacts),
    reported(sidecars.producers, producersFacts),
    reported(sidecars.keys, keysFacts),
  ].filter((report) => report !== null);
}

function reported<T>(sidecar: SidecarFile<T> | null, factsOf: (value: T) => Facts): SidecarReport | null {
  if (sidecar === null) return null;
  const { file, size: bytes, reading } = sidecar;
  const value = reading?.value ?? null;
  return {
    file,
    bytes,
    state: reading === null ? 'unreadable' : reading.damage.length > 0 ? 'damaged' : 'sound',
    facts: value === null ? {} : factsOf(value),
  };
}

function epochsFacts({ entries }: Epochs): Facts {
  return {
    count: entries.length,
    entries: entries.slice(-TOLD_EPOCHS).map(({ generation, startOffset }) => ({ generation, startOffset })),
  };
}

function replicaFacts({ generation, commit }: Replica): Facts {
  return { generation, commit };
}

/** An empty leader is a generation given up. */
function ballotFacts({ generation, leader }: Ballot): Facts {
  return { generation, leader };
}

function manifestFacts({ count }: Manifest): Facts {
  return { count };
}

function producersFacts({ asOf, producers, open }: Producers): Facts {
  return { asOf, count: producers.length, openBatch: open !== null };
}

function keysFacts({ coveredThrough, entryCount, logBytes }: KeysIndex): Facts {
  return { coveredThrough, count: entryCount, logBytes };
}
