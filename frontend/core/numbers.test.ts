import assert from "node:assert/strict";
import { test } from "node:test";

import { shown, signed } from "./numbers";

test("a number has a true minus sign, and a zero has none", () => {
  assert.deepEqual([shown(-1.2345), shown(-0.0001), shown(2, 1)], ["−1.234", "0.000", "2.0"]);
});

test("a signed number says plus as well", () => {
  assert.deepEqual([signed(0.5), signed(-0.25, 1)], ["+0.50", "−0.3"]);
});
