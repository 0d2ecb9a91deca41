import assert from "node:assert/strict";
import { test } from "node:test";

import { written } from "./charts";

test("a number at the end of a chart has its size in the room that there is", () => {
  const said = [0.25, 12.34, 123_456, 3.25e9, -1.23456789e37].map((value) => written(value, false));
  assert.deepEqual(said, ["0.250", "12.3", "123,456", "3.3e9", "−1.2e37"]);
  assert.equal(written(0.9999, true), "99.99 %");
});
