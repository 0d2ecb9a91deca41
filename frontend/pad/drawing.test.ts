import assert from "node:assert/strict";
import { test } from "node:test";

import { cleared, extend, type Mark, type Point, type Stroke, strokesOf } from "./drawing";

const dot: Stroke = [[1, 1, 20]];
const line: Stroke = [
  [1, 1, 20],
  [9, 9, 20],
];

test("clearing empties the paper, and undoing it brings the strokes back", () => {
  const marks: Mark[] = cleared([dot, line]);
  assert.deepEqual(strokesOf(marks), []);
  assert.deepEqual(strokesOf([...marks, dot]), [dot]);
  marks.pop();
  assert.deepEqual(strokesOf(marks), [dot, line]);
});

test("clearing twice keeps what can be undone once", () => {
  assert.deepEqual(cleared(cleared([dot, line])), [null]);
  assert.deepEqual(cleared([dot, null, line]), [line, null]);
});

test("points are kept to a tenth of a unit, and those that are nearly the one before are not kept", () => {
  const stroke: Point[] = [];
  assert.equal(extend(stroke, 10.04, 20.06, 20), true);
  assert.equal(extend(stroke, 10.5, 20.1, 20), false);
  assert.equal(extend(stroke, 12, 20, 21.25), true);
  assert.deepEqual(stroke, [
    [10, 20.1, 20],
    [12, 20, 21.3],
  ]);
});
