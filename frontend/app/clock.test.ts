import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock, told } from "./clock";

test("a clock counts while it runs, and keeps what has passed when it stops", () => {
  const clock = new Clock();
  assert.deepEqual([clock.elapsed(9000), clock.running], [0, false]);
  clock.toggle(10_000);
  assert.deepEqual([clock.elapsed(12_500), clock.running], [2500, true]);
  clock.toggle(13_000);
  assert.deepEqual([clock.elapsed(99_000), clock.running], [3000, false]);
  clock.toggle(100_000);
  assert.equal(clock.elapsed(101_000), 4000);
  clock.reset();
  assert.deepEqual([clock.elapsed(200_000), clock.running], [0, false]);
});

test("a clock outlasts a reload, and what is none begins anew", () => {
  const clock = new Clock();
  clock.toggle(1000);
  assert.equal(Clock.from(clock.kept).elapsed(5000), 4000);
  clock.toggle(3000);
  assert.equal(Clock.from(clock.kept).elapsed(9000), 2000);
  for (const text of [null, "", "x", "1", "-5,", "1,x"]) assert.equal(Clock.from(text).elapsed(9), 0, String(text));
});

test("time is told in minutes and seconds, and in hours where there are any", () => {
  assert.deepEqual([0, 999, 61_000, 3_599_000, 3_600_000].map(told), ["0:00", "0:00", "1:01", "59:59", "1:00:00"]);
});
