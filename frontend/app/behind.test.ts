import assert from "node:assert/strict";
import { test } from "node:test";

import { Behind } from "./behind";

test("a link waits behind what was done a moment ago, until a run has answered to it", () => {
  const behind = new Behind();
  assert.ok(!behind.waits(0, true));
  behind.act(1000);
  assert.ok(behind.waits(1020, true));
  assert.ok(!behind.over(1500, 1020, "?b", true)); // it may not have been told yet
  assert.ok(!behind.over(1800, 1020, "?b", false));
  assert.ok(behind.over(1800, 1020, "?b", true));
  assert.ok(!behind.waits(1800, true));
  assert.ok(behind.waits(1800, false)); // a second press, or a first one while the run lasts
});

test("what a field says has been heard once the address is another", () => {
  const behind = new Behind();
  behind.act(1000, "?a");
  assert.ok(!behind.over(1100, 1020, "?a", true));
  assert.ok(!behind.over(1100, 1020, "?b", false));
  assert.ok(behind.over(1100, 1020, "?b", true));
});

test("a link is followed at last, whatever is under way", () => {
  const behind = new Behind();
  behind.act(1000);
  assert.ok(behind.over(3600, 1020, "?a", false));
  behind.act(3590);
  assert.ok(behind.over(3600, 1020, "?a", false));
});
