import assert from "node:assert/strict";
import { test } from "node:test";

import { type Line, type Routing, Run } from "./run";

const line = (says: string, more: Partial<Line> = {}): Line => ({
  math: "",
  says,
  says_first: null,
  says_last: null,
  numbers: [],
  ...more,
});

// Two capsules, two classes, two iterations, three lines: shares are known from the first line on, lengths from the
// second, a vector s after the second line and v after the third.
const data = {
  classes: ["a", "b"],
  upper: 1,
  iterations: 2,
  shorter: true,
  bars: { titles: ["‖v‖"], whole: false },
  reaches: [0.1, 0.4],
  grid: [1, 1, 2],
  lines: [
    line("share", { says_first: "evenly", numbers: [{ text: "c = ", decimals: 2, following: false }] }),
    line("sum", { numbers: [{ text: "λ = ", decimals: 1, following: false }] }),
    line("squash", {
      says_last: "the end",
      numbers: [
        { text: "R = ", decimals: 2, following: false },
        { text: " → ", decimals: 2, following: true },
      ],
    }),
  ],
  since: { lengths: 1 },
  tips: [
    { name: "s", array: "sum_heads", since: 1 },
    { name: "v", array: "heads", since: 2 },
  ],
  presence: Float32Array.of(1, 0.5),
  even: Float32Array.of(0.5, 0.5),
  origin: Float32Array.of(0, 0, 0),
  poses: new Float32Array(4),
  shares: Float32Array.of(0.5, 0.5, 0.5, 0.5, 0.9, 0.1, 0.25, 0.75),
  lengths: Float32Array.of(0.2, 0.4, 0.6, 0.8),
  heads: Float32Array.of(1, 0, 0, 0, 1, 0),
  sum_heads: Float32Array.of(2, 0, 0, 0, 2, 0),
  "line0.0": Float32Array.of(0.5, 0.5, 0.1, 0.75),
  "line1.0": Float32Array.of(1, 2),
  "line2.0": Float32Array.of(0.1, 0.2, 0.3, 0.4),
  "line2.1": Float32Array.of(0.1, 0.2, 0.3, 0.4),
} as unknown as Routing;
const run = new Run(data);

test("of a window onto a layer, a capsule has the number and the place that it has in the network", () => {
  const window = {
    ...data,
    grid: [2, 2, 3],
    below: { numbers: [30, 31, 32, 33, 34, 35, 51, 52, 53, 54, 55, 56], columns: 7 },
  };
  const seen = new Run(window as unknown as Routing);
  assert.deepEqual(seen.place(7), [1, 0, 1]);
  assert.equal(seen.label(7), "capsule 52 · row 2 column 3 · type 1");
  assert.equal(run.label(1), "capsule 1 · row 0 column 0 · type 1");
});

test("what a line gives is known after it, and what comes later is that of the iteration before", () => {
  assert.equal(run.state(0).lengths, null);
  assert.equal(run.state(0).tip, null);
  assert.deepEqual(
    [...(run.state(1).lengths ?? [])].map((value) => value.toFixed(1)),
    ["0.2", "0.4"],
  );
  assert.deepEqual([run.state(1).tipName, ...(run.state(1).tip ?? [])], ["s", 2, 0, 0]);
  assert.deepEqual([run.state(3).tipName, ...(run.state(3).tip ?? [])], ["v", 1, 0, 0]);
  assert.deepEqual([...run.state(3).shares], [...Float32Array.of(0.9, 0.1, 0.25, 0.75)]);
  assert.deepEqual([...(run.state(3).lengths ?? [])], [...Float32Array.of(0.2, 0.4)]);
});

test("what the last line gives for the next iteration is on screen after it, and after the last one nothing new", () => {
  const early = new Run({ ...data, since: { shares: -1 } });
  assert.deepEqual(
    [0, 1, 2, 3, 5].map((frame) => early.state(frame).shareStep),
    [0, 0, 1, 1, 1],
  );
});

test("between two frames every number is on its straight way, from nothing where none was known", () => {
  const view = run.view(2.25);
  assert.ok(Math.abs(view.shares[0] - (0.5 + 0.25 * 0.4)) < 1e-6);
  assert.deepEqual([...(run.view(0.5).lengths ?? [])], [...Float32Array.of(0.1, 0.2)]);
  assert.deepEqual([...(run.view(0.5).tip ?? [])], [1, 0, 0]); // from the origin
});

test("a line says the numbers of the capsule or of all, and leaves out what is none", () => {
  assert.equal(run.written(0, 1, 1), "c = 0.75");
  assert.equal(run.written(1, 1, 0), "λ = 2.0");
  assert.equal(run.written(2, 0, 1), "R = 0.20 → 0.40");
  assert.equal(run.written(2, 1, 1), "R = 0.40");
});

test("the first and the last iteration may be said in words of their own", () => {
  assert.deepEqual(
    [run.says(0, 0), run.says(0, 1), run.says(2, 0), run.says(2, 1)],
    ["evenly", "share", "squash", "the end"],
  );
});

test("a frame is called by its iteration and its line", () => {
  assert.equal(run.count, 6);
  assert.equal(run.name(4), "iteration 2 of 2 · line 2 of 3");
});

test("bars of what was untouched have room as well", () => {
  const touched = new Run({ ...data, base_lengths: Float32Array.of(0.9, 0.1, 0.2, 0.3) });
  assert.equal(touched.top, Math.fround(0.9));
  assert.equal(new Run({ ...data, bars: { titles: [], whole: true } }).top, 1);
});

test("what came out is known from the line on that makes it", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((frame) => run.answered(frame)),
    [-1, -1, 0, 0, 0, 1],
  );
});

test("the strongest capsule gives the chosen class most of what it says", () => {
  assert.equal(run.strongest(), 1); // 0.75 of 0.5, against 0.1 of 1
  assert.deepEqual(
    [null, 0, run.lower].map((chosen) => run.selected(chosen)),
    [1, 0, 1],
  );
});

test("a capsule's place and those of its type", () => {
  const grid = new Run({ ...data, grid: [2, 3, 4], presence: new Float32Array(24) });
  assert.deepEqual(grid.place(17), [1, 1, 1]);
  assert.deepEqual(grid.ofType(17), [1, 5, 9, 13, 17, 21]);
});

test("the first iterations are a routing of so many: its end, its scales and its last words", () => {
  const shorter = new Run(data);
  assert.deepEqual([shorter.count, shorter.reach, shorter.top], [6, 0.4, Math.fround(0.8)]);
  shorter.iterations = 1;
  assert.deepEqual([shorter.count, shorter.reach, shorter.top], [3, 0.1, Math.fround(0.4)]);
  assert.equal(shorter.name(2), "iteration 1 of 1 · line 3 of 3");
  assert.equal(shorter.says(2, 0), "the end");
  assert.equal(shorter.written(2, 0, 1), "R = 0.20"); // no iteration follows
  assert.deepEqual([...shorter.state(2).shares], [0.5, 0.5, 0.5, 0.5]);
  assert.equal(new Run({ ...data, since: { shares: -1 } }).known("shares", 2), 1);
  shorter.iterations = 99;
  assert.equal(shorter.iterations, 2);
});
