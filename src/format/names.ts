/**
 * Names on disk: segment files, shard directories, and the hash that ties a directory to its key ("Directory layout").
 *
 * The readable part of a directory name is lossy, so a name proves a key only when trying its components as the key
 * gives the same hash. Names are taken as text here; a name that is not UTF-8 is never one of these.
 */

import { U64_MAX } from '../domain/units.js';

export interface ShardKey {
  readonly tenant: string;
  readonly namespace: string;
  readonly stream: string;
  readonly shard: number;
}

/** 20 digits, so that lexicographic and numeric order agree. */
export function segmentFileName(id: bigint): string {
  return `${id.toString().padStart(20, '0')}.log`;
}

export function indexFileName(id: bigint): string {
  return `${id.toString().padStart(20, '0')}.index`;
}

const SEGMENT_NAME = /^\+?([0-9]+)\.log$/;
const INDEX_NAME = /^([0-9]{20})\.index$/;

/** The segment id that a broker reads out of a file name, zero-padded or not; null when it takes it for no segment. */
export function segmentIdOf(fileName: string): bigint | null {
  return idIn(SEGMENT_NAME.exec(fileName));
}

/** The segment id of an index file that a broker would open. */
export function indexIdOf(fileName: string): bigint | null {
  return idIn(INDEX_NAME.exec(fileName));
}

function idIn(match: RegExpExecArray | null): bigint | null {
  if (match === null) return null;
  const id = BigInt(match[1]!);
  return id <= U64_MAX ? id : null;
}

/** FNV-1a 64 of the exact key: each string's UTF-8 length as a big-endian u64, its bytes, then the shard as a u32. */
export function shardKeyHash(key: ShardKey): bigint {
  let hash = 0xcbf29ce484222325n;
  const eat = (byte: number) => {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & U64_MAX;
  };
  const eatNumber = (value: bigint, bytes: number) => {
    for (let shift = BigInt(8 * (bytes - 1)); shift >= 0n; shift -= 8n) eat(Number((value >> shift) & 255n));
  };
  for (const part of [key.tenant, key.namespace, key.stream]) {
    const bytes = new TextEncoder().encode(part);
    eatNumber(BigInt(bytes.length), 8);
    bytes.forEach(eat);
  }
  eatNumber(BigInt(key.shard), 4);
  return hash;
}

/** The name of a shard's directory; an incarnation above 0 is appended as 16 hex digits. */
export function shardDirectoryName(key: ShardKey, incarnation = 0n): string {
  const readable = [key.tenant, key.namespace, key.stream].map(readablePart).join('_');
  const suffix = incarnation === 0n ? '' : `-${hex64(incarnation)}`;
  return `${readable}_${key.shard}-${hex64(shardKeyHash(key))}${suffix}`;
}

function readablePart(part: string): string {
  const kept = Array.from(part)
    .slice(0, 32)
    .map((character) => (/[A-Za-z0-9-]/.test(character) ? character : '_'))
    .join('');
  return kept === '' ? '_' : kept;
}

function hex64(value: bigint): string {
  return value.toString(16).padStart(16, '0');
}

/** `tenant/namespace/stream/shard`, the label of Felix's own errors. */
export function keyLabel(key: ShardKey): string {
  return `${key.tenant}/${key.namespace}/${key.stream}/${key.shard}`;
}

/** The key that the operator names as `tenant/namespace/stream/shard`; null when it has not that shape. */
export function parseKeyLabel(label: string): ShardKey | null {
  const match = /^([^/]*)\/([^/]*)\/([^/]*)\/([0-9]+)$/.exec(label);
  if (match === null) return null;
  const shard = Number(match[4]);
  return shard <= 0xffffffff ? { tenant: match[1]!, namespace: match[2]!, stream: match[3]!, shard } : null;
}

export interface ShardName {
  readonly readable: string;
  readonly shard: number;
  /** 16 hex digits. */
  readonly hash: string;
  /** 16 hex digits, or null for the streams from before incarnations. */
  readonly incarnation: string | null;
  /** The key, when the readable part proves it. */
  readonly key: ShardKey | null;
}

const SHARD_NAME = /^([A-Za-z0-9_-]+)_(0|[1-9][0-9]{0,9})-([0-9a-f]{16})(?:-((?!0{16})[0-9a-f]{16}))?$/;

/** Takes a directory name apart; null when it is not the name of a shard's directory. */
export function parseShardName(name: string): ShardName | null {
  const match = SHARD_NAME.exec(name);
  if (match === null) return null;
  const [, readable, digits, hash, incarnation] = match;
  const shard = Number(digits);
  if (shard > 0xffffffff) return null;
  return {
    readable: readable!,
    shard,
    hash: hash!,
    incarnation: incarnation ?? null,
    key: provenKey(readable!, shard, hash!),
  };
}

/** Tries every way to split the readable part into three components, an empty one being written `_`. */
function provenKey(readable: string, shard: number, hash: string): ShardKey | null {
  const cuts = Array.from(readable.matchAll(/_/g), ({ index }) => index);
  if (cuts.length > 40) return null;
  for (const [place, first] of cuts.entries()) {
    for (const second of cuts.slice(place + 1)) {
      const parts = [readable.slice(0, first), readable.slice(first + 1, second), readable.slice(second + 1)];
      const [tenants, namespaces, streams] = parts.map((part) => (part === '_' ? ['_', ''] : [part]));
      for (const tenant of tenants!) {
        for (const namespace of namespaces!) {
          for (const stream of streams!) {
            const key = { tenant, namespace, stream, shard };
            if (hex64(shardKeyHash(key)) === hash) return key;
          }
        }
      }
    }
  }
  return null;
}

export interface ObjectKey {
  /** Null in keys that an early build wrote. */
  readonly nodeId: string | null;
  readonly directory: string;
  readonly baseOffset: bigint;
  readonly segmentId: bigint;
}

const OBJECT_KEY = /^(?:(.*)\/)?([^/]*)\/([0-9]{20})-([0-9]{20})\.segment$/s;

/** Takes an object key apart ("offload.manifest"); null when it has another shape. */
export function parseObjectKey(key: string): ObjectKey | null {
  const match = OBJECT_KEY.exec(key);
  if (match === null) return null;
  const [, nodeId, directory, base, id] = match;
  return { nodeId: nodeId ?? null, directory: directory!, baseOffset: BigInt(base!), segmentId: BigInt(id!) };
}
