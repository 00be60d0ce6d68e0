/**
 * A file system that a test can ask what was changed in it, in which order, and what was left open.
 */

import path from 'node:path';
import { DurableFs, type FileWriter, type FsCall, type FsHook } from '../../src/repair/durable-fs.js';

export class WatchedFs extends DurableFs {
  readonly #calls: FsCall[];
  /** Files that were made and are not closed yet. */
  readonly open = new Set<string>();

  /** `hook` is told after the call was kept. */
  constructor(hook: FsHook = () => {}) {
    const calls: FsCall[] = [];
    super((call) => {
      calls.push(call);
      hook(call);
    });
    this.#calls = calls;
  }

  override createFile(file: string, mode: number): FileWriter {
    const writer = super.createFile(file, mode);
    this.open.add(file);
    const close = () => {
      if (!this.open.delete(file)) throw new Error(`${file} is closed twice`);
      writer.close();
    };
    return { ...writer, close };
  }

  /** Changes since the last time that this was asked, a line each, with paths as they are seen from `root`. */
  told(root: string): string[] {
    const shown = (file: string) => path.relative(root, file) || '.';
    return this.#calls
      .splice(0)
      .map(({ kind, path: at, from }) => `${kind} ${shown(at)}${from === undefined ? '' : ` <- ${shown(from)}`}`);
  }
}

/** Makes each call of a kind fail as the system would, where the path ends in `path`. */
export function refusing(kind: FsCall['kind'], { code = 'EIO', path: end = '' } = {}): FsHook {
  return (call) => {
    if (call.kind !== kind || !call.path.endsWith(end)) return;
    throw Object.assign(new Error(`${code}: injected, ${call.kind}`), { code });
  };
}
