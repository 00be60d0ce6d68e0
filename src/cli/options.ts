/**
 * Options that several commands share, read out of what the parser gives.
 */

import { availableParallelism } from 'node:os';
import type { BrokerSettings } from '../domain/report.js';
import { fail } from '../domain/result.js';
import { parseKeyLabel, type ShardKey } from '../format/names.js';
import type { ColorChoice } from './context.js';

export type Options = Readonly<Record<string, unknown>>;
export type Format = 'table' | 'json' | 'ndjson';

export function formatOf(options: Options): Format {
  return options['format'] as Format;
}

export function colorOf(options: Options): ColorChoice {
  return (options['color'] as ColorChoice | undefined) ?? 'auto';
}

export function flag(options: Options, name: string): boolean {
  return options[name] === true;
}

export function listOf(options: Options, name: string): readonly string[] {
  return (options[name] as readonly string[] | undefined) ?? [];
}

/** Threads to use; as many as the machine has cores unless told. */
export function jobsOf(options: Options): number {
  const jobs = options['jobs'] as number | undefined;
  if (jobs !== undefined && (jobs < 1 || jobs > 256)) fail({ reason: 'usage', message: '--jobs is from 1 to 256' });
  return jobs ?? availableParallelism();
}

export function settingsOf(options: Options): BrokerSettings {
  const indexSpacing = options['indexSpacing'] as number;
  if (indexSpacing < 1) fail({ reason: 'usage', message: '--index-spacing is at least 1 byte' });
  return {
    repairChecksumTail: flag(options, 'repairChecksumTail'),
    verifyAllOnOpen: flag(options, 'verifyAllOnOpen'),
    indexSpacing,
  };
}

export function shardKeyOf(options: Options): ShardKey | null {
  const label = options['shardKey'];
  if (typeof label !== 'string') return null;
  const key = parseKeyLabel(label);
  if (key === null) fail({ reason: 'usage', message: `--shard-key ${label}: it is tenant/namespace/stream/shard` });
  return key;
}
