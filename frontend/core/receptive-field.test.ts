import assert from "node:assert/strict";
import { test } from "node:test";

import { type Field, own, seen } from "./receptive-field";

// Two 9 × 9 convolutions, the second with stride 2: a place sees 17 × 17 pixels, places are 2 pixels apart.
const table: Field = { size: [17, 17], stride: [2, 2], beyond: [0, 0] };
const padded: Field = { size: [11, 7], stride: [4, 4], beyond: [3, 1] };

test("what a place sees begins where its row and column say and is as large as the network says", () => {
  assert.deepEqual(seen(table, [1, 28, 28], 0, 0), { top: 0, left: 0, bottom: 17, right: 17 });
  assert.deepEqual(seen(table, [1, 28, 28], 5, 1), { top: 10, left: 2, bottom: 27, right: 19 });
});

test("what lies beyond the border of the image is not seen", () => {
  assert.deepEqual(seen(padded, [3, 16, 12], 0, 0), { top: 0, left: 0, bottom: 8, right: 6 });
  assert.deepEqual(seen(padded, [3, 16, 12], 3, 2), { top: 9, left: 7, bottom: 16, right: 12 });
});

test("the places' own parts lie side by side around the middle of what they see", () => {
  const shape = [1, 28, 28] as const;
  const [first, next] = [own(table, shape, 2, 2), own(table, shape, 2, 3)];
  assert.equal(first.right, next.left);
  assert.deepEqual([(first.left + first.right) / 2, (first.top + first.bottom) / 2], [12.5, 12.5]);
});

test("a place's own part ends where the image does", () => {
  assert.deepEqual(own(padded, [3, 16, 12], 0, 0), { top: 0.5, left: 0.5, bottom: 4.5, right: 4.5 });
  const further: Field = { ...padded, beyond: [5, 1] };
  assert.deepEqual(own(further, [3, 16, 12], 0, 2), { top: 0, left: 8.5, bottom: 2.5, right: 12 });
});
