import assert from "node:assert/strict";
import { test } from "node:test";

import { columnsIn } from "./columns";

test("a board has columns by how much of its type they hold", () => {
  assert.equal(columnsIn(760, { scale: 1 }), 3);
  assert.equal(columnsIn(759, { scale: 1 }), 1);
  assert.equal(columnsIn(1832, { scale: 1.725 }), 3); // presented at 1920 × 1080
  assert.equal(columnsIn(1220, { scale: 1.15 }), 3); // and at 1280 × 720
});

test("of two boards that are presented, each has votes and bars side by side, and on a telephone below one another", () => {
  assert.equal(columnsIn(888, { scale: 1.725 }), 2);
  assert.equal(columnsIn(592, { scale: 1.15 }), 2);
  assert.equal(columnsIn(360, { scale: 1.15 }), 1);
});
