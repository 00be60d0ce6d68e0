/**
 * What one file is taken for: by its name where that is one of the format, as a broker does, else by its first bytes.
 */

import type { ByteFeed } from '../format/bytes.js';
import { type Identity, identify } from '../format/identify.js';
import { indexIdOf, segmentIdOf } from '../format/names.js';
import { SIDECAR_FORMS } from './inspect-sidecar.js';

const IDENTIFYING_BYTES = 1024;

export interface FileKind {
  /** `segment`, `segment-index`, a key of {@link SIDECAR_FORMS}, or a kind of bytes that has no layout here. */
  readonly kind: string;
  /** What the first bytes say, whatever the name. */
  readonly identity: Identity;
}

export function fileKind(name: string, feed: ByteFeed): FileKind {
  const identity = identify(feed.view(0, Math.min(IDENTIFYING_BYTES, feed.size)), feed.size);
  return { kind: kindByName(name) ?? identity.kind, identity };
}

/** Null for a name that is none of the format. */
export function kindByName(name: string): string | null {
  if (segmentIdOf(name) !== null) return 'segment';
  if (indexIdOf(name) !== null) return 'segment-index';
  return SIDECAR_FORMS.has(name) ? name : null;
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
