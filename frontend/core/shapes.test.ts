import assert from "node:assert/strict";
import { test } from "node:test";

import { within } from "./shapes";

test("a line that stays inside the box keeps its end", () => {
  assert.deepEqual(within([50, 50], [80, 20], 0, 0, 100, 100), [[80, 20], false]);
});

test("a line that leaves the box is cut where it crosses its border, in its own direction", () => {
  assert.deepEqual(within([50, 50], [250, 50], 0, 0, 100, 100), [[100, 50], true]);
  assert.deepEqual(within([50, 50], [150, 250], 0, 0, 100, 100), [[75, 100], true]);
  assert.deepEqual(within([50, 50], [-50, -150], 0, 0, 100, 100), [[25, 0], true]);
});
