/**
 * Points in time as an operator writes them: ISO 8601, taken as UTC without a zone, or microseconds since 1970.
 */

import { fail } from '../domain/result.js';
import { U64_MAX } from '../domain/units.js';

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** Microseconds; digits beyond are cut off. `option` is named when the text is no time. */
export function parseInstant(text: string, option: string): bigint {
  const micros = /^\d{1,20}$/.test(text) ? BigInt(text) : isoMicros(text);
  if (micros === null || micros < 0n || micros > U64_MAX) {
    fail({ reason: 'usage', message: `${option} ${text}: it is a time like 2026-01-31T23:59:59.5Z, or microseconds` });
  }
  return micros;
}

function isoMicros(text: string): bigint | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, date, minute = '00:00', second = '00', fraction = '', zone = 'Z'] = match;
  const zoned = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const millis = Date.parse(`${date}T${minute}:${second}${zoned}`);
  if (Number.isNaN(millis)) return null;
  return BigInt(millis) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}
