import assert from "node:assert/strict";
import { test } from "node:test";

import { counted, ends, largest, shown, signed } from "./numbers";

test("a number has a true minus sign, and a zero has none", () => {
  assert.deepEqual([shown(-1.2345), shown(-0.0001), shown(2, 1)], ["−1.234", "0.000", "2.0"]);
});

test("the ends of a scale have as many decimals as tell them apart", () => {
  assert.deepEqual(ends(0, 0.234), ["0.00", "0.23"]);
  assert.deepEqual(ends(0.0975, 0.1025), ["0.098", "0.102"]);
  assert.deepEqual(ends(0.1, 0.10004), ["0.1000", "0.1000"]);
});

test("a whole number has a comma after the thousands", () => {
  assert.deepEqual([counted(0), counted(999), counted(1152), counted(1234567)], ["0", "999", "1,152", "1,234,567"]);
  assert.deepEqual([counted(33296998.4), counted(-1152.6), counted(-0.2)], ["33,296,998", "−1,153", "0"]);
});

test("a signed number says plus as well", () => {
  assert.deepEqual([signed(0.5), signed(-0.25, 1), signed(-0.004)], ["+0.50", "−0.3", "+0.00"]);
});

test("the largest numbers are found where they stand, and the one that is asked for is among them", () => {
  assert.deepEqual(largest([3, 9, 1, 7, 2], 2, 1), [1, 3]);
  assert.deepEqual(largest([3, 9, 1, 7, 2], 2, 4), [1, 4]);
  assert.deepEqual(largest(new Float32Array([3, 9]), 5, 0), [0, 1]);
});
