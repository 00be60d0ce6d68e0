/**
 * Reading and decoding the small files of a shard.
 */

import type { SidecarReading } from '../domain/sidecar.js';
import { decodeBallot } from '../format/ballot.js';
import type { ByteFeed } from '../format/bytes.js';
import { decodeEpochs } from '../format/epochs.js';
import { decodeKeysIndex } from '../format/keys-index.js';
import { decodeManifest } from '../format/manifest.js';
import { decodeProducers } from '../format/producers.js';
import { decodeReplica } from '../format/replica.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource } from '../store/file-source.js';
import type { Entry } from '../store/walk.js';
import type { SidecarFile, Sidecars } from './shard-facts.js';

const FEED_BYTES = 128 * 1024;

/** Decodes the sidecars among `entries`, by name. */
export function readSidecars(entries: ReadonlyMap<string, Entry>): Sidecars {
  const read = <T>(name: string, decode: (feed: ByteFeed) => SidecarReading<T>) =>
    readSidecar(entries.get(name), name, decode);
  return {
    epochs: read('epochs', decodeEpochs),
    replica: read('replica', decodeReplica),
    ballot: read('ballot', decodeBallot),
    manifest: read('offload.manifest', (feed) => decodeManifest(feed)),
    producers: read('producers', decodeProducers),
    keys: read('keys.idx', (feed) => decodeKeysIndex(feed)),
  };
}

/** Opens and decodes one small file; null when there is none. */
export function readSidecar<T>(
  entry: Entry | undefined,
  file: string,
  decode: (feed: ByteFeed) => SidecarReading<T>,
): SidecarFile<T> | null {
  if (entry === undefined) return null;
  let source: FileSource | null = null;
  try {
    source = FileSource.open(entry.path);
    return { file, size: source.size, reading: decode(new Window(source, FEED_BYTES)), problem: null };
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, message, position } = failure;
    return { file, size: entry.size, reading: null, problem: { code, message, position } };
  } finally {
    source?.close();
  }
}
