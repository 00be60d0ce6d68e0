/**
 * A shard as a plan would leave it, worked out in memory by reading the plan alone.
 */

import { readFileSync } from 'node:fs';
import type { ContentPart, Plan, PlanStep } from '../../src/domain/plan.js';
import { concatBytes } from '../../src/format/bytes.js';
import { crc32, hex32 } from '../../src/format/checksum.js';
import { buildIndex } from '../../src/scan/index-build.js';
import { MemorySource } from '../../src/store/byte-source.js';
import type { ShardImage } from './shards.js';

/** Throws when a step does not come to what it promises. */
export function plannedImage(image: ShardImage, plan: Plan): ShardImage {
  const result = new Map(image);
  for (const step of plan.steps) {
    if (step.after === null) {
      result.delete(step.file);
      continue;
    }
    const bytes = contentOf(result, image, step);
    if (bytes.length !== step.after.size || hex32(crc32(bytes)) !== step.after.crc32) {
      throw new Error(`${step.file} does not become what the plan says`);
    }
    result.set(step.file, bytes);
  }
  return result;
}

function contentOf(now: ShardImage, before: ShardImage, step: PlanStep): Uint8Array {
  return concatBytes(step.content.map((part) => bytesOf(part, now, before.get(step.file) ?? new Uint8Array())));
}

function bytesOf(part: ContentPart, now: ShardImage, itself: Uint8Array): Uint8Array {
  switch (part.from) {
    case 'plan':
      return Buffer.from(part.base64, 'base64');
    case 'itself':
      return itself.subarray(part.start, part.end);
    case 'file':
      return readFileSync(part.path).subarray(part.start, part.end);
    case 'records':
      return buildIndex(new MemorySource(now.get(part.segment)!), part.end, part.spacing)!.image;
  }
}
