/**
 * The values that all outputs are made of, as schemas.
 *
 * Objects are open: fields may be added to any of them, and what is named here stays. Integers of 64 bits are decimal
 * strings; checksums, magics and flags are hex text of their full width.
 */

import * as z from 'zod';
import { CATALOGUE_GROUPS } from '../domain/catalogue-groups.js';
import { type FindingKind, SEVERITIES } from '../domain/finding.js';

/** A value of the domain as it stands in JSON. A schema is held to the type of what it describes with it. */
export type Json<T> = T extends bigint
  ? string
  : T extends readonly (infer U)[]
    ? Json<U>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

export const u64 = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,19})$/)
  .meta({ id: 'u64', description: 'An unsigned integer of 64 bits in decimal digits' });
export const count = z
  .int()
  .min(0)
  .meta({ id: 'count', description: 'A whole number: bytes, a byte position, or a count' });
export const hex16 = z.string().regex(/^0x[0-9a-f]{4}$/);
export const hex32 = z.string().regex(/^0x[0-9a-f]{8}$/);
export const severity = z.enum(SEVERITIES).meta({ id: 'severity' });
export const kind = z
  .enum(CATALOGUE_GROUPS.flatMap(({ kinds }) => kinds) as [FindingKind, ...FindingKind[]])
  .meta({ id: 'kind', description: 'A kind of finding; felix-fsck explain KIND tells all about it' });
export const offsetRange = z
  .looseObject({ from: u64, to: u64 })
  .meta({ id: 'offsetRange', description: 'Offsets, half-open' });
export const byteRange = z
  .looseObject({ from: count, to: count })
  .meta({ id: 'byteRange', description: 'Byte positions, half-open' });
export const site = z
  .looseObject({ shard: z.exactOptional(z.string()), segment: z.exactOptional(u64), position: z.exactOptional(count) })
  .meta({ id: 'site', description: 'Where damage is; parts that are not known are left out' });
export const tool = z.looseObject({ name: z.string(), version: z.string() }).meta({ id: 'tool' });
export const facts = z.record(z.string(), z.json());

/** The schema's name and number, as every document carries it. */
export function schemaId<const T extends string>(id: T) {
  return z.literal(id);
}
