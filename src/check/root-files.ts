/**
 * The files of a data root, and the names of its directories (format page, "storage-id and run-state: the data
 * directory's identity" and "Directory layout").
 *
 * Values are given only from files that decode. Text of stream markers and of `node-id` is as it stands in the file: it
 * is for the reporters to make it fit to print.
 */

import type { Finding } from '../domain/finding.js';
import type { RootReport } from '../domain/report.js';
import type { SidecarReading } from '../domain/sidecar.js';
import type { ByteFeed } from '../format/bytes.js';
import { fieldAt } from '../format/layout-places.js';
import { keyLabel, type ShardKey, shardDirectoryName, shardKeyHash } from '../format/names.js';
import { decodeRegistration } from '../format/registration.js';
import type { WordLayout } from '../format/reserved-word.js';
import { decodeRunState, RUN_STATE_LAYOUT, type RunState } from '../format/run-state.js';
import { decodeStorageId } from '../format/storage-id.js';
import { Window } from '../scan/window.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { Judge } from './judgement.js';
import { makeFinding, type Subject } from './make-finding.js';
import type { SidecarFile } from './shard-facts.js';
import { reportSidecarDamage } from './sidecar-damage.js';

/** A data root as it was listed. */
export interface RootInput {
  /** As given or found. */
  readonly path: string;
  /** Opens a file by its path below the root (`.streams/NAME` for a marker); null when there is none. May throw `ReadFailure`. */
  read(name: string): (ByteSource & { close(): void }) | null;
  /** Names in `.streams/`. */
  readonly streams: readonly string[];
  /** Names in `.deleted/`. */
  readonly deleted: readonly string[];
}

export interface RootJudgement {
  readonly report: RootReport;
  readonly notChecked: string[];
}

/** More of a text file is not shown. */
const SHOWN_TEXT = 4096;
const FEED_BYTES = 4096;

export function checkRootFiles(root: RootInput): RootJudgement {
  const judge = new Judge({ label: root.path, path: root.path });
  const storageId = decoded(judge, root, 'storage-id', decodeStorageId);
  const runState = decoded(judge, root, 'run-state', decodeRunState);
  const registration = decoded(judge, root, 'registration', decodeRegistration);
  if (runState !== null) checkRunState(judge, runState, storageId?.id ?? null);
  const layouts: Record<string, WordLayout> = {};
  if (storageId !== null) layouts['storage-id'] = storageId.layout;
  if (registration !== null) layouts['registration'] = registration.layout;
  const streams = root.streams.map((name) => ({ name, text: textOf(judge, root, `.streams/${name}`) ?? '' }));
  const nodeId = textOf(judge, root, 'node-id')?.trim() ?? null;
  const { findings, notChecked } = judge.judgement;
  return {
    report: {
      path: root.path,
      findings,
      storageId: storageId?.id ?? null,
      runState,
      registration: registration?.incarnation ?? null,
      nodeId,
      layouts,
      streams,
      deleted: root.deleted,
    },
    notChecked,
  };
}

function decoded<T>(
  judge: Judge,
  root: RootInput,
  file: string,
  decode: (feed: ByteFeed) => SidecarReading<T>,
): T | null {
  const sidecar = readWith(judge, root, file, (source): SidecarFile<T> => {
    return { file, size: source.size, reading: decode(new Window(source, FEED_BYTES)), problem: null };
  });
  reportSidecarDamage(judge, sidecar, 'error');
  return judge.contentOf(sidecar, 'what it says was not judged');
}

function textOf(judge: Judge, root: RootInput, file: string): string | null {
  return readWith(judge, root, file, (source) => {
    const shown = Math.min(source.size, SHOWN_TEXT);
    if (source.size > shown) judge.skip(`Only the first ${shown} bytes of ${file} were looked at.`);
    return Buffer.from(new Window(source, FEED_BYTES).view(0, shown)).toString('utf8');
  });
}

/** Opens a file for `use`; null when there is none, or when it cannot be read, which is then reported. */
function readWith<T>(judge: Judge, root: RootInput, file: string, use: (source: ByteSource) => T): T | null {
  try {
    const source = root.read(file);
    if (source === null) return null;
    try {
      return use(source);
    } finally {
      source.close();
    }
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, position, message: reason } = failure;
    judge.report({ kind: 'Unreadable', severity: 'error', file, position, detail: { reason, code } });
    return null;
  }
}

function checkRunState(judge: Judge, { state, acknowledgesBeforeSync, id }: RunState, storageId: string | null): void {
  const file = 'run-state';
  if (state === 'running') {
    judge.report({
      kind: 'UncleanStop',
      severity: acknowledgesBeforeSync ? 'warning' : 'info',
      file,
      position: fieldAt(RUN_STATE_LAYOUT, 'state'),
      detail: { acknowledgesBeforeSync },
    });
  }
  if (storageId === null) judge.skip('There is no usable storage-id, so the id in run-state was not held against it.');
  else if (storageId !== id) {
    judge.report({
      kind: 'StorageIdMismatch',
      severity: 'warning',
      file,
      position: fieldAt(RUN_STATE_LAYOUT, 'id'),
      detail: { storageId, runState: id },
    });
  }
}

/** A name with a shard's number and hash in it, and what follows. */
const HASHED_NAME = /^.+_(?:0|[1-9][0-9]{0,9})-([0-9a-f]{16})(-.*)?$/s;
const INCARNATION = /^-(?!0{16})[0-9a-f]{16}$/;

export interface NameJudgement {
  readonly findings: Finding[];
  readonly notChecked: string[];
}

/** A shard directory's name against the key that the operator gave, and the incarnation at its end. */
export function checkDirectoryName(name: string, key: ShardKey | null, subject: Subject): NameJudgement {
  const findings: Finding[] = [];
  const match = HASHED_NAME.exec(name);
  const report = (expected: string | null, why: string): void => {
    const detail = { expected, found: name, why };
    findings.push(makeFinding(subject, { kind: 'DirectoryName', severity: 'error', file: null, detail }));
  };
  if (match === null) {
    const sentence = `The directory is not named as a shard's, so its name was not held against ${key === null ? '' : keyLabel(key)}.`;
    return { findings, notChecked: key === null ? [] : [sentence] };
  }
  const suffix = match[2] ?? '';
  const sound = suffix === '' || INCARNATION.test(suffix);
  if (!sound) report(null, 'what follows the hash is no incarnation of 16 hex digits above 0');
  if (key !== null && BigInt(`0x${match[1]}`) !== shardKeyHash(key)) {
    const incarnation = sound && suffix !== '' ? BigInt(`0x${suffix.slice(1)}`) : 0n;
    report(shardDirectoryName(key, incarnation), `its hash is not that of ${keyLabel(key)}`);
  }
  return { findings, notChecked: [] };
}
