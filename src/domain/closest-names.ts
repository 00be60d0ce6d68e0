/**
 * Names near to one that does not exist, so that a slip of the keyboard costs no look into a manual.
 */

/** How far a name may be away: about one slip in four letters, and at most this many. */
const MOST_SLIPS = 4;
const LETTERS_PER_SLIP = 4;

/** At most this many are proposed. */
const MOST_PROPOSED = 3;

/** A name without its case and separators: `record-header-checksum` and `RecordHeaderChecksum` are one. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]+/g, '');
}

/** The names nearest to `wanted`, the nearest first; those that begin with it count as near. */
export function closestNames(wanted: string, names: readonly string[]): string[] {
  const plain = plainName(wanted);
  if (plain === '') return [];
  const slips = Math.min(MOST_SLIPS, Math.max(1, Math.floor(plain.length / LETTERS_PER_SLIP)));
  return names
    .map((name) => ({ name, distance: distanceTo(plain, plainName(name)) }))
    .filter(({ distance }) => distance <= slips)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_PROPOSED)
    .map(({ name }) => name);
}

function distanceTo(wanted: string, name: string): number {
  const least = 3;
  return wanted.length >= least && name.startsWith(wanted) ? 1 : editDistance(wanted, name);
}

/** Letters to put in, take out, replace, or swap with their neighbour. Texts of very different lengths are not compared. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_SLIPS) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? before[j - 2]! + 1
          : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
