/**
 * The names that a repair may write or remove: those of the format, in the one spelling that a broker opens. A name of
 * these has no slash in it and cannot lead out of the shard's directory.
 */

import { indexIdOf, segmentFileName, segmentIdOf } from '../format/names.js';
import { SHARD_SIDECARS } from '../store/walk.js';

export function isShardFile(name: string): boolean {
  if (SHARD_SIDECARS.includes(name)) return true;
  const segment = segmentIdOf(name);
  if (segment !== null) return name === segmentFileName(segment);
  return indexIdOf(name) !== null;
}

/** True for a name that a broker would look at, in whatever spelling: a new one makes a plan stale. */
export function concernsBroker(name: string): boolean {
  return SHARD_SIDECARS.includes(name) || segmentIdOf(name) !== null || indexIdOf(name) !== null;
}

const TEMPORARY = /^\.felix-fsck\.(.+)\.tmp$/;

/** The name under which a file's new content is written first. */
export function temporaryOf(file: string): string {
  return `.felix-fsck.${file}.tmp`;
}

/** The file that a temporary of ours was for; null for any other name. */
export function fileOfTemporary(name: string): string | null {
  const file = TEMPORARY.exec(name)?.[1];
  return file !== undefined && isShardFile(file) ? file : null;
}
