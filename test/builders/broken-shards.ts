/**
 * Shards that a repair has something to do with, each with the command that plans it.
 */

import { concatBytes } from '../../src/format/bytes.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeSegmentHeader } from '../../src/format/segment-header.js';
import { createFile, damaged, deleteFile, flipBit, truncate } from './damage.js';
import { plainRun } from './records.js';
import { buildSegment } from './segments.js';
import { buildShard, indexName, logName, type ShardImage, threeSegments } from './shards.js';
import { cacheShard, offloaded } from './sidecars.js';

export interface BrokenShard {
  readonly name: string;
  readonly image: ShardImage;
  /** The planning command and its options; the shard's path comes behind it. */
  readonly command: readonly string[];
}

/**
 * Every kind of step at once: the newest segment ends in half a record at offset 95, its index reaches into that, the manifest
 * names an object for offsets 95..99, epochs a generation from 95 on, and two empty segments lie behind.
 */
export function tornEverywhere(): BrokenShard {
  const sealed = buildSegment({ records: plainRun(0n, 60, { payloadLength: 200 }) });
  const newest = buildSegment({ records: plainRun(60n, 36, { payloadLength: 200 }), indexSpacing: 512 });
  const beyond = buildSegment({ records: plainRun(95n, 5) });
  const header = (baseOffset: bigint) =>
    encodeSegmentHeader({ version: 3, baseOffset, createdAtMicros: 1n, reserved: 0 });
  const image = buildShard({
    segments: [sealed, newest],
    sidecars: {
      epochs: encodeEpochs({
        entries: [
          { generation: 1n, startOffset: 0n },
          { generation: 2n, startOffset: 95n },
        ],
      }),
      replica: encodeReplica({ generation: 2n, commit: 90n }),
      'offload.manifest': encodeManifest({ entries: [offloaded(sealed, 0n), offloaded(beyond, 2n)] }),
      producers: new TextEncoder().encode('not a snapshot'),
      'keys.idx': cacheShard().image.get('keys.idx')!,
    },
  });
  return {
    name: 'a torn tail, and every small file with something to lose',
    image: damaged(
      image,
      truncate(logName(1), newest.log.length - 7),
      createFile(logName(2), header(500n)),
      createFile(indexName(2), sealed.index.slice(0, 24)),
      createFile(logName(3), new Uint8Array(11)),
    ),
    command: ['repair-tail', '--lose-intact', '5'],
  };
}

export function tornTail(): BrokenShard {
  const { image, segments } = threeSegments();
  const torn = truncate(logName(2), segments[2]!.log.length - 9);
  return { name: 'a torn tail', image: damaged(image, torn), command: ['repair-tail'] };
}

export function blankFirst(): BrokenShard {
  const image = new Map([[logName(0), new Uint8Array(32)] as const]);
  return { name: 'a blank first segment', image, command: ['repair-tail'] };
}

export function twoIndexes(): BrokenShard {
  const { image } = threeSegments();
  const damages = [deleteFile(indexName(0)), createFile(indexName(1), concatBytes([new Uint8Array(24)]))];
  return {
    name: 'an index that is missing and one that is blank',
    image: damaged(image, ...damages),
    command: ['rebuild-index'],
  };
}

/** A record that is made whole by turning one bit back. */
export function flippedBit(): BrokenShard {
  const { image, segments } = threeSegments();
  const damage = flipBit(logName(1), segments[1]!.positions[2]! + 30, 4);
  return { name: 'a flipped bit', image: damaged(image, damage), command: ['heal', '--accept-bit-flip'] };
}

export const BROKEN_SHARDS: readonly (() => BrokenShard)[] = [tornEverywhere, tornTail, blankFirst, twoIndexes];
