import assert from "node:assert/strict";
import { test } from "node:test";

import { inked } from "./canvas";

test("pictures lie over one another on black, each in its colour, and colours add where they meet", () => {
  const bytes = new Uint8ClampedArray(4 * 3);
  inked(bytes, [
    [Float32Array.of(1, 0, 1), "#ff8000"],
    [Float32Array.of(0, 0.5, 1), "#204060"],
  ]);
  assert.deepEqual([...bytes], [255, 128, 0, 255, 16, 32, 48, 255, 255, 192, 96, 255]);
});
