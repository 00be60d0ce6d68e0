/**
 * The objects that a manifest names, in a directory laid out by key: there, of the right size and checksum, and the
 * segment that the entry speaks of.
 *
 * Each object is read twice, once for its checksum and once as a segment. An object that cannot be read is not called
 * missing, and one under a key that leads out of the directory is not opened.
 */

import type { FindingDetails } from '../domain/finding.js';
import type { ObjectState } from '../domain/manifest-report.js';
import { counted } from '../domain/wording.js';
import { crc32, hex32 } from '../format/checksum.js';
import { fieldAt } from '../format/layout-places.js';
import { MANIFEST_LAYOUT, type ManifestEntry } from '../format/manifest.js';
import { drive } from '../scan/scanner.js';
import { scanSegmentFile } from '../scan/segment-file.js';
import { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import type { ObjectStore } from '../store/object-store.js';
import type { Judge } from './judgement.js';

export interface ObjectCheck {
  readonly store: ObjectStore;
  readonly nowMicros: bigint;
  /** Asked after each window; false ends the check. */
  goOn(): Promise<boolean>;
}

type Field = 'key' | 'size' | 'checksum' | 'records' | 'base' | 'last' | 'oldest' | 'newest';

const FIELD_AT: Readonly<Record<Field, number>> = {
  key: fieldAt(MANIFEST_LAYOUT, 'key'),
  size: fieldAt(MANIFEST_LAYOUT, 'size'),
  checksum: fieldAt(MANIFEST_LAYOUT, 'checksum'),
  records: fieldAt(MANIFEST_LAYOUT, 'last_offset'),
  base: fieldAt(MANIFEST_LAYOUT, 'base_offset'),
  last: fieldAt(MANIFEST_LAYOUT, 'last_offset'),
  oldest: fieldAt(MANIFEST_LAYOUT, 'oldest'),
  newest: fieldAt(MANIFEST_LAYOUT, 'newest'),
};

/** The state of each entry's object, in the order of the entries; null when interrupted. */
export async function checkObjects(
  judge: Judge,
  file: string,
  entries: readonly ManifestEntry[],
  check: ObjectCheck,
): Promise<ObjectState[] | null> {
  const states: ObjectState[] = [];
  for (const [number, entry] of entries.entries()) {
    const state = await new ObjectJudge(judge, file, number, entry, check).state();
    if (state === null) return null;
    states.push(state);
  }
  return states;
}

class ObjectJudge {
  readonly #judge: Judge;
  readonly #file: string;
  readonly #number: number;
  readonly #entry: ManifestEntry;
  readonly #check: ObjectCheck;
  #differs = false;

  constructor(judge: Judge, file: string, number: number, entry: ManifestEntry, check: ObjectCheck) {
    this.#judge = judge;
    this.#file = file;
    this.#number = number;
    this.#entry = entry;
    this.#check = check;
  }

  async state(): Promise<ObjectState | null> {
    const { key, segmentId } = this.#entry;
    const common = { entry: this.#number, segmentId, key };
    try {
      const opened = this.#check.store.open(key);
      if (opened.is === 'missing') {
        const position = this.#entry.position + FIELD_AT.key;
        this.#judge.report({ kind: 'ObjectMissing', severity: 'error', file: this.#file, position, detail: common });
        return 'missing';
      }
      if (opened.is === 'refused') {
        this.#mismatch('key', 'an object below the directory', `not opened: ${opened.why}`);
        return 'refused';
      }
      try {
        if (!(await this.#compare(opened.source))) return null;
      } finally {
        opened.source.close();
      }
      return this.#differs ? 'differs' : 'same';
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
      const detail = { reason: `object of entry ${this.#number}: ${failure.message}`, code: failure.code };
      this.#judge.report({ kind: 'Unreadable', severity: 'error', file: this.#file, detail });
      return 'unreadable';
    }
  }

  /** False when interrupted. */
  async #compare(source: ByteSource): Promise<boolean> {
    const { size, checksum } = this.#entry;
    if (size !== BigInt(source.size)) this.#mismatch('size', String(size), String(source.size));
    const computed = await this.#checksum(source);
    if (computed === null) return false;
    if (computed !== checksum) this.#mismatch('checksum', hex32(checksum), hex32(computed));
    return this.#readAsSegment(source);
  }

  async #checksum(source: ByteSource): Promise<number | null> {
    const window = new Window(source);
    let crc = 0;
    for (let at = 0; at < source.size; ) {
      window.ensure(at, 1);
      crc = crc32(window.view(at, window.end - at), crc);
      at = window.end;
      if (!(await this.#check.goOn())) return null;
    }
    return crc;
  }

  async #readAsSegment(source: ByteSource): Promise<boolean> {
    const settings = { nowMicros: this.#check.nowMicros };
    const scan = await drive(scanSegmentFile(source, null, settings), () => this.#check.goOn());
    if (scan === null) return false;
    const { baseOffset, lastOffset, oldestMicros, newestMicros } = this.#entry;
    const records = counted(lastOffset < baseOffset ? 0n : lastOffset - baseOffset + 1n, 'intact record');
    const { head } = scan;
    const stopped = scan.records?.stopped ?? head.problem;
    if (stopped !== null) throw new ReadFailure(stopped.code, scan.records?.end ?? 0, stopped.message);
    if (head.headerDamage !== null || scan.records === null) {
      this.#mismatch('records', records, `${head.headerDamage?.kind ?? 'no segment'} at byte 0`);
      return true;
    }
    const [damage] = scan.records.damages;
    if (damage !== undefined) {
      const more = scan.records.damages.length - 1;
      const others = more > 0 ? ` and ${more} more` : '';
      this.#mismatch('records', records, `${damage.corruption.kind} at byte ${damage.position}${others}`);
    }
    const held = scan.records;
    this.#hold('base', baseOffset, head.header!.baseOffset);
    this.#hold('last', lastOffset, held.lastOffset);
    this.#hold('oldest', oldestMicros, held.firstTimestampMicros);
    this.#hold('newest', newestMicros, held.lastTimestampMicros);
    return true;
  }

  #hold(field: Field, says: bigint, object: bigint | null): void {
    if (says !== object) this.#mismatch(field, String(says), object === null ? 'no record' : String(object));
  }

  #mismatch(field: Field, manifest: string, object: string): void {
    const { key, segmentId, position } = this.#entry;
    const detail: FindingDetails['ObjectMismatch'] = { entry: this.#number, segmentId, key, field, manifest, object };
    this.#differs = true;
    this.#judge.report({
      kind: 'ObjectMismatch',
      severity: 'error',
      file: this.#file,
      position: position + FIELD_AT[field],
      detail,
    });
  }
}
