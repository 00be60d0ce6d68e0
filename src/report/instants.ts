/**
 * Times for people: u64 microseconds since 1970 as UTC.
 */

/** The last microsecond that a calendar of this platform holds: 100,000,000 days after 1970. */
const LAST_DATE_MICROS = 8_640_000_000_000_000_999n;

/** `2026-01-01T00:00:00.000000Z`; a time that no calendar date stands for is given as its number. */
export function microsText(micros: bigint): string {
  const iso = microsIso(micros);
  return iso ?? `${micros} microseconds`;
}

/** The same for JSON; null for a time that no calendar date stands for. */
export function microsIso(micros: bigint): string | null {
  if (micros < 0n || micros > LAST_DATE_MICROS) return null;
  const milliseconds = new Date(Number(micros / 1000n)).toISOString().slice(0, -1);
  return `${milliseconds}${String(micros % 1000n).padStart(3, '0')}Z`;
}
