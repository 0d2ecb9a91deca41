// What capsviz/boards/message.py packs: the length of a header (4 bytes, little-endian), the header (JSON), then arrays
// one after the other, each padded to a multiple of 4 bytes.

const HALVES = "float16";

interface Header {
  arrays: [name: string, kind: "float32" | "float16", count: number][];
  [field: string]: unknown;
}

/** The fields of a message and its arrays, each by its name; the reader says what it is a message of. */
export function unpack(bytes: Uint8Array): Record<string, unknown> {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { arrays, ...fields } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Header;
  const numbers = bytes.slice(4 + size).buffer; // a copy of its own starts at a multiple of 4
  let at = 0;
  for (const [name, kind, count] of arrays) {
    fields[name] = kind === HALVES ? widen(new Uint16Array(numbers, at, count)) : new Float32Array(numbers, at, count);
    at += kind === HALVES ? 4 * Math.ceil(count / 2) : 4 * count;
  }
  return fields;
}

/** float16 to float32, through a table of all 65,536 values. */
export function widen(halves: Uint16Array): Float32Array {
  const table = (wide ??= allHalves());
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) numbers[i] = table[halves[i]];
  return numbers;
}

let wide: Float32Array | undefined;

function allHalves(): Float32Array {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    let size = (1 + fraction / 1024) * 2 ** (exponent - 15);
    if (exponent === 0) size = fraction * 2 ** -24;
    if (exponent === 31) size = fraction ? NaN : Infinity;
    table[bits] = bits & 32768 ? -size : size;
  }
  return table;
}
