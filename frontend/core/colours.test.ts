import assert from "node:assert/strict";
import { test } from "node:test";

import { ColourTable, inkOn } from "./colours";

const table = new ColourTable([
  [0, "#000000"],
  [0.5, "#ff0000"],
  [1, "#ffffff"],
]);

test("the ends and the stops of a scale have their colours, and between two stops they mix", () => {
  assert.equal(table.of(-1, -1, 1), "#000000");
  assert.equal(table.of(1, -1, 1), "#ffffff");
  assert.equal(table.of(127, 0, 255), "#fe0000");
  assert.equal(table.of(0.25, 0, 1), "#800000");
});

test("what lies beyond the ends has the colour of the end", () => {
  assert.deepEqual([table.of(-9, -1, 1), table.of(9, -1, 1)], ["#000000", "#ffffff"]);
});

test("a place in the table is written into its pixel, opaque", () => {
  const pixels = new Uint8ClampedArray(8);
  table.fill(pixels, 1, 255);
  assert.deepEqual([...pixels], [0, 0, 0, 0, 255, 255, 255, 255]);
});

test("text on a colour is black or white, whichever is read more easily", () => {
  assert.deepEqual(["#ffffff", "#3762e1", "#a58f66", "#000000"].map(inkOn), [
    "#000000",
    "#ffffff",
    "#000000",
    "#ffffff",
  ]);
});
