/**
 * Plans as JSON (`felix-fsck.plan/1`): written, and taken back only when they are whole.
 *
 * The text carries a SHA-256 over everything else in it, so that a plan cut short or edited by hand is refused and not
 * carried out. It guards against accidents, not against somebody who forges plans: `apply` therefore checks everything
 * else that a plan claims as well.
 */

import { createHash } from 'node:crypto';
import type { FileState, Plan } from '../domain/plan.js';
import { err, ok, type Result } from '../domain/result.js';

/** More bytes than this are never read as a plan. */
export const MAX_PLAN_BYTES = 64 * 1024 * 1024;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The plan as a JSON value, its digest last. Any way of spelling that value as text is a plan file. */
export function planValue(plan: Plan): Json {
  const value = jsonOf(plan) as { readonly [key: string]: Json };
  return { ...value, sha256: digestOf(value) };
}

/** The SHA-256 that stands in the plan's file; names the plan. */
export function planDigest(plan: Plan): string {
  return digestOf(jsonOf(plan));
}

/** The plan as text, as it is kept in journals. */
export function encodePlan(plan: Plan): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(planValue(plan), null, 2)}\n`);
}

/** Takes a plan from text; the error is a sentence without a subject, such as "is not JSON". */
export async function decodePlan(bytes: Uint8Array): Promise<Result<Plan, string>> {
  const value = parse(bytes);
  if (value === undefined) return err('is not JSON, or only the beginning of it');
  const { sha256, ...rest } = (value ?? {}) as { readonly [key: string]: Json };
  if (typeof rest['schema'] !== 'string' || !rest['schema'].startsWith('felix-fsck.plan/')) return err('is not a plan');
  if (sha256 !== digestOf(rest))
    return err('was changed after it was made, or is not whole: its digest does not match');
  const { PLAN } = await import('./plan-schema.js');
  const parsed = PLAN.safeParse(rest);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    return err(`is not a plan that this build takes: ${path.join('.')}: ${message}`);
  }
  const broken = contradictionIn(parsed.data);
  return broken === null ? ok(parsed.data) : err(`contradicts itself: ${broken}`);
}

/** True when both hold the same, or neither is there. */
export function isState(found: FileState | null, wanted: FileState | null): boolean {
  if (found === null || wanted === null) return found === wanted;
  return found.size === wanted.size && found.crc32 === wanted.crc32;
}

/** What the shape alone does not say: steps and files must fit each other. Null when they do. */
export function contradictionIn(plan: Plan): string | null {
  const files = new Map(plan.files.map((file) => [file.file, file]));
  if (files.size !== plan.files.length) return 'it names a file twice';
  const touched = new Set<string>();
  for (const { file, before, after, content } of plan.steps) {
    if (touched.has(file)) return `two steps change ${file}`;
    touched.add(file);
    const known = files.get(file) ?? null;
    if (!isState(known, before)) return `a step and the list of files do not agree on ${file}`;
    if (isState(before, after)) return `a step does nothing with ${file}`;
    if (after === null && content.length > 0) return `a step gives content to ${file}, which goes`;
    if (content.some((part) => 'start' in part && part.start > part.end))
      return `a range of ${file} ends before it starts`;
    if (content.some((part) => part.from === 'itself' && part.end > (before?.size ?? 0))) {
      return `a step takes bytes of ${file} that are not there`;
    }
  }
  return plan.shard.path.endsWith(`/${plan.shard.name}`) ? null : 'the name and the path of the shard do not agree';
}

function parse(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
  } catch {
    return undefined;
  }
}

/** Bigint to decimal string, and nothing left that JSON would drop. */
function jsonOf(value: unknown): Json {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonOf(item)]));
}

/** Over the value, not the text: the order of keys and the spelling do not count. */
function digestOf(value: Json): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value as { readonly [key: string]: Json });
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
