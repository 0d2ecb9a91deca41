import assert from "node:assert/strict";
import { test } from "node:test";

import { lab } from "d3-color";

import { start } from "../fixtures/two-gaussians";
import { between, changed, type Frame, mixed, mostShared, run, type State } from "./run";

const state: State = {
  preset: "clusters",
  seed: 0,
  points: null,
  gaussians: 2,
  covariance: "full",
  turn: 0,
  votes: true,
  temperature: 2,
  beta_u: 0,
  beta_a: -2,
  even: false,
  point: null,
};
const points = [
  [0.5, 0.1, 1],
  [0.4, -0.1, 1],
  [0.6, 0.2, 1],
  [-0.5, 0, 1],
  [-0.4, 0.1, 1],
  [-0.6, -0.1, 1],
] as const;

test("routing begins with the mixture's first E-step, and both have as many frames", () => {
  const { frames, routedFrames, temperatures } = run(state, points, start, 1e-4, [0.5, 0.75, 0.875]);
  assert.equal(frames.length, 7);
  assert.equal(routedFrames?.length, 7);
  assert.deepEqual(routedFrames[1].owned, frames[1].owned);
  assert.deepEqual(routedFrames[2].owned, frames[1].owned);
  assert.deepEqual(temperatures, [1, 1.5, 1.75]);
  assert.equal(run({ ...state, votes: false }, points, start, 1e-4, [1]).routedFrames, null);
});

test("from R = 1 / J, parents that share their votes stay one and the same", () => {
  const { routedFrames } = run({ ...state, even: true }, points, start, 1e-4, [0.5, 0.75, 0.875]);
  assert.equal(routedFrames?.[1].gaussians, null);
  for (const { gaussians, owned, strengths } of routedFrames.slice(2)) {
    assert.deepEqual(gaussians?.[0], gaussians?.[1]);
    assert.equal(strengths?.[0], strengths?.[1]);
    for (const [r, s] of owned ?? []) assert.ok(Math.abs(r - 0.5) < 1e-12 && Math.abs(s - 0.5) < 1e-12);
  }
});

test("colours are mixed by their lightness and hue as they are seen, whole where one owns all", () => {
  const colours = ["#3762e1", "#ec6a13", "#147053"];
  assert.equal(mixed(colours, [0, 1, 0]), "#ec6a13");
  const [blue, orange] = colours.map((colour) => lab(colour));
  const half = lab(mixed(colours, [0.5, 0.5, 0]));
  assert.ok(Math.abs(half.l - (blue.l + orange.l) / 2) < 0.5);
  assert.ok(Math.abs(half.a - (blue.a + orange.a) / 2) < 1 && Math.abs(half.b - (blue.b + orange.b) / 2) < 1);
});

test("between two frames everything is on its way, and what only one of them has stays out", () => {
  const frame = (x: number, owned: number[][] | null): Frame => ({
    gaussians: [{ mean: [x, 0], covariance: [1, 0, 1] }],
    owned,
    strengths: [x],
  });
  const frames = [frame(0, null), frame(0, [[1]]), frame(2, [[0]])];
  assert.equal(between(frames, 0.5).owned, null);
  assert.deepEqual(between(frames, 1.5), frame(1, [[0.5]]));
  assert.equal(between(frames, 2), frames[2]);
});

test("a point is changed where another Gaussian owns most of it", () => {
  const before = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]; // prettier-ignore
  const now = [[0.6, 0.4], [0.4, 0.6], [0.1, 0.9]]; // prettier-ignore
  assert.deepEqual(changed(now, before), [1]);
  assert.deepEqual(changed(null, before), []);
});

test("the point that is shared most evenly is the one nearest to an even split; of none, the first", () => {
  const rows = [
    [0.9, 0.1],
    [0.4, 0.6],
    [0.3, 0.7],
  ];
  assert.equal(mostShared(rows), 1);
  assert.equal(mostShared([]), 0);
});
