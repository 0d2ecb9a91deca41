// What app/components/bundle.py packs: the length of a header (4 bytes, little-endian), the header (JSON), then float32
// arrays one after the other. Gives the header's own fields and each array by its name.
function unpack(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { arrays, ...fields } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const numbers = new Float32Array(bytes.slice(4 + size).buffer); // a copy of its own starts at a multiple of 4
  let at = 0;
  for (const [name, count] of arrays) fields[name] = numbers.subarray(at, (at += count));
  return fields;
}
