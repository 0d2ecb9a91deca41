import assert from "node:assert/strict";
import { test } from "node:test";

import { MapsData, type MapsFields, roundAt } from "./data";

const map = { title: "b", note: "", symbol: "b", counted: true, reach: 1, low: -1, high: 1 };
const maps = new MapsData({
  grid: [1, 1, 2],
  maps: [
    { ...map, frames: 3 },
    { ...map, frames: 1 },
  ],
  frames: ["one", "two", "three"],
  lines: [
    { math: "", looped: true, numbers: [{ text: "b = ", ago: 1 }] },
    {
      math: "",
      looped: true,
      numbers: [
        { text: "g = ", ago: null },
        { text: "O = ", ago: null },
      ],
    },
  ],
  map0: Float32Array.of(0, 0, 0.5, -1, 0.75, 2),
  map1: Float32Array.of(7, 8),
  "line1.0": Float32Array.of(NaN, NaN, 10, 11, 20, 21),
  "line1.1": Float32Array.of(100, 200, 300),
  steps: Float32Array.of(0, 10, 40),
  cells: Int32Array.of(0, -1, 1),
  shape: [1, 3],
} as unknown as MapsFields);

test("between two frames the numbers glide, and a still map stands", () => {
  assert.deepEqual([...maps.at(0, 1)], [0.5, -1]);
  assert.deepEqual([...maps.at(0, 1.5)], [0.625, 0.5]);
  assert.deepEqual([...maps.at(0, 2)], [0.75, 2]);
  assert.deepEqual([...maps.at(1, 1.7)], [7, 8]);
});

test("frames are as far apart as their steps", () => {
  assert.deepEqual(
    [0, 0.5, 1, 1.5, 2].map((position) => maps.step(position)),
    [0, 5, 10, 25, 40],
  );
});

test("a line's number is the map's of some frames ago, or the one sent for the round", () => {
  assert.ok(Number.isNaN(maps.number(0, 0, 0, 1))); // before the first frame there was none
  assert.equal(maps.number(0, 0, 2, 1), -1);
  assert.ok(Number.isNaN(maps.number(1, 0, 0, 0)));
  assert.equal(maps.number(1, 0, 1, 1), 11);
  assert.equal(maps.number(1, 1, 2, 0), 300); // of no capsule
});

test("the strongest capsule is the one whose last number is farthest from zero", () => {
  assert.equal(maps.strongest(), 1);
  assert.equal(maps.superlative, "the strongest b in the end"); // at the first frame both are 0
  const [first] = maps.fields.maps;
  const alone = new MapsData({ ...maps.fields, maps: [{ ...first, frames: 1 }] });
  assert.equal(alone.superlative, "the strongest");
});

test("beside a capsule is the next one over the gap, and at the border none", () => {
  assert.equal(maps.beside(0, 1, 0), 1);
  assert.equal(maps.beside(1, -1, 0), 0);
  assert.equal(maps.beside(1, 1, 0), 1);
  assert.equal(maps.beside(1, 0, 1), 1);
});

test("a position between two frames runs the lines of the later one's round", () => {
  assert.deepEqual(roundAt(5, 4), { round: 5, line: 3 });
  assert.deepEqual(roundAt(4.3, 4), { round: 5, line: 1 });
  assert.deepEqual(roundAt(0, 4), { round: 0, line: 3 });
});
