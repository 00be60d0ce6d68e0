/**
 * From the paths that `inspect` is given to what is said of each: a file, a shard, or a data root with its shards.
 *
 * The shards of a root are told in a line each, when all of them have been looked at: memory grows with their number and
 * with nothing else. Links below a path are not followed.
 */

import type { Inspection, ListedShard, RootInspection } from '../domain/inspection.js';
import type { RootReport } from '../domain/report.js';
import { fail } from '../domain/result.js';
import type { Scanner } from '../scan/scanner.js';
import { isShard, joinShown, type Listing, listDirectory, statPath } from '../store/walk.js';
import { inspectFile } from './inspect-file.js';
import { type InspectOptions, inspectedDamage, inspectShard, listShard, NOT_HELD_TOGETHER } from './inspect-shard.js';
import { inspectSidecar, SIDECAR_FORMS } from './inspect-sidecar.js';
import { checkRoot, passedOverReport } from './root.js';
import { targetsOf } from './targets.js';

/** Damage of the shards of a root that is told with the root; the rest is counted with its shard. */
const TOLD_DAMAGE = 1000;

/** Inspects each path; ends early, without an error, when the scanner is interrupted. */
export async function* inspectPaths(
  paths: readonly string[],
  scanner: Scanner,
  options: InspectOptions,
): AsyncGenerator<Inspection> {
  for (const path of paths) {
    const at = statPath(path);
    if (at === null) fail({ reason: 'usage', message: `${path}: no such file or directory` });
    if ('code' in at) fail({ reason: 'unreadable', message: `${path}: ${at.message}` });
    if (at.type === 'file') {
      const inspected = await inspectFile(path, at.size, scanner, options);
      if (inspected === null) return;
      yield inspected;
    } else if (at.type !== 'directory') {
      fail({ reason: 'usage', message: `${path}: neither a file nor a directory` });
    } else {
      const listing = listDirectory(path);
      const isOne = listing.problem === null && isShard(listing);
      const inspected = isOne ? [await inspectShard(listing, scanner, options)] : await roots(path, scanner, options);
      for (const each of inspected) {
        if (each === null) return;
        yield each;
      }
    }
  }
}

interface Gathering {
  readonly listing: Listing | null;
  readonly report: RootReport;
  readonly shards: ListedShard[];
  readonly damage: RootInspection['damage'][number][];
}

/** The data roots below a directory, and one more for the shards that lie in none. */
async function roots(path: string, scanner: Scanner, options: InspectOptions): Promise<(RootInspection | null)[]> {
  const gathered = new Map<string | null, Gathering>();
  const gather = (root: string | null, listing: Listing | null, report: RootReport): Gathering => {
    const gathering = { listing, report, shards: [], damage: inspectedDamage(report.findings) };
    gathered.set(root, gathering);
    return gathering;
  };
  for (const target of targetsOf(path, options)) {
    if (target.what === 'root') gather(target.listing.path, target.listing, checkRoot(target.listing));
    else if (target.what === 'passed-over') {
      const report = passedOverReport(path, target.items);
      (gathered.get(path) ?? gathered.get(null) ?? gather(null, null, passedOverReport(path, []))).damage.push(
        ...inspectedDamage(report.findings),
      );
    } else {
      const root = rootAbove(target.listing.path, [...gathered.keys()]);
      const listed = await listShard(target.listing, scanner, options);
      if (listed === null) return [null];
      const into = gathered.get(root) ?? gather(root, null, passedOverReport(path, []));
      into.shards.push(listed.shard);
      into.damage.push(
        ...listed.worst.slice(0, Math.max(0, TOLD_DAMAGE - into.damage.length)).map((damage) => ({
          ...damage,
          file: damage.file === null ? listed.shard.name : `${listed.shard.name}/${damage.file}`,
        })),
      );
    }
  }
  return [...gathered.values()].map((gathering) => rootInspection(gathering, options));
}

/** The innermost data root that a shard lies in; null when it lies in none. */
function rootAbove(path: string, found: readonly (string | null)[]): string | null {
  const above = found.filter((root) => root !== null && (path === root || path.startsWith(joinShown(root, ''))));
  return above.reduce((best, root) => (best === null || root!.length > best.length ? root : best), null);
}

function rootInspection({ listing, report, shards, damage }: Gathering, options: InspectOptions): RootInspection {
  const { findings: _, ...facts } = report;
  const subject = { label: report.path, path: report.path };
  const sidecars = (listing?.entries ?? [])
    .filter(({ name, type }) => type === 'file' && SIDECAR_FORMS.has(name))
    .map(({ path, name, size }) => inspectSidecar(path, name, size, subject, options.full).sidecar);
  return { type: 'root', ...facts, shards, sidecars, damage, notVerified: [NOT_HELD_TOGETHER] };
}
