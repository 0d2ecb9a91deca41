import assert from "node:assert/strict";
import { test } from "node:test";

import { Camera, type Point, span, type Subject } from "./camera";

const frame = { left: 40, right: 440, top: 30, bottom: 330 };
const corners: Point[] = [
  [-1, -1, 0],
  [3, -1, 2],
  [3, 1, -2],
  [-1, 1, 0],
];

const origin: Point = [0, 0, 0];
const all = { far: 0, fenced: false };

function camera(subject: Partial<Subject> = {}, solid = false): Camera {
  const made = new Camera();
  made.solid = solid;
  made.fit({ votes: corners, origin, fixed: [], beyond: all, ...subject }, frame);
  return made;
}

function near(actual: readonly number[], expected: readonly number[]): void {
  actual.forEach((value, k) =>
    assert.ok(Math.abs(value - expected[k]) < 1e-9, `${String(actual)} ${String(expected)}`),
  );
}

test("all of the picture is inside the frame, in the same unit along both axes", () => {
  const made = camera();
  for (const corner of corners) {
    const [x, y] = made.screen(corner);
    assert.ok(x >= frame.left && x <= frame.right && y >= frame.top && y <= frame.bottom);
  }
  near(made.screen([1, 0, 0]), [240, 180]); // the middle of the votes is the middle of the frame
  near(made.screen([2, 1, 0]), [240 + made.unit, 180 - made.unit]); // up is up
});

test("a place of the picture leads back to its point of the plane", () => {
  const made = camera();
  near(made.plane(made.screen([0.3, -0.7, 5])), [0.3, -0.7]);
});

test("the farthest votes may stay outside, what is fixed may not", () => {
  const values = [...Array(100).keys(), 10_000];
  assert.deepEqual(span(values, [], all), [0, 10_000]);
  assert.ok(span(values, [], { ...all, far: 0.02 })[1] < 100);
  assert.equal(span(values, [500], { ...all, far: 0.02 })[1], 500);
});

test("a fence leaves outside what is farther from the middle half than one and a half of its widths", () => {
  const values = [-900, ...Array(101).keys(), 900];
  assert.deepEqual(span(values, [], all), [-900, 900]);
  assert.deepEqual(span(values, [], { far: 0, fenced: true }), [24.5 - 1.5 * 51, 75.5 + 1.5 * 51]);
});

test("the zoom is about the origin, which stays, and votes keep their directions", () => {
  const made = camera({ origin: [2, -1, 0] });
  const [before, unit] = [made.screen([2, -1, 0]), made.unit];
  const [x, y] = made.screen(corners[3]);
  made.zoom = 2;
  near(made.screen([2, -1, 0]), before);
  assert.ok(Math.abs(made.unit - 2.25 * unit) < 1e-9);
  near(made.screen(corners[3]), [before[0] + 2.25 * (x - before[0]), before[1] + 2.25 * (y - before[1])]);
  near(made.plane(made.screen([0.3, -0.7, 5])), [0.3, -0.7]);
});

test("turning keeps lengths, a quarter turn shows the third axis, and once around is where it began", () => {
  const made = camera({}, true);
  made.turn(Math.PI / 2, 0);
  near(made.seen([0, 0, 1]), [1, 0, 0]);
  made.turn(1.1, -0.4);
  assert.ok(Math.abs(Math.hypot(...made.seen([1, 2, 3])) - Math.hypot(1, 2, 3)) < 1e-12);
  made.turn(1.1 + 2 * Math.PI, -9);
  near([made.yaw, made.pitch], [1.1, -1.5]);
});

test("while it is turned the unit stays the same", () => {
  const made = camera({}, true);
  const before = made.unit;
  made.turn(2, 1);
  made.fit({ votes: corners, origin, fixed: [], beyond: all }, frame);
  assert.ok(Math.abs(made.unit - before) < 1e-9);
});

test("a Gaussian's ellipse has its deviations as half axes and slants as its covariance does", () => {
  const made = camera();
  const upright = made.ellipse([4, 0, 0, 0, 1, 0, 0, 0, 9]);
  near([upright.long, upright.short, upright.angle], [2 * made.unit, made.unit, 0]);
  const slanted = made.ellipse([2.5, 1.5, 0, 1.5, 2.5, 0, 0, 0, 1]);
  near([slanted.long, slanted.short, slanted.angle], [2 * made.unit, made.unit, Math.PI / 4]);
  const flat = made.ellipse([1, 1, 0, 1, 1, 0, 0, 0, 0]);
  assert.ok(flat.short < 1e-6 && !Number.isNaN(flat.short));
});
