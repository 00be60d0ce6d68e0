/**
 * The facts of a shard image, as the checks of its relations take them: every file read, from memory.
 *
 * Roles, base and tail are told by the plainest rule (the last segment is the newest, the log ends at its first damage),
 * so that a test which needs others says so.
 */

import type { Subject } from '../../src/check/make-finding.js';
import type { SegmentFacts, ShardFacts, SidecarFile } from '../../src/check/shard-facts.js';
import type { Finding } from '../../src/domain/finding.js';
import type { SidecarReading } from '../../src/domain/sidecar.js';
import { decodeBallot } from '../../src/format/ballot.js';
import { type ByteFeed, feedOf } from '../../src/format/bytes.js';
import { decodeEpochs } from '../../src/format/epochs.js';
import { decodeKeysIndex } from '../../src/format/keys-index.js';
import { decodeManifest } from '../../src/format/manifest.js';
import { segmentIdOf } from '../../src/format/names.js';
import { decodeProducers } from '../../src/format/producers.js';
import { decodeReplica } from '../../src/format/replica.js';
import { scanSegmentFile } from '../../src/scan/segment-file.js';
import { type ByteSource, MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { timestampOf } from './records.js';
import { SHARD_DIR_NAME, SHARD_KEY, type ShardImage } from './shards.js';

export const SUBJECT: Subject = { label: SHARD_KEY, path: `/data/${SHARD_DIR_NAME}` };

const DAY_MICROS = 86_400_000_000n;

export interface FactsOptions extends Partial<Omit<ShardFacts, 'segments' | 'sidecars' | 'open'>> {
  /** Files whose reading fails once the facts are made. */
  readonly failing?: readonly string[];
  readonly windowBytes?: number;
}

export function factsOf(image: ShardImage, options: FactsOptions = {}): ShardFacts {
  const { failing = [], windowBytes, ...rest } = options;
  const segments = segmentsOf(image, options);
  const newest = segments.at(-1)?.scan ?? null;
  const cut = newest?.records?.damages[0];
  return {
    label: SHARD_KEY,
    name: SHARD_DIR_NAME,
    path: SUBJECT.path,
    segments,
    sidecars: {
      epochs: sidecar(image, 'epochs', decodeEpochs),
      replica: sidecar(image, 'replica', decodeReplica),
      ballot: sidecar(image, 'ballot', decodeBallot),
      manifest: sidecar(image, 'offload.manifest', (feed) => decodeManifest(feed)),
      producers: sidecar(image, 'producers', decodeProducers),
      keys: sidecar(image, 'keys.idx', (feed) => decodeKeysIndex(feed)),
    },
    base: segments[0]?.scan?.head.header?.baseOffset ?? null,
    tail: cut === undefined ? (newest?.records?.nextOffset ?? null) : cut.offset,
    settings: { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 },
    quick: false,
    ...rest,
    open: (file) => Object.assign(failing.includes(file) ? failingSource() : sourceOf(image, file), { close() {} }),
  };
}

function segmentsOf(image: ShardImage, { quick = false, windowBytes }: FactsOptions): SegmentFacts[] {
  const logs = [...image.keys()].filter((file) => segmentIdOf(file) !== null).sort();
  return logs.map((file, i) => {
    const isNewest = i === logs.length - 1;
    const indexFile = file.replace(/log$/, 'index');
    const index = image.has(indexFile) ? sourceOf(image, indexFile) : null;
    const steps = scanSegmentFile(sourceOf(image, file), index, {
      nowMicros: timestampOf(0n) + DAY_MICROS,
      quick: quick && !isNewest,
      ...(windowBytes === undefined ? {} : { windowBytes }),
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return {
      id: segmentIdOf(file)!,
      file,
      size: image.get(file)!.length,
      role: isNewest ? 'newest' : 'sealed',
      scan: step.value,
      problem: null,
      indexFile,
      indexSize: index?.size ?? null,
    };
  });
}

function sidecar<T>(
  image: ShardImage,
  file: string,
  decode: (feed: ByteFeed) => SidecarReading<T>,
): SidecarFile<T> | null {
  const bytes = image.get(file);
  return bytes === undefined ? null : { file, size: bytes.length, reading: decode(feedOf(bytes)), problem: null };
}

function sourceOf(image: ShardImage, file: string): ByteSource {
  const bytes = image.get(file);
  if (bytes === undefined) throw new ReadFailure('ENOENT', 0, 'no such file');
  return new MemorySource(bytes);
}

function failingSource(): ByteSource {
  return {
    size: 1 << 20,
    readAt() {
      throw new ReadFailure('EIO', 0, 'input/output error');
    },
  };
}

/** The files of an image with some replaced or added. */
export function withFiles(image: ShardImage, files: Readonly<Record<string, Uint8Array>>): ShardImage {
  return new Map([...image, ...Object.entries(files)]);
}

/** The files of an image without some. */
export function withoutFiles(image: ShardImage, ...files: readonly string[]): ShardImage {
  return new Map([...image].filter(([file]) => !files.includes(file)));
}

/** Findings in a form that a test can name whole: `error EpochOrder epochs@28`. */
export function told({ findings }: { readonly findings: readonly Finding[] }): string[] {
  return findings.map(({ severity, kind, file, site }) => {
    return `${severity} ${kind} ${file ?? '-'}${site.position === undefined ? '' : `@${site.position}`}`;
  });
}
