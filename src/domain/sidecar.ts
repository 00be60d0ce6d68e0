/**
 * What may be wrong with one of the small files beside the segments, and what a decoder gives back.
 *
 * A decoder never throws for what the bytes say. Its order of checks is the contract's: length of the fixed part, magic,
 * version, counted length, checksum, fields; the first failure ends the decoding.
 */

export type SidecarDamage =
  | { readonly kind: 'SidecarMagic'; readonly position: number; readonly expected: string; readonly found: string }
  | { readonly kind: 'SidecarVersion'; readonly position: number; readonly known: number; readonly found: number }
  | {
      readonly kind: 'SidecarTruncated';
      readonly position: number;
      readonly needed: number;
      readonly available: number;
    }
  | { readonly kind: 'SidecarTrailingBytes'; readonly position: number; readonly extra: number }
  | { readonly kind: 'SidecarChecksum'; readonly position: number; readonly expected: string; readonly found: string }
  | { readonly kind: 'SidecarField'; readonly position: number; readonly field: string; readonly problem: string };

export interface SidecarReading<T> {
  /** The decoded content; null when a reader would refuse the file. */
  readonly value: T | null;
  /** What could be read before the damage, for showing only: nothing in it is verified when `value` is null. */
  readonly claimed: Partial<T>;
  /** Empty when the file is sound. The first is what a reader meets. Trailing bytes may stand beside a value. */
  readonly damage: readonly SidecarDamage[];
}
