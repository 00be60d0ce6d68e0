/**
 * The texts in a bundle for support ("felix-fsck.evidence/1").
 */

import type { BundledFile, BundleFacts, Surroundings } from '../domain/evidence-bundle.js';
import { microsText } from './instants.js';
import { toJsonDocument } from './json.js';
import { wrap } from './wrap.js';

const EVIDENCE_SCHEMA = 'felix-fsck.evidence/1';
const WIDTH = 80;

/** What the bundle is of, and who made it with what. `leftOut` are sentences. */
export function renderBundleAbout(facts: BundleFacts, leftOut: readonly string[]): string {
  const { tool, createdAtMicros, shard, settings, withPayloads, platform } = facts;
  return toJsonDocument({
    schema: EVIDENCE_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    createdAtMicros,
    shard: { path: shard.path, name: shard.name, key: shard.key },
    settings,
    withPayloads,
    platform,
    leftOut,
  });
}

/** Every entry of the directory, in its order. */
export function renderBundleFiles(files: readonly BundledFile[]): string {
  return toJsonDocument({
    schema: EVIDENCE_SCHEMA,
    files: files.map(({ name, type, size, mtimeNs, sha256, problem }) => {
      return { name, type, size, mtimeNs, sha256, problem };
    }),
  });
}

/** One damage and the records around it. */
export function renderSurroundings({ file, kind, position, end, pieces }: Surroundings): string {
  return toJsonDocument({ schema: EVIDENCE_SCHEMA, file, kind, damagedRange: { from: position, to: end }, pieces });
}

/** For the person who unpacks it. */
export function renderBundleReadme({ tool, createdAtMicros, shard, withPayloads }: BundleFacts): string {
  const payloads = withPayloads
    ? 'Payloads of records near a damage, keys of caches and bytes of unknown content ARE in this bundle: whoever ' +
      'made it asked for that. Treat it as you treat the data.'
    : 'Payloads of records and keys of caches are NOT in this bundle, nor are damaged bytes that may be either. ' +
      'Where they would stand, "hex" is null. Names of streams, offsets, times and producer ids are in it.';
  const contents = [
    ['about.json', 'the tool, the machine, the settings, and what was left out'],
    ['verify.json, verify.txt', 'the full check'],
    ['inspect.json', 'headers, indexes and small files, decoded'],
    ['files.json', 'every file with its size, modification time and SHA-256'],
    ['headers/', 'the first bytes of segments and indexes, as they are'],
    ['indexes/', 'indexes of segments with findings, as they are'],
    ['sidecars/', 'the small files, as they are'],
    ['damage/', 'each damage with the records in front of it and behind it'],
  ] as const;
  const lines = [
    ...wrap(
      `Evidence of ${shard.name}, taken by ${tool.name} ${tool.version} on ${microsText(createdAtMicros)}.`,
      WIDTH,
    ),
    '',
    ...wrap(payloads, WIDTH),
    '',
    ...contents.flatMap(([name, what]) => wrap(`${name}: ${what}`, WIDTH, { rest: '  ' })),
  ];
  return `${lines.join('\n')}\n`;
}
