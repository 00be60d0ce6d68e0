/**
 * Journals of repairs beside a shard: their names, and whether one of them was left half done.
 *
 * Only what is needed to warn is read here, and nothing is believed of a record that cannot be read. A journal kept elsewhere
 * is found through a link of the same name.
 */

import { readdirSync } from 'node:fs';
import { decodeUtf8 } from '../format/bytes.js';
import { ReadFailure } from './byte-source.js';
import { readSmallFile } from './file-digest.js';
import { shardOfJournal } from './journal-names.js';
import { pathFacts, realPath } from './path-facts.js';
import { joinShown } from './walk.js';

/** The record of a journal, in its directory. */
export const JOURNAL_FILE = 'journal.json';
const RECORD_LIMIT = 16 * 1024 * 1024;

/**
 * How far the repair has come, as its journal says. `preparing` also stands for a journal whose record was not begun yet;
 * `unknown` for one that cannot be read.
 */
export type SightedState = 'preparing' | 'applying' | 'applied' | 'undoing' | 'undone' | 'unknown';

export interface JournalSighting {
  /** Beside the shard, as it is named there. */
  readonly path: string;
  readonly state: SightedState;
  /** When it last changed, as it says itself. */
  readonly changedAt: string | null;
  /** The directory of the shard, as it says itself. */
  readonly shard: string | null;
}

/** True when the shard may be half-way between two states. */
export function isUnfinished({ state }: JournalSighting): boolean {
  return state === 'applying' || state === 'undoing' || state === 'unknown';
}

/** Journals of the shard in `shardPath`, oldest first. A parent that cannot be listed has none that could be told. */
export function journalsBeside(shardPath: string): JournalSighting[] {
  return new JournalsSeen().beside(shardPath);
}

/** The same for many shards: each directory above them is listed once, when it is first asked for. */
export class JournalsSeen {
  readonly #names = new Map<string, readonly string[]>();

  beside(shardPath: string): JournalSighting[] {
    const real = attempt(() => realPath(shardPath));
    if (real === null || real === '/') return [];
    const slash = real.lastIndexOf('/');
    const parent = real.slice(0, slash) || '/';
    return this.#listed(parent)
      .filter((name) => shardOfJournal(name) === real.slice(slash + 1))
      .map((name) => sight(joinShown(parent, name)));
  }

  #listed(parent: string): readonly string[] {
    const known = this.#names.get(parent);
    if (known !== undefined) return known;
    const names = (attempt(() => readdirSync(parent)) ?? []).filter((name) => shardOfJournal(name) !== null).sort();
    this.#names.set(parent, names);
    return names;
  }
}

/** Journals of the shard in `path`, or else those that lie in that directory, oldest first. */
export function journalsNear(path: string): JournalSighting[] {
  const beside = journalsBeside(path);
  if (beside.length > 0) return beside;
  const names = attempt(() => readdirSync(path)) ?? [];
  return names
    .filter((name) => shardOfJournal(name) !== null)
    .sort()
    .map((name) => sight(joinShown(path, name)));
}

/** What a journal says of itself. Throws nothing. */
export function sight(path: string): JournalSighting {
  try {
    const real = realPath(path);
    if (real === null) return { path, ...UNKNOWN };
    const record = joinShown(real, JOURNAL_FILE);
    if (pathFacts(record) === null) return { path, ...UNKNOWN, state: 'preparing' };
    return { path, ...recordIn(readSmallFile(record, RECORD_LIMIT)) };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    return { path, ...UNKNOWN };
  }
}

const UNKNOWN: Omit<JournalSighting, 'path'> = { state: 'unknown', changedAt: null, shard: null };
const STATES: readonly string[] = ['preparing', 'applying', 'applied', 'undoing', 'undone'];

function recordIn(bytes: Uint8Array): Omit<JournalSighting, 'path'> {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(bytes) ?? '');
  } catch {
    return UNKNOWN;
  }
  const record = (typeof value === 'object' && value !== null ? value : {}) as { readonly [key: string]: unknown };
  const text = (name: string) => (typeof record[name] === 'string' ? record[name] : null);
  const state = text('state');
  if (state === null || !STATES.includes(state)) return UNKNOWN;
  return { state: state as SightedState, changedAt: text('changedAt'), shard: text('shard') };
}

function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
