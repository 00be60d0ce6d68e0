/**
 * The directory that a salvage writes to: empty or new, outside of every source, with room for what comes.
 *
 * While the salvage is under way a file in it names the sources and the settings, so that another run goes on only with the
 * very same. It goes away when the report takes its place.
 */

import { fail } from '../domain/result.js';
import { shellPath } from '../domain/shell-words.js';
import { bytesOf, printable } from '../domain/wording.js';
import { decodeUtf8 } from '../format/bytes.js';
import { ReadFailure } from '../store/byte-source.js';
import { readSmallFile } from '../store/file-digest.js';
import { freeBytes, pathFacts, realPath } from '../store/path-facts.js';
import { joinShown, listDirectory } from '../store/walk.js';
import type { DurableFs, FileWriter } from './durable-fs.js';
import { removeIfThere } from './steps.js';

const REPORT_FILE = 'salvage.json';
const PROGRESS_FILE = '.salvage-progress.json';
const PROGRESS_SCHEMA = 'felix-fsck.salvage-progress/1';
const PROGRESS_LIMIT = 64 * 1024 * 1024;

/** What a salvage is bound to; any other must not go on with what it wrote. */
export interface SalvageBinding {
  readonly tool: { readonly name: string; readonly version: string };
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly sources: readonly { readonly path: string; readonly bytes: number; readonly mtimeNs: bigint }[];
}

export interface TargetRequest {
  /** As given. */
  readonly path: string;
  /** Directories that are read, without links. */
  readonly sources: readonly string[];
  readonly resume: boolean;
  readonly mode: number;
}

export interface Target {
  /** Absolute, without links. */
  readonly path: string;
  /** An earlier run was at work there. */
  readonly begun: boolean;
}

/** Everything that must hold before anything is written; the directory need not be there yet. Throws a failure. */
export function checkTarget({ path, sources, resume }: TargetRequest): Target {
  const real = targetPath(path);
  const shown = printable(path);
  for (const source of sources) {
    if (`${real}/`.startsWith(`${source}/`)) {
      fail({
        reason: 'refused',
        message: `${shown} lies in the source ${printable(source)}, which is never written to.`,
      });
    }
  }
  const facts = pathFacts(real);
  if (facts === null) return { path: real, begun: false };
  if (facts.type !== 'directory') fail({ reason: 'refused', message: `${shown} is not a directory.` });
  const listed = listDirectory(real).entries.map(({ name }) => name);
  // A run that stopped before it was bound to its sources left this at most.
  const names = listed.filter((name) => name !== temporaryOf(PROGRESS_FILE));
  if (names.length === 0) return { path: real, begun: false };
  if (names.includes(PROGRESS_FILE)) {
    if (resume) return { path: real, begun: true };
    const message = `${shown} holds a salvage that was interrupted: --resume goes on with it.`;
    return fail({ reason: 'refused', message });
  }
  const done = names.includes(REPORT_FILE) ? ' It holds a salvage that is complete.' : '';
  return fail({
    reason: 'refused',
    message: `${shown} is not empty, and nothing is written among other files.${done}`,
  });
}

/** The path without links, as far as it is there. */
function targetPath(path: string): string {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  try {
    const real = realPath(trimmed);
    if (real !== null) return real;
    const slash = trimmed.lastIndexOf('/');
    const parent = realPath(slash < 0 ? '.' : trimmed.slice(0, slash) || '/');
    if (parent !== null && pathFacts(parent)?.type === 'directory') return joinShown(parent, trimmed.slice(slash + 1));
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    fail({ reason: 'unreadable', message: `${printable(path)}: ${printable(failure.message)}` });
  }
  return fail({ reason: 'usage', message: `${printable(path)}: the directory that it would lie in does not exist` });
}

/** Throws a failure when the file system of the target has less than `bytes` to give. */
export function checkRoom({ path }: Target, bytes: number): void {
  const there = pathFacts(path) === null ? path.slice(0, path.lastIndexOf('/')) || '/' : path;
  const free = freeBytes(there);
  if (free >= bytes) return;
  const message = `${printable(path)}: about ${bytesOf(bytes)} are needed, and ${bytesOf(free)} are free. Nothing was written.`;
  fail({ reason: 'refused', message });
}

/** Makes the directory and binds it to the sources; returns when the salvage began, which is earlier for a resumed one. */
export function bindTarget(
  fs: DurableFs,
  target: Target,
  binding: SalvageBinding,
  request: Pick<TargetRequest, 'mode'> & { readonly nowMicros: bigint },
): bigint {
  if (target.begun) return begunAt(target, binding);
  if (pathFacts(target.path) === null) {
    fs.makeDirectory(target.path, request.mode);
    fs.syncDirectory(target.path.slice(0, target.path.lastIndexOf('/')) || '/');
  }
  putFile(fs, target.path, PROGRESS_FILE, progressText(binding, request.nowMicros));
  return request.nowMicros;
}

function begunAt({ path }: Target, binding: SalvageBinding): bigint {
  const bytes = readSmallFile(joinShown(path, PROGRESS_FILE), PROGRESS_LIMIT);
  const text = decodeUtf8(bytes) ?? '';
  const created = /"createdAtMicros": "([0-9]{1,20})"/.exec(text)?.[1];
  if (created !== undefined && text === progressText(binding, BigInt(created))) return BigInt(created);
  const message =
    `${printable(path)} was begun from other files, from files that have changed since, with other options or by ` +
    `another build, and is not gone on with. Begin in another directory.`;
  return fail({ reason: 'refused', message });
}

function progressText({ tool, settings, sources }: SalvageBinding, createdAtMicros: bigint): string {
  const value = { schema: PROGRESS_SCHEMA, tool, createdAtMicros, settings, sources };
  return `${JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item), 2)}\n`;
}

/** Puts the report in place of the binding: from then on the salvage is complete. */
export function completeTarget(fs: DurableFs, { path }: Target, report: string): void {
  putFile(fs, path, REPORT_FILE, report);
  fs.unlink(joinShown(path, PROGRESS_FILE));
  fs.syncDirectory(path);
}

function putFile(fs: DurableFs, directory: string, name: string, text: string): void {
  const path = joinShown(directory, name);
  const temporary = joinShown(directory, temporaryOf(name));
  removeIfThere(fs, temporary);
  const writer: FileWriter = fs.createFile(temporary, 0o600);
  try {
    writer.write(new TextEncoder().encode(text));
    writer.sync();
  } finally {
    writer.close();
  }
  fs.rename(temporary, path);
  fs.syncDirectory(directory);
}

function temporaryOf(name: string): string {
  return `.${name}.tmp`;
}

/** How to go on after an interruption. */
export function resumeWords(shards: readonly string[], target: string): string {
  return `felix-fsck salvage ${shards.map(shellPath).join(' ')} --to ${shellPath(target)} --resume`;
}
