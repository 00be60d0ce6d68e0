/**
 * The only module that changes a file system.
 *
 * Every change is one call of {@link DurableFs}, and every call is told to a hook before it is made. A test counts calls
 * through it, makes one fail, or ends everything there; the shipped command line passes no hook, so that nothing outside
 * the process can reach in. Files are made anew and never opened for writing over old bytes: what is there is replaced by
 * a rename, so that a reader, and a crash, finds the old file or the new one.
 *
 * Nothing is durable before it is asked to be: {@link FileWriter.sync} for bytes, {@link DurableFs.syncDirectory} for names.
 */

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';

export type FsCallKind =
  | 'make-directory'
  | 'create'
  | 'write'
  | 'sync'
  | 'sync-directory'
  | 'rename'
  | 'link'
  | 'symlink'
  | 'unlink'
  | 'remove-directory'
  | 'set-mode'
  | 'set-owner'
  | 'set-times';

export interface FsCall {
  readonly kind: FsCallKind;
  /** The path that changes: of a rename or link, the new name. */
  readonly path: string;
  /** The old name of a rename or link. */
  readonly from?: string;
}

/** Told of each call before it is made; an error with a `code` that it throws counts as the system's. */
export type FsHook = (call: FsCall) => void;

/** A change that the system refused. Whether anything of it happened is for the caller to look up. */
export class WriteFailure extends Error {
  /** The system's code: `ENOSPC`, `EIO`, `EACCES`. */
  readonly code: string;
  readonly call: FsCall;

  constructor(call: FsCall, error: Error) {
    super(error.message);
    this.name = 'WriteFailure';
    this.code = 'code' in error ? String(error.code) : 'EUNKNOWN';
    this.call = call;
  }
}

/** A new file being written, from its start to its end. Close it on every way out. */
export interface FileWriter {
  write(bytes: Uint8Array): void;
  setMode(mode: number): void;
  setOwner(uid: number, gid: number): void;
  /** Returns when the bytes, the mode and the owner are on the device. */
  sync(): void;
  close(): void;
}

export class DurableFs {
  readonly #hook: FsHook;

  constructor(hook: FsHook = () => {}) {
    this.#hook = hook;
  }

  /** The parent must be there, and the name must not. */
  makeDirectory(path: string, mode: number): void {
    this.#call({ kind: 'make-directory', path }, () => mkdirSync(path, { mode }));
    this.#call({ kind: 'set-mode', path }, () => chmodSync(path, mode));
  }

  /** Makes a file that is not there yet, whatever the umask says with exactly this mode; a link is never followed. */
  createFile(path: string, mode: number): FileWriter {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const descriptor = this.#call({ kind: 'create', path }, () => openSync(path, flags, 0o600));
    const on = (kind: FsCallKind, work: () => void) => this.#call({ kind, path }, work);
    const writer: FileWriter = {
      write: (bytes) =>
        on('write', () => {
          for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
        }),
      setMode: (bits) => on('set-mode', () => fchmodSync(descriptor, bits)),
      setOwner: (uid, gid) => on('set-owner', () => fchownSync(descriptor, uid, gid)),
      sync: () => on('sync', () => fsyncSync(descriptor)),
      close: () => closeSync(descriptor),
    };
    try {
      if (mode !== 0o600) writer.setMode(mode);
      return writer;
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  /** Replaces what has the new name. Durable once the directories of both names are synced. */
  rename(from: string, to: string): void {
    this.#call({ kind: 'rename', path: to, from }, () => renameSync(from, to));
  }

  /** A second name for a file; the name must be free. */
  link(existing: string, name: string): void {
    this.#call({ kind: 'link', path: name, from: existing }, () => linkSync(existing, name));
  }

  symlink(target: string, name: string): void {
    this.#call({ kind: 'symlink', path: name, from: target }, () => symlinkSync(target, name));
  }

  unlink(path: string): void {
    this.#call({ kind: 'unlink', path }, () => unlinkSync(path));
  }

  /** The directory must be empty. */
  removeDirectory(path: string): void {
    this.#call({ kind: 'remove-directory', path }, () => rmdirSync(path));
  }

  setMode(path: string, mode: number): void {
    this.#call({ kind: 'set-mode', path }, () => chmodSync(path, mode));
  }

  setOwner(path: string, uid: number, gid: number): void {
    this.#call({ kind: 'set-owner', path }, () => chownSync(path, uid, gid));
  }

  /** To the microsecond: the platform sets times no finer. */
  setTimes(path: string, atimeNs: bigint, mtimeNs: bigint): void {
    this.#call({ kind: 'set-times', path }, () => utimesSync(path, seconds(atimeNs), seconds(mtimeNs)));
  }

  /** Syncs a file that somebody else may have written. */
  syncFile(path: string): void {
    this.#call({ kind: 'sync', path }, () => syncPath(path, constants.O_NOFOLLOW));
  }

  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void {
    this.#call({ kind: 'sync-directory', path }, () => syncPath(path, constants.O_DIRECTORY));
  }

  #call<T>(call: FsCall, work: () => T): T {
    try {
      this.#hook(call);
      return work();
    } catch (error) {
      if (error instanceof Error && 'code' in error) throw new WriteFailure(call, error);
      throw error;
    }
  }
}

function syncPath(path: string, flags: number): void {
  const descriptor = openSync(path, constants.O_RDONLY | flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Half a microsecond is added because the platform cuts off what is behind it. */
function seconds(ns: bigint): number {
  return Number(ns / 1000n) / 1e6 + 2.5e-7;
}
