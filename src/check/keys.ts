/**
 * `keys.idx` against the log (format page, "keys.idx: a cache's key index"): what an open checks before using it.
 *
 * The file is streamed: it may hold more keys than memory does.
 */

import { hex32 } from '../format/checksum.js';
import {
  decodeCompositeKey,
  decodeKeysIndex,
  KEYS_INDEX_LAYOUT,
  type KeysIndex,
  type KeysIndexEntry,
} from '../format/keys-index.js';
import { fieldAt } from '../format/layout-places.js';
import { Window } from '../scan/window.js';
import { Judge, type Judgement } from './judgement.js';
import type { Subject } from './make-finding.js';
import { findRecord } from './record-lookup.js';
import type { ShardFacts } from './shard-facts.js';

const FEED_BYTES = 128 * 1024;
/** Of longer keys only this much is held against the next one. */
const COMPARED_BYTES = 1024 * 1024;

export function checkKeys(facts: ShardFacts, subject: Subject): Judgement {
  const judge = new Judge(subject);
  const sidecar = facts.sidecars.keys;
  const keys = judge.contentOf(sidecar, 'its keys were not held against the log');
  if (sidecar === null || keys === null) return judge.judgement;
  const usable = checkCoverage(judge, sidecar.file, keys, facts);
  checkEntries(judge, sidecar.file, keys, facts);
  if (usable) checkLastChecksum(judge, sidecar.file, keys, facts);
  return judge.judgement;
}

/** True when what is covered lies within the log. */
function checkCoverage(judge: Judge, file: string, { coveredThrough }: KeysIndex, facts: ShardFacts): boolean {
  const { base, tail } = facts;
  if (base === null || tail === null) {
    judge.skip(
      `The log's ${base === null ? 'oldest offset' : 'end'} is not known, so ${file} was not held against it.`,
    );
    return false;
  }
  if (coveredThrough >= base && coveredThrough <= tail) return true;
  judge.report({
    kind: 'KeysStale',
    severity: 'warning',
    file,
    position: fieldAt(KEYS_INDEX_LAYOUT, 'covered_through'),
    detail: { coveredThrough, base, tail },
  });
  return false;
}

/** Entries that fail one check: the first of them and how many there are. */
interface Failing {
  readonly entry: number;
  readonly position: number;
  readonly why: string;
  count: number;
}

type Check = 'order' | 'cache key' | 'below' | 'beyond';

/** Looks at each entry, keeping nothing but the key before and the first failure of each check. */
class EntryChecks {
  readonly failing = new Map<Check, Failing>();
  /** Keys too long to be told apart. */
  notCompared = 0;
  readonly #oldest: bigint | null;
  readonly #coveredThrough: bigint;
  #entry = 0;
  #before = Buffer.alloc(256);
  #beforeLength = -1;

  /** Entries below `oldest` fail; null when that is not to be judged. */
  constructor(oldest: bigint | null, coveredThrough: bigint) {
    this.#oldest = oldest;
    this.#coveredThrough = coveredThrough;
  }

  visit({ key, kind, offset, position }: KeysIndexEntry): void {
    if (this.#beforeLength >= 0) this.#compare(key, position);
    this.#remember(key);
    if (kind !== 0) this.#fail('cache key', position, `its key ${kind === null ? 'is empty' : `has kind ${kind}`}`);
    else {
      const decoded = decodeCompositeKey(key);
      if (!decoded.ok) this.#fail('cache key', position, `its key ${decoded.error}`);
    }
    if (this.#oldest !== null && offset < this.#oldest) {
      this.#fail('below', position, `its offset ${offset} is below ${this.#oldest}, the oldest in the log`);
    }
    if (offset >= this.#coveredThrough) {
      this.#fail('beyond', position, `its offset ${offset} is not below ${this.#coveredThrough}, where the index ends`);
    }
    this.#entry++;
  }

  #compare(key: Uint8Array, position: number): void {
    const shared = Math.min(this.#beforeLength, COMPARED_BYTES);
    const order = Buffer.compare(key.subarray(0, COMPARED_BYTES), this.#before.subarray(0, shared));
    if (order > 0) return;
    if (order === 0 && this.#beforeLength > COMPARED_BYTES && key.length > COMPARED_BYTES) this.notCompared++;
    else this.#fail('order', position, `its key ${order === 0 ? 'is' : 'sorts in front of'} that of the entry before`);
  }

  #remember(key: Uint8Array): void {
    const kept = Math.min(key.length, COMPARED_BYTES);
    if (kept > this.#before.length) this.#before = Buffer.alloc(Math.min(COMPARED_BYTES, 2 * kept));
    this.#before.set(key.subarray(0, kept));
    this.#beforeLength = key.length;
  }

  #fail(check: Check, position: number, why: string): void {
    const failing = this.failing.get(check);
    if (failing === undefined) this.failing.set(check, { entry: this.#entry, position, why, count: 1 });
    else failing.count++;
  }
}

function checkEntries(judge: Judge, file: string, { coveredThrough }: KeysIndex, facts: ShardFacts): void {
  const what = 'its entries were not judged';
  // Coverage that ends below the oldest record explains every entry there.
  const oldest = facts.base !== null && coveredThrough >= facts.base ? facts.base : null;
  const checks = new EntryChecks(oldest, coveredThrough);
  try {
    const source = facts.open(file);
    try {
      const { value } = decodeKeysIndex(new Window(source, FEED_BYTES), (entry) => checks.visit(entry));
      if (value === null) judge.skip(`${file} changed while it was read, so ${what}.`);
    } finally {
      source.close();
    }
  } catch (failure) {
    judge.readFailed(file, failure, what);
    return;
  }
  for (const { entry, position, why, count } of checks.failing.values()) {
    judge.report({ kind: 'KeysEntry', severity: 'warning', file, position, detail: { entry, why, count } });
  }
  if (checks.notCompared > 0) {
    judge.skip(`${checks.notCompared} keys in ${file} are too long for their order to be judged.`);
  }
}

/** Offsets alone cannot tell this log from one that was cut back and refilled. */
function checkLastChecksum(judge: Judge, file: string, keys: KeysIndex, facts: ShardFacts): void {
  const { coveredThrough, lastChecksum } = keys;
  const report = (offset: bigint, found: number): void => {
    judge.report({
      kind: 'KeysLastChecksum',
      severity: 'warning',
      file,
      position: fieldAt(KEYS_INDEX_LAYOUT, 'last_checksum'),
      detail: { offset, expected: hex32(lastChecksum), found: hex32(found) },
    });
  };
  if (coveredThrough === 0n) {
    if (lastChecksum !== 0) report(0n, 0);
    return;
  }
  const offset = coveredThrough - 1n;
  const what = 'the checksum in keys.idx was not held against the log';
  if (facts.base !== null && offset < facts.base) {
    if (lastChecksum !== 0) judge.skip(`The record at offset ${offset} is below the oldest in the log, so ${what}.`);
    return;
  }
  let reading = file;
  try {
    const found = findRecord(facts, offset, (segment) => {
      reading = segment;
    });
    if (!found.ok) judge.skip(`${what.replace(/^t/, 'T')}: ${found.error}.`);
    else if (found.value.checksum !== lastChecksum) report(offset, found.value.checksum);
  } catch (failure) {
    judge.readFailed(reading, failure, what);
  }
}
