/**
 * Linear maps of 32 bits over single bits, as four lookups: the algebra that checksums of long ranges rest on.
 */

/** The table of a map that is linear in every bit of its argument, from what it does to each single bit. */
export function linearTable(map: (value: number) => number): Int32Array {
  const basis = Array.from({ length: 32 }, (_, bit) => map(1 << bit));
  const table = new Int32Array(1024);
  for (let byte = 0; byte < 256; byte++) {
    for (let place = 0; place < 4; place++) {
      let value = 0;
      for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) value ^= basis[place * 8 + bit]!;
      table[place * 256 + byte] = value;
    }
  }
  return table;
}

/** The map's value; signed. */
export function applyTable(table: Int32Array, value: number): number {
  return (
    table[value & 255]! ^
    table[256 + ((value >>> 8) & 255)]! ^
    table[512 + ((value >>> 16) & 255)]! ^
    table[768 + (value >>> 24)]!
  );
}
