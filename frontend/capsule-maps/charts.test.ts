import assert from "node:assert/strict";
import { test } from "node:test";

import { keyEnds, written } from "./charts";

test("a number at the end of a chart has its size in the room that there is", () => {
  const said = [0.25, 12.34, 123_456, 3.25e9, -1.23456789e37].map((value) => written(value, false));
  assert.deepEqual(said, ["0.250", "12.3", "123,456", "3.3e9", "−1.2e37"]);
  assert.equal(written(0.9999, true), "99.99 %");
  assert.deepEqual([written(0.99996, true), written(1e-5, true)], ["> 99.99 %", "< 0.01 %"], "nearly all, hardly any");
  assert.deepEqual([written(1, true), written(0, true)], ["100.0 %", "0.0 %"]);
});

test("the ends of a key have the decimals of their size", () => {
  assert.deepEqual(keyEnds(0.003, -0.01, 0.002), ["≤ −0.0030", "0.0030"]);
  assert.deepEqual(keyEnds(0.5, -0.5, 0.6), ["−0.50", "≥ 0.50"]);
});
