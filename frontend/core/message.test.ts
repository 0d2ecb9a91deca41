import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesOf, fixture } from "./fixtures";
import { unpack, widen } from "./message";

const { packed, arrays } = fixture("message") as { packed: string; arrays: Record<string, string[]> };

test("what Python packed comes out with its fields and every number of its arrays", () => {
  const { title, upper, nested, ...numbers } = unpack(bytesOf(packed));
  assert.deepEqual({ title, upper, nested }, { title: "û·v × 3", upper: null, nested: { frames: ["a", "b"] } });
  assert.deepEqual(Object.keys(numbers), Object.keys(arrays));
  for (const [name, values] of Object.entries(numbers)) {
    const theirs = arrays[name].map((text) => Math.fround(Number(text === "inf" ? "Infinity" : text)));
    assert.deepEqual([...(values as Float32Array)], theirs);
  }
});

test("a message is read wherever in its buffer it begins", () => {
  const bytes = bytesOf(packed);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  assert.deepEqual(unpack(shifted.subarray(3)), unpack(bytes));
});

test("halves are widened exactly: zeros, subnormals, the largest, infinity and what is no number", () => {
  const bits = [0x0000, 0x8000, 0x0001, 0x03ff, 0x3c00, 0xc000, 0x7bff, 0xfc00, 0x7e00];
  const values = [0, -0, 2 ** -24, 1023 * 2 ** -24, 1, -2, 65504, -Infinity, NaN];
  assert.deepEqual([...widen(Uint16Array.from(bits))], values);
});
