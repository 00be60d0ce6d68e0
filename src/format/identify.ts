/**
 * What a file is, told by its first bytes and its size, never by its name.
 *
 * The answer is about those bytes alone: a magic is not a sound file, and a file that begins with zeros or text may go on
 * otherwise, so descriptions say how much was looked at. A few hundred bytes are enough; all are used that are given.
 */

import { BALLOT_MAGIC } from './ballot.js';
import { readU16, readU32 } from './bytes.js';
import { EPOCHS_MAGIC } from './epochs.js';
import { INDEX_MAGIC } from './index.js';
import { KEYS_INDEX_MAGIC } from './keys-index.js';
import { MANIFEST_MAGIC } from './manifest.js';
import { PRODUCERS_MAGIC } from './producers.js';
import { REGISTRATION_MAGIC } from './registration.js';
import { REPLICA_MAGIC } from './replica.js';
import { RUN_STATE_MAGIC } from './run-state.js';
import { SEGMENT_MAGIC } from './segment-header.js';
import { STORAGE_ID_MAGIC } from './storage-id.js';

/** Sidecars are called by the name of their file. */
export type FelixKind =
  | 'segment'
  | 'segment-index'
  | 'epochs'
  | 'replica'
  | 'ballot'
  | 'offload.manifest'
  | 'producers'
  | 'keys.idx'
  | 'storage-id'
  | 'run-state'
  | 'registration';

export type IdentityKind =
  | FelixKind
  | 'felix-wire'
  | 'gzip'
  | 'zstd'
  | 'lz4'
  | 'xz'
  | 'bzip2'
  | 'zip'
  | 'elf'
  | 'apple-double'
  | 'json'
  | 'text'
  | 'zeros'
  | 'empty'
  | 'unknown';

export interface Identity {
  readonly kind: IdentityKind;
  /** A noun phrase to stand after "is": "a Felix segment of version 3". */
  readonly description: string;
}

/** Format page, "Magic numbers", and the section of each small file. A u16 version follows each of these. */
const FELIX_MAGICS: readonly (readonly [magic: number, kind: FelixKind, description: string])[] = [
  [SEGMENT_MAGIC, 'segment', 'a Felix segment'],
  [INDEX_MAGIC, 'segment-index', 'a Felix segment index'],
  [EPOCHS_MAGIC, 'epochs', 'a generation history (epochs)'],
  [REPLICA_MAGIC, 'replica', 'a replica file'],
  [BALLOT_MAGIC, 'ballot', 'a ballot'],
  [MANIFEST_MAGIC, 'offload.manifest', 'an offload manifest'],
  [PRODUCERS_MAGIC, 'producers', 'a producer snapshot'],
  [KEYS_INDEX_MAGIC, 'keys.idx', 'a key index (keys.idx)'],
  [STORAGE_ID_MAGIC, 'storage-id', 'a storage-id'],
  [RUN_STATE_MAGIC, 'run-state', 'a run-state'],
  [REGISTRATION_MAGIC, 'registration', 'a registration'],
];

const OTHER_MAGICS: readonly (readonly [magic: readonly number[], kind: IdentityKind, description: string])[] = [
  [[0x46, 0x4c, 0x58, 0x31], 'felix-wire', 'a felix-wire frame (FLX1): network bytes, not storage'],
  [[0x1f, 0x8b], 'gzip', 'gzip-compressed data'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd', 'Zstandard-compressed data'],
  [[0x04, 0x22, 0x4d, 0x18], 'lz4', 'LZ4-compressed data'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'xz', 'XZ-compressed data'],
  [[0x42, 0x5a, 0x68], 'bzip2', 'bzip2-compressed data'],
  [[0x50, 0x4b, 0x03, 0x04], 'zip', 'a ZIP archive'],
  [[0x50, 0x4b, 0x05, 0x06], 'zip', 'an empty ZIP archive'],
  [[0x7f, 0x45, 0x4c, 0x46], 'elf', 'an ELF binary'],
  [[0x00, 0x05, 0x16, 0x07], 'apple-double', 'an AppleDouble file, as macOS writes beside a copied file'],
];

/** Never throws. `size` is the file's; `firstBytes` may be fewer. */
export function identify(firstBytes: Uint8Array, size: number): Identity {
  if (size === 0) return { kind: 'empty', description: 'an empty file' };
  if (firstBytes.length === 0) return { kind: 'unknown', description: 'a file of which no byte was read' };
  const whole = firstBytes.length >= size;
  return (
    felixFile(firstBytes) ??
    otherFile(firstBytes) ??
    zeros(firstBytes, whole) ??
    text(firstBytes, whole) ?? { kind: 'unknown', description: 'bytes of no kind that is known here' }
  );
}

function felixFile(bytes: Uint8Array): Identity | null {
  if (bytes.length < 4) return null;
  const magic = readU32(bytes, 0);
  const known = FELIX_MAGICS.find(([candidate]) => candidate === magic);
  if (known === undefined) return null;
  const [, kind, description] = known;
  if (bytes.length < 6) return { kind, description: `${description}, cut off in its version` };
  return { kind, description: `${description} of version ${readU16(bytes, 4)}` };
}

function otherFile(bytes: Uint8Array): Identity | null {
  const known = OTHER_MAGICS.find(([magic]) => magic.every((byte, index) => bytes[index] === byte));
  return known === undefined ? null : { kind: known[1], description: known[2] };
}

function zeros(bytes: Uint8Array, whole: boolean): Identity | null {
  if (bytes.some((byte) => byte !== 0)) return null;
  return { kind: 'zeros', description: whole ? 'zeros only' : `zeros, at least in its first ${bytes.length} bytes` };
}

function text(bytes: Uint8Array, whole: boolean): Identity | null {
  const decoded = decodeStart(bytes, whole);
  if (decoded === null || /[^\P{Cc}\t\n\f\r\u001b]/u.test(decoded)) return null;
  if (/^\s*(\{\s*["}]|\[\s*[[{"\]])/u.test(decoded)) {
    return { kind: 'json', description: 'JSON text, by its beginning' };
  }
  const encoding = bytes.every((byte) => byte < 0x80) ? 'ASCII' : 'UTF-8';
  return { kind: 'text', description: whole ? `${encoding} text` : `${encoding} text, by its beginning` };
}

/** UTF-8, tolerating a character that is cut off where the looked-at bytes end before the file does. */
function decodeStart(bytes: Uint8Array, whole: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return null;
  }
}
