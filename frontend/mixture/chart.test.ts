import assert from "node:assert/strict";
import { test } from "node:test";

import { spanOf } from "./chart";

test("an axis spans all of its numbers, and where they hardly differ, as much as is stated", () => {
  assert.deepEqual(spanOf([-2, 0.5, 1], 1), [-2, 1]);
  assert.deepEqual(spanOf([0.86, 0.861], 1), [0.861 - 1, 0.861]);
});
