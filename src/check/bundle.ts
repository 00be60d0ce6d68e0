/**
 * The files of a shard as a bundle for support names them: what the system says, a hash of the bytes, the first of them.
 */

import { createHash } from 'node:crypto';
import type { BundledFile } from '../domain/evidence-bundle.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import type { Entry } from '../store/walk.js';

const PIECE_BYTES = 1 << 20;

/** Hashes an entry of a shard's directory as long as it was when it was listed; null once `goOn` says no. */
export async function bundledFile(entry: Entry, goOn: () => Promise<boolean>): Promise<BundledFile | null> {
  const { name, type, size, mtimeNs } = entry;
  const facts = { name, type, size, mtimeNs };
  if (type !== 'file') return { ...facts, sha256: null, problem: null };
  const hash = createHash('sha256');
  const problem = await attempt(entry, async (source) => {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size));
    for (let at = 0; at < size; ) {
      if (!(await goOn())) return false;
      const got = source.readAt(piece, at);
      if (got === 0) throw new ReadFailure('SHRANK', at, 'the file ended before the size it had');
      hash.update(piece.subarray(0, got));
      at += got;
    }
    return true;
  });
  if (problem === false) return null;
  const said = problem === true ? null : problem.message;
  return { ...facts, sha256: said === null ? hash.digest('hex') : null, problem: said };
}

async function attempt<T>(entry: Entry, work: (source: FileSource) => Promise<T>): Promise<T | ReadFailure> {
  let source: FileSource | null = null;
  try {
    source = FileSource.open(entry.path, entry.size);
    return await work(source);
  } catch (failure) {
    if (failure instanceof ReadFailure) return failure;
    throw failure;
  } finally {
    source?.close();
  }
}

/** The first `limit` bytes of a file, or all of a shorter one; null when they cannot be read. */
export async function firstBytesOf(entry: Entry, limit: number): Promise<Uint8Array | null> {
  const bytes = await attempt(entry, async (source) => {
    const wanted = Buffer.alloc(Math.min(limit, source.size));
    let at = 0;
    for (let got = 1; at < wanted.length && got > 0; at += got) got = source.readAt(wanted.subarray(at), at);
    return wanted.subarray(0, at);
  });
  return bytes instanceof ReadFailure ? null : bytes;
}
