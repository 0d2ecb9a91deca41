import assert from "node:assert/strict";
import { test } from "node:test";

import { semiAxes } from "./vectors";

test("an ellipse has the axes of its covariance", () => {
  const angle = Math.PI / 6;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [long, short] = [0.09, 0.01];
  const found = semiAxes(
    long * cos * cos + short * sin * sin,
    (long - short) * cos * sin,
    long * sin * sin + short * cos * cos,
  );
  assert.ok(Math.abs(found.long - 0.3) < 1e-9 && Math.abs(found.short - 0.1) < 1e-9);
  assert.ok(Math.abs(found.angle - angle) < 1e-9);
  assert.deepEqual(semiAxes(0.01, 0, 0.04), { long: 0.2, short: 0.1, angle: Math.PI / 2 });
});
